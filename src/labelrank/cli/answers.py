"""The answers to a batch of documents, and the rows and records that tell them."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from labelrank.errors import InputError

WIDE = ("labels", "ranked", "scores")
LONG = ("id", "label", "rank", "score", "in_set")
_MARKS = "|;,"


class Wanted(NamedTuple):
    """What is asked of a model: so many labels at least, cut where, with probabilities or not."""

    top: int
    threshold: float | None = None
    probabilities: bool = False

    def check(self) -> None:
        """Refuse a cut that can cut nothing."""
        cut = self.threshold
        if cut is not None and self.probabilities and not 0 <= cut <= 1:
            raise InputError(
                f"got --threshold {cut:g} with --probabilities; give a probability from 0 to 1, "
                "or leave out --probabilities to cut by scores"
            )
        if cut is not None and cut != cut:
            raise InputError("got --threshold nan; give a number")


class Place(NamedTuple):
    """One label of a ranking, as `RankedLabel`, with its probability where that is wanted."""

    label: str
    score: float
    in_set: bool
    probability: float | None = None


def places(tagger: Any, asked: tuple[Wanted, Any]) -> list[list[Place]]:
    """The rankings of some documents, each as far as the cut and at least as many as wanted."""
    from labelrank.learners.base import Answer
    from labelrank.tagger import ranked_labels

    wanted, documents = asked
    X = tagger.features(documents)
    answer = tagger.answer(X)
    chances = tagger.predict_proba(X) if wanted.probabilities else None
    if wanted.threshold is not None:
        values = answer.scores if chances is None else chances
        answer = Answer(answer.scores, values > wanted.threshold)
    rankings = ranked_labels(tagger.label_names_, answer, wanted.top, whole_sets=True)
    if chances is None:
        return [[Place(str(one[0]), *one[1:]) for one in ranking] for ranking in rankings]
    column = {name: k for k, name in enumerate(tagger.label_names_)}
    return [
        [Place(str(one[0]), *one[1:], float(row[column[one.label]])) for one in ranking]
        for ranking, row in zip(rankings, chances, strict=True)
    ]


@dataclass(frozen=True)
class Batch:
    """Some documents in their order: names, the columns of the input, and their rankings."""

    ids: Sequence[str]
    kept: Mapping[str, Sequence[Any]]
    rankings: Sequence[Sequence[Place]]
    texts: Sequence[str] | None = None
    id_column: str | None = None

    def records(self) -> Iterator[dict[str, Any]]:
        """One object per document, as JSON lines have it."""
        for name, ranked in zip(self.ids, self.rankings, strict=True):
            labels = [place.label for place in ranked if place.in_set]
            yield {"id": name, "labels": labels, "ranked": [_told(place) for place in ranked]}

    def long(self) -> Iterator[dict[str, Any]]:
        """One object per document and label."""
        for name, ranked in zip(self.ids, self.rankings, strict=True):
            for rank, place in enumerate(ranked, 1):
                yield {"id": name, "label": place.label, "rank": rank,
                       "score": _finite(place.score), "in_set": place.in_set,
                       **_chance(place)}  # fmt: skip


def _told(place: Place) -> dict[str, Any]:
    return {"label": place.label, "score": _finite(place.score), **_chance(place)}


def _finite(score: float) -> float | None:
    """The score; infinite ones are none, for JSON has no word for them."""
    return score if math.isfinite(score) else None


def _chance(place: Place) -> dict[str, float]:
    return {} if place.probability is None else {"probability": place.probability}


def batch_of(
    dataset: Any, first: int, rankings: Sequence[Sequence[Place]], id_column: str | None = None
) -> Batch:
    """The rankings beside what was read; rows without an id are numbered from `first` + 1."""
    columns = dataset.columns or {}
    names = dataset.ids or range(first + 1, first + dataset.n_instances + 1)
    kept = {name: _cells(cells) for name, cells in columns.items()}
    usual = next((name for name in columns if name.lower() == "id"), None)
    found = (dataset.reading or {}).get("id_column", usual)
    named_by = (id_column or found) if dataset.ids else None
    return Batch([str(name) for name in names], kept, rankings, dataset.texts, named_by)


def _cells(cells: Any) -> Sequence[Any]:
    return cells.tolist() if hasattr(cells, "tolist") else cells


class Layout:
    """The columns of a table of answers, and its rows.

    Lists of labels and of scores are one cell each: lists where `mark` is None, else joined by it
    (as JSON where it is empty). What the input calls like an answer keeps its name, and all
    answers are called `predicted_...` then.
    """

    def __init__(self, batch: Batch, *, long: bool, probabilities: bool, mark: str | None) -> None:
        self.long, self.mark = long, mark
        answers = [*(LONG if long else WIDE)]
        if probabilities:
            answers.append("probability" if long else "probabilities")
        self.kept = [] if long else list(batch.kept)
        self.answers = answers if long else _distinct(answers, self.kept)
        taken = [*self.kept, *self.answers]
        is_named = long or batch.id_column in self.kept
        self.id = [] if is_named else _distinct(["row" if "id" in taken else "id"], taken)
        self.names = [*self.id, *self.kept, *self.answers]
        self.left_out: dict[str, None] = {}

    def rows(self, batch: Batch) -> Iterator[list[Any]]:
        """The cells of each row, in the order of `names`."""
        if self.long:
            for one in batch.long():
                yield list(one.values())
            return
        self.left_out.update(dict.fromkeys(batch.kept.keys() - set(self.kept)))
        nothing = [None] * len(batch.ids)
        columns = [batch.kept.get(name, nothing) for name in self.kept]
        before = [batch.ids, *columns] if self.id else columns
        for place, ranked in enumerate(batch.rankings):
            yield [column[place] for column in before] + self._told(ranked)

    def _told(self, ranked: Sequence[Place]) -> list[Any]:
        chosen = [place.label for place in ranked if place.in_set]
        lists: list[list[Any]] = [
            chosen, [place.label for place in ranked], [place.score for place in ranked],
            [place.probability for place in ranked],
        ]  # fmt: skip
        return [self._cell(one) for one in lists[: len(self.answers)]]

    def _cell(self, values: list[Any]) -> Any:
        if self.mark is None:
            return values
        if not self.mark:
            return as_json_cell(values)
        is_text = all(isinstance(value, str) for value in values)
        return (str if is_text else Scores)(self.mark.join(map(str, values)))


class Scores(str):
    """Numbers of ours in one cell: no text of the input, of which a writer might warn."""


def as_json_cell(value: Any) -> str:
    """A list or an object as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _distinct(names: list[str], taken: Sequence[str]) -> list[str]:
    """The names, with a prefix, once or more, where one of them is taken."""
    while not set(taken).isdisjoint(names):
        names = [f"predicted_{name}" for name in names]
    return names


def mark_of(tagger: Any) -> str:
    """What stands between labels: as in the training file, or what is in no label; "" is JSON."""
    learned = (tagger.reading_ or {}).get("label_separator")
    names = list(map(str, tagger.label_names_))
    marks = [learned, *_MARKS] if isinstance(learned, str) and learned else list(_MARKS)
    return next((mark for mark in marks if not any(mark in name for name in names)), "")
