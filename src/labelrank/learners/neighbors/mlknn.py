"""ML-kNN (Zhang & Zhou 2007): how many neighbours carry a label decides how probable it is."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from labelrank import decoding
from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker
from labelrank.learners.neighbors.all_pairs import AllPairs
from labelrank.learners.neighbors.search import InvertedIndex
from labelrank.resources import run_jobs
from labelrank.rows import scaled_to_unit

METRICS = ("euclidean", "cosine")
ALGORITHMS = ("auto", "brute", "index")
_PAIRS_AT_ONCE = 4_000_000
_WORTH_AN_INDEX = 50_000


class MLkNN(LabelRanker):
    """Nearest neighbours for label sets: the posterior odds of a label given its neighbours.

    Of the k nearest training instances c carry the label. Training counts how often c occurs
    around instances with and without the label, prediction applies Bayes' rule. Scores are log
    odds, with their threshold at 0.

    Parameters
    ----------
    n_neighbors : int, default 10
        At most as many as there are other instances.
    smoothing : float, default 1.0
        Added to every count.
    metric : {"euclidean", "cosine"}
    algorithm : {"auto", "brute", "index"}
        All distances, or an inverted index that skips what cannot be near. The index orders by
        cosine, which is the Euclidean order too if all training rows are equally long (TF-IDF);
        "auto" takes it for many sparse rows. The neighbours are the same; equally near ones by
        smaller row number.
    count_self : bool, default False
        In training, count an instance among its own neighbours (the paper does not).
    n_jobs : int or None
    verbose : int, default 0

    Attributes
    ----------
    log_odds_ : ndarray (K, k + 1)
        Score of label l where c neighbours carry it: ``log_odds_[l, c]``.
    n_neighbors_ : int
        Neighbours looked at.

    References
    ----------
    Zhang & Zhou, ML-KNN: a lazy learning approach to multi-label learning. Pattern Recognition
    40, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import MLkNN
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> MLkNN(n_neighbors=2).fit(X, Y).predict([[0.3], [4.9]])
    array([[1, 0],
           [0, 1]])
    """

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        smoothing: float = 1.0,
        metric: str = "euclidean",
        algorithm: str = "auto",
        count_self: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.metric = metric
        self.algorithm = algorithm
        self.count_self = count_self
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_at_least("n_neighbors", self.n_neighbors, 1)
        check_choice("metric", self.metric, METRICS)
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        if not self.smoothing > 0:
            raise InputError(f"got smoothing={self.smoothing!r}; give a number above 0")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._rows = self._searchable(X)
        known = Y.copy()
        known.data = (Y.data > 0).astype(np.float64)
        unknown = Y.copy()
        unknown.data = np.isnan(Y.data).astype(np.float64)
        for matrix in (known, unknown):
            matrix.eliminate_zeros()
        self._Y = known
        n = X.shape[0]
        self.n_neighbors_ = min(int(self.n_neighbors), n if self.count_self else n - 1)
        self.log_odds_ = self._odds(self._counts(self._around(X)), known, unknown)

    def _searchable(self, X: Any) -> Any:
        """The training rows in the form in which they are searched."""
        is_cosine = self.metric == "cosine"
        fits = is_cosine or _equally_long(X)
        if self.algorithm == "index" and not fits:
            raise InputError(
                "got algorithm='index' with the Euclidean metric and rows of unequal length; "
                "use metric='cosine', scale the rows to equal length, or algorithm='brute'"
            )
        many = sp.issparse(X) and X.shape[0] > _WORTH_AN_INDEX
        if self.algorithm == "index" or (self.algorithm == "auto" and many and fits):
            return InvertedIndex.of(X)
        if not sp.issparse(X):
            return X
        return AllPairs.of(_scaled(X), by_distance=False) if is_cosine else AllPairs.of(X)

    def _around(self, X: Any) -> Array:
        """Neighbours of the training instances, an instance itself left out unless asked for."""
        if self.count_self or not self.n_neighbors_:
            return self._nearest(X, self.n_neighbors_)
        near = self._nearest(X, self.n_neighbors_ + 1)
        itself = near == np.arange(len(near))[:, None]
        itself[~itself.any(axis=1), -1] = True  # duplicates of it took all places
        return near[~itself].reshape(len(near), -1)

    def _nearest(self, X: Any, k: int) -> Array:
        """Row numbers (n × k) of the nearest training instances, nearest first."""
        if not k:
            return np.empty((X.shape[0], 0), np.int64)
        if isinstance(self._rows, InvertedIndex):
            return self._rows.search(X, k, self.n_jobs)[1]
        if isinstance(self._rows, AllPairs):
            return self._rows.nearest(X, k, self.n_jobs)
        step = max(1, _PAIRS_AT_ONCE // self._rows.shape[0])
        jobs = [
            partial(self._brute, X[first : first + step], k) for first in range(0, X.shape[0], step)
        ]
        return np.concatenate(run_jobs(jobs, self.n_jobs)) if jobs else np.empty((0, k), np.int64)

    def _brute(self, X: Any, k: int) -> Array:
        dense = X.toarray() if sp.issparse(X) else X
        products, squares = dense @ self._rows.T, _squared_lengths(self._rows)
        if self.metric == "cosine":
            return decoding.rank(products / np.sqrt(np.where(squares > 0, squares, 1.0)), top=k)
        return decoding.rank(2.0 * products - squares, top=k)

    def _counts(self, near: Array) -> sp.csr_array:
        """How many of the neighbours carry each label (n × K, sparse)."""
        n, k = near.shape
        if not k:
            return sp.csr_array((n, self.n_labels_))
        content = (np.ones(near.size), near.ravel(), np.arange(0, near.size + 1, k))
        return sp.csr_array(sp.csr_array(content, shape=(n, self._Y.shape[0])) @ self._Y)

    def _odds(self, counts: sp.csr_array, known: sp.csr_array, unknown: sp.csr_array) -> Array:
        """Log posterior odds of each label for each number of neighbours that carry it."""
        everyone = self._histogram(counts, np.full(self.n_labels_, counts.shape[0]))
        n_with, n_unknown = (np.asarray(m.sum(axis=0)).ravel() for m in (known, unknown))
        with_label = self._histogram(counts.multiply(known), n_with)
        without = everyone - with_label - self._histogram(counts.multiply(unknown), n_unknown)
        s = float(self.smoothing)
        likelihood = [
            (s + c) / (s * (self.n_neighbors_ + 1) + c.sum(axis=1, keepdims=True))
            for c in (with_label, without)
        ]
        prior = s + with_label.sum(axis=1), s + without.sum(axis=1)
        ratio = np.log(prior[0] / prior[1])[:, None]
        return np.asarray(ratio + np.log(likelihood[0]) - np.log(likelihood[1]))

    def _histogram(self, counts: Any, total: Array) -> Array:
        """K × (k + 1): in how many of `total` instances c neighbours carry the label."""
        found = sp.coo_array(counts)
        width = self.n_neighbors_ + 1
        place = found.col.astype(np.int64) * width + found.data.astype(np.int64)
        table = np.bincount(place, minlength=self.n_labels_ * width).astype(np.float64)
        table = table.reshape(self.n_labels_, width)
        table[:, 0] = total - table[:, 1:].sum(axis=1)
        return table

    def _scores(self, X: Any) -> Array:
        counts = sp.coo_array(self._counts(self._nearest(X, self.n_neighbors_)))
        scores = np.tile(self.log_odds_[:, 0], (X.shape[0], 1))
        scores[counts.row, counts.col] = self.log_odds_[counts.col, counts.data.astype(np.int64)]
        return scores

    def predict_proba(self, X: Any) -> Array:
        """Posterior probability of each label; after a class vector scaled to sum to 1."""
        check_is_fitted(self)
        found = np.asarray(expit(self._scores(self._check_X(X, reset=False))))
        return found / found.sum(axis=1, keepdims=True) if self._one_class else found


def _scaled(X: Any) -> sp.csr_array:
    return scaled_to_unit(sp.csr_array(X, dtype=np.float64, copy=True))


def _squared_lengths(X: Any) -> Array:
    if not sp.issparse(X):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _equally_long(X: Any) -> bool:
    squares = _squared_lengths(X)
    return bool(np.ptp(squares) <= 1e-5 * squares.max()) if len(squares) else False
