"""Hits, false alarms and misses of predicted sets, counted by instance or by label.

Sparse predictions stay sparse: the work is proportional to the relevant and predicted labels.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.metrics._inputs import Array, check_same_shape
from labelrank.relevance import check_relevance


class Counts(NamedTuple):
    """Hits, predicted, relevant and known labels: of each instance, or of each label."""

    hits: Array
    predicted: Array
    relevant: Array
    known: Array


class Sets(NamedTuple):
    """The patterns of relevant, predicted (known ones only), hit and unknown labels."""

    relevant: sp.csr_array
    predicted: sp.csr_array
    hits: sp.csr_array
    unknown: sp.csr_array

    def by_instance(self) -> Counts:
        hits, predicted, relevant, unknown = (
            np.diff(part.indptr)
            for part in (self.hits, self.predicted, self.relevant, self.unknown)
        )
        return Counts(hits, predicted, relevant, self.relevant.shape[1] - unknown)

    def by_label(self, weights: Array | None) -> Counts:
        total = self.relevant.shape[0] if weights is None else weights.sum()
        hits, predicted, relevant, unknown = (
            _label_sums(part, weights)
            for part in (self.hits, self.predicted, self.relevant, self.unknown)
        )
        return Counts(hits, predicted, relevant, total - unknown)


def check_sets(Y: Any, predicted: Any) -> Sets:
    """Check a pair of relevance and 0/1 prediction, and intersect them."""
    Y = check_relevance(Y)
    chosen = _check_predicted(predicted)
    check_same_shape(Y, chosen, "predicted")
    relevant, unknown = _pattern(Y, Y.data > 0), _pattern(Y, np.isnan(Y.data))
    if unknown.nnz:
        chosen = _canonical(chosen - chosen.multiply(unknown))
    return Sets(relevant, chosen, _canonical(relevant.multiply(chosen)), unknown)


def _check_predicted(predicted: Any) -> sp.csr_array:
    if not sp.issparse(predicted):
        predicted = np.asarray(predicted)
        if predicted.ndim != 2 or predicted.dtype.kind not in "biuf":
            raise InputError(
                f"got predicted of {predicted.ndim} dimension(s) and type {predicted.dtype}; "
                "give a 0/1 matrix (instances x labels)"
            )
    chosen = _canonical(sp.csr_array(predicted, copy=sp.issparse(predicted)))
    if not (chosen.data == 1).all():
        raise InputError("got predicted values other than 0 and 1; cut the scores first")
    return chosen.astype(np.int8)


def _canonical(matrix: Any) -> sp.csr_array:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _pattern(Y: sp.csr_array, chosen: Array) -> sp.csr_array:
    parts = (chosen.astype(np.int8), Y.indices, Y.indptr)
    return _canonical(sp.csr_array(parts, shape=Y.shape, copy=True))


def _label_sums(part: sp.csr_array, weights: Array | None) -> Array:
    spread = None if weights is None else np.repeat(weights, np.diff(part.indptr))
    return np.bincount(part.indices, weights=spread, minlength=part.shape[1])


def divide(numerator: Any, denominator: Any, empty: float) -> Array:
    """The ratio, and `empty` where it would be 0/0."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    result = np.full(numerator.shape, float(empty))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)
