"""What a page of results shows: gathered from scores and relevance, or read from a curve's file."""

import itertools
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank import decoding, metrics
from labelrank._types import Array
from labelrank.errors import InputError, MissingError
from labelrank.evaluation import verdict
from labelrank.evaluation.curves import CurvePoint, LearningPoint
from labelrank.metrics import criteria as table_of_criteria
from labelrank.metrics.curves import PrecisionRecall, Reliability
from labelrank.relevance import Checked, cardinality, check_relevance

CURVES = 12
_PAIRS, _MAP = 20, 12
_MEASURED = ("micro_f1", "macro_f1", "precision_at_1", "ranking_loss")
_PREQUENTIAL = ("precision_at_1", "average_precision", "ranking_loss", "is_error")
_MOST_POINTS = 400
_LONGEST = 1200
_SPELLED = {"f1": "F1", "auc": "AUC", "ndcg": "nDCG", "pro": "PRO", "mib": "MiB"}


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


class RankedLabel(NamedTuple):
    """One place of a ranking: was the label chosen, and is it right?"""

    name: str
    score: float
    chosen: bool
    relevant: bool


class Reason(NamedTuple):
    """Why a label has its score: the words (or features) that added most, with their addends."""

    label: str
    margin: float
    words: Sequence[tuple[str, float]]


class Document(NamedTuple):
    """An example: its text, the labels it was given, best first, and why.

    `missed` are relevant labels that are ranked below those shown, each with its place.
    """

    name: str
    text: str
    ranked: Sequence[RankedLabel]
    reasons: Sequence[Reason] = ()
    left_out: int = 0
    missed: Sequence[tuple[str, int]] = ()

    def pieces(self) -> Iterator[tuple[str, bool]]:
        """The text in pieces, each with whether it is a word that spoke for a label."""
        told = {word for reason in self.reasons for word, addend in reason.words if addend > 0}
        text = self.text if len(self.text) <= _LONGEST else self.text[:_LONGEST] + " …"
        pieces = itertools.groupby(re.findall(r"\w+|\W+", text), lambda s: s.lower() in told)
        for spoke, together in pieces:
            yield "".join(together), spoke


@dataclass(frozen=True)
class Results:
    """All that a page shows; `threshold` is None where sets are not a cut at one score.

    `beside` holds the criteria of other models or thresholds, by name; `guess` those of guessing
    by frequency, and `verdict` is the sentence that weighs the model against it.
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
    guess: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""


def gather(
    title: str, facts: Mapping[str, str], Y: Any, scores: Array, *, label_names: Sequence[str],
    members: Any = None, threshold: float | None = 0.0, probabilities: Array | None = None,
    curves_of: Sequence[str] = (), criteria: Mapping[str, float] | None = None, **more: Any,
) -> Results:  # fmt: skip
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
    criteria = criteria or metrics.evaluate(relevance, scores, cut, members)
    guess = verdict.guessing(relevance)
    return Results(
        title=title, facts=facts, labels=labels, threshold=threshold, reliability=reliability,
        criteria=criteria, guess=guess,
        verdict=verdict.sentence(criteria, guess, cardinality(relevance.matrix)),
        curve=metrics.precision_recall_curve(relevance, scores),
        label_curves=_label_curves(relevance, scores, labels, curves_of),
        confusion=confusion(relevance, members, labels), **more,
    )  # fmt: skip


def label_results(Y: Checked, scores: Array, members: Any, names: Any) -> list[LabelResult]:
    """One line per label, in column order; unknown (NaN) relevance is left out."""
    tables = metrics.contingency_tables(Y, members)
    hits, misses, alarms = tables[:, 0, 0], tables[:, 0, 1], tables[:, 1, 0]
    areas = np.asarray(metrics.auc(Y, scores, average=None))
    precisions = metrics.average_precision_by_label(Y, scores)
    columns = (hits + misses, hits + alarms, hits, areas, precisions)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return [
        LabelResult(*row[:4], *(None if math.isnan(value) else value for value in row[4:]))
        for row in rows
    ]


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
        name = labels[k].name
        curves[name] = metrics.precision_recall_curve(column, scores[:, [k]], points=80)
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
    missed, given = ([labels[k].name for k in part] for part in (rows, columns))
    return Confusion(pairs, missed, given, counts[rows][:, columns].toarray())


def _largest(sums: Any) -> Array:
    sums = np.asarray(sums).ravel()
    order = np.argsort(-sums, kind="stable")[:_MAP]
    return order[sums[order] > 0]


def of_parts(points: Sequence[LearningPoint]) -> LearningCurve:
    """The curve that `evaluation.learning_curve` measured."""
    return LearningCurve(
        "Fresh copies of the model each learned a larger part of the training documents. All were "
        "tested on the documents of this page.",
        [point.n_learned for point in points],
        _columns([point.criteria for point in points], _MEASURED),
    )


def of_stream(points: Sequence[Any]) -> LearningCurve:
    """The curve of `evaluation.prequential`, by the latest examples at each point.

    >>> from labelrank.evaluation import CurvePoint
    >>> of_stream([CurvePoint(100, {"average_precision_loss": 0.25}, {})]).values
    {'average_precision': [0.75]}
    """
    step = -(-len(points) // _MOST_POINTS) or 1
    kept = list(points)[::step]
    recent = [dict(point.recent) for point in kept]
    for values in recent:
        if "average_precision_loss" in values:
            values["average_precision"] = 1.0 - values["average_precision_loss"]
    return LearningCurve(
        "Each example was first ranked by what had been learned before it, then learned. Each "
        "point is the mean since the point before it.",
        [point.n_seen for point in kept],
        _columns(recent, _PREQUENTIAL),
    )


def _columns(points: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, list[float]]:
    """The values of those criteria that all points have."""
    known = [name for name in names if points and all(name in point for point in points)]
    return {name: [point[name] for point in points] for name in known}


def read_learning_curve(path: str | os.PathLike[str]) -> LearningCurve:
    """The curve in a file of JSON lines, as `labelrank learn --curve` writes it."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({error.strerror}); give a file") from error
    try:
        records = [json.loads(line) for line in lines if line.strip()]
        points = [CurvePoint(int(r["n_seen"]), r["recent"], r["overall"]) for r in records]
        curve = of_stream(points)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no learning curve; give a file that labelrank learn --curve wrote"
        ) from error
    if not curve.values:
        raise InputError(f"{path} holds no point of a curve; let labelrank learn --curve write it")
    return curve


def words(criterion: str) -> str:
    """The name of a criterion as people write it.

    >>> words("ranking_loss"), words("micro_f1")
    ('ranking loss', 'micro F1')
    """
    return " ".join(_SPELLED.get(word, word) for word in criterion.split("_"))


def arrow(criterion: str) -> str:
    """Whether smaller or larger values are better; nothing for counts and unknown names.

    >>> arrow("ranking_loss"), arrow("micro_f1")
    ('↓', '↑')
    """
    try:
        return {1: "↑", -1: "↓", 0: ""}[table_of_criteria.get(criterion).direction]
    except InputError:
        return ""
