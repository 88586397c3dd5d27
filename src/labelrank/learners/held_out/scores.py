"""Scores of instances by a learner that has not learned them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from labelrank._types import Array
from labelrank.errors import InputError


def out_of_fold(estimator: Any, X: Any, Y: sp.csr_array, *, cv: int, random_state: Any) -> Array:
    """Scores (n × K) of each instance by a clone that has learned the other folds."""
    if X.shape[0] < cv:
        raise InputError(
            f"got {X.shape[0]} instance(s), too few to tune a threshold or probabilities by {cv} "
            "folds; give more, or a ranker that is not tuned (strategy='cardinality' or 'fixed')"
        )
    scores = np.empty(Y.shape)
    for train, test in KFold(cv, shuffle=True, random_state=random_state).split(X):
        scores[test] = clone(estimator).fit(X[train], Y[train]).decision_function(X[test])
    return scores
