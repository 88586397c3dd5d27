"""Hits, false alarms and misses of predicted sets, counted by instance or by label.

Sparse predictions stay sparse: the work is proportional to the relevant and predicted labels.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.metrics._inputs import check_same_shape, spans
from labelrank.relevance import check_relevance

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
        return Counts(
            hits, _row_counts(self.predicted) - strays, relevant, self.hits.shape[1] - unknown
        )

    def by_label(self, weights: Array | None) -> Counts:
        total = self.hits.shape[0] if weights is None else weights.sum()
        hits, predicted, relevant, unknown, strays = (
            _label_sums(part, weights)
            for part in (self.hits, self.predicted, self.relevant, self.unknown, self.strays)
        )
        return Counts(hits, predicted - strays, relevant, total - unknown)


def check_sets(Y: Any, predicted: Any) -> Sets:
    """Check a pair of relevance and 0/1 prediction, and intersect them."""
    Y = check_relevance(Y)
    chosen = _check_predicted(predicted)
    check_same_shape(Y, chosen, "predicted")
    relevant, unknown = _pattern(Y, Y.data > 0), _pattern(Y, np.isnan(Y.data))
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
    return _pattern(pattern, chosen[rows, pattern.indices])


def _canonical(matrix: Any) -> sp.csr_array:
    csr = sp.csr_array(matrix)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _pattern(Y: sp.csr_array, chosen: Array) -> sp.csr_array:
    parts = (chosen.astype(np.int8), Y.indices, Y.indptr)
    return _canonical(sp.csr_array(parts, shape=Y.shape, copy=True))


def _row_counts(part: Any) -> Array:
    return np.diff(part.indptr) if sp.issparse(part) else np.count_nonzero(part, axis=1)


def _label_sums(part: Any, weights: Array | None) -> Array:
    if not sp.issparse(part):
        return np.count_nonzero(part, axis=0) if weights is None else _weighted(part, weights)
    spread = None if weights is None else np.repeat(weights, np.diff(part.indptr))
    return np.bincount(part.indices, weights=spread, minlength=part.shape[1])


def _weighted(members: Array, weights: Array) -> Array:
    """Weights of the members of each column, by blocks of rows: a product makes floats."""
    pieces = spans(len(members), _ROWS_AT_ONCE)
    return np.sum([weights[a:b] @ members[a:b] for a, b in pieces], axis=0)


def divide(numerator: Any, denominator: Any, empty: float) -> Array:
    """The ratio, and `empty` where it would be 0/0."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    result = np.full(numerator.shape, float(empty))
    return np.divide(numerator, denominator, out=result, where=denominator > 0)
