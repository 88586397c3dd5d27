"""PRO loss (paper 002): prediction and relevance ordering judged together."""

from typing import Any

from labelrank._types import Array
from labelrank.kernels import ranking as kernels
from labelrank.metrics._row_criteria import criterion


def pro_loss(
    Y: Any,
    scores: Any,
    *,
    threshold: Any = 0.0,
    ties: str = "worst",
    random_state: Any = None,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Mean error of the four kinds of preference an instance states, a quarter each.

    .. math::

        \delta = \frac14 \sum_{G} \frac{1}{|G|} \sum_{(a, b) \in G}
            \Big([s_a < s_b] + \tfrac12 [s_a = s_b]\Big)

    The groups G of pairs (preferred first) are: relevant over less relevant (strictly ordered
    grades only), relevant over irrelevant, relevant over the threshold, the threshold over
    irrelevant. A group without pairs contributes 0; so does, of an instance with no relevant
    label, all but the last group. Equal scores are half an error whatever `ties` says (it is
    accepted for the sake of one signature).

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger more relevant, NaN unknown (left out).
    scores : array (n, K)
        Larger is more relevant; NaN is refused.
    threshold : float or array (n,)
        The score of the threshold label.
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
    >>> from labelrank.metrics import pro_loss
    >>> pro_loss([[2, 1, 0]], [[1.0, 3.0, -1.0]])
    0.25
    >>> pro_loss([[2, 1, 0]], [[3.0, 0.0, -1.0]])
    0.0625
    """
    return criterion(
        kernels.PRO_LOSS, Y, scores, ties=ties, random_state=random_state,
        sample_weight=sample_weight, per_instance=per_instance, threshold=threshold,
    )  # fmt: skip
