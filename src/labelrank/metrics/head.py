"""Criteria of the head of a ranking: precision and nDCG of its first k labels."""

from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.kernels import ranking as kernels
from labelrank.metrics._row_criteria import criterion


def precision_at_k(
    Y: Any,
    scores: Any,
    k: int = 5,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Share of relevant labels among the first k of the ranking (larger is better).

    .. math::

        \frac1k\, |\{c \in R :\ r(c) \le k\}|

    It is divided by k even if the instance has fewer than k labels, relevant or at all; so it is
    0 for an instance with no relevant label.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
    k : int
        How many labels of the head count.
    ties : {"worst", "random"}
        Irrelevant labels first among equal scores, or lots drawn by `random_state`.
    random_state : int, RandomState, Generator or None
        Only used by ``ties="random"``.
    sample_weight : array (n,) or None
        Weights of the instances in the mean.
    per_instance : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array (n,)

    Examples
    --------
    >>> from labelrank.metrics import precision_at_k
    >>> precision_at_k([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=2)
    0.5
    """
    return criterion(
        kernels.N_COLUMNS, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance, ks=(k,),
    )  # fmt: skip


def ndcg_at_k(
    Y: Any,
    scores: Any,
    k: int | None = 5,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Discounted gain of the first k labels over the best possible one (larger is better).

    .. math::

        \frac{\sum_{c:\, r(c) \le k} Y_c / \log_2(1 + r(c))}
            {\max_{r^*} \sum_{c:\, r^*(c) \le k} Y_c / \log_2(1 + r^*(c))}

    The gain of a label is its grade. 0 for an instance with no relevant label. Without ties it
    equals scikit-learn's `ndcg_score`, which averages over tied labels; ``ties="worst"`` takes
    them by rising grade.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
    k : int or None
        How many labels of the head count; None for all.
    ties : {"worst", "random"}
        Irrelevant labels first among equal scores, or lots drawn by `random_state`.
    random_state : int, RandomState, Generator or None
        Only used by ``ties="random"``.
    sample_weight : array (n,) or None
        Weights of the instances in the mean.
    per_instance : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array (n,)

    Examples
    --------
    >>> from labelrank.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=3), 4)
    0.9197
    """
    return criterion(
        kernels.N_COLUMNS + 1, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
        ks=(max(1, np.shape(scores)[-1]) if k is None else k,),
    )  # fmt: skip
