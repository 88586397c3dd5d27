"""Which learner learns from pieces in which way: the one table, which the docs print."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from labelrank.distributed import drawn, labels, rows, sums
from labelrank.distributed.blocks import Blocks
from labelrank.distributed.engine import Engine
from labelrank.errors import InputError
from labelrank.learners.margins.binary_relevance import (
    BinaryRelevanceLogistic,
    BinaryRelevanceSVM,
)
from labelrank.learners.margins.prosvm import ProSVM
from labelrank.learners.margins.ranksvm import RankSVM
from labelrank.learners.naive_bayes import NaiveBayesRanker
from labelrank.learners.pairwise.perceptron import PairwisePerceptron
from labelrank.learners.perceptron import (
    BinaryRelevancePerceptron,
    MulticlassMultilabelPerceptron,
)
from labelrank.learners.plm.ec_plm import EmbeddingCodingPLM
from labelrank.learners.plm.ep_plm import EmbeddingPCAPLM
from labelrank.learners.rocchio import Rocchio


def _nothing(learner: Any) -> None:
    """Nothing to refuse."""


class Size(NamedTuple):
    """A problem in pieces: rows, values of a row that are not 0, and so on."""

    rows: int
    values: float
    features: int
    labels: int
    parts: int
    workers: int

    @property
    def row_bytes(self) -> float:
        """What the features of all rows take."""
        return 12.0 * self.rows * self.values

    @property
    def weight_bytes(self) -> float:
        """What one weight per label and feature takes."""
        return 4.0 * self.labels * self.features


class Load(NamedTuple):
    """Bytes in each worker, and over the network in all; how many steps learn side by side, and
    whether learning grows with the rows."""

    worker_bytes: float
    sent_bytes: float
    side_by_side: int
    grows: bool = True


def _of_sums(size: Size) -> Load:
    spans = min(size.parts, math.isqrt(max(size.parts - 1, 0)) + 1)
    sums = 2 * size.weight_bytes
    each = size.row_bytes / size.workers + 3 * sums
    return Load(each, sums * spans, min(size.workers, spans))


def _of_blocks(size: Size, n_blocks: int, block_bytes: float) -> Load:
    """Blocks of weights past which all rows go."""
    abreast = min(size.workers, n_blocks)
    own = 2 * block_bytes * -(-n_blocks // size.workers)
    sent = size.row_bytes * (abreast - 1) + n_blocks * block_bytes
    return Load(size.row_bytes / size.workers + own, sent, abreast)


def _of_labels(size: Size) -> Load:
    return _of_blocks(size, -(-size.labels // 64), 4.0 * 64 * size.features)


def _of_all_labels(size: Size) -> Load:
    return _of_blocks(size, 1, size.weight_bytes)


def _of_pairs(size: Size) -> Load:
    return _of_blocks(size, -(-size.labels * size.labels // 512), 4.0 * 256 * size.features)


def _of_solvers(size: Size) -> Load:
    n_blocks = 2 * -(-size.labels // 320)
    abreast = min(size.workers, n_blocks)
    duals = 4.0 * size.rows * size.labels / n_blocks
    sent = size.row_bytes * (abreast - 1) + size.weight_bytes
    return Load(2 * size.row_bytes + duals + size.weight_bytes / n_blocks, sent, abreast)


def _of_rounds(size: Size) -> Load:
    """Some thirty rounds, in each of which every block sends its weights and gets the mean."""
    each = 2 * size.row_bytes / size.workers + 6 * size.weight_bytes
    return Load(each, 30 * 5 * size.weight_bytes * size.workers, size.workers)


def _of_sequence(size: Size) -> Load:
    drawn = min(size.rows, 400_000) / size.rows * size.row_bytes
    return Load(size.row_bytes / size.workers + 2 * drawn, drawn, 1, grows=False)


class Way(NamedTuple):
    """How a learner learns from pieces, why so, and what is equal to one machine.

    `learn` takes a learner that has noted the instances, and gives it back fitted; `check` refuses
    parameters that pieces cannot have, before any part is read.
    """

    learn: Callable[[Any, Blocks, Engine], Any]
    how: str
    why: str
    equal: str
    load: Callable[[Size], Load]
    check: Callable[[Any], None] = _nothing


_SUMS = Way(
    sums.learn, "sums over blocks of rows", "all it learns are sums by label",
    "the same up to rounding in double precision; the same bits where features are whole numbers",
    _of_sums,
)  # fmt: skip
_IN_ORDER = Way(
    labels.in_order, "blocks of 64 labels, past which the rows stream in their order",
    "labels do not touch each other, and each learns from one row after the other",
    "the same bits as shuffle=False", _of_labels, labels.check_order,
)  # fmt: skip
_COUPLED = _IN_ORDER._replace(
    how="the rows stream in their order past all labels, on one worker at a time",
    why="every label may move every other: data may exceed memory, but nothing runs side by side",
    load=_of_all_labels,
)
_PAIRS = Way(
    labels.in_order, "blocks of 256 pairs of labels, past which the rows stream in their order",
    "pairs do not touch each other, and each learns from one row after the other",
    "the same bits as shuffle=False, representation='primal'", _of_pairs, labels.check_pairs,
)  # fmt: skip
_AT_ONCE = Way(
    labels.at_once,
    "blocks of labels, each in a worker that has all rows",
    "labels do not touch each other, but a solver visits the rows in an order of its own",
    "the same bits; the same objective within tol where duals are too many for a worker",
    _of_solvers,
)
_ADMM = Way(
    rows.learn,
    "ADMM over n_blocks blocks of rows (1: one per worker)",
    "the arcs couple all labels, and the problem is one sum over the rows",
    "the same objective within tol",
    _of_rounds,
)
_DRAWN = Way(
    drawn.learn,
    "one worker, with the labels of all rows and the features of those drawn",
    "its steps are a sequence, of few rows, and the labels alone tell which",
    "the same bits",
    _of_sequence,
)
WAYS: Mapping[type, Way] = {
    NaiveBayesRanker: _SUMS,
    Rocchio: _SUMS,
    BinaryRelevancePerceptron: _IN_ORDER,
    MulticlassMultilabelPerceptron: _COUPLED,
    PairwisePerceptron: _PAIRS,
    BinaryRelevanceSVM: _AT_ONCE,
    BinaryRelevanceLogistic: _AT_ONCE,
    ProSVM: _ADMM,
    RankSVM: _ADMM,
    EmbeddingPCAPLM: _DRAWN,
    EmbeddingCodingPLM: _DRAWN,
}


def way_of(learner: Any) -> Way:
    """How the learner learns from pieces, or an InputError where it does not.

    >>> from labelrank import Rocchio
    >>> way_of(Rocchio()).how
    'sums over blocks of rows'
    """
    way = WAYS.get(type(learner))
    if way is None:
        names = ", ".join(cls.__name__ for cls in WAYS)
        raise InputError(
            f"got {type(learner).__name__}, which learns on one machine, from data in memory; "
            f"from pieces learn {names}"
        )
    return way
