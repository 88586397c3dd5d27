"""What an answer is worth, in five criteria and one sentence, beside guessing by frequency."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.relevance import check_relevance

# One for each question of a person who wants to use the answers.
CHIEF = {
    "precision_at_1": "the first suggestion is right",
    "micro_f1": "the sets, all labels together",
    "macro_f1": "the sets, mean over labels",
    "average_precision": "the right labels stand far up",
    "ranking_loss": "pairs in the wrong order",
}


def chief(criteria: Mapping[str, float]) -> dict[str, float]:
    """The five criteria, from all of them.

    >>> chief({"micro_f1": 0.5, "average_precision_loss": 0.25})
    {'micro_f1': 0.5, 'average_precision': 0.75}
    """
    known = dict(criteria)
    if "average_precision_loss" in known:
        known["average_precision"] = 1.0 - known["average_precision_loss"]
    return {name: known[name] for name in CHIEF if name in known}


def guessing(Y: Any) -> dict[str, float]:
    """The chief criteria, micro precision and recall of guessing by frequency.

    Every row gets the same answer: the labels by their frequency in these very rows, cut where
    micro F1 is best. No guess that knows less does better, so a model should beat it.

    Parameters
    ----------
    Y : relevance (n, K)

    Examples
    --------
    >>> found = guessing([[1, 0, 0], [1, 1, 0]])
    >>> found["micro_recall"], found["micro_precision"], found["ranking_loss"]
    (1.0, 0.75, 0.0)
    """
    Y = check_relevance(Y)
    entries = Y.tocoo()
    relevant, unknown = entries.data > 0, np.isnan(entries.data)
    columns = [np.bincount(entries.col[part], minlength=Y.shape[1]) for part in (relevant, unknown)]
    counts, known = columns[0], Y.shape[0] - columns[1]
    order = np.argsort(-counts, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows, places = entries.row, place[entries.col]
    sorted_by = np.lexsort((places, rows))
    return _of_sets(counts[order], known[order]) | _of_ranking(
        Y.shape, rows[sorted_by], places[sorted_by], relevant[sorted_by], unknown[sorted_by]
    )


def _of_sets(counts: Array, known: Array) -> dict[str, float]:
    """The criteria of the best first labels, given to every row."""
    hits, given = np.cumsum(counts), np.cumsum(known)
    micro = _ratio(2 * hits, given + hits[-1])
    size = int(np.argmax(micro)) + 1
    by_label = np.where(np.arange(len(counts)) < size, _ratio(2 * counts, known + counts), 0.0)
    return {
        "micro_precision": float(_ratio(hits, given)[size - 1]),
        "micro_recall": float(_ratio(hits, hits[-1])[size - 1]),
        "micro_f1": float(micro[size - 1]),
        "macro_f1": float(by_label.mean()),
    }


def _ratio(part: Any, whole: Any) -> Array:
    return np.asarray(part / np.maximum(whole, 1), dtype=float)


def _of_ranking(
    shape: tuple[int, int], rows: Array, places: Array, relevant: Array, unknown: Array
) -> dict[str, float]:
    """The criteria of one ranking for all rows, from the relevant and unknown labels by place."""
    n, n_labels = shape
    n_unknown = np.bincount(rows[unknown], minlength=n)
    n_relevant = np.bincount(rows[relevant], minlength=n)
    n_others = n_labels - n_unknown - n_relevant
    ranks = (places + 1 - _so_far(unknown, rows, n))[relevant]
    hits, of = _so_far(relevant, rows, n)[relevant], rows[relevant]
    precision = _ratio(np.bincount(of, hits / ranks, minlength=n), n_relevant)
    loss = _ratio(np.bincount(of, ranks - hits, minlength=n), n_relevant * n_others)
    is_open = (n_relevant > 0) & (n_others > 0)
    return {
        "precision_at_1": float((ranks == 1).sum() / max(n, 1)),
        "average_precision": float(np.where(is_open, precision, 1.0).mean()),
        "ranking_loss": float(np.where(is_open, loss, 0.0).mean()),
    }


def _so_far(marked: Array, rows: Array, n: int) -> Array:
    """For each entry how many of its row are marked, up to and with it."""
    total = np.cumsum(marked)
    before = np.concatenate([[0], total])[np.searchsorted(rows, np.arange(n))]
    return np.asarray(total - before[rows])


def sentence(
    criteria: Mapping[str, float], guess: Mapping[str, float], labels_per_row: float
) -> str:
    """How much was found and how much is wrong, beside what guessing would do.

    Parameters
    ----------
    criteria : mapping with micro_precision and micro_recall
    guess : what `guessing` gives for the same rows
    labels_per_row : float

    Examples
    --------
    >>> model, guess = ({"micro_precision": p, "micro_recall": r} for p, r in ((.7, .65), (.2, .3)))
    >>> print(sentence(model, guess, 3.7))
    2.4 of 3.7 labels found per document, 3 of 10 suggestions wrong; guessing by frequency would \
find 1.1 of 3.7, 8 of 10 wrong.
    """
    of = _short(labels_per_row, labels_per_row)
    model, guesser = (
        f"{_short(one['micro_recall'] * labels_per_row, labels_per_row)} of {of}"
        for one in (criteria, guess)
    )
    return (
        f"{model} labels found per document, {_wrong(criteria, 'suggestions ')}; "
        f"guessing by frequency would find {guesser}, {_wrong(guess)}."
    )


def beats(criteria: Mapping[str, float], guess: Mapping[str, float]) -> bool:
    """Whether the sets are better than the guess, by micro F1."""
    return criteria["micro_f1"] > guess["micro_f1"]


def _short(value: float, labels_per_row: float) -> str:
    """Two places where one would show nothing."""
    return f"{value:.1f}" if labels_per_row >= 2 else f"{value:.2f}"


def _wrong(criteria: Mapping[str, float], what: str = "") -> str:
    """The share of wrong suggestions, of 10, or of 100 where it is next to nothing or to all."""
    if not criteria["micro_precision"]:
        return f"no {what or 'suggestion '}right"
    share = 1.0 - criteria["micro_precision"]
    whole = 10 if 0.05 <= share < 0.95 else 100
    return f"{whole * share:.0f} of {whole} {what}wrong"
