"""The tables and figures of the papers, one function each, beside our own numbers.

A paper is a module of this package; adding one is adding its name to `PAPERS`. Listing
experiments reads what they declare and no more: modules import learners and data only
inside their functions.
"""

import csv
import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from typing import Any

from labelrank.errors import MissingError
from labelrank.experiments.record import Record, judge, to_json

__all__ = [
    "Experiment", "Record", "experiment", "experiments", "find", "judge", "published", "run",
    "to_json",
]  # fmt: skip

PAPERS = (
    "perceptrons",
    "perceptron_figures",
    "perceptron_costs",
    "chains",
    "pro_loss",
    "text",
    "lecture_figures",
    "reuters_kernels",
    "plm",
    "plm_ablation",
)

Measure = Callable[..., Iterable[Record]]


@dataclass(frozen=True)
class Experiment:
    """What an experiment declares; `measure(seed=..., jobs=...)` gives its records.

    `tolerance` is relative to the published value, `absolute` a difference; `along` says
    whether the rivals to be ordered stand in one "row" or one "column" of the table.
    """

    name: str
    paper: str
    table: str
    summary: str
    data: tuple[str, ...]
    settings: str
    minutes: float
    tolerance: float
    absolute: float
    along: str
    measure: Measure


_REGISTERED: dict[str, Experiment] = {}


def experiment(
    *,
    name: str,
    paper: str,
    table: str,
    data: tuple[str, ...],
    settings: str,
    minutes: float,
    tolerance: float,
    absolute: float = 0.0,
    along: str = "row",
) -> Callable[[Measure], Measure]:
    """Register a function that takes `seed` and `jobs` and yields records.

    Its docstring's first line is the summary that `labelrank reproduce` shows.
    """

    def register(measure: Measure) -> Measure:
        summary = (measure.__doc__ or "").strip().partition("\n")[0]
        _REGISTERED[name] = Experiment(
            name, paper, table, summary, data, settings, minutes, tolerance, absolute, along,
            measure,
        )  # fmt: skip
        return measure

    return register


def experiments() -> list[Experiment]:
    """All experiments, paper by paper.

    >>> "mlpp-rcv1" in [experiment.name for experiment in experiments()]
    True
    """
    for paper in PAPERS:
        importlib.import_module(f"{__name__}.{paper}")
    return list(_REGISTERED.values())


def find(name: str) -> Experiment:
    """The experiment of that name, or a MissingError with near names.

    >>> find("mlpp-rcv1").table
    'Table II'
    """
    known = {experiment.name: experiment for experiment in experiments()}
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=3, cutoff=0.4) or list(known)
    raise MissingError(f"got experiment {name!r}, which is not there; use {' or '.join(near)}")


def run(chosen: Experiment, *, seed: int = 0, jobs: int | None = None) -> Iterator[Record]:
    """The records of an experiment as they are measured, still without verdict.

    Data that is missing ends the experiment with one record that says so.
    """
    try:
        yield from chosen.measure(seed=seed, jobs=jobs)
    except MissingError as error:
        yield Record(row="", column="", note=str(error))


def published(name: str) -> list[dict[str, Any]]:
    """The rows of a published table: numbers as floats, empty cells as None.

    >>> published("mlpp_rcv1")[0]["BR"]
    35.87
    """
    source = resources.files(__name__) / "published" / f"{name}.csv"
    if not source.is_file():
        raise MissingError(f"got table {name!r}; the published tables are {', '.join(_tables())}")
    with source.open(encoding="utf-8") as lines:
        return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]


def _tables() -> list[str]:
    files = (resources.files(__name__) / "published").iterdir()
    return sorted(file.name.removesuffix(".csv") for file in files if file.name.endswith(".csv"))


def _value(cell: str) -> str | float | None:
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell
