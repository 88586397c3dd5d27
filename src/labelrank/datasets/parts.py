"""A data set in pieces: files of one format in a folder, described by their first bytes.

`open_parts` looks at each file before any is read: the footer of Parquet, the header and first
rows of CSV, the first JSON lines, the first line of extreme classification text.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets import formats, frames, libsvm
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.joining import MANY
from labelrank.datasets.opening import AnyPath, Limits, Source
from labelrank.errors import FormatError, InputError, MissingError

FORMATS = ("parquet", "jsonl", "csv", "tsv", "extreme")
# Rows of a file of lines that are looked at before it is read.
_HEAD = 200
# What all parts must agree on, as a person would call it.
_AGREED = {
    "layout": "labels", "label_columns": "labels", "text_column": "text", "graded": "grades",
    "is_text": "text", "used": "columns", "id_column": "ids",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One file: how many rows it has (None: lines are not counted beforehand), how it is read."""

    path: str
    format: str
    n_rows: int | None
    options: Mapping[str, Any] = field(default_factory=dict)
    # Features and labels that the first line of extreme classification text declares.
    shape: tuple[int, int] | None = None

    @property
    def numbered(self) -> list[str] | None:
        """The names of the labels where the file has numbers of so many labels."""
        return None if self.shape is None else [str(k) for k in range(self.shape[1])]

    def read(self) -> Dataset:
        """All of its rows; none where it is empty."""
        if self.n_rows == 0:
            return self._nothing()
        options = dict(self.options)
        reading = options.get("reading")
        if reading is None or self.format == "extreme":
            return formats.read(self.path, format=self.format, **options)
        # What separates labels is found anew, so that a mark that the first rows lack is noticed.
        options["reading"] = {**reading, "label_separator": None}
        dataset = formats.read(self.path, format=self.format, **options)
        if reading.get("joined") or (options.get("joined") is None and _is_long(dataset)):
            raise FormatError(
                f"{self.path}: rows differ in their label alone, and rows of several files are not "
                "joined; write one row per document, or give joined=False (--no-join-rows)"
            )
        agreed, found = (one.get("label_separator") for one in (reading, dataset.reading or {}))
        if found not in (None, agreed):
            raise _other_mark(self.path, found, agreed)
        return replace(dataset, reading=reading)

    def batches(self, size: int) -> Iterator[Dataset]:
        """Its rows in their order, so many at a time; a file of extreme text is read whole."""
        if self.n_rows == 0:
            return
        if self.format != "extreme":
            yield from formats.stream(self.path, size, format=self.format, **self.options)
            return
        whole = self.read()
        for first in range(0, whole.n_instances, size):
            yield whole.subset(range(first, min(first + size, whole.n_instances)))

    def _nothing(self) -> Dataset:
        name = Source(self.path).stem
        if self.shape is not None:
            d, K = self.shape
            X, Y = sp.csr_array((0, d)), sp.csr_array((0, K))
            return Dataset(name, X, Y, label_names=self.numbered or [])
        reading = dict(self.options.get("reading") or {})
        are_columns = reading.get("layout") == "columns"
        names = list(reading.get("label_columns") or []) if are_columns else []
        none: dict[str, list[Any]] | None = None
        if not reading.get("is_text"):
            none = {name: [] for name in reading.get("used") or []}
        return Dataset(
            name, None, sp.csr_array((0, len(names))), [] if none is None else None, names,
            table=none, reading=reading or None,
        )  # fmt: skip


def _is_long(dataset: Dataset) -> bool:
    """Whether so many texts stand in one row per label that one file would have them joined."""
    if dataset.texts is None or not sp.issparse(dataset.Y):
        return False
    counts = np.diff(dataset.Y.indptr)
    if counts.max(initial=0) > 1:
        return False
    labelled = np.flatnonzero(counts).tolist()
    texts = [dataset.texts[i] for i in labelled]
    n_more = len(set(zip(texts, dataset.Y.indices.tolist(), strict=True))) - len(set(texts))
    return n_more >= max(MANY * dataset.n_instances, 1)


@dataclass(frozen=True)
class Parts(Sequence[Part]):
    """Files that are one data set, in the order of their paths.

    Attributes
    ----------
    reading : dict or None, how all of them are read (as `Dataset.reading`)
    columns : dict of the columns and their types, as far as the files tell them
    empty : list of the paths of files without any row
    """

    name: str
    parts: tuple[Part, ...]
    reading: Mapping[str, Any] | None
    columns: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: Any) -> Any:
        return self.parts[index]

    @property
    def empty(self) -> list[str]:
        return [part.path for part in self.parts if part.n_rows == 0]

    @property
    def n_rows(self) -> int | None:
        """Rows of all parts; None where they are lines, which nobody has counted."""
        counts = [part.n_rows for part in self.parts]
        return None if None in counts else sum(n or 0 for n in counts)

    @property
    def n_bytes(self) -> int:
        """Size of all files."""
        return sum(os.path.getsize(part.path) for part in self.parts)


@dataclass(frozen=True)
class _Look:
    """What the first look at a file has found."""

    part: Part
    columns: Mapping[str, str]
    reading: Mapping[str, Any] | None


def open_parts(
    pattern: AnyPath | Iterable[AnyPath], *, format: str | None = None,
    limits: Limits | None = None, **options: Any,
) -> Parts:  # fmt: skip
    """Describe the files of a data set in pieces, without reading them.

    Every file is looked at: one that is damaged, or has other columns, other types of columns or
    other layouts of labels than the first, is refused with its path. Files without a row are
    allowed, and listed in `empty`.

    Parameters
    ----------
    pattern : str, or iterable of paths
        A pattern such as ``"folder/*.parquet"``, a folder, or the paths themselves.
    format : {"parquet", "jsonl", "csv", "tsv", "extreme"} or None
        None: by the ends of the names; of ``.txt`` files extreme classification text.
    limits : Limits
    **options
        As in `load`: `text_column`, `label_column`, `label_delimiter`, `reading`, ...

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k, text in enumerate(["rye", "oil"]):
    ...         line = f'{{"text": "{text}", "labels": ["{text[0]}"]}}'
    ...         _ = (Path(folder) / f"{k}.jsonl").write_text(line)
    ...     parts = open_parts(f"{folder}/*.jsonl")
    ...     len(parts), parts[1].read().texts
    (2, ['oil'])
    """
    name, paths = _paths(pattern)
    found = [_look(path, format, limits, options) for path in paths]
    first = next((look for look in found if look.part.n_rows != 0), None)
    if first is None:
        raise FormatError(f"{name}: none of {len(found)} file(s) has a row; give data to read")
    for look in found:
        _check_alike(look, first)
    reading = _agreed(found, first)
    shared = {**options, "limits": limits, **({} if reading is None else {"reading": reading})}
    parts = tuple(
        replace(look.part, options={k: v for k, v in shared.items() if v is not None})
        for look in found
    )
    return Parts(name, parts, reading, first.columns)


def are_parts(data: str) -> bool:
    """Whether this names files by a pattern or their folder; Reuters is a folder of its own kind.

    >>> are_parts("in/*.parquet"), are_parts("train.csv")
    (True, False)
    """
    if os.path.isdir(data):
        return not any(Path(data).glob("*.sgm"))
    return has_magic(data) and not os.path.exists(data)


def _paths(pattern: AnyPath | Iterable[AnyPath]) -> tuple[str, list[str]]:
    if not isinstance(pattern, str | os.PathLike):
        paths = [os.fspath(path) for path in pattern]
        if not paths:
            raise InputError("got no path; give those of the files, or a pattern")
        return os.path.dirname(paths[0]) or "parts", paths
    name = os.fspath(pattern)
    if os.path.isdir(name):
        inside = sorted(entry.path for entry in os.scandir(name) if entry.is_file())
        # Hidden files and those called _SUCCESS or _metadata are of those who wrote the folder.
        paths = [path for path in inside if os.path.basename(path)[0] not in "._"]
    else:
        paths = sorted(path for path in glob(name, recursive=True) if os.path.isfile(path))
    if not paths:
        what = "has no file" if os.path.isdir(name) else "fits no file"
        raise MissingError(f"{name} {what}; give a folder or a pattern such as 'in/*.parquet'")
    return name, paths


def _look(path: str, format: str | None, limits: Limits | None, options: Any) -> _Look:
    chosen = format or formats.format_of(path)
    chosen = "extreme" if chosen == "text" and format is None else chosen
    if chosen not in FORMATS:
        raise FormatError(
            f"{path}: {f'the {chosen} format' if chosen else 'this name'} is not one of "
            f"{', '.join(FORMATS)}; leave the file out, or give its format"
        )
    how = {"parquet": _parquet, "extreme": _extreme}.get(chosen, _lines)
    return how(path, chosen, limits, options)


def _extreme(path: str, format: str, limits: Limits | None, options: Any) -> _Look:
    n, *shape = libsvm.declared(Source(path, limits))
    columns = {"features": str(shape[0]), "labels": str(shape[1])}
    return _Look(Part(path, format, n, shape=(shape[0], shape[1])), columns, None)


def _parquet(path: str, format: str, limits: Limits | None, options: Any) -> _Look:
    columns, n_rows = frames.described(Source(path, limits))
    return _Look(Part(path, format, n_rows, options), columns, options.get("reading"))


def _lines(path: str, format: str, limits: Limits | None, options: Any) -> _Look:
    head = _head(path, format, limits, options)
    if head is None:
        return _Look(Part(path, format, 0), {}, None)
    columns = {name: _kind(cells, format) for name, cells in (head.columns or {}).items()}
    return _Look(Part(path, format, None), columns, head.reading)


def _head(path: str, format: str, limits: Limits | None, options: Any) -> Dataset | None:
    """The first rows; None where there is none."""
    batches = formats.stream(path, _HEAD, format=format, limits=limits, **options)
    return next(batches, None)


def _kind(cells: Iterable[Any], format: str) -> str:
    """The one type of JSON values; what stands between separators has none."""
    if format != "jsonl":
        return ""
    names = {type(cell).__name__ for cell in cells if cell is not None}
    names = {"number" if name in ("int", "float") else name for name in names}
    return names.pop() if len(names) == 1 else ""


def _check_alike(look: _Look, first: _Look) -> None:
    """Refuse a file whose columns or their types are not those of the first one with rows."""
    path, names = look.part.path, look.columns
    if not names:  # an empty file of lines
        return
    if look.part.format != first.part.format:
        raise FormatError(
            f"{path}: is {look.part.format}, but {first.part.path} is {first.part.format}; "
            "give files of one format"
        )
    used = _used(first)
    wanted = {name for name in first.columns if look.part.format != "jsonl" or name in used}
    missing = sorted(wanted - names.keys())
    further = [] if look.part.format == "jsonl" else sorted(names.keys() - first.columns.keys())
    if missing or further:
        what = f"no column {missing[0]!r}" if missing else f"a column {further[0]!r}"
        raise FormatError(
            f"{path}: {what}, unlike {first.part.path}; give files with the same columns"
        )
    for name in wanted:
        got, before = names[name], first.columns[name]
        if got and before and got != before and "Null" not in (got, before):
            raise FormatError(
                f"{path}: column {name!r} is {got}, but {before} in {first.part.path}; "
                "give files whose columns have the same types"
            )


def _used(look: _Look) -> set[str]:
    """The columns of text and labels."""
    reading = look.reading or {}
    return {*(reading.get("text_column") or []), *(reading.get("label_columns") or [])}


def _agreed(found: list[_Look], first: _Look) -> dict[str, Any] | None:
    """How all parts are read: as the first one with rows is, which all others must agree with."""
    if first.part.format == "extreme":
        return None
    is_given = first.part.format == "parquet" and first.reading is not None
    reading = dict(first.reading or _reading_of_parquet(first.part))
    for look in found:
        for key, what in _AGREED.items():
            if look.reading and look.reading.get(key) != reading.get(key):
                raise FormatError(
                    f"{look.part.path}: {what} are read as {look.reading.get(key)!r}, but as "
                    f"{reading.get(key)!r} in {first.part.path}; name the columns by "
                    "text_column=... and label_column=..."
                )
        mark = (look.reading or {}).get("label_separator")
        if mark is not None and reading.setdefault("label_separator", None) != mark:
            if reading["label_separator"] is not None:
                raise _other_mark(look.part.path, mark, reading["label_separator"])
            reading["label_separator"] = mark
    if reading.get("blank") and not is_given:
        raise FormatError(
            f"{first.part.path}: an empty cell in a column of labels may mean no or unknown, which "
            "the first rows do not tell; write 0 for no"
        )
    return reading


def _other_mark(path: str, mark: str, agreed: str | None) -> FormatError:
    others = f"by {agreed!r}" if agreed else "by nothing in the first rows of the files"
    return FormatError(
        f"{path}: labels are separated by {mark!r}, but {others} elsewhere; "
        "give label_delimiter=..."
    )


def _reading_of_parquet(part: Part) -> Mapping[str, Any]:
    head = next(formats.stream(part.path, _HEAD, format=part.format, **part.options))
    return head.reading or {}
