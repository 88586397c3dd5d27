"""The learners that `AutoRanker` tries: what has proved good for a kind of criterion, cheap first.

C is counted in units of the mean squared length of the instances, so that features of any scale
meet the same strength of regularisation.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from labelrank.errors import InputError
from labelrank.learners.margins.binary_relevance import BinaryRelevanceSVM
from labelrank.learners.margins.prosvm import ProSVM
from labelrank.learners.neighbors.knn import MLkNN

# Dual variables of preferences between two labels that are still worth their memory.
MOST_ARCS = 100_000_000


def candidates(kind: str, X: Any, Y: sp.csr_array) -> dict[str, BaseEstimator]:
    """Named learners, unfitted, for a criterion of "sets", of the "top" or of the whole "order"."""
    unit, dense = mean_square(X), not sp.issparse(X)
    svm = {f"SVM C={C:g}": _svm(C / unit) for C in (0.5, 0.25, 1.0)}
    pro = {f"{_ranker(Y)} C={C:g}": _pro(C / unit, _ranker(Y), dense) for C in (40, 20)}
    near = {"ML-kNN": MLkNN()} if dense else {}
    return (pro | {"SVM C=0.5": svm["SVM C=0.5"]} if kind == "order" else svm) | near


def for_share(learner: BaseEstimator, share: float) -> BaseEstimator:
    """The learner for a share of the instances it is meant for.

    With fewer of them a one-vs-rest SVM is best with a larger C, about as the root of their
    number falls: a race on samples would choose a C too large for the whole.
    """
    if not isinstance(learner, BinaryRelevanceSVM):
        return learner
    return clone(learner).set_params(C=learner.C / share**0.5)


def _ranker(Y: sp.csr_array) -> str:
    return "ProSVM" if n_arcs(Y) <= MOST_ARCS else "ProSVM-A"


def _svm(C: float) -> BinaryRelevanceSVM:
    return BinaryRelevanceSVM(C=C, fit_intercept=True, tol=0.1)


def _pro(C: float, name: str, dense: bool) -> ProSVM:
    """Stopped after three epochs: later ones change the solution, hardly the ranking.

    An intercept serves dense features; with the terms of texts it was worse on held-out data.
    """
    return ProSVM(C=C, approximate=name == "ProSVM-A", fit_intercept=dense, max_iter=3)


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


def n_arcs(Y: sp.csr_array) -> float:
    """Preferences of relevant over irrelevant labels, in all instances."""
    relevant = np.bincount(np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[Y.data > 0])
    return float((relevant * (Y.shape[1] - relevant)).sum())
