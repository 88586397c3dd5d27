"""Rows of a sparse matrix in the one form every kernel takes: the door for X and Y.

Row pointers are int64 and column indices int32 whatever came in, so each kernel is compiled
once, and nothing past this door checks an index again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError

_INT32_MAX = np.iinfo(np.int32).max


class Rows(NamedTuple):
    """CSR rows: `indices[indptr[i]:indptr[i+1]]` are the columns of row i, ascending."""

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    data: npt.NDArray[np.floating]
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def slice(self, first: int, last: int) -> "Rows":
        """Rows first .. last-1; indices and data are views."""
        start, stop = self.indptr[first], self.indptr[last]
        pointers = self.indptr[first : last + 1] - start
        return Rows(pointers, self.indices[start:stop], self.data[start:stop], self.n_columns)


def as_rows(matrix: Any, dtype: npt.DTypeLike = np.float32) -> Rows:
    """Check and convert a dense or sparse matrix; columns sorted, duplicates summed."""
    csr = matrix if sp.issparse(matrix) else sp.csr_array(np.atleast_2d(np.asarray(matrix)))
    csr = csr.tocsr()
    if csr.shape[1] > _INT32_MAX:
        raise InputError(
            f"got a matrix of {csr.shape[1]} columns, but at most {_INT32_MAX} are supported; "
            "select or hash the features first"
        )
    csr.check_format(full_check=True)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return Rows(
        np.ascontiguousarray(csr.indptr, np.int64),
        np.ascontiguousarray(csr.indices, np.int32),
        np.ascontiguousarray(csr.data, dtype),
        int(csr.shape[1]),
    )


def of_lengths(lengths: Any, indices: Any, data: Any, n_columns: int) -> sp.csr_array:
    """CSR whose row i has the next `lengths[i]` of the indices and data.

    >>> of_lengths([1, 0, 2], [1, 0, 1], [5, 6, 7], 2).toarray().tolist()
    [[0, 5], [0, 0], [6, 7]]
    """
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    kind = np.int32 if max(indptr[-1], n_columns) <= _INT32_MAX else np.int64
    parts = (np.asarray(data), np.asarray(indices, kind), indptr.astype(kind))
    return sp.csr_array(parts, shape=(len(indptr) - 1, n_columns))


def with_constant(X: Rows) -> Rows:
    """The rows with one more feature that is always 1: its weight is the intercept."""
    ends = X.indptr[1:]
    indptr = X.indptr + np.arange(X.n_rows + 1)
    indices = np.insert(X.indices, ends, X.n_columns).astype(np.int32)
    data = np.insert(X.data, ends, 1.0).astype(X.data.dtype)
    return Rows(indptr, indices, data, X.n_columns + 1)


def squared_norms(X: Rows) -> npt.NDArray[np.float32]:
    """Squared length of each row; small rows beside large ones lose nothing."""
    squares = np.append(X.data.astype(np.float64) ** 2, 0.0)
    sums = np.add.reduceat(squares, X.indptr[:-1]) if X.n_rows else np.zeros(0)
    return np.where(np.diff(X.indptr) > 0, sums, 0.0).astype(np.float32)


def scaled_to_unit(X: sp.csr_array) -> sp.csr_array:
    """Divide the rows, in place, by their Euclidean lengths; empty rows stay empty.

    >>> scaled_to_unit(sp.csr_array([[3.0, 4.0], [0.0, 0.0]])).toarray().tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    stored = np.diff(X.indptr)
    row = np.repeat(np.arange(X.shape[0]), stored)
    largest = np.zeros(X.shape[0])
    np.maximum.at(largest, row, np.abs(X.data))
    X.data /= np.where(largest > 0, largest, 1.0)[row]  # first, so that no square overflows
    length = np.sqrt(np.bincount(row, X.data**2, minlength=X.shape[0]))
    X.data /= np.where(length > 0, length, 1.0)[row]
    return X
