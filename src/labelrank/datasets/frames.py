"""Records as named columns, read whole or by batches, whatever file they come from."""

import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise
from typing import Any

import numpy as np

from labelrank.datasets import delimited, spreadsheets
from labelrank.datasets.opening import ROW, Source
from labelrank.datasets.options import Options
from labelrank.errors import FormatError, InputError, LabelrankError

DELIMITED = ("csv", "tsv")
SPREADSHEETS = ("xlsx", "ods")
STREAMED = ("jsonl", *DELIMITED, "text", "parquet")
_ROWS_AT_ONCE = 50_000
_DEPTH = 5  # so deep objects within objects are read
_OBJECT_PER_LINE = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")


@dataclass
class Frame:
    """Columns of equal length, and the line (or row) number of each record for messages.

    `separator` is what stands between cells, where something does.
    """

    columns: dict[str, Any]
    numbers: Sequence[int]
    source: Source
    unit: str = "line"
    remarks: list[str] = field(default_factory=list)
    separator: str | None = None

    def flatten(self, kept: Callable[[str], bool]) -> None:
        """A column per key in place of objects, called column.key, unless the column is kept."""
        for _ in range(_DEPTH):
            nested = {n for n, cells in self.columns.items() if _are_nested(cells) and not kept(n)}
            if not nested:
                return
            found: dict[str, Any] = {}
            for name, cells in self.columns.items():
                found.update(_keys_of(name, cells) if name in nested else {name: cells})
            self.source.limits.check("cells", len(found) * len(self.numbers), self.source.name)
            self.columns = found

    def where(self, row: int) -> str:
        return f"{self.source.name}, {self.unit} {self.numbers[row]}"

    @property
    def has_keys(self) -> bool:
        """Whether each record names its own columns, as JSON does."""
        return self.unit in ("line", "record") and self.separator is None

    @property
    def is_plain_text(self) -> bool:
        """Whether each record is a line of text, which has no columns."""
        return self.unit == "text line"


def _are_nested(cells: Any) -> bool:
    if isinstance(cells, np.ndarray):
        return False
    types = set(map(type, cells))
    return dict in types and types <= {dict, type(None)}


def _keys_of(name: str, cells: Sequence[dict[str, Any] | None]) -> dict[str, list[Any]]:
    keys = dict.fromkeys(key for cell in cells if cell for key in cell)
    return {
        f"{name}.{key}": [None if cell is None else cell.get(key) for cell in cells] for key in keys
    }


def read_frame(source: Source, format: str, options: Options) -> Frame:
    """All records of a file."""
    if format == "parquet":
        return _whole_parquet(source)
    if format in SPREADSHEETS:
        sheet = spreadsheets.read(source, format, options.sheet)
        n_titles = delimited.titles([row for _, row in sheet.rows])
        remarks = sheet.remarks + delimited.told_titles(n_titles)
        return _of_table(sheet.rows[n_titles:], remarks, None, source, options, unit="row")
    if format in DELIMITED:
        found = delimited.read(source, format, options.encoding, options.separator)
        return _of_table(found.rows, found.remarks, found.separator, source, options)
    if format == "json":
        return _of_array(source, options)
    if format == "text":
        text, remarks = delimited.text_of(source, options.encoding)
        return _of_lines(list(enumerate(source.split(text), 1)), source, remarks)
    source.check_lines(ROW)
    return _of_json(enumerate(source.lines(options.encoding), 1), source)


def batches_of(
    source: Source, format: str, size: int, options: Options, used: Sequence[str],
    is_table: bool = False,
) -> Iterator[Frame]:  # fmt: skip
    """Records of a file or pipe, `size` at a time, in bounded memory.

    The first line tells a format that is not named: JSON, a header that names the columns used (or
    usual ones), else plain text; where a table is wanted, it is a header in any case.
    """
    if format == "parquet":
        yield from _batches_of_parquet(source, size)
        return
    is_strict = format not in ("text", *DELIMITED) if format else None
    lines = delimited.lines(source, options.encoding, is_strict=is_strict)
    if not format:
        first = next(lines, None)
        lines = chain([] if first is None else [first], lines)
        format = "jsonl" if first is None else _told_by(first[1], used, source)
        format = "csv" if format == "text" and is_table else format
    if format in DELIMITED:
        yield from _batches_of_rows(lines, source, format, size, options)
        return
    while numbered := _some(lines, size, source):
        if format == "text":
            yield _of_lines(numbered, source, [])
        elif (frame := _of_json(numbered, source)).numbers:
            yield frame


def _some(items: Iterator[Any], size: int, source: Source) -> list[Any]:
    """The next items: `size` of them, or those before one that must be waited for."""
    found = []
    for item in islice(items, size):
        found.append(item)
        if source.must_wait:
            break
    return found


def _told_by(line: str, used: Sequence[str], source: Source) -> str:
    if line.lstrip().startswith("{"):
        return "jsonl"
    return "csv" if delimited.is_header(line, used, source) else "text"


def _batches_of_rows(
    lines: Iterator[tuple[int, str]], source: Source, format: str, size: int, options: Options
) -> Iterator[Frame]:
    found = delimited.stream(lines, source, format, options.encoding, options.separator)
    first = next(found.rows, None)
    if first is None:
        return
    names = delimited.header(first[1], options, source)
    start = [] if options.header else [first]
    while batch := [*start, *_some(found.rows, size - len(start), source)]:
        start = []
        columns = delimited.columns(batch, names, source)
        numbers = [number for number, _ in batch]
        yield Frame(columns, numbers, source, "line", found.remarks, found.separator)


def _of_table(
    rows: Sequence[tuple[int, list[Any]]], remarks: list[str], separator: str | None,
    source: Source, options: Options, unit: str = "line",
) -> Frame:  # fmt: skip
    """Frame of rows of cells, of which the first may name the columns."""
    if len(rows) <= options.header:
        raise FormatError(f"{source.name}: no record in it; give a header and at least one row")
    names = delimited.header(rows[0][1], options, source)
    rows = rows[1:] if options.header else rows
    columns = delimited.columns(rows, names, source, unit)
    return Frame(
        delimited.without_empty(columns), [k for k, _ in rows], source, unit, remarks, separator
    )


def _of_lines(numbered: list[tuple[int, str]], source: Source, remarks: list[str]) -> Frame:
    texts = [line for _, line in numbered]
    return Frame({"text": texts}, [k for k, _ in numbered], source, "text line", remarks)


def _of_json(lines: Iterable[tuple[int, str]], source: Source) -> Frame:
    """Frame of JSON objects, one a line; a key left out is None."""
    numbered = [(number, line) for number, line in lines if line.strip()]
    records = [_object(line, f"{source.name}, line {number}") for number, line in numbered]
    return _of_records(records, [number for number, _ in numbered], source, "line")


def _of_records(
    records: list[dict[str, Any]], numbers: Sequence[int], source: Source, unit: str
) -> Frame:
    keys = dict.fromkeys(key for record in records for key in record)
    source.limits.check("cells", len(keys) * len(records), source.name)
    columns = {key: [record.get(key) for record in records] for key in keys}
    return Frame(columns, numbers, source, unit)


def _object(line: str, where: str) -> dict[str, Any]:
    record = _parsed(line, where, "a JSON object")
    if not isinstance(record, dict):
        raise FormatError(f"{where}: got {type(record).__name__} where a JSON object is wanted")
    return record


def _parsed(text: str, where: str, wanted: str) -> Any:
    try:
        value = json.loads(text, parse_constant=refuse_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: not {wanted} ({str(error)[:100]})") from error
    return value


def refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON; use null")


def _of_array(source: Source, options: Options) -> Frame:
    """Frame of an array of JSON objects, also the only one in an object; or of JSON lines."""
    text = source.text(options.encoding)
    if _OBJECT_PER_LINE.match(text):
        return _of_json(enumerate(source.split(text), 1), source)
    value = _parsed(text, source.name, "a JSON array of objects")
    if isinstance(value, dict):
        arrays = [one for one in value.values() if _are_objects(one)]
        value = arrays[0] if len(arrays) == 1 else None
    if not _are_objects(value):
        raise FormatError(
            f"{source.name}: an array of JSON objects is wanted, [{{...}}, {{...}}]; for one "
            "object per line use the format jsonl"
        )
    return _of_records(value, range(1, len(value) + 1), source, "record")


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(type(one) is dict for one in value)


@contextmanager
def _parquet(source: Source) -> Iterator[Any]:
    """A Parquet file that polars reads as it is wanted; its errors are ours."""
    import polars as pl

    try:
        is_file = os.path.isfile(source.path) and not source.is_compressed
        yield pl.scan_parquet(source.path if is_file else io.BytesIO(source.content))
    except (LabelrankError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise FormatError(
            f"{source.name}: not a Parquet file, or damaged ({str(error)[:200]})"
        ) from error


def described(source: Source) -> tuple[dict[str, str], int]:
    """The columns of a Parquet file with their types, and how many rows it has: by its footer."""
    import polars as pl

    with _parquet(source) as lazy:
        columns = {name: str(kind) for name, kind in lazy.collect_schema().items()}
        n_rows = int(lazy.select(pl.len()).collect().item())
    source.limits.check("rows", n_rows, source.name)
    return columns, n_rows


def _slices(source: Source, lazy: Any, n_rows: int, first: int = 0) -> Iterator[Any]:
    """The rows some thousands at a time, so that a small file cannot grow unseen.

    The first slice may have fewer, for who looks at the first rows alone.
    """
    import polars as pl

    n = int(lazy.select(pl.len()).collect().item())
    source.limits.check("rows", n, source.name)
    source.limits.check("features", len(lazy.collect_schema()), source.name)
    bounds = [0, *range(min(first or n_rows, n), n, n_rows), n]
    for start, stop in pairwise(bounds if n else []):
        piece = lazy.slice(start, stop - start).collect()
        source.limits.check("bytes", piece.estimated_size(), source.name)
        yield piece


def _whole_parquet(source: Source) -> Frame:
    taken, pieces = 0.0, []
    with _parquet(source) as lazy:
        names = lazy.collect_schema().names()
        for piece in _slices(source, lazy, _ROWS_AT_ONCE):
            taken += piece.estimated_size()
            source.limits.check("bytes", taken, source.name)
            pieces.append([_cells(piece[name]) for name in names])
    columns = {name: _joined([piece[k] for piece in pieces]) for k, name in enumerate(names)}
    n = len(next(iter(columns.values()), []))
    return Frame(columns, range(1, n + 1), source, "row")


def _batches_of_parquet(source: Source, size: int) -> Iterator[Frame]:
    """Batches from slices of the file, which hold many of them."""
    done = 0
    with _parquet(source) as lazy:
        for piece in _slices(source, lazy, max(size, _ROWS_AT_ONCE // size * size), size):
            for start in range(0, piece.height, size):
                part = piece.slice(start, size)
                columns = {name: _cells(part[name]) for name in part.columns}
                numbers = range(done + start + 1, done + start + part.height + 1)
                yield Frame(columns, numbers, source, "row")
            done += piece.height


def _cells(column: Any) -> Any:
    """The cells of a column: an array of vectors, or a list."""
    import polars as pl

    dtype = column.dtype
    if isinstance(dtype, pl.List) and dtype.inner.is_float() and not column.null_count():
        widths = column.list.len()
        if len(column) and widths.min() == widths.max() and widths.max():
            flat = column.explode()
            if not flat.null_count():
                return flat.to_numpy().reshape(len(column), -1)
    if isinstance(dtype, pl.Array) and dtype.inner.is_float() and not column.null_count():
        return column.to_numpy()
    if isinstance(dtype, pl.Decimal):
        column = column.cast(pl.Float64)
    if isinstance(dtype, pl.Binary):
        return [None if cell is None else f"{len(cell):,} bytes" for cell in column.to_list()]
    return column.to_list()


def _joined(pieces: list[Any]) -> Any:
    """The cells of all pieces; lists where not all are vectors of one length."""
    widths = {piece.shape[1] if isinstance(piece, np.ndarray) else 0 for piece in pieces}
    if len(widths) == 1 and widths != {0}:
        return np.concatenate(pieces)
    lists = (p.tolist() if isinstance(p, np.ndarray) else p for p in pieces)
    return [cell for cells in lists for cell in cells]


def check_batch_size(batch_size: Any) -> None:
    """Raise InputError unless it is a whole number from 1."""
    if not isinstance(batch_size, int) or batch_size < 1:
        raise InputError(f"got batch_size={batch_size!r}; give a whole number from 1")
