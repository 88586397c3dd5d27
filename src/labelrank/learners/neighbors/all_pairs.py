"""Exact nearest neighbours among sparse rows by all inner products. The door to its kernel.

Frequent columns go through one matrix product, rare ones through their postings: for some ten
thousand documents this is faster than any skipping.
"""

from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from labelrank.errors import InputError
from labelrank.kernels import all_pairs as kernels
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows, as_rows

_FREQUENT = 0.2
_MOST_FREQUENT = 256
_SUMS_AT_ONCE = 2_400_000


class AllPairs(NamedTuple):
    """Sparse rows, ready to be searched; nearest by Euclidean distance, or by inner product.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from labelrank.learners.neighbors.all_pairs import AllPairs
    >>> rows = AllPairs.of(sp.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]))
    >>> rows.nearest(sp.csr_array([[3.0, 0.0], [0.0, 1.0]]), 2)
    array([[0, 1],
           [1, 2]])
    """

    columns: Rows
    rows: Rows
    half: npt.NDArray[np.float64]
    longest: float
    frequent: npt.NDArray[np.int64]
    block: npt.NDArray[np.float32]

    @classmethod
    def of(cls, X: sp.csr_array, *, by_distance: bool = True) -> Self:
        """Of the rows of X; `by_distance=False` searches by inner product alone."""
        rows = as_rows(X, np.float64)
        csr = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=X.shape)
        count = np.bincount(rows.indices, minlength=rows.n_columns)
        frequent = np.argsort(-count, kind="stable")[:_MOST_FREQUENT]
        frequent = frequent[count[frequent] > _FREQUENT * rows.n_rows]
        rare = np.ones(rows.n_columns)
        rare[frequent] = 0.0
        others = csr.copy()
        others.data *= rare[others.indices]
        others.eliminate_zeros()
        block = csr[:, frequent].toarray().astype(np.float32)
        squares = np.asarray(csr.multiply(csr).sum(axis=1)).ravel()
        half = squares / 2 if by_distance else np.zeros(rows.n_rows)
        longest = float(np.sqrt(squares.max(initial=0.0)))
        return cls(as_rows(others.T.tocsr()), rows, half, longest, frequent, block)

    def nearest(self, X: Any, k: int, n_jobs: int | None = None) -> npt.NDArray[np.int64]:
        """Numbers of the k nearest rows of each row of X, nearest first, equal ones by number."""
        n = self.rows.n_rows
        if not 1 <= k <= n:
            raise InputError(f"got {k} neighbours of {n} rows; ask for 1 to {n}")
        if X.shape[1] != self.rows.n_columns:
            raise InputError(f"X has {X.shape[1]} features, but the rows {self.rows.n_columns}")
        queries = as_rows(X, np.float64)
        near = np.zeros((queries.n_rows, k), np.int64)
        dense = sp.csr_array(X)[:, self.frequent].toarray().astype(np.float32)
        jobs = [
            partial(self._part, queries, dense, first, last, near)
            for first, last in row_chunks(queries.n_rows, n_jobs)
        ]
        # The matrix products are small and already run side by side: threads of BLAS only hinder.
        with threadpool_limits(1, "blas") if len(jobs) > 1 else nullcontext():
            run_jobs(jobs, n_jobs)
        return near

    def _part(
        self, queries: Rows, dense: npt.NDArray[np.float32], first: int, last: int,
        near: npt.NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Queries first..last-1, some at a time in one buffer of sums."""
        step = max(1, min(_SUMS_AT_ONCE // self.rows.n_rows, last - first))
        buffer = np.empty((step, self.rows.n_rows), np.float32)
        for begin in range(first, last, step):
            asked = dense[begin : min(begin + step, last)]
            sums = np.matmul(asked, self.block.T, out=buffer[: len(asked)])
            kernels.nearest(
                sums, *self.columns[:3], *self.rows[:3], self.half, self.longest, *queries[:3],
                begin, near,
            )  # fmt: skip
