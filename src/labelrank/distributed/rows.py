"""One problem over blocks of rows: ProSVM and RankSVM, by the steps of `learners.margins.admm`.

Only weights travel between workers, and numbers to here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.distributed.blocks import Block, Blocks, owned
from labelrank.distributed.engine import Engine, reduced
from labelrank.errors import InputError
from labelrank.learners.margins.prosvm import PreferenceSVM
from labelrank.learners.margins.ranksvm import RankSVM
from labelrank.learners.margins.solver import PreferenceProblem


class EngineRunner:
    """Runs the steps of ADMM where an engine does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def place(self, blocks: list[PreferenceProblem]) -> list[Any]:
        """Hand out the blocks as results of steps, so that a lost one can be handed out again."""
        return [self.engine.call(_same, block) for block in blocks]

    def map(self, step: Callable[..., Any], *columns: list[Any]) -> list[Any]:
        return [self.engine.call(step, *row) for row in zip(*columns, strict=True)]

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return self.engine.call(step, *arguments)

    def get(self, handle: Any) -> Any:
        return self.engine.get(handle)


def _same(block: PreferenceProblem) -> PreferenceProblem:
    return block


def together(blocks: Sequence[Block]) -> Block:
    """The rows of several blocks, one after the other."""
    X, Y = (sp.csr_array(sp.vstack(part, format="csr")) for part in zip(*blocks, strict=True))
    return Block(X, Y)


def _problem(learner: PreferenceSVM, *blocks: Block) -> PreferenceProblem:
    return learner.problem_of(*together(blocks))


def _cuts(learner: RankSVM, block: Block) -> tuple[Any, Any]:
    return learner.cuts_of(*owned(block))


def _added(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    return one[0] + other[0], one[1] + other[1]


def learn(learner: PreferenceSVM, blocks: Blocks, engine: Engine) -> PreferenceSVM:
    """ADMM over `n_blocks` groups of neighbouring blocks; where that is 1, one per worker."""
    if learner.warm_start:
        raise InputError("got warm_start=True, whose duals stay on one machine; use False")
    wanted = learner.n_blocks if learner.n_blocks > 1 else max(2, engine.n_workers)
    groups = np.array_split(np.arange(len(blocks.handles)), min(wanted, len(blocks.handles)))
    placed = [engine.call(_problem, learner, *(blocks.handles[k] for k in g)) for g in groups]
    learner.learn_placed(placed, EngineRunner(engine))
    if isinstance(learner, RankSVM):
        sums = [engine.call(_cuts, learner, block) for block in blocks.handles]
        learner.take_cuts(*engine.get(reduced(engine, _added, sums)))
    return learner
