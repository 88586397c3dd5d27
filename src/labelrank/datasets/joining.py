"""Rows that differ in their label alone: one row per label, joined to one per document."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelrank.datasets.choice import Choice, Known
from labelrank.datasets.frames import Frame
from labelrank.datasets.label_cells import CellReader, is_listed
from labelrank.datasets.options import Options

# Unasked, rows are joined where so many of them differ from another in the label alone, and an
# identifier, or a text of so many words, tells that they are of one document.
MANY = 0.1
_WORDS = 3


def join_rows(frame: Frame, choice: Choice, options: Options, known: Known) -> bool:
    """Join the rows of each document, if asked for, if another file was read so, or if many are.

    Rows of a table without identifiers or texts may be alike by chance: unasked, they stay apart.
    The cell of a joined row is a dict of its labels; a remark says what was done.
    """
    wanted = known.joined or None if options.joined is None else options.joined
    if wanted is False or (known and not wanted) or choice.layout != "names":
        return False
    if len(choice.labels) != 1:
        return False
    name = choice.labels[0]
    labels = _one_each(frame.columns[name], options, known)
    if labels is None:
        return False
    roles = options.roles or {}
    used = {one: cells for one, cells in frame.columns.items() if roles.get(one) != "ignore"}
    others = [cells for one, cells in used.items() if one != name and not _counts_rows(cells)]
    if not others or (wanted is None and not _tell_documents(frame.columns, choice.ids, name)):
        return False
    first, of_row = _documents(others)
    joined: list[dict[str, float]] = [{} for _ in first]
    for document, label in zip(of_row, labels, strict=True):
        joined[document].update(label)
    n_rows, n_more = len(of_row), sum(map(len, joined)) - sum(map(bool, joined))
    if wanted is None and n_more < MANY * n_rows:
        if n_more:
            frame.remarks = [*frame.remarks, _few(n_more)]
        return False
    frame.columns = {one: _at(cells, first) for one, cells in frame.columns.items()}
    frame.columns[name] = joined
    frame.numbers = [frame.numbers[row] for row in first]
    documents = f"{len(first):,} document{'s' * (len(first) != 1)}"
    told = f"{n_rows:,} rows, one per label, are {documents}; --no-join-rows keeps"
    frame.remarks = [*frame.remarks, f"{told} them apart."]
    return True


def _tell_documents(columns: Mapping[str, Any], ids: str | None, labels: str) -> bool:
    """Whether rows that are alike are of one document: an identifier says so, or a text."""
    if ids in columns:
        return True
    texts = (c for n, c in columns.items() if n != labels and not isinstance(c, np.ndarray))
    for cells in texts:
        words = [len(cell.split()) for cell in cells if isinstance(cell, str)]
        if words and sum(words) >= _WORDS * len(cells):
            return True
    return False


def share_alike(dataset: Any) -> float:
    """The share of rows that differ from another in the label alone, where rows have one at most.

    0 for data whose labels are not named in one column.
    """
    reading, columns = dataset.reading or {}, dict(dataset.columns or {})
    name = (reading.get("label_columns") or [""])[0]
    if reading.get("layout") != "names" or name not in columns or len(columns) < 2:
        return 0.0
    if not dataset.n_instances or (np.diff(dataset.Y.indptr) > 1).any():
        return 0.0
    if not _tell_documents(columns, reading.get("id_column"), name):
        return 0.0
    del columns[name]
    _, of_row = _documents(list(columns.values()))
    labels: dict[int, set[int]] = {}
    for row, document in enumerate(of_row):
        labels.setdefault(document, set()).update(
            dataset.Y.indices[dataset.Y.indptr[row] : dataset.Y.indptr[row + 1]].tolist()
        )
    return sum(max(len(one) - 1, 0) for one in labels.values()) / dataset.n_instances


def _counts_rows(cells: Any) -> bool:
    """Whether each cell is one more than the one before, as the numbers of lines are."""
    try:
        numbers = [int(cell) for cell in cells]
    except (TypeError, ValueError, OverflowError):
        return False
    return len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _few(n: int) -> str:
    what = "row differs" if n == 1 else "rows differ"
    return f"{n:,} {what} from another in the label alone; --join-rows makes them one."


def _one_each(
    cells: Sequence[Any], options: Options, known: Known
) -> list[dict[str, float]] | None:
    """The label of each row, or None where a row has several, or grades, or may have a list."""
    if any(isinstance(c, list | dict) or (isinstance(c, str) and is_listed(c)) for c in cells):
        return None
    reader = CellReader(
        cells, options.label_delimiter or known.label_separator, options.graded, options.ordered
    )
    if reader.graded:
        return None
    try:
        found = [reader.grades(cell) for cell in cells]
    except ValueError:  # told where labels are read
        return None
    return None if any(len(labels) > 1 for labels in found) else found


def _documents(columns: Sequence[Any]) -> tuple[list[int], list[int]]:
    """The first row of each document, and which document each row is."""
    places: dict[Any, int] = {}
    first: list[int] = []
    of_row: list[int] = []
    for row, cells in enumerate(zip(*map(_hashable, columns), strict=True)):
        place = places.setdefault(cells, len(first))
        if place == len(first):
            first.append(row)
        of_row.append(place)
    return first, of_row


def _hashable(cells: Any) -> Any:
    if isinstance(cells, np.ndarray):
        return [np.asarray(cell).tobytes() for cell in cells]
    return [repr(cell) if isinstance(cell, list | dict) else cell for cell in cells]


def _at(cells: Any, rows: list[int]) -> Any:
    return cells[rows] if isinstance(cells, np.ndarray) else [cells[row] for row in rows]
