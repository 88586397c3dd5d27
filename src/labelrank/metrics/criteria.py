"""The table of criteria: under which name, judged on what, and which way is better.

Another package adds a criterion by `register`, or by an entry point of the group
``labelrank.criteria`` that names a `Criterion`, or a function ``(Y, scores)`` with an attribute
``direction`` (1 or -1). For scikit-learn give a scorer: ``scoring=get_scorer("ranking_loss")``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import numpy as np
import sklearn.metrics

from labelrank._types import Array
from labelrank.errors import InputError, meant
from labelrank.metrics import classes, curves, orders, ranking, sets

GROUP = "labelrank.criteria"
LARGER, SMALLER, NEITHER = 1, -1, 0

# Other spellings that are accepted where a criterion is named.
ALIASES = {
    "f1_micro": "micro_f1", "f1_macro": "macro_f1", "f1_example": "example_f1",
    "jaccard": "example_jaccard", "hamming": "hamming_loss",
}  # fmt: skip


@dataclass(frozen=True)
class Criterion:
    """A function that judges answers: `function(Y, given, **options)`.

    `needs` says what it is given: "scores", "sets" (a 0/1 matrix) or "classes" (codes).
    `direction` is 1 if larger values are better, -1 if smaller ones are, 0 for a mere count.
    `of_top`: only the first labels of the ranking matter.
    """

    name: str
    function: Callable[..., Any]
    needs: str = "scores"
    direction: int = SMALLER
    options: Mapping[str, Any] = field(default_factory=dict)
    of_top: bool = False

    def __post_init__(self) -> None:
        needs, directions = ("scores", "sets", "classes"), (LARGER, SMALLER, NEITHER)
        if self.needs not in needs or self.direction not in directions:
            raise InputError(
                f"got criterion {self.name} with direction={self.direction!r} that needs "
                f"{self.needs!r}; give 1 if larger values are better, -1 if smaller ones are, "
                f"and one of {', '.join(map(repr, needs))}"
            )

    def __call__(self, Y: Any, given: Any, *, sample_weight: Any = None) -> float:
        """The value for relevance (or class codes) and what the criterion needs."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.function(Y, given, **weights, **self.options))


def _averaged(function: Callable[..., Any], needs: str, *averages: str) -> list[Criterion]:
    stem, better = function.__name__, LARGER
    return [Criterion(f"{a}_{stem}", function, needs, better, {"average": a}) for a in averages]


_OF_TOP: dict[str, Callable[..., Any]] = {
    "precision": ranking.precision_at_k, "ndcg": ranking.ndcg_at_k,
    "top_agreement": orders.top_agreement_at_k,
}  # fmt: skip


def _at(stem: str, k: int) -> Criterion:
    function = _OF_TOP[stem]
    return Criterion(f"{stem}_at_{k}", function, "scores", LARGER, {"k": k}, of_top=True)


_SETS, _CURVES = ("example", "micro", "macro"), ("micro", "macro")
TABLE = {
    criterion.name: criterion
    for criterion in [
        Criterion("is_error", ranking.is_error),
        Criterion("error_set_size", ranking.error_set_size),
        Criterion("margin_loss", ranking.margin_loss),
        Criterion("average_precision_loss", ranking.average_precision_loss),
        Criterion("average_precision", ranking.average_precision, "scores", LARGER),
        Criterion("ranking_loss", ranking.ranking_loss),
        Criterion("one_error", ranking.one_error, of_top=True),
        Criterion("coverage", ranking.coverage),
        Criterion("coverage_error", ranking.coverage, options={"zero_based": False}),
        Criterion("pro_loss", ranking.pro_loss),
        *(_at(stem, k) for stem in ("precision", "ndcg") for k in (1, 3, 5)),
        Criterion("kendall_tau", orders.kendall_tau, "scores", LARGER),
        Criterion("kendall_tau_x", orders.kendall_tau_x, "scores", LARGER),
        Criterion("spearman", orders.spearman, "scores", LARGER),
        *(_at("top_agreement", k) for k in (1, 3)),
        *_averaged(curves.auc, "scores", *_CURVES),
        Criterion("macro_auc_left_out", curves.labels_without_auc, "scores", NEITHER),
        *_averaged(curves.break_even_point, "scores", *_CURVES),
        Criterion("hamming_loss", sets.hamming_loss, "sets"),
        Criterion("subset_accuracy", sets.subset_accuracy, "sets", LARGER),
        *_averaged(sets.precision, "sets", *_SETS),
        *_averaged(sets.recall, "sets", *_SETS),
        *_averaged(sets.f1, "sets", *_SETS),
        *_averaged(sets.jaccard, "sets", *_SETS),
        Criterion("exact_match", classes.exact_match, "classes", LARGER),
        Criterion("hamming_score", classes.hamming_score, "classes", LARGER),
    ]
}
_added: dict[str, Criterion] = {}


def canonical(name: str) -> str:
    """The one spelling of a name: ``f1_micro`` is ``micro_f1``, ``neg_`` of a scorer is dropped."""
    if not isinstance(name, str):
        raise InputError(f"got criterion {name!r}; give the name of one")
    name = name.removeprefix("neg_")
    return ALIASES.get(name, name)


def names() -> list[str]:
    """All names: those of the table, then those that other packages have added."""
    entries = [entry.name for entry in metadata.entry_points(group=GROUP)]
    return list(dict.fromkeys([*TABLE, *_added, *entries]))


def get(name: str) -> Criterion:
    """The criterion of that name, in either spelling, ours or one that was added."""
    known = canonical(name)
    if known in TABLE or known in _added:
        return TABLE.get(known) or _added[known]
    stem, _, k = known.partition("_at_")
    if stem in _OF_TOP and k.isdecimal() and int(k) > 0:
        return _at(stem, int(k))
    for entry in metadata.entry_points(group=GROUP, name=known):
        return register(known, entry.load())
    near = meant(known, names())
    raise InputError(
        f"got criterion {name!r}, which is not known; {near}'labelrank criteria' and "
        "metrics.criteria.names() list all"
    )


def register(
    name: str, criterion: Criterion | Callable[..., Any], *, direction: int | None = None,
    needs: str | None = None,
) -> Criterion:  # fmt: skip
    """Add a criterion under a name that is free.

    Parameters
    ----------
    name : str
    criterion : Criterion or callable
        A function ``(Y, given)``, and ``sample_weight`` where weights are used.
    direction : {1, -1} or None
        1 if larger values are better. None takes the attribute ``direction`` of the function.
    needs : {"scores", "sets", "classes"} or None
        What the function is given. None takes its attribute ``needs``, else "scores".
    """
    if name != canonical(name) or name in TABLE:
        raise InputError(f"got criterion {name!r}, which is the name of another; choose a new one")
    if not isinstance(criterion, Criterion):
        direction = getattr(criterion, "direction", None) if direction is None else direction
        needs = getattr(criterion, "needs", "scores") if needs is None else needs
        criterion = Criterion(name, criterion, needs, direction)  # type: ignore[arg-type]
    _added[name] = criterion
    return criterion


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
    for name, criterion in TABLE.items()
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
        criterion = get(name)
    except InputError:
        if name not in sklearn.metrics.get_scorer_names():
            raise
        return sklearn.metrics.get_scorer(name)
    if criterion.direction == NEITHER:
        raise InputError(f"got criterion {name!r}, of which no value is better than another")
    return CriterionScorer(criterion)
