"""Examples for the page: a document, its ranked labels with the cut, and the words that decided."""

import itertools
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
        pieces = itertools.groupby(re.findall(r"\w+|\W+", text), lambda s: s.lower() in told)
        for spoke, together in pieces:
            yield "".join(together), spoke


def ranked_labels(
    scores: Array, members: Array, relevant: Array, label_names: Sequence[Any]
) -> list[RankedLabel]:
    """The ranking of one instance: all labels, the predicted ones first."""
    order = decoding.rank(scores[None, :], members=members[None, :])[0].tolist()
    return [
        RankedLabel(str(label_names[k]), float(scores[k]), bool(members[k]), bool(relevant[k]))
        for k in order
    ]


def examples(
    tagger: Any, documents: Any, given: Any, *, ids: Sequence[Any] | None, count: int
) -> list[Document]:
    """Documents spread over the data: the first of each of `count` equal stretches.

    `given` are the `Answers` to the documents.
    """
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
    words = [(str(terms[j]), float(addend)) for j, addend in pairs if addend]
    return Reason(name, float(why.margin), words)
