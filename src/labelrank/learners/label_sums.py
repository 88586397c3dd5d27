"""Sums of documents by label, kept in pieces: what naive Bayes and Rocchio learn from."""

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Float64
from labelrank.declared import array, stored
from labelrank.errors import InputError
from labelrank.kernels.sums import add_rows
from labelrank.rows import Rows, as_rows


@stored(
    "LabelSums",
    1,
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

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from labelrank.learners.label_sums import LabelSums
    >>> sums = LabelSums.empty(2, 3).add(np.array([[1.0, 0.0, 2.0]]), sp.csr_array([[0.0, 1.0]]))
    >>> sums.relevant.tolist(), sums.irrelevant()[0].tolist()
    ([[0.0, 0.0, 0.0], [1.0, 0.0, 2.0]], [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
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
        none = np.zeros((0, n_features))
        zeros = np.zeros(n_labels)
        return cls(relevant, zeros, none, zeros.copy(), np.zeros((1, n_features)), np.zeros(1))

    def add(self, X: Any, Y: sp.csr_array) -> Self:
        """The sums with more documents in them."""
        rows, labels = as_rows(X, np.float64), as_rows(Y, np.float64)
        self._check(rows, labels)
        first_unknown = not len(self.unknown) and bool(np.isnan(labels.data).any())
        sums = self._replace(unknown=np.zeros_like(self.relevant)) if first_unknown else self
        every = as_rows(np.ones((rows.n_rows, 1)), np.float64)
        add_rows(rows, labels, False, sums.relevant, sums.n_relevant)
        add_rows(rows, every, False, sums.total, sums.n_total)
        if len(sums.unknown):
            add_rows(rows, labels, True, sums.unknown, sums.n_unknown)
        return sums

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

    def _check(self, X: Rows, Y: Rows) -> None:
        if X.n_rows != Y.n_rows or self.relevant.shape != (Y.n_columns, X.n_columns):
            raise InputError(
                f"X of {X.n_rows} x {X.n_columns} and Y of {Y.n_rows} x {Y.n_columns} do not fit "
                f"sums of {self.relevant.shape}"
            )
