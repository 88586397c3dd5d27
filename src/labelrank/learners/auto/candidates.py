"""What `AutoRanker` tries: learners that proved good for a kind of criterion, and weights of terms.

C is counted in units of the mean squared length of the instances, so that features of any scale
meet the same strength of regularisation. Linear learners of text gain or lose more by the weights
of the terms than by their own settings, and what suits one collection harms another.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from labelrank._types import Array, Float64
from labelrank.declared import array, stored, value
from labelrank.errors import InputError
from labelrank.learners.margins.prosvm import ProSVM
from labelrank.learners.margins.rivals import BinaryRelevanceSVM
from labelrank.learners.neighbors import MLkNN

# Dual variables of preferences between two labels that are still worth their memory.
MOST_ARCS = 100_000_000

# Powers of the values, and of the (smoothed, logarithmic) inverse document frequency.
WAYS = {
    "damped": (0.75, 0.0),
    "damped, rare favoured": (0.75, 0.5),
    "damped, common favoured": (0.75, -0.5),
    "common favoured": (1.0, -0.5),
}


def candidates(kind: str, X: Any, Y: sp.csr_array) -> dict[str, BaseEstimator]:
    """Named learners, unfitted, for a criterion of "sets", of the "top" or of the whole "order".

    ProSVM stops after three epochs: later ones change the solution, hardly the ranking. An
    intercept serves it with dense features; with the terms of texts it was worse.
    """
    unit, dense = _mean_square(X), not sp.issparse(X)
    near = {"ML-kNN": MLkNN()} if dense else {}
    svm = {
        f"SVM C={C:g}": BinaryRelevanceSVM(C=C / unit, fit_intercept=True, tol=0.1)
        for C in (0.5, 0.25, 1.0)
    }
    if kind != "order":
        return svm | near
    relevant = (Y > 0).sum(axis=1)
    many = float((relevant * (Y.shape[1] - relevant)).sum()) > MOST_ARCS
    pro = {
        f"{'ProSVM-A' if many else 'ProSVM'} C={C:g}": ProSVM(
            C=C / unit, approximate=many, fit_intercept=dense, max_iter=3
        )
        for C in (40, 20)
    }
    return pro | {"SVM C=0.5": svm["SVM C=0.5"]} | near


def for_share(learner: BaseEstimator, share: float) -> BaseEstimator:
    """The learner for a share of the instances it is meant for.

    With fewer of them a one-vs-rest SVM is best with a larger C, about as the root of their
    number falls: a race on samples would choose a C too large for the whole.
    """
    if not isinstance(learner, BinaryRelevanceSVM):
        return learner
    return clone(learner).set_params(C=learner.C / share**0.5)


def _mean_square(X: Any) -> float:
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
    """Named ways to weight; dense or signed features are no counts and stay as given."""
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
