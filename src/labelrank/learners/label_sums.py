"""Sums of documents by label: what Rocchio and naive Bayes learn from."""

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Float64
from labelrank.declared import array, stored
from labelrank.errors import InputError
from labelrank.kernels.linear import add_labelled_rows
from labelrank.rows import as_rows


@stored(
    "LabelSums",
    relevant=array("f8", "K", "width"),
    n_relevant=array("f8", "K"),
    unknown=array("f8", "K or 0", "width"),
    n_unknown=array("f8", "K"),
    total=array("f8", 1, "width"),
    n_total=array("f8", 1),
)
class LabelSums(NamedTuple):
    """Sums (K × d) and numbers (K,) of the documents that have a label, and of all.

    `unknown` holds those whose label is unknown; it has no row until there is one. Rows are added
    one after the other onto what is there: pieces equal the whole to the last bit.
    """

    relevant: Float64
    n_relevant: Float64
    unknown: Float64
    n_unknown: Float64
    total: Float64
    n_total: Float64

    @classmethod
    def empty(cls, n_labels: int, n_features: int) -> Self:
        try:
            relevant = np.zeros((n_labels, n_features))
        except MemoryError as error:
            raise InputError(
                f"sums of {n_labels} labels x {n_features} features need "
                f"{n_labels * n_features * 8 / 2**30:.1f} GiB; keep fewer features or labels"
            ) from error
        counts, none = np.zeros((2, n_labels)), np.zeros((0, n_features))
        return cls(relevant, counts[0], none, counts[1], np.zeros((1, n_features)), np.zeros(1))

    def add(self, X: Any, Y: sp.csr_array) -> Self:
        """The sums with more documents in them."""
        rows, labels = as_rows(X, np.float64), as_rows(Y, np.float64)
        shape = labels.n_columns, rows.n_columns
        if rows.n_rows != labels.n_rows or self.relevant.shape != shape:
            raise InputError(
                f"X of {rows.n_rows} x {shape[1]} and Y of {labels.n_rows} x {shape[0]} do not fit "
                f"sums of {self.relevant.shape}"
            )
        first_unknown = not len(self.unknown) and bool(np.isnan(labels.data).any())
        sums = self._replace(unknown=np.zeros_like(self.relevant)) if first_unknown else self
        every = as_rows(np.ones((rows.n_rows, 1)), np.float64)
        add_labelled_rows(rows, labels, False, sums.relevant, sums.n_relevant)
        add_labelled_rows(rows, every, False, sums.total, sums.n_total)
        if len(sums.unknown):
            add_labelled_rows(rows, labels, True, sums.unknown, sums.n_unknown)
        return sums

    def copied(self) -> Self:
        """The same in arrays of their own, for `add` changes them."""
        return type(self)(*(part.copy() for part in self))

    def merged(self, other: Self) -> Self:
        """The sums of both, of which each document is in one."""
        unknown = other.unknown
        if len(self.unknown):
            unknown = self.unknown + unknown if len(unknown) else self.unknown
        return type(self)(
            self.relevant + other.relevant, self.n_relevant + other.n_relevant,
            unknown, self.n_unknown + other.n_unknown,
            self.total + other.total, self.n_total + other.n_total,
        )  # fmt: skip

    def irrelevant(self) -> tuple[Float64, Float64]:
        """Sums and numbers of the documents known not to have the label."""
        sums = self.total - self.relevant
        if len(self.unknown):
            sums -= self.unknown
        return sums, self.n_total - self.n_relevant - self.n_unknown

    def widened(self, n_labels: int) -> Self:
        """Room for more labels, unknown of all documents so far."""
        n_new = n_labels - len(self.n_relevant)
        before = self.unknown if len(self.unknown) else np.zeros_like(self.relevant)
        return self._replace(
            relevant=np.pad(self.relevant, ((0, n_new), (0, 0))),
            n_relevant=np.pad(self.n_relevant, (0, n_new)),
            unknown=np.vstack([before, np.repeat(self.total, n_new, axis=0)]),
            n_unknown=np.append(self.n_unknown, np.repeat(self.n_total, n_new)),
        )
