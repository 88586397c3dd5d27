"""The passive-aggressive step on the arcs of one instance, and sums of such steps."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from labelrank._types import Float64
from labelrank.rows import of_lengths

_SWEEPS = 10
_CLOSE = 1e-9  # an arc whose margin lacks no more than this share of m is no longer violated

# The rows of D that a step has touched, each over Θ and the labels.
Weights = dict[int, Float64]


def step(
    scores: Float64, better: Sequence[int], worse: Sequence[int], norm: float, margin: float,
    most: float | None,
) -> Float64:  # fmt: skip
    """Coefficients of one step: `scores` of Θ and the labels, the arcs, and ‖x‖²."""
    moved = np.zeros(len(scores))
    lacking = margin - (scores[list(better)] - scores[list(worse)])
    if not norm > 0 or not (lacking > _CLOSE * margin).any():
        return moved
    s, c, used = scores.tolist(), moved.tolist(), [0.0] * len(better)
    for _ in range(_SWEEPS):
        is_calm = True
        for i, (a, b) in enumerate(zip(better, worse, strict=True)):
            lack = margin - (s[a] - s[b])
            if lack <= _CLOSE * margin:
                continue
            by = lack / (2 * norm)
            by = by if most is None else min(by, most - used[i])
            if by > 0:
                is_calm = False
                used[i] += by
                c[a], c[b] = c[a] + by, c[b] - by
                s[a], s[b] = s[a] + by * norm, s[b] - by * norm
        if is_calm:
            break
    return np.array(c)


def row(X: sp.csr_array, i: int) -> sp.csr_array:
    span = slice(X.indptr[i], X.indptr[i + 1])
    return of_lengths([span.stop - span.start], X.indices[span], X.data[span], X.shape[1])


def shift(weights: Weights, X: sp.csr_array, width: int) -> Float64:
    """X·D, for Θ and the labels; features that no step has touched are skipped."""
    used = [j for j in np.unique(X.indices).tolist() if j in weights]
    if not used:
        return np.zeros((X.shape[0], width))
    place = np.full(X.shape[1], -1)
    place[used] = np.arange(len(used))
    touched = place[X.indices] >= 0
    ends = np.concatenate(([0], np.cumsum(touched)))[X.indptr]
    columns = of_lengths(np.diff(ends), place[X.indices][touched], X.data[touched], len(used))
    return np.asarray(columns @ np.vstack([weights[j] for j in used]), np.float64)


def add(weights: Weights, x: sp.csr_array, c: Float64) -> None:
    """D += x ⊗ c, in new rows: the old ones may be wanted again."""
    if c.any():
        for j, value in zip(x.indices.tolist(), x.data.tolist(), strict=True):
            weights[j] = weights.get(j, 0.0) + value * c
