"""The labels of records: found in their columns, as the user says or as another file was read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labelrank.datasets import label_cells
from labelrank.datasets.choice import Choice, Known
from labelrank.datasets.frames import Frame
from labelrank.datasets.label_cells import CellReader
from labelrank.datasets.options import Options
from labelrank.relevance import relevant_part


class Labels(NamedTuple):
    """Y, what its columns are called, the classes of targets, and how they were read."""

    Y: Any
    names: list[str]
    classes: list[list[str]] | None
    reading: dict[str, Any]
    remarks: list[str]


def labels_of(
    frame: Frame, choice: Choice, options: Options, known: Known, decimal: str | None
) -> Labels:
    """The labels of all rows."""
    layout = _layout(frame, choice, options, known)
    keys = ("label_columns", "layout", "label_separator", "graded", "ordered", "blank")
    reading: dict[str, Any] = {key: getattr(known, key) for key in keys}
    if not choice.labels:
        none: list[dict[str, float]] = [{} for _ in frame.numbers]
        return Labels(*label_cells.named(none, options.label_names, frame), None, reading, [])
    reading |= {"label_columns": choice.labels, "layout": layout}
    if layout == "columns":
        frame.source.limits.check("labels", len(choice.labels), frame.source.name)
        graded = known.graded if options.graded is None else options.graded
        Y, classes, reading["blank"] = label_cells.per_column(
            frame, choice.labels, options.targets, decimal, known.blank, graded
        )
        if classes is None:
            reading["graded"] = bool((relevant_part(Y).data != 1).any())
        return Labels(Y, choice.labels, classes, reading, [_told(reading, classes)])
    remarks = []
    if layout == "pooled":
        rows = label_cells.pooled(frame, choice.labels)
    else:
        cells = frame.columns[choice.labels[0]]
        reader = _reader(frame, choice, options, known)
        reading |= {"label_separator": reader.delimiter or None, "graded": reader.graded}
        reading["ordered"] = reader.ordered
        remarks = list(_doubts(reader, cells)) if not known else []
        rows = label_cells.in_cells(frame, choice.labels[0], reader)
    Y, names = label_cells.named(rows, options.label_names, frame)
    return Labels(Y, names, None, reading, [_told(reading), *remarks])


def _doubts(reader: CellReader, cells: Sequence[Any]) -> Iterator[str]:
    """What was taken for no label, and what may be several."""
    if reader.nothing:
        yield f"{' and '.join(map(repr, sorted(reader.nothing)))}: taken as no label."
    if reader.numbered and reader.graded:
        name, grade = reader.numbered.rsplit(":", 1)
        yield (
            f"{reader.numbered!r} is label {name.strip()!r} of grade {grade.strip()}; if it is all "
            "name, give --no-graded."
        )
    elif reader.numbered:
        yield f"{reader.numbered!r} is one name; if its number is a grade, give --graded."
    mark = reader.perhaps(cells)
    if mark:
        joined = min(cell for cell in cells if isinstance(cell, str) and mark in cell.strip())
        yield f"{joined!r} is one label; if it is several, give --label-separator {mark!r}."


def _layout(frame: Frame, choice: Choice, options: Options, known: Known) -> str:
    """Whether cells name labels, or there is a column per label, or several columns of names."""
    if choice.layout != "columns" or choice.labels == known.label_columns:
        return known.layout if choice.labels == known.label_columns else choice.layout
    columns = {name: frame.columns[name] for name in choice.labels}
    if len(columns) == 1 and options.n_labels == 1:
        return "columns" if label_cells.are_grades(columns[choice.labels[0]]) else "names"
    if options.targets == "auto" and label_cells.are_pooled(columns):
        return "pooled"
    return "columns"


def _reader(frame: Frame, choice: Choice, options: Options, known: Known) -> CellReader:
    mark = options.label_delimiter or known.label_separator
    graded = known.graded if options.graded is None else options.graded
    ordered = options.ordered or bool(known.ordered)
    return CellReader(frame.columns[choice.labels[0]], mark, graded, ordered)


def _told(reading: Mapping[str, Any], classes: list[list[str]] | None = None) -> str:
    columns, mark = reading["label_columns"], reading["label_separator"]
    names = ", ".join(map(repr, columns[:5])) + (", ..." if len(columns) > 5 else "")
    if reading["layout"] == "names":
        return f"Labels are in column {names}{f', separated by {mark!r}' if mark else ''}."
    if classes is not None:
        example = f"{columns[0]}={classes[0][0]}" if classes[0] else columns[0]
        return f"Each value of {names} is a label, such as {example!r}."
    if len(columns) == 1:
        return f"Column {names} says which rows have the label of that name."
    what = "one label or none each" if reading["layout"] == "pooled" else "one per label"
    blank = "; an empty cell says no" if reading["blank"] else ""
    return f"Labels are in {len(columns)} columns, {what}: {names}{blank}."
