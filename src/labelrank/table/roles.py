"""What each column of a table is to a learner: text, number, category, date, vector, or nothing.

The cells decide, unless the user does. Columns that are left out (identifiers, constants) stay in
the list, and `why` says the reason.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from labelrank._types import Array
from labelrank.declared import stored, value
from labelrank.errors import InputError, meant
from labelrank.table.cells import DATES, SINGLE, Cells
from labelrank.table.frame import columns_of
from labelrank.table.written import PLAIN, date_form, look_like_dates, number_form, unit_of

USED = ("text", "number", "category", "date", "vector")
ROLES = (*USED, "id", "ignore")

# Where at most one cell in so many is of another kind, it is a mistake; so are more that are inf.
_MISTAKES, _ENDLESS = 10, 4
# From so many rows on, a column of which so large a share is distinct names the rows.
_FEW_ROWS, _NEARLY_ALL = 20, 0.95
# What is said of dates such as 3/4/2024.
OPEN = "they leave it open"
_TEXT_WORDS, _MANY_VALUES = 3.0, 100
_TEXT_NAMES = {
    "text", "texts", "body", "subject", "title", "description", "content", "message", "summary",
    "abstract", "comment", "question", "review", "headline", "sentence", "document",
}  # fmt: skip
_IS_ID = re.compile(
    r"(?i:(.*[\W_])?(id|uuid|guid|key|index|e-?mail|url|uri|doi|isbn))|.*[a-z]I[dD]|Unnamed: 0"
)
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"


@stored("Column", 1, name=value(str), role=value(str), why=value(str), form=value(str))
class Column(NamedTuple):
    """A column of the training data: its role, why it has it, and how its cells are written."""

    name: str
    role: str
    why: str
    form: str = ""


def find_roles(
    columns: Any,
    given: Mapping[str, str] | None = None,
    *,
    decimal: str | None = None,
    mistakes: str = "error",
) -> list[Column]:
    """The role of each column of a frame, in its order.

    Parameters
    ----------
    columns : frame
        See `labelrank.table.columns_of`.
    given : dict or None
        Roles by column name that overrule what is found: "text", "number", "category", "date",
        "vector"; "id" and "ignore" leave a column out.
    decimal : {".", ",", None}
        The decimal mark where the numbers of a column leave it open, as 1,234 does.
    mistakes : {"error", "gap"}
        What few cells are that do not fit their column, such as 1O among numbers.

    Returns
    -------
    columns : list of Column
        Role "id", "constant" or "ignored" for those that are left out.

    Examples
    --------
    >>> table = {"age": [31, None, 45], "colour": ["red", "blue", "red"], "kind": ["a", "a", "a"]}
    >>> for column in find_roles(table):
    ...     print(column.name, column.role, column.why, sep=": ")
    age: number: numbers, 1 gap
    colour: category: 2 categories
    kind: constant: one value only
    """
    cells = {name: Cells(raw) for name, raw in columns_of(columns).items()}
    return roles_of(cells, given, decimal, mistakes == "gap")


def roles_of(
    columns: Mapping[str, Cells],
    given: Mapping[str, str] | None,
    decimal: str | None,
    lenient: bool,
) -> list[Column]:
    """The role of each column, of cells that are used on."""
    given = dict(given or {})
    for name, role in given.items():
        if name not in columns:
            near = meant(name, columns)
            raise InputError(
                f"got a role for {name!r}, but the table has no such column; {near}"
                f"it has {listed(columns)}"
            )
        if role not in ROLES:
            raise InputError(f"got role {role!r} for {name!r}; use one of {', '.join(ROLES)}")
    return [
        _asked(name, cells, given[name], decimal, lenient)
        if name in given
        else _found(name, cells, decimal, lenient)
        for name, cells in columns.items()
    ]


def listed(names: Iterable[str], most: int = 8) -> str:
    """The first names, for a message."""
    names = list(names)
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")


def _asked(name: str, cells: Cells, role: str, decimal: str | None, lenient: bool) -> Column:
    """The column in the role that the user gave it, or an error naming a cell that does not fit."""
    if role in ("id", "ignore"):
        return Column(name, "id" if role == "id" else "ignored", "left out as asked")
    form = ""
    if role in ("text", "category"):
        bad = unnamed(cells)
    else:
        form, values, bad = _read_as(role, cells, decimal)
    if bad.any() and not lenient:
        raise cells.error(
            bad, name, f"which is no {role}; mend it, or give the column another role"
        )
    return Column(name, role, "as given" + _gaps(cells), form)


def _read_as(role: str, cells: Cells, decimal: str | None) -> tuple[str, Array, Array]:
    """The form, the values and the bad cells of a column in this role."""
    if role == "number":
        form = number_form(cells.present, decimal)
        return form, *cells.numbers(form)
    if role == "date":
        form, _ = date_form(cells.present)
        return form, *cells.instants(form)
    return "", *cells.vectors(cells.width)


def _gaps(cells: Cells) -> str:
    n_gaps = cells.n_gaps
    return f", {n_gaps} gap{'s' * (n_gaps > 1)}" if n_gaps else ""


def unnamed(cells: Cells) -> Array:
    """Which cells are no single values but lists, dicts, bytes."""
    if cells.is_array:
        return np.full(len(cells), cells.raw.ndim > 1)
    if cells.types <= SINGLE:
        return np.zeros(len(cells), bool)
    return np.array([type(cell) not in SINGLE for cell in cells.raw])


def _found(name: str, cells: Cells, decimal: str | None, lenient: bool) -> Column:
    if cells.n_gaps == len(cells):
        return Column(name, "constant", "no value at all")
    if cells.are_lists:
        return _vector(name, cells, lenient)
    found = _number(name, cells, decimal, lenient) or _date(name, cells, lenient)
    if found is not None:
        return found
    bad = unnamed(cells)
    if bad.any():
        kind = type(cells.raw[int(np.argmax(bad))]).__name__
        return Column(name, "ignored", f"cells of type {kind} are no feature")
    return _named(name, cells)


def _vector(name: str, cells: Cells, lenient: bool) -> Column:
    items = [] if cells.is_array else next((row for row in cells.lists if row), [""])
    if any(type(item) not in (int, float) for item in items):
        return Column(name, "ignored", "lists of names are no feature")
    bad = cells.vectors(cells.width)[1]
    if bad.any() and not lenient:
        wanted = f"which is no vector of {cells.width} numbers as the first one is"
        raise cells.error(bad, name, f"{wanted}; mend it, or give the column the role ignore")
    return Column(name, "vector", f"vectors of {cells.width} numbers{_gaps(cells)}")


def _number(name: str, cells: Cells, decimal: str | None, lenient: bool) -> Column | None:
    form, values, bad = _read_as("number", cells, decimal)
    if not _are_all(name, cells, bad, "numbers", lenient, _endless(cells)) or _are_codes(cells):
        return None
    values = values[~(cells.gaps | bad)]
    n, n_distinct = len(values), len(np.unique(values))
    if n_distinct == 1:
        return _single(name, cells)
    if (values == np.floor(values)).all() and not unit_of(form):
        if _IS_ID.fullmatch(name):
            return _identifier(name, cells, n_distinct)
        if n == n_distinct >= _FEW_ROWS and np.ptp(values) == n - 1:
            return Column(name, "id", "consecutive whole numbers")
    written = "" if form == PLAIN else f" written as {form}"
    return Column(name, "number", f"numbers{written}{_gaps(cells)}", form)


def _endless(cells: Cells) -> Array:
    """The texts that are numbers beyond all that there are, such as inf or 1e999."""
    import polars as pl

    numbers = cells.texts.cast(pl.Float64, strict=False)
    return np.asarray(numbers.is_infinite().fill_null(False).to_numpy())


def _are_codes(cells: Cells) -> bool:
    """Whether all are as many digits, some with a zero before them, as postal codes are."""
    texts = cells.present
    if len(texts) < len(cells) - cells.n_gaps or not texts.str.contains(r"^0\d+$").any():
        return False
    return bool(texts.str.contains(r"^\d+$").all() and texts.str.len_chars().n_unique() == 1)


def _date(name: str, cells: Cells, lenient: bool) -> Column | None:
    if not _may_be_dates(cells):
        return None
    form, values, bad = _read_as("date", cells, None)
    if not _are_all(name, cells, bad, "dates", lenient):
        return None
    if len(np.unique(values[~(cells.gaps | bad)])) == 1:
        return _single(name, cells)
    is_open = date_form(cells.present)[1]
    order = f", taken as {form} ({OPEN})" if is_open else f", {form}" if form else ""
    return Column(name, "date", f"dates{order}{_gaps(cells)}", form)


def _are_all(
    name: str, cells: Cells, bad: Array, what: str, lenient: bool, meant: Any = False
) -> bool:
    """Whether no cell is bad; an error, or yes if `lenient`, where only a few are, those that
    are `meant` to be of the kind not counted."""
    n_present = len(cells) - cells.n_gaps
    n_bad, n_strange = int(bad.sum()), int((bad & ~np.asarray(meant)).sum())
    if 0 < n_bad * _ENDLESS <= n_present and n_strange * _MISTAKES <= n_present:
        if lenient:
            return True
        share = f"{n_present - n_bad} of {n_present}"
        way = "mend it, or give the column the role category"
        raise cells.error(bad, name, f"where {share} cells are {what}; {way}")
    return n_bad == 0


def _may_be_dates(cells: Cells) -> bool:
    """Whether at least half of the cells look like dates: reading them takes long."""
    if cells.kind == "M" or cells.types & DATES:
        return True
    looks = look_like_dates(cells.present).sum()
    return looks > 0 and looks >= len(cells.present) / 2


def _named(name: str, cells: Cells) -> Column:
    """A column of names: text, category, identifier or constant."""
    n, n_distinct = len(cells) - cells.n_gaps, cells.n_distinct()
    if n_distinct == 1 < n:
        return _single(name, cells)
    words = n_words(cells)
    if _is_text(name, words, n_distinct, n):
        return Column(name, "text", f"{words:.3g} words on average{_gaps(cells)}")
    if n_distinct == 1:
        return _single(name, cells)
    is_row_name = n >= _FEW_ROWS and n_distinct >= _NEARLY_ALL * n
    if is_row_name or _IS_ID.fullmatch(name):
        return _identifier(name, cells, n_distinct)
    return Column(name, "category", f"{n_distinct} categories{_gaps(cells)}")


def _single(name: str, cells: Cells) -> Column:
    """One value only: whether it is there may still tell something."""
    if cells.n_gaps:
        return Column(name, "category", f"one value{_gaps(cells)}")
    return Column(name, "constant", "one value only")


def _identifier(name: str, cells: Cells, n_distinct: int) -> Column:
    """An identifier where nearly every row has its own; else it says what rows have in common."""
    n = len(cells) - cells.n_gaps
    if n_distinct < _NEARLY_ALL * n:
        return Column(name, "category", f"{n_distinct} categories{_gaps(cells)}")
    every = "every" if n_distinct == n else "nearly every"
    return Column(name, "id", f"{every} row has another value")


def n_words(cells: Cells) -> float:
    """Words per text; two letters of a script without spaces count as one."""
    texts = cells.present
    if not len(texts):
        return 0.0
    n_letters = int(texts.str.count_matches(_UNSPACED).sum())
    return (int(texts.str.count_matches(r"\S+").sum()) + n_letters / 2) / len(texts)


def _is_text(name: str, words: float, n_distinct: int, n: int) -> bool:
    share = n_distinct / n
    if name.strip().lower() in _TEXT_NAMES and words > 0:
        return share > 0.5 or (words >= _TEXT_WORDS / 2 and share >= 0.1)
    return words >= _TEXT_WORDS and (share > 0.5 or (n_distinct > _MANY_VALUES and share >= 0.1))
