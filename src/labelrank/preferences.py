"""Y to arcs: the five kinds of preference an instance states, and their weights.

Every preference learner is a choice among these kinds, a weighting, a scorer and an update.
An arc `a > b` of instance i is a row (i, better, worse); the threshold label Θ has the
index K, one past the last label. NaN (unknown) labels state nothing.

- `RELEVANT_IRRELEVANT`: every relevant over every irrelevant label
- `RELEVANT_THRESHOLD`: every relevant label over Θ
- `THRESHOLD_IRRELEVANT`: Θ over every irrelevant label
- `GRADED`: every relevant over every strictly less relevant label
- `CHAIN`: every relevant label over those of the next lower grade

Kernels never enumerate arcs like this (there are millions); this module says what they are,
serves small problems, and is the reference the kernels are tested against.
"""

import itertools
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.relevance import check_relevance


class Kind(Enum):
    RELEVANT_IRRELEVANT = "relevant_irrelevant"
    RELEVANT_THRESHOLD = "relevant_threshold"
    THRESHOLD_IRRELEVANT = "threshold_irrelevant"
    GRADED = "graded"
    CHAIN = "chain"


class Arcs(NamedTuple):
    """Preferences `better > worse` of the instances, grouped by instance, with weights."""

    instance: npt.NDArray[np.int64]
    better: npt.NDArray[np.int32]
    worse: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]


PRO_LOSS_KINDS = (
    Kind.GRADED,
    Kind.RELEVANT_IRRELEVANT,
    Kind.RELEVANT_THRESHOLD,
    Kind.THRESHOLD_IRRELEVANT,
)


def arcs(Y: Any, kinds: tuple[Kind, ...], weighting: str = "one") -> Arcs:
    """All preferences of the given kinds.

    `weighting`: "one" (each arc 1), "mean" (1 / arcs of this kind in the instance) or
    "pro_loss" (a quarter of "mean": summed errors are then the PRO loss).

    >>> found = arcs([[2, 0, 1]], (Kind.GRADED, Kind.RELEVANT_IRRELEVANT))
    >>> list(zip(found.better.tolist(), found.worse.tolist()))
    [(0, 2), (0, 1), (2, 1)]
    """
    if weighting not in _SCALE:
        raise InputError(f"got weighting={weighting!r}; use one of {sorted(_SCALE)}")
    csr = check_relevance(Y)
    parts = [part for i in range(csr.shape[0]) for part in _instance(csr, i, kinds, weighting)]
    if not parts:
        none = np.empty(0, np.int32)
        return Arcs(none.astype(np.int64), none, none, none.astype(np.float64))
    columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Arcs(*columns)


_SCALE = {"one": None, "mean": 1.0, "pro_loss": 0.25}


def _instance(
    Y: sp.csr_array, i: int, kinds: tuple[Kind, ...], weighting: str
) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    row = np.zeros(Y.shape[1])
    span = slice(Y.indptr[i], Y.indptr[i + 1])
    row[Y.indices[span]] = Y.data[span]
    for kind in kinds:
        pairs = np.array(list(pairs_of(row, kind)), dtype=np.int32).reshape(-1, 2)
        scale = _SCALE[weighting]
        weight = 1.0 if scale is None else scale / max(len(pairs), 1)
        size = len(pairs)
        yield np.full(size, i), pairs[:, 0], pairs[:, 1], np.full(size, weight)


def pairs_of(grades: npt.NDArray[np.float64], kind: Kind) -> Iterator[tuple[int, int]]:
    """The pairs (better, worse) of one instance, by falling grade, then by label index."""
    threshold = len(grades)
    relevant = sorted(np.flatnonzero(grades > 0).tolist(), key=lambda k: (-grades[k], k))
    irrelevant = np.flatnonzero(grades == 0).tolist()
    if kind is Kind.RELEVANT_IRRELEVANT:
        yield from ((a, b) for a in relevant for b in irrelevant)
    elif kind is Kind.RELEVANT_THRESHOLD:
        yield from ((a, threshold) for a in relevant)
    elif kind is Kind.THRESHOLD_IRRELEVANT:
        yield from ((threshold, b) for b in irrelevant)
    elif kind is Kind.GRADED:
        yield from ((a, b) for a in relevant for b in relevant if grades[a] > grades[b])
    else:
        yield from _chain(relevant, grades)


def _chain(relevant: list[int], grades: npt.NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    levels = sorted({grades[k] for k in relevant}, reverse=True)
    for upper, lower in itertools.pairwise(levels):
        below = [k for k in relevant if grades[k] == lower]
        yield from ((a, b) for a in relevant if grades[a] == upper for b in below)


def count(Y: Any, kind: Kind) -> npt.NDArray[np.int64]:
    """Number of arcs of this kind in each instance, without listing them (GRADED, CHAIN excepted).

    >>> count([[2, 0, 1], [0, 0, 0]], Kind.RELEVANT_IRRELEVANT).tolist()
    [2, 0]
    """
    csr = check_relevance(Y)
    relevant = _row_sums(csr, csr.data > 0)
    unknown = _row_sums(csr, np.isnan(csr.data))
    irrelevant = csr.shape[1] - relevant - unknown
    if kind is Kind.RELEVANT_IRRELEVANT:
        return relevant * irrelevant
    if kind is Kind.RELEVANT_THRESHOLD:
        return relevant
    if kind is Kind.THRESHOLD_IRRELEVANT:
        return irrelevant
    return np.bincount(arcs(csr, (kind,)).instance, minlength=csr.shape[0])


def _row_sums(csr: sp.csr_array, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    total = np.concatenate(([0], np.cumsum(chosen)))
    return total[csr.indptr[1:]] - total[csr.indptr[:-1]]
