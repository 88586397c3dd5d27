"""What was read: columns and their roles, rows, labels, and what of it a person should look at."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from labelrank.cli.printing import wrapped
from labelrank.errors import InputError

# From so many labels per labelled row on, the labels name the rows; so few rows say nothing.
_NAMES_ROWS, _FEW_ROWS = 0.9, 20
_MOST_NAMES, _MOST_REASONS = 12, 6
_MOST_UNITS = 5
_LEFT_OUT = ("id", "constant", "ignored")


def survey(dataset: Any, roles: Mapping[str, str], unlabelled: str) -> dict[str, Any]:
    """What there is to say of a data set that is to be learned, for programs."""
    counts, sizes, grades = _relevant(dataset)
    n_labelled = int((sizes > 0).sum())
    return {
        "name": dataset.name,
        "rows": dataset.n_instances,
        "labels": dataset.n_labels,
        "labels_per_row": float(sizes.sum() / max(n_labelled, 1)),
        "unlabelled_rows": dataset.n_instances - n_labelled,
        "unlabelled": unlabelled,
        "labels_met_once": int((counts == 1).sum()),
        "labels_never_met": int((counts == 0).sum()),
        "labels_in_all_rows": int((counts == dataset.n_instances).sum()),
        "grades": grades,
        "labels_name_rows": n_labelled >= _FEW_ROWS
        and dataset.n_labels >= _NAMES_ROWS * n_labelled,
        "spelled_alike": spelled_alike(dataset.label_names),
        "empty_texts": sum(not text.strip() for text in dataset.texts or ()),
        "repeated_rows": _repeated(dataset),
        "columns": [
            {"name": one.name, "role": one.role, "why": one.why} for one in _columns(dataset, roles)
        ],
        "mixed_units": dict(_mixed_units(dataset)),
        "remarks": list(dataset.remarks),
    }


def spelled_alike(names: Any) -> list[list[str]]:
    """Groups of labels that differ only by case or spaces.

    >>> spelled_alike(["Library", "food", "library "])
    [['Library', 'library ']]
    """
    groups = defaultdict(list)
    for name in names:
        groups[" ".join(str(name).split()).casefold()].append(str(name))
    return [group for group in groups.values() if len(group) > 1]


def _relevant(dataset: Any) -> tuple[Any, Any, list[float] | None]:
    """How many rows have each label, how many labels each row has, the least and highest grade."""
    import numpy as np

    from labelrank.relevance import relevant_part

    Y = relevant_part(dataset.Y)
    is_graded = bool((Y.data != 1).any())
    grades = [float(Y.data.min()), float(Y.data.max())] if is_graded else None
    return np.bincount(Y.indices, minlength=Y.shape[1]), np.diff(Y.indptr), grades


def _columns(dataset: Any, roles: Mapping[str, str]) -> list[Any]:
    from labelrank.table import find_roles

    if dataset.table is None:
        return []
    given = {name: role for name, role in roles.items() if name in dataset.table}
    return find_roles(dataset.table, {**dataset.roles, **given})


def _mixed_units(dataset: Any) -> Iterator[tuple[str, list[str]]]:
    """Columns of numbers with several units, which are read as names, and the units."""
    from labelrank.table.cells import Cells
    from labelrank.table.written import units_of

    for name, raw in (dataset.table or {}).items():
        units = units_of(Cells(raw).present)
        if 1 < len(units) <= _MOST_UNITS:
            yield name, units


def _repeated(dataset: Any) -> int | None:
    """Rows that are the same as an earlier one, labels and all; None where nobody has looked."""
    if dataset.texts is None and dataset.table is None:
        return None
    columns = [dataset.texts] if dataset.texts is not None else list(dataset.table.values())
    Y = dataset.Y
    ends = zip(Y.indptr.tolist(), Y.indptr[1:].tolist())
    labels = [Y.indices[start:end].tobytes() for start, end in ends]
    rows = Counter(zip(labels, *map(_hashable, columns)))
    return dataset.n_instances - len(rows)


def _hashable(cells: Any) -> Any:
    if hasattr(cells, "tolist"):
        return cells.tolist() if cells.ndim == 1 else [row.tobytes() for row in cells]
    return [repr(cell) if isinstance(cell, list | dict) else cell for cell in cells]


def check_labels(dataset: Any) -> None:
    """Refuse data without labels."""
    if not dataset.label_names and dataset.columns is None and dataset.X is not None:
        raise InputError(
            f"{dataset.name} has no labels; give those of each row by --labels-file FILE"
        )
    if not dataset.label_names:
        raise InputError(f"{dataset.name} has no labels; {_seek_labels(dataset.columns or {})}")


def _seek_labels(columns: Mapping[str, Any]) -> str:
    """Where the labels may be, and the option that says so."""
    from itertools import takewhile

    from labelrank.table.cells import are_yes_or_no

    names = list(columns)
    starts = [found[0] for name in names if (found := re.match(r"(?i)label|tag|topic|class", name))]
    n_last = sum(1 for _ in takewhile(lambda name: are_yes_or_no(columns[name]), names[::-1]))
    if len(starts) > 1:
        pattern = f"{starts[0]}*"
        return f"if they are in the columns {pattern}, give --label-column '{pattern}'"
    n_first = sum(1 for _ in takewhile(lambda name: are_yes_or_no(columns[name]), names))
    if 1 < n_first < len(names) and n_last < 2:
        return (
            f"if the first {n_first} columns, of yes and no, are labels, give --labels {n_first} "
            "--labels-first"
        )
    if 1 < n_last < len(names):
        return f"if the last {n_last} columns, of yes and no, are labels, give --labels {n_last}"
    if any(re.fullmatch(r"[-+]?[\d.,]*\d", name) for name in names):
        return f"its first row, {', '.join(names[:5])[:60]}, must be the names of the columns"
    has = f" (it has {', '.join(map(repr, names[:8]))}{', ...' * (len(names) > 8)})"
    return "name their column by --label-column" + (has if names else "")


def show(facts: Mapping[str, Any]) -> None:
    """Print what was read, for people."""
    n_labels = facts["labels"]
    typer.echo(
        f"{facts['name']}: {_many(facts['rows'], 'row')}, {_many(n_labels, 'label')}, "
        f"{facts['labels_per_row']:.2f} labels per labelled row"
    )
    for line in _roles(facts["columns"]):
        typer.echo(line)
    for sentence in [*facts["remarks"], *_findings(facts)]:
        typer.echo(wrapped(sentence, "  ", "    "))


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _roles(columns: list[dict[str, str]]) -> Iterator[str]:
    """One line per role with its columns, and one per column that is left out."""
    by_role = defaultdict(list)
    for one in columns:
        by_role["left out" if one["role"] in _LEFT_OUT else one["role"]].append(one)
    left_out = by_role.pop("left out", [])
    for role, found in by_role.items():
        names = [one["name"] for one in found]
        more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
        shown = ", ".join(names[:_MOST_NAMES]) + more
        yield wrapped(shown, f"  {role:<10}", " " * 12)
    for one in left_out[:_MOST_REASONS]:
        yield wrapped(f"{one['name']} ({one['why']})", f"  {'left out':<10}", " " * 12)
    if len(left_out) > _MOST_REASONS:
        yield f"  {'left out':<10}and {len(left_out) - _MOST_REASONS:,} more"


def _of_columns(facts: Mapping[str, Any]) -> Iterator[str]:
    """Columns that may have been read otherwise than they were meant."""
    from labelrank.table.roles import OPEN

    for one in facts["columns"]:
        if OPEN in one["why"]:
            yield (
                f"warning: {one['name']} has {one['why']}; write dates as 2024-04-03 if that is "
                "wrong."
            )
    for name, units in facts["mixed_units"].items():
        yield (
            f"warning: {name} has numbers in {', '.join(units[:-1])} and {units[-1]}, which are "
            "taken as names; write them in one unit."
        )


def _findings(facts: Mapping[str, Any]) -> Iterator[str]:
    """What a person may want to mend, and the option that does it."""
    yield from _of_columns(facts)
    if facts["grades"]:
        least, highest = facts["grades"]
        yield f"Labels have grades from {least:g} to {highest:g}: the higher, the more relevant."
    if facts["labels_in_all_rows"]:
        yield f"{_many(facts['labels_in_all_rows'], 'label')} met in every row."
    if facts["labels_name_rows"]:
        yield (
            f"warning: {_many(facts['labels'], 'label')} in {_many(facts['rows'], 'row')}: the "
            "label column seems to name the rows; choose another by --label-column."
        )
    elif facts["labels_met_once"]:
        yield f"{_many(facts['labels_met_once'], 'label')} met in one row only."
    if facts["unlabelled_rows"]:
        rows = _many(facts["unlabelled_rows"], "row")
        if facts["unlabelled"] == "skip":
            yield f"{rows} without labels: left out; --unlabelled none learns that none fits."
        else:
            yield f"{rows} without labels: learned as having none; --unlabelled skip leaves out."
    if facts["spelled_alike"]:
        groups = facts["spelled_alike"]
        example = " and ".join(map(repr, groups[0]))
        n = sum(map(len, groups)) - len(groups)
        yield (
            f"{_many(n, 'label')} like another but for case or spaces, such as {example}: "
            "--merge-spellings makes them one."
        )
    if facts["labels_never_met"]:
        yield f"{_many(facts['labels_never_met'], 'label')} met in no row."
    if facts["empty_texts"]:
        yield f"{_many(facts['empty_texts'], 'text')} empty."
    if facts["repeated_rows"]:
        yield f"{_many(facts['repeated_rows'], 'row')} the same as an earlier one, labels too."
