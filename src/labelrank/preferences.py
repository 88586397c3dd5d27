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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from graphlib import CycleError, TopologicalSorter
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


class WeightedArcs(NamedTuple):
    """Preferences `better > worse` of the instances, grouped by instance, with weights."""

    instance: Int64
    better: Int32
    worse: Int32
    weight: Float64


def arcs(Y: Any, kinds: tuple[Kind, ...] | Preferences, weighting: str = "one") -> WeightedArcs:
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
        return WeightedArcs(none.astype(np.int64), none, none, none.astype(np.float64))
    columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return WeightedArcs(*columns)


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


@dataclass(frozen=True, eq=False)
class Arcs:
    """Preferences as a learner's input: row i states `better[j] > worse[j]`, nothing else.

    Those of row i are j = ptr[i] ... ptr[i+1] - 1. A label is its column, Θ is `n_labels`. An arc
    over Θ says that the label is relevant, one under Θ that it is not; one between two labels says
    which goes first and leaves open whether either is relevant. The order within a row is kept.

    Examples
    --------
    >>> from labelrank.preferences import Arcs
    >>> said = Arcs.of([(0, 2, 1), (0, 2, None)], n_rows=1, n_labels=3)  # None: the threshold
    >>> said.better.tolist(), said.worse.tolist()
    ([2, 2], [1, 3])
    >>> said = Arcs.of_relevance([[1, 0, float("nan")]])
    >>> list(zip(said.better.tolist(), said.worse.tolist()))
    [(0, 3), (3, 1), (0, 1)]
    """

    ptr: Int64
    better: Int32
    worse: Int32
    n_labels: int

    def __post_init__(self) -> None:
        for name, dtype in (("ptr", np.int64), ("better", np.int32), ("worse", np.int32)):
            object.__setattr__(self, name, _whole(name, getattr(self, name), dtype))
        ptr, better, worse = self.ptr, self.better, self.worse
        if not len(ptr) or ptr[0] != 0 or (np.diff(ptr) < 0).any() or ptr[-1] != len(better):
            raise InputError("got arcs whose ptr does not rise from 0 to the number of arcs")
        if len(better) != len(worse):
            raise InputError(f"got {len(better)} better and {len(worse)} worse labels; pair them")
        for labels in (better, worse):
            if len(labels) and not 0 <= labels.min() <= labels.max() <= self.n_labels:
                raise InputError(
                    f"got an arc of a label outside 0 to {self.n_labels - 1}; the threshold is "
                    f"{self.n_labels}"
                )
        self._check_contradictions()

    def _check_contradictions(self) -> None:
        side = self.n_labels + 1
        row = np.repeat(np.arange(self.n_rows), np.diff(self.ptr))
        same = np.flatnonzero(self.better == self.worse)
        if len(same):
            raise InputError(
                f"got label {self.better[same[0]]} over itself in row {row[same[0]]}; leave it out"
            )
        key = np.sort((row * side + self.better) * side + self.worse)
        back = (row * side + self.worse) * side + self.better
        place = np.minimum(np.searchsorted(key, back), max(len(key) - 1, 0))
        both = np.flatnonzero(key[place] == back) if len(key) else place
        if len(both):
            a, b = self.better[both[0]], self.worse[both[0]]
            raise InputError(
                f"got both {a} over {b} and {b} over {a} in row {row[both[0]]}; give one of them"
            )

    @property
    def n_rows(self) -> int:
        """How many rows there are, with arcs or without."""
        return len(self.ptr) - 1

    @classmethod
    def of(
        cls, triples: Iterable[tuple[int, int | None, int | None]], *, n_rows: int, n_labels: int
    ) -> "Arcs":
        """Of (row, better, worse), where None is the threshold."""
        listed = [
            [row, *(n_labels if label is None else label for label in pair)]
            for row, *pair in triples
        ]
        if any(len(one) != 3 for one in listed):
            raise InputError("got an arc that is no (row, better, worse)")
        table = _whole("arcs", np.array(listed or np.zeros((0, 3), np.int64)), np.int64)
        rows = table[:, 0]
        if len(rows) and not 0 <= rows.min() <= rows.max() < n_rows:
            raise InputError(f"got an arc of a row outside 0 to {n_rows - 1}")
        order = np.argsort(rows, kind="stable")
        ptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows))))
        return cls(ptr, table[order, 1], table[order, 2], n_labels)

    @classmethod
    def of_relevance(
        cls, Y: Any, scores: Any = None, *, rivals: int = 50, threshold: bool = True
    ) -> "Arcs":
        """What relevance states: relevant over Θ over irrelevant, then by grade.

        Each relevant label is also over the `rivals` irrelevant ones that score highest (without
        scores the first ones): Θ is between it and the others. Without the threshold it is over
        all irrelevant ones. Unknown labels state nothing.
        """
        csr = check_relevance(Y)
        rows: list[tuple[Int32, Int32]] = []
        for i in range(csr.shape[0]):
            grades = np.zeros(csr.shape[1])
            span = slice(csr.indptr[i], csr.indptr[i + 1])
            grades[csr.indices[span]] = csr.data[span]
            given = None if scores is None else scores[i]
            rows.append(cls.of_row(grades, given, rivals=rivals, threshold=threshold))
        ptr = np.cumsum([0, *(len(better) for better, _ in rows)])
        none = [(np.zeros(0, np.int32),) * 2]
        better, worse = (np.concatenate(side) for side in zip(*none, *rows, strict=True))
        return cls(ptr, better, worse, csr.shape[1])

    def as_examples(self, X: Any, chosen: Array | None = None) -> tuple[Any, sp.csr_array]:
        """An instance of X per arc, and what it states as relevance over the labels and Θ.

        The better label is 1, the worse one 0, all others are unknown: nothing else is stated.
        """
        row = np.repeat(np.arange(self.n_rows), np.diff(self.ptr))
        at = np.arange(len(row)) if chosen is None else np.flatnonzero(chosen)
        Y = np.full((len(at), self.n_labels + 1), np.nan)
        Y[np.arange(len(at)), self.better[at]] = 1.0
        Y[np.arange(len(at)), self.worse[at]] = 0.0
        return X[row[at]], sp.csr_array(Y)

    @staticmethod
    def of_row(
        grades: Float64, scores: Any = None, *, rivals: int = 50, threshold: bool = True
    ) -> tuple[Int32, Int32]:
        """Better and worse labels of what one row of relevance states, as `of_relevance`."""
        relevant, irrelevant = np.flatnonzero(grades > 0), np.flatnonzero(grades == 0)
        by_grade = relevant[np.argsort(-grades[relevant], kind="stable")]
        if not threshold:
            return _each_over(by_grade, irrelevant)
        is_graded = len(np.unique(grades[relevant])) > 1
        chain = list(pairs_of(grades, Kind.CHAIN)) if is_graded else []
        order = irrelevant
        if scores is not None:
            order = irrelevant[np.argsort(-scores[irrelevant], kind="stable")]
        parts = [
            _each_over(by_grade, [len(grades)]),
            _each_over([len(grades)], irrelevant),
            np.array(chain, np.int32).reshape(-1, 2).T,
            _each_over(relevant, order[:rivals]),
        ]
        better, worse = (np.concatenate(side) for side in zip(*parts, strict=True))
        return better, worse


def checked_arcs(arcs: Any, n_rows: int, n_labels: int) -> Arcs:
    """The arcs, if they are of so many instances and labels and do not contradict themselves."""
    if not isinstance(arcs, Arcs):
        raise InputError(f"got {type(arcs).__name__}; give preferences.Arcs")
    if (arcs.n_rows, arcs.n_labels) != (n_rows, n_labels):
        raise InputError(
            f"got arcs of {arcs.n_rows} rows and {arcs.n_labels} labels for {n_rows} instances "
            f"and {n_labels} labels; give a row each"
        )
    for start, end in itertools.pairwise(arcs.ptr.tolist()):
        refuse_circle(zip(arcs.better[start:end].tolist(), arcs.worse[start:end].tolist()))
    return arcs


def checked_pairs(stated: Any) -> list[tuple[Any, Any]]:
    """The pairs (better, worse) of labels that one instance states; None is the threshold.

    Raise InputError for what is no list of pairs, and for preferences that go round in a circle.

    >>> checked_pairs([["rye", "trade"], ["rye", None]])
    [('rye', 'trade'), ('rye', None)]
    """
    if not isinstance(stated, Sequence | np.ndarray) or isinstance(stated, str | bytes):
        raise InputError(f"got {stated!r:.60} as preferences; {_PAIRS}")
    for one in stated:
        is_pair = isinstance(one, Sequence) and not isinstance(one, str | bytes) and len(one) == 2
        if not is_pair or not all(isinstance(label, Hashable) for label in one):
            raise InputError(f"got {one!r:.60} as a preference; {_PAIRS}")
    pairs = [(better, worse) for better, worse in stated]
    refuse_circle(pairs, lambda label: "the threshold" if label is None else repr(label))
    return pairs


_PAIRS = "give a list of pairs of labels, the better one first, and null (None) for the threshold"


def refuse_circle(pairs: Iterable[tuple[Any, Any]], named: Callable[[Any], str] = str) -> None:
    """Raise InputError where a label is preferred to itself, directly or through others."""
    graph: dict[Any, set[Any]] = {}
    for better, worse in pairs:
        if better == worse:
            raise InputError(f"got {named(better)} over itself; leave it out")
        graph.setdefault(better, set()).add(worse)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = " over ".join(map(named, reversed(error.args[1])))
        raise InputError(f"got preferences that contradict: {circle}; leave one out") from error


def _each_over(better: Any, worse: Any) -> tuple[Int32, Int32]:
    """Each of the one over each of the other labels."""
    ahead = np.repeat(better, len(worse)).astype(np.int32)
    return ahead, np.tile(worse, len(better)).astype(np.int32)


def _whole(name: str, values: Any, dtype: Any) -> Any:
    """Whole numbers as an array of this type, or an InputError."""
    found = np.asarray(values)
    kind = found.dtype.kind
    if kind not in "iu" and found.size:
        raise InputError(f"got {name} of type {found.dtype}; give whole numbers")
    if found.size and (found.min() < 0 or found.max() > np.iinfo(dtype).max):
        raise InputError(f"got {name} outside 0 to {np.iinfo(dtype).max}")
    return np.ascontiguousarray(found, dtype)
