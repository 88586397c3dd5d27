"""Is a difference real? Tests over folds and over data sets, rank totals, robustness."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from labelrank._types import Float64
from labelrank.errors import InputError


class Test(NamedTuple):
    """A test statistic and the probability of one as extreme if there were no difference."""

    statistic: float
    p_value: float


class Friedman(NamedTuple):
    """Friedman's test over data sets, mean ranks (1 is best), Nemenyi's critical difference."""

    statistic: float
    p_value: float
    mean_ranks: Float64
    critical_difference: float
    pairwise_p_values: Float64


def paired_t_test(a: Any, b: Any) -> Test:
    """Student's t-test on paired values, e.g. the losses of two learners on the same folds.

    >>> round(paired_t_test([1.0, 2.0, 3.0], [1.1, 2.3, 3.2]).p_value, 3)
    0.074
    """
    return _tested(a, b, stats.ttest_rel, np.allclose)


def wilcoxon(a: Any, b: Any, *, alternative: str = "two-sided") -> Test:
    """Wilcoxon's signed-rank test on paired values; pairs without difference are left out.

    `alternative` is that the values of a and b differ, or one-sided: those of a are "less" or
    "greater".

    >>> wilcoxon([1, 2, 3, 4, 5, 6], [2, 3, 5, 6, 8, 9]).p_value
    0.03125
    >>> wilcoxon([1, 2, 3, 4, 5, 6], [2, 3, 5, 6, 8, 9], alternative="less").p_value
    0.015625
    """
    return _tested(a, b, partial(stats.wilcoxon, alternative=alternative), np.array_equal)


def _tested(a: Any, b: Any, test: Any, are_equal: Any) -> Test:
    a, b = (np.asarray(values, dtype=np.float64) for values in (a, b))
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise InputError(f"got {a.shape} and {b.shape} values; give two lists of equal length >= 2")
    if are_equal(a, b):
        return Test(0.0, 1.0)
    result = test(a, b)
    return Test(float(result.statistic), float(result.pvalue))


def holm(p_values: Any) -> Float64:
    """Holm's adjustment of several p-values tested together."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def mean_ranks(values: Any, *, smaller_is_better: bool = True) -> Float64:
    """Mean rank of each column (learner) over the rows (data sets); ties share their ranks."""
    return _ranks(values, smaller_is_better).mean(axis=0)


def rank_totals(values: Any, *, smaller_is_better: bool = True) -> Float64:
    """Sum over the rows of each column's rank, as in the last line of the PRO loss table.

    >>> rank_totals([[0.1, 0.2], [0.3, 0.4]]).tolist()
    [2.0, 4.0]
    """
    return _ranks(values, smaller_is_better).sum(axis=0)


def robustness(losses: Any) -> Float64:
    """Sum over data sets (rows) of a learner's loss over the worst loss there; smaller is better.

    >>> robustness([[1.0, 2.0], [4.0, 2.0]]).tolist()
    [1.5, 1.5]
    """
    losses = _table(losses)
    worst = losses.max(axis=1, keepdims=True)
    return np.where(worst > 0, losses / np.where(worst > 0, worst, 1.0), 0.0).sum(axis=0)


def friedman_nemenyi(
    values: Any, *, smaller_is_better: bool = True, alpha: float = 0.05
) -> Friedman:
    """Friedman's test over the rows (data sets) and Nemenyi's test between the columns (learners).

    Two learners differ significantly if their mean ranks differ by `critical_difference` or more
    (Demšar 2006).

    >>> found = friedman_nemenyi([[0.1, 0.2, 0.3]] * 8)
    >>> found.mean_ranks.tolist(), round(found.critical_difference, 3)
    ([1.0, 2.0, 3.0], 1.172)
    """
    table = _table(values)
    n, k = table.shape
    if n < 2 or k < 2:
        raise InputError(f"got {n} data sets and {k} learners; give at least two of each")
    ranks = _ranks(table, smaller_is_better).mean(axis=0)
    scale = np.sqrt(k * (k + 1) / (6.0 * n))
    quantile = float(stats.studentized_range.ppf(1 - alpha, k, np.inf)) / np.sqrt(2)
    gaps = np.abs(ranks[:, None] - ranks[None, :]) / scale
    pairwise = stats.studentized_range.sf(gaps * np.sqrt(2), k, np.inf)
    if k == 2:
        statistic, p_value = np.nan, pairwise[0, 1]
    elif np.ptp(table, axis=1).max() == 0:
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = stats.friedmanchisquare(*table.T)
    difference = float(quantile * scale)
    return Friedman(float(statistic), float(p_value), ranks, difference, np.minimum(pairwise, 1.0))


def _ranks(values: Any, smaller_is_better: bool) -> Float64:
    table = _table(values)
    return stats.rankdata(table if smaller_is_better else -table, axis=1)


def _table(values: Any) -> Float64:
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise InputError(
            f"got values of shape {table.shape}; give a full table, one row per data set"
        )
    return table
