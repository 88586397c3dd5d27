"""Criteria of a ranking: how the scores order relevant and irrelevant labels.

The rank r of a label counts from 1. `ties="worst"` puts tied irrelevant labels before relevant
ones (the values are then those of scikit-learn). `ties="random"` orders tied labels at random, by
`random_state` and the place of the label, so that a row has the same value however the work is
split. Unknown labels (NaN in Y) are taken out of the ranking. An instance with no relevant or no
irrelevant label has nothing to confuse: its losses are 0 and its average precision is 1.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels import ranking as kernels
from labelrank.metrics._common import (
    answer,
    check_pair,
    documented_like,
    in_threads,
    member_of,
    refuse_nan,
)
from labelrank.resources import blocks
from labelrank.rows import as_rows

_TIES = {"worst": kernels.WORST, "random": kernels.RANDOM}
_ROWS_AT_ONCE = 1 << 14


def row_criteria(
    Y: Any, scores: Any, *, ties: str = "worst", random_state: Any = None, threshold: Any = 0.0,
    ks: Sequence[int] = (),
) -> Array:  # fmt: skip
    """The table of every criterion (columns, see the kernel) of every instance (rows)."""
    Y, scores = check_pair(Y, scores)
    if ties not in _TIES:
        raise InputError(f"got ties={ties!r}; use one of {sorted(_TIES)}")
    for k in ks:
        if not isinstance(k, int | np.integer) or k < 1:
            raise InputError(f"got k={k!r}; give a whole number of at least 1")
    n, n_labels = scores.shape
    cuts = np.array(ks, dtype=np.int64)
    discount = 1.0 / np.log2(np.arange(2, n_labels + 2))
    out = np.empty((n, kernels.N_COLUMNS + 2 * len(cuts)))
    given = (as_rows(Y, np.float64), scores, _check_threshold(threshold, n), discount, cuts,
             _TIES[ties], _seed(ties, random_state))  # fmt: skip

    def fill(rows: slice) -> int:
        return kernels.criteria(*given, rows.start, rows.stop, out)

    refused = [row for row in in_threads(fill, blocks(n, _ROWS_AT_ONCE), scores.size) if row >= 0]
    if refused:
        refuse_nan(min(refused))
    return out


def _check_threshold(threshold: Any, n: int) -> Array:
    values = np.asarray(threshold, dtype=np.float64)
    if values.shape not in ((), (n,), (n, 1)) or np.isnan(values).any():
        raise InputError(
            f"got a threshold of shape {values.shape}; give one number, or {n} (one per row), "
            "none of them NaN"
        )
    return np.ascontiguousarray(np.broadcast_to(values.reshape(-1), (n,)))


def _seed(ties: str, random_state: Any) -> np.uint64:
    if ties != "random":
        return np.uint64(0)
    if isinstance(random_state, np.random.Generator):
        return np.uint64(random_state.integers(2**63))
    return np.uint64(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))


@documented_like(answer)
def of_rankings(
    values_of: Callable[[Array], Array], Y: Any, scores: Any, *, ties: str = "worst",
    random_state: Any = None, sample_weight: Any = None, per_instance: bool = False,
) -> float | Array:  # fmt: skip
    """The family of the criteria of a ranking: `values_of` reads them off the table.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
    ties : {"worst", "random"}
        The order of equal scores: irrelevant labels first, or at random by `random_state`.
    random_state : int, RandomState, Generator or None
        Only used by ``ties="random"``.
    """
    table = row_criteria(Y, scores, ties=ties, random_state=random_state)
    return answer(values_of(table).copy(), sample_weight=sample_weight, per_instance=per_instance)


@member_of(of_rankings)
def is_error(table: Array) -> Array:
    r"""1 if any relevant label is ranked behind an irrelevant one, else 0 (smaller is better).

    .. math:: \delta = [\exists\, c \in R,\ c' \in \bar R :\ r(c) > r(c')]

    0 for an instance with no relevant or no irrelevant label.

    Examples
    --------
    >>> is_error([[1, 0, 0], [1, 1, 0]], [[3, 2, 1], [3, 1, 2]])
    0.5
    """
    return table[:, kernels.IS_ERROR]


@member_of(of_rankings)
def error_set_size(table: Array) -> Array:
    r"""Number of wrongly ordered pairs of a relevant and an irrelevant label.

    .. math:: \delta = |\{(c, c') \in R \times \bar R :\ r(c) > r(c')\}|

    0 for an instance with no relevant or no irrelevant label.

    Examples
    --------
    >>> error_set_size([[1, 0, 0, 0]], [[2, 3, 4, 1]])
    2.0
    """
    return table[:, kernels.ERROR_SET_SIZE]


@member_of(of_rankings)
def margin_loss(table: Array) -> Array:
    r"""Ranks from the best irrelevant down to the worst relevant label.

    .. math:: \delta = \max\Big(0,\ \max_{c \in R} r(c) - \min_{c' \in \bar R} r(c')\Big)

    0 for an instance with no relevant or no irrelevant label.

    Examples
    --------
    >>> margin_loss([[1, 0, 0, 0]], [[1, 4, 3, 2]])
    3.0
    """
    return table[:, kernels.MARGIN_LOSS]


@member_of(of_rankings)
def average_precision_loss(table: Array) -> Array:
    r"""One minus the average precision of the relevant labels.

    .. math::

        \delta = 1 - \frac{1}{|R|} \sum_{c \in R} \frac{|\{c^* \in R :\ r(c^*) \le r(c)\}|}{r(c)}

    0 (average precision 1) for an instance with no relevant or no irrelevant label. With
    ``ties="worst"`` it is 1 minus scikit-learn's `label_ranking_average_precision_score`: labels
    that tie share the last rank of their group. That is no order of them, so a random order may
    do worse.

    Examples
    --------
    >>> average_precision_loss([[1, 0, 0]], [[2, 3, 1]])
    0.5
    """
    return table[:, kernels.AVERAGE_PRECISION_LOSS]


def average_precision(Y: Any, scores: Any, *, sample_weight: Any = None) -> float:
    """1 - `average_precision_loss`, so that larger is better."""
    return 1.0 - float(average_precision_loss(Y, scores, sample_weight=sample_weight))


@member_of(of_rankings)
def ranking_loss(table: Array) -> Array:
    r"""Share of the pairs of a relevant and an irrelevant label that are wrongly ordered.

    .. math:: \delta = \frac{|\{(c, c') \in R \times \bar R :\ r(c) > r(c')\}|}{|R|\,|\bar R|}

    0 for an instance with no relevant or no irrelevant label. With ``ties="worst"`` it equals
    scikit-learn's `label_ranking_loss`.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0], [0, 0, 1]], [[2, 3, 1], [1, 2, 3]])
    0.25
    """
    return table[:, kernels.RANKING_LOSS]


@member_of(of_rankings)
def one_error(table: Array) -> Array:
    r"""1 if the label ranked first is not relevant, else 0.

    .. math:: \delta = [\arg\min_c r(c) \notin R]

    0 for an instance with no relevant or no irrelevant label.

    Examples
    --------
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[2, 3, 1], [1, 2, 3]])
    0.5
    """
    return table[:, kernels.ONE_ERROR]


@documented_like(of_rankings)
def coverage(
    Y: Any, scores: Any, *, zero_based: bool = True, ties: str = "worst", random_state: Any = None,
    sample_weight: Any = None, per_instance: bool = False,
) -> float | Array:  # fmt: skip
    r"""How far down the ranking the last relevant label is found.

    .. math:: \delta = \max_{c \in R} r(c) - 1

    That is the number of labels ranked before the last relevant one (Schapire and Singer 2000).
    ``zero_based=False`` counts that label too, as scikit-learn's `coverage_error` does. Both are
    0 for an instance with no relevant label; an instance with no irrelevant label needs all its
    labels to be covered.

    Parameters
    ----------
    zero_based : bool
        Count the labels before the last relevant one (True), or that one too (False).

    Examples
    --------
    >>> coverage([[1, 0, 0]], [[2, 3, 1]])
    1.0
    """
    table = row_criteria(Y, scores, ties=ties, random_state=random_state)
    values = np.maximum(table[:, kernels.COVERAGE] - bool(zero_based), 0.0)
    return answer(values, sample_weight=sample_weight, per_instance=per_instance)


@documented_like(of_rankings)
def pro_loss(
    Y: Any, scores: Any, *, threshold: Any = 0.0, ties: str = "worst", random_state: Any = None,
    sample_weight: Any = None, per_instance: bool = False,
) -> float | Array:  # fmt: skip
    r"""Mean error of the four kinds of preference an instance states, a quarter each.

    .. math::

        \delta = \frac14 \sum_{G} \frac{1}{|G|} \sum_{(a, b) \in G}
            \Big([s_a < s_b] + \tfrac12 [s_a = s_b]\Big)

    Relevance and the order of relevant labels are judged together (Xu, Li and Zhou 2013). The
    groups G of pairs (preferred first) are: relevant over less relevant (strictly ordered
    grades only), relevant over irrelevant, relevant over the threshold, the threshold over
    irrelevant. A group without pairs contributes 0; so does, of an instance with no relevant
    label, all but the last group. Equal scores are half an error whatever `ties` is: the
    parameter is there only because all criteria of rankings have it.

    Parameters
    ----------
    threshold : float or array (n,)
        The score of the threshold label.

    Examples
    --------
    >>> pro_loss([[2, 1, 0]], [[1.0, 3.0, -1.0]])
    0.25
    """
    table = row_criteria(Y, scores, ties=ties, random_state=random_state, threshold=threshold)
    return answer(
        table[:, kernels.PRO_LOSS].copy(), sample_weight=sample_weight, per_instance=per_instance
    )


@documented_like(of_rankings)
def of_first_labels(
    values_of: Callable[[Array], Array], Y: Any, scores: Any, k: int | None = 5, *,
    ties: str = "worst", random_state: Any = None, sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:  # fmt: skip
    """The family of the criteria of the first labels.

    Parameters
    ----------
    k : int or None
        How many labels at the top of the ranking count; None for all.
    """
    k = max(1, np.shape(scores)[-1]) if k is None else k
    table = row_criteria(Y, scores, ties=ties, random_state=random_state, ks=(k,))
    return answer(values_of(table).copy(), sample_weight=sample_weight, per_instance=per_instance)


@member_of(of_first_labels)
def precision_at_k(table: Array) -> Array:
    r"""Share of relevant labels among the first k of the ranking (larger is better).

    .. math:: \frac1k\, |\{c \in R :\ r(c) \le k\}|

    It is divided by k even if the instance has fewer than k labels, relevant or at all; so it is
    0 for an instance with no relevant label.

    Examples
    --------
    >>> precision_at_k([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=2)
    0.5
    """
    return table[:, kernels.N_COLUMNS]


@member_of(of_first_labels)
def ndcg_at_k(table: Array) -> Array:
    r"""Discounted gain of the first k labels over the best possible one (larger is better).

    .. math::

        \frac{\sum_{c:\, r(c) \le k} Y_c / \log_2(1 + r(c))}
            {\max_{r^*} \sum_{c:\, r^*(c) \le k} Y_c / \log_2(1 + r^*(c))}

    The gain of a label is its grade. 0 for an instance with no relevant label. Without ties it
    equals scikit-learn's `ndcg_score`, which averages over tied labels; ``ties="worst"`` takes
    them by rising grade.

    Examples
    --------
    >>> round(ndcg_at_k([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=3), 4)
    0.9197
    """
    return table[:, kernels.N_COLUMNS + 1]
