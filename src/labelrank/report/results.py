"""What a page of results shows, gathered from scores and relevance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank import decoding, metrics
from labelrank._types import Array
from labelrank.metrics.curves import PrecisionRecall, Reliability
from labelrank.relevance import Checked, check_relevance
from labelrank.report.documents import Document

CURVES = 12
_PAIRS, _MAP = 20, 12


class LabelResult(NamedTuple):
    """How one label fared: documents that have it, that were given it, and both."""

    name: str
    relevant: int
    predicted: int
    correct: int
    auc: float | None = None
    average_precision: float | None = None

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


class ConfusedPair(NamedTuple):
    """`given` was wrongly given in some of the documents in which `missed` was missed."""

    missed: str
    given: str
    documents: int
    misses: int


@dataclass(frozen=True)
class Confusion:
    """The pairs most often confused, and a matrix of the labels most concerned."""

    pairs: Sequence[ConfusedPair]
    missed: Sequence[str]
    given: Sequence[str]
    counts: Array


@dataclass(frozen=True)
class LearningCurve:
    """Criteria by the number of examples learned; `note` says how they were measured."""

    note: str
    sizes: Sequence[int]
    values: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Results:
    """All that a page shows; `threshold` is None where sets are not a cut at one score.

    `beside` holds the criteria of other models or thresholds, by name.
    """

    title: str
    facts: Mapping[str, str]
    criteria: Mapping[str, float]
    labels: Sequence[LabelResult]
    curve: PrecisionRecall
    threshold: float | None = 0.0
    name: str = "this model"
    beside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    label_curves: Mapping[str, PrecisionRecall] = field(default_factory=dict)
    confusion: Confusion | None = None
    reliability: Reliability | None = None
    learning: LearningCurve | None = None
    documents: Sequence[Document] = ()


def gather(
    title: str,
    facts: Mapping[str, str],
    Y: Any,
    scores: Array,
    *,
    label_names: Sequence[str],
    members: Any = None,
    threshold: float | None = 0.0,
    probabilities: Array | None = None,
    curves_of: Sequence[str] = (),
    criteria: Mapping[str, float] | None = None,
    **more: Any,
) -> Results:
    """Everything measured from relevance and scores.

    Parameters
    ----------
    title : str
    facts : mapping
        What the summary tells, by name.
    Y : array or sparse matrix (n, K)
        Relevance; NaN is unknown.
    scores : array (n, K)
    label_names : sequence of str
    members : 0/1 array or sparse matrix (n, K), or None
        The predicted sets; None takes the labels that score above the threshold.
    threshold : float or None
        None if the sets are not a cut at one score.
    probabilities : array (n, K) or None
        For the reliability diagram.
    curves_of : sequence of str
        Labels whose curves are drawn besides those of the most frequent ones.
    criteria : mapping or None
        Where they are known already.
    **more
        `name`, `beside`, `learning`, `documents` of `Results`.

    Returns
    -------
    Results

    Examples
    --------
    >>> results = gather("Two labels", {}, [[1, 0]], np.array([[0.5, -1.0]]), label_names="ab")
    >>> results.labels[0].f1
    1.0
    """
    relevance, names = Checked(check_relevance(Y)), [str(name) for name in label_names]
    cut = 0.0 if threshold is None else threshold
    if members is None:
        members = decoding.above(scores, cut)
    reliability = None if probabilities is None else metrics.reliability(relevance, probabilities)
    labels = label_results(relevance, scores, members, names)
    return Results(
        title=title,
        facts=facts,
        criteria=criteria or metrics.evaluate(relevance, scores, cut, members),
        labels=labels,
        curve=metrics.precision_recall_curve(relevance, scores),
        threshold=threshold,
        label_curves=_label_curves(relevance, scores, labels, curves_of),
        confusion=confusion(relevance, members, labels),
        reliability=reliability,
        **more,
    )


def label_results(
    Y: Checked, scores: Array, members: Any, names: Sequence[str]
) -> list[LabelResult]:
    """One line per label, in column order; unknown (NaN) relevance is left out."""
    tables = metrics.contingency_tables(Y, members)
    hits, misses, alarms = tables[:, 0, 0], tables[:, 0, 1], tables[:, 1, 0]
    areas = np.asarray(metrics.auc(Y, scores, average=None))
    precisions = metrics.average_precision_by_label(Y, scores)
    columns = (hits + misses, hits + alarms, hits, areas, precisions)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return [LabelResult(*row[:4], *(_known(value) for value in row[4:])) for row in rows]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _label_curves(
    Y: Checked, scores: Array, labels: Sequence[LabelResult], wanted: Sequence[str]
) -> dict[str, PrecisionRecall]:
    """The curves of the wanted labels, then of the most frequent ones."""
    asked = [k for k, label in enumerate(labels) if label.name in frozenset(wanted)]
    usual = sorted(range(len(labels)), key=lambda k: -labels[k].relevant)
    chosen = list(dict.fromkeys([*asked, *usual]))[: max(CURVES, len(asked))]
    curves = {}
    for k in (k for k in chosen if labels[k].relevant):
        column = Checked(sp.csr_array(Y.matrix[:, [k]]))
        curve = metrics.precision_recall_curve(column, scores[:, [k]], points=80)
        curves[labels[k].name] = curve
    return curves


def confusion(Y: Checked, members: Any, labels: Sequence[LabelResult]) -> Confusion | None:
    """The pairs of missed and wrongly given labels, most frequent first; None without any."""
    counts = metrics.label_confusion(Y, members)
    if not counts.nnz:
        return None
    entries = counts.tocoo()
    best = np.lexsort((entries.col, entries.row, -entries.data))[:_PAIRS]
    pairs = [
        ConfusedPair(labels[u].name, labels[v].name, count, labels[u].relevant - labels[u].correct)
        for u, v, count in zip(*(part[best].tolist() for part in (*entries.coords, entries.data)))
    ]
    rows = _largest(counts.sum(axis=1))
    columns = _largest(counts[rows].sum(axis=0))
    return Confusion(
        pairs,
        [labels[u].name for u in rows],
        [labels[v].name for v in columns],
        counts[rows][:, columns].toarray(),
    )


def _largest(sums: Any) -> Array:
    sums = np.asarray(sums).ravel()
    order = np.argsort(-sums, kind="stable")[:_MAP]
    return order[sums[order] > 0]
