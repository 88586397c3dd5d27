"""A fitted tagger put to labelled documents: everything its page shows."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank import metrics
from labelrank._types import Array
from labelrank.evaluation.usage import PeakMemory
from labelrank.learners.thresholded import ThresholdedRanker
from labelrank.relevance import Checked, cardinality
from labelrank.report.documents import examples as examples_of
from labelrank.report.results import LearningCurve, Results, gather
from labelrank.tagger import probabilities


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
    'BinaryRelevancePerceptron on debtags-sample'
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
        documents=examples_of(tagger, documents, given, ids=ids, count=examples),
    )  # fmt: skip


def learner_name(tagger: Any) -> str:
    """The class of the learner, without what only cuts its ranking."""
    learner = tagger.learner_
    return type(learner.estimator if isinstance(learner, ThresholdedRanker) else learner).__name__


def _probabilities(tagger: Any, X: Any) -> Array | None:
    """Probability of relevance (n × K), where the learner has it."""
    learner = tagger.learner_
    learner = learner.estimator_ if isinstance(learner, ThresholdedRanker) else learner
    has_any = hasattr(learner, "predict_proba")
    return np.clip(probabilities(learner, X), 0.0, 1.0) if has_any else None


def _facts(tagger: Any, given: Answers, data: str) -> dict[str, str]:
    told = tagger.summary_
    peak = "" if given.peak_mib is None else f"{given.peak_mib:,.0f} MiB"
    facts = {
        "learner": learner_name(tagger),
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
