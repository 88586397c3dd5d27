"""Which experiments there are, and the numbers that the papers print."""

import csv
import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from typing import Any

from labelrank.errors import MissingError
from labelrank.experiments.record import Record

# Each is a module of this package; adding a paper is adding its name.
PAPERS = ("perceptrons", "chains", "pro_loss", "reuters", "lecture", "plm")

Measure = Callable[..., Iterable[Record]]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What an experiment declares; `measure(seed=..., jobs=...)` gives its records.

    `tolerance` is relative to the published value; `along` says whether the rivals to be ordered
    stand in one "row" or one "column" of the table. `part_of` names the experiment of which this
    is a part or a short form; `quick` ones are in the quick book.
    """

    name: str
    paper: str
    table: str
    summary: str
    data: tuple[str, ...]
    settings: str
    minutes: float
    tolerance: float
    along: str = "row"
    part_of: str = ""
    quick: bool = False
    measure: Measure

    @property
    def has_data(self) -> bool:
        """True if all data sets of the experiment are there."""
        from labelrank.datasets import is_available

        return all(map(is_available, self.data))


_REGISTERED: dict[str, Experiment] = {}


def experiment(**declared: Any) -> Callable[[Measure], Measure]:
    """Register a function that takes `seed` and `jobs` and yields records.

    `declared` are the fields of `Experiment`; the first line of the function's docstring is the
    summary that `labelrank reproduce` shows.
    """

    def register(measure: Measure) -> Measure:
        summary = (measure.__doc__ or "").strip().partition("\n")[0]
        _REGISTERED[declared["name"]] = Experiment(summary=summary, measure=measure, **declared)
        return measure

    return register


def experiments() -> list[Experiment]:
    """All experiments, paper by paper.

    >>> "mlpp-rcv1" in [experiment.name for experiment in experiments()]
    True
    """
    for paper in PAPERS:
        importlib.import_module(f"labelrank.experiments.{paper}")
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
    folder = resources.files(__package__) / "published"
    source = folder / f"{name}.csv"
    if not source.is_file():
        known = sorted(file.name.removesuffix(".csv") for file in folder.iterdir())
        raise MissingError(f"got table {name!r}; the published tables are {', '.join(known)}")
    with source.open(encoding="utf-8") as lines:
        return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]


def _value(cell: str) -> str | float | None:
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell
