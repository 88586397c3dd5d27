"""The cells of one column, read as numbers, dates, vectors or names, at all times in the same way.

A reading gives values, and which cells are *bad*: neither a gap nor what is wanted. It looks at
each cell alone, so rows may come in any batches.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.table.frame import GAPS
from labelrank.table.written import NO, YES, instants_in, numbers_in, unit_of

if TYPE_CHECKING:
    import polars as pl

DATES = frozenset({date, datetime})
# Types of cells that can be one value of a category.
SINGLE = frozenset({str, int, float, bool, type(None), date, datetime})

_WHOLE = re.compile(r"(-?(?:0|[1-9]\d{0,14}))\.0+")
_SHARES = ("%", "‰")
_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff]")
_NOT_A_TIME = np.datetime64("NaT", "s")


class CellError(InputError):
    """One cell that cannot be read: `cell`, `row` (from 0), `column`, and the `rest` to say."""

    def __init__(self, cell: Any, row: int, column: str, rest: str) -> None:
        super().__init__(f"got {_shown(cell)} in row {row + 1} of column {column!r}, {rest}")
        self.cell, self.row, self.column, self.rest = cell, row, column, rest

    def after(self, n_rows: int) -> CellError:
        """The same error where `n_rows` rows came before."""
        return CellError(self.cell, self.row + n_rows, self.column, self.rest)


def _shown(cell: Any) -> str:
    if isinstance(cell, int) and cell.bit_length() > 120:
        return f"a whole number of {int(cell.bit_length() * math.log10(2)) + 1:,} digits"
    text = repr(cell)
    return text if len(text) <= 50 else f"{text[:40]}... ({len(text):,} characters)"


class Cells:
    """A column as `frame.columns_of` gives it; what is found of it is kept."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.is_array = isinstance(raw, np.ndarray)
        self.kind = raw.dtype.kind if self.is_array else ""
        self.types: set[type] = set() if self.is_array else set(map(type, raw))

    def __len__(self) -> int:
        return len(self.raw)

    def error(self, bad: Array, column: str, rest: str) -> CellError:
        """The error that names the first bad cell."""
        row = int(np.argmax(bad))
        cell = self.raw[row]
        cell = cell.tolist() if isinstance(cell, np.ndarray | np.generic) else cell
        return CellError(cell, row, column, rest)

    @cached_property
    def texts(self) -> pl.Series:
        """The texts without outer spaces; null where a cell is no text."""
        import polars as pl

        if str not in self.types:
            return pl.repeat(None, len(self), dtype=pl.String, eager=True)
        are_texts = self.types <= {str, type(None)}
        raw = self.raw if are_texts else [c if type(c) is str else None for c in self.raw]
        return pl.Series(raw, dtype=pl.String).str.strip_chars()

    @cached_property
    def gaps(self) -> Array:
        """Which cells are empty: None, NaN, or a text of `GAPS`."""
        if self.is_array:
            return _gaps_of(self.raw)
        found = self.texts.str.to_lowercase().is_in(list(GAPS)).fill_null(False).to_numpy().copy()
        if self.types & {float, type(None)}:
            found |= np.fromiter((c is None or c != c for c in self.raw), bool, len(self))
        return found

    @property
    def n_gaps(self) -> int:
        return int(self.gaps.sum())

    @property
    def present(self) -> pl.Series:
        """The texts that are no gaps."""
        import polars as pl

        return self.texts.filter(pl.Series(~self.gaps) & self.texts.is_not_null())

    def n_distinct(self) -> int:
        """How many different cells there are, gaps left out."""
        if self.is_array and self.raw.ndim == 1:
            return len(np.unique(self.raw[~self.gaps]))
        if self.types <= {str, type(None)}:
            return int(self.present.n_unique())
        return len(set(self.names()) - {None})

    def numbers(self, form: str) -> tuple[Array, Array]:
        """Numbers (NaN for gaps), and bad cells; truth values and infinities are no numbers.

        Where the numbers of the form have a unit, one without it has it too; but a number without
        "%" is bad: 0.05 may be "5 %".
        """
        unit = unit_of(form)
        forms = [form] if unit in _SHARES else [form, form.removesuffix(unit)]
        values = np.full(len(self), np.nan) if unit in _SHARES else self._typed_numbers()
        for one in forms if str in self.types else []:
            values = np.where(np.isnan(values), numbers_in(self.texts, one), values)
        values[self.gaps] = np.nan
        bad = ~self.gaps & ~np.isfinite(values)
        return values, bad

    def _typed_numbers(self) -> Array:
        """The cells that are int or float; NaN elsewhere."""
        if self.is_array:
            is_number = self.raw.ndim == 1 and self.kind in "iuf"
            return self.raw.astype(float) if is_number else np.full(len(self), np.nan)
        if self.types <= {int, float, type(None)}:
            try:
                return np.array(self.raw, dtype=float)
            except OverflowError:
                pass
        if not self.types & {int, float}:
            return np.full(len(self), np.nan)
        return np.fromiter(map(_number, self.raw), float, len(self))

    def instants(self, form: str) -> tuple[Array, Array]:
        """Instants (datetime64[s] in UTC, NaT for gaps), and bad cells."""
        if self.kind == "M":
            return self.raw, np.zeros(len(self), bool)
        if self.kind in ("i", "u") or int in self.types:  # 20240131
            raw = self.raw.tolist() if self.is_array else self.raw
            return Cells([str(c) if type(c) is int else c for c in raw]).instants(form)
        values = instants_in(self.texts, form)
        if self.types & DATES:
            values[:] = [
                _instant(c) if isinstance(c, date) else v for c, v in zip(self.raw, values)
            ]
        values[self.gaps] = _NOT_A_TIME
        return values, ~self.gaps & np.isnat(values)

    def vectors(self, width: int) -> tuple[Array, Array]:
        """Rows of `width` numbers (zeros for gaps), and bad cells."""
        values = np.zeros((len(self), width))
        if self.is_array and self.raw.ndim == 2:
            fits = np.full(len(self), self.raw.shape[1] == width)
            values = self.raw.astype(float) if fits.all() else values
        else:
            fits = np.array([row is not None and len(row) == width for row in self.lists], bool)
            rows = [row for row, is_fit in zip(self.lists, fits) if row is not None and is_fit]
            values[fits] = _block(rows, width)
        bad = ~self.gaps & ~(fits & np.isfinite(values).all(axis=1))
        values[self.gaps | bad] = 0.0
        return values, bad

    @cached_property
    def are_lists(self) -> bool:
        """Whether all cells but gaps are lists, maybe written as JSON, or rows of an array."""
        if self.is_array:
            return bool(self.raw.ndim == 2)
        if not self.types <= {list, str, float, type(None)} or not self.types & {list, str}:
            return False
        if not self.present.str.starts_with("[").all():
            return False
        return all(row is not None or is_gap for row, is_gap in zip(self.lists, self.gaps))

    @property
    def width(self) -> int:
        """The length of the first list, which all vectors must have."""
        if self.is_array and self.raw.ndim == 2:
            return int(self.raw.shape[1])
        return next((len(row) for row in self.lists if row is not None), 0)

    @cached_property
    def lists(self) -> list[list[Any] | None]:
        """The lists among the cells, also those written as JSON; None for other cells."""
        return [_list(cell) for cell in self.raw]

    def names(self) -> list[str | None]:
        """One name per value: 1, 1.0 and "1" have the same one, and True and "true"; gaps None."""
        if self.is_array and self.raw.ndim == 1:
            met, place = np.unique(self.raw, return_inverse=True)
            values = [_name(value) for value in met.tolist()]
            return [values[k] for k in place.tolist()]
        known: dict[tuple[type, Any], str | None] = {}
        found = []
        for key in zip(map(type, self.raw), self.raw):
            if key not in known:
                known[key] = _name(key[1])
            found.append(known[key])
        return found


def _gaps_of(array: Any) -> Array:
    if array.dtype.kind == "M":
        return np.isnat(array)
    if array.dtype.kind != "f":
        return np.zeros(len(array), bool)
    return np.isnan(array) if array.ndim == 1 else np.isnan(array).all(axis=1)


def _number(cell: Any) -> float:
    try:
        return float(cell) if type(cell) in (int, float) else math.nan
    except OverflowError:
        return math.nan


def _instant(cell: date) -> np.datetime64:
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(cell, "s")


def _list(cell: Any) -> list[Any] | None:
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    return cell if isinstance(cell, list) else None


def _block(rows: list[list[Any]], width: int) -> Array:
    """Lists of one length as rows of numbers; NaN where an item is none."""
    try:
        block = np.array(rows)
    except ValueError:  # an item is a list itself
        block = np.zeros(0)
    if block.dtype.kind in "iuf" and block.shape == (len(rows), width):
        return block
    numbers = [_number(item) for row in rows for item in row]
    return np.array(numbers, dtype=float).reshape(len(rows), width)


def _composed(text: str) -> str:
    """The text in the one form that looks so: marks joined to letters, nothing invisible."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).strip()


def _name(cell: Any) -> str | None:
    if cell is None or cell != cell:
        return None
    if isinstance(cell, str):
        text = cell.strip() if cell.isascii() else _composed(cell)
        lowered = text.lower()
        if lowered in GAPS:
            return None
        whole = _WHOLE.fullmatch(text)
        return lowered if lowered in ("true", "false") else whole[1] if whole else text
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    if isinstance(cell, int) and cell.bit_length() > 1024:
        return hex(cell)
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def are_yes_or_no(cells: Any) -> bool:
    """Whether all cells are yes, no (as people write them) or empty, and some are yes.

    >>> are_yes_or_no(["x", None, ""]), are_yes_or_no([1, 0]), are_yes_or_no([1, 2])
    (True, True, False)
    """
    words = {str(cell).strip().lower().removesuffix(".0") for cell in cells if cell is not None}
    return words <= YES | NO | GAPS and not YES.isdisjoint(words)
