"""What is done to the features before a learner sees them: a few ways, by name.

Each is x_j → sign(x_j - m_j) |x_j - m_j|^p f_j, after which the row may get its length back, or
length 1. Sparse rows have no m; dense ones are standardised by it. At last one factor for all makes
the mean square of the rows 1, so that learners need not ask for their scale.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64
from labelrank.declared import array, stored, value
from labelrank.errors import InputError

AS_GIVEN = "as given"

# Powers of the values, and of the (smoothed, logarithmic) inverse document frequency.
OF_COUNTS = {
    "damped": (0.75, 0.0),
    "damped, rare favoured": (0.75, 0.5),
    "damped, common favoured": (0.75, -0.5),
    "common favoured": (1.0, -0.5),
}
# Lengths of rows that differ by less are alike, and so are the spreads of columns.
_ALIKE_ROWS, _ALIKE_COLUMNS = 1.01, 10.0
_NEARLY = 0.05


@stored(
    "Weighting", 2, power=value(float, least=0.0), factors=array("f8", "features", optional=True),
    shift=array("f8", "features", optional=True), unit=value(bool), scale=value(float),
)  # fmt: skip
class Weighting(NamedTuple):
    """One way to weight features; that of the defaults leaves them as they are."""

    power: float = 1.0
    factors: Float64 | None = None
    shift: Float64 | None = None
    unit: bool = False
    scale: float = 1.0

    def __call__(self, X: Any) -> Any:
        if self.shift is not None:
            X = self._of_dense(X)
        elif self.factors is not None or self.unit:
            X = self._of_sparse(sp.csr_array(X))
        return X if self.scale == 1.0 else X * np.asarray(self.scale, X.dtype)

    def scaled(self, X: Any) -> "Weighting":
        """The same with the factor that makes the mean square of these rows 1."""
        found = mean_square(self(X))
        return self if abs(found - 1.0) < _NEARLY else self._replace(scale=found**-0.5)

    def _of_sparse(self, rows: sp.csr_array) -> sp.csr_array:
        values = np.sign(rows.data) * np.abs(rows.data) ** self.power
        if self.factors is not None:
            values = values * self.factors[rows.indices].astype(rows.dtype)
        before, after = (_lengths(rows, data) for data in (rows.data, values))
        wanted = np.ones_like(after) if self.unit else before
        scale = np.divide(wanted, after, out=np.zeros_like(after), where=after > 0)
        values = values * np.repeat(scale, np.diff(rows.indptr)).astype(rows.dtype)
        return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)

    def _of_dense(self, X: Any) -> Array:
        rows = X.toarray() if sp.issparse(X) else np.asarray(X)
        moved = rows - np.asarray(self.shift, rows.dtype)
        if self.power != 1.0:
            moved = np.sign(moved) * np.abs(moved) ** self.power
        moved *= np.asarray(self.factors, moved.dtype)
        if self.unit:
            length = np.sqrt(np.einsum("ij,ij->i", moved, moved, dtype=np.float64))
            moved /= np.where(length > 0, length, 1.0)[:, None].astype(moved.dtype)
        return np.asarray(moved)

    def fits(self, n_features: int) -> bool:
        """Whether it is of so many features."""
        sides = [len(part) for part in (self.factors, self.shift) if part is not None]
        return (self.shift is None or self.factors is not None) and set(sides) <= {n_features}


def ways(X: Any) -> dict[str, Weighting]:
    """Named ways to weight these features, the one to begin with first."""
    found = _of_counts(X) if sp.issparse(X) else _of_numbers(np.asarray(X))
    return {name: way.scaled(X) for name, way in found.items()}


def _of_counts(X: Any) -> dict[str, Weighting]:
    """Powers, and factors by how rare a feature is, where no value is negative."""
    found = {AS_GIVEN: Weighting()}
    lengths = _lengths(X, X.data)
    some = lengths[lengths > 0]
    if len(some) and some.max() > _ALIKE_ROWS * some.min():
        found["rows of length 1"] = Weighting(unit=True)
    squares = np.bincount(X.indices, np.square(X.data, dtype=np.float64), X.shape[1])
    spread = np.sqrt(squares / max(X.shape[0], 1))
    if not _alike(spread[spread > 0]):
        factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        found["columns scaled, rows of length 1"] = Weighting(1.0, factors, unit=True)
    if X.nnz and X.data.min() < 0:
        return found
    counts = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    rarity = np.log((X.shape[0] + 1.0) / (counts + 1.0)) + 1.0
    unit = "rows of length 1" in found
    alike = not X.nnz or X.data.min() == X.data.max()
    for name, (power, favour) in OF_COUNTS.items():
        if favour or not (alike and unit):  # a power of values that are alike changes nothing
            found[name] = Weighting(power, rarity**favour, unit=unit)
    return found


def _of_numbers(X: Array) -> dict[str, Weighting]:
    """Standardised columns; constant ones get no weight."""
    mean = X.mean(axis=0, dtype=np.float64)
    spread = X.std(axis=0, dtype=np.float64)
    varies = spread > 1e-9 * np.maximum(np.abs(mean), 1e-300)
    factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
    found = {
        "standardised": Weighting(1.0, factors, mean),
        "standardised, rows of length 1": Weighting(1.0, factors, mean, unit=True),
        "standardised, damped": Weighting(0.5, factors**0.5, mean),
    }
    if varies.any() and _alike(spread[varies]):
        found[AS_GIVEN] = Weighting()
    return found


def _alike(spread: Float64) -> bool:
    """Whether columns are of much the same scale."""
    return not len(spread) or bool(spread.max() <= _ALIKE_COLUMNS * spread.min())


def mean_square(X: Any) -> float:
    """Mean squared length of the rows; 1 where all are zero."""
    values = X.data if sp.issparse(X) else np.asarray(X)
    with np.errstate(over="ignore"):
        total = float(np.square(values, dtype=np.float64).sum()) / max(X.shape[0], 1)
    if not np.isfinite(total):
        raise InputError(
            f"got features as large as {float(np.abs(values).max()):.3g}, whose squares overflow; "
            "scale them, the rows to length 1 for example"
        )
    return total or 1.0


def _lengths(rows: sp.csr_array, data: Array) -> Array:
    with np.errstate(over="ignore"):
        squares = sp.csr_array((np.square(data), rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(np.sqrt(squares @ np.ones(rows.shape[1], rows.dtype)))
