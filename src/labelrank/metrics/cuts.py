"""What a cut of the scores would give: precision and recall over thresholds, and their area."""

from typing import Any, NamedTuple

import numpy as np

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._inputs import in_threads, spans
from labelrank.metrics.curves import Problem, _column, _coordinates, check_problem

_ROWS_AT_ONCE = 1 << 12


class PrecisionRecall(NamedTuple):
    """Criteria of all entries with a score of at least each threshold; thresholds rise."""

    thresholds: Array
    precision: Array
    recall: Array
    f1: Array


def precision_recall_curve(Y: Any, scores: Any, *, points: int = 200) -> PrecisionRecall:
    """Precision, recall and F1 of all entries together, over the threshold.

    The thresholds are scores of relevant entries, evenly spread over them from the lowest to the
    highest; the values there are exact. Entries are counted, not sorted, a few rows at a time.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out). Give one column for the
        curve of one label.
    scores : array (n, K)
    points : int
        Thresholds at most.

    Returns
    -------
    PrecisionRecall
        Arrays ``thresholds, precision, recall, f1``, empty if nothing is relevant.

    Examples
    --------
    >>> from labelrank.metrics import precision_recall_curve
    >>> curve = precision_recall_curve([[1, 0], [0, 1]], [[0.9, 0.5], [0.1, 0.4]])
    >>> curve.thresholds.tolist(), curve.recall.tolist()
    ([0.4, 0.9], [1.0, 0.5])
    """
    if points < 2:
        raise InputError(f"got points={points}; give at least 2")
    problem = check_problem(Y, scores, None)
    relevant = np.sort(_coordinates(problem, problem.Y.data > 0)[0])
    total = len(relevant)
    if not total:
        return PrecisionRecall(*np.empty((4, 0)))
    places = np.linspace(0, total - 1, points).round().astype(np.int64)
    cuts = np.unique(relevant[places])
    hits = total - np.searchsorted(relevant, cuts)
    given = _at_least(problem, cuts)
    return PrecisionRecall(cuts, hits / given, hits / total, 2 * hits / (given + total))


def _at_least(problem: Problem, cuts: Array) -> Array:
    """How many known entries score at least each of the rising cuts."""

    def count(first: int, last: int) -> Array:
        return _passed(problem.scores[first:last].ravel(), cuts)

    parts = in_threads(count, spans(len(problem.scores), _ROWS_AT_ONCE), problem.scores.size)
    unknown = _coordinates(problem, np.isnan(problem.Y.data))[0]
    return np.sum(parts, axis=0) - _passed(unknown, cuts)


def _passed(scores: Array, cuts: Array) -> Array:
    reached = np.bincount(np.searchsorted(cuts, scores, "right"), minlength=len(cuts) + 1)
    return np.cumsum(reached[::-1])[::-1][1:]


def average_precision_by_label(Y: Any, scores: Any) -> Array:
    r"""Mean precision at the scores of the relevant instances, for each label (larger is better).

    .. math::

        \frac1{n_+} \sum_{i: \text{relevant}}
            \frac{|\{j \text{ relevant}: s_j \ge s_i\}|}{|\{j: s_j \ge s_i\}|}

    This is the area under the label's precision-recall curve, by steps.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    scores : array (n, K)

    Returns
    -------
    array (K,), NaN for a label with no relevant instance

    Examples
    --------
    >>> from labelrank.metrics import average_precision_by_label
    >>> average_precision_by_label([[1, 0], [0, 0], [1, 0]], [[3, 1], [2, 1], [1, 1]])
    array([0.83333333,        nan])
    """
    problem = check_problem(Y, scores, None)

    def of_label(k: int) -> float:
        relevant, irrelevant = (sample.scores for sample in _column(problem, k))
        hits = len(relevant) - np.searchsorted(relevant, relevant)
        alarms = len(irrelevant) - np.searchsorted(irrelevant, relevant)
        return float(np.mean(hits / (hits + alarms))) if len(relevant) else float("nan")

    labels = [(k,) for k in range(problem.Y.shape[1])]
    return np.array(in_threads(of_label, labels, problem.scores.size))
