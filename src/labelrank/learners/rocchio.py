"""Rocchio: prototypes α query + β mean of the relevant - γ mean of the other documents."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.declared import choice, cut, flag, nested, number, stored
from labelrank.errors import InputError
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.label_sums import LabelSums
from labelrank.rows import scaled_to_unit


@stored("Rocchio", 1, sums=nested("LabelSums", attribute="_sums"))
@dataclass(kw_only=True, eq=False, repr=False)
class Rocchio(IncrementalRanker):
    """Rank labels by how near a document is to their prototypes (Fürnkranz's lecture).

    The prototype of a label is α (its query) + β (mean of its documents) - γ (mean of the others),
    after Rocchio's relevance feedback. With γ = 0 it is the nearest centroid classifier.

    Parameters
    ----------
    alpha, beta, gamma : float, default 1.0, 1.0, 0.25
        Weights of the query, the relevant and the irrelevant documents.
    queries : array or sparse matrix (K, d) or None
        What is known of each label before any document, say the words of its description.
    metric : {"cosine", "euclidean"}
        Scores are the cosine, or the negative distance, of document and prototype.
    normalize : bool, default True
        Scale documents and queries to length 1 first, so that long ones do not count for more.
    threshold : float or "cardinality"

    Attributes
    ----------
    prototypes_ : ndarray (K, d)

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import Rocchio
    >>> X = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> learner = Rocchio(gamma=0.0).fit(X, [[1, 0], [1, 1], [0, 1]])
    >>> learner.rank([[1.0, 0.1], [0.1, 1.0]]).tolist()
    [[0, 1], [1, 0]]
    """

    alpha: float = number(1.0, least=0)
    beta: float = number(1.0, least=0)
    gamma: float = number(0.25, least=0)
    queries: Any = None
    metric: str = choice("cosine", "euclidean")
    normalize: bool = flag(True)
    threshold: Any = cut()

    _calibrated = False
    _learns_silence = False

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        self._check_queries((Y.shape[1], X.shape[1]))

    def _check_queries(self, wanted: tuple[int, int]) -> None:
        if self.queries is not None and np.shape(self.queries) != wanted:
            raise InputError(
                f"got queries of shape {np.shape(self.queries)}; give {wanted}, "
                "one row per label, one column per feature"
            )

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        (self._sums,) = self.no_sums(Y.shape[1], X.shape[1])

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        self.take_sums(self.add_to((self._sums,), X, Y))

    def no_sums(self, n_labels: int, n_features: int) -> tuple[LabelSums, ...]:
        """The sums of no document."""
        return (LabelSums.empty(n_labels, n_features),)

    def add_to(self, sums: tuple[LabelSums, ...], X: Any, Y: sp.csr_array) -> tuple[LabelSums, ...]:
        """The sums with more documents in them."""
        return (sums[0].add(self._documents(X), Y),)

    def take_sums(self, sums: tuple[LabelSums, ...]) -> None:
        """Learn from the sums of all documents."""
        (self._sums,) = sums
        self.prototypes_ = self._made()

    def _widen(self, n_before: int) -> None:
        self._sums = self._sums.widened(self.n_labels_)

    def after_loading(self) -> None:
        if self._sums.relevant.shape[1] != self.n_features_in_:
            raise ValueError("the sums do not fit the features")
        self._check_queries(self._sums.relevant.shape)
        self.prototypes_ = self._made()

    def _documents(self, X: Any) -> sp.csr_array:
        X = sp.csr_array(X, dtype=np.float64, copy=True)
        return scaled_to_unit(X) if self.normalize else X

    def _made(self) -> Array:
        made = self.beta * _mean(self._sums.relevant, self._sums.n_relevant)
        if self.gamma:
            made -= self.gamma * _mean(*self._sums.irrelevant())
        if self.queries is not None:
            made += self.alpha * self._documents(self.queries).toarray()
        return made

    def _scores(self, X: Any) -> Array:
        documents = self._documents(X)
        products = documents @ self.prototypes_.T
        squares = (self.prototypes_**2).sum(axis=1)
        if self.metric == "cosine":
            lengths = np.sqrt(documents.power(2).sum(axis=1))[:, None] * np.sqrt(squares)
            return products / np.where(lengths > 0, lengths, 1.0)
        distances = documents.power(2).sum(axis=1)[:, None] - 2 * products + squares
        return -np.sqrt(np.maximum(distances, 0.0))


def _mean(sums: Array, counts: Array) -> Array:
    return sums / np.maximum(counts, 1.0)[:, None]
