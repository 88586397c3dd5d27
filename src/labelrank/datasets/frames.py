"""Records as named columns: JSON lines, CSV, TSV, Parquet and plain text, whole or by batches."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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


def of_json(lines: Iterable[tuple[int, str]], source: Source) -> Frame:
    """Frame of JSON objects, one a line; a key left out is None."""
    numbered = [(number, line) for number, line in lines if line.strip()]
    records = [_object(line, f"{source.name}, line {number}") for number, line in numbered]
    keys = dict.fromkeys(key for record in records for key in record)
    source.limits.check("cells", len(keys) * len(records), source.name)
    columns = {key: [record.get(key) for record in records] for key in keys}
    return Frame(columns, [number for number, _ in numbered])


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line, parse_constant=_refuse)
        if "\\u" in line:
            json.dumps(record, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{where}: not a JSON object ({str(error)[:100]})") from error
    if not isinstance(record, dict):
        raise FormatError(f"{where}: got {type(record).__name__} where a JSON object is wanted")
    return record


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON; use null")


def of_rows(rows: Sequence[tuple[int, list[str]]], names: Sequence[str], source: Source) -> Frame:
    """Frame of rows that must be as long as the names."""
    for number, row in rows:
        if len(row) != len(names):
            raise FormatError(
                f"{source.name}, line {number}: got {len(row)} values, but {len(names)} columns "
                "are wanted; quote values that contain the separator"
            )
    values = [list(column) for column in zip(*(row for _, row in rows))] or [[] for _ in names]
    return Frame(dict(zip(names, values)), [number for number, _ in rows])


def split_rows(
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


def header_names(
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


def of_delimited(
    source: Source,
    format: str,
    encoding: str | None,
    header: bool,
    columns: Sequence[str] | None,
) -> Frame:
    """Frame of CSV or TSV text; TSV is taken as quoted only where that fits all rows."""
    text = source.text(encoding)

    def parse(quoted: bool) -> Frame:
        rows = list(split_rows(io.StringIO(text, newline=""), format, quoted, source))
        if not rows:
            raise FormatError(f"{source.name}: no row in it; a header and records are wanted")
        names = header_names(rows[0][1], header, columns, source)
        return of_rows(rows[1:] if header else rows, names, source)

    if format == "csv":
        return parse(quoted=True)
    try:
        return parse(quoted='"' in text)
    except FormatError:
        return parse(quoted=False)


def of_parquet(source: Source) -> Frame:
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
    except LabelrankError:
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise FormatError(
            f"{source.name}: not a Parquet file, or damaged ({str(error)[:200]})"
        ) from error
    return Frame(columns, list(range(1, n + 1)))


def read_frame(
    source: Source,
    format: str,
    encoding: str | None,
    header: bool,
    columns: Sequence[str] | None,
) -> Frame:
    """All records of a file."""
    if format == "parquet":
        return of_parquet(source)
    if format in ("csv", "tsv"):
        return of_delimited(source, format, encoding, header, columns)
    lines = source.lines(encoding)
    if format == "text":
        return Frame({"text": list(lines)}, list(range(1, len(lines) + 1)))
    return of_json(enumerate(lines, 1), source)
