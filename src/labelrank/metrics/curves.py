"""Criteria of the instances ranked for a label: areas under curves, break-even point, cuts,
and whether probabilities keep their word.

Work goes label by label over threads; beside the scores only one column per thread is held.
Unknown labels (NaN in Y) are left out. Tied scores count by halves (the mean over their orders).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels.ranking import weighted_wins
from labelrank.metrics._common import (
    documented_like,
    in_threads,
    mean_of_known,
)
from labelrank.metrics.ranking import of_rankings
from labelrank.metrics.samples import ROWS_AT_ONCE, Problem, Sample
from labelrank.resources import blocks


class ByLabel(NamedTuple):
    """Area and break-even point of each label, and the area of all entries pooled (or NaN)."""

    areas: Array
    break_even_points: Array
    micro_area: float


def by_label(problem: Any, *, pooled: bool) -> ByLabel:
    """Sort each label's column once, and read both criteria off it."""
    everything = problem.relevant() if pooled else None
    found: list[tuple[float, float, float, float]] = []
    for block in problem.blocks():
        work = partial(_of_label, block, everything)
        found += in_threads(work, range(block.Y.shape[1]), block.scores.size)
    rows = np.array(found)
    total = 0.0 if everything is None else everything.weight
    return ByLabel(rows[:, 0], rows[:, 1], _ratio(rows[:, 2].sum(), total * rows[:, 3].sum()))


def _of_label(
    problem: Problem, everything: Sample | None, k: int
) -> tuple[float, float, float, float]:
    """Area, break-even point, the pairs won by all relevant entries, the irrelevant weight."""
    relevant, irrelevant = problem.column(k)
    weight = irrelevant.weight
    area = _ratio(weighted_wins(*relevant, *irrelevant), relevant.weight * weight)
    wins = 0.0 if everything is None else weighted_wins(*everything, *irrelevant)
    return area, _break_even(relevant, _counter(relevant, irrelevant)), wins, weight


def _ratio(numerator: float, denominator: float) -> float:
    return float(numerator / denominator) if denominator > 0 else float("nan")


@documented_like(of_rankings)
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
    average : {"macro", "micro", None}
        Mean over labels; one curve of all entries; or the array (K,) of the labels.

    Returns
    -------
    float (NaN if nothing can be compared), or array (K,)

    Examples
    --------
    >>> auc([[1, 0], [0, 0], [1, 0]], [[0.9, 0.1], [0.2, 0.3], [0.1, 0.2]], average=None)
    array([0.5, nan])
    """
    _check_average(average)
    found = by_label(Problem.of(Y, scores, sample_weight), pooled=average == "micro")
    if average == "micro":
        return found.micro_area
    return found.areas if average is None else mean_of_known(found.areas)


def labels_without_auc(Y: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """The number of labels that the macro average of `auc` leaves out."""
    return float(np.isnan(auc(Y, scores, None, sample_weight=sample_weight)).sum())


def _check_average(average: str | None) -> None:
    if average not in ("micro", "macro", None):
        raise InputError(f"got average={average!r}; use 'micro', 'macro' or None")


@documented_like(auc)
def break_even_point(
    Y: Any, scores: Any, average: str | None = "micro", *, sample_weight: Any = None
) -> float | Array:
    r"""The value at which precision and recall are equal (larger is better).

    .. math:: \frac{|\{i \text{ relevant}: r(i) \le n_+\}|}{n_+}

    The entries of a label (micro: of all labels) are ranked by score and cut after as many as
    are relevant, where precision and recall have the same denominator. Of the entries tied at
    the cut, the share that fits is counted. A label with no relevant instance is left out of the
    macro average (NaN with ``average=None``).

    Parameters
    ----------
    average : {"micro", "macro", None}
        One ranking of all entries; mean over labels; or the array (K,) of the labels.

    Returns
    -------
    float (NaN if nothing is relevant), or array (K,)

    Examples
    --------
    >>> break_even_point([[1], [1], [0], [0]], [[0.9], [0.2], [0.5], [0.1]])
    0.5
    """
    _check_average(average)
    problem = Problem.of(Y, scores, sample_weight)
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


def micro_break_even(problem: Any) -> float:
    """The cut is sought by counting, so that the n × K entries are never copied or sorted."""
    unknown = _counter(problem.unknown())

    def not_below(value: Any) -> tuple[float, float]:
        at_least, above = np.subtract(problem.not_below(value), unknown(value))
        return at_least, above

    return _break_even(problem.relevant(), not_below)


def _break_even(relevant: Sample, not_below: Callable[[Any], tuple[float, float]]) -> float:
    """Find the last relevant score that is within the cut, by bisection."""
    wanted = relevant.weight
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


@documented_like(auc)
def average_precision_by_label(Y: Any, scores: Any) -> Array:
    r"""Mean precision at the scores of the relevant instances, for each label (larger is better).

    .. math::

        \frac1{n_+} \sum_{i: \text{relevant}}
            \frac{|\{j \text{ relevant}: s_j \ge s_i\}|}{|\{j: s_j \ge s_i\}|}

    This is the area under the label's precision-recall curve, by steps.

    Returns
    -------
    array (K,), NaN for a label with no relevant instance

    Examples
    --------
    >>> average_precision_by_label([[1, 0], [0, 0], [1, 0]], [[3, 1], [2, 1], [1, 1]])
    array([0.83333333,        nan])
    """
    problem = Problem.of(Y, scores)

    def of_label(k: int) -> float:
        relevant, irrelevant = (sample.scores for sample in problem.column(k))
        hits = len(relevant) - np.searchsorted(relevant, relevant)
        alarms = len(irrelevant) - np.searchsorted(irrelevant, relevant)
        return float(np.mean(hits / (hits + alarms))) if len(relevant) else float("nan")

    return np.array(in_threads(of_label, range(problem.Y.shape[1]), problem.scores.size))


class PrecisionRecall(NamedTuple):
    """Criteria of all entries with a score of at least each threshold; thresholds rise."""

    thresholds: Array
    precision: Array
    recall: Array
    f1: Array


@documented_like(auc)
def precision_recall_curve(Y: Any, scores: Any, *, points: int = 200) -> PrecisionRecall:
    """Precision, recall and F1 of all entries together, over the threshold.

    The thresholds are scores of relevant entries, evenly spread over them from the lowest to the
    highest; the values there are exact. Entries are counted, not sorted, a few rows at a time.
    Give one column for the curve of one label.

    Parameters
    ----------
    points : int
        The largest number of thresholds.

    Returns
    -------
    PrecisionRecall
        Arrays ``thresholds, precision, recall, f1``, empty if nothing is relevant.

    Examples
    --------
    >>> curve = precision_recall_curve([[1, 0], [0, 1]], [[0.9, 0.5], [0.1, 0.4]])
    >>> curve.thresholds.tolist(), curve.recall.tolist()
    ([0.4, 0.9], [1.0, 0.5])
    """
    if points < 2:
        raise InputError(f"got points={points}; give at least 2")
    problem = Problem.of(Y, scores)
    relevant = problem.relevant().scores
    total = len(relevant)
    if not total:
        return PrecisionRecall(*np.empty((4, 0)))
    cuts = np.unique(relevant[np.linspace(0, total - 1, points).round().astype(np.int64)])
    hits = total - np.searchsorted(relevant, cuts)

    def passed(rows: slice) -> Array:
        return _passed(problem.scores[rows].ravel(), cuts)

    passes = in_threads(passed, blocks(len(problem.scores), ROWS_AT_ONCE), problem.scores.size)
    given = np.sum(passes, axis=0) - _passed(problem.unknown().scores, cuts)
    return PrecisionRecall(cuts, hits / given, hits / total, 2 * hits / (given + total))


def _passed(scores: Array, cuts: Array) -> Array:
    """How many scores are at least each of the rising cuts."""
    reached = np.bincount(np.searchsorted(cuts, scores, "right"), minlength=len(cuts) + 1)
    return np.cumsum(reached[::-1])[::-1][1:]


class Reliability(NamedTuple):
    """Of each bin that holds entries: mean probability, share relevant, number of entries."""

    predicted: Array
    observed: Array
    counts: Array
    expected_calibration_error: float
    brier_score: float


@documented_like(auc)
def reliability(Y: Any, probabilities: Any, *, bins: int = 10) -> Reliability:
    r"""The reliability diagram of all entries, in bins of equal width.

    The expected calibration error is the mean of \|predicted − observed\| over the bins, weighted
    by their entries; the Brier score is the mean of (probability − relevance)² over the entries.

    Parameters
    ----------
    probabilities : array (n, K)
        Of the label being relevant, from 0 to 1.
    bins : int
        Number of bins.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> found = reliability([[1, 0], [1, 0]], [[0.9, 0.1], [0.7, 0.1]])
    >>> found.observed.tolist(), round(found.expected_calibration_error, 2)
    ([0.0, 1.0, 1.0], 0.15)
    """
    problem = Problem.of(Y, probabilities)
    if bins < 1 or not ((problem.scores >= 0) & (problem.scores <= 1)).all():
        raise InputError("got numbers outside 0 to 1, or no bin; give probabilities, bins >= 1")
    parts = blocks(len(problem.scores), 1 << 12)
    whole = np.sum([_sums(problem.scores[rows].ravel(), bins) for rows in parts], axis=0)
    totals = whole - _sums(problem.entries(np.isnan(problem.Y.data))[0], bins)
    hits = _sums(problem.entries(problem.Y.data > 0)[0], bins)
    count, filled = totals[0].sum(), totals[0] > 0
    if not count:
        raise InputError("got no known entry; give relevance that is not all NaN")
    number, mass, squares = totals[:, filled]
    gaps = np.abs(mass - hits[0, filled])
    brier = (squares.sum() - 2 * hits[1].sum() + hits[0].sum()) / count
    return Reliability(
        mass / number, hits[0, filled] / number, number.astype(np.int64),
        float(gaps.sum() / count), float(brier),
    )  # fmt: skip


def _sums(probabilities: Array, bins: int) -> Array:
    """Number, sum and sum of squares of the probabilities in each bin."""
    values = probabilities.astype(np.float64)
    place = np.minimum((values * bins).astype(np.int64), bins - 1)
    powers = (np.ones_like(values), values, values**2)
    return np.array([np.bincount(place, power, minlength=bins) for power in powers])
