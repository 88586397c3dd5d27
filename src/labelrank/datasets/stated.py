"""Preferences that records state beside their labels, or in place of them.

A row `{"text": …, "prefer": [["rye", "trade"], ["rye", null]]}` says that rye goes before trade,
and that rye is relevant: null is the threshold. See `labelrank.preferences.Arcs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank.datasets.frames import Frame
from labelrank.errors import FormatError, InputError
from labelrank.preferences import checked_pairs

if TYPE_CHECKING:  # labelling reads choice, which reads this
    pass

COLUMN = "prefer"
Pairs = list[tuple[str | None, str | None]]


def column_of(frame: Frame, taken: Sequence[str]) -> str | None:
    """The column of preferences: one of that name with a list in it that nothing else takes."""
    if COLUMN in taken or COLUMN not in frame.columns:
        return None
    cells = frame.columns[COLUMN]
    is_list = any(isinstance(cell, list) for cell in cells)
    return COLUMN if is_list and frame.unit in ("line", "record") else None


def preferences_of(frame: Frame, column: str | None, labels: Any) -> list[Pairs] | None:
    """What each row prefers, checked against itself and against its labels (`labels_of`)."""
    if column is None:
        return None
    if labels.classes is not None:
        raise FormatError(f"{frame.source.name}: preferences are of labels, but it has targets")
    Y, place = labels.Y, {name: k for k, name in enumerate(labels.names)}
    stated: list[Pairs] = []
    for row, cell in enumerate(frame.columns[column]):
        try:
            pairs = [] if cell is None else checked_pairs(cell)
            stated.append([(_name(better), _name(worse)) for better, worse in pairs])
            if Y.indptr[row] < Y.indptr[row + 1]:
                _check_against(stated[-1], Y[[row]].toarray()[0], place)
        except InputError as error:
            raise FormatError(f"{frame.where(row)}: {error}") from error
    return stated


def _name(label: Any) -> str | None:
    if isinstance(label, bool) or not isinstance(label, str | int | float | None):
        raise InputError(f"got {label!r:.60} as a label; give its name, or null for the threshold")
    return label if label is None else str(label)


def _check_against(pairs: Pairs, grades: Any, place: dict[str, int]) -> None:
    """Raise InputError where the labels of the row say otherwise: relevant, threshold, others."""
    levels = {name: _level(float(grades[k])) for name, k in place.items()} | {None: 1.0}
    for better, worse in pairs:
        if levels.get(better, 0.0) < levels.get(worse, 0.0):  # never so where one is unknown
            raise InputError(
                f"got {better or 'the threshold'} over {worse or 'the threshold'}, but the labels "
                "of the row say otherwise; change one of them"
            )


def _level(grade: float) -> float:
    """Of a label against the threshold at 1: relevant ones by grade above it, NaN if unknown."""
    return 1.0 + grade if grade > 0 else grade


def apart(dataset: Any) -> tuple[Any, Any]:
    """The rows that are to be learned by their labels, and those that state preferences (or None).

    A row with preferences and no labels says nothing of the other labels; one with both is in both.
    """
    if dataset.prefer is None:
        return dataset, None
    states = np.array([bool(pairs) for pairs in dataset.prefer], bool)
    has_labels = np.diff(dataset.Y.indptr) > 0
    rest = dataset if not states.any() else dataset.subset(~states | has_labels)
    return rest, (dataset.subset(states) if states.any() else None)
