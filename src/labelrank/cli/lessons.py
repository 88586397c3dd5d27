"""What `labelrank learn` does with each batch: test it, learn it, and tell what changed."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np

from labelrank.cli import models
from labelrank.errors import InputError, LabelrankError


class Lessons:
    """A tagger that is taught, how many examples it has learned, and whether it is whole.

    Where it is corrected, also how many of them it answers otherwise before and after.
    """

    def __init__(self, tagger: Any) -> None:
        self.tagger, self.learned, self.is_whole = tagger, 0, True
        self.otherwise_before = self.otherwise_after = 0

    @property
    def is_corrected(self) -> bool:
        """Whether what is learned is on top of a ranker that stays."""
        return hasattr(self.tagger, "learner_") and self.tagger.is_corrected_

    def teach(self, part: Any, tally: Any) -> None:
        """Rank the examples by what was learned before, where a tally is kept, and learn them."""
        X = None if tally is None else _tested(self.tagger, part, tally)
        counts = self.is_corrected or (part.prefer is not None and hasattr(self.tagger, "learner_"))
        if counts:
            X = self.tagger.features(models.documents_of(part, self.tagger)) if X is None else X
            before = otherwise(self.tagger, part, X)
        self.is_whole = False
        try:
            learn_more(self.tagger, part, X)
        except LabelrankError:  # a batch that is refused leaves no trace
            self.is_whole = True
            raise
        self.is_whole = True
        self.learned += part.n_instances
        if counts:
            self.otherwise_before += before
            self.otherwise_after += otherwise(self.tagger, part, X)

    def told(self) -> str:
        """What a tagger that is corrected says of it."""
        if not self.is_corrected:
            return ""
        before, after = self.otherwise_before, self.otherwise_after
        was = "was" if before == 1 else "were"
        return f" as corrections: {before:,} {was} answered otherwise before, now {after:,}"


def learn_more(tagger: Any, part: Any, X: Any = None) -> None:
    """Teach the tagger the rows in their order: by labels, by preferences, or by first both.

    `X` are their features, where these are there already.
    """
    if part.prefer is None or not any(part.prefer):
        models.learn_more(tagger, part, X)
        return
    _check(tagger, part)
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
        is_wrong &= by_labels(part)
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


def by_labels(part: Any) -> Any:
    """Which rows are learned by their labels, and not by preferences alone."""
    return (np.diff(part.Y.indptr) > 0) | np.array([not pairs for pairs in part.prefer], bool)


def _tested(tagger: Any, part: Any, tally: Any) -> Any:
    """The features of the examples, if they have labels that the tagger can be tested on."""
    from labelrank.metrics import evaluate_ranking

    known = set(map(str, getattr(tagger, "label_names_", ())))
    if known.isdisjoint(map(str, part.label_names)):
        return None
    X = tagger.features(models.documents_of(part, tagger))
    Y = models.relevance_of(part, tagger, warn=False)
    rows = slice(None) if part.prefer is None else np.flatnonzero(by_labels(part))
    if Y[rows].shape[0]:
        scores = tagger.decision_function(X[rows])
        tally.add(evaluate_ranking(Y[rows], scores), len(scores))
    return X
