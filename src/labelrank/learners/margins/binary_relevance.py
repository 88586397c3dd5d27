"""One linear classifier per label, by LIBLINEAR's dual coordinate descent, all labels at once.

For each label k, with y = +1 where it is relevant and -1 where it is irrelevant:

    min  ½‖w‖² + ½ b²/s² + Σ_x C_y loss(y (w·x + b))

loss(m) is (1 - m)₊² or (1 - m)₊ (BSVM), or ln(1 + exp(-m)). Where s = `intercept_scaling` is large,
b is nearly free, and coordinate descent on it would crawl: so an epoch adds ½(1 - 1/s²)(b - b')²,
where b' is the b that the epoch before ended at (a proximal point, which moves to the optimum).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils import check_random_state

from labelrank._types import Array, Float32, Float64, Int64
from labelrank.declared import array, choice, flag, number, seed, stored, threads, value
from labelrank.kernels.logistic import NO_DUAL
from labelrank.kernels.one_vs_rest import HINGE, LOGISTIC, SQUARED, learn_pass
from labelrank.learners.label_weights import LabelWeights, LinearRanker, padded
from labelrank.learners.margins.solver import (
    MOST_HALVINGS,
    SKIPPED,
    Visits,
    close_gap,
    patience,
    warn_unless_closed,
)
from labelrank.relevance import relevant_part, unknown_part
from labelrank.resources import aligned_zeros, gap_bar, run_jobs
from labelrank.rows import Rows, as_rows, squared_norms, with_constant

# Wider blocks read x less often, narrower ones keep more threads busy and more weights in cache.
WIDEST = 160
KINDS = {"hinge": HINGE, "squared_hinge": SQUARED, "logistic": LOGISTIC}
_UNBOUNDED = 1e30


@stored(
    None,
    objective_=array("f8", "K"),
    dual_gap_=value(float),
    n_iter_=value(int, least=0),
)
@dataclass(kw_only=True, eq=False, repr=False)
class LinearBinaryRelevance(LinearRanker):
    """What the linear classifiers of one label each share: all but the loss."""

    C: float = number(1.0, above=0)
    class_weight: str | None = choice(None, "balanced")
    fit_intercept: bool = flag(False)
    intercept_scaling: float = number(1.0, least=1e-3, most=1e3)
    tol: float = number(1e-3, above=0)
    max_iter: int = number(1000, least=1, whole=True)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    @property
    def _kind(self) -> int:
        raise NotImplementedError

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        problem, weights = self.problem_of(X, Y), self.no_weights()
        costs = Costs.of(Y, float(self.C), balanced=self.class_weight == "balanced")
        seed = self.block_seed()
        parts = [
            self._block(problem, costs, W, lo, width, seed + b)
            for b, (W, lo, width) in enumerate(weights.spans())
        ]
        with gap_bar(type(self).__name__, self.verbose, len(parts)) as report:
            run_jobs([partial(part.solve, self.max_iter, report) for part in parts], self.n_jobs)
            crawling = [part for part in parts if part.worst > self.tol]
            run_jobs([partial(part.finish, self.max_iter) for part in crawling], self.n_jobs)
        self._take(weights, [part.solved() for part in parts])

    def problem_of(self, X: Any, Y: sp.csr_array) -> "Problem":
        """The instances as all blocks of labels share them."""
        rows = with_constant(as_rows(X)) if self.fit_intercept else as_rows(X)
        return Problem(rows, squared_norms(rows), as_rows(Y, np.float64), self._kind)

    def no_weights(self) -> LabelWeights:
        """Zero weights in an even number of equal blocks, at most WIDEST labels wide."""
        n_blocks = 2 * -(-self.n_labels_ // (2 * WIDEST))
        n_rows = self.n_features_in_ + bool(self.fit_intercept)
        size = n_rows, self.n_labels_, padded(-(-self.n_labels_ // n_blocks))
        return LabelWeights.zeros(*size, has_constant=bool(self.fit_intercept))

    def block_seed(self) -> int:
        """What the first block of labels is seeded with; the others count on from there."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def solve_block(
        self, problem: "Problem", lo: int, width: int, lanes: int, seed: int
    ) -> "Solved":
        """Labels lo ... lo + width - 1 alone, to the same bits as among the others."""
        Y = problem.Y
        relevance = sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(Y.n_rows, Y.n_columns))
        costs = Costs.of(relevance, float(self.C), balanced=self.class_weight == "balanced")
        W = aligned_zeros((problem.X.n_columns, lanes))
        part = self._block(problem, costs, W, lo, width, seed)
        part.solve(self.max_iter, lambda gap: None)
        if part.worst > self.tol:
            part.finish(self.max_iter)
        return part.solved()

    def _block(
        self, problem: "Problem", costs: "Costs", W: Float32, lo: int, width: int, seed: int
    ) -> "LabelBlock":
        ridge = float(self.intercept_scaling) ** -2 if self.fit_intercept else None
        own, tol = costs.of_labels(lo, width), float(self.tol)
        return LabelBlock(problem, W, lo, own, ridge, tol=tol, seed=seed)

    def take_solved(self, solved: list["Solved"]) -> None:
        """Be made of these labels, in their order."""
        weights = self.no_weights()
        lanes = weights.blocks.shape[2]
        for one in solved:
            block, lane = divmod(one.lo, lanes)
            weights.blocks[block, :, lane : lane + one.width] = one.W[:, : one.width]
        self._take(weights, solved)

    def _take(self, weights: LabelWeights, solved: list["Solved"]) -> None:
        self._weights = weights
        self.objective_ = np.concatenate([one.objective for one in solved])
        self.dual_gap_ = max(one.gap for one in solved)
        self.n_iter_ = max(one.n_iter for one in solved)
        warn_unless_closed(self.dual_gap_, self.tol, self.max_iter, of=" of a label")


@stored("BinaryRelevanceSVM")
@dataclass(kw_only=True, eq=False, repr=False)
class BinaryRelevanceSVM(LinearBinaryRelevance):
    """One independent linear SVM per label, trained for all labels in one pass over the data.

    Each label k gets the solution of ½‖w‖² + C Σ loss(y x·w), y = +1 where it is relevant and -1
    where it is irrelevant (unknown: left out), up to a relative duality gap of `tol`: what
    LIBLINEAR finds one label after the other. Instances that are solved for all labels of a
    block are visited ever more rarely (shrinking); the gap is checked over all of them.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}
    C : float, default 1.0
        Weight of the losses beside ½‖w‖².
    class_weight : {None, "balanced"}
        "balanced": for each label, C is multiplied by n / 2n₊ where it is relevant and by n / 2n₋
        where it is irrelevant, so that both together weigh the same (as in scikit-learn).
    fit_intercept : bool, default False
    intercept_scaling : float, default 1.0
        The intercept b adds ½ (b / intercept_scaling)² to the objective. 1 is LIBLINEAR's rule, a
        feature that is always 1; 10 and more leave b all but free, which suits short rows.
    tol : float, default 1e-3
        Relative duality gap to reach for every label.
    max_iter, n_jobs, random_state, verbose
        As in `ProSVM`.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    intercept_ : ndarray (K,)
    objective_ : ndarray (K,)
    dual_gap_ : float, the largest of a label
    n_iter_ : int, the most epochs of a block of labels

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevanceSVM
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> BinaryRelevanceSVM(C=10, random_state=0).fit(X, Y).predict(X)
    array([[1, 0],
           [0, 1],
           [1, 1]])
    """

    loss: str = choice("squared_hinge", "hinge")

    @property
    def _kind(self) -> int:
        return KINDS[self.loss]


@stored("BinaryRelevanceLogistic", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class BinaryRelevanceLogistic(LinearBinaryRelevance):
    """One independent logistic regression per label, trained for all labels in one pass.

    Each label k gets the solution of ½‖w‖² + C Σ ln(1 + exp(-y x·w)), y = +1 where it is relevant
    and -1 where it is irrelevant (unknown: left out), up to a relative duality gap of `tol`: what
    LIBLINEAR's dual solver finds one label after the other. The scores are log odds.

    Parameters
    ----------
    C, class_weight, fit_intercept, intercept_scaling, tol, max_iter, n_jobs, random_state, verbose
        As in `BinaryRelevanceSVM`.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    intercept_ : ndarray (K,)
    objective_ : ndarray (K,)
    dual_gap_ : float, the largest of a label
    n_iter_ : int, the most epochs of a block of labels

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevanceLogistic
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> learner = BinaryRelevanceLogistic(C=10, random_state=0).fit(X, Y)
    >>> (100 * learner.predict_proba(X)).astype(int)
    array([[92, 27],
           [27, 92],
           [81, 81]])
    """

    @property
    def _kind(self) -> int:
        return LOGISTIC

    def link(self, scores: Array) -> Array:
        return np.asarray(expit(scores))


class Problem(NamedTuple):
    """What all labels share, as the kernel takes it."""

    X: Rows
    norms: Float32
    Y: Rows
    kind: int


class Solved(NamedTuple):
    """What became of labels lo ... lo + width - 1."""

    lo: int
    width: int
    W: Float32
    objective: Float64
    gap: float
    n_iter: int


class Costs(NamedTuple):
    """For each label, C where it is irrelevant and where it is relevant, and how many there are."""

    C: Float64  # (2, K)
    counts: Float64  # (2, K)

    @classmethod
    def of(cls, Y: sp.csr_array, C: float, *, balanced: bool) -> "Costs":
        """The same C for all, or as scikit-learn's "balanced" has it; of one kind only: C."""
        relevant = np.bincount(relevant_part(Y).indices, minlength=Y.shape[1])
        known = Y.shape[0] - np.bincount(unknown_part(Y).indices, minlength=Y.shape[1])
        counts = np.vstack([known - relevant, relevant]).astype(float)
        weigh = balanced & (counts > 0).all(axis=0)
        return cls(C * np.where(weigh, known / (2.0 * np.maximum(counts, 1.0)), 1.0), counts)

    def of_labels(self, first: int, width: int) -> "Costs":
        """Those of labels first .. first+width-1."""
        return Costs(*(part[:, first : first + width] for part in self))

    def for_kernel(self, kind: int, lanes: int) -> Float32:
        """C, D and U of the kernel (2 × 3 × lanes)."""
        parts = np.zeros((2, 3, lanes), np.float32)
        width = self.C.shape[1]
        parts[:, 0, :width] = self.C
        parts[:, 1, :width] = 0.5 / self.C if kind == SQUARED else 0.0
        parts[:, 2, :width] = _UNBOUNDED if kind == SQUARED else self.C
        return parts


class LabelBlock:
    """Epochs over one block of labels, until the gap of every label is closed.

    `ridge` is 1 / s² where the last feature is the constant one: then b = (1 - ridge) b' + Σ yα,
    and what this b is away from the best one for these duals is a part of the gap.
    """

    objective: Float64

    def __init__(
        self, problem: Problem, W: Float32, lo: int, costs: Costs, ridge: float | None, *,
        tol: float, seed: int,
    ) -> None:  # fmt: skip
        n, lanes, logistic = problem.X.n_rows, W.shape[1], problem.kind == LOGISTIC
        # Gaps of skipped rows are not seen: only below half of the tolerance is it worth to look.
        # Those of logistic losses are guessed from before the visits, and fall far in each epoch.
        self.promising = 2.0 if logistic else 0.5
        self.problem, self.W, self.lo, self.tol = problem, W, lo, tol
        self.width = costs.C.shape[1]
        self.costs, self.ridge = costs.for_kernel(problem.kind, lanes), ridge
        self.at_zero = (costs.C * costs.counts).sum(axis=0) * (np.log(2.0) if logistic else 1.0)
        self.random, self.visits = np.random.RandomState(seed), Visits.of(0, n, n)
        self.alpha, self.weight = aligned_zeros((n, lanes)), np.zeros(lanes, np.float32)
        if logistic:
            self.alpha[:] = NO_DUAL
        self.weight[: self.width] = 1.0
        self.start = np.zeros(lanes, np.float32)

    def solve(self, max_iter: int, report: Callable[[float], Any]) -> None:
        limit = patience(self.problem.X, self.width, max_iter)
        self.worst, self.n_iter = close_gap(self, self.tol, max_iter, patience=limit)
        report(self.worst)

    def solved(self) -> Solved:
        """Where it stands."""
        return Solved(self.lo, self.width, self.W, self.objective, self.worst, self.n_iter)

    def finish(self, max_iter: int) -> None:
        """Newton steps for the labels whose gap is open, and no label is worse than W = 0."""
        if self.n_iter < max_iter:
            self._step(max_iter - self.n_iter)
        if self.worst > self.tol:
            self._shorten()

    def _step(self, max_steps: int) -> None:
        from labelrank.learners.margins import newton, smooth

        open_ = np.flatnonzero(self.gaps[: self.width] > self.tol)
        rows, ridge = self.problem.X, np.ones(self.problem.X.n_columns)
        if self.ridge is not None:
            ridge[-1] = self.ridge
        sign, cost = self._laid_out(open_)
        alpha = self.alpha[:, open_].astype(float)
        losses = smooth.LabelLosses(self.problem.kind, sign, cost, alpha)
        W = self.W[:, open_].astype(float)
        steps = newton.Newton(newton.matrix(rows), ridge, losses, W, np.zeros(len(open_)))
        self.n_iter += steps.minimise(self.tol, max_steps)
        self.W[:, open_], self.objective[open_] = steps.W, steps.objective
        self.gaps[open_] = steps.gaps
        self.worst = float(self.gaps.max())

    def _shorten(self) -> None:
        """Halve the weights of labels until they are no worse than 0."""
        bound = self.objective * (1.0 - self.gaps[: self.width])
        worse, W = np.zeros(self.W.shape[1], bool), self.W
        for halving in range(MOST_HALVINGS + 1):
            worse[: self.width] = self.objective > self.at_zero
            if not worse.any():
                break
            W[:, worse] *= np.float32(0.5 if halving < MOST_HALVINGS else 0.0)
            self.gap()
        self.objective = np.minimum(self.objective, self.at_zero)
        open_ = np.maximum(self.objective - bound, 0.0)
        self.worst = float((open_ / np.maximum(self.objective, 1e-300)).max())

    def epoch(self) -> float:
        complete = not self.visits.skip_left.any()
        self.visits = self.visits.shuffled(self.random)
        loss, gap = self._pass(self.visits, learn=True)
        if complete:
            self._weigh(loss)
            skip_below = SKIPPED * self.tol / len(self.alpha)
            self.visits = self.visits._replace(skip_below=skip_below)
        worst = float((gap * self.weight).max())
        self._move_start()
        return worst

    def gap(self) -> float:
        n = len(self.alpha)
        loss, gap = self._pass(Visits.of(0, n, n), learn=False)
        self._weigh(loss)
        self.visits.skip_left[:] = 0
        self.gaps = gap * self.weight
        return float(self.gaps.max())

    def _laid_out(self, labels: Int64) -> tuple[Float64, Float64]:
        """Sign and cost of each instance and label, as `smooth.LabelLosses` takes them."""
        indptr, indices, data, K = self.problem.Y
        Y = sp.csc_array(sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, K)))
        grades = Y[:, self.lo + labels].toarray()
        sign = np.where(np.isnan(grades), 0.0, np.where(grades > 0, 1.0, -1.0))
        costs = self.costs[:, 0, labels].astype(float)
        return sign, np.where(sign > 0, costs[1], np.where(sign < 0, costs[0], 0.0))

    def _pass(self, visits: Visits, *, learn: bool) -> tuple[Float64, Float64]:
        loss, gap = np.zeros(self.W.shape[1]), np.zeros(self.W.shape[1])
        labels = (self.lo, self.width, self.weight, self.costs)
        learn_pass(self.problem, labels, visits, learn, self.W, self.alpha, loss, gap)
        if self.ridge is not None:
            gap += ((1.0 - self.ridge) * (self.start - self.W[-1].astype(float))) ** 2 * (
                0.5 / self.ridge
            )
        return loss, gap

    def _move_start(self) -> None:
        """Let b' be where b is; b moves along, as the duals stay."""
        if self.ridge is not None:
            before, self.start = self.start, self.W[-1].copy()
            self.W[-1] += np.float32(1.0 - self.ridge) * (self.start - before)

    def _weigh(self, loss: Float64) -> None:
        """Note the objectives of the labels; `weight` becomes their inverses."""
        objective = 0.5 * np.einsum("jk,jk->k", self.W, self.W, dtype=np.float64) + loss
        if self.ridge is not None:
            objective -= 0.5 * (1.0 - self.ridge) * self.W[-1].astype(float) ** 2
        self.objective = objective[: self.width]
        self.weight[: self.width] = 1.0 / np.maximum(self.objective, 1e-12)
