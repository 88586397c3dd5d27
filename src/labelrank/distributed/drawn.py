"""Learners that draw some instances of many: EP-PLM and EC-PLM learn where these come together.

Which instances are drawn depends on the labels alone. One worker gets the labels of all rows, and
the features of the rows that will be drawn; the others stay empty, and nobody looks at them.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from labelrank.distributed.blocks import Block, Blocks, owned
from labelrank.distributed.engine import Engine
from labelrank.learners.plm.embedding import EmbeddingRanker


def _labels(*blocks: Block) -> sp.csr_array:
    return sp.csr_array(sp.vstack([block.Y for block in blocks], format="csr"))


def _labels_of(block: Block) -> Block:
    return Block(sp.csr_array((block.Y.shape[0], 0)), block.Y)


def _drawn(learner: EmbeddingRanker, Y: sp.csr_array) -> Any:
    return learner.rows_drawn(Y)


def _kept(block: Block, first: int, drawn: Any) -> sp.csr_array:
    """The features of the rows that are drawn, which are numbered from `first` on."""
    X = owned(block).X
    if drawn is None:
        return X
    n = X.shape[0]
    mine = drawn[(drawn >= first) & (drawn < first + n)] - first
    chosen = sp.csr_array((np.ones(len(mine), X.dtype), (mine, mine)), shape=(n, n))
    return sp.csr_array(chosen @ X)


def _fitted(learner: EmbeddingRanker, Y: sp.csr_array, *features: sp.csr_array) -> EmbeddingRanker:
    X = sp.csr_array(sp.vstack(features, format="csr"))
    return clone(learner).fit(*owned(Block(X, Y)))


def learn(learner: EmbeddingRanker, blocks: Blocks, engine: Engine) -> EmbeddingRanker:
    """As `fit` does, to the same bits, in one worker."""
    given = learner.random_state
    seed = given if isinstance(given, int) else int(np.random.default_rng().integers(2**31 - 1))
    seeded = clone(learner).set_params(random_state=seed)
    only_labels = [engine.keep(_labels_of, block) for block in blocks.handles]
    Y = engine.call(_labels, *only_labels)
    drawn = engine.call(_drawn, seeded, Y)
    starts = np.cumsum([0, *(one.n_rows for one in blocks.seen)]).tolist()
    features = [
        engine.call(_kept, block, first, drawn) for block, first in zip(blocks.handles, starts)
    ]
    fitted: EmbeddingRanker = engine.get(engine.call(_fitted, seeded, Y, *features))
    fitted.set_params(random_state=given)
    fitted.note(blocks.whole)
    return fitted
