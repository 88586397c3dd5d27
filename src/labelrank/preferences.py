"""Y to arcs: the five kinds of preference an instance states, and their weights.

Every preference learner is a choice among these kinds, a weighting, a scorer and an update; its
attribute `preferences` declares the first two. An arc `a > b` of instance i is a row
(i, better, worse); the threshold label Θ has the index K, one past the last label. NaN (unknown)
labels state nothing.

- `RELEVANT_IRRELEVANT`: every relevant over every irrelevant label
- `RELEVANT_THRESHOLD`: every relevant label over Θ
- `THRESHOLD_IRRELEVANT`: Θ over every irrelevant label
- `GRADED`: every relevant over every strictly less relevant label
- `CHAIN`: every relevant label over those of the next lower grade

Kernels never enumerate arcs like this (there are millions); this module says what they are,
serves small problems, and is the reference the kernels are tested against.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.errors import InputError
from labelrank.relevance import check_relevance, relevant_part, unknown_part


class Kind(Enum):
    """A kind of preference; `GRADED` and `CHAIN` order the relevant labels themselves."""

    RELEVANT_IRRELEVANT = "relevant_irrelevant"
    RELEVANT_THRESHOLD = "relevant_threshold"
    THRESHOLD_IRRELEVANT = "threshold_irrelevant"
    GRADED = "graded"
    CHAIN = "chain"


@dataclass(frozen=True)
class Preferences:
    """The kinds of preference that a learner uses, and what they weigh in its loss.

    Parameters
    ----------
    weights : dict
        A number for each kind that is used.
    per : {"instance", "arc"}
        "arc": every arc of a kind weighs its number. "instance": all arcs of a kind in an
        instance share its number. They share equally, but for the chain: an arc between
        neighbouring grades stands for all ordered pairs whose path it lies on, so it weighs the
        part of such pairs, divided by the arcs between the same two grades. The weighted errors of
        the chain are then an upper bound of the mean error over all ordered pairs.

    Examples
    --------
    >>> Preferences.each(Kind.RELEVANT_IRRELEVANT).weights
    {<Kind.RELEVANT_IRRELEVANT: 'relevant_irrelevant'>: 1.0}
    """

    weights: Mapping[Kind, float]
    per: str = "instance"

    @classmethod
    def each(cls, *kinds: Kind) -> "Preferences":
        """Every arc of these kinds weighs 1."""
        return cls(dict.fromkeys(kinds, 1.0), "arc")

    @classmethod
    def shared(cls, *kinds: Kind, weight: float = 1.0) -> "Preferences":
        """The arcs of each of these kinds weigh `weight` together, in every instance."""
        return cls(dict.fromkeys(kinds, weight))


PRO_LOSS_KINDS = (
    Kind.GRADED, Kind.RELEVANT_IRRELEVANT, Kind.RELEVANT_THRESHOLD, Kind.THRESHOLD_IRRELEVANT,
)  # fmt: skip
PRO_LOSS = Preferences.shared(*PRO_LOSS_KINDS, weight=0.25)


class Arcs(NamedTuple):
    """Preferences `better > worse` of the instances, grouped by instance, with weights."""

    instance: Int64
    better: Int32
    worse: Int32
    weight: Float64


def arcs(Y: Any, kinds: tuple[Kind, ...] | Preferences, weighting: str = "one") -> Arcs:
    """All preferences of the given kinds, or those that a learner declares.

    `weighting` of kinds: "one" (each arc 1), "mean" (the arcs of a kind in an instance share 1)
    or "pro_loss" (they share a quarter: summed errors are then the PRO loss).

    >>> listed = arcs([[2, 0, 1]], (Kind.GRADED, Kind.RELEVANT_IRRELEVANT))
    >>> list(zip(listed.better.tolist(), listed.worse.tolist()))
    [(0, 2), (0, 1), (2, 1)]
    >>> arcs([[2, 0, 1]], Preferences.shared(Kind.GRADED, Kind.RELEVANT_IRRELEVANT)).weight
    array([1. , 0.5, 0.5])
    """
    if weighting not in _DECLARED:
        raise InputError(f"got weighting={weighting!r}; use one of {sorted(_DECLARED)}")
    chosen = kinds if isinstance(kinds, Preferences) else _DECLARED[weighting](kinds)
    csr = check_relevance(Y)
    parts = [part for i in range(csr.shape[0]) for part in _instance(csr, i, chosen)]
    if not parts:
        none = np.empty(0, np.int32)
        return Arcs(none.astype(np.int64), none, none, none.astype(np.float64))
    columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return Arcs(*columns)


_DECLARED = {
    "one": lambda kinds: Preferences.each(*kinds),
    "mean": lambda kinds: Preferences.shared(*kinds),
    "pro_loss": lambda kinds: Preferences.shared(*kinds, weight=0.25),
}


def _instance(Y: sp.csr_array, i: int, chosen: Preferences) -> Iterator[tuple[Array, ...]]:
    grades = np.zeros(Y.shape[1])
    span = slice(Y.indptr[i], Y.indptr[i + 1])
    grades[Y.indices[span]] = Y.data[span]
    for kind, weight in chosen.weights.items():
        pairs = np.array(list(pairs_of(grades, kind)), dtype=np.int32).reshape(-1, 2)
        size = len(pairs)
        share = np.ones(size) if chosen.per == "arc" else _shares(grades, kind, pairs)
        yield np.full(size, i), pairs[:, 0], pairs[:, 1], weight * share


def _shares(grades: Float64, kind: Kind, pairs: Int32) -> Float64:
    """What part of the weight of a kind each of its arcs in this instance gets."""
    if kind is not Kind.CHAIN:
        return np.full(len(pairs), 1.0 / max(len(pairs), 1))
    relevant = grades[grades > 0]
    ordered = (relevant[:, None] > relevant).sum()
    return np.array([
        (relevant >= grades[a]).sum() * (relevant <= grades[b]).sum()
        / ((relevant == grades[a]).sum() * (relevant == grades[b]).sum()) / ordered
        for a, b in pairs
    ])  # fmt: skip


def pairs_of(grades: Float64, kind: Kind) -> Iterator[tuple[int, int]]:
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
        steps = set(itertools.pairwise(sorted({grades[k] for k in relevant}, reverse=True)))
        yield from ((a, b) for a in relevant for b in relevant if (grades[a], grades[b]) in steps)


def count(Y: Any, kind: Kind) -> Int64:
    """Number of arcs of this kind in each instance; only GRADED and CHAIN are listed for it."""
    csr = check_relevance(Y)
    relevant, unknown = (np.diff(part(csr).indptr) for part in (relevant_part, unknown_part))
    irrelevant = csr.shape[1] - relevant - unknown
    if kind is Kind.RELEVANT_IRRELEVANT:
        return relevant * irrelevant
    if kind is Kind.RELEVANT_THRESHOLD:
        return relevant
    if kind is Kind.THRESHOLD_IRRELEVANT:
        return irrelevant
    return np.bincount(arcs(csr, (kind,)).instance, minlength=csr.shape[0])
