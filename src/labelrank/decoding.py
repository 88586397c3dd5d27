"""Scores to answers: ranking, label set, top-k, thresholds, probabilities.

The promise of the library: a ranking sorts the scores (equal scores: the smaller label index
first), a predicted set is a prefix of the ranking, and probabilities never rise along it.
"""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.relevance import LabelCounts
from labelrank.rows import count_zeros, without_features

_HALVINGS = 30
# A share of zeros up to which 0 is a number and no mark of absence.
_SELDOM = 0.1
_GUESSED = (
    "the probabilities of {} are a guess from the scores of each row, not calibrated; "
    "put it into a CalibratedRanker, which learns them from held-out folds"
)


def rank(scores: Array, top: int | None = None, members: Array | None = None) -> Array:
    """Label indices, best first; the labels of `members` (a 0/1 matrix), if given, come first.

    >>> rank(np.array([[0.2, 0.9, 0.2]]))
    array([[1, 0, 2]])
    >>> rank(np.array([[0.2, 0.9, 0.2]]), members=np.array([[0, 0, 1]]), top=2)
    array([[2, 1]])
    """
    scores = _matrix(scores)
    n_labels = scores.shape[1]
    if top is not None and (type(top) is bool or not isinstance(top, Integral) or top < 1):
        raise InputError(f"got top={top!r}; give a whole number of at least 1, or None for all")
    if members is not None and not _come_first(scores, members):
        order = np.lexsort((-scores, ~np.asarray(members, dtype=bool)), axis=1)
        return order[:, :top]
    if top is None or top * 4 > n_labels:
        return np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return _top(scores, top)


def _matrix(scores: Any) -> Array:
    try:
        scores = np.asarray(scores)
    except ValueError as error:
        raise InputError("got scores in rows of unequal length; give one per label") from error
    if scores.ndim != 2 or scores.dtype.kind not in "biuf":
        raise InputError("got scores that are no matrix of numbers; give a row per instance")
    return scores


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


class Probable:
    """Gives a learner `predict_proba`.

    A learner whose scores mean probabilities overrides `link`; one that has held-out scores keeps
    a `Calibration` of them in `calibration_`.
    """

    target_: Any
    cardinality_: float
    calibration_: Any
    _set_is_cut: bool
    _ready: Callable[[Any], Any]
    _stacked: Callable[[Any, Any], Array]
    _answered: Callable[[Any], Any]

    def predict_proba(self, X: Any) -> Any:
        """Probability of each label to be relevant (n × K); after a class vector rows sum to 1.

        They never contradict `rank` and `predict`: in each row a label that is ranked higher, or
        is in the set where another is not, is at least as probable. Where `has_probabilities` is
        False they are only guessed from the scores of the row, with a warning.
        """
        if not self.has_probabilities:
            warnings.warn(_GUESSED.format(type(self).__name__), UserWarning, stacklevel=2)
        return self._stacked(self._probabilities, self._ready(X))

    @property
    def has_probabilities(self) -> bool:
        """Whether probabilities follow from the model, or are calibrated on held-out scores."""
        is_own = type(self).link is not Probable.link
        return is_own or getattr(self, "calibration_", None) is not None

    def _probabilities(self, X: Any) -> Array:
        scores, members = self._answered(X)
        shares = self.link(scores)
        if self.target_.one_class:
            sums = shares.sum(axis=1, keepdims=True)
            return np.asarray(shares / np.maximum(sums, np.finfo(shares.dtype).tiny))
        if self._set_is_cut:
            return shares
        return falling(shares, rank(scores, None, members))

    def link(self, scores: Array) -> Array:
        """Probabilities of scores, in their order."""
        if getattr(self, "calibration_", None) is not None:
            return np.asarray(self.calibration_.probabilities(scores))
        if self.target_.one_class:
            from scipy.special import softmax

            return np.asarray(softmax(np.asarray(scores, np.float64), axis=1))
        return guessed(scores, self.cardinality_)


class Prior:
    """Gives a learner the answer where nothing is known: labels by how often they are relevant.

    That is so for an instance whose features are all 0; unless these can be told from others, by
    an intercept or a split, and such instances were learned, or 0 is seldom: then it is a number
    as others, and no mark of absence.
    """

    target_: Any
    n_seen_: int
    n_features_in_: int
    _scores: Callable[[Any], Array]
    # Whether instances without any feature can be learned: by an intercept, or a split of a tree.
    _learns_silence = True
    label_counts_: LabelCounts | None = None

    def _silent(self, X: Any) -> Array:
        """The instances of which nothing is known, see `Prior`."""
        counts = self.label_counts_
        if counts is None or (self._learns_silence and self._zero_is_a_number(counts)):
            return np.zeros(X.shape[0], bool)
        return self._without_features(X)

    def _zero_is_a_number(self, counts: LabelCounts) -> bool:
        n_values = self.n_seen_ * self.n_features_in_
        return counts.n_silent > 0 or counts.n_zeros <= _SELDOM * n_values

    def _count_labels(self, X: Any, Y: sp.csr_array) -> None:
        n_silent = int(np.count_nonzero(self._without_features(X)))
        if self.label_counts_ is not None:
            n_zeros = 0 if X.dtype.kind == "O" else count_zeros(X)
            self.label_counts_ = self.label_counts_.add(Y, n_silent, n_zeros)

    def _without_features(self, X: Any) -> Array:
        return without_features(X)

    def _prior(self) -> Array:
        """The scores (K,) of an instance of which nothing is known: log odds of the labels."""
        shares = self.label_shares()
        return np.log(shares) if self.target_.one_class else np.log(shares / (1.0 - shares))

    def label_shares(self) -> Array:
        """How often each label is relevant where it is known (K,); of classes they sum to 1."""
        shares = np.asarray(self.label_counts_.shares())  # type: ignore[union-attr]
        return shares / shares.sum() if self.target_.one_class else shares

    def _scored(self, X: Any) -> Array:
        return self._completed(X, self._scores(X))

    def _completed(self, X: Any, scores: Array) -> Array:
        """The scores, or the prior ones of instances of which nothing is known."""
        if np.isnan(scores).any():
            raise InputError("got features that make scores overflow; scale them first")
        silent = self._silent(X)
        if not silent.any():
            return scores
        return np.where(silent[:, None], self._prior().astype(scores.dtype), scores)


def has_probabilities(estimator: Any) -> bool:
    """Whether `predict_proba` of any estimator is there, and more than a guess."""
    return hasattr(estimator, "predict_proba") and getattr(estimator, "has_probabilities", True)


def guessed(scores: Array, expected: float) -> Array:
    """Probabilities from the scores of each row alone: their sum is `expected`, nearly.

    The log odds are the scores in standard deviations of the row, less a constant. A single label
    has the log odds of its score.

    >>> guessed(np.array([[9.0, 1.0, 1.0, 1.0]]), 1.5).round(2)
    array([[0.77, 0.24, 0.24, 0.24]])
    """
    from scipy.special import expit

    scores = np.asarray(scores, np.float64)
    n_labels = scores.shape[1]
    if n_labels < 2:
        return np.asarray(expit(scores))
    spread = scores.std(axis=1, keepdims=True)
    odds = (scores - scores.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    wanted = min(max(float(expected), 1e-3), n_labels - 1e-3)
    high = np.full((len(scores), 1), n_labels + 10.0)
    low = -high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_many = expit(odds - middle).sum(axis=1, keepdims=True) > wanted
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    return np.asarray(expit(odds - low))


def falling(values: Array, order: Array) -> Array:
    """The nearest values (by squares: the sums of rows stay) that never rise along `order`.

    >>> falling(np.array([[0.4, 0.9, 0.3]]), np.array([[0, 1, 2]]))
    array([[0.65, 0.65, 0.3 ]])
    """
    along = np.take_along_axis(values, order, axis=1)
    rising = np.flatnonzero((np.diff(along, axis=1) > 0).any(axis=1))
    if not len(rising):
        return values
    from sklearn.isotonic import isotonic_regression

    for row in rising:
        along[row] = isotonic_regression(along[row], increasing=False)
    found = np.empty_like(values)
    np.put_along_axis(found, order, along, axis=1)
    return found
