"""What a page of results shows, gathered from scores and relevance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank import decoding, metrics
from labelrank.relevance import cardinality, check_relevance

Array = npt.NDArray[Any]

_POINTS = 60
_BEYOND_THE_CUT = 5


class LabelResult(NamedTuple):
    """How one label fared: documents that have it, that were given it, and both."""

    name: str
    relevant: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float | None:
        return self.correct / self.predicted if self.predicted else None

    @property
    def recall(self) -> float | None:
        return self.correct / self.relevant if self.relevant else None

    @property
    def f1(self) -> float | None:
        total = self.relevant + self.predicted
        return 2 * self.correct / total if total else None


class RankedLabel(NamedTuple):
    """One place of a ranking: was the label chosen, and is it right?"""

    name: str
    score: float
    chosen: bool
    relevant: bool


class Document(NamedTuple):
    """An example: its text and the labels it was given, best first."""

    name: str
    text: str
    ranked: list[RankedLabel]


class CurvePoint(NamedTuple):
    """Micro-averaged criteria if the ranking were cut at `threshold`."""

    threshold: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Results:
    """All that a page shows; `threshold` is None where sets are not a cut at one score."""

    title: str
    facts: Mapping[str, str]
    criteria: Mapping[str, float]
    labels: Sequence[LabelResult]
    curve: Sequence[CurvePoint]
    threshold: float | None = 0.0
    documents: Sequence[Document] = field(default_factory=tuple)


def gather(
    title: str,
    facts: Mapping[str, str],
    Y: Any,
    scores: Array,
    *,
    label_names: Sequence[str],
    members: Array | None = None,
    threshold: float | None = 0.0,
    documents: Sequence[Document] = (),
) -> Results:
    """Everything measured from relevance and scores; `members` is the predicted set.

    >>> results = gather("Two labels", {}, [[1, 0]], np.array([[0.5, -1.0]]), label_names="ab")
    >>> results.labels[0].f1
    1.0
    """
    relevance = check_relevance(Y)
    cut = 0.0 if threshold is None else threshold
    if members is None:
        members = decoding.above(scores, cut)
    return Results(
        title=title,
        facts=facts,
        criteria=metrics.evaluate(relevance, scores, cut, members),
        labels=label_results(relevance, members, label_names),
        curve=threshold_curve(relevance, scores),
        threshold=threshold,
        documents=documents,
    )


def label_results(Y: sp.csr_array, members: Array, label_names: Sequence[str]) -> list[LabelResult]:
    """One line a label, in column order; unknown (NaN) relevance is left out."""
    known = _known(Y)
    relevant = _relevant(Y)
    predicted = np.asarray(members, dtype=bool) & known
    counts = zip(
        label_names,
        relevant.sum(axis=0).tolist(),
        predicted.sum(axis=0).tolist(),
        (predicted & relevant).sum(axis=0).tolist(),
        strict=True,
    )
    return [LabelResult(str(name), *count) for name, *count in counts]


def threshold_curve(Y: sp.csr_array, scores: Array) -> list[CurvePoint]:
    """Micro precision, recall and F1 over thresholds.

    From a cut that leaves hardly a label to one that gives four times as many as there are.
    """
    known = _known(Y)
    order = np.argsort(-scores[known], kind="stable")
    ranked = scores[known][order]
    correct = np.cumsum(_relevant(Y)[known][order])
    total = int(correct[-1]) if len(correct) else 0
    if not total:
        return []
    most = min(len(ranked), int(4 * cardinality(Y) * Y.shape[0]))
    sizes = np.unique(np.geomspace(max(1, most // 200), most, _POINTS).astype(int))
    return [_point(ranked, correct, size, total) for size in sizes]


def _point(ranked: Array, correct: Array, size: int, total: int) -> CurvePoint:
    right = int(correct[size - 1])
    return CurvePoint(
        threshold=float(ranked[size - 1]),
        precision=right / size,
        recall=right / total,
        f1=2 * right / (size + total),
    )


def ranked_labels(
    scores: Array, members: Array, relevant: Array, label_names: Sequence[str]
) -> list[RankedLabel]:
    """The ranking of one instance, as far as the cut and a few places beyond it."""
    order = decoding.rank(scores[None, :], members=members[None, :])[0]
    shown = order[: int(members.sum()) + _BEYOND_THE_CUT]
    return [
        RankedLabel(str(label_names[k]), float(scores[k]), bool(members[k]), bool(relevant[k]))
        for k in shown
    ]


def _known(Y: sp.csr_array) -> Array:
    known = np.ones(Y.shape, dtype=bool)
    unknown = Y.tocoo()
    gone = np.isnan(unknown.data)
    known[unknown.row[gone], unknown.col[gone]] = False
    return known


def _relevant(Y: sp.csr_array) -> Array:
    return np.asarray(Y.toarray() > 0)
