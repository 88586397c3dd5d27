"""Records as named columns: JSON lines, CSV, TSV, Parquet and plain text, whole or by batches."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from labelrank.datasets.opening import Source
from labelrank.errors import FormatError, LabelrankError

_ROWS_AT_ONCE = 50_000


@dataclass
class Frame:
    """Columns of equal length, and the line (or row) number of each record for messages."""

    columns: dict[str, list[Any]]
    numbers: list[int]

    def where(self, source: Source, row: int) -> str:
        return f"{source.name}, line {self.numbers[row]}"


def _of_json(lines: Iterable[tuple[int, str]], source: Source) -> Frame:
    """Frame of JSON objects, one a line; a key left out is None."""
    numbered = [(number, line) for number, line in lines if line.strip()]
    records = [_object(line, f"{source.name}, line {number}") for number, line in numbered]
    keys = dict.fromkeys(key for record in records for key in record)
    source.limits.check("cells", len(keys) * len(records), source.name)
    columns = {key: [record.get(key) for record in records] for key in keys}
    return Frame(columns, [number for number, _ in numbered])


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=refuse_constant)
        if "\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: not a JSON object ({str(error)[:100]})") from error
    if not isinstance(record, dict):
        raise FormatError(f"{where}: got {type(record).__name__} where a JSON object is wanted")
    return record


def refuse_constant(name: str) -> None:
    """Raise ValueError for NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON; use null")


def _of_rows(rows: Sequence[tuple[int, list[str]]], names: Sequence[str], source: Source) -> Frame:
    """Frame of rows that must be as long as the names."""
    for number, row in rows:
        if len(row) != len(names):
            raise FormatError(
                f"{source.name}, line {number}: got {len(row)} values, but {len(names)} columns "
                "are wanted; quote values that contain the separator"
            )
    values = [list(column) for column in zip(*(row for _, row in rows))] or [[] for _ in names]
    return Frame(dict(zip(names, values)), [number for number, _ in rows])


def _split_rows(
    lines: Iterable[str], format: str, quoted: bool, source: Source
) -> Iterator[tuple[int, list[str]]]:
    """Rows of delimited text with the number of their last line; blank lines are skipped."""
    csv.field_size_limit(min(source.limits.line, (1 << 31) - 1))
    mark = "\t" if format == "tsv" else ","
    reader = csv.reader(
        lines, delimiter=mark, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, strict=True
    )
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise FormatError(f"{source.name}, line {reader.line_num}: {error}") from error


def _header_names(
    first: Sequence[str], header: bool, columns: Sequence[str] | None, source: Source
) -> list[str]:
    """Names of the columns: given, from the first row, or "0", "1", ..."""
    names = list(columns) if columns is not None else list(first)
    if columns is None and not header:
        names = [str(k) for k in range(len(first))]
    source.limits.check("features", len(names), source.name)
    names = [name.strip() for name in names]
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise FormatError(f"{source.name}: column {twice!r} occurs twice; rename one")
    return names


def _of_delimited(
    source: Source, format: str, encoding: str | None, header: bool, columns: Sequence[str] | None
) -> Frame:
    """Frame of CSV or TSV text; TSV is taken as quoted only where that fits all rows."""
    text = source.text(encoding)

    def parse(quoted: bool) -> Frame:
        rows = list(_split_rows(io.StringIO(text, newline=""), format, quoted, source))
        if not rows:
            raise FormatError(f"{source.name}: no row in it; a header and records are wanted")
        names = _header_names(rows[0][1], header, columns, source)
        return _of_rows(rows[1:] if header else rows, names, source)

    if format == "csv":
        return parse(quoted=True)
    try:
        return parse(quoted='"' in text)
    except FormatError:
        return parse(quoted=False)


def _of_parquet(source: Source) -> Frame:
    """Frame of a Parquet file, a slice at a time so that a small file cannot grow unseen."""
    import polars as pl

    try:
        lazy = pl.scan_parquet(io.BytesIO(source.content))
        n = int(lazy.select(pl.len()).collect().item())
        source.limits.check("rows", n, source.name)
        source.limits.check("features", len(lazy.collect_schema()), source.name)
        columns: dict[str, list[Any]] = {name: [] for name in lazy.collect_schema().names()}
        taken = 0.0
        for start in range(0, n, _ROWS_AT_ONCE):
            piece = lazy.slice(start, _ROWS_AT_ONCE).collect()
            taken += piece.estimated_size()
            source.limits.check("bytes", taken, source.name)
            for name, values in columns.items():
                values.extend(piece[name].to_list())
    except (LabelrankError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise FormatError(
            f"{source.name}: not a Parquet file, or damaged ({str(error)[:200]})"
        ) from error
    return Frame(columns, list(range(1, n + 1)))


def read_frame(
    source: Source, format: str, encoding: str | None, header: bool, columns: Sequence[str] | None
) -> Frame:
    """All records of a file."""
    if format == "parquet":
        return _of_parquet(source)
    if format in ("csv", "tsv"):
        return _of_delimited(source, format, encoding, header, columns)
    lines = source.lines(encoding)
    if format == "text":
        return Frame({"text": list(lines)}, list(range(1, len(lines) + 1)))
    return _of_json(enumerate(lines, 1), source)


def batches_of(
    source: Source,
    format: str,
    size: int,
    encoding: str | None,
    header: bool,
    columns: Sequence[str] | None,
) -> Iterator[Frame]:
    """Records of a file or pipe, `size` at a time, in bounded memory."""
    lines = _lines(source, encoding)
    if format in ("csv", "tsv"):
        text = (line + "\n" for _, line in lines)
        rows = _split_rows(text, format, format == "csv", source)
        first = next(rows, None)
        if first is None:
            return
        names = _header_names(first[1], header, columns, source)
        rows = rows if header else chain([first], rows)
        while batch := list(islice(rows, size)):
            yield _of_rows(batch, names, source)
        return
    while numbered := list(islice(lines, size)):
        if format == "text":
            yield Frame({"text": [line for _, line in numbered]}, [k for k, _ in numbered])
        elif (frame := _of_json(numbered, source)).numbers:
            yield frame


def _lines(source: Source, encoding: str | None) -> Iterator[tuple[int, str]]:
    """Numbered lines, none longer than the limit."""
    codec = encoding or "utf-8"
    longest, number = source.limits.line, 0
    with source.stream() as file:
        while raw := file.readline(longest + 2):
            number += 1
            source.limits.check("line", len(raw.rstrip(b"\r\n")), f"{source.name}, line {number}")
            raw = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw
            try:
                line = raw.decode(codec).rstrip("\r\n")
            except (UnicodeDecodeError, LookupError) as error:
                raise FormatError(
                    f"{source.name}, line {number}: not {codec} text; give its encoding"
                ) from error
            if "\0" in line:
                raise FormatError(f"{source.name}, line {number}: a zero byte; not a text file")
            yield number, line
