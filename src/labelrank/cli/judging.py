"""Whether a model that is taught becomes worse than it was, by examples it has not learned yet."""

import copy
from typing import Any, NamedTuple

import numpy as np

from labelrank.cli import models

# A fall by more than this is worse (of average precision and of micro F1); fewer examples than
# these tell nothing.
_FALL, ENOUGH = 0.005, 100


class Count(NamedTuple):
    """Summed average precision of examples, and their labels right, wrong and missing."""

    precision: float
    right: int
    wrong: int
    missing: int

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.wrong + self.missing, 1)


class Verdict(NamedTuple):
    """Criteria of the model as it was and as it is, on examples before it learned them."""

    n_instances: int
    average_precision_before: float
    average_precision: float
    micro_f1_before: float
    micro_f1: float

    @property
    def is_worse(self) -> bool:
        """Whether one of the two criteria fell, by more than chance may do."""
        fell = (
            self.average_precision - self.average_precision_before,
            self.micro_f1 - self.micro_f1_before,
        )
        return min(fell) < -_FALL

    def told(self) -> str:
        return (
            f"average precision was {self.average_precision_before:.4f}, now "
            f"{self.average_precision:.4f}, micro F1 was {self.micro_f1_before:.4f}, now "
            f"{self.micro_f1:.4f}, on {self.n_instances:,} of them before they were learned"
        )


def compared(before: Any, now: Any, dataset: Any) -> Verdict:
    """Two models on the labelled rows of a data set that neither has learned."""
    counts = []
    for one in (before, now):
        known = set(map(str, one.label_names_))
        more = [name for name in now.label_names_ if str(name) not in known]
        truth = models.in_columns(dataset, [*one.label_names_, *more])
        counts.append(_count(one.answer(models.documents_of(dataset, one)), truth))
    return _verdict(dataset.n_instances, *counts)


def _verdict(n: int, before: Count, now: Count) -> Verdict:
    return Verdict(n, before.precision / n, now.precision / n, before.f1, now.f1)


class Judge:
    """Puts each batch to the model as it was and to what it has become, before this learns it."""

    def __init__(self, tagger: Any) -> None:
        self.before = copy.deepcopy(tagger)
        self._counts: list[tuple[int, Count, Count]] = []

    def test(self, tagger: Any, part: Any, X: Any) -> None:
        """Count how both answer the examples that state labels."""
        rows = np.flatnonzero(models.by_labels(part))
        truth = models.known_relevance(part, tagger)[rows]
        if truth.shape[0]:
            sides = (_count(one.answer(X[rows]), truth) for one in (self.before, tagger))
            self._counts.append((truth.shape[0], *sides))

    def verdict(self) -> Verdict | None:
        """By the later half of what was tested; None where this is too little."""
        latest = self._counts[len(self._counts) // 2 :]
        n = sum(size for size, _, _ in latest)
        if n < ENOUGH:
            return None
        sides = zip(*(two for _, *two in latest), strict=True)
        before, now = (Count(*map(sum, zip(*side, strict=True))) for side in sides)
        return _verdict(n, before, now)


def _count(answer: Any, truth: Any) -> Count:
    """Labels that the model does not know come last."""
    from labelrank.metrics import average_precision_loss

    more = ((0, 0), (0, truth.shape[1] - answer.scores.shape[1]))
    scores = np.pad(answer.scores.astype(np.float64), more, constant_values=-np.inf)
    members = np.pad(answer.members, more)
    ranked = _set_first(scores, members)
    losses = average_precision_loss(truth, ranked, per_instance=True)
    grades = truth.toarray()
    relevant, known = grades > 0, ~np.isnan(grades)
    return Count(
        float((1.0 - np.nan_to_num(losses)).sum()),
        int((members & relevant).sum()),
        int((members & ~relevant & known).sum()),
        int((~members & relevant).sum()),
    )


def _set_first(scores: Any, members: Any) -> Any:
    """Scores that rank the set first, as the answer does."""
    from labelrank import decoding

    order = decoding.rank(scores, None, members)
    places = np.empty(order.shape)
    np.put_along_axis(places, order, -np.arange(order.shape[1], dtype=float)[None], axis=1)
    return places
