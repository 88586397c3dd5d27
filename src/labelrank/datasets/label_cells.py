"""Labels as people write them: names in a cell, a column per label, several columns of names."""

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.datasets.frames import Frame, refuse_constant
from labelrank.errors import FormatError, LabelrankError
from labelrank.relevance import check_relevance, from_grades
from labelrank.table.cells import Cells
from labelrank.table.frame import GAPS
from labelrank.table.written import NO, YES, number_form

_GRADED = re.compile(r"(.*[^:\s])\s*:\s*(\d{1,15}(?:\.\d{1,15})?)")
_DELIMITERS = "\n|;,"
# What may stand between labels, too, but is not taken for it unasked.
_PERHAPS = ("/", "+", "&", "\t", " ")
# What says that there is nothing, where it is all of a cell and never one label of several.
_NOTHING = GAPS - {"", "none"}
_EMPTY = ("set()", "()")
_QUOTED = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*\""""
_PYTHON = re.compile(rf"[\[({{]\s*(?:(?:{_QUOTED})\s*,?\s*)*[\])}}]")
_BARE = re.compile(r"\[([^\[\]{}\"']*)\]")
_CODES: dict[str | None, float] = {word: float(word in YES) for word in YES | NO}
_MOST_CLASSES = 1000
# Unasked, numbers after a colon are grades only if they are so few, and so small.
_MOST_GRADES, _HIGHEST_GRADE = 20, 100.0
# In so many rows or more, one row in so many (one at least) may be a mistake, not a grade.
_FEW, _ROWS_PER_STRAY = 20, 200
# Where at most one row in so many has a label twice, its columns hold one label each.
_TWICE = 100
_NUMBERED = re.compile(r"(.*?)[\s_.-]*\d+")


class CellReader:
    """Turns cells (lists, dicts of grades, text of either, delimited names) into label to grade."""

    def __init__(
        self, cells: Sequence[Any], delimiter: str | None, graded: bool | None, ordered: bool
    ) -> None:
        self.ordered = ordered
        texts = [c for c in cells if isinstance(c, str) and not is_listed(c)]
        met = (mark for mark in _DELIMITERS if any(mark in text.strip() for text in texts))
        self.delimiter = delimiter or next(met, "")
        alone = {text.strip() for text in texts if text.strip().lower() in _NOTHING}
        if alone:
            several = (names for names in map(self._split, texts) if len(names) > 1)
            alone -= {name for names in several for name in names}
        self.nothing = alone
        self.graded = self._are_graded(texts) if graded is None else graded
        self.numbered = "" if graded is not None else self._first_numbered(texts)

    def _split(self, text: str) -> list[str]:
        parts = text.split(self.delimiter) if self.delimiter else [text]
        return [part.strip() for part in parts if part.strip()]

    def _are_graded(self, texts: Sequence[str]) -> bool:
        """Whether all names are `label:grade`, with few small grades and each label once per cell.

        A number before the colon is no label unasked: 10:30 is a time.
        """
        found: set[float] = set()
        for text in texts:
            pairs = [_GRADED.fullmatch(name) for name in self._split(text)]
            labels = [pair[1] for pair in pairs if pair is not None]
            if len(set(labels)) < len(pairs) or any(map(_is_number, labels)):
                return False
            found.update(float(pair[2]) for pair in pairs if pair is not None)
        return 0 < len(found) <= _MOST_GRADES and max(found) <= _HIGHEST_GRADE

    def _first_numbered(self, texts: Sequence[str]) -> str:
        """The first name, where all are written as if they had grades."""
        names = [name for text in texts for name in self._split(text)]
        return names[0] if names and all(map(_GRADED.fullmatch, names)) else ""

    def grades(self, cell: Any) -> dict[str, float]:
        """Grades of one cell; ValueError for what is no label."""
        if isinstance(cell, str):
            if is_listed(cell):
                return self.grades(_listed(cell.strip()))
            names = [] if cell.strip() in self.nothing else self._split(cell)
            return dict(map(_name_and_grade, names)) if self.graded else self._distinct(names)
        if cell is None:
            return {}
        if isinstance(cell, dict):
            return {name: _grade(value) for name, value in cell.items()}
        if isinstance(cell, list | tuple):
            return self._distinct([_name(item) for item in cell])
        return self._distinct([_name(cell)])

    def perhaps(self, cells: Sequence[Any]) -> str:
        """What may stand between labels, though nothing was taken for it: names come back so."""
        distinct = {cell.strip() for cell in cells if isinstance(cell, str)}
        for mark in _PERHAPS if not self.delimiter else ():
            listed = ({part.strip() for part in cell.split(mark)} - {""} for cell in distinct)
            parts = Counter(part for names in listed for part in names)
            n_joined = sum(mark in cell for cell in distinct)
            if n_joined > 2 and len(parts) < len(distinct) and min(parts.values()) > 1:
                return mark
        return ""

    def _distinct(self, names: list[str]) -> dict[str, float]:
        distinct = list(dict.fromkeys(names))
        if not self.ordered:
            return dict.fromkeys(distinct, 1.0)
        return {name: float(len(distinct) - k) for k, name in enumerate(distinct)}


def is_listed(cell: str) -> bool:
    """Whether the cell spells a list or a dict."""
    cell = cell.strip()
    if cell in _EMPTY:
        return True
    return cell.startswith(("[", "{")) or (cell.startswith("('") and cell.endswith(")"))


def _listed(cell: str) -> Any:
    """The list (or dict) that a cell spells in JSON, or as Python prints a list of texts."""
    try:
        return json.loads(cell, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        if cell in _EMPTY:
            return []
        if _PYTHON.fullmatch(cell):  # texts only, so that each is read as a literal alone
            return [ast.literal_eval(text) for text in re.findall(_QUOTED, cell)]
        bare = _BARE.fullmatch(cell)
        if bare is None:
            raise ValueError(
                f"got labels {cell[:40]!r}, which look like JSON but are not"
            ) from None
        return [name.strip() for name in re.split(r"[,;|]", bare[1]) if name.strip()]


def _name(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    if isinstance(item, float) and item.is_integer():  # a number in a spreadsheet
        return str(int(item))
    raise ValueError(f"got {str(item)[:40]!r} as a label; give names, or whole numbers")


def _is_number(name: str) -> bool:
    return name.replace(".", "", 1).isdecimal()


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


def named(
    rows: list[dict[str, float]], names: Sequence[str] | None, frame: Frame
) -> tuple[sp.csr_array, list[str]]:
    """Relevance and label names of the rows: the names given, or the sorted names met."""
    if names is None:
        names = sorted({name for row in rows for name in row})
        frame.source.limits.check("labels", len(names), frame.source.name)
        return relevance(rows, names), list(names)
    known = set(names)
    for k, row in enumerate(rows):
        unknown = row.keys() - known
        if unknown:
            raise FormatError(f"{frame.where(k)}: label {min(unknown)!r} is not among label_names")
    return relevance(rows, names), list(names)


def in_cells(frame: Frame, column: str, reader: CellReader) -> list[dict[str, float]]:
    """Labels and grades of each row, of a column whose cells name them."""
    rows = []
    for row, cell in enumerate(frame.columns[column]):
        try:
            rows.append(reader.grades(cell))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{frame.where(row)}: {error}") from error
    frame.source.limits.check("nonzeros", sum(map(len, rows)), frame.source.name)
    return rows


def are_pooled(columns: Mapping[str, Any]) -> bool:
    """Whether columns such as tag1, tag2, tag3 have one label each, by name.

    Then hardly any row has a label twice, and not every row has all labels: else each column is a
    target, whose values are classes.
    """
    columns = {name: cells for name, cells in columns.items() if Cells(list(cells)).n_distinct()}
    stems = {match[1] if (match := _NUMBERED.fullmatch(name)) else name for name in columns}
    if len(stems) != 1 or len(columns) < 2 or any(map(are_grades, columns.values())):
        return False
    rows = [
        [name for name in names if name is not None]
        for names in zip(*(Cells(list(cells)).names() for cells in columns.values()))
    ]
    n_labels = len({name for row in rows for name in row})
    n_twice = sum(len(set(row)) < len(row) for row in rows)
    if n_twice * _TWICE > len(rows):
        return False
    return n_twice > 0 or any(len(row) < n_labels for row in rows)


def are_grades(cells: Any) -> bool:
    """Whether all cells say yes or no, or are numbers from 0."""
    return _codes(Cells(list(cells)), None) is not None


def pooled(frame: Frame, columns: Sequence[str]) -> list[dict[str, float]]:
    """Labels of each row, of columns of which each has one label or none."""
    reader = CellReader([], "\0", False, False)
    found = [in_cells(frame, column, reader) for column in columns]
    return [{name: 1.0 for row in rows for name in row} for rows in zip(*found)]


def per_column(
    frame: Frame,
    columns: Sequence[str],
    targets: str,
    decimal: str | None,
    blank: bool | None,
    graded: bool | None = None,
) -> tuple[Any, list[list[str]] | None, bool]:
    """Y of one column per label: relevance, or codes and their classes; and what a blank is.

    Where no cell says no, an empty one does (`blank` is True); else it is unknown. Columns of 1 and
    2 are refused unless they are graded: many programs write 2 for no. So is a cell that is neither
    yes nor no where nearly all others are.
    """
    cells = [Cells(list(frame.columns[name])) for name in columns]
    if targets == "auto" and not graded:
        _refuse_strays(frame, columns, cells)
    codes = [None if targets == "classes" else _codes(one, decimal) for one in cells]
    if any(one is None for one in codes):
        if targets == "relevance":
            name = columns[codes.index(None)]
            raise FormatError(
                f"{frame.source.name}: column {name!r} has values that are no grades; "
                "use targets='classes'"
            )
        return *_classes(frame, columns, cells), False
    Y = np.column_stack([one for one in codes if one is not None])
    if targets == "auto" and not graded:
        _refuse_ones_and_twos(frame, columns, Y)
    if blank is None:
        blank = bool(np.isnan(Y).any()) and not (Y == 0).any() and set(np.unique(Y[Y > 0])) <= {1}
    Y = np.nan_to_num(Y) if blank else Y
    try:
        return check_relevance(Y), None, blank
    except LabelrankError as error:
        raise FormatError(f"{frame.source.name}: {error}") from error


def _refuse_strays(frame: Frame, columns: Sequence[str], cells: Sequence[Cells]) -> None:
    """Raise FormatError for a row or so of sums, or of a word, among columns of yes and no."""
    said = [one.names() for one in cells]
    strays = [
        row for row, names in enumerate(zip(*said))
        if not {name and name.lower() for name in names} <= {None, *_CODES}
    ]  # fmt: skip
    if not 0 < len(strays) <= max(1, len(said[0]) // _ROWS_PER_STRAY) or len(said[0]) < _FEW:
        return
    row = strays[0]
    met = {column: names[row] for column, names in zip(columns, said)}
    name, cell = next((n, c) for n, c in met.items() if c and c.lower() not in _CODES)
    raise FormatError(
        f"{frame.where(row)}: got {cell[:40]!r} in label column {name!r}, where nearly all other "
        "rows say yes or no; mend or leave out the row, or give graded=True if it is a grade"
    )


def _refuse_ones_and_twos(frame: Frame, columns: Sequence[str], Y: Array) -> None:
    """Raise FormatError where no 0 and no 3 tells whether 2 is a grade, or means no."""
    met = [set(np.unique(column[~np.isnan(column)]).tolist()) for column in Y.T]
    coded = [name for name, one in zip(columns, met) if one == {1.0, 2.0}]
    if not coded or any(not one <= {0.0, 1.0, 2.0} or {0.0, 2.0} <= one for one in met):
        return
    named = ", ".join(map(repr, coded[:5])) + (", ..." if len(coded) > 5 else "")
    verb = f"label column {named} holds" if len(coded) == 1 else f"label columns {named} hold"
    raise FormatError(
        f"{frame.source.name}: {verb} 1 and 2 but no 0, so every row would have the label; "
        "write 1 and 0 (or yes and no), or give graded=True if 2 is more relevant than 1"
    )


def _codes(cells: Cells, decimal: str | None) -> Array | None:
    """Grades: yes and no in any notation, or numbers from 0; NaN for gaps; None: something else."""
    names = cells.names()
    known: dict[str | None, float] = {None: math.nan, **_CODES}
    lowered = [None if name is None else name.lower() for name in names]
    distinct = set(lowered)
    if distinct <= known.keys():
        return np.array([known[name] for name in lowered], dtype=float)
    if distinct - {None} == {"-1", "1"}:
        return np.array([math.nan if name is None else float(name == "1") for name in lowered])
    values, bad = cells.numbers(number_form(cells.present, decimal))
    return None if bad.any() or (values < 0).any() else values


def _classes(
    frame: Frame, columns: Sequence[str], cells: Sequence[Cells]
) -> tuple[Array, list[list[str]]]:
    """Codes of the classes of each column, and their names: numbers by size, others by name."""
    coded, names = [], []
    for column, one in zip(columns, cells):
        values, bad = one.numbers(number_form(one.present))
        found = [] if bad.any() else np.unique(values[~np.isnan(values)]).tolist()
        spelled = one.names()
        if found:
            spelled = [None if math.isnan(value) else f"{value:g}" for value in values.tolist()]
        classes = [f"{value:g}" for value in found] or sorted({n for n in spelled if n is not None})
        if len(classes) > _MOST_CLASSES:
            raise FormatError(
                f"{frame.source.name}: target {column!r} has {len(classes)} values, too many "
                "classes; leave it out, or choose other label columns"
            )
        code = {name: float(k) for k, name in enumerate(classes)}
        coded.append([math.nan if name is None else code[name] for name in spelled])
        names.append(classes)
    frame.source.limits.check("cells", len(coded) * len(coded[0]), frame.source.name)
    Y = np.array(coded).T
    return Y if np.isnan(Y).any() else Y.astype(np.int64), names
