"""Criteria of the instances ranked for a label: area under the ROC curve, break-even point.

Work goes label by label over threads; beside the scores only one column a thread is held.
Unknown labels (NaN in Y) are left out. Tied scores count by halves (the mean over their orders).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels.ranking import weight_not_below, weighted_wins
from labelrank.metrics._inputs import (
    check_pair,
    check_weights,
    in_threads,
    refuse_nan,
    spans,
)

_ROWS_AT_ONCE = 1 << 15


class Sample(NamedTuple):
    """Scores in rising order with their weights."""

    scores: Array
    weights: Array


class Problem(NamedTuple):
    """Checked input: Y by column, scores, a weight for every row, and whether all are 1."""

    Y: sp.csc_array
    scores: Array
    weights: Array
    even: bool


def check_problem(Y: Any, scores: Any, sample_weight: Any) -> Problem:
    Y, scores = check_pair(Y, scores)
    for first, last in spans(len(scores), _ROWS_AT_ONCE):
        bad = np.isnan(scores[first:last]).any(axis=1)
        if bad.any():
            refuse_nan(first + int(bad.argmax()))
    weights = check_weights(sample_weight, len(scores))
    ones = np.ones(len(scores))
    return Problem(Y.tocsc(), scores, ones if weights is None else weights, weights is None)


def _sorted(scores: Array, weights: Array, even: bool) -> Sample:
    if even:
        return Sample(np.sort(scores), weights)
    order = np.argsort(scores, kind="stable")
    return Sample(scores[order], weights[order])


def _column(problem: Problem, k: int) -> tuple[Sample, Sample]:
    """The relevant and the irrelevant instances of label k."""
    span = slice(problem.Y.indptr[k], problem.Y.indptr[k + 1])
    rows, grades = problem.Y.indices[span], problem.Y.data[span]
    irrelevant = np.ones(len(problem.scores), dtype=bool)
    irrelevant[rows] = False
    column, relevant = problem.scores[:, k], rows[grades > 0]
    return (
        _sorted(column[relevant], problem.weights[relevant], problem.even),
        _sorted(column[irrelevant], problem.weights[irrelevant], problem.even),
    )


def _coordinates(problem: Problem, chosen: Array) -> tuple[Array, Array]:
    """Scores and weights of the stored entries of Y picked by `chosen`, over all labels."""
    columns = np.repeat(np.arange(problem.Y.shape[1]), np.diff(problem.Y.indptr))[chosen]
    rows = problem.Y.indices[chosen]
    return problem.scores[rows, columns], problem.weights[rows]


def _all_relevant(problem: Problem) -> Sample:
    return _sorted(*_coordinates(problem, problem.Y.data > 0), problem.even)


def auc(
    Y: Any, scores: Any, average: str | None = "macro", *, sample_weight: Any = None
) -> float | Array:
    r"""Area under the ROC curve: how often a relevant entry outscores an irrelevant one.

    .. math::

        \frac{\sum_{i: \text{relevant}} \sum_{j: \text{irrelevant}}
            \big([s_i > s_j] + \tfrac12 [s_i = s_j]\big)}{n_+ \, n_-}

    A label all of whose known entries are relevant, or irrelevant, has no curve: it is left out
    of the macro average. ``average=None`` shows it as NaN, so that ``np.isnan(...).sum()``
    counts such labels; `evaluate` reports the count as ``macro_auc_left_out``.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    scores : array (n, K)
    average : {"macro", "micro", None}
        Mean over labels; one curve of all entries; or the array (K,) of the labels.
    sample_weight : array (n,) or None

    Returns
    -------
    float (NaN if nothing can be compared), or array (K,)

    Examples
    --------
    >>> from labelrank.metrics import auc
    >>> auc([[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.2, 0.3], [0.1, 0.2]])
    0.5
    >>> auc([[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.2, 0.3], [0.1, 0.2]], average=None)
    array([0.5, nan])
    """
    _check_average(average)
    found = by_label(check_problem(Y, scores, sample_weight), pooled=average == "micro")
    if average == "micro":
        return found.micro_area
    return found.areas if average is None else mean_of_known(found.areas)


def _check_average(average: str | None) -> None:
    if average not in ("micro", "macro", None):
        raise InputError(f"got average={average!r}; use 'micro', 'macro' or None")


class ByLabel(NamedTuple):
    """Area and break-even point of each label, and the area of all entries pooled (or NaN)."""

    areas: Array
    break_even_points: Array
    micro_area: float


def by_label(problem: Problem, *, pooled: bool) -> ByLabel:
    """Sort each label's column once, and read both criteria off it."""
    everything = _all_relevant(problem) if pooled else Sample(problem.scores[0, :0], np.ones(0))

    def of_label(k: int) -> tuple[float, float, float, float]:
        relevant, irrelevant = _column(problem, k)
        weight = _weight(irrelevant)
        area = _ratio(weighted_wins(*relevant, *irrelevant), _weight(relevant) * weight)
        wins = weighted_wins(*everything, *irrelevant)
        return area, _break_even(relevant, _counter(relevant, irrelevant)), wins, weight

    labels = [(k,) for k in range(problem.Y.shape[1])]
    found = np.array(in_threads(of_label, labels, problem.scores.size))
    micro = _ratio(found[:, 2].sum(), _weight(everything) * found[:, 3].sum())
    return ByLabel(found[:, 0], found[:, 1], micro)


def _weight(sample: Sample) -> float:
    return float(sample.weights.sum())


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator > 0 else float("nan")


def mean_of_known(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def break_even_point(
    Y: Any, scores: Any, average: str | None = "micro", *, sample_weight: Any = None
) -> float | Array:
    r"""The value at which precision and recall are equal (paper 003; larger is better).

    .. math::

        \frac{|\{i \text{ relevant}: r(i) \le n_+\}|}{n_+}

    The entries of a label (micro: of all labels) are ranked by score and cut after as many as
    are relevant, where precision and recall have the same denominator. Of the entries tied at
    the cut, the share that fits is counted. A label with no relevant instance is left out of the
    macro average (NaN with ``average=None``).

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    scores : array (n, K)
    average : {"micro", "macro", None}
        One ranking of all entries; mean over labels; or the array (K,) of the labels.
    sample_weight : array (n,) or None

    Returns
    -------
    float (NaN if nothing is relevant), or array (K,)

    Examples
    --------
    >>> from labelrank.metrics import break_even_point
    >>> break_even_point([[1], [1], [0], [0]], [[0.9], [0.2], [0.5], [0.1]])
    0.5
    """
    _check_average(average)
    problem = check_problem(Y, scores, sample_weight)
    if average == "micro":
        return micro_break_even(problem)
    points = by_label(problem, pooled=False).break_even_points
    return points if average is None else mean_of_known(points)


def _counter(*samples: Sample) -> Callable[[Any], tuple[float, float]]:
    """A function that tells the weight of the entries >= a value, and of those > it."""
    totals = [np.concatenate(([0.0], np.cumsum(s.weights))) for s in samples]

    def not_below(value: Any) -> tuple[float, float]:
        at_least = above = 0.0
        for sample, total in zip(samples, totals, strict=True):
            at_least += total[-1] - total[np.searchsorted(sample.scores, value, "left")]
            above += total[-1] - total[np.searchsorted(sample.scores, value, "right")]
        return at_least, above

    return not_below


def micro_break_even(problem: Problem) -> float:
    """The cut is sought by counting, so that the n × K entries are never copied or sorted."""
    unknown = _counter(_sorted(*_coordinates(problem, np.isnan(problem.Y.data)), False))
    scores, weights, _ = problem[1:]

    def not_below(value: Any) -> tuple[float, float]:
        def count(first: int, last: int) -> tuple[float, float]:
            return weight_not_below(scores, weights, first, last, value)

        parts = in_threads(count, spans(len(scores), _ROWS_AT_ONCE), scores.size)
        at_least, above = np.array(parts).sum(axis=0) - unknown(value)
        return at_least, above

    return _break_even(_all_relevant(problem), not_below)


def _break_even(relevant: Sample, not_below: Callable[[Any], tuple[float, float]]) -> float:
    """Find the last relevant score that is within the cut, by bisection."""
    wanted = _weight(relevant)
    if wanted == 0.0:
        return float("nan")
    values = np.unique(relevant.scores[relevant.weights > 0])
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if not_below(values[middle])[1] < wanted else (middle + 1, high)
    at_least, above = not_below(values[low])
    hits_at_least, hits_above = _counter(relevant)(values[low])
    share = min(1.0, max(0.0, (wanted - above) / (at_least - above)))
    return float((hits_above + share * (hits_at_least - hits_above)) / wanted)
