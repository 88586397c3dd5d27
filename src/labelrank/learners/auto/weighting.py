"""How much the features weigh: large values damped, rare or common features favoured.

Linear learners of text gain or lose more by the weights of the terms than by their own settings,
and what suits one collection harms another: `AutoRanker` lets held-out instances choose.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64
from labelrank.declared import array, stored, value

# Powers of the values, and of the (smoothed, logarithmic) inverse document frequency.
WAYS = {
    "damped": (0.75, 0.0),
    "damped, rare favoured": (0.75, 0.5),
    "damped, common favoured": (0.75, -0.5),
    "common favoured": (1.0, -0.5),
}


@stored(
    "Weighting", 1, power=value(float, least=0.0), factors=array("f8", "features", optional=True)
)
class Weighting(NamedTuple):
    """x_j becomes x_j^power · factors_j, and the row gets its length back; None leaves all be."""

    power: float = 1.0
    factors: Float64 | None = None

    def __call__(self, X: Any) -> Any:
        """The instances with their features weighted."""
        if self.factors is None:
            return X
        rows = sp.csr_array(X)
        factors = self.factors[rows.indices].astype(rows.dtype)
        values = np.sign(rows.data) * np.abs(rows.data) ** self.power * factors
        before, after = (_lengths(rows, data) for data in (rows.data, values))
        scale = np.divide(before, after, out=np.zeros_like(after), where=after > 0)
        values *= np.repeat(scale, np.diff(rows.indptr)).astype(rows.dtype)
        return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def weightings(X: Any) -> dict[str, Weighting]:
    """Named ways to weight; dense or signed features are no counts and stay as given.

    >>> list(weightings(sp.csr_array([[1.0, 2.0], [0.0, 1.0]])))[:3]
    ['as given', 'damped', 'damped, rare favoured']
    """
    ways = {"as given": Weighting()}
    if not sp.issparse(X) or (X.nnz and X.data.min() < 0):
        return ways
    counts = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    rarity = np.log((X.shape[0] + 1.0) / (counts + 1.0)) + 1.0
    return ways | {name: Weighting(p, rarity**e) for name, (p, e) in WAYS.items()}


def _lengths(rows: sp.csr_array, data: Array) -> Array:
    squares = sp.csr_array((np.square(data), rows.indices, rows.indptr), shape=rows.shape)
    lengths: Array = np.sqrt(squares @ np.ones(rows.shape[1], rows.dtype))
    return lengths
