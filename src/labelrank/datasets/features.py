"""What of records is learned from: texts alone, or a table and, where it is all numbers, X."""

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from labelrank._types import Array
from labelrank.datasets.choice import Choice, Known, listed, no_column, usual_text
from labelrank.datasets.frames import Frame
from labelrank.datasets.options import Options
from labelrank.errors import FormatError
from labelrank.table.cells import Cells
from labelrank.table.roles import USED, Column, find_roles
from labelrank.table.written import (
    PLAIN,
    decimal_of,
    number_form,
    numbers_in,
    unit_of,
)

# What is called so is text unless its cells are numbers, dates or vectors; "text" is in any case.
_SURE = ("text", "document", "content", "body", "sentence")
# Vectors as numpy prints them, [0.1 0.2] or [np.float64(0.1), 0.2]; not those in JSON.
_PLAIN, _IN_NUMPY = r"[-+.\deE,\s]*", r"np\.float\d+\([^()]*\)"
_PRINTED = re.compile(rf"\[(?=[^,]*\]|.*np\.){_PLAIN}(?:{_IN_NUMPY}{_PLAIN})*\]")
_WRAPPED = re.compile(r"np\.float\d+\(([^()]*)\)|,")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+")
_COMMA = re.compile(r",5$")
_GERMAN = "1.234,5"
_ANSWERS = ("labels", "ranked", "scores", "probabilities")
_NAMES = ("category", "constant", "id", "ignored")


class Features(NamedTuple):
    """Texts or a table, how they were read, and what to say of that."""

    texts: list[str] | None
    table: dict[str, Any] | None
    reading: dict[str, Any]
    remarks: list[str]


def features_of(
    frame: Frame, choice: Choice, options: Options, known: Known, decimal: str | None
) -> Features:
    """Texts or a table of the columns chosen; what is left open is found by the cells."""
    if choice.is_text:
        return _text_alone(frame, choice.texts[0], [], is_found=False)
    if frame.is_plain_text:  # its one column is text, whatever stands there
        return _text_alone(frame, next(iter(frame.columns)), [])
    if known and choice.known is not None:
        made = {key: getattr(known, key) for key in ("columns", "used", "numbers", "roles")}
        return _as_table(frame, choice.features or [], decimal, made, known.text_column, known)
    answers = [name for name in _answers(frame) if name not in choice.labels]
    frame.remarks += [f"Left out: {name!r} (an answer of predict)." for name in answers]
    left_out = {*choice.labels, choice.ids, choice.split, choice.prefer, *answers}
    names = choice.features or [name for name in frame.columns if name not in left_out]
    if not names:
        raise FormatError(
            f"{frame.source.name}: no text column among {listed(frame)}; give text_column=..."
        )
    given = _given(frame, options, names) | dict.fromkeys(choice.texts, "text")
    columns, sure = _roles(frame, names, given, decimal)
    by_role = {column.name: column.role for column in columns}
    identifiers = [name for name in names if by_role[name] == "id"]
    if choice.ids is None and len(identifiers) == 1:  # the answers are named by it
        choice.ids = identifiers[0]
    used = [name for name in names if by_role[name] in USED]
    texts = [name for name in used if by_role[name] == "text"]
    if len(texts) == 1 and used == texts:
        return _text_alone(frame, texts[0], _left_out(columns))
    numbers = [name for name in names if by_role[name] == "number"]
    made = {"columns": names, "used": used, "numbers": numbers, "roles": sure}
    return _as_table(frame, names, decimal, made, texts)


def _answers(frame: Frame) -> list[str]:
    """The last columns, where `predict` has written them."""
    for n in (4, 3):
        last = list(frame.columns)[-n:]
        if tuple(name.replace("predicted_", "") for name in last) == _ANSWERS[:n]:
            return last
    return []


def _given(frame: Frame, options: Options, names: Sequence[str]) -> dict[str, str]:
    """The roles that the user gave to these columns."""
    roles = dict(options.roles or {})
    missing = [name for name in roles if name not in frame.columns]
    if missing:
        raise no_column(frame, missing)
    return {name: role for name, role in roles.items() if name in names}


def _roles(
    frame: Frame, names: Sequence[str], given: dict[str, str], decimal: str | None
) -> tuple[list[Column], dict[str, str]]:
    """All columns with their roles, and those roles that were given or that a name decides."""
    cells = _cells(frame, names)
    found = find_roles(cells, given, decimal=decimal, mistakes="gap")
    usual = usual_text(names)
    if usual is None or usual in given:
        return found, given
    role = next(column.role for column in found if column.name == usual)
    is_sure = usual.lower() == "text" or (usual.lower() in _SURE and role in _NAMES)
    if role == "text" or not (is_sure or len(names) == 1):
        return found, given
    given = {**given, usual: "text"}
    as_text = Column(usual, "text", "by its name")
    return [as_text if column.name == usual else column for column in found], given


def _left_out(columns: Sequence[Column]) -> list[str]:
    return [f"Left out: {c.name!r} ({c.why})." for c in columns if c.role not in USED]


def _text_alone(frame: Frame, name: str, remarks: list[str], *, is_found: bool = True) -> Features:
    alone = [name]
    reading = {
        "columns": alone, "used": alone, "numbers": [], "text_column": alone, "is_text": True,
        "roles": {}, "text_found": is_found,
    }  # fmt: skip
    return Features(_texts(frame, name), None, reading, remarks)


def _texts(frame: Frame, name: str) -> list[str]:
    """The cells as texts; a gap is an empty one, a number in a workbook what it looks like."""
    cells = frame.columns[name]
    if set(map(type, cells)) <= {str}:
        return list(cells)
    texts = []
    for row, cell in enumerate(cells):
        if isinstance(cell, float) and frame.unit == "row" and cell.is_integer():
            cell = int(cell)
        if isinstance(cell, int | float) and frame.unit == "row":
            cell = str(cell)
        if not isinstance(cell, str | None):
            raise FormatError(
                f"{frame.where(row)}: got {str(cell)[:40]!r} in column {name!r}; text is wanted"
            )
        texts.append(cell or "")
    return texts


def _as_table(
    frame: Frame,
    names: Sequence[str],
    decimal: str | None,
    made: dict[str, Any],
    texts: list[str],
    known: Known | None = None,
) -> Features:
    table = _cells(frame, names)
    given = (known and known.decimals) or {}
    marks = {name: mark for name, mark in given.items() if mark in (".", ",")}
    is_alike = known is not None and frame.separator in (None, known.separator)
    columns = {name: Cells(table[name]) for name in made["numbers"]}
    present = {name: cells.present for name, cells in columns.items() if str in cells.types}
    forms = {n: _form(n, texts, decimal, marks.get(n), is_alike) for n, texts in present.items()}
    forms = {name: form for name, form in forms.items() if not unit_of(form)}
    has_commas = any(map(_COMMA.search, forms.values()))
    if has_commas or (decimal == "," and frame.separator == ";" and known is not None):
        plain = [n for n, form in forms.items() if form == PLAIN and not (is_alike and n in marks)]
        forms |= {name: _GERMAN for name in plain if _grouped(table[name])}
    decimals = {n: decimal_of(present[n], form) for n, form in forms.items()}
    for name, form in forms.items():
        table[name] = _plain_numbers(table[name], form)
    remarks = ["Numbers have decimal commas."] if has_commas else []
    if known is None:
        remarks += [told for n, form in forms.items() for told in _open(n, present[n], form)]
    else:
        bare = {name: form for name, form in forms.items() if given.get(name, "") is None}
        for told in (told for n, form in bare.items() for told in _open(n, present[n], form)):
            warnings.warn(told, stacklevel=2)
    reading = {
        **made, "text_column": texts, "is_text": False, "text_found": True,
        "decimal": "," if has_commas else None,
        "separator": frame.separator,
        "decimals": marks | {n: mark for n, mark in decimals.items() if mark or n not in marks},
    }  # fmt: skip
    return Features(None, table, reading, remarks)


def _cells(frame: Frame, names: Sequence[str]) -> dict[str, Any]:
    """The columns; vectors that numpy has printed are lists."""
    return {name: _vectors(frame.columns[name]) for name in names}


def _vectors(cells: Any) -> Any:
    """Lists of numbers in place of texts such as [0.1 0.2], if all cells are such."""
    first = next((cell for cell in cells if isinstance(cell, str) and cell), "")
    if not _PRINTED.fullmatch(first.strip()):
        return cells
    found = []
    for cell in cells:
        text = cell.strip() if isinstance(cell, str) else ""
        if text and not _PRINTED.fullmatch(text):
            return cells
        try:
            numbers = [float(word) for word in _WRAPPED.sub(r"\1", text[1:-1]).split()]
        except ValueError:
            return cells
        found.append(numbers or None)
    return found


def _form(name: str, texts: Any, decimal: str | None, learned: str | None, is_alike: bool) -> str:
    """How the numbers of a column are written: with the decimal mark that was learned, if the cells
    are separated as they were then and all can be read so. What they leave open is said.
    """
    form = number_form(texts, decimal)
    if learned is None:
        return form
    own = number_form(texts, marked=learned)
    fits = bool(np.isfinite(numbers_in(texts, own)).all())
    if fits and is_alike:
        return own
    values = numbers_in(texts, form)
    if decimal_of(texts, form) != learned and np.isfinite(values).all():
        is_other = not fits or bool((values != numbers_in(texts, own)).any())
        if is_alike or (fits and is_other):
            warnings.warn(
                f"the numbers of column {name!r} are read as written {form}, though the model has "
                f"learned them with {learned!r} before decimals; look whether that is right",
                stacklevel=2,
            )
    return form


def _open(name: str, texts: Any, form: str) -> Iterator[str]:
    """What to say where commas, or points between three digits each, may be the other mark."""
    other = {"1,234.5": ",", _GERMAN: ".", PLAIN: ","}.get(form)
    mark = "." if form == PLAIN else ","
    marked = texts.filter(texts.str.contains(mark, literal=True))
    if other is None or not len(marked):
        return
    as_read, else_read = (
        numbers_in(marked, one) for one in (form, number_form(marked, marked=other))
    )
    if np.isfinite(else_read).all() and (as_read != else_read).all():
        yield (
            f"{marked[0]!r} in column {name!r} is read as {as_read[0]:.12g}; if it is "
            f"{else_read[0]:.12g}, give --decimal {other!r}."
        )


def _grouped(cells: Any) -> bool:
    """Whether all points stand between thousands, where commas are decimal marks."""
    texts = [cell for cell in cells if isinstance(cell, str) and "." in cell]
    return bool(texts) and all(_THOUSANDS.fullmatch(text.strip()) for text in texts)


def _plain_numbers(cells: Any, form: str) -> Any:
    """Numbers, where texts are none written as 1234.5: other files may write them otherwise."""
    if form == PLAIN:
        return cells
    column = Cells(cells)
    values = numbers_in(column.texts, form)
    if not (np.isnan(values) & ~column.gaps).any():
        return values
    pairs = zip(values.tolist(), cells)
    return [cell if value != value else value for value, cell in pairs]


def matrix_of(table: dict[str, Any], decimal: str | None) -> Array | None:
    """The table as a matrix where all of it are numbers or gaps."""
    columns = []
    for cells in table.values():
        column = Cells(cells)
        if column.kind in "OM" and column.is_array:
            return None
        values, bad = column.numbers(number_form(column.present, decimal))
        if bad.any():
            return None
        columns.append(values)
    return np.column_stack(columns)
