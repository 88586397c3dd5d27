"""ADMM over disjoint blocks of instances: one problem solved in parts that agree on the weights.

    min Σ_z [ ½‖w_z‖²/Z + losses of block z at w_z ]   such that all w_z = w

so the objective is that of the whole for every Z. A round solves every block with the pull
½η‖w_z - w + u_z‖² added, takes w = mean(w_z + u_z), and adds the disagreement w_z - w to u_z
(Boyd et al. 2011, chapter 7; scaled form). Every step is a function of its arguments that changes
none of them, so where it runs is a matter of the `Runner`: threads, processes, or a cluster that
can run a step again if the machine that held its result is lost.
"""

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from labelrank.learners.margins import solver as arc_solver
from labelrank.learners.margins.problem import ArcProblem
from labelrank.learners.margins.solver import Descent, Outcome
from labelrank.rows import Rows

Float32 = npt.NDArray[np.float32]

# Blocks are solved a little more exactly than the whole must be, within so many epochs a round.
INNER_TOL = 0.1
INNER_EPOCHS = 20
# The step is doubled or halved while one residual is so many times the other (Boyd et al., 3.4.1).
UNBALANCED = 3.0
# Over-relaxation (Boyd et al., 3.4.3).
RELAXATION = 1.6


@dataclass(frozen=True)
class Settings:
    C: float
    n_blocks: int
    eta: float
    tol: float
    seed: int


@dataclass(frozen=True)
class BlockState:
    """Weights of a block (and over-relaxed), its scaled disagreement u, its duals, their pull.

    The pull is Σ α (e_better - e_worse) ⊗ x.
    """

    W: Float32
    relaxed: Float32
    u: Float32
    alpha: Float32
    pull: Float32


@dataclass(frozen=True)
class Summary:
    """Residuals (absolute, and the larger one relative to the weights), ½‖w‖², dual objective."""

    primal: float
    dual: float
    relative: float
    half_norm: float
    bound: float


@dataclass(frozen=True)
class Consensus:
    """The agreed weights, the next step and by how much it changed, what was measured."""

    W: Float32
    eta: float
    growth: float
    summary: Summary


class Runner(Protocol):
    """Where steps run; handles stand for results that may be elsewhere."""

    def place(self, blocks: list[ArcProblem]) -> list[Any]: ...

    def map(self, step: Callable[..., Any], *columns: list[Any]) -> list[Any]: ...

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any: ...

    def get(self, handle: Any) -> Any: ...


class ThreadRunner:
    """Steps side by side by joblib: threads, unless `joblib.parallel_config` names a backend."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def place(self, blocks: list[ArcProblem]) -> list[Any]:
        return blocks

    def map(self, step: Callable[..., Any], *columns: list[Any]) -> list[Any]:
        calls = (delayed(step)(*row) for row in zip(*columns, strict=True))
        return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(calls))

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return step(*arguments)

    def get(self, handle: Any) -> Any:
        return handle


def split_rows(problem: ArcProblem, n_blocks: int) -> list[ArcProblem]:
    """Blocks of consecutive instances, as equal as can be; none is empty."""
    n = problem.X.n_rows
    bounds = np.unique(np.linspace(0, n, n_blocks + 1).astype(int))
    return [_rows(problem, int(a), int(b)) for a, b in itertools.pairwise(bounds)]


def _rows(whole: ArcProblem, first: int, last: int) -> ArcProblem:
    xptr, X = _cut(whole.X.indptr, first, last, whole.X.indices, whole.X.data)
    rptr, labels = _cut(whole.rptr, first, last, whole.relevant, whole.grades)
    nptr, (unknown,) = _cut(whole.nptr, first, last, whole.unknown)
    dptr = whole.dptr[first : last + 1]
    return replace(
        whole, X=Rows(xptr, X[0], X[1], whole.X.n_columns), norms=whole.norms[first:last],
        rptr=rptr, relevant=labels[0], grades=labels[1], nptr=nptr, unknown=unknown,
        dptr=dptr - dptr[0],
    )  # fmt: skip


def _cut(ptr: Any, first: int, last: int, *parts: Any) -> tuple[Any, list[Any]]:
    span = slice(ptr[first], ptr[last])
    return ptr[first : last + 1] - ptr[first], [part[span] for part in parts]


def minimise(
    blocks: list[ArcProblem], settings: Settings, max_rounds: int, runner: Runner,
    report: Callable[[float], Any] = lambda gap: None,
) -> tuple[Float32, Outcome]:  # fmt: skip
    """Rounds until the relative gap or both residuals are below `tol`; warns if none ever is."""
    settings = replace(settings, n_blocks=len(blocks))
    placed = runner.place(blocks)
    seeds = [settings.seed + z for z in range(len(blocks))]
    states: list[Any] = [None] * len(blocks)
    agreed: Any = None
    for round_ in range(1, max_rounds + 1):
        solve = partial(solve_block, settings=settings, round_=round_)
        states = runner.map(solve, placed, states, [agreed] * len(blocks), seeds)
        agreed = runner.call(partial(agree, settings=settings), agreed, *states)
        losses = runner.map(partial(_loss_at, C=settings.C), placed, [agreed] * len(blocks))
        summary = runner.get(runner.call(_summary, agreed))
        outcome = _outcome(summary, sum(map(runner.get, losses)), round_)
        report(outcome.gap)
        if min(outcome.gap, summary.relative) <= settings.tol:
            break
    else:
        _warn(summary, outcome, settings.tol)
    return runner.get(runner.call(_weights, agreed)), outcome


def _outcome(summary: Summary, loss: float, n_iter: int) -> Outcome:
    objective = summary.half_norm + loss
    gap = max(objective - summary.bound, 0.0) / objective if objective > 0 else 0.0
    return Outcome(objective, gap, n_iter)


def _warn(summary: Summary, outcome: Outcome, tol: float) -> None:
    warnings.warn(
        f"ADMM has not converged in {outcome.n_iter} rounds: primal residual {summary.primal:.3g}, "
        f"dual residual {summary.dual:.3g}, relative gap {outcome.gap:.2g} where tol={tol:g} is "
        "wanted; raise max_rounds, change eta, or use fewer blocks",
        ConvergenceWarning,
        stacklevel=4,
    )


def solve_block(
    block: ArcProblem, state: BlockState | None, agreed: Consensus | None, seed: int,
    *, settings: Settings, round_: int,
) -> BlockState:  # fmt: skip
    """One block, begun from its duals of the round before."""
    if state is None or agreed is None:
        zero = arc_solver.start(block)
        eta, u, target, alpha, pull = settings.eta, zero.W, zero.W, zero.alpha, zero.W
    else:
        eta, u = agreed.eta, (state.relaxed + state.u - agreed.W) / np.float32(agreed.growth)
        target, alpha, pull = agreed.W - u, state.alpha.copy(), state.pull
    rho = 1.0 / settings.n_blocks + eta
    offset = np.float32(eta / rho) * target
    inside = Descent(offset + pull / np.float32(rho), alpha, rho=rho, offset=offset)
    arc_solver.descend(
        block, inside, settings.C, tol=INNER_TOL * settings.tol, max_iter=INNER_EPOCHS,
        random=np.random.RandomState((seed, round_)),
    )  # fmt: skip
    before = np.float32(0.0) if agreed is None else agreed.W
    relaxed = np.float32(RELAXATION) * inside.W + np.float32(1.0 - RELAXATION) * before
    return BlockState(inside.W, relaxed, u, alpha, np.float32(rho) * (inside.W - offset))


def agree(before: Consensus | None, *states: BlockState, settings: Settings) -> Consensus:
    """The mean of the blocks' weights and disagreements; the step is balanced by the residuals."""
    W = _sum([state.relaxed + state.u for state in states]) / np.float32(len(states))
    eta = settings.eta if before is None else before.eta
    apart = sum(arc_solver.squared(state.W - W) for state in states) ** 0.5
    size = max(sum(arc_solver.squared(state.W) for state in states) ** 0.5, 1e-12)
    moved = (len(states) * arc_solver.squared(W if before is None else W - before.W)) ** 0.5
    growth = 2.0 if apart > UNBALANCED * eta * moved else 1.0
    growth = 0.5 if eta * moved > UNBALANCED * apart else growth
    pulled = _sum([state.pull for state in states])
    bound = sum(float(state.alpha.sum(dtype=np.float64)) for state in states)
    summary = Summary(
        apart, eta * moved, max(apart, moved) / size, 0.5 * arc_solver.squared(W),
        bound - 0.5 * arc_solver.squared(pulled),
    )  # fmt: skip
    return Consensus(W, eta * growth, growth, summary)


def _sum(parts: list[Float32]) -> Float32:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _summary(agreed: Consensus) -> Summary:
    return agreed.summary


def _weights(agreed: Consensus) -> Float32:
    return agreed.W


def _loss_at(block: ArcProblem, agreed: Consensus, *, C: float) -> float:
    return arc_solver.losses(block, agreed.W, C)
