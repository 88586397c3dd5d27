"""What a chain predicts: columns of classes, read from relevance, class codes or a class vector.

Inside chains a target is an integer matrix of class codes (instances × columns), -1 where the
label is unknown. A relevance matrix gives columns of two classes (irrelevant, relevant), a matrix
of classes as many a column as it holds, a class vector one column.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.relevance import check_relevance

UNKNOWN, UNSEEN = -1, -2
KINDS = ("auto", "relevance", "classes")


class Targets(NamedTuple):
    """Class codes (n × L, -1 unknown) and the class values of each column."""

    codes: npt.NDArray[np.int32]
    classes: list[Array]


def holds_classes(Y: Any, kind: str) -> bool:
    """True if the columns of the matrix Y are classes rather than relevance.

    "auto": a dense matrix of integers (not all 0 or 1) or of strings holds classes; anything
    else, so every sparse or floating-point matrix, is relevance.
    """
    if kind not in KINDS:
        raise InputError(f"got targets={kind!r}; use one of {', '.join(map(repr, KINDS))}")
    if kind != "auto":
        return kind == "classes"
    if sp.issparse(Y):
        return False
    try:
        dense = np.asarray(Y)
    except ValueError:
        return False
    if dense.ndim != 2 or dense.dtype.kind not in "iuUS":
        return False
    return dense.dtype.kind in "US" or bool(((dense != 0) & (dense != 1)).any())


def read_relevance(Y: Any, n_rows: int) -> Targets:
    """Two classes a column: 0 irrelevant, 1 relevant of whatever grade."""
    if _is_plain(Y, n_rows):
        codes = (Y > 0).astype(np.int32)
    else:
        dense = check_relevance(Y, n_rows=n_rows).toarray()
        codes = np.where(np.isnan(dense), UNKNOWN, dense > 0).astype(np.int32)
    return Targets(codes, [np.arange(2)] * codes.shape[1])


def _is_plain(Y: Any, n_rows: int) -> bool:
    """True for dense integers >= 0, which hold nothing unknown: no need to look closer."""
    is_dense = isinstance(Y, np.ndarray) and Y.dtype.kind in "bui" and Y.ndim == 2
    return is_dense and len(Y) == n_rows and Y.size > 0 and bool(Y.min() >= 0)


def read_classes(Y: Any, n_rows: int) -> Targets:
    """The classes met in each column of a dense matrix; NaN is unknown."""
    dense = _dense_matrix(Y, n_rows)
    classes = [np.unique(column[_is_known(column)]) for column in dense.T]
    if any(len(found) == 0 for found in classes):
        raise InputError("got a target column without any known class; leave that column out")
    return Targets(encode(dense, classes), classes)


def encode(Y: Any, classes: Sequence[Array], n_rows: int | None = None) -> npt.NDArray[np.int32]:
    """Codes of a matrix of classes: -1 unknown (NaN), -2 a class not met in training."""
    dense = _dense_matrix(Y, len(Y) if n_rows is None else n_rows)
    if dense.shape[1] != len(classes):
        raise InputError(
            f"Y has {dense.shape[1]} columns but the chain has {len(classes)}; "
            "give the same columns in the same order"
        )
    columns = [_encode_column(y, known) for y, known in zip(dense.T, classes, strict=True)]
    return np.column_stack(columns).astype(np.int32)


def _encode_column(y: Array, classes: Array) -> Array:
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    codes = np.where(classes[codes] == y, codes, UNSEEN)
    return np.where(_is_known(y), codes, UNKNOWN)


def _is_known(y: Array) -> Array:
    return ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)


def _dense_matrix(Y: Any, n_rows: int) -> Array:
    dense = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    if dense.ndim != 2 or dense.dtype.kind not in "biufUS":
        raise InputError(
            f"got targets of type {dense.dtype} with {dense.ndim} dimension(s); "
            "give a matrix of numbers or strings (instances × columns)"
        )
    if dense.shape[0] != n_rows:
        raise InputError(
            f"X has {n_rows} rows but Y has {dense.shape[0]}; give one row of Y per row of X"
        )
    return dense


class Encoding:
    """How earlier labels enter a link: one 0/1 feature for two classes, else one a class.

    An unknown label enters as the frequencies of its column's classes.
    """

    def __init__(self, targets: Targets) -> None:
        self.sizes = np.array([len(classes) for classes in targets.classes])
        self.widths = np.where(self.sizes == 2, 1, np.where(self.sizes == 1, 0, self.sizes))
        self.starts = np.concatenate([[0], np.cumsum(self.widths)])
        counts = np.array([(targets.codes == c).sum(axis=0) for c in range(self.sizes.max())])
        frequencies = counts / np.maximum(counts.sum(axis=0), 1)
        self._frequencies = [f[:size] for f, size in zip(frequencies.T, self.sizes, strict=True)]
        self._relevant = np.array([f[-1] for f in self._frequencies])

    def features(self, codes: Array, parents: Sequence[int]) -> npt.NDArray[np.float64]:
        """The features of the `parents` columns, in their order (m × total width)."""
        chosen = np.asarray(parents, dtype=np.intp)
        if (self.sizes[chosen] == 2).all():
            values = codes[:, chosen].astype(float)
            return np.where(values < 0, self._relevant[chosen], values)
        blocks = [self._block(codes[:, c], c) for c in chosen]
        return np.hstack([np.empty((len(codes), 0)), *blocks])

    def places(self, parents: Sequence[int]) -> npt.NDArray[np.int64]:
        """Where these columns' features stand among those of all columns."""
        spans = [np.arange(self.starts[c], self.starts[c + 1]) for c in parents]
        return np.concatenate([np.empty(0, dtype=np.int64), *spans])

    def _block(self, codes: Array, column: int) -> Array:
        table = np.vstack([np.eye(self.sizes[column]), self._frequencies[column]])
        if self.widths[column] < self.sizes[column]:
            table = table[:, self.sizes[column] - self.widths[column] :]
        return table[np.where(codes < 0, self.sizes[column], codes)]
