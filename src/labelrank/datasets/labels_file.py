"""Labels in a file of their own: one line per row, or a matrix of numpy."""

from dataclasses import replace
from typing import Any

import numpy as np

from labelrank.datasets import archives, delimited, label_cells
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.frames import Frame
from labelrank.datasets.label_cells import CellReader
from labelrank.datasets.opening import AnyPath, Limits, Source
from labelrank.errors import FormatError, LabelrankError
from labelrank.relevance import check_relevance


def labelled(
    dataset: Dataset, path: AnyPath, limits: Limits | None, *,
    delimiter: str | None = None, ordered: bool = False, graded: bool | None = None,
) -> Dataset:  # fmt: skip
    """The data set with the labels of this file.

    A line names the labels of a row. Where all lines are of zeros and ones, of one length, these
    say which labels a row has, and a first line more names the labels.
    """
    source = Source(path, limits)
    if source.content.startswith(archives.NPY):
        Y, names, layout = _of_matrix(source), None, "columns"
    else:
        Y, names, layout = _of_lines(source, dataset.n_instances, delimiter, ordered, graded)
    if Y.shape[0] != dataset.n_instances:
        raise FormatError(
            f"{source.name}: got labels of {Y.shape[0]} rows for the {dataset.n_instances} rows of "
            f"{dataset.name}; give one line per row"
        )
    names = names or [str(k) for k in range(Y.shape[1])]
    reading = {**(dataset.reading or {}), "has_labels_file": True, "layout": layout}
    return replace(
        dataset, Y=Y, label_names=names, target_classes=None, train=None, test=None,
        validation=None, reading=reading,
        remarks=[*dataset.remarks, f"Labels are in {source.name}."],
    )  # fmt: skip


def _of_matrix(source: Source) -> Any:
    try:
        return check_relevance(archives.matrix_of(source))
    except LabelrankError as error:
        raise FormatError(f"{source.name}: {error}") from error


def _of_lines(
    source: Source, n_rows: int, delimiter: str | None, ordered: bool, graded: bool | None
) -> tuple[Any, list[str] | None, str]:
    text, _ = delimited.text_of(source, None)
    lines = source.split(text)
    found = _zeros_and_ones(lines, n_rows)
    if found is not None:
        return check_relevance(found[0]), found[1], "columns"
    frame = Frame({"labels": lines}, range(1, len(lines) + 1), source)
    delimiter = delimiter or ("\t" if any("\t" in line for line in lines) else None)
    rows = label_cells.in_cells(frame, "labels", CellReader(lines, delimiter, graded, ordered))
    return *label_cells.named(rows, None, frame), "names"


def _zeros_and_ones(lines: list[str], n_rows: int) -> tuple[Any, list[str] | None] | None:
    """The matrix that all lines spell, and the names in a line before them."""
    for mark in (",", ";", "\t", " "):
        rows = [[cell.strip() for cell in line.split(mark)] for line in lines]
        names = rows.pop(0) if len(rows) == n_rows + 1 else None
        widths = {len(row) for row in (rows if names is None else [names, *rows])}
        if len(widths) == 1 and widths != {1} and all(set(row) <= {"0", "1"} for row in rows):
            return np.array(rows, dtype=float), names
    return None
