"""AdaBoost.MH with decision stumps: each round takes the stump that leaves the least weight."""

import itertools
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from labelrank._types import Array, Float32, Int32
from labelrank.declared import array, choice, number, stored, threads, value
from labelrank.kernels import boosting as kernels
from labelrank.learners.base import LabelRanker
from labelrank.resources import aligned_zeros, n_threads, require, row_chunks, run_jobs, track
from labelrank.rows import Rows, as_rows

WEAK = {"real": kernels.REAL, "discrete": kernels.DISCRETE, "abstaining": kernels.ABSTAINING}
_LANE = 16
_NOTHING_GAINED = 1e-6
_WORTH_A_THREAD = 200_000


class Cuts(NamedTuple):
    """Ways to part rows by one feature; a run lists rows of one sign, the farthest from 0 first."""

    runs: kernels.Runs
    feature: Int32
    sign: Float32
    threshold: Float32

    def inside(self, cut: int) -> Int32:
        """The rows inside; none for cut -1, the stump that answers all alike."""
        start, rows, first_cut, end = self.runs
        run = np.searchsorted(first_cut, cut, side="right") - 1
        return rows[start[run] : end[cut]] if cut >= 0 else rows[:0]

    def spans(self, n_jobs: int | None, n_labels: int) -> list[tuple[int, int]]:
        """Runs in spans of about equal work, for `run_jobs`."""
        work = np.cumsum(np.diff(self.runs.start) + 4 * np.diff(self.runs.first_cut))
        total = int(work[-1]) if len(work) else 0
        parts = max(1, min(4 * n_threads(n_jobs), total * n_labels // _WORTH_A_THREAD))
        inner = np.searchsorted(work, [total * part // parts for part in range(1, parts)])
        bounds = [0, *inner.tolist(), len(work)]
        return [(a, b) for a, b in itertools.pairwise(bounds) if a < b]


def find_cuts(X: Rows, most: int) -> Cuts:
    """At most `most` cuts of a feature on each side of 0, near to equal shares of the rows."""
    row = np.repeat(np.arange(X.n_rows, dtype=np.int32), np.diff(X.indptr))
    kept = X.data != 0
    row, feature, value = row[kept], X.indices[kept], X.data[kept]
    order = np.lexsort((-np.abs(value), value < 0, feature))
    row, feature, value = row[order], feature[order], value[order]
    begins = np.ones(len(value), dtype=bool)
    begins[1:] = (feature[1:] != feature[:-1]) | ((value[1:] < 0) != (value[:-1] < 0))
    start = np.append(np.flatnonzero(begins), len(value)).astype(np.int64)
    run = np.cumsum(begins) - 1
    size = np.abs(value)
    follower = np.append(size[1:], np.float32(0))
    follower[start[1:] - 1] = 0
    last = _chosen(np.flatnonzero(size != follower), run, start, X.n_rows, most)
    first_cut = np.searchsorted(last, start).astype(np.int64)
    middle = follower[last] + (size[last] - follower[last]) / 2
    threshold = np.where(middle < size[last], middle, follower[last]).astype(np.float32)
    sign = np.sign(value[last]).astype(np.float32)
    runs = kernels.Runs(start, row, first_cut, (last + 1).astype(np.int64))
    return Cuts(runs, feature[last], sign, threshold)


def _chosen(last: Array, run: Array, start: Array, n_rows: int, most: int) -> Array:
    """Of the entries after which the value changes, those that end a cut."""
    run, place = run[last], last - start[run[last]] + 1
    share = place * most // (np.diff(start)[run] + 1)
    ends_share = np.ones(len(last), dtype=bool)
    ends_share[:-1] = (share[1:] != share[:-1]) | (run[1:] != run[:-1])
    parts = place < n_rows
    chosen = ends_share & parts
    # A run of all rows that is one share has no cut yet: its middle one.
    without = np.setdiff1d(run[parts], run[chosen])
    for one in without:
        candidates = np.flatnonzero(parts & (run == one))
        chosen[candidates[np.abs(2 * place[candidates] - n_rows).argmin()]] = True
    return last[chosen]


class Weights:
    """D(i, l), summing to 1 over the known pairs; unknown pairs weigh nothing."""

    def __init__(self, Y: Rows) -> None:
        width = -(-Y.n_columns // _LANE) * _LANE
        require(4 * Y.n_rows * width, f"weights of {Y.n_rows} x {Y.n_columns} pairs",
                "give fewer instances or labels")  # fmt: skip
        row = np.repeat(np.arange(Y.n_rows), np.diff(Y.indptr))
        known = Y.n_rows * Y.n_columns - int(np.isnan(Y.data).sum())
        negative = aligned_zeros((Y.n_rows, width))
        negative[:, : Y.n_columns] = 1.0 / max(known, 1)
        negative[row, Y.indices] = 0.0
        positive = np.where(np.isnan(Y.data), 0.0, 1.0 / max(known, 1)).astype(np.float32)
        self.pairs = kernels.Pairs(Y.indptr, Y.indices, positive, negative)

    def sums(self, rows: Int32) -> tuple[Array, Array]:
        """Weights of these rows by label: of the relevant, of the irrelevant pairs."""
        P, N = np.zeros((2, self.pairs.negative.shape[1]))
        kernels.sums(rows, self.pairs, P, N)
        return P, N

    def change(self, inside: Int32, answers: Array, left: float) -> None:
        """Divide by exp(y c) and by `left`, what is left of the sum; `answers`: out, inside."""
        is_inside = np.zeros(len(self.pairs.negative), np.int8)
        is_inside[inside] = 1
        up, down = ((np.exp(c) / left).astype(np.float32) for c in (answers, -answers))
        kernels.reweigh(is_inside, self.pairs, up, down)


@stored(
    "AdaBoostMH",
    1,
    features_=array("i4", "rounds", below="d"),
    signs_=array("f4", "rounds"),
    thresholds_=array("f4", "rounds", finite=False),
    outside_=array("f8", "rounds", "K"),
    inside_=array("f8", "rounds", "K"),
    losses_=array("f8", "rounds"),
    stumps_=value(str),
)
@dataclass(eq=False, repr=False)
class AdaBoostMH(LabelRanker):
    """Boosted decision stumps: AdaBoost.MH, as in BoosTexter (Schapire & Singer 2000).

    Parameters
    ----------
    n_rounds : int, default 1000, at most; boosting ends earlier if no stump gains anything
    weak : {"real", "discrete", "abstaining"}
        What a stump answers for a label: its best real value on either side; one of ±alpha on
        either side; its best real value inside (the word is there) and nothing outside.
    stumps : {"auto", "presence", "threshold"}
        What a stump asks: is the feature other than 0 (a word occurs), or does it exceed a
        threshold. "auto" is "presence" for sparse X and "threshold" for dense X.
    max_thresholds : int, default 255, tried per feature on each side of 0
    smoothing : float or None
        Added to both weights under the logarithm of a real answer; None is 1 / (n K).
    n_jobs : int or None, threads over features
    verbose : int, default 0

    Attributes
    ----------
    features_, signs_, thresholds_ : ndarray (rounds,)
        Stump t holds x inside if ``signs_[t] * x[features_[t]] > thresholds_[t]``.
    inside_, outside_ : ndarray (rounds, K), the answers of the stumps
    losses_ : ndarray (rounds,), whose product bounds the Hamming loss on the training data
    stumps_ : {"presence", "threshold"}
    n_rounds_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import AdaBoostMH
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> AdaBoostMH(n_rounds=3).fit(X, Y).predict([[2.5, 0.0], [0.5, 1.0]]).tolist()
    [[1, 0], [0, 1]]
    """

    n_rounds: int = number(1000, least=1, whole=True)
    _: KW_ONLY
    weak: str = choice(*WEAK)
    stumps: str = choice("auto", "presence", "threshold")
    max_thresholds: int = number(255, least=1, whole=True)
    smoothing: float | None = number(None, above=0, or_none=True)
    n_jobs: int | None = threads()
    verbose: int = 0

    @property
    def n_rounds_(self) -> int:
        """How many stumps there are."""
        return len(self.features_)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        by_content = "presence" if sp.issparse(X) else "threshold"
        self.stumps_ = by_content if self.stumps == "auto" else self.stumps
        cuts = find_cuts(self._rows(X), self.max_thresholds)
        weights = Weights(as_rows(Y, np.float64))
        taken, answers, losses = [], [], []
        for _ in track(range(self.n_rounds), "AdaBoost.MH", self.verbose):
            cut, answer, loss = self._round(cuts, weights)
            if loss > 1 - _NOTHING_GAINED:
                break
            taken.append(cut)
            answers.append(answer[:, : self.n_labels_])
            losses.append(loss)
        which = np.array(taken, np.int64)  # -1, the stump that answers all alike, is put last
        self.features_ = np.append(cuts.feature, np.int32(0))[which]
        self.signs_ = np.append(cuts.sign, np.float32(1))[which]
        self.thresholds_ = np.append(cuts.threshold, np.float32(np.inf))[which]
        both = np.array(answers).reshape(-1, 2, self.n_labels_)
        self.outside_, self.inside_ = both[:, 0].copy(), both[:, 1].copy()
        self.losses_ = np.array(losses)

    def _round(self, cuts: Cuts, weights: Weights) -> tuple[int, Array, float]:
        """The cut taken, the answers outside and inside, the weight left; weights are changed."""
        total = weights.sums(np.arange(self.n_seen_, dtype=np.int32))
        cut = self._best(cuts, weights, *total)
        inside = cuts.inside(cut)
        P, N = weights.sums(inside)
        sides = np.array([[total[0] - P, total[1] - N], [P, N]]).clip(0.0) / np.sum(total)
        answers = self._answers(sides)
        left = float((sides[:, 0] * np.exp(-answers) + sides[:, 1] * np.exp(answers)).sum())
        weights.change(inside, answers, left)
        return cut, answers, left

    def _best(self, cuts: Cuts, weights: Weights, above: Array, below: Array) -> int:
        sums = (weights.pairs, above, below.astype(np.float32), WEAK[self.weak])
        spans = cuts.spans(self.n_jobs, len(below))
        jobs = [partial(kernels.best_cut, cuts.runs, *span, *sums) for span in spans]
        best = [result for result in run_jobs(jobs, self.n_jobs) if result[1] >= 0]
        return int(min(best)[1]) if best else -1

    def _answers(self, sides: Array) -> Array:
        """c (2, K) from the shares of weight (side, sign, K) that fell to each side."""
        positive, negative = sides[:, 0], sides[:, 1]
        epsilon = self.smoothing or 1.0 / (self.n_seen_ * self.n_labels_)
        if self.weak == "discrete":
            lead = np.sign(positive - negative)
            edge = np.abs(positive - negative).sum()
            return lead * 0.5 * np.log((1 + edge + epsilon) / (1 - edge + epsilon))
        answers = 0.5 * np.log((positive + epsilon) / (negative + epsilon))
        if self.weak == "abstaining":
            answers[0] = 0.0
        return answers

    def _rows(self, X: Any) -> Rows:
        rows = as_rows(X)
        data = (rows.data != 0).astype(np.float32) if self.stumps_ == "presence" else rows.data
        return rows._replace(data=data)

    def _scores(self, X: Any) -> Array:
        rows = self._rows(X)
        order = np.argsort(self.features_, kind="stable")
        of_feature = np.searchsorted(self.features_[order], np.arange(rows.n_columns + 1))
        gain = (self.inside_ - self.outside_)[order]
        out = np.tile(self.outside_.sum(axis=0), (rows.n_rows, 1))
        score = partial(kernels.scores, *rows[:3])
        stumps = (of_feature, self.signs_[order], self.thresholds_[order], gain, out)
        spans = row_chunks(rows.n_rows, self.n_jobs)
        run_jobs([partial(score, first, last, *stumps) for first, last in spans], self.n_jobs)
        return out

    def link(self, scores: Array) -> Array:
        return np.asarray(expit(2 * scores))
