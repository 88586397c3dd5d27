"""Cheap rankers that propose a shortlist of labels: centroids and neighbours.

Both work on cosines and never hold a dense matrix of features by labels.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from labelrank.learners.base import Array, IncrementalRanker

_ROWS_AT_ONCE = 512


class CentroidRanker(IncrementalRanker):
    """Scores a label by the cosine of an instance with the sum of the label's instances.

    Examples
    --------
    >>> import numpy as np
    >>> ranker = CentroidRanker().fit(np.eye(3), np.eye(3, dtype=int))
    >>> ranker.rank([[0.1, 0.0, 1.0]]).tolist()
    [[2, 0, 1]]
    """

    _calibrated = False

    def __init__(self, *, threshold: Any = "cardinality") -> None:
        self.threshold = threshold

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self.sums_ = sp.csr_array((self.n_labels_, X.shape[1]))
        self._learn_more(X, Y)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "sums_"):
            self.sums_ = sp.csr_array((self.n_labels_, X.shape[1]))
        self.sums_ = sp.csr_array(self.sums_ + _indicator(Y).T @ normalize(sp.csr_array(X)))
        self.centroids_ = sp.csr_array(normalize(self.sums_).T.astype(np.float32))

    def _widen(self, n_before: int) -> None:
        self.sums_.resize(self.n_labels_, self.sums_.shape[1])
        self.centroids_.resize(self.sums_.shape[1], self.n_labels_)

    def _scores(self, X: Any) -> Array:
        return np.asarray((normalize(sp.csr_array(X)) @ self.centroids_).toarray(), np.float64)


class NeighborRanker(IncrementalRanker):
    """Scores a label by the summed cosines of those of the nearest instances that bear it.

    Examples
    --------
    >>> import numpy as np
    >>> ranker = NeighborRanker(n_neighbors=1).fit(np.eye(3), np.eye(3, dtype=int))
    >>> ranker.rank([[0.1, 0.0, 1.0]], top=1).tolist()
    [[2]]
    """

    _calibrated = False

    def __init__(self, *, n_neighbors: int = 30, threshold: Any = "cardinality") -> None:
        self.n_neighbors = n_neighbors
        self.threshold = threshold

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self.instances_, self.relevance_ = normalize(sp.csr_array(X)), _indicator(Y)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "instances_"):
            self._learn(X, Y)
            return
        self.instances_ = sp.csr_array(sp.vstack((self.instances_, normalize(sp.csr_array(X)))))
        self.relevance_ = sp.csr_array(sp.vstack((self.relevance_, _indicator(Y))))

    def _widen(self, n_before: int) -> None:
        self.relevance_.resize(self.relevance_.shape[0], self.n_labels_)

    def _scores(self, X: Any) -> Array:
        X = normalize(sp.csr_array(X))
        parts = [self._score_rows(X[first:last]) for first, last in spans(X.shape[0])]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_labels_))

    def _score_rows(self, X: sp.csr_array) -> Array:
        cosines = sp.csr_array(X @ self.instances_.T)
        for first, last in itertools.pairwise(cosines.indptr):
            row = cosines.data[first:last]
            if len(row) > self.n_neighbors:
                row[np.argpartition(-row, self.n_neighbors)[self.n_neighbors :]] = 0.0
        cosines.eliminate_zeros()
        return np.asarray((cosines @ self.relevance_).toarray(), np.float64)


def spans(n_rows: int) -> Iterator[tuple[int, int]]:
    """Rows in pieces small enough that rows by labels stays a small matrix."""
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        yield first, min(first + _ROWS_AT_ONCE, n_rows)


def _indicator(Y: sp.csr_array) -> sp.csr_array:
    relevant = sp.csr_array((np.where(Y.data > 0, 1.0, 0.0), Y.indices, Y.indptr), shape=Y.shape)
    relevant.eliminate_zeros()
    return relevant
