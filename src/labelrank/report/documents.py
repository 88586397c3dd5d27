"""Examples for the page: a document, its ranked labels with the cut, and the words that decided."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from labelrank import decoding
from labelrank._types import Array
from labelrank.errors import LabelrankError

_BEYOND_THE_CUT, _MOST_SHOWN = 5, 25
_EXPLAINED, _WORDS = 3, 7
_LONGEST = 1200


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
        """The text in pieces, each with whether it is a word that spoke for a label.

        >>> list(Document("a", "Rye bread", [], [Reason("grain", 1.0, [("rye", 1.0)])]).pieces())
        [('Rye', True), (' bread', False)]
        """
        told = {word for reason in self.reasons for word, addend in reason.words if addend > 0}
        text = self.text if len(self.text) <= _LONGEST else self.text[:_LONGEST] + " …"
        plain = ""
        for piece in re.split(r"(\w+)", text):
            if piece.lower() in told:
                if plain:
                    yield plain, False
                yield piece, True
                plain = ""
            else:
                plain += piece
        if plain:
            yield plain, False


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


def missed_labels(
    scores: Array, members: Array, relevant: Array, label_names: Sequence[str], below: int
) -> list[tuple[str, int]]:
    """The relevant labels below so many places, each with its place in the ranking.

    >>> one = np.array([3.0, 2.0, 1.0]), np.array([True, False, False]), np.array([0, 0, 1])
    >>> missed_labels(*one, ["a", "b", "c"], below=1)
    [('c', 3)]
    """
    order = decoding.rank(scores[None, :], members=members[None, :])[0]
    places = [place for place in range(below, len(order)) if relevant[order[place]]]
    return [(str(label_names[order[place]]), place + 1) for place in places]


def examples(
    tagger: Any, documents: Any, Y: Any, scores: Array, members: Any, *, ids: Any, count: int
) -> list[Document]:
    """Documents spread over the data: the first of each of `count` equal stretches."""
    rows = np.unique(np.linspace(0, len(scores), count, endpoint=False).astype(int))
    terms = tagger.get_feature_names_out() if _explains(tagger) else None
    found = []
    for i in rows if count else ():
        chosen, relevant = (part[[i]].toarray()[0] > 0 for part in (members, Y))
        places = (scores[i], chosen, relevant, tagger.label_names_)
        ranked = ranked_labels(*places)
        is_text = isinstance(documents, list)
        document = documents[i] if is_text else documents[i : i + 1]
        found.append(
            Document(
                name=str(ids[i]) if ids else f"document {i + 1}",
                text=document if is_text else "",
                ranked=ranked[:_MOST_SHOWN],
                reasons=[] if terms is None else _reasons(tagger, document, ranked, terms),
                left_out=max(len(ranked) - _MOST_SHOWN, 0),
                missed=missed_labels(*places, below=len(ranked))[:_MOST_SHOWN],
            )
        )
    return found


def _explains(tagger: Any) -> bool:
    """Hashed words have no names that would explain anything."""
    hashed = getattr(tagger.vectorizer_, "representation", "") == "hashing"
    return hasattr(tagger.learner_, "why") and not hashed


def _reasons(
    tagger: Any, document: Any, ranked: Sequence[RankedLabel], terms: Array
) -> list[Reason]:
    """Reasons for the first labels of the set, or for the first label where it is empty."""
    explained = [label for label in ranked[:_EXPLAINED] if label.chosen] or ranked[:1]
    by_text = {str(name): name for name in tagger.label_names_}
    try:
        found = [(one.name, tagger.why(document, by_text[one.name])) for one in explained]
    except LabelrankError:
        return []
    return [Reason(name, float(why.margin), _words(why, terms)) for name, why in found]


def _words(why: Any, terms: Array) -> list[tuple[str, float]]:
    pairs = zip(why.features[:_WORDS], why.contributions[:_WORDS], strict=True)
    return [(str(terms[j]), float(addend)) for j, addend in pairs if addend]
