"""One loop until the duality gap is closed, and the problem that ProSVM and RankSVM solve by it.

    min_W  ½ρ‖W - M‖² + C Σ_instances Σ_arcs weight (1 - g_better(x) + g_worse(x))₊

with ρ = 1 and M = 0 but within ADMM. The arcs are those that the learner declares in
`preferences`; `kernels.preference_margins` makes the epochs.
"""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from labelrank._types import Array, Float32, Float64, Int64
from labelrank.errors import InputError
from labelrank.kernels.preference_margins import learn_pass, ordered_counts
from labelrank.learners.label_weights import padded
from labelrank.preferences import Kind, Preferences
from labelrank.relevance import relevant_part, unknown_part
from labelrank.resources import aligned_zeros, available_bytes, row_chunks, run_jobs
from labelrank.rows import Rows, as_rows, squared_norms, with_constant

_GIB = 2**30
# Coordinate steps on every arc of an instance at one visit: a second is nearly free beside the
# two passes over its features, and halves the number of epochs.
SWEEPS = 2
# An instance is left as it is if its own gap is below this part of what is allowed on average.
SKIPPED = 0.2


class Solver(Protocol):
    """What `close_gap` drives. Gaps are relative: (objective - dual objective) / objective."""

    # A guess below this part of the tolerance is worth an exact measurement.
    promising: float

    # Make one epoch; returns a guess of the gap.
    def epoch(self) -> float: ...

    # The exact gap; what was skipped for being nearly solved is looked at again.
    def gap(self) -> float: ...


def close_gap(
    solver: Solver, tol: float, max_iter: int, report: Callable[[float], Any] = lambda gap: None
) -> tuple[float, int]:
    """Epochs until the gap is at most `tol`; returns the gap and the number of epochs."""
    for epoch in range(1, max_iter + 1):
        gap = solver.epoch()
        measured = gap <= solver.promising * tol or epoch == max_iter
        if measured:
            gap = solver.gap()
        report(gap)
        if measured and gap <= tol:
            break
    return gap, epoch


def warn_unless_closed(gap: float, tol: float, max_iter: int, of: str = "") -> None:
    """Say that the solver stopped early, and where it stands."""
    if gap > tol:
        warnings.warn(
            f"the relative duality gap{of} is {gap:.2g} after {max_iter} epochs, above "
            f"tol={tol:g}; raise max_iter or tol, or scale the features",
            ConvergenceWarning,
            stacklevel=3,
        )


class Visits(NamedTuple):
    """Which rows an epoch visits, as the kernels of dual coordinate descent take it (shrinking)."""

    order: Int64
    skip_below: float  # rows with a gap of at most this are visited ever more rarely
    skip_left: Array  # visits still to skip
    next_skip: Array  # visits skipped last

    @classmethod
    def of(cls, first: int, last: int, n_rows: int) -> "Visits":
        """Rows first .. last-1 of `n_rows`, all of them."""
        no_skips = np.zeros(n_rows, np.int16), np.zeros(n_rows, np.int16)
        return cls(np.arange(first, last), 0.0, *no_skips)

    def shuffled(self, random: np.random.RandomState) -> "Visits":
        """All rows in random order."""
        return self._replace(order=random.permutation(len(self.skip_left)).astype(np.int64))


class PreferenceProblem(NamedTuple):
    """Instances and their preferences, as the kernel takes them (see there).

    `relevant` holds the grades, falling within each row; `dual_ptr[i]` is where the duals of
    instance i begin; `weights` are those of relevant over irrelevant, relevant over Θ, Θ over
    irrelevant, relevant over less relevant; `chain`: the last of adjacent grades only.
    """

    X: Rows
    norms: Float32
    relevant: Rows
    unknown: Rows
    dual_ptr: Int64
    weights: Float64
    chain: bool

    @classmethod
    def of(
        cls, X: Any, Y: sp.csr_array, preferences: Preferences, *, fit_intercept: bool
    ) -> "PreferenceProblem":
        """Lay out instances X and relevance Y (canonical CSR)."""
        rows = with_constant(as_rows(X)) if fit_intercept else as_rows(X)
        relevant = _by_falling_grade(as_rows(relevant_part(Y), np.float64))
        unknown = as_rows(unknown_part(Y), np.float64)
        weights, chain = kernel_weights(preferences)
        pairs, above, below, order = weights > 0
        m, K = np.diff(relevant.indptr), relevant.n_columns
        sizes = pairs * m * K + below * K + above * m
        if order:
            sizes += m * m * (ordered_counts(relevant.indptr, relevant.data) > 0)
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return cls(rows, squared_norms(rows), relevant, unknown, starts, weights, chain)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the weights: features × labels and Θ, padded."""
        return self.X.n_columns, padded(self.relevant.n_columns + 1)

    def digest(self) -> str:
        """The same for the same instances, preferences and weights."""
        digest = hashlib.blake2b(repr((self.shape, self.chain)).encode(), digest_size=16)
        for part in (*self.X[:3], *self.relevant, *self.unknown[:2], self.weights):
            digest.update(np.asarray(part).tobytes())
        return digest.hexdigest()

    @property
    def n_duals(self) -> int:
        """One for each preference, and some room."""
        return int(self.dual_ptr[-1])

    def slice(self, first: int, last: int) -> "PreferenceProblem":
        """Instances first .. last-1."""
        return self._replace(
            X=self.X.slice(first, last), norms=self.norms[first:last],
            relevant=self.relevant.slice(first, last), unknown=self.unknown.slice(first, last),
            dual_ptr=self.dual_ptr[first : last + 1] - self.dual_ptr[first],
        )  # fmt: skip

    def refuse_too_many(self, limit_gib: float | None, advice: str) -> None:
        """Raise an InputError before starting if weights and duals will not fit into memory."""
        duals, weights = 4 * self.n_duals / _GIB, 4 * self.shape[0] * self.shape[1] / _GIB
        limit = available_bytes() / _GIB if limit_gib is None else limit_gib
        if duals + weights > limit:
            raise InputError(
                f"the duals of {self.n_duals:,} preferences need {duals:.3g} GiB and the weights "
                f"{weights:.3g} GiB, more than the {limit:.3g} GiB at hand; {advice}"
            )


def kernel_weights(preferences: Preferences) -> tuple[Float64, bool]:
    """The declared weights in the order of the kernel, and whether the order is a chain."""
    chain = Kind.CHAIN in preferences.weights
    order = Kind.CHAIN if chain else Kind.GRADED
    kinds = (Kind.RELEVANT_IRRELEVANT, Kind.RELEVANT_THRESHOLD, Kind.THRESHOLD_IRRELEVANT, order)
    return np.array([preferences.weights.get(kind, 0.0) for kind in kinds]), chain


def _by_falling_grade(relevant: Rows) -> Rows:
    if (relevant.data == 1).all():
        return relevant
    row = np.repeat(np.arange(relevant.n_rows), np.diff(relevant.indptr))
    order = np.lexsort((relevant.indices, -relevant.data, row))
    return relevant._replace(indices=relevant.indices[order], data=relevant.data[order])


@dataclass
class DualState:
    """Weights (features × lanes) and the duals they are made of; `rho`, `offset`: ½ρ‖W - M‖²."""

    W: Float32
    alpha: Float32
    rho: float = 1.0
    offset: Float32 | None = None

    @classmethod
    def zeros(cls, problem: PreferenceProblem) -> "DualState":
        """Where a solver begins."""
        return cls(aligned_zeros(problem.shape), np.zeros(problem.n_duals, np.float32))

    def pull(self) -> float:
        """½ρ‖W - M‖²."""
        return 0.5 * self.rho * squared(self.W if self.offset is None else self.W - self.offset)

    def check(self, problem: PreferenceProblem) -> None:
        """Past this line nothing checks an index."""
        W, alpha = self.W, self.alpha
        if W.shape != problem.shape or W.dtype != np.float32 or not W.flags.c_contiguous:
            wanted = f"weights must be contiguous float32 {problem.shape}"
            raise InputError(f"{wanted}; got {W.dtype} {W.shape}")
        if alpha.shape != (problem.n_duals,) or alpha.dtype != np.float32:
            raise InputError(f"there must be {problem.n_duals} float32 duals; got {alpha.shape}")


class PreferenceDescent:
    """Epochs of dual coordinate descent; the weights and duals of `state` change in place."""

    promising = 1.2

    def __init__(
        self, problem: PreferenceProblem, state: DualState, C: float, *, tol: float,
        random: np.random.RandomState, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        state.check(problem)
        n = problem.X.n_rows
        self.problem, self.state, self.C, self.n_jobs = problem, state, C, n_jobs
        self.random, self.tol = random, tol
        self.visits = Visits.of(0, n, n)
        self.loss, self.slack = np.zeros(n), np.zeros(n)

    def epoch(self) -> float:
        visits = self.visits.shuffled(self.random)
        moved = _pass(self.problem, self.state, self.C, visits, SWEEPS, self.loss, self.slack)
        gap = self._relative_gap()
        skip_below = SKIPPED * self.tol * self.objective / len(self.loss)
        self.visits = visits._replace(skip_below=skip_below)
        return gap if moved else 0.0

    def gap(self) -> float:
        self.loss, self.slack = measured(self.problem, self.state, self.C, self.n_jobs)
        self.visits.skip_left[:] = 0
        return self._relative_gap()

    def _relative_gap(self) -> float:
        """Note the objective too, by the losses of the instances when they were last visited."""
        self.objective = self.state.pull() + float(self.loss.sum())
        gap = max(float(self.loss.sum() - self.slack.sum()), 0.0)
        return gap / self.objective if self.objective > 0 else 0.0


def measured(
    problem: PreferenceProblem, state: DualState, C: float, n_jobs: int | None = None
) -> tuple[Float64, Float64]:
    """Loss and slack of every instance at this state; their difference is its duality gap."""
    state.check(problem)
    n = problem.X.n_rows
    loss, slack = np.zeros(n), np.zeros(n)
    visits = [Visits.of(*span, n) for span in row_chunks(n, n_jobs)]
    run_jobs([partial(_pass, problem, state, C, some, 0, loss, slack) for some in visits], n_jobs)
    return loss, slack


def _pass(
    problem: PreferenceProblem, state: DualState, C: float, visits: Visits, sweeps: int,
    loss: Float64, slack: Float64,
) -> int:  # fmt: skip
    rho = float(state.rho)
    return learn_pass(problem, float(C), rho, visits, sweeps, state.W, state.alpha, loss, slack)


def squared(W: Float32) -> float:
    """Squared length of all weights, summed by features in double precision."""
    return float(np.einsum("jk,jk->j", W, W).sum(dtype=np.float64))
