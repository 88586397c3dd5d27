"""One linear SVM a label (BSVM): LIBLINEAR's dual coordinate descent, all labels at once."""

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.kernels.one_vs_rest import learn_pass
from labelrank.learners import label_weights
from labelrank.learners.base import Explained, LabelRanker
from labelrank.learners.margins.machine import check_above_zero
from labelrank.resources import aligned_zeros, gap_bar, require, run_jobs
from labelrank.rows import Rows, as_rows, squared_norms, with_constant

# Wider blocks read x less often, narrower ones keep more threads busy and more weights in cache.
WIDEST = 160
# A row is calm if its own gap is below this part of what is allowed on average.
CALM = 0.2
# Gaps of resting rows are not seen: only below this part of `tol` is it worth to check them all.
SURE = 0.5


class Problem(NamedTuple):
    X: Rows
    norms: npt.NDArray[np.float32]
    Y: Rows
    C: float
    squared: bool
    tol: float
    max_iter: int


class BinaryRelevanceSVM(Explained, LabelRanker):
    """One independent linear SVM a label, trained for all labels in one pass over the data.

    Each label k gets the solution of ½‖w‖² + C Σ loss(y x·w), y = +1 where it is relevant and -1
    where it is irrelevant (unknown: left out), up to a relative duality gap of `tol`: what
    LIBLINEAR finds one label after the other. Instances that are solved for all labels of a
    block are visited ever more rarely (shrinking); the gap is checked over all of them.

    Parameters
    ----------
    C : float, default 1.0
    loss : {"squared_hinge", "hinge"}
    fit_intercept : bool, default False
        Give x one more feature that is always 1 (its weight is regularised, as in LIBLINEAR).
    tol : float, default 1e-3
        Relative duality gap to reach, for every label.
    max_iter : int, default 1000
        Most epochs; a ConvergenceWarning names the gap if they do not suffice.
    n_jobs : int or None
        Threads over blocks of labels; never changes the result.
    random_state : int, RandomState or None
        Order of the instances in each epoch.
    verbose : int, default 0
        Above 0: a bar with the largest gap of the blocks done.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    intercept_ : ndarray (K,)
    objective_ : ndarray (K,)
        Of each label; their sum is that of the whole problem.
    dual_gap_ : float
        The largest relative gap of a label.
    n_iter_ : int
        Most epochs of a block of labels.

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

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "squared_hinge",
        fit_intercept: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_above_zero("C", self.C)
        check_above_zero("tol", self.tol)
        check_at_least("max_iter", self.max_iter, 1)
        check_choice("loss", self.loss, ("squared_hinge", "hinge"))
        check_choice("fit_intercept", self.fit_intercept, (True, False))

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        rows = with_constant(as_rows(X)) if self.fit_intercept else as_rows(X)
        problem = Problem(
            rows, squared_norms(rows), as_rows(Y, np.float64), float(self.C),
            self.loss == "squared_hinge", float(self.tol), int(self.max_iter),
        )  # fmt: skip
        self._W = _weights(rows.n_columns, self.n_labels_)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with gap_bar(type(self).__name__, self.verbose, len(self._W)) as report:
            done = solve(problem, self._W, seed, self.n_jobs, report)
        self.objective_ = np.concatenate([one.objective for one in done])
        self.dual_gap_ = max(one.gap for one in done)
        self.n_iter_ = max(one.n_iter for one in done)
        if self.dual_gap_ > self.tol:
            warnings.warn(
                f"the relative duality gap of a label is {self.dual_gap_:.2g} after "
                f"{self.max_iter} epochs, above tol={self.tol:g}; raise max_iter or tol, or scale "
                "the features",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, X: Any) -> npt.NDArray[Any]:
        n_features = self.n_features_in_
        scores = label_weights.scores(
            as_rows(X), self._W[:, :n_features], self.n_labels_, self.n_jobs
        )
        return scores + self.intercept_ if self.fit_intercept else scores

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """Weights of the labels (K × d)."""
        return label_weights.by_label(self._W, self.n_labels_)[:, : self.n_features_in_]

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        """Intercepts of the labels (K,); zeros without `fit_intercept`."""
        if not self.fit_intercept:
            return np.zeros(self.n_labels_, np.float32)
        return self._W[:, -1].reshape(-1)[: self.n_labels_].copy()

    def _label_weights(self, label: int) -> tuple[npt.NDArray[Any], float]:
        weights = label_weights.of_label(self._W, label)
        shift = float(weights[-1]) if self.fit_intercept else 0.0
        return weights[: self.n_features_in_], shift


class BlockOutcome(NamedTuple):
    objective: npt.NDArray[np.float64]
    gap: float
    n_iter: int


def solve(
    problem: Problem, W: npt.NDArray[np.float32], seed: int, n_jobs: int | None,
    report: Callable[[float], Any] = lambda gap: None,
) -> list[BlockOutcome]:  # fmt: skip
    """Fit all blocks of weights in place, side by side."""
    X, Y = problem.X, problem.Y
    if W.shape[1] != X.n_columns or X.data.dtype != np.float32 or Y.n_rows != X.n_rows:
        raise InputError(f"X of {X.n_columns} float32 columns and Y must fit the weights {W.shape}")
    lanes = W.shape[2]
    jobs = [
        partial(_solve_block, problem, W[b], lo, min(lanes, Y.n_columns - lo), seed + b, report)
        for b, lo in enumerate(range(0, Y.n_columns, lanes))
    ]
    return run_jobs(jobs, n_jobs)


def _weights(n_features: int, n_labels: int) -> npt.NDArray[np.float32]:
    """Zero weights in an even number of equal blocks, at most `WIDEST` labels wide."""
    n_blocks = 2 * -(-n_labels // (2 * WIDEST))
    lanes = -(-n_labels // (n_blocks * label_weights.LANE)) * label_weights.LANE
    shape = (-(-n_labels // lanes), n_features, lanes)
    size = f"weights of {n_labels} labels x {n_features} features"
    require(4 * math.prod(shape), size, "keep fewer features (max_terms, hashing) or labels")
    return aligned_zeros(shape)


def _solve_block(
    problem: Problem, W: npt.NDArray[np.float32], lo: int, width: int, seed: int,
    report: Callable[[float], Any],
) -> BlockOutcome:  # fmt: skip
    """Epochs over one block of labels until every label's relative gap is at most `tol`."""
    n, lanes = problem.X.n_rows, W.shape[1]
    alpha = aligned_zeros((n, lanes))
    rest, pause = np.zeros(n, np.int16), np.zeros(n, np.int16)
    weight = np.zeros(lanes, np.float32)
    weight[:width] = 1.0
    random, calm, worst = np.random.RandomState(seed), 0.0, np.inf
    run = partial(_pass, problem, W, alpha, lo, width, weight)
    for epoch in range(1, problem.max_iter + 1):
        complete = not rest.any()
        loss, gap = run(random.permutation(n).astype(np.int64), calm, True, rest, pause)
        if complete:
            objective = _reweigh(W, loss, weight, width)
            calm = CALM * problem.tol / n
        if (gap * weight).max() <= SURE * problem.tol or epoch == problem.max_iter:
            loss, gap = run(np.arange(n), calm, False, np.zeros_like(rest), pause)
            objective = _reweigh(W, loss, weight, width)
            worst = float((gap * weight).max())
            if worst <= problem.tol:
                break
            rest[:] = 0
    report(worst)
    return BlockOutcome(objective, worst, epoch)


def _reweigh(W: Any, loss: Any, weight: Any, width: int) -> npt.NDArray[np.float64]:
    """Objectives of the labels; `weight` becomes their inverses."""
    objective = 0.5 * np.einsum("jk,jk->k", W, W, dtype=np.float64) + loss
    weight[:width] = 1.0 / np.maximum(objective[:width], 1e-12)
    return objective[:width]


def _pass(
    problem: Problem, W: Any, alpha: Any, lo: int, width: int, weight: Any, order: Any, calm: float,
    learn: bool, rest: Any, pause: Any,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:  # fmt: skip
    loss, gap = np.zeros(W.shape[1]), np.zeros(W.shape[1])
    learn_pass(
        *problem.X[:3], problem.norms, *problem.Y[:3], order, lo, width, W, alpha, problem.C,
        problem.squared, weight, calm, learn, loss, gap, rest, pause,
    )  # fmt: skip
    return loss, gap
