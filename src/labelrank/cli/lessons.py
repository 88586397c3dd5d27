"""What `labelrank learn` does with each batch: test it, learn it, and tell what changed."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.cli import models
from labelrank.cli.judging import Judge, Verdict
from labelrank.cli.strange import told_new
from labelrank.errors import InputError, LabelrankError
from labelrank.learners.held_out.cuts import best_threshold
from labelrank.learners.pairwise.perceptron import PairwisePerceptron
from labelrank.learners.perceptron import LinearPerceptron
from labelrank.learners.thresholded import ThresholdedRanker

# What comes in so many at a time are examples more than corrections: an arc may close this part of
# the margin that is wanted in one step, the cut is to hold by another, and each batch is gone
# through so often.
_MANY, _PACE, _CUT, _EPOCHS = 100, 0.0064, 0.4, 4


class Lessons:
    """A tagger that is taught, how many examples it has learned, and whether it is whole.

    Where it is corrected, also how many of them it answers otherwise before and after. A model that
    was there before is put to the test where the first batch, of `size`, is full: more may come.
    """

    def __init__(self, tagger: Any, size: int = 1) -> None:
        self._own_cut = OwnCut()
        self.tagger, self.learned, self.is_whole = tagger, 0, True
        self.otherwise_before = self.otherwise_after = 0
        self.was_there, self._size = hasattr(tagger, "learner_"), size
        self._known = list(getattr(tagger, "label_names_", ()))
        self._judge: Judge | None = None
        self._usual: dict[str, Any] = {}

    @property
    def is_corrected(self) -> bool:
        """Whether what is learned is on top of a ranker that stays."""
        return hasattr(self.tagger, "learner_") and self.tagger.is_corrected_

    def teach(self, part: Any, tally: Any) -> None:
        """Rank the examples by what was learned before, where that is asked for, and learn them."""
        counts = self._take_corrections(part)
        X = None if tally is None else _tested(self.tagger, part, tally)
        is_first_of_many = self.was_there and not self.learned and part.n_instances >= self._size
        if X is None and (counts or self._judge or is_first_of_many):
            X = self.tagger.features(models.documents_of(part, self.tagger))
        if is_first_of_many:
            self._judge = Judge(self.tagger)
            if self.is_corrected and self._size >= _MANY:
                self._go_gently(X)
        elif self._judge is not None:
            self._judge.test(self.tagger, part, X)
        if X is not None or self._own_cut.wants(self.tagger):
            X = self._own_cut.test(self.tagger, part, X)
        before = otherwise(self.tagger, part, X) if counts else 0
        self.is_whole = False
        try:
            learn_more(self.tagger, part, X)
            if not self.is_corrected:
                _go_over(self.tagger, part, X)
        except LabelrankError:  # a batch that is refused leaves no trace
            self.is_whole = True
            raise
        self.is_whole = True
        self.learned += part.n_instances
        if counts:
            self.otherwise_before += before
            self.otherwise_after += otherwise(self.tagger, part, X)

    def _take_corrections(self, part: Any) -> bool:
        """Whether these are corrections; their features are then more than those of the base.

        Only what learns in pieces and was begun so goes on by itself: to an average over all that
        `fit` has learned, a correction would be nothing.
        """
        from labelrank.learners.corrections.corrected import can_be_corrected

        states = part.prefer is not None and any(part.prefer)
        if states:
            _check(self.tagger, part)
        if not hasattr(self.tagger, "learner_"):
            return False
        is_fitted_whole = "in_pieces" not in self.tagger.summary_
        if states or (is_fitted_whole and can_be_corrected(self.tagger.learner_)):
            self.tagger.corrected()
        return self.is_corrected

    def _go_gently(self, X: Any) -> None:
        ranker = self.tagger.corrected()
        squares = np.asarray(sp.csr_array(X).multiply(X).sum(axis=1)).ravel()
        usual = float(np.median(squares[squares > 0])) if (squares > 0).any() else 1.0
        self._usual = {name: getattr(ranker, name) for name in ("C", "cut", "epochs")}
        pace = _PACE * ranker.wanted_margin(X) / usual
        ranker.set_params(C=pace, cut=_CUT, epochs=_EPOCHS)

    def finish(self) -> Verdict | None:
        """What came of it, where that can be told; later corrections count as usual."""
        if self._usual:
            self.tagger.learner_.set_params(**self._usual)
        self._own_cut.set(self.tagger)
        return None if self._judge is None else self._judge.verdict()

    def told(self, verdict: Verdict | None) -> str:
        """What has changed, in one line."""
        told = ""
        if self.is_corrected:
            before, after = self.otherwise_before, self.otherwise_after
            was = "was" if before == 1 else "were"
            told = f" as corrections: {before:,} {was} answered otherwise before, now {after:,}"
        if verdict is not None:
            told += f"; {verdict.told()}"
        elif self.was_there:
            told += "; too few to judge what else has changed"
        new = told_new(self.tagger.label_names_, self._known) if self.was_there else ""
        return f"{told}; {new}" if new else told


class OwnCut:
    """The cut of a model that `learn` began: the best on the last rows before they were learned."""

    _MOST, _LEAST = 1000, 100

    def __init__(self) -> None:
        self._rows: list[tuple[Any, Any]] = []

    def wants(self, tagger: Any) -> bool:
        """Whether the model has a cut that goes on being set."""
        learner: Any = getattr(tagger, "learner_", None)
        is_fixed = type(learner) is ThresholdedRanker and learner.strategy == "fixed"
        return is_fixed and "in_pieces" in tagger.summary_ and learner.threshold == 0

    def test(self, tagger: Any, part: Any, X: Any) -> Any:
        """Keep scores of rows that are to be learned, and their labels; returns their features."""
        if not self.wants(tagger):
            return X
        X = tagger.features(models.documents_of(part, tagger)) if X is None else X
        rows = np.flatnonzero(models.by_labels(part))
        truth = models.known_relevance(part, tagger)[rows]
        self._rows.append((tagger.learner_.estimator_.decision_function(X[rows]), truth))
        while sum(len(scores) for scores, _ in self._rows[1:]) >= self._MOST:
            del self._rows[0]
        return X

    def set(self, tagger: Any) -> None:
        """Cut where micro F1 of these rows is best, if they are enough."""
        if not self.wants(tagger) or sum(len(one) for one, _ in self._rows) < self._LEAST:
            return
        n_labels = len(tagger.label_names_)
        scores, truth = [], []
        for some, Y in self._rows:
            more = ((0, 0), (0, n_labels - some.shape[1]))
            scores.append(np.pad(some.astype(np.float64), more, constant_values=some.min()))
            truth.append(sp.csr_array((Y.data, Y.indices, Y.indptr), shape=(len(some), n_labels)))
        known = sp.csr_array(sp.vstack(truth))
        tagger.learner_.threshold_ = float(best_threshold(known, np.vstack(scores), "f1_micro"))


def _go_over(tagger: Any, part: Any, X: Any) -> None:
    """Go through the batch as often as the perceptrons' epochs say; `learn_more` was the first."""
    inner = getattr(tagger.learner_, "estimator_", tagger.learner_)
    if not isinstance(inner, LinearPerceptron | PairwisePerceptron) or inner.epochs == 1:
        return
    X = tagger.features(models.documents_of(part, tagger)) if X is None else X
    Y = models.known_relevance(part, tagger)
    for _ in range(inner.epochs - 1):
        tagger.learner_.partial_fit(X, Y)


def learn_more(tagger: Any, part: Any, X: Any = None) -> None:
    """Teach the tagger the rows in their order: by labels, by preferences, or by first both.

    `X` are their features, where these are there already.
    """
    if part.prefer is None or not any(part.prefer):
        models.learn_more(tagger, part, X)
        return
    X = tagger.features(models.documents_of(part, tagger)) if X is None else X
    for rows, is_stated in _runs(part):
        piece = part.subset(np.arange(rows.start, rows.stop))
        if is_stated:
            models.prefer(tagger, piece, X[rows])
        else:
            models.learn_more(tagger, piece, X[rows])


def _check(tagger: Any, part: Any) -> None:
    """Refuse before anything is learned what one of the rows would be refused for."""
    from labelrank.learners.corrections.corrected import can_be_corrected

    if not hasattr(tagger, "learner_"):
        raise InputError(
            f"{part.name} states preferences, but there is no model yet that they could correct; "
            "fit one on rows with labels first"
        )
    if not (tagger.is_corrected_ or can_be_corrected(tagger.learner_)):
        raise InputError(f"{type(tagger.learner_).__name__} cannot be corrected by preferences")
    if tagger.new_labels == "error":
        models.check_stated(part, tagger.label_names_)
        if strange := models.unknown_labels(part, tagger):
            raise InputError(
                f"{part.name} has the label {strange[0]!r}, which the model does not know; use "
                "--new-labels add or ignore"
            )


def _runs(part: Any) -> Iterator[tuple[slice, bool]]:
    """Rows one after the other that are learned in the same way; those with both come twice."""
    has_labels = np.diff(part.Y.indptr) > 0
    kinds = [(bool(pairs), i if pairs and has_labels[i] else -1)
             for i, pairs in enumerate(part.prefer)]  # fmt: skip
    start = 0
    for (is_stated, both), run in groupby(kinds):
        rows = slice(start, start := start + len(list(run)))
        if both >= 0:
            yield rows, False
        yield rows, is_stated


def otherwise(tagger: Any, part: Any, X: Any) -> int:
    """How many examples the tagger gives other labels than they have, or ranks otherwise."""
    answer = tagger.answer(X)
    truth = models.known_relevance(part, tagger).toarray()
    wrong = (answer.members != (truth > 0)) & ~np.isnan(truth)
    strange = set(models.unknown_labels(part, tagger)) if tagger.new_labels == "add" else set()
    columns = [k for k, name in enumerate(part.label_names) if str(name) in strange]
    new = (part.Y[:, columns] > 0).toarray() if columns else np.zeros((len(truth), 0), bool)
    is_wrong = wrong.any(axis=1) | new.any(axis=1)
    if part.prefer is not None:
        is_wrong &= models.by_labels(part)
        is_wrong |= [_is_violated(tagger, answer, i, pairs) for i, pairs in enumerate(part.prefer)]
    return int(is_wrong.sum())


def _is_violated(tagger: Any, answer: Any, row: int, pairs: Any) -> bool:
    """Whether one of the preferences does not hold in the answer."""
    places = zip(map(str, tagger.label_names_), answer.members[row], answer.scores[row])
    at = {name: (1.0 if member else -1.0, score) for name, member, score in places} if pairs else {}
    threshold, last = (0.0, 0.0), (-2.0, 0.0)

    def of(label: Any) -> tuple[float, float]:
        return threshold if label is None else at.get(label, last)

    return any(not of(better) > of(worse) for better, worse in pairs)


def _tested(tagger: Any, part: Any, tally: Any) -> Any:
    """The features of the examples, if they have labels that the tagger can be tested on."""
    from labelrank.metrics import evaluate_ranking

    known = set(map(str, getattr(tagger, "label_names_", ())))
    if known.isdisjoint(map(str, part.label_names)):
        return None
    X = tagger.features(models.documents_of(part, tagger))
    Y = models.relevance_of(part, tagger, warn=False)
    rows = slice(None) if part.prefer is None else models.by_labels(part)
    if Y[rows].shape[0]:
        scores = tagger.decision_function(X[rows])
        tally.add(evaluate_ranking(Y[rows], scores), len(scores))
    return X
