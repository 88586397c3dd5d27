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
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from labelrank._types import Float32
from labelrank.learners.margins import solver
from labelrank.learners.margins.solver import DualState, PreferenceProblem, squared

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

    def place(self, blocks: list[PreferenceProblem]) -> list[Any]: ...

    def map(self, step: Callable[..., Any], *columns: list[Any]) -> list[Any]: ...

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any: ...

    def get(self, handle: Any) -> Any: ...


class ThreadRunner:
    """Steps side by side by joblib: threads, unless `joblib.parallel_config` names a backend."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def place(self, blocks: list[PreferenceProblem]) -> list[Any]:
        return blocks

    def map(self, step: Callable[..., Any], *columns: list[Any]) -> list[Any]:
        calls = (delayed(step)(*row) for row in zip(*columns, strict=True))
        return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(calls))

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return step(*arguments)

    def get(self, handle: Any) -> Any:
        return handle


def split_rows(problem: PreferenceProblem, n_blocks: int) -> list[PreferenceProblem]:
    """Blocks of consecutive instances, as equal as can be; none is empty."""
    n = problem.X.n_rows
    bounds = np.unique(np.linspace(0, n, min(n_blocks, n) + 1).astype(int)).tolist()
    return [problem.slice(first, last) for first, last in itertools.pairwise(bounds)]


class Rounds:
    """Rounds of ADMM, as `close_gap` drives them: each measures its own gap, or its residuals."""

    promising = 1.0

    def __init__(self, blocks: list[Any], settings: Settings, runner: Runner) -> None:
        self.settings, self.runner = replace(settings, n_blocks=len(blocks)), runner
        self.placed = blocks
        self.seeds = [settings.seed + z for z in range(len(blocks))]
        self.states: list[Any] = [None] * len(blocks)
        self.agreed: Any = None
        self.round = 0

    def epoch(self) -> float:
        self.round += 1
        runner, settings, everywhere = self.runner, self.settings, len(self.placed)
        solve = partial(solve_block, settings=settings, round_=self.round)
        agreed = [self.agreed] * everywhere
        self.states = runner.map(solve, self.placed, self.states, agreed, self.seeds)
        self.agreed = runner.call(partial(agree, settings=settings), self.agreed, *self.states)
        loss_at = partial(_loss_at, C=settings.C)
        losses = runner.map(loss_at, self.placed, [self.agreed] * everywhere)
        self.summary = runner.get(runner.call(attrgetter("summary"), self.agreed))
        self.objective = self.summary.half_norm + sum(map(runner.get, losses))
        return self.gap()

    def gap(self) -> float:
        return min(self.duality_gap, self.summary.relative)

    @property
    def duality_gap(self) -> float:
        """How far the agreed weights are from the bound that the duals of the blocks give."""
        apart = max(self.objective - self.summary.bound, 0.0)
        return apart / self.objective if self.objective > 0 else 0.0


def minimise(
    blocks: list[Any], settings: Settings, max_rounds: int, runner: Runner,
    report: Callable[[float], Any] = lambda gap: None,
) -> tuple[Float32, float, float, int]:  # fmt: skip
    """Weights, objective, relative gap and rounds, when gap or residuals are below `tol`.

    The blocks are handles of problems, as `Runner.place` gives them.
    """
    rounds = Rounds(blocks, settings, runner)
    gap, n_rounds = solver.close_gap(rounds, settings.tol, max_rounds, report)
    if gap > settings.tol:
        warnings.warn(
            f"ADMM has not converged in {n_rounds} rounds: primal residual "
            f"{rounds.summary.primal:.3g}, dual residual {rounds.summary.dual:.3g}, relative gap "
            f"{rounds.duality_gap:.2g} where tol={settings.tol:g} is wanted; raise max_rounds, "
            "change eta, or use fewer blocks",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif rounds.duality_gap > settings.tol:
        warnings.warn(
            f"ADMM stopped in round {n_rounds} as its residuals are below tol={settings.tol:g}, at "
            f"a relative gap of {rounds.duality_gap:.2g}; use a smaller tol for a smaller gap",
            ConvergenceWarning,
            stacklevel=3,
        )
    W = runner.get(runner.call(attrgetter("W"), rounds.agreed))
    return W, rounds.objective, rounds.duality_gap, n_rounds


def solve_block(
    block: PreferenceProblem, state: BlockState | None, agreed: Consensus | None, seed: int,
    *, settings: Settings, round_: int,
) -> BlockState:  # fmt: skip
    """One block, begun from its duals of the round before."""
    if state is None or agreed is None:
        zero = DualState.zeros(block)
        eta, u, target, alpha, pull = settings.eta, zero.W, zero.W, zero.alpha, zero.W
    else:
        eta, u = agreed.eta, (state.relaxed + state.u - agreed.W) / np.float32(agreed.growth)
        target, alpha, pull = agreed.W - u, state.alpha.copy(), state.pull
    rho = 1.0 / settings.n_blocks + eta
    offset = np.float32(eta / rho) * target
    inside = DualState(offset + pull / np.float32(rho), alpha, rho=rho, offset=offset)
    tol, random = INNER_TOL * settings.tol, np.random.RandomState((seed, round_))
    descent = solver.PreferenceDescent(block, inside, settings.C, tol=tol, random=random)
    solver.close_gap(descent, tol, INNER_EPOCHS)
    before = np.float32(0.0) if agreed is None else agreed.W
    relaxed = np.float32(RELAXATION) * inside.W + np.float32(1.0 - RELAXATION) * before
    return BlockState(inside.W, relaxed, u, alpha, np.float32(rho) * (inside.W - offset))


def agree(before: Consensus | None, *states: BlockState, settings: Settings) -> Consensus:
    """The mean of the blocks' weights and disagreements; the step is balanced by the residuals."""
    W = _sum([state.relaxed + state.u for state in states]) / np.float32(len(states))
    eta = settings.eta if before is None else before.eta
    apart = sum(squared(state.W - W) for state in states) ** 0.5
    size = max(sum(squared(state.W) for state in states) ** 0.5, 1e-12)
    moved = (len(states) * squared(W if before is None else W - before.W)) ** 0.5
    growth = 2.0 if apart > UNBALANCED * eta * moved else 1.0
    growth = 0.5 if eta * moved > UNBALANCED * apart else growth
    pulled = squared(_sum([state.pull for state in states]))
    bound = sum(float(state.alpha.sum(dtype=np.float64)) for state in states) - 0.5 * pulled
    relative = max(apart, moved) / size
    summary = Summary(apart, eta * moved, relative, 0.5 * squared(W), bound)
    return Consensus(W, eta * growth, growth, summary)


def _sum(parts: list[Float32]) -> Float32:
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _loss_at(block: PreferenceProblem, agreed: Consensus, *, C: float) -> float:
    """The weighted losses of all arcs of a block at the agreed weights."""
    no_duals = np.zeros(block.n_duals, np.float32)
    return float(solver.measured(block, DualState(agreed.W, no_duals), C)[0].sum())
