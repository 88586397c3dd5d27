"""Precision, recall, F1 and Jaccard index of a predicted label set, under each average.

Any positive grade is relevant. Unknown labels (NaN in Y) count as neither right nor wrong,
whatever was predicted for them.
"""

from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._counts import Counts, check_sets, divide
from labelrank.metrics._inputs import check_weights

_AVERAGES = ("example", "micro", "macro", None)


def precision(
    Y: Any,
    predicted: Any,
    average: str | None = "example",
    *,
    zero_division: float = 0.0,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Share of the predicted labels that are relevant (larger is better).

    .. math::

        \frac{|R \cap P|}{|P|}

    As in scikit-learn, 0/0 gives `zero_division`, 0 by default (without a warning): so does
    an instance, or label, for which nothing is predicted.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    average : {"example", "micro", "macro", None}
        Mean over instances; one ratio of the counts of all labels; mean over labels; or the
        array (K,) of the values of the labels.
    zero_division : {0, 1, nan}
        Value of 0/0; nan leaves the instance or label out of the mean.
    sample_weight : array (n,) or None
        Weights of the instances.
    per_instance : bool
        Return the n values instead of their mean (`average="example"` only).

    Returns
    -------
    float, or array

    Examples
    --------
    >>> from labelrank.metrics import precision
    >>> precision([[1, 0], [1, 0]], [[1, 1], [1, 0]])
    0.75
    >>> round(precision([[1, 0], [1, 0]], [[1, 1], [1, 0]], average="micro"), 3)
    0.667
    """
    return _criterion(
        "precision", Y, predicted, average, zero_division, sample_weight, per_instance
    )  # fmt: skip


def recall(
    Y: Any,
    predicted: Any,
    average: str | None = "example",
    *,
    zero_division: float = 0.0,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Share of the relevant labels that are predicted (larger is better).

    .. math::

        \frac{|R \cap P|}{|R|}

    As in scikit-learn, 0/0 gives `zero_division`, 0 by default (without a warning): so does
    an instance, or label, for which nothing is relevant.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    average : {"example", "micro", "macro", None}
        Mean over instances; one ratio of the counts of all labels; mean over labels; or the
        array (K,) of the values of the labels.
    zero_division : {0, 1, nan}
        Value of 0/0; nan leaves the instance or label out of the mean.
    sample_weight : array (n,) or None
        Weights of the instances.
    per_instance : bool
        Return the n values instead of their mean (`average="example"` only).

    Returns
    -------
    float, or array

    Examples
    --------
    >>> from labelrank.metrics import recall
    >>> recall([[1, 1], [1, 0]], [[0, 1], [1, 0]])
    0.75
    """
    return _criterion(
        "recall", Y, predicted, average, zero_division, sample_weight, per_instance
    )  # fmt: skip


def f1(
    Y: Any,
    predicted: Any,
    average: str | None = "example",
    *,
    zero_division: float = 0.0,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Harmonic mean of precision and recall (larger is better).

    .. math::

        \frac{2\,|R \cap P|}{|R| + |P|}

    As in scikit-learn, 0/0 gives `zero_division`, 0 by default (without a warning): so does
    an instance, or label, with nothing relevant and nothing predicted; give ``zero_division=1``
    to call that a right answer. Macro-F1 is the mean of the F1 of the labels.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    average : {"example", "micro", "macro", None}
        Mean over instances; one ratio of the counts of all labels; mean over labels; or the
        array (K,) of the values of the labels.
    zero_division : {0, 1, nan}
        Value of 0/0; nan leaves the instance or label out of the mean.
    sample_weight : array (n,) or None
        Weights of the instances.
    per_instance : bool
        Return the n values instead of their mean (`average="example"` only).

    Returns
    -------
    float, or array

    Examples
    --------
    >>> from labelrank.metrics import f1
    >>> f1([[1, 1], [1, 0]], [[0, 1], [1, 0]], average="micro")
    0.8
    """
    return _criterion(
        "f1", Y, predicted, average, zero_division, sample_weight, per_instance
    )  # fmt: skip


def jaccard(
    Y: Any,
    predicted: Any,
    average: str | None = "example",
    *,
    zero_division: float = 0.0,
    sample_weight: Any = None,
    per_instance: bool = False,
) -> float | Array:
    r"""Shared labels over all labels of the two sets (larger is better; paper 004).

    .. math::

        \frac{|R \cap P|}{|R \cup P|}

    As in scikit-learn, 0/0 gives `zero_division`, 0 by default (without a warning): so does
    an instance, or label, with nothing relevant and nothing predicted.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance: 0 irrelevant, larger relevant, NaN unknown (left out).
    predicted : 0/1 array or sparse matrix (n, K)
    average : {"example", "micro", "macro", None}
        Mean over instances; one ratio of the counts of all labels; mean over labels; or the
        array (K,) of the values of the labels.
    zero_division : {0, 1, nan}
        Value of 0/0; nan leaves the instance or label out of the mean.
    sample_weight : array (n,) or None
        Weights of the instances.
    per_instance : bool
        Return the n values instead of their mean (`average="example"` only).

    Returns
    -------
    float, or array

    Examples
    --------
    >>> from labelrank.metrics import jaccard
    >>> jaccard([[1, 1, 0], [1, 0, 0]], [[0, 1, 0], [1, 0, 0]])
    0.75
    """
    return _criterion(
        "jaccard", Y, predicted, average, zero_division, sample_weight, per_instance
    )  # fmt: skip


def _criterion(
    name: str,
    Y: Any,
    predicted: Any,
    average: str | None,
    zero_division: float,
    sample_weight: Any,
    per_instance: bool,
) -> float | Array:
    if average not in _AVERAGES:
        raise InputError(f"got average={average!r}; use 'example', 'micro', 'macro' or None")
    if per_instance and average != "example":
        raise InputError(f"got per_instance with average={average!r}; it needs average='example'")
    empty = check_zero_division(zero_division)
    sets = check_sets(Y, predicted)
    weights = check_weights(sample_weight, sets.relevant.shape[0])
    by_instance, by_label = sets.by_instance(), sets.by_label(weights)
    if per_instance or average is None:
        return ratio(name, by_instance if per_instance else by_label, empty)
    return averaged_ratio(name, average, by_instance, by_label, weights, empty)


def check_zero_division(zero_division: float) -> float:
    """The value of 0/0 as a float."""
    if not (zero_division in (0, 1) or np.isnan(zero_division)):
        raise InputError(f"got zero_division={zero_division!r}; use 0, 1 or nan")
    return float(zero_division)


def ratio(name: str, counts: Counts, empty: float) -> Array:
    """Precision, recall, F1 or Jaccard index of every entry of the counts."""
    if name == "precision":
        return divide(counts.hits, counts.predicted, empty)
    if name == "recall":
        return divide(counts.hits, counts.relevant, empty)
    either = counts.relevant + counts.predicted
    if name == "f1":
        return divide(2 * counts.hits, either, empty)
    return divide(counts.hits, either - counts.hits, empty)


def averaged_ratio(
    name: str,
    average: str,
    by_instance: Counts,
    by_label: Counts,
    weights: Array | None,
    empty: float,
) -> float:
    """The ratio under one average, from counts already made (weighted, if by label)."""
    if average == "example":
        return _mean_of_known(ratio(name, by_instance, empty), weights)
    if average == "micro":
        return float(ratio(name, Counts(*(part.sum() for part in by_label)), empty))
    return _mean_of_known(ratio(name, by_label, empty), None)


def _mean_of_known(values: Array, weights: Array | None) -> float:
    known = ~np.isnan(values)
    chosen = None if weights is None else weights[known]
    if not known.any() or (chosen is not None and chosen.sum() == 0):
        return float("nan")
    return float(np.average(values[known], weights=chosen))
