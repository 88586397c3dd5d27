"""All criteria of an answer at once, each group in one pass over the data."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.kernels import ranking as kernels
from labelrank.metrics import curves, sets
from labelrank.metrics._counts import Counts, check_sets
from labelrank.metrics._inputs import check_weights, mean
from labelrank.metrics._row_criteria import row_criteria
from labelrank.metrics.ratios import averaged_ratio, check_zero_division

_RANKING = {
    "is_error": kernels.IS_ERROR,
    "error_set_size": kernels.ERROR_SET_SIZE,
    "margin_loss": kernels.MARGIN_LOSS,
    "average_precision_loss": kernels.AVERAGE_PRECISION_LOSS,
    "ranking_loss": kernels.RANKING_LOSS,
    "one_error": kernels.ONE_ERROR,
    "coverage_error": kernels.COVERAGE,
    "pro_loss": kernels.PRO_LOSS,
}


def evaluate(
    Y: Any,
    scores: Any,
    threshold: Any = 0.0,
    predicted: Any = None,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    k: Sequence[int] = (1, 3, 5),
    zero_division: float = 0.0,
) -> dict[str, float]:
    """Every criterion of the library, by name.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
    threshold : float or array (n,)
        The score of the threshold label, for PRO loss and, unless `predicted` is given, the sets.
    predicted : 0/1 array or sparse matrix (n, K), or None
        The predicted sets; None predicts the labels that score above the threshold.
    ties, random_state : see `ranking_loss`
    sample_weight : array (n,) or None
    k : sequence of int
        The cut-offs of precision and nDCG.
    zero_division : {0, 1, nan}
        Value of 0/0 in precision, recall, F1 and Jaccard index.

    Returns
    -------
    dict
        The names of `evaluate_ranking` and `evaluate_sets`, and ``micro_auc``, ``macro_auc``,
        ``macro_auc_left_out`` (number of labels with one class only),
        ``micro_break_even_point``, ``macro_break_even_point``.

    Examples
    --------
    >>> from labelrank.metrics import evaluate
    >>> found = evaluate([[1, 0, 0], [0, 1, 1]], [[2, -1, 1], [-1, 3, 1]])
    >>> found["ranking_loss"], found["subset_accuracy"], found["micro_auc"]
    (0.0, 0.5, 0.9444444444444444)
    """
    found = evaluate_ranking(
        Y, scores, threshold, ties=ties, random_state=random_state,
        sample_weight=sample_weight, k=k,
    )  # fmt: skip
    if predicted is None:
        predicted = np.asarray(scores) > _as_column(threshold)
    found |= evaluate_sets(Y, predicted, sample_weight=sample_weight, zero_division=zero_division)
    return found | _curves(curves.check_problem(Y, scores, sample_weight))


def _as_column(threshold: Any) -> Array:
    values = np.asarray(threshold)
    return values.reshape(-1, 1) if values.ndim else values


def evaluate_ranking(
    Y: Any,
    scores: Any,
    threshold: Any = 0.0,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    k: Sequence[int] = (1, 3, 5),
) -> dict[str, float]:
    """The criteria of a ranking, all in one pass over the scores.

    Parameters are those of `evaluate`. ``coverage`` counts the labels before the last relevant
    one, ``coverage_error`` that one too (scikit-learn).

    Examples
    --------
    >>> from labelrank.metrics import evaluate_ranking
    >>> evaluate_ranking([[1, 0, 0]], [[2, 3, 1]], k=[1])["coverage"]
    1.0
    """
    values = row_criteria(
        Y, scores, threshold=threshold, ties=ties, random_state=random_state, ks=k
    )
    weights = check_weights(sample_weight, len(values))
    names = _RANKING | {
        f"{name}_at_{cut}": kernels.N_COLUMNS + part * len(k) + c
        for part, name in enumerate(("precision", "ndcg"))
        for c, cut in enumerate(k)
    }
    found = {name: mean(values[:, column], weights) for name, column in names.items()}
    found["coverage"] = mean(np.maximum(values[:, kernels.COVERAGE] - 1.0, 0.0), weights)
    return found


def evaluate_sets(
    Y: Any, predicted: Any, *, sample_weight: Any = None, zero_division: float = 0.0
) -> dict[str, float]:
    """The criteria of predicted sets (0/1 matrix, dense or sparse), counted once.

    Names: ``hamming_loss``, ``subset_accuracy``, and precision, recall, f1 and jaccard, each as
    ``example_``, ``micro_`` and ``macro_``.

    Examples
    --------
    >>> from labelrank.metrics import evaluate_sets
    >>> found = evaluate_sets([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 0]])
    >>> found["hamming_loss"], found["micro_f1"]
    (0.16666666666666666, 0.8)
    """
    pair = check_sets(Y, predicted)
    weights = check_weights(sample_weight, pair.relevant.shape[0])
    by_instance, by_label = pair.by_instance(), pair.by_label(weights)
    found = {
        "hamming_loss": mean(sets.hamming_values(by_instance), weights),
        "subset_accuracy": mean(sets.subset_values(by_instance), weights),
    }
    return found | _ratios(by_instance, by_label, weights, check_zero_division(zero_division))


def _ratios(
    by_instance: Counts, by_label: Counts, weights: Array | None, empty: float
) -> dict[str, float]:
    return {
        f"{average}_{name}": averaged_ratio(name, average, by_instance, by_label, weights, empty)
        for name in ("precision", "recall", "f1", "jaccard")
        for average in ("example", "micro", "macro")
    }


def _curves(problem: curves.Problem) -> dict[str, float]:
    found = curves.by_label(problem, pooled=True)
    return {
        "micro_auc": found.micro_area,
        "macro_auc": curves.mean_of_known(found.areas),
        "macro_auc_left_out": float(np.isnan(found.areas).sum()),
        "micro_break_even_point": curves.micro_break_even(problem),
        "macro_break_even_point": curves.mean_of_known(found.break_even_points),
    }
