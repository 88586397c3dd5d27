"""Data sets written as records: JSON lines, CSV, TSV, Parquet."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import AnyPath, open_to_write
from labelrank.datasets.stated import COLUMN
from labelrank.errors import InputError

_MOST_CELLS = 50_000_000
_RESERVED = ("id", "split", "text", "labels")


def write(dataset: Dataset, path: AnyPath, format: str) -> None:
    """Write records; graded or unknown labels as an object of grades (null: unknown)."""
    if dataset.X is not None and dataset.X.shape[0] * dataset.X.shape[1] > _MOST_CELLS:
        raise InputError(
            f"X has {dataset.X.shape[0]} x {dataset.X.shape[1]} cells, too many for {format}; "
            "write npz, libsvm or arff instead"
        )
    if dataset.prefer is not None and format != "jsonl":
        raise InputError(f"got rows with preferences, which {format} does not hold; write jsonl")
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
        elif data.X is None and data.table is not None:
            record.update({name: _plain(data.table[name][row]) for name in names})
        else:
            record.update(zip(names, _features(data.X, row)))
        stated = {} if data.prefer is None else {COLUMN: data.prefer[row]}
        yield record | _targets(data, row) | stated


def _feature_names(data: Dataset) -> list[str]:
    names = data.names_of_features()
    if data.X is None and data.table is not None:
        names = list(data.table)
    taken = {*_RESERVED, *(data.label_names if data.target_classes is not None else ())}
    if len(set(names)) != len(names) or taken & set(names):
        raise InputError("two columns would have the same name; rename the features")
    return names


def _plain(cell: Any) -> Any:
    """A cell of a table as a value that every format can hold."""
    if isinstance(cell, np.ndarray | np.generic):
        cell = cell.tolist()
    if isinstance(cell, float) and np.isnan(cell):
        return None
    return str(cell) if isinstance(cell, date) else cell


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
