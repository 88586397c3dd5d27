"""Which experiments there are, which table or figure each measures, and what the papers print."""

import csv
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

import labelrank
from labelrank.errors import MissingError, meant
from labelrank.experiments.verdicts import HOLDS, Record, read, recorded_file

# Each is a module of this package; adding a paper is adding its name.
PAPERS = ("perceptrons", "chains", "pro_loss", "reuters", "lecture", "plm")

# By the number that experiments give their paper.
TITLES = {
    "000": "Loza Mencía & Fürnkranz 2008: pairwise multilabel perceptrons",
    "001": "Lauriola et al. 2018: preference learning machine",
    "002": "Xu, Li & Zhou 2013: PRO loss",
    "003": "Lecture: text classification",
    "004": "Read, Martino et al.: Viterbi classifier chains",
}

Measure = Callable[..., Iterable[Record]]
Found = Mapping[tuple[str, str], float]  # what was measured, by row and column
Judge = Callable[[Found], Iterable[Record]]


def _nothing_said(found: Found) -> Iterable[Record]:
    """The paper says nothing in words of it."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What an experiment declares; `measure(seed=..., jobs=...)` gives its records.

    `tolerance` is relative to the published value; `along` says whether the rivals to be ordered
    stand in one "row" or one "column" of the table. `part_of` names the experiment of which this
    is a part or a short form; `quick` ones are in the quick book. `claims` judges what the paper
    says in words by what was measured.
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
    claims: Judge = _nothing_said

    def records(self, seed: int = 0, jobs: int | None = None) -> Iterator[Record]:
        """The records as they are measured, then the claims; all still without verdict."""
        found: dict[tuple[str, str], float] = {}
        for record in self.measure(seed=seed, jobs=jobs):
            if record.ours is not None:
                found[record.row, record.column] = record.ours
            yield record
        yield from self.claims(found)

    @property
    def has_data(self) -> bool:
        """True if all data sets of the experiment are there."""
        return all(map(labelrank.datasets.is_available, self.data))


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
    """All experiments, paper by paper."""
    for paper in PAPERS:
        importlib.import_module(f"labelrank.experiments.{paper}")
    return list(_REGISTERED.values())


def find(name: str) -> Experiment:
    """The experiment of that name, or a MissingError with near names."""
    known = {experiment.name: experiment for experiment in experiments()}
    if name in known:
        return known[name]
    near = meant(name, known)
    raise MissingError(
        f"got experiment {name!r}, which is not there; {near}'labelrank reproduce' lists all"
    )


def run(chosen: Experiment, *, seed: int = 0, jobs: int | None = None) -> Iterator[Record]:
    """The records of an experiment as they are measured, still without verdict.

    Data that is missing ends the experiment with one record that says so.
    """
    try:
        yield from chosen.records(seed, jobs)
    except MissingError as error:
        yield Record(row="", column="", note=str(error))


def published(name: str) -> list[dict[str, Any]]:
    """The rows of a published table: numbers as floats, empty cells as None."""
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


def authors(paper: str) -> str:
    """Who wrote the paper of that number, and when."""
    return TITLES.get(paper, paper).partition(":")[0]


class Entry(NamedTuple):
    """A table or figure; `by` names its experiments (the whole one first), `note` what differs."""

    paper: str
    label: str
    what: str
    by: tuple[str, ...] = ()
    note: str = ""

    @property
    def measured_by(self) -> list[Experiment]:
        """The experiments that measure it."""
        known = {one.name: one for one in experiments()}
        return [known[name] for name in self.by if name in known]

    @property
    def minutes(self) -> str:
        """How long each of them takes."""
        return ", ".join(f"{one.minutes:g}" for one in self.measured_by)

    @property
    def is_claim(self) -> bool:
        """Whether it is a sentence of the paper, not a table or figure."""
        return self.label.startswith("in words")

    @property
    def state(self) -> str:
        """Whether it can be measured here; of a claim, how often it held when it was recorded."""
        if not self.measured_by:
            return "not judged" if self.is_claim else "not measured"
        recorded = _recorded()
        said: list[str] = next((recorded[one, self.what] for one in self.by
                                if (one, self.what) in recorded), [])  # fmt: skip
        if self.is_claim and said:
            return f"holds {said.count(HOLDS)} of {len(said)}"
        return "can run" if any(one.has_data for one in self.measured_by) else "data missing"


@lru_cache(maxsize=1)
def _recorded() -> dict[tuple[str, str], list[str]]:
    """The recorded verdicts of each row of each experiment."""
    rows: dict[tuple[str, str], list[str]] = {}
    for cell, said in read(recorded_file()).items():
        rows.setdefault((cell.experiment, cell.row), []).append(said.verdict)
    return rows


def in_papers() -> list[Entry]:
    """The tables and figures of the papers, from `contents.csv`."""
    with (resources.files(__package__) / "contents.csv").open(encoding="utf-8") as lines:
        _, *rows = csv.reader(lines)
    return [
        Entry(paper, label, what, tuple(by.split()), note) for paper, label, what, by, note in rows
    ]


def contents() -> list[Entry]:
    """Every table and figure; experiments that measure none of them come last."""
    entries = in_papers()
    listed = {name for entry in entries for name in entry.by}
    others = [one for one in experiments() if one.name not in listed]
    others.sort(key=lambda one: one.name)
    return [*entries, *(Entry(one.paper, one.table, one.summary, (one.name,)) for one in others)]


def planned(among: Sequence[Experiment], quick: bool) -> list[Experiment]:
    """The experiments of the quick book, or of the whole one, which leaves out parts of others."""
    names = {one.name for one in among}
    return [one for one in among if (one.quick if quick else one.part_of not in names)]
