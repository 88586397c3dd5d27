"""Criteria of label ranking: how far the scores order the labels as the grades do.

Grades may tie, and so may scores. Unknown labels (NaN in Y) are left out. An instance whose
grades state no order has nothing to confuse: its value is 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._common import answer, check_pair, documented_like, member_of, refuse_nan
from labelrank.resources import blocks

_PAIRS_AT_ONCE = 1 << 22


@documented_like(answer)
def of_orders(
    values_of: Callable[[Array, Array], Array], Y: Any, scores: Any, *, sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:  # fmt: skip
    """The family of the criteria of orders, by blocks of instances; `values_of(grades, scores)`.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Grades: a larger one is preferred; NaN unknown (left out).
    scores : array (n, K)
        Larger is better.
    """
    return answer(
        order_values(values_of, Y, scores), sample_weight=sample_weight, per_instance=per_instance
    )


def order_values(values_of: Callable[[Array, Array], Array], Y: Any, scores: Any) -> Array:
    """One value per instance."""
    Y, scores = check_pair(Y, scores)
    rows = np.isnan(scores).any(axis=1)
    if rows.any():
        refuse_nan(int(rows.argmax()))
    at_once = _PAIRS_AT_ONCE // Y.shape[1] ** 2
    parts = [
        values_of(sp.csr_array(Y[part]).toarray(), scores[part].astype(np.float64))
        for part in blocks(Y.shape[0], at_once)
    ]
    return np.concatenate(parts)


def _signs(values: Array) -> Array:
    """Sign of each difference (n × K × K); 0 where a side is unknown."""
    with np.errstate(invalid="ignore"):
        differences = values[:, :, None] - values[:, None, :]
    return np.sign(np.nan_to_num(differences)).astype(np.float32)


def _known_scores(grades: Array, scores: Array) -> Array:
    """Finite numbers in the order of the scores, NaN where the grade is unknown."""
    places = rankdata(scores, axis=1)
    return np.where(np.isnan(grades), np.nan, places)


def _stated(values: Array, grades: Array) -> Array:
    """The values; 1 of instances whose grades state no order."""
    unknown = np.isnan(grades)
    low = np.where(unknown, np.inf, grades).min(axis=1)
    return np.where(low < np.where(unknown, -np.inf, grades).max(axis=1), values, 1.0)


@member_of(of_orders)
def kendall_tau(grades: Array, scores: Array) -> Array:
    r"""Kendall's tau-b of grades and scores (larger is better).

    .. math:: \tau_b = \frac{C - D}{\sqrt{(C + D + T_y)(C + D + T_s)}}

    C pairs are ordered alike and D the other way round; :math:`T_y` tie in the scores alone,
    :math:`T_s` in the grades alone. 0 where all scores tie, 1 where the grades state no order.
    Without ties it is 1 minus twice the share of wrongly ordered pairs.

    Examples
    --------
    >>> round(kendall_tau([[3, 2, 1]], [[0.9, 0.1, 0.5]]), 4)
    0.3333
    """
    y, s = _signs(grades), _signs(_known_scores(grades, scores))
    agreed = (y * s).sum(axis=(1, 2), dtype=np.float64)
    ordered = [np.abs(part).sum(axis=(1, 2), dtype=np.float64) for part in (y, s)]
    size = np.sqrt(ordered[0]) * np.sqrt(ordered[1])
    return _stated(np.divide(agreed, size, out=np.zeros_like(size), where=size > 0), grades)


@member_of(of_orders)
def kendall_tau_x(grades: Array, scores: Array) -> Array:
    r"""The tau of Emond and Mason (2002), which takes a tie for a judgement (larger is better).

    .. math:: \tau_x = \frac{1}{m (m - 1)} \sum_{a \ne b} y_{ab}\, s_{ab}

    Of the m known labels :math:`y_{ab}` is 1 if a has at least the grade of b, else -1, and
    :math:`s_{ab}` says so of the scores. It is 1 only where the same labels tie. 1 where fewer
    than two labels are known.

    Examples
    --------
    >>> kendall_tau_x([[2, 1, 1]], [[0.9, 0.1, 0.1]])
    1.0
    """
    known = ~np.isnan(grades)
    pairs = (known[:, :, None] & known[:, None, :]).astype(np.float32)
    diagonal = np.arange(grades.shape[1])
    pairs[:, diagonal, diagonal] = 0.0
    y, s = (np.where(_signs(v) >= 0, 1.0, -1.0) for v in (grades, _known_scores(grades, scores)))
    total = pairs.sum(axis=(1, 2), dtype=np.float64)
    agreed = (y * s * pairs).sum(axis=(1, 2), dtype=np.float64)
    return np.divide(agreed, total, out=np.ones_like(total), where=total > 0)


@member_of(of_orders)
def spearman(grades: Array, scores: Array) -> Array:
    r"""Spearman's rank correlation of grades and scores (larger is better).

    The correlation of the places, tied labels sharing their mean place. 0 where all scores tie,
    1 where the grades state no order.

    Examples
    --------
    >>> round(spearman([[3, 2, 1]], [[0.9, 0.1, 0.5]]), 4)
    0.5
    """
    known = ~np.isnan(grades)
    places = []
    for values in (grades, _known_scores(grades, scores)):
        ranks = np.where(known, rankdata(np.where(known, values, np.inf), axis=1), 0.0)
        middle = (known.sum(axis=1, keepdims=True) + 1) / 2  # the mean place of the known
        places.append(np.where(known, ranks - middle, 0.0))
    size = np.sqrt((places[0] ** 2).sum(axis=1)) * np.sqrt((places[1] ** 2).sum(axis=1))
    product = (places[0] * places[1]).sum(axis=1)
    return _stated(np.divide(product, size, out=np.zeros_like(size), where=size > 0), grades)


@documented_like(of_orders)
def top_agreement_at_k(
    Y: Any, scores: Any, k: int = 1, *, sample_weight: Any = None, per_instance: bool = False
) -> float | Array:
    r"""Share of the first k labels by the scores that are among the k best (larger is better).

    A label is among the k best if fewer than k labels have a larger grade: where grades tie about
    place k, any of them is right. Of tied scores the wrong labels are first. Where fewer than k
    labels are known, all of them count.

    Parameters
    ----------
    k : int

    Examples
    --------
    >>> top_agreement_at_k([[3, 2, 1, 0]], [[4, 1, 3, 2]], k=2)
    0.5
    """
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"got k={k!r}; give a whole number of at least 1")

    def values_of(grades: Array, scores: Array) -> Array:
        known = ~np.isnan(grades)
        n_better = (_signs(grades) < 0).sum(axis=2)
        is_right = (n_better < k) & known
        order = np.lexsort((is_right, -scores, ~known), axis=1)
        right = np.take_along_axis(is_right, order, axis=1)[:, :k]
        size = np.minimum(k, known.sum(axis=1))
        return np.where(size > 0, right.sum(axis=1) / np.maximum(size, 1), 1.0)

    values = order_values(values_of, Y, scores)
    return answer(values, sample_weight=sample_weight, per_instance=per_instance)
