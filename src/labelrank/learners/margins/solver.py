"""The door to the kernel of `arcs`: epochs of dual coordinate descent until the gap is closed."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from labelrank.errors import InputError
from labelrank.kernels.arcs import learn_pass
from labelrank.learners.margins.problem import ArcProblem
from labelrank.resources import aligned_zeros, row_chunks, run_jobs

Float32 = npt.NDArray[np.float32]

# Coordinate steps on every arc of an instance at one visit: a second is nearly free beside the
# two passes over its features, and halves the number of epochs.
SWEEPS = 2
# An instance is calm if its own gap is below this part of what is allowed on average.
CALM = 0.2


@dataclass
class Descent:
    """Weights (d × lanes) and duals; `rho` and `offset` are ADMM's: 1/2 rho |W - offset|²."""

    W: Float32
    alpha: Float32
    rho: float = 1.0
    offset: Float32 | None = None

    def pull(self) -> float:
        """1/2 rho |W - offset|²."""
        return 0.5 * self.rho * squared(self.W if self.offset is None else self.W - self.offset)


@dataclass(frozen=True)
class Outcome:
    """Value of the primal problem, its relative distance to the dual one, epochs made."""

    objective: float
    gap: float
    n_iter: int


def start(problem: ArcProblem) -> Descent:
    """Zero weights and duals."""
    W = aligned_zeros((problem.X.n_columns, problem.n_lanes))
    return Descent(W, np.zeros(int(problem.dptr[-1]), np.float32))


def descend(
    problem: ArcProblem, state: Descent, C: float, *, tol: float, max_iter: int,
    random: np.random.RandomState, n_jobs: int | None = None,
    report: Callable[[float], Any] = lambda gap: None,
) -> Outcome:  # fmt: skip
    """Move the state until its relative duality gap is at most `tol`; both are changed in place."""
    _check(problem, state)
    n = problem.X.n_rows
    loss, slack = np.zeros(n), np.zeros(n)
    rest, pause = np.zeros(n, np.int16), np.zeros(n, np.int16)
    calm = 0.0
    outcome = Outcome(float("inf"), float("inf"), 0)
    for epoch in range(1, max_iter + 1):
        order = random.permutation(n).astype(np.int64)
        moved = _pass(problem, state, C, order, calm, SWEEPS, loss, slack, rest, pause)
        guess = _outcome(state, loss, slack, epoch)
        calm = CALM * tol * guess.objective / n
        if guess.gap <= 1.2 * tol or moved == 0 or epoch == max_iter:
            outcome = evaluate(problem, state, C, n_jobs, epoch)
            if outcome.gap <= tol:
                break
            rest[:] = 0
        report(min(guess.gap, outcome.gap))
    return outcome


def evaluate(
    problem: ArcProblem, state: Descent, C: float, n_jobs: int | None = None, n_iter: int = 0
) -> Outcome:
    """The exact objective and gap of the state, over all instances."""
    n = problem.X.n_rows
    loss, slack = np.zeros(n), np.zeros(n)
    jobs = [
        partial(_pass, problem, state, C, np.arange(first, last), 0.0, 0, loss, slack)
        for first, last in row_chunks(n, n_jobs)
    ]
    run_jobs(jobs, n_jobs)
    return _outcome(state, loss, slack, n_iter)


def losses(problem: ArcProblem, W: Float32, C: float) -> float:
    """The weighted losses of all arcs at any weights."""
    state = Descent(W, np.zeros(int(problem.dptr[-1]), np.float32))
    _check(problem, state)
    return evaluate(problem, state, C).objective - state.pull()


def warn_unless_closed(outcome: Outcome, tol: float, max_iter: int) -> None:
    """Say that the solver stopped early, and where it stands."""
    if outcome.gap > tol:
        warnings.warn(
            f"the relative duality gap is {outcome.gap:.2g} after {max_iter} epochs, above "
            f"tol={tol:g}; raise max_iter or tol, or scale the features",
            ConvergenceWarning,
            stacklevel=3,
        )


def squared(W: Float32) -> float:
    """Squared length of all weights, summed by features in double precision."""
    return float(np.einsum("jk,jk->j", W, W).sum(dtype=np.float64))


def _outcome(state: Descent, loss: Any, slack: Any, n_iter: int) -> Outcome:
    objective = state.pull() + float(loss.sum())
    gap = float(loss.sum() - slack.sum())
    return Outcome(objective, max(gap, 0.0) / objective if objective > 0 else 0.0, n_iter)


def _pass(
    problem: ArcProblem, state: Descent, C: float, order: Any, calm: float, sweeps: int,
    loss: Any, slack: Any, rest: Any = None, pause: Any = None,
) -> int:  # fmt: skip
    n = problem.X.n_rows
    rest = np.zeros(n, np.int16) if rest is None else rest
    pause = rest if pause is None else pause
    return learn_pass(
        *problem.X[:3], problem.norms, problem.rptr, problem.relevant, problem.grades,
        problem.nptr, problem.unknown, order, problem.n_labels, state.W, state.rho,
        problem.shares.as_array(C), problem.shares.chain, calm, sweeps, problem.dptr, state.alpha,
        loss, slack, rest, pause,
    )  # fmt: skip


def _check(problem: ArcProblem, state: Descent) -> None:
    """Past this line nothing checks an index."""
    shape = (problem.X.n_columns, problem.n_lanes)
    W, alpha = state.W, state.alpha
    if W.shape != shape or W.dtype != np.float32 or not W.flags.c_contiguous:
        raise InputError(f"weights must be contiguous float32 {shape}; got {W.dtype} {W.shape}")
    if alpha.shape != (problem.dptr[-1],) or alpha.dtype != np.float32:
        raise InputError(f"there must be {problem.dptr[-1]} float32 duals; got {alpha.shape}")
