"""k nearest neighbours of documents by cosine, over an inverted index (lecture 003)."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array, Float64, Int64
from labelrank.declared import choice, cut, number, sparse, stored, threads
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.neighbors.search import InvertedIndex, votes
from labelrank.relevance import relevant_part, unknown_part


@stored(
    "InvertedIndexKNN",
    1,
    documents=sparse("n", "d", attribute="_X"),
    relevance=sparse("n", "K", attribute="_Y", finite=False),
)
@dataclass(eq=False, repr=False)
class InvertedIndexKNN(IncrementalRanker):
    """The labels of the most similar training documents.

    Exact: the neighbours are those of a brute-force search by cosine, equal cosines by the smaller
    training index. Scores are shares of the votes, in [0, 1]. A neighbour whose label is unknown
    does not vote on that label.

    Parameters
    ----------
    n_neighbors : int, default 30
        All training documents, where there are fewer.
    weights : {"similarity", "uniform"}
        A neighbour votes by its cosine (not below 0), or all alike (majority).
    threshold : float or "cardinality", default 0.5
        The share of votes above which `predict` takes a label, or as many labels as a document
        had on average. For the best cut, or one per label, see `ThresholdedRanker`.
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

    n_neighbors: int = number(30, least=1, whole=True)
    _: KW_ONLY
    weights: str = choice("similarity", "uniform")
    threshold: Any = cut(0.5)
    n_jobs: int | None = threads()

    _calibrated = False

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        self._X, self._Y = (sp.csr_array((0, part.shape[1])) for part in (X, Y))

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        self._X = sp.csr_array(sp.vstack([self._X, sp.csr_array(X)]))
        self._Y = sp.csr_array(sp.vstack([self._Y, Y]))
        self.after_loading()

    def _widen(self, n_before: int) -> None:
        """What was seen before says nothing about new labels."""
        unknown = np.full((self._Y.shape[0], self.n_labels_ - n_before), np.nan)
        self._Y = sp.csr_array(sp.hstack([self._Y, sp.csr_array(unknown)]))

    def after_loading(self) -> None:
        self.index_ = InvertedIndex.of(self._X)

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Float64, Int64]:
        """Cosines and training indices of the nearest documents, best first (n × k each)."""
        check_is_fitted(self)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        return self._nearest(self._check_X(X, reset=False), wanted)

    def _nearest(self, X: Any, wanted: int) -> tuple[Float64, Int64]:
        return self.index_.search(X, min(wanted, self._X.shape[0]), self.n_jobs)

    def _scores(self, X: Any) -> Array:
        cosines, near = self._nearest(X, self.n_neighbors)
        if self.weights == "uniform":
            weights = np.ones_like(cosines)
        else:
            similar = np.maximum(cosines, 0.0)
            weights = np.where(similar.any(axis=1, keepdims=True), similar, 1.0)
        return shares(weights, near, self._Y)

    def predict_proba(self, X: Any) -> Array:
        """Shares of the votes (n × K); after a class vector they sum to 1."""
        check_is_fitted(self)
        return self._scores(self._check_X(X, reset=False))


def shares(weights: Float64, near: Int64, Y: sp.csr_array) -> Float64:
    """Of the weight of the neighbours that know a label, the share of those that have it.

    >>> Y = sp.csr_array([[1.0, np.nan], [0.0, 1.0]])
    >>> shares(np.array([[1.0, 3.0]]), np.array([[0, 1]]), Y).tolist()
    [[0.25, 1.0]]
    """
    cast = votes(near, weights, Y.shape[0])
    relevant, unknown = relevant_part(Y).astype(bool), unknown_part(Y).astype(bool)
    total = weights.sum(axis=1, keepdims=True) - (cast @ unknown).toarray()
    return (cast @ relevant).toarray() / np.where(total > 0, total, 1.0)
