"""Rows of a sparse matrix in the one form every kernel takes: the door for X and Y.

Row pointers are int64 and column indices int32 whatever came in, so each kernel is compiled
once, and nothing past this door checks an index again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.resources import require

# Where fewer values are not zero, rows are read as sparse ones.
SPARSE = 0.1
_INT32_MAX = np.iinfo(np.int32).max
# Sums of squares of such numbers stay well within the range of single precision.
_LARGEST, _SMALLEST = 1e15, 1e-15


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
    if csr.shape[1] > _INT32_MAX:
        raise InputError(
            f"got a matrix of {csr.shape[1]} columns, but at most {_INT32_MAX} are supported; "
            "select or hash the features first"
        )
    csr = canonical(csr)
    n_stored = int(csr.indptr[-1])
    return Rows(
        np.ascontiguousarray(csr.indptr, np.int64),
        np.ascontiguousarray(csr.indices[:n_stored], np.int32),
        np.ascontiguousarray(csr.data[:n_stored], dtype),
        int(csr.shape[1]),
    )


def canonical(matrix: Any) -> sp.csr_array:
    """CSR of a sparse matrix from outside: checked, columns sorted, duplicates summed."""
    check_sparse(matrix)
    csr = matrix.tocsr()
    if csr is matrix:  # scipy notes on a matrix what it finds out: not on one from outside
        csr = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def of_lengths(lengths: Any, indices: Any, data: Any, n_columns: int) -> sp.csr_array:
    """CSR whose row i has the next `lengths[i]` of the indices and data."""
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    kind = np.int32 if max(indptr[-1], n_columns) <= _INT32_MAX else np.int64
    parts = (np.asarray(data), np.asarray(indices, kind), indptr.astype(kind))
    return sp.csr_array(parts, shape=(len(indptr) - 1, n_columns))


def short_indices(X: sp.csr_array) -> sp.csr_array:
    """The same rows with 32-bit indices where these do: liblinear takes no others."""
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > _INT32_MAX:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sp.csr_array(parts, shape=X.shape)


def check_sparse(matrix: Any) -> None:
    """Raise InputError if pointers or indices leave their arrays: kernels follow them unchecked."""
    if matrix.ndim != 2:
        raise InputError(f"got a sparse array of {matrix.ndim} dimension(s); give a matrix")
    if matrix.dtype.kind not in "biuf" or matrix.dtype == np.float16:
        raise InputError(f"got a sparse matrix of {matrix.dtype}; convert it to float32")
    if matrix.format in ("csr", "csc", "bsr"):
        blocks = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        sides = [side // block for side, block in zip(matrix.shape, blocks, strict=True)]
        n_lines, n_columns = sides[::-1] if matrix.format == "csc" else sides
        check_compressed(matrix.indptr, matrix.indices, len(matrix.data), n_lines, n_columns)
    elif matrix.format == "coo":
        for indices, side in zip(matrix.coords, matrix.shape, strict=True):
            _check_indices(indices, side, len(matrix.data))


def check_compressed(indptr: Any, indices: Any, n_stored: int, n_rows: int, n_columns: int) -> None:
    """Raise InputError unless these are sound rows (or columns) of a compressed matrix."""
    if indptr.dtype.kind not in "iu" or indptr.shape != (n_rows + 1,):
        raise InputError(f"got a broken sparse matrix: it needs {n_rows + 1} whole row pointers")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise InputError("got a broken sparse matrix: its row pointers must start at 0, never fall")
    if indptr[-1] > n_stored:
        raise InputError("got a broken sparse matrix: its row pointers exceed its values")
    _check_indices(indices, n_columns, int(indptr[-1]))


def _check_indices(indices: Any, below: int, n_used: int) -> None:
    if indices.dtype.kind not in "iu" or indices.ndim != 1 or len(indices) < n_used:
        raise InputError(f"got a broken sparse matrix: it needs {n_used} whole indices")
    unsigned = indices[:n_used].view(f"u{indices.dtype.itemsize}")  # a negative one is huge
    if n_used and unsigned.max() >= below:
        raise InputError(f"got a broken sparse matrix: an index is not below {below}")


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
    """Divide the rows, in place, by their Euclidean lengths; empty rows stay empty."""
    stored = np.diff(X.indptr)
    row = np.repeat(np.arange(X.shape[0]), stored)
    largest = np.zeros(X.shape[0])
    np.maximum.at(largest, row, np.abs(X.data))
    X.data /= np.where(largest > 0, largest, 1.0)[row]  # first, so that no square overflows
    length = np.sqrt(np.bincount(row, X.data**2, minlength=X.shape[0]))
    X.data /= np.where(length > 0, length, 1.0)[row]
    return X


def check_magnitude(X: Any, *, learning: bool) -> None:
    """Raise InputError for features whose sums of squares leave the range of single precision."""
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > _LARGEST or (learning and 0.0 < largest < _SMALLEST):
        bound, what = ("most", _LARGEST) if largest > _LARGEST else ("least", _SMALLEST)
        raise InputError(
            f"got features as large as {largest:.3g}, but the largest may be {what:g} at {bound}; "
            "scale the features first"
        )


def count_zeros(X: Any) -> int:
    """How many of the values of a matrix are 0."""
    return int(np.prod(X.shape, dtype=np.int64) - np.count_nonzero(X.data if sp.issparse(X) else X))


def by_content(X: Any) -> Any:
    """A dense array where at least one in ten values is not 0, else CSR, whatever the form of X."""
    n_values = int(np.prod(X.shape, dtype=np.int64))
    if n_values - count_zeros(X) < SPARSE * n_values:
        return X if sp.issparse(X) else sp.csr_array(X)
    if not sp.issparse(X):
        return X
    require(n_values * X.dtype.itemsize, f"{X.shape[0]} x {X.shape[1]} values, few of them 0,",
            "give fewer instances, or select features")  # fmt: skip
    return X.toarray()


def without_features(X: Any) -> npt.NDArray[np.bool_]:
    """The rows in which every feature is 0: they tell nothing."""
    if not sp.issparse(X):
        return np.asarray((X == 0).all(axis=1))
    if X.data.all():
        return np.asarray(np.diff(X.indptr) == 0)
    n_used = np.concatenate(([0], np.cumsum(X.data != 0)))
    return n_used[X.indptr[1:]] == n_used[X.indptr[:-1]]
