"""Records in batches, for learning online from files or pipes larger than memory."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets import frames
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Limits, Source
from labelrank.datasets.records import Columns, check_batch_size, to_data
from labelrank.errors import FormatError, InputError
from labelrank.relevance import check_relevance

_STREAMED = ("jsonl", "csv", "tsv", "text")
UNBOUNDED = Limits(bytes=1 << 62, expansion=1 << 62)


def stream(
    source: Source, format: str, batch_size: int, options: dict[str, Any]
) -> Iterator[Dataset]:
    """Batches of records; see `labelrank.datasets.formats.stream`."""
    check_batch_size(batch_size)
    if format not in _STREAMED:
        raise InputError(f"the {format} format cannot be streamed; use {', '.join(_STREAMED)}")
    reading = {key: options.pop(key, None) for key in ("encoding", "header", "columns")}
    given = options.pop("label_names", None)
    try:
        choice = Columns(**options)
    except TypeError as error:
        raise InputError(f"{error}; see labelrank.datasets.records.read for the options") from None
    return _batches(source, format, batch_size, reading, choice, given)


def _batches(
    source: Source, format: str, size: int, reading: dict[str, Any], choice: Columns, given: Any
) -> Iterator[Dataset]:
    fixed = None if given is None else list(given)
    met: list[str] = []
    for frame in _frames(source, format, size, reading):
        data, _ = to_data(frame, source, choice, fixed)
        if fixed is None and data.target_classes is None and _in_one_column(choice):
            data = _renumbered(data, met, source)
        yield data


def _in_one_column(choice: Columns) -> bool:
    """Whether labels stand in one column, so that new ones may turn up."""
    return choice.label_column is None or isinstance(choice.label_column, str)


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


def _frames(
    source: Source, format: str, size: int, reading: dict[str, Any]
) -> Iterator[frames.Frame]:
    lines = _lines(source, reading["encoding"])
    if format in ("csv", "tsv"):
        yield from _delimited(lines, source, format, size, reading)
        return
    while batch := list(islice(lines, size)):
        if format == "text":
            yield frames.Frame({"text": [line for _, line in batch]}, [k for k, _ in batch])
        elif (frame := frames.of_json(batch, source)).numbers:
            yield frame


def _delimited(
    lines: Iterator[tuple[int, str]],
    source: Source,
    format: str,
    size: int,
    reading: dict[str, Any],
) -> Iterator[frames.Frame]:
    text = (line + "\n" for _, line in lines)
    rows = frames.split_rows(text, format, format == "csv", source)
    first = next(rows, None)
    if first is None:
        return
    header = reading["header"] is not False
    names = frames.header_names(first[1], header, reading["columns"], source)
    waiting = [] if header else [first]
    while batch := [*waiting, *islice(rows, size - len(waiting))]:
        waiting = []
        yield frames.of_rows(batch, names, source)


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
