"""Hits, false alarms and misses of predicted sets, counted by instance or by label.

Sparse predictions stay sparse: the work is proportional to the relevant and predicted labels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._inputs import check_same_shape, check_weights, mean_of_known
from labelrank.relevance import check_relevance, relevant_part, unknown_part
from labelrank.resources import blocks

_ROWS_AT_ONCE = 1 << 14


class Counts(NamedTuple):
    """Hits, predicted, relevant and known labels: of each instance, or of each label."""

    hits: Array
    predicted: Array
    relevant: Array
    known: Array


class Sets(NamedTuple):
    """Patterns of relevant and unknown labels, and which of each were predicted."""

    relevant: sp.csr_array
    unknown: sp.csr_array
    hits: sp.csr_array
    strays: sp.csr_array
    predicted: Any

    def by_instance(self) -> Counts:
        hits, relevant, unknown, strays = (
            np.diff(part.indptr) for part in (self.hits, self.relevant, self.unknown, self.strays)
        )
        chosen = self.predicted
        given = np.diff(chosen.indptr) if sp.issparse(chosen) else np.count_nonzero(chosen, axis=1)
        return Counts(hits, given - strays, relevant, self.hits.shape[1] - unknown)

    def by_label(self, weights: Array | None) -> Counts:
        total = self.hits.shape[0] if weights is None else weights.sum()
        hits, predicted, relevant, unknown, strays = (
            _label_sums(part, weights)
            for part in (self.hits, self.predicted, self.relevant, self.unknown, self.strays)
        )
        return Counts(hits, predicted - strays, relevant, total - unknown)


class Counted(NamedTuple):
    """All that ratios of counts need: counts by label are weighted; `empty` is the value of 0/0."""

    by_instance: Counts
    by_label: Counts
    weights: Array | None
    empty: float

    @classmethod
    def of(cls, Y: Any, predicted: Any, sample_weight: Any, zero_division: float) -> "Counted":
        """Count the sets once, for any number of ratios."""
        if not (zero_division in (0, 1) or np.isnan(zero_division)):
            raise InputError(f"got zero_division={zero_division!r}; use 0, 1 or nan")
        sets = check_sets(Y, predicted)
        weights = check_weights(sample_weight, sets.relevant.shape[0])
        return cls(sets.by_instance(), sets.by_label(weights), weights, float(zero_division))

    def averaged(self, ratio: Callable[[Counts], tuple[Array, Array]], average: str) -> float:
        """The ratio under one average."""
        if average == "example":
            return mean_of_known(divide(*ratio(self.by_instance), self.empty), self.weights)
        if average == "micro":
            pooled = Counts(*(part.sum() for part in self.by_label))
            return float(divide(*ratio(pooled), self.empty))
        return mean_of_known(divide(*ratio(self.by_label), self.empty))


def check_sets(Y: Any, predicted: Any) -> Sets:
    """Check a pair of relevance and 0/1 prediction, and intersect them."""
    Y = check_relevance(Y)
    chosen = _check_predicted(predicted)
    check_same_shape(Y, chosen, "predicted")
    relevant, unknown = _pattern(relevant_part(Y)), _pattern(unknown_part(Y))
    return Sets(relevant, unknown, _shared(relevant, chosen), _shared(unknown, chosen), chosen)


def _check_predicted(predicted: Any) -> Any:
    """A canonical pattern if sparse, else a boolean matrix."""
    if sp.issparse(predicted):
        chosen = _canonical(sp.csr_array(predicted, copy=True))
        if not (chosen.data == 1).all():
            raise InputError("got predicted values other than 0 and 1; cut the scores first")
        return chosen.astype(np.int8)
    dense = np.asarray(predicted)
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        raise InputError(
            f"got predicted of {dense.ndim} dimension(s) and type {dense.dtype}; "
            "give a 0/1 matrix (instances x labels)"
        )
    members = dense.astype(bool, copy=False)
    if dense.dtype.kind != "b" and not np.array_equal(dense, members):
        raise InputError("got predicted values other than 0 and 1; cut the scores first")
    return members


def _shared(pattern: sp.csr_array, chosen: Any) -> sp.csr_array:
    """The entries of the pattern that were chosen."""
    if sp.issparse(chosen):
        return _canonical(pattern.multiply(chosen))
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    found = pattern.copy()
    found.data = chosen[rows, pattern.indices].astype(np.int8)
    return _canonical(found)


def _pattern(part: sp.csr_array) -> sp.csr_array:
    ones = np.ones(part.nnz, np.int8)
    return sp.csr_array((ones, part.indices, part.indptr), shape=part.shape)


def _canonical(matrix: Any) -> sp.csr_array:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _label_sums(part: Any, weights: Array | None) -> Array:
    """How often each label occurs, or the weight of the instances that have it."""
    if sp.issparse(part):
        spread = None if weights is None else np.repeat(weights, np.diff(part.indptr))
        return np.bincount(part.indices, weights=spread, minlength=part.shape[1])
    if weights is None:
        return np.count_nonzero(part, axis=0)
    # By blocks of rows, for a product makes floats of the members.
    pieces = [weights[rows] @ part[rows] for rows in blocks(len(part), _ROWS_AT_ONCE)]
    return np.sum(pieces, axis=0)


def divide(numerator: Any, denominator: Any, empty: float) -> Array:
    """The ratio, and `empty` where it would be 0/0."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    result = np.full(numerator.shape, float(empty))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)
