"""Label cells of records: what is written in them, as label to grade."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp

from labelrank.relevance import from_grades

_GRADED = re.compile(r"(.*[^:\s])\s*:\s*(\d{1,15}(?:\.\d{1,15})?)")
_DELIMITERS = "|;,"


class CellReader:
    """Turns the cells of a label column into dicts of label to grade.

    A cell is a list, a dict of grades (None: unknown), JSON text of either, or names between
    delimiters, each perhaps with `:grade`. None and "" are no label.
    """

    def __init__(
        self, cells: Sequence[Any], delimiter: str | None, graded: bool | None, ordered: bool
    ) -> None:
        self.ordered = ordered
        texts = [c for c in cells if isinstance(c, str) and not c.lstrip().startswith(("[", "{"))]
        met = (mark for mark in _DELIMITERS if any(mark in text for text in texts))
        self.delimiter = delimiter or next(met, "")
        self.graded = self._all_graded(texts) if graded is None else graded

    def _all_graded(self, texts: list[str]) -> bool:
        names = [name for text in texts for name in self._split(text)]
        return bool(names) and all(_GRADED.fullmatch(name) for name in names)

    def _split(self, text: str) -> list[str]:
        parts = text.split(self.delimiter) if self.delimiter else [text]
        return [part.strip() for part in parts if part.strip()]

    def grades(self, cell: Any) -> dict[str, float]:
        """Grades of one cell; ValueError for what is no label."""
        if isinstance(cell, str):
            if cell.lstrip().startswith(("[", "{")):
                return self.grades(_json(cell))
            names = self._split(cell)
            return dict(map(_name_and_grade, names)) if self.graded else self._listed(names)
        if cell is None:
            return {}
        if isinstance(cell, dict):
            return {name: _grade(value) for name, value in cell.items()}
        if isinstance(cell, list | tuple):
            return self._listed([_name(item) for item in cell])
        return self._listed([_name(cell)])

    def _listed(self, names: list[str]) -> dict[str, float]:
        distinct = list(dict.fromkeys(names))
        if not self.ordered:
            return dict.fromkeys(distinct, 1.0)
        return {name: float(len(distinct) - k) for k, name in enumerate(distinct)}


def _json(cell: str) -> Any:
    try:
        return json.loads(cell, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ValueError(f"got labels {cell[:40]!r}, which look like JSON but are not") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"got {name}, which is not JSON; use null")


def _name(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    raise ValueError(f"got {str(item)[:40]!r} as a label; give names, or whole numbers")


def _grade(value: Any) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise ValueError(f"got grade {str(value)[:40]!r}; give a number >= 0, or null for unknown")
    return float(value)


def _name_and_grade(name: str) -> tuple[str, float]:
    match = _GRADED.fullmatch(name)
    if match is None:
        raise ValueError(f"got {name[:40]!r} where 'label:grade' is wanted")
    return match[1], float(match[2])


def relevance(rows: Sequence[dict[str, float]], names: Sequence[str]) -> sp.csr_array:
    """Relevance matrix of the rows; KeyError for a label that has no column."""
    column = {name: k for k, name in enumerate(names)}
    coded = [{column[name]: grade for name, grade in row.items()} for row in rows]
    Y = from_grades(coded, len(names))
    Y.eliminate_zeros()  # all that `check_relevance` would do: every grade was checked above
    return Y
