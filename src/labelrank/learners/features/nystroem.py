"""Kernel features in front of linear learners (Williams & Seeger 2001).

With m landmarks l_1, ..., l_m among the instances, the kernel k(x, z) = exp(-γ ||x - z||²) and
K = (k(l_i, l_j)) = V Λ Vᵀ, the features of x are

    φ(x) = (k(x, l_1), ..., k(x, l_m)) V Λ^(-1/2),

so that φ(x)·φ(z) is near k(x, z): a linear learner on them is nearly one with that kernel.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from labelrank import decoding
from labelrank._estimators import BaseEstimator, TransformerMixin
from labelrank._types import Array, Float64
from labelrank.declared import (
    array,
    check_parameters,
    cut,
    nested,
    number,
    seed,
    sparse,
    stored,
    value,
)
from labelrank.errors import InputError
from labelrank.learners.base import Explained, Explanation, LabelRanker
from labelrank.resources import blocks, require
from labelrank.rows import SPARSE

_AT_ONCE = 1 << 22
# Directions of the kernel matrix with less of its largest eigenvalue hold rounding errors only.
_LEAST = 1e-7
# Of the integral in `why`.
_PLACES = 64


@stored(
    "NystroemFeatures",
    1,
    landmarks_=sparse("landmarks", "d"),
    mixing_=array("f4", "landmarks", "features"),
    gamma_=value(float, least=0.0),
)
@dataclass(eq=False, repr=False)
class NystroemFeatures(TransformerMixin, BaseEstimator):
    """Features whose inner products approach a Gaussian kernel; X may be sparse.

    Parameters
    ----------
    n_components : int, default 500
        Landmarks, drawn among the instances; all, where there are fewer.
    gamma : float or None
        None is 1 / (sum of the variances of the features).
    random_state : int, RandomState or None

    Attributes
    ----------
    landmarks_ : CSR matrix (m × d)
    mixing_ : ndarray (m, at most m) of float32, V Λ^(-1/2)
    gamma_ : float
    """

    n_components: int = number(500, least=1, whole=True)
    _: KW_ONLY
    gamma: float | None = number(None, above=0, or_none=True)
    random_state: Any = seed()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks; `y` is ignored."""
        check_parameters(self)
        X = self._checked(X, reset=True)
        n, m = X.shape[0], min(int(self.n_components), X.shape[0])
        require(8 * m * (m + X.shape[1]), f"{m} landmarks", "lower n_components")
        rows = check_random_state(self.random_state).choice(n, m, replace=False)
        landmarks = X[np.sort(rows)]
        gamma = 1.0 / _variance(X) if self.gamma is None else float(self.gamma)
        with threadpool_limits(1, "blas"):  # the bits must not depend on the machine's cores
            values, vectors = np.linalg.eigh(_kernel(landmarks, landmarks, gamma))
        kept = values > _LEAST * values[-1]
        self.mixing_ = np.asarray(vectors[:, kept] / np.sqrt(values[kept]), np.float32, order="C")
        self.landmarks_, self.gamma_ = landmarks, float(gamma)
        return self

    def transform(self, X: Any) -> Array:
        """Features (n × at most m), dense float32."""
        check_is_fitted(self, "landmarks_")
        X = self._checked(X, reset=False)
        n, width = X.shape[0], self.mixing_.shape[1]
        require(4 * n * width, f"{n} x {width} kernel features", "lower n_components")
        made = np.empty((n, width), np.float32)
        with threadpool_limits(1, "blas"):
            for part in blocks(n, _AT_ONCE // len(self.mixing_)):
                near = _kernel(X[part], self.landmarks_, self.gamma_)
                made[part] = near.astype(np.float32) @ self.mixing_
        return made

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """`kernel0`, `kernel1`, ..."""
        check_is_fitted(self, "landmarks_")
        return np.array([f"kernel{j}" for j in range(self.mixing_.shape[1])], dtype=object)

    def _checked(self, X: Any, *, reset: bool) -> sp.csr_array:
        X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
        X = sp.csr_array(X)
        with np.errstate(over="ignore"):
            if not np.isfinite(np.square(X.data).sum()):
                raise InputError("got features whose squares overflow; scale them first")
        return X

    def after_loading(self) -> None:
        self.landmarks_ = sp.csr_array(self.landmarks_, dtype=np.float64)
        self.n_features_in_ = self.landmarks_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _variance(X: sp.csr_array) -> float:
    """The summed variance of the features; 1 where all instances are alike."""
    mean = X.mean(axis=0)
    total = float(X.power(2).sum() / X.shape[0] - (mean**2).sum())
    return total if total > 0 else 1.0


def _kernel(X: sp.csr_array, Z: sp.csr_array, gamma: float) -> Array:
    """k(x, z) for all pairs of rows; products are dense or sparse by the content of Z."""
    if Z.nnz < SPARSE * Z.shape[0] * Z.shape[1]:
        inner = (X @ Z.T).toarray()
    else:
        inner = X.toarray() @ Z.toarray().T
    squares = (np.asarray(part.power(2).sum(axis=1)) for part in (X, Z))
    distance = np.add.outer(*squares) - 2.0 * inner
    return np.exp(-gamma * np.maximum(distance, 0.0))


@stored("KernelRanker", 1, features_=nested("NystroemFeatures"), estimator_=nested())
@dataclass(eq=False, repr=False)
class KernelRanker(Explained, LabelRanker):
    """A learner on kernel features, see `NystroemFeatures`: what is linear in them may be curved.

    Scale dense features first: the kernel looks at distances.

    Parameters
    ----------
    estimator : learner or None
        None is `BinaryRelevanceLogistic(C=10, fit_intercept=True)`.
    n_components, gamma
        As in `NystroemFeatures`.
    threshold : "cardinality" or float
        How `predict` cuts the ranking if the estimator has no threshold of its own.
    random_state : int, RandomState or None, for the landmarks

    Attributes
    ----------
    features_ : the fitted NystroemFeatures
    estimator_ : the fitted learner

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import KernelRanker
    >>> X = np.linspace(-1, 1, 21)[:, None]
    >>> inside = np.abs(X) < 0.5
    >>> KernelRanker(random_state=0).fit(X, inside.astype(int)).predict([[0.1], [0.9]])
    array([[1],
           [0]])
    """

    estimator: Any = None
    n_components: int = number(500, least=1, whole=True)
    _: KW_ONLY
    gamma: float | None = number(None, above=0, or_none=True)
    threshold: Any = cut()
    random_state: Any = seed()

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return getattr(self.estimator, "is_calibrated", True)

    def _check_combinations(self) -> None:
        if self.estimator is not None and not isinstance(self.estimator, LabelRanker):
            raise InputError(f"got estimator={self.estimator!r}; give a learner of labelrank")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        given = self.n_components, self.gamma, self.random_state
        self.features_ = NystroemFeatures(given[0], gamma=given[1], random_state=given[2])
        estimator = self._default() if self.estimator is None else clone(self.estimator)
        self.estimator_: Any = estimator.fit(self.features_.fit_transform(X), Y)

    def _default(self) -> LabelRanker:
        from labelrank.learners.margins.binary_relevance import BinaryRelevanceLogistic

        return BinaryRelevanceLogistic(C=10.0, fit_intercept=True, random_state=0)

    def _scores(self, X: Any) -> Array:
        return np.asarray(self.estimator_.decision_function(self.features_.transform(X)))

    @available_if(lambda self: isinstance(self.estimator_, Explained))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Explanation:
        """What each feature adds on the straight way from an instance of zeros to `x`: integrated
        gradients (Sundararajan, Taly & Yan 2017). The constant is the score of the zeros."""
        return super().why(x, label, over)

    def _addends(self, row: sp.csr_array, a: int, b: int | None) -> tuple[Array, Float64, float]:
        weights, constant = self.estimator_.reason_weights(a, b)
        features, x = self.features_, row.astype(np.float64)
        landmarks, gamma = features.landmarks_, features.gamma_
        pull = features.mixing_.astype(np.float64) @ np.asarray(weights, np.float64)
        places, shares = np.polynomial.legendre.leggauss(_PLACES)
        t, shares = (places + 1) / 2, shares / 2
        across = np.ravel((landmarks @ x.T).toarray())
        squares = np.ravel(landmarks.power(2).sum(axis=1))
        x_square = float(x.power(2).sum())
        distance = t[:, None] ** 2 * x_square - 2 * t[:, None] * across + squares
        near = np.exp(-gamma * distance) * pull  # places × landmarks
        # ∫ of d/dx_j at t x: -2γ Σ_m pull_m k(t x, l_m) (t x_j - l_mj)
        own = float(shares * t @ near.sum(axis=1))
        theirs = np.ravel((shares @ near) @ landmarks[:, x.indices])
        addends = -2 * gamma * x.data * (own * x.data - theirs)
        whole = float(np.exp(-gamma * (x_square - 2 * across + squares)) @ pull) + constant
        return row.indices, addends, whole - math.fsum(addends)

    @property
    def has_probabilities(self) -> bool:
        """Whether the estimator has them."""
        return self.estimator is None or decoding.has_probabilities(self.estimator)

    def link(self, scores: Array) -> Array:
        """The probabilities that the estimator gives to scores."""
        return np.asarray(self.estimator_.link(scores))

    def after_loading(self) -> None:
        form = self.estimator_.n_labels_, self.estimator_.n_features_in_
        if form != (self.n_labels_, self.features_.mixing_.shape[1]):
            raise ValueError("kernel features that do not fit the learner behind them")
        if self.features_.landmarks_.shape[1] != self.n_features_in_:
            raise ValueError("landmarks of other features")
