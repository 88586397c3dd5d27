"""Scores to answers: ranking, label set, top-k, thresholds.

The promise of the library: a ranking sorts the scores (equal scores: the smaller label index
first), and a predicted set is a prefix of the ranking.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError


def rank(scores: Array, top: int | None = None, members: Array | None = None) -> Array:
    """Label indices, best first; the labels of `members` (a 0/1 matrix), if given, come first.

    >>> rank(np.array([[0.2, 0.9, 0.2]]))
    array([[1, 0, 2]])
    >>> rank(np.array([[0.2, 0.9, 0.2]]), members=np.array([[0, 0, 1]]), top=2)
    array([[2, 1]])
    """
    scores = np.asarray(scores)
    n_labels = scores.shape[1]
    if top is not None and top < 1:
        raise InputError(f"got top={top}; give at least 1, or None for all labels")
    if members is not None and not _come_first(scores, members):
        order = np.lexsort((-scores, ~np.asarray(members, dtype=bool)), axis=1)
        return order[:, :top]
    if top is None or top * 4 > n_labels:
        return np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return _top(scores, top)


def _come_first(scores: Array, members: Array) -> bool:
    """Whether the members score above all other labels: the ranking has them first anyway."""
    members = np.asarray(members, dtype=bool)
    lowest = np.where(members, scores, np.inf).min(axis=1, initial=np.inf)
    return bool((lowest > np.where(members, -np.inf, scores).max(axis=1, initial=-np.inf)).all())


def _top(scores: Array, top: int) -> Array:
    """The first `top` of a stable descending sort, without sorting the rest."""
    kth = -np.partition(-scores, top - 1, axis=1)[:, top - 1 : top]
    above = scores > kth
    at = scores == kth
    room = top - above.sum(axis=1, keepdims=True)
    chosen = above | (at & (np.cumsum(at, axis=1) <= room))
    columns = np.nonzero(chosen)[1].reshape(len(scores), top)
    values = np.take_along_axis(scores, columns, axis=1)
    return np.take_along_axis(columns, np.argsort(-values, axis=1, kind="stable"), axis=1)


def above(scores: Array, threshold: float | Array = 0.0) -> Array:
    """The set of labels that score above the threshold, as a boolean matrix."""
    return np.asarray(scores) > threshold


def first(scores: Array, size: int) -> Array:
    """The set of the `size` best labels of each instance, as a boolean matrix."""
    scores = np.asarray(scores)
    members = np.zeros(scores.shape, dtype=bool)
    if size > 0:
        np.put_along_axis(members, rank(scores, min(size, scores.shape[1])), True, axis=1)
    return members


def indicator(members: Array, *, sparse: bool = False, dtype: npt.DTypeLike = np.int64) -> Any:
    """A boolean matrix as the 0/1 matrix that `predict` returns."""
    return sp.csr_array(members, dtype=dtype) if sparse else np.asarray(members, dtype=dtype)
