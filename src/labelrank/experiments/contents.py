"""Every table and figure of the five papers: which experiment measures it, or why none does."""

import csv
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from labelrank.experiments import registry

# By the number that experiments give their paper.
TITLES = {
    "000": "Loza Mencía & Fürnkranz 2008: pairwise multilabel perceptrons",
    "001": "Lauriola et al. 2018: preference learning machine",
    "002": "Xu, Li & Zhou 2013: PRO loss",
    "003": "Lecture: text classification",
    "004": "Read, Martino et al.: Viterbi classifier chains",
}


def authors(paper: str) -> str:
    """Who wrote the paper of that number, and when.

    >>> authors("002")
    'Xu, Li & Zhou 2013'
    """
    return TITLES.get(paper, paper).partition(":")[0]


class Entry(NamedTuple):
    """A table or figure; `by` names its experiments (the whole one first), `note` what differs."""

    paper: str
    label: str
    what: str
    by: tuple[str, ...] = ()
    note: str = ""

    @property
    def measured_by(self) -> list[registry.Experiment]:
        """The experiments that measure it."""
        known = {one.name: one for one in registry.experiments()}
        return [known[name] for name in self.by if name in known]

    @property
    def minutes(self) -> str:
        """How long each of them takes."""
        return ", ".join(f"{one.minutes:g}" for one in self.measured_by)

    @property
    def state(self) -> str:
        """Whether it can be measured here."""
        if not self.measured_by:
            return "not measured"
        return "can run" if any(one.has_data for one in self.measured_by) else "data missing"


def in_papers() -> list[Entry]:
    """The tables and figures of the papers, from `contents.csv`.

    >>> in_papers()[3].by
    ('mlpp-complexity',)
    """
    source = resources.files(__package__) / "contents.csv"
    with source.open(encoding="utf-8") as lines:
        _, *rows = csv.reader(lines)
    return [
        Entry(paper, label, what, tuple(by.split()), note) for paper, label, what, by, note in rows
    ]


def contents() -> list[Entry]:
    """Every table and figure; experiments that measure none of them come last."""
    entries = in_papers()
    listed = {name for entry in entries for name in entry.by}
    others = [one for one in registry.experiments() if one.name not in listed]
    others.sort(key=lambda one: one.name)
    return [*entries, *(Entry(one.paper, one.table, one.summary, (one.name,)) for one in others)]


def planned(experiments: Sequence[registry.Experiment], quick: bool) -> list[registry.Experiment]:
    """The experiments of the quick book, or of the whole one, which leaves out parts of others."""
    names = {one.name for one in experiments}
    return [one for one in experiments if (one.quick if quick else one.part_of not in names)]
