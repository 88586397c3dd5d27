"""Criteria of a ranking: how the scores order relevant and irrelevant labels.

The rank r of a label counts from 1. `ties="worst"` puts tied irrelevant labels before relevant
ones (the values are then those of scikit-learn); `ties="random"` draws lots, by `random_state`
and the place of the label, so that a row has the same value however the work is split.
Unknown labels (NaN in Y) are taken out of the ranking. An instance with no relevant or no
irrelevant label has nothing to confuse: its losses are 0 and its average precision is 1.
"""

from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.kernels import ranking as kernels
from labelrank.metrics._inputs import answer
from labelrank.metrics._row_criteria import criterion


def is_error(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""1 if any relevant label is ranked behind an irrelevant one, else 0 (smaller is better).

    .. math::

        \delta = [\exists\, c \in R,\ c' \in \bar R :\ r(c) > r(c')]

    0 for an instance with no relevant or no irrelevant label.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
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
    >>> from labelrank.metrics import is_error
    >>> is_error([[1, 0, 0], [1, 1, 0]], [[3, 2, 1], [3, 1, 2]])
    0.5
    """
    return criterion(
        kernels.IS_ERROR, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
    )  # fmt: skip


def error_set_size(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Number of wrongly ordered pairs of a relevant and an irrelevant label.

    .. math::

        \delta = |\{(c, c') \in R \times \bar R :\ r(c) > r(c')\}|

    0 for an instance with no relevant or no irrelevant label.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
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
    >>> from labelrank.metrics import error_set_size
    >>> error_set_size([[1, 0, 0, 0]], [[2, 3, 4, 1]])
    2.0
    """
    return criterion(
        kernels.ERROR_SET_SIZE, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
    )  # fmt: skip


def margin_loss(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Ranks from the best irrelevant down to the worst relevant label.

    .. math::

        \delta = \max\Big(0,\ \max_{c \in R} r(c) - \min_{c' \in \bar R} r(c')\Big)

    0 for an instance with no relevant or no irrelevant label.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
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
    >>> from labelrank.metrics import margin_loss
    >>> margin_loss([[1, 0, 0, 0]], [[1, 4, 3, 2]])
    3.0
    """
    return criterion(
        kernels.MARGIN_LOSS, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
    )  # fmt: skip


def average_precision_loss(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""One minus the average precision of the relevant labels.

    .. math::

        \delta = 1 - \frac{1}{|R|} \sum_{c \in R} \frac{|\{c^* \in R :\ r(c^*) \le r(c)\}|}{r(c)}

    0 (average precision 1) for an instance with no relevant or no irrelevant label. With
    ``ties="worst"`` it is 1 minus scikit-learn's `label_ranking_average_precision_score`: labels
    that tie share the last rank of their group (no order of them does, so lots may do worse).

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
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
    >>> from labelrank.metrics import average_precision_loss
    >>> average_precision_loss([[1, 0, 0]], [[2, 3, 1]])
    0.5
    """
    return criterion(
        kernels.AVERAGE_PRECISION_LOSS, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
    )  # fmt: skip


def ranking_loss(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Share of the pairs of a relevant and an irrelevant label that are wrongly ordered.

    .. math::

        \delta = \frac{|\{(c, c') \in R \times \bar R :\ r(c) > r(c')\}|}{|R|\,|\bar R|}

    0 for an instance with no relevant or no irrelevant label. With ``ties="worst"`` it equals
    scikit-learn's `label_ranking_loss`.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
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
    >>> from labelrank.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0], [0, 0, 1]], [[2, 3, 1], [1, 2, 3]])
    0.25
    """
    return criterion(
        kernels.RANKING_LOSS, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
    )  # fmt: skip


def one_error(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""1 if the label ranked first is not relevant, else 0.

    .. math::

        \delta = [\arg\min_c r(c) \notin R]

    0 for an instance with no relevant or no irrelevant label.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
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
    >>> from labelrank.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[2, 3, 1], [1, 2, 3]])
    0.5
    """
    return criterion(
        kernels.ONE_ERROR, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance,
    )  # fmt: skip


def coverage(
    Y: Any,
    scores: Any,
    *,
    zero_based: bool = True,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""How far down the ranking the last relevant label is found.

    .. math::

        \delta = \max_{c \in R} r(c) - 1

    That is the number of labels ranked before the last relevant one (Schapire and Singer; paper
    002). ``zero_based=False`` counts that label too, as scikit-learn's `coverage_error` does.
    0 for an instance with no relevant label, under both; an instance with no irrelevant label
    needs all its labels to be covered.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
    zero_based : bool
        Count the labels before the last relevant one (True), or that one too (False).
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
    >>> from labelrank.metrics import coverage
    >>> coverage([[1, 0, 0]], [[2, 3, 1]])
    1.0
    >>> coverage([[1, 0, 0]], [[2, 3, 1]], zero_based=False)
    2.0
    """
    shift = 1.0 if zero_based else 0.0
    values = criterion(
        kernels.COVERAGE, Y, scores, ties=ties, random_state=random_state,
        sample_weight=None, per_instance=True,
    )  # fmt: skip
    return answer(np.maximum(values - shift, 0.0), sample_weight, per_instance)
