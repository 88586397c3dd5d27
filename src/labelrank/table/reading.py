"""The cells of a column as its role wants them, alike when a model learns and when it answers."""

from collections.abc import Iterator

import numpy as np

from labelrank._types import Array
from labelrank.table.cells import Cells
from labelrank.table.parts import Learned
from labelrank.table.roles import Column, unnamed
from labelrank.table.written import PLAIN

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# What a date is split into: numbers first, then categories.
DATE_NUMBERS = ("days", "year", "day")
DATE_CATEGORIES = ("month", "weekday", "hour")


def read(
    column: Column, cells: Cells, *, lenient: bool = False, width: int | None = None
) -> dict[str, Learned]:
    """The values of a column, by what of it they are: "" but for the parts of a date.

    A cell that is neither a gap nor of the role is an error that names it, or a gap if `lenient`.
    """
    if column.role in ("text", "category"):
        return {"": _names(column, cells, lenient)}
    if column.role == "date":
        instants, bad = cells.instants(column.form)
        _refuse(column, cells, bad, "dates", lenient)
        return dict(_parts_of_dates(instants))
    if column.role == "number":
        values, bad = cells.numbers(column.form)
        _refuse(column, cells, bad, "numbers", lenient)
        values[bad] = np.nan
        return {"": Learned(values, cells.gaps | bad)}
    width = cells.width if width is None else width
    values, bad = cells.vectors(width)
    _refuse(column, cells, bad, f"vectors of {width} numbers", lenient)
    return {"": Learned(values, cells.gaps | bad)}


def _refuse(column: Column, cells: Cells, bad: Array, what: str, lenient: bool) -> None:
    if not lenient and bad.any():
        written = f" written as {column.form}" if column.form not in ("", PLAIN) else ""
        raise cells.error(
            bad, column.name, f"which holds {what}{written}; mend it, or leave it empty"
        )


def _names(column: Column, cells: Cells, lenient: bool) -> Learned:
    bad = unnamed(cells)
    if bad.any():
        _refuse(column, cells, bad, "single values", lenient)
        cells = Cells([None if is_bad else cell for cell, is_bad in zip(cells.raw, bad)])
    if column.role == "category":
        names = cells.names()
        return Learned(names, np.array([name is None for name in names], dtype=bool))
    if cells.types <= {str, type(None)} and not cells.is_array:
        return Learned([cell or "" for cell in cells.raw], cells.gaps)
    pairs = zip(cells.raw, cells.names())
    return Learned([raw if type(raw) is str else name or "" for raw, name in pairs], cells.gaps)


def _parts_of_dates(instants: Array) -> Iterator[tuple[str, Learned]]:
    gaps = np.isnat(instants)
    known = np.where(gaps, np.datetime64(0, "s"), instants)
    days, months = known.astype("M8[D]"), known.astype("M8[M]")
    years = known.astype("M8[Y]")
    seconds = known.astype(np.int64)
    numbers = (seconds / 86400, years.astype(float) + 1970, (days - months).astype(float) + 1)
    for what, values in zip(DATE_NUMBERS, numbers):
        yield what, Learned(np.where(gaps, np.nan, values), gaps)
    hours = [str(hour) for hour in range(24)]
    names = (
        ([str(month) for month in range(1, 13)], (months - years.astype("M8[M]")).astype(int)),
        (list(WEEKDAYS), (days.astype(int) + 3) % 7),
        (hours, seconds // 3600 % 24),
    )
    for what, (known_names, codes) in zip(DATE_CATEGORIES, names):
        found = np.array([*known_names, None], dtype=object)[np.where(gaps, -1, codes)]
        yield what, Learned(found.tolist(), gaps)
