"""Labels in blocks: perceptrons past which the rows stream, SVMs that each see all rows."""

from typing import Any

from labelrank.distributed.blocks import Block, Blocks, owned
from labelrank.distributed.engine import Engine
from labelrank.distributed.rows import together
from labelrank.errors import InputError
from labelrank.learners.label_weights import LANE
from labelrank.learners.margins.binary_relevance import LinearBinaryRelevance, Problem, Solved
from labelrank.learners.pairwise.perceptron import PairwisePerceptron

# Of the memory of a worker: for the instances, and for the duals of one block of labels.
_FOR_ROWS, _FOR_DUALS = 0.4, 0.25


def check_order(learner: Any) -> None:
    """Refuse an order of rows that pieces cannot have."""
    if learner.shuffle:
        raise InputError(
            "got shuffle=True, but rows in pieces are learned in their order; use shuffle=False"
        )


def check_pairs(learner: PairwisePerceptron) -> None:
    """Refuse perceptrons of pairs that are no weights, or whose epochs nobody can tell before."""
    check_order(learner)
    wanted = {
        "representation": ("auto", "primal"), "kernel": ("linear",), "shortlist": (None,),
        "until_no_error": (False,),
    }  # fmt: skip
    for name, allowed in wanted.items():
        got = getattr(learner, name)
        if got not in allowed:
            raise InputError(
                f"got {name}={got!r}, but pairs in pieces are learned by their weights, for so "
                f"many epochs; use {name}={allowed[-1]!r}"
            )


def in_order(learner: Any, blocks: Blocks, engine: Engine) -> Any:
    """Each block of labels learns the blocks of rows one after the other, as one machine does."""
    learned, clock = [], 0
    for own in learner.separate_blocks():
        state, clock = engine.call(_begun, own), 0
        for _ in range(learner.epochs):
            for rows, seen in zip(blocks.handles, blocks.seen, strict=True):
                state = engine.call(_lesson, own, state, rows, clock)
                clock += seen.n_rows
        learned.append(state)
    learner.take_blocks([engine.get(state) for state in learned], clock)
    return learner


def _begun(own: Any) -> Any:
    return own.begin()


def _lesson(own: Any, before: Any, rows: Block, clock: int) -> Any:
    return own.learn(before, *owned(rows), clock)


def at_once(
    learner: LinearBinaryRelevance, blocks: Blocks, engine: Engine
) -> LinearBinaryRelevance:
    """All rows go to the workers, and each solves blocks of labels, as one machine does.

    Where the duals of a block would not fit a worker, it is cut into narrower ones: the objective
    is the same within `tol`, but not the bits.
    """
    whole = blocks.whole
    n_values = whole.n_rows * whole.n_features - whole.counts.n_zeros
    n_bytes = 20 * n_values + 40 * whole.n_relevant  # joined: twice for a moment
    if n_bytes > _FOR_ROWS * engine.n_bytes:
        raise InputError(
            f"{type(learner).__name__} needs all {whole.n_rows:,} rows in one worker, about "
            f"{n_bytes / 2**30:.1f} GiB of its {engine.n_bytes / 2**30:.1f}; give the workers more "
            "memory, keep fewer terms, or use ProSVM or a perceptron, which learn in pieces"
        )
    problem = engine.call(_problem, learner, *blocks.handles)
    most = _FOR_DUALS * engine.n_bytes / (4 * max(whole.n_rows, 1))
    seed, solved = learner.block_seed(), []
    for b, (W, lo, width) in enumerate(learner.no_weights().spans()):
        lanes = max(LANE, min(W.shape[1], int(most) // LANE * LANE))
        for first in range(lo, lo + width, lanes):
            n = min(lanes, lo + width - first)
            solved.append(engine.call(_solved, learner, problem, first, n, lanes, seed + b))
    learner.take_solved([engine.get(one) for one in solved])
    return learner


def _problem(learner: LinearBinaryRelevance, *blocks: Block) -> Problem:
    return learner.problem_of(*together(blocks))


def _solved(
    learner: LinearBinaryRelevance, problem: Problem, lo: int, width: int, lanes: int, seed: int
) -> Solved:
    return learner.solve_block(problem, lo, width, lanes, seed)
