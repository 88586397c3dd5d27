"""Records as named columns: JSON lines, CSV, TSV, Parquet and plain text.

Read whole or by batches; written with id, split, text or features, and labels.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import AnyPath, Source, open_to_write
from labelrank.errors import FormatError, InputError, LabelrankError

_ROWS_AT_ONCE = 50_000
_MOST_CELLS = 50_000_000
_RESERVED = ("id", "split", "text", "labels")


@dataclass(frozen=True)
class Options:
    """Which column is which, and how labels are written.

    Parameters
    ----------
    encoding : str or None
    header : whether the first row of CSV or TSV names the columns
    columns : their names, instead of those of the header
    text_column, id_column, split_column : names; None looks for the usual ones
        The split column makes `train` and `test` of the records that say so.
    label_column : name of the column with the labels, or a list of columns, one per target
        No label at all is fine: Y then has no column.
    label_delimiter : between the labels of a cell; None finds one of | ; ,
    graded : whether labels are written `label:grade`; None: if all of them are
    ordered : labels stand most relevant first, the grades of m labels are m, ..., 1
    label_names : the label columns, in order; None takes the sorted labels of the file
    nominal, targets : as in `labelrank.datasets.arff`
    """

    encoding: str | None = None
    header: bool = True
    columns: Sequence[str] | None = None
    text_column: str | None = None
    label_column: str | Sequence[str] | None = None
    id_column: str | None = None
    split_column: str | None = None
    label_delimiter: str | None = None
    graded: bool | None = None
    ordered: bool = False
    label_names: Sequence[str] | None = None
    nominal: str = "ordinal"
    targets: str = "auto"


@dataclass
class Frame:
    """Columns of equal length, and the line (or row) number of each record for messages."""

    columns: dict[str, list[Any]]
    numbers: list[int]
    source: Source

    def where(self, row: int) -> str:
        return f"{self.source.name}, line {self.numbers[row]}"


def _of_json(lines: Iterable[tuple[int, str]], source: Source) -> Frame:
    """Frame of JSON objects, one a line; a key left out is None."""
    numbered = [(number, line) for number, line in lines if line.strip()]
    records = [_object(line, f"{source.name}, line {number}") for number, line in numbered]
    keys = dict.fromkeys(key for record in records for key in record)
    source.limits.check("cells", len(keys) * len(records), source.name)
    columns = {key: [record.get(key) for record in records] for key in keys}
    return Frame(columns, [number for number, _ in numbered], source)


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
    return Frame(dict(zip(names, values)), [number for number, _ in rows], source)


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


def _header_names(first: Sequence[str], options: Options, source: Source) -> list[str]:
    """Names of the columns: given, from the first row, or "0", "1", ..."""
    names = list(first if options.columns is None else options.columns)
    if options.columns is None and not options.header:
        names = [str(k) for k in range(len(first))]
    source.limits.check("features", len(names), source.name)
    names = [name.strip() for name in names]
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise FormatError(f"{source.name}: column {twice!r} occurs twice; rename one")
    return names


def _of_delimited(source: Source, format: str, options: Options) -> Frame:
    """Frame of CSV or TSV text; TSV is taken as quoted only where that fits all rows."""
    text = source.text(options.encoding)

    def parse(quoted: bool) -> Frame:
        rows = list(_split_rows(io.StringIO(text, newline=""), format, quoted, source))
        if not rows:
            raise FormatError(f"{source.name}: no row in it; a header and records are wanted")
        names = _header_names(rows[0][1], options, source)
        return _of_rows(rows[1:] if options.header else rows, names, source)

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
    return Frame(columns, list(range(1, n + 1)), source)


def read_frame(source: Source, format: str, options: Options) -> Frame:
    """All records of a file."""
    if format == "parquet":
        return _of_parquet(source)
    if format in ("csv", "tsv"):
        return _of_delimited(source, format, options)
    lines = source.lines(options.encoding)
    if format == "text":
        return Frame({"text": list(lines)}, list(range(1, len(lines) + 1)), source)
    return _of_json(enumerate(lines, 1), source)


def batches_of(source: Source, format: str, size: int, options: Options) -> Iterator[Frame]:
    """Records of a file or pipe, `size` at a time, in bounded memory."""
    lines = _lines(source, options.encoding)
    if format in ("csv", "tsv"):
        text = (line + "\n" for _, line in lines)
        rows = _split_rows(text, format, format == "csv", source)
        first = next(rows, None)
        if first is None:
            return
        names = _header_names(first[1], options, source)
        rows = rows if options.header else chain([first], rows)
        while batch := list(islice(rows, size)):
            yield _of_rows(batch, names, source)
        return
    while numbered := list(islice(lines, size)):
        if format == "text":
            yield Frame({"text": [line for _, line in numbered]}, [k for k, _ in numbered], source)
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


def write(dataset: Dataset, path: AnyPath, format: str) -> None:
    """Write records; graded or unknown labels as an object of grades (null: unknown)."""
    if dataset.X is not None and dataset.X.shape[0] * dataset.X.shape[1] > _MOST_CELLS:
        raise InputError(
            f"X has {dataset.X.shape[0]} x {dataset.X.shape[1]} cells, too many for {format}; "
            "write npz, libsvm or arff instead"
        )
    if dataset.train is None or dataset.test is None:
        records = list(_part(dataset, None))
    else:
        records = [*_part(dataset.train, "train"), *_part(dataset.test, "test")]
    with open_to_write(path) as file:
        if format == "parquet":
            _write_parquet(records, file)
        elif format == "jsonl":
            file.writelines((_json(record) + "\n").encode() for record in records)
        else:
            file.write(_delimited_bytes(records, "\t" if format == "tsv" else ","))


def _part(data: Dataset, split: str | None) -> Iterator[dict[str, Any]]:
    names = _feature_names(data)
    for row in range(data.n_instances):
        record: dict[str, Any] = {} if data.ids is None else {"id": data.ids[row]}
        if split is not None:
            record["split"] = split
        if data.texts is not None:
            record["text"] = data.texts[row]
        else:
            record.update(zip(names, _features(data.X, row)))
        yield record | _targets(data, row)


def _feature_names(data: Dataset) -> list[str]:
    names = data.names_of_features()
    taken = {*_RESERVED, *(data.label_names if data.target_classes is not None else ())}
    if len(set(names)) != len(names) or taken & set(names):
        raise InputError("two columns would have the same name; rename the features")
    return names


def _features(X: Any, row: int) -> list[float | None]:
    if X is None:
        return []
    values = X[[row]].toarray()[0] if sp.issparse(X) else np.asarray(X[row])
    return [None if np.isnan(value) else value for value in values.tolist()]


def _targets(data: Dataset, row: int) -> dict[str, Any]:
    if data.target_classes is not None:
        codes = np.asarray(data.Y[row], np.float64)
        found = zip(data.label_names, data.target_classes, codes)
        return {n: None if np.isnan(code) else classes[int(code)] for n, classes, code in found}
    span = slice(data.Y.indptr[row], data.Y.indptr[row + 1])
    names = [data.label_names[k] for k in data.Y.indices[span]]
    grades = data.Y.data[span]
    if (grades == 1).all():
        return {"labels": names}
    known = [None if np.isnan(grade) else grade for grade in grades.tolist()]
    return {"labels": dict(zip(names, known))}


def _delimited_bytes(records: list[dict[str, Any]], mark: str) -> bytes:
    names = list(records[0]) if records else list(_RESERVED)
    rows = [names, *([_cell(record[name]) for name in names] for record in records)]
    # Minimal quoting leaves a lone carriage return bare, and it would end the row.
    bare = any(isinstance(cell, str) and "\r" in cell for row in rows for cell in row)
    text = io.StringIO(newline="")
    quoting: Any = csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL
    csv.writer(text, delimiter=mark, lineterminator="\n", quoting=quoting).writerows(rows)
    return text.getvalue().encode()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return _json(value)
    return "" if value is None else value


def _write_parquet(records: list[dict[str, Any]], file: Any) -> None:
    import polars as pl

    graded = any(isinstance(record.get("labels"), dict) for record in records)
    names = list(records[0]) if records else []
    columns = {name: [record[name] for record in records] for name in names}
    if graded:
        columns["labels"] = [_json(cell) for cell in columns["labels"]]
    lists = {} if graded or "labels" not in columns else {"labels": pl.List(pl.String)}
    packed = io.BytesIO()
    pl.DataFrame(columns, schema_overrides=lists).write_parquet(packed)
    file.write(packed.getbuffer())
