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
