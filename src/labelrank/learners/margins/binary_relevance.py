"""BSVM: one linear SVM per label by LIBLINEAR's dual coordinate descent, all labels at once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank._types import Float32, Float64
from labelrank.declared import array, choice, flag, number, seed, stored, threads, value
from labelrank.kernels.one_vs_rest import learn_pass
from labelrank.learners.label_weights import LabelWeights, LinearRanker, padded
from labelrank.learners.margins.solver import SKIPPED, Visits, close_gap, warn_unless_closed
from labelrank.resources import aligned_zeros, gap_bar, run_jobs
from labelrank.rows import Rows, as_rows, squared_norms, with_constant

# Wider blocks read x less often, narrower ones keep more threads busy and more weights in cache.
WIDEST = 160


@stored(
    "BinaryRelevanceSVM",
    objective_=array("f8", "K"),
    dual_gap_=value(float),
    n_iter_=value(int, least=0),
)
@dataclass(kw_only=True, eq=False, repr=False)
class BinaryRelevanceSVM(LinearRanker):
    """One independent linear SVM a label, trained for all labels in one pass over the data.

    Each label k gets the solution of ½‖w‖² + C Σ loss(y x·w), y = +1 where it is relevant and -1
    where it is irrelevant (unknown: left out), up to a relative duality gap of `tol`: what
    LIBLINEAR finds one label after the other. Instances that are solved for all labels of a
    block are visited ever more rarely (shrinking); the gap is checked over all of them.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}
    C, fit_intercept, tol, max_iter, n_jobs, random_state, verbose
        As in `ProSVM`; `tol` is reached for every label.

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

    C: float = number(1.0, above=0)
    loss: str = choice("squared_hinge", "hinge")
    fit_intercept: bool = flag(False)
    tol: float = number(1e-3, above=0)
    max_iter: int = number(1000, least=1, whole=True)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        rows = with_constant(as_rows(X)) if self.fit_intercept else as_rows(X)
        labels, is_squared = as_rows(Y, np.float64), self.loss == "squared_hinge"
        problem = Problem(rows, squared_norms(rows), labels, float(self.C), is_squared)
        # An even number of equal blocks, at most WIDEST labels wide.
        n_blocks = 2 * -(-self.n_labels_ // (2 * WIDEST))
        size = rows.n_columns, self.n_labels_, padded(-(-self.n_labels_ // n_blocks))
        weights = LabelWeights.zeros(*size, has_constant=bool(self.fit_intercept))
        seed, tol = int(check_random_state(self.random_state).randint(2**31 - 1)), float(self.tol)
        spans = enumerate(weights.spans())
        parts = [LabelBlock(problem, *span, tol=tol, seed=seed + b) for b, span in spans]
        with gap_bar(type(self).__name__, self.verbose, len(parts)) as report:
            run_jobs([partial(part.solve, self.max_iter, report) for part in parts], self.n_jobs)
        self._weights = weights
        self.objective_ = np.concatenate([part.objective for part in parts])
        self.dual_gap_ = max(part.worst for part in parts)
        self.n_iter_ = max(part.n_iter for part in parts)
        warn_unless_closed(self.dual_gap_, self.tol, self.max_iter, of=" of a label")


class Problem(NamedTuple):
    """What all labels share, as the kernel takes it."""

    X: Rows
    norms: Float32
    Y: Rows
    C: float
    squared: bool


class LabelBlock:
    """Epochs over one block of labels, until the gap of every label is closed."""

    # Gaps of skipped rows are not seen: only below half of the tolerance is it worth to look.
    promising = 0.5

    def __init__(
        self, problem: Problem, W: Float32, lo: int, width: int, *, tol: float, seed: int
    ) -> None:
        n, lanes = problem.X.n_rows, W.shape[1]
        self.problem, self.W, self.lo, self.width, self.tol = problem, W, lo, width, tol
        self.random, self.visits = np.random.RandomState(seed), Visits.of(0, n, n)
        self.alpha, self.weight = aligned_zeros((n, lanes)), np.zeros(lanes, np.float32)
        self.weight[:width] = 1.0

    def solve(self, max_iter: int, report: Callable[[float], Any]) -> None:
        self.worst, self.n_iter = close_gap(self, self.tol, max_iter)
        report(self.worst)

    def epoch(self) -> float:
        complete = not self.visits.skip_left.any()
        self.visits = self.visits.shuffled(self.random)
        loss, gap = self._pass(self.visits, learn=True)
        if complete:
            self._weigh(loss)
            skip_below = SKIPPED * self.tol / len(self.alpha)
            self.visits = self.visits._replace(skip_below=skip_below)
        return float((gap * self.weight).max())

    def gap(self) -> float:
        n = len(self.alpha)
        loss, gap = self._pass(Visits.of(0, n, n), learn=False)
        self._weigh(loss)
        self.visits.skip_left[:] = 0
        return float((gap * self.weight).max())

    def _weigh(self, loss: Float64) -> None:
        """Note the objectives of the labels; `weight` becomes their inverses."""
        objective = 0.5 * np.einsum("jk,jk->k", self.W, self.W, dtype=np.float64) + loss
        self.objective = objective[: self.width]
        self.weight[: self.width] = 1.0 / np.maximum(self.objective, 1e-12)

    def _pass(self, visits: Visits, *, learn: bool) -> tuple[Float64, Float64]:
        loss, gap = np.zeros(self.W.shape[1]), np.zeros(self.W.shape[1])
        labels = (self.lo, self.width, self.weight)
        learn_pass(self.problem, labels, visits, learn, self.W, self.alpha, loss, gap)
        return loss, gap
