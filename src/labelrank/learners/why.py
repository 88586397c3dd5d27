"""Reasons: the addends of the margin that decided, feature by feature."""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from labelrank.errors import InputError

Array = npt.NDArray[Any]


class Explanation(NamedTuple):
    """Why `label` is ahead of (or behind) `over`; strongest contributions first.

    `margin` is the sum of `contributions` and `constant` (an intercept, where the learner has one).
    `over` is None where the label is measured against the threshold, or against all others.
    """

    label: Any
    over: Any
    margin: float
    features: npt.NDArray[np.int64]
    names: Array
    contributions: npt.NDArray[np.float64]
    constant: float = 0.0


class Explained:
    """Gives a learner `why`. By default by `coef_`, with `threshold_coef_` and `intercept_` if any.

    A learner with other weights overrides `_reason`.
    """

    def why(self, x: Any, label: Any, over: Any = None) -> Explanation:
        """The features that decided for or against a label, exactly: they sum to its margin.

        Parameters
        ----------
        x : one instance, a vector or a matrix of one row
        label : int or str
            Column of Y, or its name in `classes_`.
        over : int, str or None
            The label it is compared with; None compares with the threshold label, or, where there
            is none, gives the score itself.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        row = self._one_row(x)
        a = self._label(label)
        b = None if over is None else self._label(over)
        weights, constant = self._reason(a, b)
        addends = row.data.astype(np.float64) * np.asarray(weights, np.float64)[row.indices]
        order = np.argsort(-np.abs(addends), kind="stable")
        features = row.indices[order].astype(np.int64)
        names = self._feature_names()[features]
        margin = math.fsum([*addends, constant])
        return Explanation(
            self._name(a), self._name(b), margin, features, names, addends[order], constant
        )

    def _reason(self, label: int, over: int | None) -> tuple[Array, float]:
        """Weight vector and constant of the margin of `label` (over another)."""
        coef: Array = self.coef_  # type: ignore[attr-defined]
        shift = np.broadcast_to(getattr(self, "intercept_", 0.0), len(coef))
        if over is not None:
            return coef[label] - coef[over], float(shift[label] - shift[over])
        return coef[label] - getattr(self, "threshold_coef_", 0.0), float(shift[label])

    def _one_row(self, x: Any) -> sp.csr_array:
        if not sp.issparse(x) and not hasattr(x, "columns"):
            x = np.atleast_2d(np.asarray(x))
        row = sp.csr_array(self._check_X(x, reset=False))  # type: ignore[attr-defined]
        if row.shape[0] != 1:
            raise InputError(f"got {row.shape[0]} instances; give one, a reason is for one only")
        return row

    def _label(self, label: Any) -> int:
        names = self.classes_.tolist()  # type: ignore[attr-defined]
        if isinstance(label, str):
            if label not in names:
                raise InputError(f"got label {label!r}, which is none of the {len(names)} known")
            return int(names.index(label))
        if not 0 <= label < len(names):
            raise InputError(f"got label {label!r}; give a column of Y, 0 to {len(names) - 1}")
        return int(label)

    def _name(self, label: int | None) -> Any:
        return None if label is None else self.classes_.tolist()[label]  # type: ignore[attr-defined]

    def _feature_names(self) -> Array:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return np.asarray(names, object)
        n_features = self.n_features_in_  # type: ignore[attr-defined]
        return np.array([f"x{j}" for j in range(n_features)], object)
