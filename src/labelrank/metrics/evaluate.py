"""All criteria of an answer at once, each group in one pass over the data."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.kernels import ranking as kernels
from labelrank.metrics import curves, orders, ranking, sets
from labelrank.metrics._common import check_weights, documented_like, mean, mean_of_known
from labelrank.metrics.samples import Problem

_LOSSES = (ranking.is_error, ranking.error_set_size, ranking.margin_loss,
           ranking.average_precision_loss, ranking.ranking_loss, ranking.one_error)  # fmt: skip
_FEW_LABELS = 100
WHOLE = (sets.hamming_loss, sets.subset_accuracy)
RATIOS = (sets.precision, sets.recall, sets.f1, sets.jaccard)


@documented_like(ranking.of_rankings)
def evaluate_ranking(
    Y: Any, scores: Any, threshold: Any = 0.0, *, ties: str = "worst", random_state: Any = None,
    sample_weight: Any = None, k: Sequence[int] = (1, 3, 5),
) -> dict[str, float]:  # fmt: skip
    """The criteria of a ranking, all in one pass over the scores.

    ``coverage`` counts the labels before the last relevant one, ``coverage_error`` that one too
    (scikit-learn). Those of label ranking (``kendall_tau`` and others) come with up to 100 labels.

    Parameters
    ----------
    threshold : float or array (n,)
        The score of the threshold label, for PRO loss.
    k : sequence of int
        The cut-offs of precision and nDCG.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> evaluate_ranking([[1, 0, 0]], [[2, 3, 1]], k=[1])["coverage"]
    1.0
    """
    given = {"threshold": threshold, "ties": ties, "random_state": random_state}
    table = ranking.row_criteria(Y, scores, **given, ks=k)
    weights = check_weights(sample_weight, len(table))
    columns = ranking_columns(table, k) | order_columns(Y, scores)
    return {name: mean(column, weights) for name, column in columns.items()}


def order_columns(Y: Any, scores: Any) -> dict[str, Array]:
    """The criteria of label ranking by name, where the labels are few: they look at all pairs."""
    if np.shape(scores)[1] > _FEW_LABELS:
        return {}
    columns: dict[str, Array] = {
        criterion.__name__: np.asarray(criterion(Y, scores, per_instance=True))
        for criterion in (orders.kendall_tau, orders.kendall_tau_x, orders.spearman)
    }
    for k in (1, 3):
        values = orders.top_agreement_at_k(Y, scores, k, per_instance=True)
        columns[f"top_agreement_at_{k}"] = np.asarray(values)
    return columns


def ranking_columns(table: Array, k: Sequence[int]) -> dict[str, Array]:
    """The criteria of a ranking by name, one value per instance, from the table of them."""
    columns = {loss.__name__: inspect.unwrap(loss)(table) for loss in _LOSSES}
    columns["coverage_error"] = table[:, kernels.COVERAGE]
    columns["pro_loss"] = table[:, kernels.PRO_LOSS]
    for c, cut in enumerate((*k, *k), kernels.N_COLUMNS):
        name = "precision" if c < kernels.N_COLUMNS + len(k) else "ndcg"
        columns[f"{name}_at_{cut}"] = table[:, c]
    columns["coverage"] = np.maximum(table[:, kernels.COVERAGE] - 1.0, 0.0)
    return columns


@documented_like(sets.of_ratios)
def evaluate_sets(
    Y: Any, predicted: Any, *, sample_weight: Any = None, zero_division: float = 0.0
) -> dict[str, float]:
    """The criteria of predicted sets (0/1 matrix, dense or sparse), counted once.

    Names: ``hamming_loss``, ``subset_accuracy``, and precision, recall, f1 and jaccard, each as
    ``example_``, ``micro_`` and ``macro_``.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> values = evaluate_sets([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 0]])
    >>> values["hamming_loss"], values["micro_f1"]
    (0.16666666666666666, 0.8)
    """
    counted = sets.Counted.of(Y, predicted, sample_weight, zero_division)
    values = {
        criterion.__name__: mean(inspect.unwrap(criterion)(counted.by_instance), counted.weights)
        for criterion in WHOLE
    }
    for ratio in RATIOS:
        for average in ("example", "micro", "macro"):
            value = counted.averaged(inspect.unwrap(ratio), average)
            values[f"{average}_{ratio.__name__}"] = value
    return values


@documented_like(evaluate_ranking)
def evaluate(
    Y: Any, scores: Any, threshold: Any = 0.0, predicted: Any = None, *, ties: str = "worst",
    random_state: Any = None, sample_weight: Any = None, k: Sequence[int] = (1, 3, 5),
    zero_division: float = 0.0,
) -> dict[str, float]:  # fmt: skip
    """Every criterion of the library, by name.

    They are those of `evaluate_ranking` and `evaluate_sets`, and ``micro_auc``, ``macro_auc``,
    ``macro_auc_left_out`` (number of labels with one class only), ``micro_break_even_point``,
    ``macro_break_even_point``.

    Parameters
    ----------
    predicted : 0/1 array or sparse matrix (n, K), or None
        The predicted sets; None predicts the labels that score above the threshold.
    zero_division : {0, 1, nan}
        Value of 0/0 in precision, recall, F1 and Jaccard index; see `f1`.

    Examples
    --------
    >>> values = evaluate([[1, 0, 0], [0, 1, 1]], [[2, -1, 1], [-1, 3, 1]])
    >>> values["ranking_loss"], values["subset_accuracy"], values["micro_auc"]
    (0.0, 0.5, 0.9444444444444444)
    """
    options = {"ties": ties, "random_state": random_state, "sample_weight": sample_weight, "k": k}
    values = evaluate_ranking(Y, scores, threshold, **options)
    if predicted is None:
        cut = np.asarray(threshold)
        predicted = np.asarray(scores) > (cut.reshape(-1, 1) if cut.ndim else cut)
    values |= evaluate_sets(Y, predicted, sample_weight=sample_weight, zero_division=zero_division)
    return values | of_curves(Problem.of(Y, scores, sample_weight))


def of_curves(problem: Any) -> dict[str, float]:
    """The criteria that need all scores of a label at once."""
    labels = curves.by_label(problem, pooled=True)
    return {
        "micro_auc": labels.micro_area,
        "macro_auc": mean_of_known(labels.areas),
        "macro_auc_left_out": float(np.isnan(labels.areas).sum()),
        "micro_break_even_point": curves.micro_break_even(problem),
        "macro_break_even_point": mean_of_known(labels.break_even_points),
    }
