"""A frame: a pandas or polars DataFrame, or a dict of columns. Inside, it is always such a dict.

A column is a list of plain cells (str, int, float, bool, None, date, datetime, list), or an array
of numbers, of vectors (n × width), or of instants (datetime64[s], in UTC).
"""

import datetime
import decimal
import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.errors import InputError

Columns = dict[str, Any]

# What people and programs write where they know nothing; case and outer spaces do not matter.
# "none" is one of them: a category of that name needs another one, such as "nothing".
GAPS = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", "."})

_PLAIN = {str, int, float, bool, type(None), list, dict, datetime.date, datetime.datetime}
_MISSING = ("NAType", "NaTType")


def is_frame(documents: Any) -> bool:
    """Whether this is a DataFrame of pandas or polars, or a dict of columns."""
    if isinstance(documents, Mapping):
        return True
    has_columns = hasattr(documents, "columns") and hasattr(documents, "shape")
    return has_columns and not sp.issparse(documents)


def columns_of(frame: Any, names: Iterable[str] | None = None) -> Columns:
    """The columns of a frame by name (or those of these names), all of one length, of plain cells.

    Examples
    --------
    >>> columns_of({"age": (31, None), "colour": ["red", "blue"]})
    {'age': [31, None], 'colour': ['red', 'blue']}
    """
    pairs = _pairs(frame)
    if names is not None:
        wanted = set(names)
        pairs = [pair for pair in pairs if pair[0] in wanted]
    twice, times = Counter(name for name, _ in pairs).most_common(1)[0] if pairs else ("", 0)
    if times > 1:
        raise InputError(f"got two columns named {twice!r}; rename one")
    columns = {name: _cells(name, column()) for name, column in pairs}
    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        short, long = (pick(lengths, key=lengths.__getitem__) for pick in (min, max))
        raise InputError(
            f"got {lengths[long]} cells in column {long!r} but {lengths[short]} in {short!r}; "
            "give every column a cell per row"
        )
    return columns


def names_of(frame: Any) -> list[str]:
    """The names of the columns of a frame."""
    return [name for name, _ in _pairs(frame)]


def _pairs(frame: Any) -> list[tuple[str, Callable[[], Any]]]:
    """The names of the columns, and what gets each."""
    if isinstance(frame, Mapping):
        names, get = list(frame), frame.__getitem__
        getters = [partial(get, name) for name in names]
    elif hasattr(frame, "get_columns"):
        names = list(frame.columns)
        getters = [partial(frame.get_column, name) for name in names]
    else:
        names = list(frame.columns)
        getters = [partial(_of_place, frame, k) for k in range(len(names))]
    named = [_named(name, place) for place, name in enumerate(names, 1)]
    return list(zip(named, getters))


def _of_place(frame: Any, place: int) -> Any:
    return frame.iloc[:, place]


def n_rows(columns: Columns) -> int:
    """How many rows the columns have."""
    return len(next(iter(columns.values()))) if columns else 0


def take(columns: Columns, rows: Any) -> Columns:
    """The chosen rows: a slice, or an array of their numbers."""
    return {name: _taken(cells, rows) for name, cells in columns.items()}


def _taken(cells: Any, rows: Any) -> Any:
    if isinstance(rows, slice) or isinstance(cells, np.ndarray):
        return cells[rows]
    return [cells[row] for row in rows]


def _named(name: Any, place: int) -> str:
    if name is None or name != name or not str(name).strip():
        raise InputError(f"column {place} of the table has no name; name it")
    return str(name)


def _cells(name: str, column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return _of_array(name, column)
    if hasattr(column, "dtype"):
        is_polars = hasattr(column, "null_count")
        return _of_polars(column) if is_polars else _of_pandas(name, column)
    if isinstance(column, str | bytes) or not isinstance(column, Sequence):
        kind = type(column).__name__
        raise InputError(f"got {kind} as column {name!r}; give a list or an array of its cells")
    return _of_list(list(column))


def _of_list(cells: list[Any]) -> list[Any]:
    return cells if set(map(type, cells)) <= _PLAIN else [_plain(cell) for cell in cells]


def _of_array(name: str, array: Any) -> Any:
    kind = array.dtype.kind
    if array.ndim not in (1, 2) or (array.ndim == 2 and kind not in "iuf"):
        raise InputError(
            f"got an array of shape {array.shape} as column {name!r}; "
            "give a cell per row, or a row of numbers per row"
        )
    if kind in "iuf":
        return array.astype(np.float64) if array.dtype.itemsize > 8 else array
    if kind == "M":
        return array.astype("M8[s]")
    if kind == "m":
        return np.where(np.isnat(array), np.nan, array / np.timedelta64(1, "s"))
    return _of_list(array.tolist())


def _of_pandas(name: str, column: Any) -> Any:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind != "O":
        return _of_array(name, column.to_numpy())
    if getattr(column.dtype, "tz", None) is not None:
        return _of_array(name, column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    is_missing = column.isna()
    return _of_list(column.astype(object).where(~is_missing, None).tolist())


def _of_polars(column: Any) -> Any:
    import polars as pl

    dtype = column.dtype
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if isinstance(dtype, pl.Date | pl.Datetime):
        return column.cast(pl.Datetime("us")).to_numpy().astype("M8[s]")
    if isinstance(dtype, pl.Duration):
        return column.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6
    if isinstance(dtype, pl.Decimal):
        return column.cast(pl.Float64).to_numpy()
    if dtype.is_float() or (dtype.is_numeric() and not column.null_count()):
        return column.to_numpy()
    if isinstance(dtype, pl.Array) and dtype.inner.is_numeric() and not column.null_count():
        return column.to_numpy()
    return _of_list(column.to_list())


def _plain(cell: Any) -> Any:
    """A cell of numpy, pandas or another library as one of Python."""
    if type(cell) in _PLAIN:
        return cell
    if type(cell).__name__ in _MISSING:
        return None
    if isinstance(cell, np.datetime64):
        return cell.astype("M8[us]").item()
    if isinstance(cell, np.generic):
        return cell.item()
    if isinstance(cell, datetime.datetime):
        return cell.to_pydatetime(warn=False) if hasattr(cell, "to_pydatetime") else cell
    if isinstance(cell, datetime.timedelta):
        return cell.total_seconds()
    if isinstance(cell, datetime.time):
        return cell.isoformat()
    if isinstance(cell, tuple | np.ndarray) or hasattr(cell, "to_list"):
        return cell.tolist() if isinstance(cell, np.ndarray) else list(cell)
    for kind in (str, int):
        if isinstance(cell, kind):
            return kind(cell)
    return float(cell) if isinstance(cell, numbers.Real | decimal.Decimal) else cell
