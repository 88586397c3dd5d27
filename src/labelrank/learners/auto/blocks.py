"""Targets of several classes as labels: one block of labels per target, of which one is right.

A learner of labels so learns multi-dimensional targets: the answer takes the first label of each
block. `TargetColumns` goes the other way, and lets a chain of classifiers answer for the labels.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelrank._types import Array, Float64, Int32
from labelrank.declared import a_learner, nested, stored
from labelrank.decoding import has_probabilities
from labelrank.errors import InputError
from labelrank.learners.around import seeded
from labelrank.learners.base import LabelRanker
from labelrank.learners.chains.base import ColumnLearner
from labelrank.learners.chains.links import UNKNOWN, UNSEEN
from labelrank.learners.chains.scorers import Decoding


def check_blocks(blocks: Any, n_labels: int | None = None) -> tuple[int, ...]:
    """The numbers of labels of the blocks, or an InputError if they are none."""
    try:
        sizes = tuple(int(size) for size in blocks if int(size) == size)
        are_sizes = bool(sizes) and len(sizes) == len(blocks) and min(sizes) >= 1
    except (TypeError, ValueError):
        are_sizes = False
    if not are_sizes:
        raise InputError(f"got sizes={blocks!r}; give the number of labels of each block")
    if n_labels is not None and sum(sizes) != n_labels:
        raise InputError(
            f"got sizes of {sum(sizes)} labels for a Y of {n_labels}; "
            "give the number of classes of each target"
        )
    return sizes


def as_labels(codes: Array, blocks: Sequence[int]) -> sp.csr_array:
    """Relevance (n × labels) of class codes (n × targets).

    Of an unknown target (a code of -1, or NaN) all labels are unknown; of a class of no label
    (another negative code) none is relevant.

    >>> as_labels(np.array([[2, 0], [0, -1]]), [3, 2]).toarray()
    array([[ 0.,  0.,  1.,  1.,  0.],
           [ 1.,  0.,  0., nan, nan]])
    """
    codes = np.asarray(codes, np.float64)
    parts = []
    for column, size in zip(codes.T[:, :, None], blocks, strict=True):
        unknown = np.isnan(column) | (column == UNKNOWN)
        parts.append(np.where(unknown, np.nan, column == np.arange(size)))
    return sp.csr_array(np.hstack(parts))


def as_codes(Y: Any, blocks: Sequence[int]) -> Float64:
    """Class codes of relevance: NaN where a target is unknown, -2 where no class of it is right."""
    dense = Y.toarray() if sp.issparse(Y) else np.asarray(Y, np.float64)
    codes = np.empty((len(dense), len(blocks)))
    for t, block in enumerate(_split(dense, blocks)):
        told = np.nan_to_num(block)
        nothing = np.where(np.isnan(block).any(axis=1), np.nan, UNSEEN)
        codes[:, t] = np.where((told > 0).any(axis=1), told.argmax(axis=1), nothing)
    return codes


def first_of_blocks(scores: Array, blocks: Sequence[int]) -> Int32:
    """The code of the best class of each target."""
    found = [block.argmax(axis=1) for block in _split(np.asarray(scores), blocks)]
    return np.column_stack(found).astype(np.int32)


def members(scores: Array, blocks: Sequence[int]) -> Array:
    """The best label of each block, as a boolean matrix."""
    return as_labels(first_of_blocks(scores, blocks), blocks).toarray() > 0


def shared(chances: Array, blocks: Sequence[int]) -> Array:
    """Probabilities that sum to 1 in each block."""
    parts = []
    for block in _split(np.asarray(chances, np.float64), blocks):
        block = np.maximum(block, 1e-12)
        parts.append(block / block.sum(axis=1, keepdims=True))
    return np.hstack(parts)


def _split(matrix: Array, blocks: Sequence[int]) -> list[Array]:
    return np.split(matrix, np.cumsum(blocks)[:-1], axis=1)


@stored("BlockClassifier", 1, estimator_=nested())
@dataclass(eq=False, repr=False)
class BlockClassifier(ColumnLearner):
    """Multi-dimensional targets by a learner of labels, one label per class of each target.

    Each target takes the class whose label scores highest.

    Parameters
    ----------
    estimator : label ranker or None
        None is `AutoRanker("hamming_score")`, which tries linear learners, trees, kernels and
        chains on instances held out, and keeps the best for exact match or the Hamming score.
    targets : {"auto", "relevance", "classes"}, as of `IndependentClassifiers`
    n_jobs : int or None, threads of `AutoRanker`, where `estimator` is None
    random_state : int, RandomState or None, seed of an estimator that has none of its own

    Attributes
    ----------
    estimator_ : the fitted learner of labels
    column_classes_ : list of the classes of each column

    Examples
    --------
    >>> from labelrank import BlockClassifier, ForestRanker
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [["no", "a"], ["no", "a"], ["yes", "b"], ["yes", "c"]]
    >>> BlockClassifier(ForestRanker(random_state=0)).fit(X, np.array(Y)).predict([[0.2], [3.0]])
    array([['no', 'a'],
           ['yes', 'c']], dtype='<U3')
    """

    estimator: Any = field(default=None, metadata=a_learner())
    _: KW_ONLY

    @property
    def blocks_(self) -> list[int]:
        """The number of classes of each target."""
        return [len(classes) for classes in self.column_classes_]

    def train(self, X: Any, codes: Int32) -> None:
        from labelrank.learners.auto.auto import AutoRanker

        usual = AutoRanker("hamming_score", n_jobs=self.n_jobs)
        learner = clone(usual if self.estimator is None else self.estimator)
        if not isinstance(learner, LabelRanker) or isinstance(learner, ColumnLearner):
            raise InputError(f"got estimator={learner!r}; give a label ranker, such as a forest")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if isinstance(learner, AutoRanker):
            learner.set_params(sizes=self.blocks_)
        learner = seeded(learner, int(seed))
        self.estimator_ = learner.fit(X, as_labels(codes, self.blocks_))

    def decode(self, X: Any) -> Decoding:
        learner, blocks = self.estimator_, self.blocks_
        scores = np.asarray(learner.decision_function(X))

        def log_marginals() -> list[Float64]:
            return _split(np.log(shared(learner.link(scores), blocks)), blocks)

        return Decoding(first_of_blocks(scores, blocks), log_marginals)

    @property
    def has_probabilities(self) -> bool:
        """Whether the learner of labels has."""
        return has_probabilities(self.estimator_)

    def after_loading(self) -> None:
        inner = self.estimator_
        sound = isinstance(inner, LabelRanker) and inner.n_labels_ == sum(self.blocks_)
        if not sound or inner.n_features_in_ != self.n_features_in_:
            raise ValueError("the learner inside is of other labels or features")
