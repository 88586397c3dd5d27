"""A cheap ranker to propose a shortlist of labels: centroids, kept sparse.

`Rocchio` holds a dense vector a label; with thousands of labels that is the larger part of the
memory, and multiplying by it the larger part of the time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from labelrank._types import Array
from labelrank.learners.base import IncrementalRanker

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


def spans(n_rows: int) -> Iterator[tuple[int, int]]:
    """Rows in pieces small enough that rows by labels stays a small matrix."""
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        yield first, min(first + _ROWS_AT_ONCE, n_rows)


def _indicator(Y: sp.csr_array) -> sp.csr_array:
    relevant = sp.csr_array((np.where(Y.data > 0, 1.0, 0.0), Y.indices, Y.indptr), shape=Y.shape)
    relevant.eliminate_zeros()
    return relevant
