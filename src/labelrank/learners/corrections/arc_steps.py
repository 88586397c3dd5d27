"""The passive-aggressive step on the arcs of one instance, and sums of such steps."""

from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.rows import of_lengths

_SWEEPS = 10
_CLOSE = 1e-9  # an arc whose margin lacks no more than this share of m is no longer violated

# The rows of D that a step has touched, each over Θ and the labels.
Weights = MutableMapping[int, Float64]


class Learned(NamedTuple):
    """A step: instance, its arcs, and how far each label moved; Θ is 0, label k is k + 1.

    `relevance` is what it was learned from, if it was: relevant and unknown labels, from 0, and
    their grades; the arcs are then those that did not hold. `n_labels` were known by then.
    `reached` is how far the base is from its cut in the instance. `most`, `margin` and `cut` were
    asked for, `most` as C; infinite and NaN where there was none.
    """

    indices: Int32
    data: Float64
    better: Int32
    worse: Int32
    relevance: tuple[Int32, Float64] | None
    n_labels: int
    reached: float
    most: float
    margin: float
    cut: float
    labels: Int32
    moves: Float64


def step(
    scores: Float64, better: Array, worse: Array, norm: float, margin: Any, most: float,
) -> Float64:  # fmt: skip
    """Coefficients of one step: `scores` of Θ and the labels, the arcs, and ‖x‖².

    `margin` is one number, or one for each arc. A sweep visits, in order, the arcs that are
    violated as it begins.
    """
    c = np.zeros(len(scores))
    if not norm > 0 or not len(better):
        return c
    wanted = np.broadcast_to(np.asarray(margin, np.float64), np.shape(better))
    close, used = (1.0 - _CLOSE) * wanted, [0.0] * len(better)
    for _ in range(_SWEEPS):
        s = scores + norm * c
        violated = np.flatnonzero(s[better] - s[worse] < close)
        if not _sweep(violated, s, c, (better, worse, wanted), norm, most, used):
            break
    return c


def _sweep(
    violated: Int64, s: Float64, c: Float64, arcs: Any, norm: float, most: float, used: list[float]
) -> bool:
    """Take a step on each of these arcs that is still violated; whether one was taken."""
    moved = False
    chosen = (part[violated].tolist() for part in arcs)
    for i, a, b, wanted in zip(violated.tolist(), *chosen, strict=True):
        lack = wanted - float(s[a] - s[b])
        by = min(lack / (2 * norm), most - used[i])
        if lack > _CLOSE * wanted and by > 0:
            moved = True
            used[i] += by
            c[a] += by
            c[b] -= by
            s[a] += by * norm
            s[b] -= by * norm
    return moved


def row(X: sp.csr_array, i: int) -> sp.csr_array:
    span = slice(X.indptr[i], X.indptr[i + 1])
    return of_lengths([span.stop - span.start], X.indices[span], X.data[span], X.shape[1])


def shift(weights: Weights, X: sp.csr_array, width: int) -> Float64:
    """X·D, for Θ and the labels; features that no step has touched are skipped.

    Rows of D that were touched before there were so many labels are shorter.
    """
    used = [j for j in np.unique(X.indices).tolist() if j in weights]
    if not used:
        return np.zeros((X.shape[0], width))
    place = np.full(X.shape[1], -1)
    place[used] = np.arange(len(used))
    touched = place[X.indices] >= 0
    ends = np.concatenate(([0], np.cumsum(touched)))[X.indptr]
    columns = of_lengths(np.diff(ends), place[X.indices][touched], X.data[touched], len(used))
    D = np.zeros((len(used), width))
    for to, j in zip(D, used, strict=True):
        to[: len(weights[j])] = weights[j]
    return np.asarray(columns @ D, np.float64)


def add(to: Weights, before: Mapping[int, Float64], one: Learned, width: int) -> None:
    """D += x ⊗ c for Θ and the labels, in new rows, which go `to` where those `before` stay."""
    if not len(one.labels):
        return
    for j, value in zip(one.indices.tolist(), one.data.tolist(), strict=True):
        wide = np.zeros(width)
        if (old := before.get(j)) is not None:
            wide[: len(old)] = old
        wide[one.labels] += value * one.moves
        to[j] = wide
