"""Learners of sums of documents by label: naive Bayes and Rocchio.

Blocks are added in their order within spans of about √n blocks, then the spans two by two. The
spans depend on the number of blocks alone, so the sums have the same bits on any cluster; they
differ from those of one machine by the rounding of double precision, and by nothing for counts.
"""

from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from labelrank.distributed.blocks import Block, Blocks, owned
from labelrank.distributed.engine import Engine, reduced


def _added(learner: Any, sums: Any, block: Block) -> Any:
    X, Y = owned(block)
    if sums is None:
        return learner.add_to(learner.no_sums(Y.shape[1], X.shape[1]), X, Y)
    return learner.add_to(tuple(one.copied() for one in sums), X, Y)


def _merged(one: Any, other: Any) -> Any:
    return tuple(a.merged(b) for a, b in zip(one, other, strict=True))


def learn(learner: Any, blocks: Blocks, engine: Engine) -> Any:
    """Sums of all blocks."""
    n = len(blocks.handles)
    bounds = np.linspace(0, n, min(n, isqrt(n - 1) + 1) + 1).astype(int).tolist()
    spans = []
    for first, last in pairwise(bounds):
        sums = None
        for block in blocks.handles[first:last]:
            sums = engine.call(_added, learner, sums, block)
        spans.append(sums)
    learner.take_sums(engine.get(reduced(engine, _merged, spans)))
    return learner
