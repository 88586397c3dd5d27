"""Which learner learns from pieces in which way: the one table, which the docs print."""

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


class Way(NamedTuple):
    """How a learner learns from pieces, why so, and what is equal to one machine.

    `learn` takes a learner that has noted the instances, and gives it back fitted; `check` refuses
    parameters that pieces cannot have, before any part is read.
    """

    learn: Callable[[Any, Blocks, Engine], Any]
    how: str
    why: str
    equal: str
    check: Callable[[Any], None] = _nothing


_SUMS = Way(
    sums.learn, "sums over blocks of rows", "all it learns are sums by label",
    "the same up to rounding in double precision; the same bits where features are whole numbers",
)  # fmt: skip
_IN_ORDER = Way(
    labels.in_order, "blocks of 64 labels, past which the rows stream in their order",
    "labels do not touch each other, and each learns from one row after the other",
    "the same bits as shuffle=False", labels.check_order,
)  # fmt: skip
_COUPLED = _IN_ORDER._replace(
    how="the rows stream in their order past all labels, on one worker at a time",
    why="every label may move every other: data may exceed memory, but nothing runs side by side",
)
_PAIRS = Way(
    labels.in_order, "blocks of 256 pairs of labels, past which the rows stream in their order",
    "pairs do not touch each other, and each learns from one row after the other",
    "the same bits as shuffle=False, representation='primal'", labels.check_pairs,
)  # fmt: skip
_AT_ONCE = Way(
    labels.at_once,
    "blocks of labels, each in a worker that has all rows",
    "labels do not touch each other, but a solver visits the rows in an order of its own",
    "the same bits; the same objective within tol where duals are too many for a worker",
)
_ADMM = Way(
    rows.learn,
    "ADMM over n_blocks blocks of rows (1: one per worker)",
    "the arcs couple all labels, and the problem is one sum over the rows",
    "the same objective within tol",
)
_DRAWN = Way(
    drawn.learn,
    "one worker, with the labels of all rows and the features of those drawn",
    "its steps are a sequence, of few rows, and the labels alone tell which",
    "the same bits",
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
