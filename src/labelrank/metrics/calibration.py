"""Do probabilities keep their word? Of the entries given 0.8, eight in ten should be relevant."""

from typing import Any, NamedTuple

import numpy as np

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._family import documented_like
from labelrank.metrics.curves import Problem, auc
from labelrank.resources import blocks

_ROWS_AT_ONCE = 1 << 12


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
    >>> from labelrank.metrics import reliability
    >>> found = reliability([[1, 0], [1, 0]], [[0.9, 0.1], [0.7, 0.1]])
    >>> found.observed.tolist(), round(found.expected_calibration_error, 2)
    ([0.0, 1.0, 1.0], 0.15)
    """
    problem = Problem.of(Y, probabilities)
    if bins < 1 or not ((problem.scores >= 0) & (problem.scores <= 1)).all():
        raise InputError("got numbers outside 0 to 1, or no bin; give probabilities, bins >= 1")
    parts = blocks(len(problem.scores), _ROWS_AT_ONCE)
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
