"""Nearest neighbours by an inverted index: votes by cosine, and ML-kNN (Zhang & Zhou 2007)."""

from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from threadpoolctl import threadpool_limits

from labelrank._types import Array, Float32, Float64, Int32, Int64
from labelrank.declared import array, choice, cut, flag, number, sparse, stored, threads
from labelrank.errors import InputError
from labelrank.kernels import inverted as kernels
from labelrank.learners.base import IncrementalRanker, LabelRanker
from labelrank.relevance import relevant_part, unknown_part
from labelrank.resources import blocks, row_chunks, run_jobs
from labelrank.rows import Rows, as_rows, scaled_to_unit

# A column that a larger share of the rows has goes through a matrix product, not through postings.
_FREQUENT = 0.2
_SUMS_AT_ONCE = 2_400_000
# Four roundings in single precision: two for each of two sums that are compared.
_ROUNDING = 2.4e-7


class InvertedIndex(NamedTuple):
    """Rows ready to be searched by cosine, or by Euclidean distance.

    Columns stand in order of document frequency. Each of the rare ones has a posting list, the
    rows that have it; the frequent ones are one dense block. For some ten thousand documents
    adding all postings is faster than any rule that skips some.
    """

    rows: Rows
    half: Float64
    postings: Rows
    block: Float32
    offset: Float32
    center: Float64
    scale: float
    place: Int32
    metric: str

    @classmethod
    def of(cls, X: Any, metric: str = "cosine") -> Self:
        """The index of the rows of X (dense or sparse); `metric` is "cosine" or "euclidean"."""
        X = _comparable(X, metric)
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        order = np.argsort(frequency, kind="stable")
        n_rare = int(np.searchsorted(frequency[order], _FREQUENT * X.shape[0], side="right"))
        place = np.empty(X.shape[1], np.int32)
        place[order] = np.arange(X.shape[1], dtype=np.int32)
        X = _moved(X, place)
        rare, block = X[:, :n_rare], X[:, n_rare:].toarray()
        # A distance does not change if both ends move: sums near 0 round least.
        by_distance = metric == "euclidean"
        center = block.mean(axis=0) if by_distance else np.zeros(block.shape[1])
        block -= center
        squares = _squares(rare) + (block**2).sum(axis=1)
        # A power of two changes no digit, and keeps sums within the range of single precision.
        longest = np.sqrt(squares.max(initial=0.0))
        scale = float(np.exp2(np.ceil(np.log2(longest)))) if longest else 1.0
        postings = as_rows((rare / scale).T.tocsr())
        offset = (by_distance * squares / scale / scale / 2).astype(np.float32)
        return cls(
            as_rows(X, np.float64), by_distance * _squares(X) / 2, postings,
            (block / scale).astype(np.float32), offset, center, scale, place, metric,
        )  # fmt: skip

    def search(self, X: Any, k: int, n_jobs: int | None = None) -> tuple[Float64, Int64]:
        """Similarities and numbers of the k nearest rows of each row of X, nearest first.

        Exact; equally near ones by the smaller number. The similarity is the cosine (0 for rows
        without any value), or the inner product less half the squared length of the row found.
        """
        n = self.rows.n_rows
        if not 1 <= k <= n:
            raise InputError(f"got {k} neighbours of {n} documents; ask for 1 to {n}")
        if X.shape[1] != len(self.place):
            raise InputError(f"X has {X.shape[1]} features, but the index has {len(self.place)}")
        queries = _Queries.of(X, self)
        n_queries = queries.rows.n_rows
        near, similarity = np.zeros((n_queries, k), np.int64), np.empty((n_queries, k))
        search = partial(self._search, queries, near, similarity)
        jobs = [partial(search, *span) for span in row_chunks(n_queries, n_jobs)]
        # The matrix products are small and already run side by side: threads of BLAS only hinder.
        with threadpool_limits(1, "blas") if len(jobs) > 1 else nullcontext():
            run_jobs(jobs, n_jobs)
        return similarity, near

    def _search(
        self, queries: "_Queries", near: Int64, similarity: Float64, first: int, last: int
    ) -> None:
        n = self.rows.n_rows
        buffer = np.empty((max(1, min(_SUMS_AT_ONCE // n, last - first)), n), np.float32)
        for part in blocks(last - first, len(buffer)):
            asked = queries.frequent[first:last][part]
            with np.errstate(over="ignore", invalid="ignore"):  # such sums are looked at exactly
                sums = np.matmul(asked, self.block.T, out=buffer[: len(asked)])
                sums -= self.offset
            kernels.nearest(
                sums, self.postings, self.scale, self.rows, self.half, queries.rows, queries.slack,
                first + part.start, near, similarity,
            )  # fmt: skip


class _Queries(NamedTuple):
    """What is asked: all of it, its frequent columns, and what rounding may do to its sums."""

    rows: Rows
    frequent: Float32
    slack: Float32

    @classmethod
    def of(cls, X: Any, index: InvertedIndex) -> Self:
        X = _moved(_comparable(X, index.metric), index.place)
        n_rare = index.postings.n_rows
        frequent = (X[:, n_rare:].toarray() - index.center) / index.scale
        squares = _squares(X[:, :n_rare] / index.scale) + (frequent**2).sum(axis=1)
        terms = np.diff(X.indptr) + len(index.center) + 8
        slack = _ROUNDING * (terms * np.sqrt(squares) + 1.0)
        with np.errstate(over="ignore"):
            frequent, slack = frequent.astype(np.float32), slack.astype(np.float32)
        return cls(as_rows(X, np.float64), frequent, slack)


def votes(near: Int64, weights: Array, n_rows: int) -> sp.csr_array:
    """Who votes for whom: row i holds the weights of the neighbours of query i."""
    n, k = near.shape
    content = (weights.ravel(), near.ravel(), np.arange(n + 1) * k)
    return sp.csr_array(content, shape=(n, n_rows))


def _comparable(X: Any, metric: str) -> sp.csr_array:
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return scaled_to_unit(X) if metric == "cosine" else X


def _squares(X: sp.csr_array) -> Float64:
    return np.asarray(X.power(2).sum(axis=1))


def _moved(X: sp.csr_array, place: Int32) -> sp.csr_array:
    """The columns in the order of the index."""
    moved = sp.csr_array((X.data, place[X.indices], X.indptr), shape=X.shape)
    moved.sort_indices()
    return moved


@stored(
    "InvertedIndexKNN",
    documents=sparse("n", "d", attribute="_X"),
    relevance=sparse("n", "K", attribute="_Y", finite=False),
)
@dataclass(eq=False, repr=False)
class InvertedIndexKNN(IncrementalRanker):
    """The labels of the most similar training documents.

    Exact: equal cosines go by the smaller training index. Scores are shares of the votes, in
    [0, 1]. A neighbour whose label is unknown does not vote on that label.

    Parameters
    ----------
    n_neighbors : int, default 30
        All training documents, where there are fewer.
    weights : {"similarity", "uniform"}
        A neighbour votes by its cosine (not below 0), or all alike (majority).
    threshold : float or "cardinality", default 0.5
        The share of votes above which `predict` takes a label. See also `ThresholdedRanker`.
    n_jobs : int or None

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
    """

    n_neighbors: int = number(30, least=1, whole=True)
    _: KW_ONLY
    weights: str = choice("similarity", "uniform")
    threshold: Any = cut(0.5)
    n_jobs: int | None = threads()

    _calibrated = False
    _learns_silence = False

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        self._X, self._Y = (sp.csr_array((0, part.shape[1])) for part in (X, Y))

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        self._X = sp.csr_array(sp.vstack([self._X, sp.csr_array(X)]))
        self._Y = sp.csr_array(sp.vstack([self._Y, Y]))
        self.after_loading()

    def _widen(self, n_before: int) -> None:
        unknown = np.full((self._Y.shape[0], self.n_labels_ - n_before), np.nan)
        self._Y = sp.csr_array(sp.hstack([self._Y, sp.csr_array(unknown)]))

    def after_loading(self) -> None:
        self.index_ = InvertedIndex.of(self._X)

    def kneighbors(self, X: Any, n_neighbors: int | None = None) -> tuple[Float64, Int64]:
        """Cosines and training indices of the nearest documents, best first (n × k each)."""
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        return self._nearest(self._ready(X), wanted)

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

    def _prior(self) -> Array:
        """Of all training documents, as if all were equally near."""
        return self.label_shares()

    def link(self, scores: Array) -> Array:
        """Shares of the votes."""
        return scores


def shares(weights: Float64, near: Int64, Y: sp.csr_array) -> Float64:
    """Of the weight of the neighbours that know a label, the share of those that have it."""
    cast = votes(near, weights, Y.shape[0])
    relevant, unknown = relevant_part(Y).astype(bool), unknown_part(Y).astype(bool)
    total = weights.sum(axis=1, keepdims=True) - (cast @ unknown).toarray()
    return (cast @ relevant).toarray() / np.where(total > 0, total, 1.0)


@stored(
    "MLkNN",
    instances=sparse("n", "d", attribute="_X"),
    relevant=sparse("n", "K", attribute="_Y"),
    log_odds_=array("f8", "K", "k+1"),
)
@dataclass(eq=False, repr=False)
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
        Equally near neighbours are ordered by row number.
    algorithm : {"auto", "brute", "index"}
        "auto" and "brute" compare by `metric`. "index" compares by cosine, which gives the same
        neighbours if all training rows are equally long (TF-IDF); other rows are refused.
    count_self : bool, default False
        In training, count an instance among its own neighbours (the paper does not).
    n_jobs : int or None
    verbose : int, without effect

    Attributes
    ----------
    log_odds_ : ndarray (K, k + 1)
        Score of label l where c neighbours carry it: ``log_odds_[l, c]``.
    n_neighbors_ : int
        Neighbours looked at.

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

    n_neighbors: int = number(10, least=1, whole=True)
    _: KW_ONLY
    smoothing: float = number(1.0, above=0)
    metric: str = choice("euclidean", "cosine")
    algorithm: str = choice("auto", "brute", "index")
    count_self: bool = flag(False)
    n_jobs: int | None = threads()
    verbose: int = 0

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        squares = np.asarray((sp.csr_array(X) ** 2).sum(axis=1))
        if self._by() != self.metric and np.ptp(squares) > 1e-5 * squares.max():
            raise InputError(
                "got algorithm='index' with the Euclidean metric and rows of unequal length; "
                "use metric='cosine', scale the rows to equal length, or algorithm='brute'"
            )

    @property
    def _learns_silence(self) -> bool:  # type: ignore[override]
        return self._by() == "euclidean"

    def _by(self) -> str:
        return "cosine" if self.algorithm == "index" else self.metric

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._X = sp.csr_array(X, dtype=np.float64)
        self._Y = relevant_part(Y).astype(bool).astype(np.float64)
        self._index = InvertedIndex.of(self._X, self._by())
        n = X.shape[0]
        self.n_neighbors_ = min(int(self.n_neighbors), n if self.count_self else n - 1)
        counts = self._counts(self._around(self._X))
        self.log_odds_ = self._odds(counts, unknown_part(Y).astype(bool))

    def after_loading(self) -> None:
        self._index = InvertedIndex.of(self._X, self._by())
        self.n_neighbors_ = self.log_odds_.shape[1] - 1
        if self.n_neighbors_ > self._X.shape[0]:
            raise ValueError("MLkNN has fewer instances than neighbours")
        self._Y = sp.csr_array(self._Y)
        if not self._Y.has_canonical_format or (self._Y.data != 1).any():
            raise ValueError("MLkNN has labels that are not 0 or 1")

    def _around(self, X: sp.csr_array) -> Int64:
        """Neighbours of the training instances, an instance itself left out unless asked for."""
        if self.count_self or not self.n_neighbors_:
            return self._nearest(X, self.n_neighbors_)
        near = self._nearest(X, self.n_neighbors_ + 1)
        itself = near == np.arange(len(near))[:, None]
        itself[~itself.any(axis=1), -1] = True  # duplicates of it took all places
        return near[~itself].reshape(len(near), -1)

    def _nearest(self, X: Any, k: int) -> Int64:
        """Row numbers (n × k) of the nearest training instances, nearest first."""
        none = np.empty((X.shape[0], 0), np.int64)
        return self._index.search(X, k, self.n_jobs)[1] if k else none

    def _counts(self, near: Int64) -> sp.csr_array:
        return sp.csr_array(votes(near, np.ones(near.shape), self._Y.shape[0]) @ self._Y)

    def _odds(self, counts: sp.csr_array, unknown: sp.csr_array) -> Float64:
        """Log posterior odds of each label for each number of neighbours that carry it."""
        everyone = self._histogram(counts, np.full(self.n_labels_, counts.shape[0]))
        with_label = self._histogram(counts.multiply(self._Y), self._Y.sum(axis=0))
        not_known = self._histogram(counts.multiply(unknown), unknown.sum(axis=0))
        without = everyone - with_label - not_known
        s = float(self.smoothing)
        share = s * (self.n_neighbors_ + 1)
        groups = with_label, without
        likelihood = [(s + c) / (share + c.sum(axis=1, keepdims=True)) for c in groups]
        prior = s + with_label.sum(axis=1), s + without.sum(axis=1)
        ratio = np.log(prior[0] / prior[1])[:, None]
        return np.asarray(ratio + np.log(likelihood[0]) - np.log(likelihood[1]))

    def _histogram(self, counts: Any, total: Array) -> Float64:
        """K × (k + 1): in how many of `total` instances c neighbours carry the label."""
        counts = sp.coo_array(counts)
        width = self.n_neighbors_ + 1
        place = counts.col.astype(np.int64) * width + counts.data.astype(np.int64)
        table = np.bincount(place, minlength=self.n_labels_ * width).astype(np.float64)
        table = table.reshape(self.n_labels_, width)
        table[:, 0] = total - table[:, 1:].sum(axis=1)
        return table

    def _scores(self, X: Any) -> Array:
        counts = sp.coo_array(self._counts(self._nearest(X, self.n_neighbors_)))
        scores = np.tile(self.log_odds_[:, 0], (X.shape[0], 1))
        scores[counts.row, counts.col] = self.log_odds_[counts.col, counts.data.astype(np.int64)]
        return scores

    def link(self, scores: Array) -> Array:
        """Posterior probabilities."""
        return np.asarray(expit(scores))
