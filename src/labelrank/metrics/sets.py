"""Criteria of a predicted label set: how far it is from the relevant one.

Any positive grade is relevant. Unknown labels (NaN in Y) count as neither right nor wrong,
whatever was predicted for them.
"""

from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.metrics._counts import Counts, check_sets, divide
from labelrank.metrics._inputs import answer, check_weights


def contingency_tables(Y: Any, predicted: Any, *, sample_weight: Any = None) -> Array:
    r"""The 2 × 2 table of each label (paper 003).

    .. math::

        T_k = \begin{pmatrix} \text{hits} & \text{misses} \\
            \text{false alarms} & \text{rightly left out} \end{pmatrix}

    Rows are "is relevant", "is not"; columns "is predicted", "is not" (scikit-learn's
    `multilabel_confusion_matrix` has both the other way round).

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance; unknown labels (NaN) are in no cell.
    predicted : 0/1 array or sparse matrix (n, K)
    sample_weight : array (n,) or None

    Returns
    -------
    array (K, 2, 2), whole numbers without weights

    Examples
    --------
    >>> from labelrank.metrics import contingency_tables
    >>> contingency_tables([[1], [1], [0]], [[1], [0], [0]]).tolist()
    [[[1, 1], [0, 1]]]
    """
    sets = check_sets(Y, predicted)
    return tables(sets.by_label(check_weights(sample_weight, sets.relevant.shape[0])))


def tables(counts: Counts) -> Array:
    """Contingency tables of counts by label."""
    misses = counts.relevant - counts.hits
    alarms = counts.predicted - counts.hits
    rest = counts.known - counts.relevant - alarms
    return np.stack([counts.hits, misses, alarms, rest], axis=1).reshape(-1, 2, 2)


def hamming_values(counts: Counts) -> Array:
    return divide(counts.relevant + counts.predicted - 2 * counts.hits, counts.known, 0.0)


def subset_values(counts: Counts) -> Array:
    return ((counts.hits == counts.relevant) & (counts.hits == counts.predicted)).astype(float)


def hamming_loss(
    Y: Any, predicted: Any, *, sample_weight: Any = None, per_instance: bool = False
) -> float | Array:
    r"""Share of the labels that are wrongly in or out of the set (smaller is better).

    .. math::

        \frac{|R \mathbin{\triangle} P|}{K}

    K counts the known labels of the instance; 0 for an instance without any.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    sample_weight : array (n,) or None
        Weights of the instances.
    per_instance : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array

    Examples
    --------
    >>> from labelrank.metrics import hamming_loss
    >>> hamming_loss([[1, 0, 1, 0]], [[1, 1, 0, 0]])
    0.5
    """
    values = hamming_values(check_sets(Y, predicted).by_instance())
    return answer(values, sample_weight, per_instance)


def subset_accuracy(
    Y: Any, predicted: Any, *, sample_weight: Any = None, per_instance: bool = False
) -> float | Array:
    r"""1 if the predicted set is exactly the relevant one, else 0 (larger is better).

    .. math::

        [R = P]

    1 for an instance with neither relevant nor predicted labels.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    sample_weight : array (n,) or None
        Weights of the instances.
    per_instance : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array

    Examples
    --------
    >>> from labelrank.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    values = subset_values(check_sets(Y, predicted).by_instance())
    return answer(values, sample_weight, per_instance)
