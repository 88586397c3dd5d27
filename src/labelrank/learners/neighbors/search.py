"""An inverted index of documents: exact nearest neighbours. The door to its kernel."""

from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from labelrank._types import Array, Float32, Float64, Int32, Int64
from labelrank.errors import InputError
from labelrank.kernels import inverted as kernels
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
        """Queries first..last-1, some at a time in one buffer of sums."""
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
    """The squared length of each row."""
    return np.asarray(X.power(2).sum(axis=1))


def _moved(X: sp.csr_array, place: Int32) -> sp.csr_array:
    """The columns in the order of the index."""
    moved = sp.csr_array((X.data, place[X.indices], X.indptr), shape=X.shape)
    moved.sort_indices()
    return moved
