"""Areas under curves of scores that are never together: counts of scores, which add up.

A score is known by the first 16 bits of its single precision (sign, exponent, 7 bits), so one bin
is less than 1 % of its score wide. Two entries in one bin count as a tie: an area is wrong by at
most half of the pairs that share a bin, and this much is told.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.kernels.ranking import weighted_wins
from labelrank.metrics._common import check_pair, mean_of_known, refuse_nan

_BINS = 1 << 16


class Histograms(NamedTuple):
    """How many relevant and irrelevant entries of each label are in each bin (labels × bins)."""

    relevant: sp.csr_array
    irrelevant: sp.csr_array

    @classmethod
    def of(cls, Y: Any, scores: Any) -> Self:
        """Those of some instances."""
        Y, scores = check_pair(Y, scores)
        bad = np.isnan(scores).any(axis=1)
        if bad.any():
            refuse_nan(int(bad.argmax()))
        bins = _bins(scores)
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        labels = np.broadcast_to(np.arange(Y.shape[1]), bins.shape)
        every = _counted(labels.ravel(), bins.ravel(), Y.shape[1])
        relevant, unknown = (
            _counted(Y.indices[chosen], bins[rows[chosen], Y.indices[chosen]], Y.shape[1])
            for chosen in (Y.data > 0, np.isnan(Y.data))
        )
        return cls(relevant, sp.csr_array(every - relevant - unknown))

    def merged(self, other: Self) -> Self:
        """With the entries of other instances."""
        pairs = zip(self, other, strict=True)
        return type(self)(*(sp.csr_array(a + b) for a, b in pairs))

    def criteria(self) -> dict[str, float]:
        """The areas, and the most that one of them may be wrong by.

        >>> Y, scores = [[1, 0], [0, 1], [0, 0]], [[0.9, 0.1], [0.2, 0.7], [0.5, 0.6]]
        >>> Histograms.of(Y, scores).criteria()["micro_auc"]
        1.0
        """
        by_label = [_area(*(part[[k]] for part in self)) for k in range(self.relevant.shape[0])]
        areas, errors = np.array(by_label).T
        pooled = (sp.csr_array(part.sum(axis=0)[None]) for part in self)
        micro, error = _area(*pooled)
        known = ~np.isnan(areas)
        macro_error = float(errors[known].mean()) if known.any() else 0.0
        return {
            "micro_auc": micro,
            "macro_auc": mean_of_known(areas),
            "macro_auc_left_out": float((~known).sum()),
            "auc_error": max(macro_error, 0.0 if np.isnan(error) else error),
        }


def _bins(scores: Array) -> Array:
    """The bin of each score; bins rise with the scores."""
    with np.errstate(over="ignore"):  # what is too large is infinite
        single = scores.astype(np.float32) + np.float32(0.0)  # -0.0 is 0.0
    bits = single.view(np.uint32)
    sign = np.uint32(1 << 31)
    rising = np.where(bits & sign, ~bits, bits | sign)
    return (rising >> np.uint32(16)).astype(np.int64)


def _counted(labels: Array, bins: Array, n_labels: int) -> sp.csr_array:
    keys, counts = np.unique(labels.astype(np.int64) * _BINS + bins, return_counts=True)
    where = keys // _BINS, keys % _BINS
    return sp.csr_array((counts.astype(np.int64), where), shape=(n_labels, _BINS))


def _area(relevant: sp.csr_array, irrelevant: sp.csr_array) -> tuple[float, float]:
    """Area of one label, and how wrong it may be; NaN where one kind is missing."""
    pairs = float(relevant.sum()) * float(irrelevant.sum())
    if not pairs:
        return float("nan"), float("nan")
    shared = float(relevant.multiply(irrelevant).sum())
    samples = []
    for part in (relevant, irrelevant):
        part.eliminate_zeros()
        part.sort_indices()
        samples += [part.indices.astype(float), part.data.astype(float)]
    return float(weighted_wins(*samples) / pairs), 0.5 * shared / pairs
