"""The page of a model: a fitted tagger put to labelled documents, and the template filled in."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank import __version__, decoding, metrics
from labelrank._types import Array
from labelrank.atomic import atomic_write
from labelrank.errors import LabelrankError
from labelrank.evaluation import verdict
from labelrank.evaluation.workers import PeakMemory
from labelrank.learners.thresholded import ThresholdedRanker
from labelrank.relevance import Checked, cardinality
from labelrank.report import charts
from labelrank.report.results import (
    Document,
    LearningCurve,
    RankedLabel,
    Reason,
    Results,
    arrow,
    gather,
    words,
)

_DRAWN_AT_FIRST = 4
_BEYOND_THE_CUT, _MOST_SHOWN = 5, 25
_EXPLAINED, _WORDS = 3, 7


class Answers(NamedTuple):
    """Features, relevance, scores and sets (0/1, sparse) of documents, and what they took."""

    X: Any
    Y: Checked
    scores: Array
    members: sp.csr_array
    seconds: float
    peak_mib: float | None

    def criteria(self) -> dict[str, float]:
        """All criteria of the sets as predicted."""
        return metrics.evaluate(self.Y, self.scores, predicted=self.members)

    @property
    def is_cut(self) -> bool:
        """Whether the sets are the labels with a score above 0."""
        return bool(((self.scores > 0) == (self.members.toarray() > 0)).all())


def answers(tagger: Any, documents: Any, labels: Any) -> Answers:
    """Put the tagger to the documents: each is turned into features once, and scored once."""
    with PeakMemory() as peak:
        began = time.perf_counter()
        X = tagger.features(documents)
        scores, members = tagger.answer(X)
        seconds = time.perf_counter() - began
    Y = Checked(tagger.relevance(labels))
    rows = X.tocsr() if sp.issparse(X) else X
    return Answers(rows, Y, scores, sp.csr_array(members, dtype=np.int8), seconds, peak.mib)


def of_tagger(
    tagger: Any, documents: Any, labels: Any, *, data: str = "", title: str | None = None,
    ids: Sequence[Any] | None = None, facts: Mapping[str, str] | None = None,
    given: Answers | None = None, name: str = "this model",
    criteria: Mapping[str, float] | None = None,
    beside: Mapping[str, Mapping[str, float]] | None = None, thresholds: Sequence[float] = (),
    curves_of: Sequence[str] = (), learning: LearningCurve | None = None, examples: int = 6,
) -> Results:  # fmt: skip
    """Everything that a page shows of a fitted `Tagger` on labelled documents.

    Parameters
    ----------
    tagger : Tagger
    documents : list of texts, or the features the tagger was trained on
    labels : label lists, or relevance in the columns of the tagger
    data : str
        Name of the data.
    title, ids, facts
        Title of the page, names of the documents, more lines of the summary.
    given, criteria : Answers, mapping or None
        What `answers` gave for the same documents, and its criteria, if they are there already.
    thresholds : sequence of float
        Cuts of this model's scores that stand beside it.
    name, beside, curves_of, learning
        See `Results` and `gather`; `of_parts` and `read_learning_curve` make curves of learning.
    examples : int
        Documents to show.

    Examples
    --------
    >>> from labelrank import Tagger, datasets, report
    >>> data = datasets.load("debtags-sample")
    >>> tagger = Tagger().fit(data.train.texts, data.train.Y, label_names=data.label_names)
    >>> results = report.of_tagger(tagger, data.test.texts, data.test.Y, data="debtags-sample")
    >>> results.title
    'AutoRanker on debtags-sample'
    >>> html = report.page(results)
    """
    given = given or answers(tagger, documents, labels)
    cuts = {
        f"cut at {cut:g}": metrics.evaluate(given.Y, given.scores, float(cut)) for cut in thresholds
    }
    settings = " ".join(repr(tagger.learner_).split())
    named = (part for part in (learner_name(tagger), data) if part)
    return gather(
        " on ".join(named) if title is None else title,
        {**_facts(tagger, given, data), **(facts or {}), "settings": settings},
        given.Y, given.scores, label_names=tagger.label_names_, members=given.members,
        threshold=0.0 if given.is_cut else None, probabilities=_probabilities(tagger, given.X),
        curves_of=curves_of, name=name, criteria=criteria, beside={**cuts, **(beside or {})},
        learning=learning,
        documents=_examples(tagger, documents, given, ids=ids, count=examples),
    )  # fmt: skip


def learner_name(tagger: Any) -> str:
    """The class of the learner, without what only cuts its ranking."""
    learner = tagger.learner_
    return type(learner.estimator if isinstance(learner, ThresholdedRanker) else learner).__name__


def _probabilities(tagger: Any, X: Any) -> Array | None:
    """Probability of relevance (n × K), where the learner has it."""
    return tagger.predict_proba(X) if decoding.has_probabilities(tagger.learner_) else None


def _facts(tagger: Any, given: Answers, data: str) -> dict[str, str]:
    told = tagger.summary_
    peak = "" if given.peak_mib is None else f"{given.peak_mib:,.0f} MiB"
    facts = {
        "learner": learner_name(tagger),
        "chosen": getattr(tagger.learner_, "best_", ""),
        "trained on": f"{told['n_documents']:,}" + (f" ({told['data']})" if told["data"] else ""),
        "tested on": f"{len(given.scores):,}" + (f" ({data})" if data else ""),
        "labels": f"{told['n_labels']:,}",
        "labels per document": f"{cardinality(given.Y.matrix):.2f}",
        "features": f"{told['n_features']:,}",
        "representation": told["representation"],
        "time to train": duration(told["seconds"]),
        "time to predict": duration(given.seconds),
        "memory to predict": peak,
        "trained": told["date"][:10],
    }
    return {name: value for name, value in facts.items() if value}


def duration(seconds: float) -> str:
    """A time as people read it.

    >>> duration(0.0123), duration(3.21), duration(4000)
    ('12 ms', '3.21 s', '67 min')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 600 else f"{seconds / 60:,.0f} min"


def ranked_labels(
    scores: Array, members: Array, relevant: Array, label_names: Sequence[Any]
) -> list[RankedLabel]:
    """The ranking of one instance: all labels, the predicted ones first."""
    order = decoding.rank(scores[None, :], members=members[None, :])[0].tolist()
    return [
        RankedLabel(str(label_names[k]), float(scores[k]), bool(members[k]), bool(relevant[k]))
        for k in order
    ]


def _examples(
    tagger: Any, documents: Any, given: Any, *, ids: Sequence[Any] | None, count: int
) -> list[Document]:
    """Documents spread over the data: the first of each of `count` equal stretches."""
    n = len(given.scores)
    rows = np.unique(np.linspace(0, n, count, endpoint=False).astype(int)) if count else ()
    terms = tagger.get_feature_names_out() if _explains(tagger) else None
    shown = []
    for i in rows:
        chosen, relevant = (part[[i]].toarray()[0] > 0 for part in (given.members, given.Y.matrix))
        ranked = ranked_labels(given.scores[i], chosen, relevant, tagger.label_names_)
        end = int(chosen.sum()) + _BEYOND_THE_CUT
        missed = [(one.name, end + k) for k, one in enumerate(ranked[end:], 1) if one.relevant]
        reasons = [] if terms is None else _reasons(tagger, given.X[i : i + 1], ranked, terms)
        shown.append(Document(
            name=str(ids[i]) if ids else f"document {i + 1}",
            text=documents[i] if isinstance(documents, list) else "",
            ranked=ranked[: min(end, _MOST_SHOWN)], reasons=reasons,
            left_out=max(min(end, len(ranked)) - _MOST_SHOWN, 0), missed=missed[:_MOST_SHOWN],
        ))  # fmt: skip
    return shown


def _explains(tagger: Any) -> bool:
    """Hashed words have no names that would explain anything."""
    hashed = getattr(tagger.vectorizer_, "representation", "") == "hashing"
    return hasattr(tagger.learner_, "why") and not hashed


def _reasons(tagger: Any, x: Any, ranked: Sequence[RankedLabel], terms: Array) -> list[Reason]:
    """Reasons for the first labels of the set, or for the first label where it is empty."""
    explained = [label.name for label in ranked[:_EXPLAINED] if label.chosen] or [ranked[0].name]
    by_text = {str(name): name for name in tagger.label_names_}
    try:
        return [_reason(name, tagger.why(x, by_text[name]), terms) for name in explained]
    except LabelrankError:
        return []


def _reason(name: str, why: Any, terms: Array) -> Reason:
    pairs = zip(why.features[:_WORDS], why.contributions[:_WORDS], strict=True)
    strongest = [(str(terms[j]), float(addend)) for j, addend in pairs if addend]
    return Reason(name, float(why.margin), strongest)


class CriteriaRow(NamedTuple):
    """One criterion: a value for each model or threshold, each with whether it is the best."""

    name: str
    cells: list[tuple[str, bool]]


def page(results: Results) -> str:
    """The HTML of the page.

    Parameters
    ----------
    results : Results
        See `of_tagger` and `gather`.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.report import gather
    >>> results = gather("Two labels", {}, [[1, 0]], np.eye(1, 2), label_names=["a", "b"])
    >>> page(results).startswith("<!doctype html>")
    True
    """
    columns = {results.name: results.criteria, **results.beside}
    chief = {name: verdict.chief(values) for name, values in columns.items()}
    guess = {name: f"{value:.4f}" for name, value in results.guess.items()}
    return render(
        "page.html.jinja", results=results, columns=list(columns), guess=guess, says=verdict.CHIEF,
        chief=list(criteria_rows(chief)),
        others=[row for row in criteria_rows(columns) if row.name not in verdict.CHIEF],
        labels=sorted(results.labels, key=lambda label: -label.relevant),
        charts=_charts(results), colors=charts.COLORS, at_first=_DRAWN_AT_FIRST,
    )  # fmt: skip


def render(template: str, **values: Any) -> str:
    """A template of this package filled in; all values are escaped, but for our own drawings."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("labelrank.report", "templates")
    templates = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.filters |= {"words": words, "arrow": arrow, "outcome": _outcome}
    return templates.get_template(template).render(version=__version__, **values)


def criteria_rows(columns: Mapping[str, Mapping[str, float]]) -> Iterator[CriteriaRow]:
    """The values of each criterion side by side; the best are marked where there are several.

    >>> for row in criteria_rows({"a": {"micro_f1": 0.5}, "b": {"micro_f1": 0.75}}):
    ...     print(row.name, row.cells)
    micro_f1 [('0.5000', False), ('0.7500', True)]
    """
    for name in next(iter(columns.values())):
        values = [column.get(name, float("nan")) for column in columns.values()]
        shown = [f"{value:.4f}" if arrow(name) else f"{value:.0f}" for value in values]
        known = [value for value in values if value == value]
        best = (min if arrow(name) == "↓" else max)(known, default=None)
        marks = [len(values) > 1 and arrow(name) != "" and value == best for value in values]
        texts = [text if value == value else "–" for text, value in zip(shown, values, strict=True)]
        yield CriteriaRow(name, list(zip(texts, marks, strict=True)))


def write(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write the page to `path`, whole or not at all."""
    return write_text(page(results), path)


def write_text(html: str, path: str | os.PathLike[str]) -> Path:
    with atomic_write(path, "w") as file:
        file.write(html)
    return Path(path)


def drawn(svg: str) -> Any:
    """A drawing of ours, to stand in the page as it is: its texts are escaped already."""
    from markupsafe import Markup

    return Markup(svg)  # noqa: S704 - our own SVG


def _charts(results: Results) -> dict[str, Any]:
    made = {}
    curve = results.curve
    if len(curve.thresholds):
        made["precision_recall"] = charts.precision_recall_chart(curve, results.label_curves)
        made["threshold"] = charts.threshold_chart(curve, results.threshold)
    if results.reliability is not None:
        made["reliability"] = charts.reliability_chart(results.reliability)
        made["probabilities"] = charts.probability_histogram(results.reliability)
    if results.confusion is not None:
        made["confusion"] = charts.heat_map(results.confusion)
    if results.learning is not None:
        made["learning"] = charts.learning_chart(results.learning)
    return {name: drawn(svg) for name, svg in made.items()}


def _outcome(label: RankedLabel) -> str:
    if label.chosen:
        return "hit" if label.relevant else "wrong"
    return "missed" if label.relevant else ""
