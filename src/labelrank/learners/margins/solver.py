"""One loop until the duality gap is closed, and the problem that ProSVM and RankSVM solve by it.

    min_W  ½ρ‖W - M‖² + C Σ_instances Σ_arcs weight (1 - g_better(x) + g_worse(x))₊

with ρ = 1 and M = 0 but within ADMM. The arcs are those that the learner declares in
`preferences`; `kernels.preference_margins` makes the epochs.
"""

import hashlib
import math
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
# Where more epochs than these seem to be needed, Newton steps take over (`newton`); looked at
# every so often.
PATIENCE, LOOK_EVERY = 500, 15
MOST_HALVINGS = 60
# Newton steps take X as a dense matrix from this share of non-zeros on.
DENSE = 0.1


class Solver(Protocol):
    """What `close_gap` drives. Gaps are relative: (objective - dual objective) / objective."""

    # A guess below this part of the tolerance is worth an exact measurement.
    promising: float

    # Make one epoch; returns a guess of the gap.
    def epoch(self) -> float: ...

    # The exact gap; what was skipped for being nearly solved is looked at again.
    def gap(self) -> float: ...


def close_gap(
    solver: Solver, tol: float, max_iter: int, report: Callable[[float], Any] = lambda gap: None,
    *, patience: int | None = None,
) -> tuple[float, int]:  # fmt: skip
    """Epochs until the gap is at most `tol`; returns the gap and the number of epochs.

    With `patience` the loop also ends where more epochs than that seem to be needed.
    """
    guesses: list[float] = []
    for epoch in range(1, max_iter + 1):
        guesses.append(solver.epoch())
        given_up = patience is not None and _epochs_needed(guesses, tol) > patience
        measured = guesses[-1] <= solver.promising * tol or epoch == max_iter or given_up
        gap = solver.gap() if measured else guesses[-1]
        report(gap)
        if measured and (gap <= tol or given_up):
            break
    return gap, epoch


def _epochs_needed(guesses: list[float], tol: float) -> float:
    """In all, if the gap falls on as it fell of late; looked at now and then, else 0."""
    if len(guesses) % LOOK_EVERY or len(guesses) < 2 * LOOK_EVERY:
        return 0.0
    before, now = min(guesses[:-LOOK_EVERY]), min(guesses)
    if not 0 < now < before:
        return math.inf if now > 0 else 0.0
    return len(guesses) + LOOK_EVERY * math.log(max(now / tol, 1.0)) / math.log(before / now)


def patience(rows: Rows, n_labels: int, max_iter: int, n_duals: int = 0) -> int | None:
    """For `close_gap`; None where there is no memory for Newton steps, in double precision."""
    n, d = rows.n_rows, rows.n_columns
    size = n * d if len(rows.data) > DENSE * n * d else 2 * len(rows.data)
    needed = 8 * (2 * size + 10 * (n + d) * n_labels + 10 * n_duals)
    return min(PATIENCE, max_iter) if needed < available_bytes() else None


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


def begun(problem: PreferenceProblem, alpha: Float32) -> DualState:
    """The state of these duals."""
    from labelrank.learners.margins.smooth import weights_of

    W = aligned_zeros(problem.shape)
    W[:] = weights_of(problem, alpha)
    return DualState(W, alpha)


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

    def solve(self, max_iter: int, report: Callable[[float], Any]) -> tuple[float, int]:
        """Close the gap, by Newton steps where epochs do not; the gap, and epochs and steps."""
        rows, n_labels = self.problem.X, self.problem.relevant.n_columns + 1
        limit = patience(rows, n_labels, max_iter, self.problem.n_duals)
        gap, n_iter = close_gap(self, self.tol, max_iter, report, patience=limit)
        if gap > self.tol and n_iter < max_iter:
            gap, n_steps = self._finish(max_iter - n_iter)
            n_iter += n_steps
        return (self._shorten(gap) if gap > self.tol else gap), n_iter

    def _finish(self, max_steps: int) -> tuple[float, int]:
        """Newton steps from here on; returns the gap and the number of steps."""
        from labelrank.learners.margins import newton, smooth

        problem, state, n_labels = self.problem, self.state, self.problem.relevant.n_columns + 1
        W = smooth.weights_of(problem, state.alpha)[:, :n_labels]
        bound = np.array([state.alpha.sum(dtype=float) - 0.5 * float((W * W).sum())])
        losses = smooth.ArcLosses(problem, self.C, state.alpha)
        ridge = np.ones(problem.X.n_columns)
        steps = newton.Newton(newton.matrix(problem.X), ridge, losses, W, bound)
        n_steps = steps.minimise(self.tol, max_steps)
        state.W[:, :n_labels], state.alpha = steps.W, losses.duals
        self.objective = float(steps.objective[0])
        return float(steps.gaps[0]), n_steps

    def _shorten(self, gap: float) -> float:
        """Take the weights times the power of 1/2 that is no worse than W = 0; the gap there."""
        bound, state = (1.0 - gap) * self.objective, self.state
        nothing = Rows(np.zeros(len(self.loss) + 1, np.int64), *self.problem.X[1:3], 1)
        zero = DualState(aligned_zeros((1, state.W.shape[1])), state.alpha)
        loss, _ = measured(self.problem._replace(X=nothing), zero, self.C, self.n_jobs)
        at_zero = float(loss.sum())
        for _ in range(MOST_HALVINGS):
            if self.objective <= at_zero:
                break
            state.W *= np.float32(0.5)
            self.gap()
        else:
            state.W[:], self.objective = 0.0, at_zero
        return max(self.objective - bound, 0.0) / self.objective if self.objective > 0 else 0.0

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
