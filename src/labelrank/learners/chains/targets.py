"""What a chain predicts, as class codes, and how earlier labels become features of a link.

Inside chains a target is an integer matrix of class codes (instances × columns), -1 where the
label is unknown. A relevance matrix gives columns of two classes (irrelevant, relevant), a matrix
of classes as many per column as it holds, a class vector one column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import anything, array, stored, value
from labelrank.errors import InputError
from labelrank.relevance import TargetInfo, is_class_vector

UNKNOWN, UNSEEN = -1, -2


@stored("ColumnInfo", 1, columns=anything(), holds_classes=value(bool))
@dataclass(frozen=True)
class ColumnInfo(TargetInfo):
    """What the Y of a chain looked like: the classes of each column, besides `TargetInfo`.

    `holds_classes`: Y was a matrix whose columns hold classes, not relevance.
    """

    columns: list[Array]
    holds_classes: bool

    @classmethod
    def look(cls, Y: Any, kind: str) -> Self:
        """Look at Y, which holds classes or relevance as `kind` says; "auto" goes by its type."""
        target = TargetInfo.of(Y)
        of_classes = not target.one_class and _holds_classes(Y, kind)
        if of_classes:
            columns = [np.unique(column[_is_known(column)]) for column in _dense_matrix(Y).T]
            if any(len(classes) == 0 for classes in columns):
                raise InputError("got a target column without any known class; leave it out")
        elif target.one_class:
            columns = [target.classes]
        else:
            columns = [np.arange(2)] * len(target.classes)
        form = (target.classes, target.one_class, target.sparse, target.dtype)
        return cls(*form, columns, of_classes)

    def read(self, Y: Any, n_rows: int) -> sp.csr_array:
        """Y as canonical CSR; classes become grades, their codes."""
        if not self.holds_classes:
            return super().read(Y, n_rows)
        codes = self.encode(Y, n_rows)
        return sp.csr_array(np.where(codes == UNKNOWN, np.nan, codes))

    def codes(self, Y: sp.csr_array) -> Int32:
        """The class codes of what `read` gave."""
        if self.one_class:
            return Y.indices.astype(np.int32)[:, None]
        dense = Y.toarray()
        known = dense if self.holds_classes else dense > 0
        return np.where(np.isnan(dense), UNKNOWN, known).astype(np.int32)

    def encode(self, Y: Any, n_rows: int) -> Int32:
        """Class codes of other targets: -1 unknown, -2 a class not met in training."""
        if not self.holds_classes and not self.one_class:
            return self.codes(self.read(Y, n_rows))
        dense = _dense_matrix(np.asarray(Y)[:, None] if is_class_vector(Y) else Y)
        if len(dense) != n_rows:
            raise InputError(
                f"X has {n_rows} rows but Y has {len(dense)}; give one row of Y per row of X"
            )
        if dense.shape[1] != len(self.columns):
            raise InputError(
                f"Y has {dense.shape[1]} columns but the chain has {len(self.columns)}; "
                "give the same columns in the same order"
            )
        codes = [_encoded(y, known) for y, known in zip(dense.T, self.columns, strict=True)]
        return np.column_stack(codes).astype(np.int32)

    def after_loading(self) -> None:
        n_columns = 1 if self.one_class else len(self.classes)
        if (
            len(self.columns) != n_columns
            or any(np.ndim(c) != 1 for c in self.columns)
            or 0 in map(len, self.columns)
        ):
            raise ValueError("the classes of the columns do not fit the target")


def _holds_classes(Y: Any, kind: str) -> bool:
    """True if the columns of the matrix Y are classes rather than relevance.

    "auto": a dense matrix of integers (not all 0 or 1) or of strings holds classes; anything
    else, so every sparse or floating-point matrix, is relevance.
    """
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


def _dense_matrix(Y: Any) -> Array:
    dense = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    if dense.ndim != 2 or dense.dtype.kind not in "biufUS":
        raise InputError(
            f"got targets of type {dense.dtype} with {dense.ndim} dimension(s); "
            "give a matrix of numbers or strings (instances × columns)"
        )
    return dense


def _encoded(y: Array, classes: Array) -> Array:
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    codes = np.where(classes[codes] == y, codes, UNSEEN)
    return np.where(_is_known(y), codes, UNKNOWN)


def _is_known(y: Array) -> Array:
    return ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)


@stored("Encoding", 1, sizes=array("i8", "columns"), frequencies=array("f8", "columns", "widest"))
class Encoding(NamedTuple):
    """How earlier labels enter a link: one 0/1 feature for two classes, else one per class.

    An unknown label enters as the frequencies of its column's classes. `sizes`: the number of
    classes of each column; `frequencies`: one row per column, zeros behind its last class.
    """

    sizes: Int64
    frequencies: Float64

    @classmethod
    def of(cls, codes: Int32, columns: Sequence[Array]) -> Self:
        """The encoding of these training targets."""
        sizes = np.array([len(classes) for classes in columns])
        counts = np.array([(codes == c).sum(axis=0) for c in range(sizes.max())])
        return cls(sizes, (counts / np.maximum(counts.sum(axis=0), 1)).T.copy())

    @property
    def widths(self) -> Int64:
        """How many features each column gives."""
        return np.where(self.sizes == 2, 1, np.where(self.sizes == 1, 0, self.sizes))

    def features(self, codes: Int32, parents: Sequence[int]) -> Float64:
        """The features of the `parents` columns, in their order (m × total width)."""
        chosen = np.asarray(parents, dtype=np.intp)
        if (self.sizes[chosen] == 2).all():
            values = codes[:, chosen].astype(float)
            return np.where(values < 0, self.frequencies[chosen, 1], values)
        blocks = [self._block(codes[:, c], c) for c in chosen]
        return np.hstack([np.empty((len(codes), 0)), *blocks])

    def _block(self, codes: Int32, column: int) -> Float64:
        size, width = self.sizes[column], self.widths[column]
        table = np.vstack([np.eye(size), self.frequencies[column, :size]])[:, size - width :]
        return table[np.where(codes < 0, size, codes)]

    def places(self, parents: Sequence[int]) -> Int64:
        """Where these columns' features stand among those of all columns."""
        starts = np.cumsum(self.widths) - self.widths
        spans = [np.arange(starts[c], starts[c] + self.widths[c]) for c in parents]
        return np.concatenate([np.empty(0, dtype=np.int64), *spans])

    def after_loading(self) -> None:
        if self.sizes.min(initial=1) < 1 or self.sizes.max(initial=0) != self.frequencies.shape[1]:
            raise ValueError("the numbers of classes do not fit their frequencies")
