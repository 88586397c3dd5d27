"""The criteria as scikit-learn scorers: `scorer(estimator, X, Y)`, larger is better.

scikit-learn keeps no public list to which names could be added, so pass the scorer itself:
``GridSearchCV(learner, grid, scoring=get_scorer("ranking_loss"))``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn.metrics

from labelrank._types import Array
from labelrank.errors import MissingError
from labelrank.metrics import curves, head, pro, ranking, ratios, sets


@dataclass(frozen=True)
class CriterionScorer:
    """A criterion of the scores, or of the sets, that an estimator gives; losses are negated."""

    criterion: Callable[..., Any]
    on: str = "scores"
    sign: int = 1
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Score the estimator on X and its relevance Y."""
        given = _scores(estimator, X) if self.on == "scores" else estimator.predict(X)
        value = self.criterion(Y, given, sample_weight=sample_weight, **self.options)
        return self.sign * float(value)


def _scores(estimator: Any, X: Any) -> Array:
    """Scores by the decision function, else by probabilities (a matrix, or a list by label)."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X))
    found = estimator.predict_proba(X)
    if isinstance(found, list):
        return np.column_stack([label[:, 1] for label in found])
    return np.asarray(found)


def average_precision(Y: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """1 - `average_precision_loss`, so that larger is better."""
    return 1.0 - float(ranking.average_precision_loss(Y, scores, sample_weight=sample_weight))


def _loss(criterion: Callable[..., Any], on: str = "scores") -> CriterionScorer:
    return CriterionScorer(criterion, on, -1)


def _averaged(criterion: Callable[..., Any], on: str, averages: tuple[str, ...]) -> dict[str, Any]:
    return {
        f"{average}_{criterion.__name__}": CriterionScorer(criterion, on, 1, {"average": average})
        for average in averages
    }


_SET_AVERAGES = ("example", "micro", "macro")

scorers: dict[str, CriterionScorer] = {
    "neg_is_error": _loss(ranking.is_error),
    "neg_error_set_size": _loss(ranking.error_set_size),
    "neg_margin_loss": _loss(ranking.margin_loss),
    "neg_average_precision_loss": _loss(ranking.average_precision_loss),
    "average_precision": CriterionScorer(average_precision),
    "neg_ranking_loss": _loss(ranking.ranking_loss),
    "neg_one_error": _loss(ranking.one_error),
    "neg_coverage": _loss(ranking.coverage),
    "neg_pro_loss": _loss(pro.pro_loss),
    "neg_hamming_loss": _loss(sets.hamming_loss, "sets"),
    "subset_accuracy": CriterionScorer(sets.subset_accuracy, "sets"),
    **_averaged(ratios.precision, "sets", _SET_AVERAGES),
    **_averaged(ratios.recall, "sets", _SET_AVERAGES),
    **_averaged(ratios.f1, "sets", _SET_AVERAGES),
    **_averaged(ratios.jaccard, "sets", _SET_AVERAGES),
    **_averaged(curves.auc, "scores", ("micro", "macro")),
    **_averaged(curves.break_even_point, "scores", ("micro", "macro")),
    **{
        f"{criterion.__name__[:-1]}{k}": CriterionScorer(criterion, options={"k": k})
        for criterion in (head.precision_at_k, head.ndcg_at_k)
        for k in (1, 3, 5)
    },
}


def get_scorer(name: str) -> Any:
    """The scorer of that name: ours (a loss also without its ``neg_``), else scikit-learn's.

    Examples
    --------
    >>> from labelrank.metrics import get_scorer
    >>> get_scorer("ranking_loss") is get_scorer("neg_ranking_loss")
    True
    """
    for known in (name, f"neg_{name}"):
        if known in scorers:
            return scorers[known]
    try:
        return sklearn.metrics.get_scorer(name)
    except ValueError as error:
        raise MissingError(
            f"got no scorer named {name!r}; use one of {', '.join(sorted(scorers))}, "
            "or a name of scikit-learn"
        ) from error
