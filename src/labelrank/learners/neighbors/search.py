"""An inverted index of documents: exact nearest neighbours by cosine. The door to its kernel."""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.kernels import inverted as kernels
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows, as_rows, scaled_to_unit

# Shares of the postings after which the search considers to stop: the last, common columns hold
# most of the postings and least of the length.
_SHARES = np.array([0.72, 0.8, 0.87, 0.94])


class InvertedIndex(NamedTuple):
    """Rows of length 1 by column and by row; columns stand in order of document frequency.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.learners.neighbors.search import InvertedIndex
    >>> index = InvertedIndex.of(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    >>> similarity, near = index.search(np.array([[3.0, 0.0]]), 2)
    >>> near
    array([[0, 1]])
    """

    columns: Rows
    rows: Rows
    place: npt.NDArray[np.int32]
    cuts: npt.NDArray[np.int64]
    tails: npt.NDArray[np.float32]
    after: npt.NDArray[np.int64]

    @classmethod
    def of(cls, X: Any) -> Self:
        """The index of the rows of X (dense or sparse, any values)."""
        X = _unit_rows(X)
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        place = np.empty(X.shape[1], np.int32)
        place[np.argsort(frequency, kind="stable")] = np.arange(X.shape[1])
        rows = as_rows(_moved(X, place), np.float64)
        csr = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=X.shape)
        columns = as_rows(csr.T.tocsr(), np.float32)
        cuts = _cuts(columns.indptr)
        return cls(columns, rows, place, cuts, *_parts(csr, cuts))

    def search(
        self, X: Any, k: int, n_jobs: int | None = None
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Cosines and numbers of the k nearest rows of each row of X, best first.

        Exact; equal cosines by the smaller number. Rows without any value are at cosine 0.
        """
        n = self.rows.n_rows
        if not 1 <= k <= n:
            raise InputError(f"got {k} neighbours of {n} documents; ask for 1 to {n}")
        if X.shape[1] != len(self.place):
            raise InputError(f"X has {X.shape[1]} features, but the index has {len(self.place)}")
        queries = as_rows(_moved(_unit_rows(X), self.place), np.float64)
        near = np.empty((queries.n_rows, k), np.int64)
        similarity = np.empty((queries.n_rows, k))
        look = partial(kernels.search, *self.columns[:3], *self.rows[:3], *self[3:])
        jobs = [
            partial(look, *queries[:3], first, last, near, similarity)
            for first, last in row_chunks(queries.n_rows, n_jobs)
        ]
        run_jobs(jobs, n_jobs)
        return similarity, near


def _unit_rows(X: Any) -> sp.csr_array:
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return scaled_to_unit(X)


def _moved(X: sp.csr_array, place: npt.NDArray[np.int32]) -> sp.csr_array:
    moved = sp.csr_array((X.data, place[X.indices], X.indptr), shape=X.shape)
    moved.sort_indices()
    return moved


def _cuts(cptr: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The columns after which those shares of all postings have passed."""
    return np.unique(np.searchsorted(cptr, cptr[-1] * _SHARES, side="right")).astype(np.int64)


def _parts(
    X: sp.csr_array, cuts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Length (rounded up) and begin of each row's part from each cut on."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    tails = np.empty((len(cuts), X.shape[0]), np.float32)
    after = np.empty((len(cuts), X.shape[0]), np.int64)
    for level, cut in enumerate(cuts):
        within = X.indices >= cut
        squares = np.bincount(row[within], X.data[within] ** 2, minlength=X.shape[0])
        tails[level] = np.nextafter(np.sqrt(squares).astype(np.float32), np.float32(np.inf))
        after[level] = X.indptr[1:] - np.bincount(row[within], minlength=X.shape[0])
    return tails, after
