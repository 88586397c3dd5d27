"""Records with a text and labels, or with features and labels: JSONL, CSV, TSV, Parquet, text."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.arff import Table, to_dataset
from labelrank.datasets.arff_parsing import Attribute
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.frames import Frame, Options, batches_of, read_frame, refuse_constant
from labelrank.datasets.frames import write as write
from labelrank.datasets.opening import Limits, Source, check_options
from labelrank.errors import FormatError, InputError
from labelrank.relevance import check_relevance, from_grades

_GRADED = re.compile(r"(.*[^:\s])\s*:\s*(\d{1,15}(?:\.\d{1,15})?)")
_DELIMITERS = "|;,"


class CellReader:
    """Turns cells (lists, dicts of grades, JSON of either, delimited names) into label to grade."""

    def __init__(
        self, cells: Sequence[Any], delimiter: str | None, graded: bool | None, ordered: bool
    ) -> None:
        self.ordered = ordered
        texts = [c for c in cells if isinstance(c, str) and not c.lstrip().startswith(("[", "{"))]
        met = (mark for mark in _DELIMITERS if any(mark in text for text in texts))
        self.delimiter = delimiter or next(met, "")
        if graded is None:
            names = [name for text in texts for name in self._split(text)]
            graded = bool(names) and all(_GRADED.fullmatch(name) for name in names)
        self.graded = graded

    def _split(self, text: str) -> list[str]:
        parts = text.split(self.delimiter) if self.delimiter else [text]
        return [part.strip() for part in parts if part.strip()]

    def grades(self, cell: Any) -> dict[str, float]:
        """Grades of one cell; ValueError for what is no label."""
        if isinstance(cell, str):
            if cell.lstrip().startswith(("[", "{")):
                return self.grades(_json(cell))
            names = self._split(cell)
            return dict(map(_name_and_grade, names)) if self.graded else self._listed(names)
        if cell is None:
            return {}
        if isinstance(cell, dict):
            return {name: _grade(value) for name, value in cell.items()}
        if isinstance(cell, list | tuple):
            return self._listed([_name(item) for item in cell])
        return self._listed([_name(cell)])

    def _listed(self, names: list[str]) -> dict[str, float]:
        distinct = list(dict.fromkeys(names))
        if not self.ordered:
            return dict.fromkeys(distinct, 1.0)
        return {name: float(len(distinct) - k) for k, name in enumerate(distinct)}


def _json(cell: str) -> Any:
    try:
        return json.loads(cell, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError(f"got labels {cell[:40]!r}, which look like JSON but are not") from None


def _name(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    raise ValueError(f"got {str(item)[:40]!r} as a label; give names, or whole numbers")


def _grade(value: Any) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or not 0 <= value < 1e300:
        raise ValueError(f"got grade {str(value)[:40]!r}; give a number >= 0, or null for unknown")
    return float(value)


def _name_and_grade(name: str) -> tuple[str, float]:
    match = _GRADED.fullmatch(name)
    if match is None:
        raise ValueError(f"got {name[:40]!r} where 'label:grade' is wanted")
    return match[1], float(match[2])


def relevance(rows: Sequence[dict[str, float]], names: Sequence[str]) -> sp.csr_array:
    """Relevance matrix of the rows; KeyError for a label that has no column."""
    column = {name: k for k, name in enumerate(names)}
    coded = [{column[name]: grade for name, grade in row.items()} for row in rows]
    Y = from_grades(coded, len(names))
    Y.eliminate_zeros()  # all that `check_relevance` would do: every grade was checked above
    return Y


_USUAL = {
    "text": ("text", "document", "content", "body", "sentence", "title"),
    "labels": ("labels", "label", "tags", "topics", "classes"),
    "id": ("id",),
    "split": ("split",),
}
_MISSING = {"", "?", "na", "nan", "null", "none"}
_STREAMED = ("jsonl", "csv", "tsv", "text")
UNBOUNDED = Limits(bytes=1 << 62, expansion=1 << 62)


def _chosen(options: Mapping[str, Any], format: str) -> Options:
    check_options(options, [field.name for field in fields(Options)], format)
    return Options(**options)


def read(source: Source, format: str, **options: Any) -> Dataset:
    """Read records, by `Options`; without a text column the other columns are features."""
    chosen = _chosen(options, format)
    frame = read_frame(source, format, chosen)
    if not frame.numbers:
        raise FormatError(f"{source.name}: no record in it")
    source.limits.check("rows", len(frame.numbers), source.name)
    data, parts = _to_data(frame, chosen)
    if parts is None:
        return data
    lowered = np.array([str(part).strip().lower() for part in parts])
    train, test = np.isin(lowered, ["train", "training"]), lowered == "test"
    if train.any() and test.any():
        return data.with_split({"train": train, "test": test})
    return data


def stream(
    source: Source, format: str, batch_size: int, options: Mapping[str, Any]
) -> Iterator[Dataset]:
    """Batches of records; see `labelrank.datasets.formats.stream`."""
    if not isinstance(batch_size, int) or batch_size < 1:
        raise InputError(f"got batch_size={batch_size!r}; give a whole number from 1")
    if format not in _STREAMED:
        raise InputError(f"the {format} format cannot be streamed; use {', '.join(_STREAMED)}")
    return _batches(source, format, batch_size, _chosen(options, format))


def _batches(source: Source, format: str, size: int, chosen: Options) -> Iterator[Dataset]:
    met: list[str] = []
    in_one_column = chosen.label_column is None or isinstance(chosen.label_column, str)
    for frame in batches_of(source, format, size, chosen):
        data, _ = _to_data(frame, chosen)
        if chosen.label_names is None and data.target_classes is None and in_one_column:
            data = _renumbered(data, met, source)
        yield data


def _renumbered(data: Dataset, met: list[str], source: Source) -> Dataset:
    """The batch with the columns of all labels met so far, new ones last."""
    known = set(met)
    met.extend(name for name in data.label_names if name not in known)
    source.limits.check("labels", len(met), source.name)
    column = {name: k for k, name in enumerate(met)}
    place = np.array([column[name] for name in data.label_names], np.int32)
    parts = (data.Y.data, place[data.Y.indices], data.Y.indptr)
    Y = sp.csr_array(parts, shape=(data.n_instances, len(met)))
    return replace(data, Y=check_relevance(Y) if met else Y, label_names=list(met))


def _to_data(frame: Frame, choice: Options) -> tuple[Dataset, list[Any] | None]:
    """Data set of the records, and their split cells."""
    text = _find(frame, "text", choice.text_column)
    given: Any = choice.label_column
    several = given is not None and not isinstance(given, str)
    columns = [_find(frame, "labels", one) for one in (given if several else [given])]
    label, targets = (None, columns) if several else (columns[0], [])
    ids = _find(frame, "id", choice.id_column)
    split = _find(frame, "split", choice.split_column)
    left_out = {text, label, ids, split, *targets}
    features = [c for c in frame.columns if c not in left_out] if text is None else []
    if text is None and not features:
        raise FormatError(
            f"{frame.source.name}: no text column among {_listed(frame)}; give text_column=..."
        )
    data = Dataset(frame.source.stem, None, None)
    if several or features:
        data = _tabular(frame, features, [str(t) for t in targets], choice)
    data.columns = frame.columns
    if not several:
        rows = _grades(frame, label, choice)
        data.label_names = _label_names(rows, choice.label_names, frame)
        data.Y, data.target_classes = relevance(rows, data.label_names), None
    if text is not None:
        data.X = data.feature_names = None
        data.texts = [_text(frame, text, row) for row in range(len(frame.numbers))]
    data.ids = None if ids is None else [str(value) for value in frame.columns[ids]]
    return data, None if split is None else frame.columns[split]


def _listed(frame: Frame) -> str:
    names = list(frame.columns)
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def _find(frame: Frame, what: str, given: str | None) -> str | None:
    if given is not None:
        if str(given) not in frame.columns:
            raise FormatError(f"{frame.source.name}: no column {given!r}; it has {_listed(frame)}")
        return str(given)
    lowered = {name.lower(): name for name in reversed(frame.columns)}
    return next((lowered[usual] for usual in _USUAL[what] if usual in lowered), None)


def _text(frame: Frame, column: str, row: int) -> str:
    value = frame.columns[column][row]
    if isinstance(value, str):
        return value
    raise FormatError(
        f"{frame.where(row)}: got {str(value)[:40]!r} in column {column!r}; text is wanted"
    )


def _grades(frame: Frame, label: str | None, choice: Options) -> list[dict[str, float]]:
    if label is None:
        return [{} for _ in frame.numbers]
    cells = frame.columns[label]
    reader = CellReader(cells, choice.label_delimiter, choice.graded, choice.ordered)
    rows = []
    for row, cell in enumerate(cells):
        try:
            rows.append(reader.grades(cell))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{frame.where(row)}: {error}") from error
    frame.source.limits.check("nonzeros", sum(map(len, rows)), frame.source.name)
    return rows


def _label_names(
    rows: list[dict[str, float]], names: Sequence[str] | None, frame: Frame
) -> list[str]:
    if names is None:
        met = sorted({name for row in rows for name in row})
        frame.source.limits.check("labels", len(met), frame.source.name)
        return met
    known = set(names)
    for k, row in enumerate(rows):
        unknown = row.keys() - known
        if unknown:
            raise FormatError(f"{frame.where(k)}: label {min(unknown)!r} is not among label_names")
    return list(names)


def _tabular(frame: Frame, features: list[str], targets: list[str], choice: Options) -> Dataset:
    pairs = [_attribute(name, frame) for name in [*features, *targets]]
    n = len(frame.numbers)
    values = np.column_stack([v for _, v in pairs]) if pairs else np.zeros((n, 0))
    table = Table(frame.source.stem, [a for a, _ in pairs], values)
    at = range(len(features), len(pairs))
    return to_dataset(table, at, frame.source, choice.nominal, choice.targets)


def _attribute(name: str, frame: Frame) -> tuple[Attribute, Any]:
    given = enumerate(frame.columns[name])
    cells = [_scalar(value, name, frame, row) for row, value in given]
    try:
        numbers = [math.nan if cell is None else _number(cell) for cell in cells]
        return Attribute(name), np.array(numbers)
    except ValueError:
        found = tuple(sorted({str(cell) for cell in cells if cell is not None}))
        codes = {value: float(code) for code, value in enumerate(found)}
        coded = [math.nan if cell is None else codes[str(cell)] for cell in cells]
        return Attribute(name, "nominal", found), np.array(coded)


def _scalar(value: Any, name: str, frame: Frame, row: int) -> Any:
    if isinstance(value, str):
        value = value.strip()
        return None if value.lower() in _MISSING else value
    if value is None or isinstance(value, bool | int | float):
        return value
    raise FormatError(
        f"{frame.where(row)}: got {str(value)[:40]!r} in column {name!r}; "
        "numbers or nominal values are wanted; name the text and label columns"
    )


def _number(cell: Any) -> float:
    try:
        value = float(cell)
    except OverflowError:
        raise ValueError(cell) from None
    if (isinstance(cell, str) and "_" in cell) or math.isinf(value):
        raise ValueError(cell)
    return value
