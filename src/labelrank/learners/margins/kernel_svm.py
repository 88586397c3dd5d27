"""One support vector machine with a kernel per label (Joachims 1998), all of one kernel matrix.

The score is g(x) = Σ_i α_i k(x_i, x) + b, for which ½‖w‖² + C Σ_i (1 - y_i g(x_i))₊ is least.
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from labelrank._types import Array, Float64
from labelrank.declared import array, choice, number, sparse, stored, threads, value
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker
from labelrank.resources import blocks, require, run_jobs

_AT_ONCE = 1 << 22


@stored(
    "KernelSVM", 1,
    support=sparse("n", "d", attribute="_support"),
    duals=array("f8", "n", "K", attribute="_duals"), intercept_=array("f8", "K"),
    gamma=value(float, least=0.0, attribute="_gamma"),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class KernelSVM(LabelRanker):
    """One support vector machine with a kernel per label, each label against the others.

    The kernel of all pairs of instances is computed once for all labels, and libsvm solves them
    side by side. What is kept are the instances that support some label.

    Parameters
    ----------
    kernel : {"rbf", "poly"}
        exp(-gamma ||x - z||²), or (gamma x·z + coef0)^degree.
    C : float, default 1.0
    gamma : float or None
        None is 1 / (number of features).
    degree, coef0 : of "poly"
    n_jobs : int or None, labels solved side by side

    Attributes
    ----------
    n_support_ : int, instances kept

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import KernelSVM
    >>> X = np.linspace(-1, 1, 21)[:, None]
    >>> inside = np.abs(X) < 0.5
    >>> KernelSVM(gamma=4.0, C=10).fit(X, inside.astype(int)).predict([[0.1], [0.9]])
    array([[1],
           [0]])
    """

    kernel: str = choice("rbf", "poly")
    _: KW_ONLY
    C: float = number(1.0, above=0)
    gamma: float | None = number(None, least=0, or_none=True)
    degree: int = number(2, least=1, whole=True)
    coef0: float = number(1.0)
    n_jobs: int | None = threads()

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        X, n = sp.csr_array(X, dtype=np.float64), X.shape[0]
        require(8 * n * n, f"the kernel of {n} x {n} instances", "give fewer, or use KernelRanker")
        self._gamma = float(1.0 / X.shape[1] if self.gamma is None else self.gamma)
        G = self._kernel(X, X)
        if not np.isfinite(G).all():
            raise InputError("got features whose kernel overflows; scale the features first")
        columns = (column.toarray().ravel() for column in Y.T.tocsr())
        solved = run_jobs([partial(self._solve, G, column) for column in columns], self.n_jobs)
        duals = np.column_stack([dual for dual, _ in solved])
        used = np.flatnonzero(duals.any(axis=1))
        self._support, self._duals = X[used], duals[used]
        self.intercept_ = np.array([constant for _, constant in solved])

    def _solve(self, G: Float64, grades: Float64) -> tuple[Float64, float]:
        """Dual coefficients (n,) and intercept of a label; ±1 where all instances agree."""
        known = np.flatnonzero(~np.isnan(grades))
        y, dual = grades[known] > 0, np.zeros(len(G))
        if not len(known) or y.all() or not y.any():
            return dual, 1.0 if len(known) and y.all() else -1.0
        machine = SVC(C=self.C, kernel="precomputed")
        machine.fit(G if len(known) == len(G) else G[np.ix_(known, known)], y)
        dual[known[machine.support_]] = machine.dual_coef_[0]
        return dual, float(machine.intercept_[0])

    def _kernel(self, X: sp.csr_array, Z: sp.csr_array) -> Float64:
        products = (X @ Z.T).toarray()
        with np.errstate(over="ignore"):
            if self.kernel == "poly":
                return np.asarray((self._gamma * products + self.coef0) ** self.degree)
            squares = [np.asarray(part.multiply(part).sum(axis=1)) for part in (X, Z)]
            distances = squares[0][:, None] + squares[1] - 2 * products
        return np.asarray(np.exp(-self._gamma * np.maximum(distances, 0.0)))

    def after_loading(self) -> None:
        if self._support.shape[0] != len(self._duals):
            raise ValueError("there is not one coefficient per support vector and label")
        self._support = sp.csr_array(self._support)

    @property
    def n_support_(self) -> int:
        """Instances that support some label."""
        return len(self._duals)

    def _scores(self, X: Any) -> Array:
        X = sp.csr_array(X, dtype=np.float64)
        at_once = _AT_ONCE // max(self.n_support_, 1)
        parts = [
            self._kernel(X[rows], self._support) @ self._duals
            for rows in blocks(X.shape[0], at_once)
        ]
        return np.vstack(parts) + self.intercept_ if parts else np.zeros((0, self.n_labels_))
