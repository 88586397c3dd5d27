"""The criteria as scikit-learn scorers: `scorer(estimator, X, Y)`, larger is better.

scikit-learn keeps no public list to which names could be added, so pass the scorer itself:
``GridSearchCV(learner, grid, scoring=get_scorer("ranking_loss"))``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.metrics

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics import criteria
from labelrank.metrics.criteria import Criterion


@dataclass(frozen=True)
class CriterionScorer:
    """A criterion of the scores, or of the sets, that an estimator gives; losses are negated."""

    criterion: Criterion

    @property
    def sign(self) -> int:
        return -1 if self.criterion.direction < 0 else 1

    def __call__(self, estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Score the estimator on X and its relevance Y."""
        on_scores = self.criterion.needs == "scores"
        given = scores_of(estimator, X) if on_scores else estimator.predict(X)
        return self.sign * self.criterion(Y, given, sample_weight=sample_weight)


def scores_of(estimator: Any, X: Any) -> Array:
    """Scores by the decision function, else by probabilities (a matrix, or a list by label)."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X))
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):
        return np.column_stack([label[:, 1] for label in probabilities])
    return np.asarray(probabilities)


scorers: dict[str, CriterionScorer] = {
    ("neg_" if criterion.direction < 0 else "") + name: CriterionScorer(criterion)
    for name, criterion in criteria.TABLE.items()
    if criterion.direction
}


def get_scorer(name: str) -> Any:
    """The scorer of that name: ours (a loss also without its ``neg_``), else scikit-learn's.

    Examples
    --------
    >>> from labelrank.metrics import get_scorer
    >>> get_scorer("ranking_loss") == get_scorer("neg_ranking_loss")
    True
    """
    try:
        criterion = criteria.get(name)
    except InputError:
        if name not in sklearn.metrics.get_scorer_names():
            raise
        return sklearn.metrics.get_scorer(name)
    if criterion.direction == criteria.NEITHER:
        raise InputError(f"got criterion {name!r}, of which no value is better than another")
    return CriterionScorer(criterion)
