"""Perceptrons with one weight vector per label: BR and MMP (Loza Mencía & Fürnkranz 2008)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank._types import Array, Float32, Float64, Int64
from labelrank.declared import choice, cut, flag, nested, number, seed, stored, threads, value
from labelrank.kernels.label_perceptrons import MMP, SEPARATE, Rule, learn_pass
from labelrank.kernels.random import RANDOM_SCALE, fill_normal
from labelrank.learners.base import Explained, FromArcs, IncrementalRanker
from labelrank.learners.label_weights import BLOCK, LabelWeights, padded
from labelrank.preferences import Arcs, Kind, Preferences
from labelrank.resources import aligned_zeros, run_jobs, track
from labelrank.rows import Rows, as_rows, with_constant

STEPS = ("perceptron", "pa")
LOSSES = ("is_error", "error_set_size", "margin", "average_precision")
PENALTIES = ("uniform", "proportional", "max", "random")
# Counts stay whole numbers in double precision.
_MOST = 2**53


@stored(
    None,
    weights=nested("LabelWeights", attribute="_weights"),
    past=nested("LabelWeights", attribute="_past", optional=True),
    n_learned=value(int, least=0, attribute="_n_learned"),
    seed=value(int, least=0, attribute="_seed"),
    n_trained=value(int, least=0, attribute="_n_trained", volatile=True),
)
@dataclass(kw_only=True, eq=False, repr=False)
class LinearPerceptron(FromArcs, Explained, IncrementalRanker):
    """What BR and MMP share: weights, passes over the data, averaging, counts of operations."""

    epochs: int = number(1, least=1, whole=True)
    fit_intercept: bool = flag(False)
    shuffle: bool = flag(True)
    init: str = choice("zeros", "random")
    margin: float | None = number(None, least=0, or_none=True)
    averaging: str | None = choice(None, "averaged")
    step: str = choice(*STEPS)
    C: float = number(1.0, above=0)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    # True for rules that couple the labels: all are then in one block, for one thread.
    _together = False
    _learns_silence = False

    @property
    def preferences(self) -> Preferences:
        """The preferences that are learned; each that is violated moves the weights."""
        raise NotImplementedError

    def _rule(self) -> Rule:
        raise NotImplementedError

    def after_loading(self) -> None:
        weights, past = self._weights, getattr(self, "_past", None)
        self._past = past
        fits = (self.n_features_in_, self.n_labels_, weights.blocks.shape, weights.has_constant)
        for kept, dtype in ((weights, np.float32), (past, np.float64)):
            if kept is None:
                continue
            shape = kept.n_features, kept.n_labels, kept.blocks.shape, kept.has_constant
            if shape != fits or kept.blocks.dtype != dtype:
                raise ValueError("the weights do not fit the labels, the features or one another")
        if max(self._seed, self._n_learned, self._n_trained) > _MOST:
            raise ValueError("a count or the seed is too large")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._set_up(X, Y)
        X, Y = self._rows(X), as_rows(Y, np.float64)
        random = check_random_state(self.random_state)
        order = np.arange(X.n_rows, dtype=np.int64)
        for _ in track(range(self.epochs), type(self).__name__, self.verbose):
            if self.shuffle:
                order = random.permutation(X.n_rows).astype(np.int64)
            self._pass(X, Y, order)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        X = self._rows(X)
        self._pass(X, as_rows(Y, np.float64), np.arange(X.n_rows, dtype=np.int64))

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        if self._weights.has_constant:
            X = sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))], format="csr"))
        past = None if self._past is None else self._past.column
        state = self._weights.column, past, self._n_learned
        n_arcs, n_moved = learn_pairs(X, arcs, *state, self._arc_step)
        self._n_learned += n_arcs
        self._n_trained += n_arcs + n_moved

    def _arc_step(self, margin: float, norm: float, with_threshold: bool) -> float:
        """As far as an example of one label, or of one pair of labels, moves the weights."""
        rule, moving = self._rule(), 1 if with_threshold else 2
        if self.step == "pa":
            return min(rule.C, max(0.0, 1.0 - margin) / (moving * norm)) if norm else 0.0
        wrong = margin < rule.margin or (margin == rule.margin and not rule.tie_is_right)
        return self._share * 2 / moving if wrong else 0.0

    # What an arc is worth as an example of a pair.
    _share = 1.0

    def _rows(self, X: Any) -> Rows:
        """Instances to learn from, with the constant feature where the weights have one."""
        return with_constant(as_rows(X)) if self._weights.has_constant else as_rows(X)

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        size = X.shape[1] + bool(self.fit_intercept), bool(self.fit_intercept)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._weights = self._zeros(*size, np.float32)
        self._past = self._zeros(*size, np.float64) if self.averaging else None
        self._begin(0)
        self._n_learned = self._n_trained = 0

    def separate_blocks(self) -> list["LabelBlock"]:
        """The blocks of labels that a learner of noted instances consists of; none has learned."""
        self._set_up(sp.csr_array((0, self.n_features_in_)), sp.csr_array((0, self.n_labels_)))
        random = self._seed if self.init == "random" else None
        shape, rule = self._weights.blocks.shape[1:], self._rule()
        kept = bool(self.averaging)
        return [
            LabelBlock(lo, width, shape, self._weights.has_constant, kept, rule, random)
            for _, lo, width in self._weights.spans()
        ]

    def take_blocks(self, learned: list["Learned"], n_learned: int) -> None:
        """Be made of these blocks, each of which has learned so many instances in all."""
        W = np.stack([one.W for one in learned])
        self._weights = replace(self._weights, blocks=W)
        if self._past is not None:
            self._past = replace(self._past, blocks=np.stack([one.U for one in learned]))
        self._n_learned = n_learned
        self._n_trained = n_learned * self.n_labels_ + sum(one.moved for one in learned)

    def _zeros(self, n_rows: int, has_constant: bool, dtype: Any) -> LabelWeights:
        lanes = padded(self.n_labels_)
        lanes = lanes if self._together else min(BLOCK, lanes)
        return LabelWeights.zeros(
            n_rows, self.n_labels_, lanes, has_constant=has_constant, dtype=dtype
        )

    def _begin(self, first: int) -> None:
        if self.init == "random":
            for block, lo, width in self._weights.spans():
                fill_normal(block, max(first - lo, 0), width, lo, RANDOM_SCALE, self._seed)

    def _widen(self, n_before: int) -> None:
        self._weights = self._widened(self._weights)
        if self._past is not None:
            self._past = self._widened(self._past)
        self._begin(n_before)

    def _widened(self, narrow: LabelWeights) -> LabelWeights:
        n_blocks, n_rows, lanes = narrow.blocks.shape
        wide = self._zeros(n_rows, narrow.has_constant, narrow.blocks.dtype)
        wide.blocks[:n_blocks, :, :lanes] = narrow.blocks
        return wide

    def forecast(self, X: Any, Y: Any) -> Any:
        """Memory and time that `fit(X, Y)` will take (a `forecast.Cost`)."""
        from labelrank.learners.pairwise.forecast import linear_cost

        values = self.epochs * (X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1])
        return linear_cost(X.shape[1], Y.shape[1], values, averaged=self.averaging is not None)

    def _pass(self, X: Rows, Y: Rows, order: Int64) -> None:
        weights, past = self._weights, self._past
        late = np.zeros_like(weights.blocks[:, :0], float) if past is None else past.blocks
        rule = self._rule()
        jobs = [
            partial(learn_pass, X, Y, order, lo, width, W, U, self._n_learned, rule)
            for (W, lo, width), U in zip(weights.spans(), late, strict=True)
        ]
        moved = sum(run_jobs(jobs, self.n_jobs))
        self._n_learned += len(order)
        self._n_trained += len(order) * self.n_labels_ + moved

    @property
    def n_operations_(self) -> dict[str, int]:
        """Inner products and updates made in training."""
        return {"train": self._n_trained}

    def count_operations(self, X: Any) -> int:
        """Inner products that predicting X takes."""
        return int(np.shape(X)[0]) * self.n_labels_

    def _scores(self, X: Any) -> Array:
        rows = as_rows(X)
        scores = self._weights.scores(rows, self.n_jobs)
        scores -= np.asarray(self._lead(lambda past: past.scores(rows, self.n_jobs)), scores.dtype)
        return scores

    @property
    def coef_(self) -> Array:
        """Weights (K × d), averaged if asked for: scores are X times their rows, and intercepts."""
        weights = self._weights.by_label()
        return (weights - self._lead(LabelWeights.by_label)).astype(weights.dtype, copy=False)

    @property
    def intercept_(self) -> Array:
        """Intercepts of the labels (K,), averaged if asked for; zeros without `fit_intercept`."""
        constants = self._weights.constants()
        return (constants - self._lead(LabelWeights.constants)).astype(constants.dtype, copy=False)

    def _label_weights(self, label: int) -> tuple[Array, float]:
        weights, constant = self._weights.of_label(label)
        lead = self._lead(lambda past: past.of_label(label)[0])
        ahead = self._lead(lambda past: past.of_label(label)[1])
        return (weights - lead).astype(weights.dtype, copy=False), float(constant - ahead)

    def _lead(self, of: Callable[[LabelWeights], Any]) -> Any:
        """How far the last weights are ahead of their mean, by what `of` takes from the sums."""
        if not self.averaging or self._past is None or not self._n_learned:
            return 0.0
        return of(self._past) / self._n_learned


class Learned(NamedTuple):
    """What a block of labels has learned: weights, sums for their mean, how often labels moved."""

    W: Float32
    U: Float64
    moved: int


@dataclass(frozen=True)
class LabelBlock:
    """Perceptrons of labels lo ... lo + width - 1, which need nothing of the others."""

    lo: int
    width: int
    shape: tuple[int, int]
    has_constant: bool
    averaged: bool
    rule: Rule
    seed: int | None

    def begin(self) -> Learned:
        """Before the first instance."""
        W = aligned_zeros(self.shape)
        if self.seed is not None:
            fill_normal(W, 0, self.width, self.lo, RANDOM_SCALE, self.seed)
        return Learned(W, np.zeros((self.shape[0] * self.averaged, self.shape[1])), 0)

    def learn(self, before: Learned, X: Any, Y: sp.csr_array, clock: int) -> Learned:
        """After more instances, in their order, behind `clock` others; `before` stays as it is."""
        rows = with_constant(as_rows(X)) if self.has_constant else as_rows(X)
        W, U = aligned_zeros(self.shape), before.U.copy()
        W[:] = before.W
        order = np.arange(rows.n_rows, dtype=np.int64)
        labels = as_rows(Y, np.float64)
        moved = learn_pass(rows, labels, order, self.lo, self.width, W, U, clock, self.rule)
        return Learned(W, U, before.moved + int(moved))


@stored("BinaryRelevancePerceptron", 2)
@dataclass(kw_only=True, eq=False, repr=False)
class BinaryRelevancePerceptron(LinearPerceptron):
    """One independent perceptron per label (BR): all labels at once in one pass over the data.

    Parameters
    ----------
    epochs : int, default 1
    fit_intercept : bool, default False
        Learn a constant per label too, as the weight of a feature that is always 1.
    shuffle : bool, default True
        Present the examples of each epoch in random order. `partial_fit` keeps the given order.
    init : {"zeros", "random"}
        Initial weights: zero, or small normal values.
    margin : float or None, default None
        None is the paper's rule: a mistake is sgn(x.w) != y, with sgn(0) = +1. A number m
        updates while y (x.w) <= m.
    averaging : {None, "averaged"}
        Score by the last weights, or by the mean of the weights after each example.
    step : {"perceptron", "pa"}
        Perceptron step of 2x, or the passive-aggressive step PA-I, at most `C`.
    C : float, default 1.0
    n_jobs, random_state, verbose

    Attributes
    ----------
    coef_ : ndarray (K, d)
    intercept_ : ndarray (K,)
    n_operations_ : dict
        "train": inner products and updates made. See `count_operations` for predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevancePerceptron
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> learner = BinaryRelevancePerceptron(epochs=5, margin=0.5, random_state=0).fit(X, Y)
    >>> learner.predict(X).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """

    @property
    def preferences(self) -> Preferences:
        """Relevant labels over the threshold, the threshold over irrelevant ones."""
        return Preferences.each(Kind.RELEVANT_THRESHOLD, Kind.THRESHOLD_IRRELEVANT)

    def _rule(self) -> Rule:
        margin, step = float(self.margin or 0.0), STEPS.index(self.step)
        return Rule(SEPARATE, step, margin, tie_is_right=self.margin is None, C=float(self.C))


@stored("MulticlassMultilabelPerceptron", 2)
@dataclass(kw_only=True, eq=False, repr=False)
class MulticlassMultilabelPerceptron(LinearPerceptron):
    """The multiclass multilabel perceptron (MMP): labels are moved by the ranking's errors.

    All labels are scored; if the ranking has a positive `loss`, each wrongly ordered pair of a
    relevant and an irrelevant label gives its `penalty` to the one and takes it from the other,
    and the weights move by loss times these shares. It ranks, and has no threshold of its own.

    Parameters
    ----------
    loss : {"is_error", "error_set_size", "margin", "average_precision"}
        Size of a step.
    penalty : {"uniform", "proportional", "max", "random"}
        Share of a wrong pair: equal, by the difference of scores, only the worst pair, at random.
    threshold : "cardinality" or float
    epochs, fit_intercept, shuffle, init, averaging, C, n_jobs, random_state, verbose
        As in `BinaryRelevancePerceptron` (the labels are coupled: training uses one thread).
    margin : float or None
        A pair is wrong while score(relevant) - score(irrelevant) <= margin; None is 0.
    step : {"perceptron", "pa"}
        "pa" replaces the loss by the PA-I step along the same direction, for pairs within 1.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import MulticlassMultilabelPerceptron
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> learner = MulticlassMultilabelPerceptron(random_state=0).fit(X, [[1, 0, 1], [0, 1, 0]])
    >>> learner.rank(X)[:, 0].tolist()
    [0, 1]
    """

    loss: str = choice(*LOSSES)
    penalty: str = choice(*PENALTIES)
    threshold: Any = cut()

    _reads_threshold = False

    _together = True
    _calibrated = False

    @property
    def preferences(self) -> Preferences:
        """Relevant over irrelevant labels; `penalty` says how violated ones share a step."""
        return Preferences.each(Kind.RELEVANT_IRRELEVANT)

    @property
    def _share(self) -> float:  # type: ignore[override]
        """The loss of two labels in the wrong order."""
        return 0.5 if self.loss == "average_precision" else 1.0

    def _arc_step(self, margin: float, norm: float, with_threshold: bool) -> float:
        if self.step != "pa" and margin == self._rule().margin:
            return self._share  # a tie is an error of the ranking
        return super()._arc_step(margin, norm, with_threshold)

    def _rule(self) -> Rule:
        passive_aggressive = self.step == "pa"
        margin = 1.0 if passive_aggressive else float(self.margin or 0.0)
        return Rule(
            MMP, STEPS.index(self.step), margin, tie_is_right=True, C=float(self.C),
            loss=LOSSES.index(self.loss), penalty=PENALTIES.index(self.penalty), seed=self._seed,
        )  # fmt: skip


def learn_pairs(
    X: sp.csr_array,
    arcs: Arcs,
    columns: Any,
    past: Any,
    clock: int,
    step: Callable[[float, float, bool], float],
) -> tuple[int, int]:
    """Learn arcs by one weight vector per label; Θ has none. Returns arcs met, and violated.

    `columns(k)` and `past(k)` give the weights of a label and their sums, as views; the sums are
    None where none are kept. W += ± by x, and U += ± by t x at time t (`label_perceptrons`), where
    `step` of the margin, the squared length of x, and whether Θ is asked, says how far.
    """
    moved = 0
    time = clock
    for i in range(arcs.n_rows):
        row = slice(X.indptr[i], X.indptr[i + 1])
        j, x = X.indices[row], X.data[row].astype(np.float32)
        norm = float(x @ x)
        for t in range(arcs.ptr[i], arcs.ptr[i + 1]):
            pair = [(int(arcs.better[t]), 1.0), (int(arcs.worse[t]), -1.0)]
            labels = [(k, sign) for k, sign in pair if k < arcs.n_labels]
            margin = sum(sign * float(columns(k)[j] @ x) for k, sign in labels)
            by = step(margin, norm, len(labels) < 2)
            for k, sign in labels if by else ():
                columns(k)[j] += np.float32(sign * by) * x
                if past is not None:
                    past(k)[j] += sign * by * time * x
            moved += by != 0
            time += 1
    return time - clock, moved
