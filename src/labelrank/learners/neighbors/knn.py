"""k nearest neighbours of documents by cosine, over an inverted index (lecture 003)."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.neighbors.search import InvertedIndex


class InvertedIndexKNN(IncrementalRanker):
    """The labels of the most similar training documents.

    Exact: the neighbours are those of a brute-force search by cosine, equal cosines by the smaller
    training index, but documents that cannot be among them are never looked at. Scores are shares
    of the votes, in [0, 1]. A neighbour whose label is unknown has no vote on that label.

    Parameters
    ----------
    n_neighbors : int, default 30
        All training documents, where there are fewer.
    weights : {"similarity", "uniform"}
        A neighbour votes by its cosine (not below 0), or all alike (majority).
    threshold : float or "cardinality", default 0.5
        The share of votes above which `predict` takes a label, or as many labels as a document
        had on average. For the best cut, or one a label, see `ThresholdedRanker`.
    n_jobs : int or None
        Threads over the documents asked about; never changes the result.

    Attributes
    ----------
    index_ : InvertedIndex
        `index_.search(X, k)` gives cosines and indices of the neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import InvertedIndexKNN
    >>> X = np.array([[2.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    >>> learner = InvertedIndexKNN(n_neighbors=2).fit(X, [[1, 0], [1, 0], [0, 1]])
    >>> learner.predict([[1.0, 0.0, 0.0]])
    array([[1, 0]])
    >>> learner.kneighbors([[0.0, 1.0, 1.0]])[1]
    array([[2, 1]])
    """

    _calibrated = False

    def __init__(
        self,
        n_neighbors: int = 30,
        *,
        weights: str = "similarity",
        threshold: Any = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.threshold = threshold
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_at_least("n_neighbors", self.n_neighbors, 1)
        check_choice("weights", self.weights, ("similarity", "uniform"))

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._X, self._Y = sp.csr_array(X, dtype=np.float64), Y
        self.index_ = InvertedIndex.of(self._X)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if hasattr(self, "index_"):
            X = sp.csr_array(sp.vstack([self._X, sp.csr_array(X)], format="csr"))
            Y = sp.csr_array(sp.vstack([self._Y, Y], format="csr"))
        self._learn(X, Y)

    def _widen(self, n_before: int) -> None:
        """What was seen before says nothing of new labels."""
        unknown = np.full((self._Y.shape[0], self.n_labels_ - n_before), np.nan)
        self._Y = sp.csr_array(sp.hstack([self._Y, sp.csr_array(unknown)], format="csr"))

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Array, Array]:
        """Cosines and training indices of the nearest documents, best first (n × k each)."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        return self.index_.search(X, min(wanted, self._X.shape[0]), self.n_jobs)

    def _scores(self, X: Any) -> Array:
        cosines, near = self.index_.search(X, min(self.n_neighbors, self.n_seen_), self.n_jobs)
        return shares(self._weights(cosines), near, self._Y)

    def _weights(self, cosines: Array) -> Array:
        if self.weights == "uniform":
            return np.ones_like(cosines)
        similar = np.maximum(cosines, 0.0)
        return np.where(similar.any(axis=1, keepdims=True), similar, 1.0)

    def predict_proba(self, X: Any) -> Array:
        """Shares of the votes (n × K); after a class vector they sum to 1."""
        check_is_fitted(self)
        return self._scores(self._check_X(X, reset=False))


def shares(weights: Array, near: Array, Y: sp.csr_array) -> Array:
    """Of the weight of the neighbours that know a label, the share of those that have it.

    >>> Y = sp.csr_array([[1.0, np.nan], [0.0, 1.0]])
    >>> shares(np.array([[1.0, 3.0]]), np.array([[0, 1]]), Y).tolist()
    [[0.25, 1.0]]
    """
    n, k = near.shape
    votes = sp.csr_array((weights.ravel(), near.ravel(), np.arange(n + 1) * k), (n, Y.shape[0]))
    relevant = sp.csr_array((np.float64(Y.data > 0), Y.indices, Y.indptr), shape=Y.shape)
    total = weights.sum(axis=1, keepdims=True)
    if np.isnan(Y.data).any():
        unknown = sp.csr_array((np.float64(np.isnan(Y.data)), Y.indices, Y.indptr), shape=Y.shape)
        total = total - (votes @ unknown).toarray()
    return (votes @ relevant).toarray() / np.where(total > 0, total, 1.0)
