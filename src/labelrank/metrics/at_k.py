"""Criteria of the first k labels of a ranking: precision and nDCG."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.kernels import ranking as kernels
from labelrank.metrics._family import documented_like, member_of
from labelrank.metrics._inputs import answer
from labelrank.metrics.ranking import of_rankings, row_criteria


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

    .. math::

        \frac1k\, |\{c \in R :\ r(c) \le k\}|

    It is divided by k even if the instance has fewer than k labels, relevant or at all; so it is
    0 for an instance with no relevant label.

    Examples
    --------
    >>> from labelrank.metrics import precision_at_k
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
    >>> from labelrank.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=3), 4)
    0.9197
    """
    return table[:, kernels.N_COLUMNS + 1]
