"""Published numbers beside ours, the verdict on each, and which differ from those on record."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from labelrank.atomic import atomic_write
from labelrank.errors import FormatError

WITHIN = "within tolerance"
ORDER = "order holds"
OUTSIDE = "outside"
MEASURED = "measured"
UNAVAILABLE = "not available"
HOLDS = "claim holds"
FAILS = "claim fails"
# How bad each is; a value with nothing to compare it with is as good as any.
_PLACES = {WITHIN: 0, HOLDS: 0, MEASURED: 0, ORDER: 1, OUTSIDE: 2, FAILS: 2, UNAVAILABLE: 3}
_LEAST_RIVALS = 2  # of one rival, the order is right half of the time
_MAY_MOVE = 0.005  # the share of a value by which other machines and libraries may change it


@dataclass(frozen=True)
class Record:
    """One cell of a table: the published value (None: not printed) and ours (None: no data).

    A value that is `timed` depends on the machine. A claim made in words holds if the value is
    more than `above` and less than `below`.

    >>> Record("BR", "one error", published=5.02, ours=5.1).difference
    0.08
    """

    row: str
    column: str
    published: float | None = None
    ours: float | None = None
    note: str = ""
    verdict: str = ""
    timed: bool = False
    above: float | None = None
    below: float | None = None

    @property
    def is_claim(self) -> bool:
        """Whether the record judges a sentence, not a printed number."""
        return self.above is not None or self.below is not None

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        if self.published is None or self.ours is None:
            return None
        return round(self.ours - self.published, 10)


def claim(
    said: str, of: str, value: float, *, above: float | None = 0.0, below: float | None = None,
    note: str = "", timed: bool = False,
) -> Record:  # fmt: skip
    """What a paper says in words, `of` what (a data set), and the number that decides it.

    >>> judge([claim("A is ahead of B", "yeast", 0.1)], tolerance=0)[0].verdict
    'claim holds'
    """
    return Record(said, of, None, value, note, timed=timed, above=above, below=below)


def judge(records: Sequence[Record], tolerance: float, along: str = "row") -> list[Record]:
    """The records with their verdicts.

    A value is "within tolerance" if it differs by at most `tolerance` × the published one. Else
    "order holds" if there are two or more others in its line (the same `along`: "row" or "column"),
    and it compares with each of them as the published ones do, else it is "outside". A claim holds
    or fails.
    """
    return [replace(one, verdict=_verdict(one, records, tolerance, along)) for one in records]


def _verdict(record: Record, records: Sequence[Record], tolerance: float, along: str) -> str:
    if record.ours is None or not math.isfinite(record.ours):
        return UNAVAILABLE
    if record.is_claim:
        above = -math.inf if record.above is None else record.above
        below = math.inf if record.below is None else record.below
        return HOLDS if above < record.ours < below else FAILS
    if record.published is None:
        return MEASURED
    if abs(record.ours - record.published) <= tolerance * abs(record.published):
        return WITHIN
    agreed = [
        _sign(record.ours - rival.ours) == _sign(record.published - rival.published)
        for rival in records
        if rival != record and getattr(rival, along) == getattr(record, along)
        if rival.ours is not None and rival.published is not None
    ]
    return ORDER if len(agreed) >= _LEAST_RIVALS and all(agreed) else OUTSIDE


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


def to_json(record: Record, **about: object) -> str:
    """One JSON line: what `about` says of the experiment, then the record."""
    told = {**about, **asdict(record), "difference": record.difference}
    for key in ("timed", "above", "below")[: 1 if record.is_claim else 3]:
        del told[key]
    return json.dumps({key: None if value != value else value for key, value in told.items()})


class Cell(NamedTuple):
    """Where a verdict stands."""

    experiment: str
    row: str
    column: str


class Verdict(NamedTuple):
    """What is said of a cell; its value, unless it was timed, and by how much that may move."""

    verdict: str
    value: float | None = None
    tolerance: float = 0.0

    @property
    def place(self) -> int:
        """How bad the verdict is."""
        return _PLACES[self.verdict]

    def is_left_by(self, now: "Verdict") -> bool:
        """Whether the value of a later run is further away than the tolerance."""
        if self.value is None or now.value is None:
            return False
        return not abs(now.value - self.value) <= self.tolerance

    def __str__(self) -> str:
        value = "" if self.value is None else f" ({self.value:.6g} ± {self.tolerance:.1g})"
        return f"{self.verdict}{value}"


class Worse(NamedTuple):
    """A cell whose verdict was better when it was recorded, or whose value has moved."""

    cell: Cell
    recorded: Verdict
    now: Verdict

    def __str__(self) -> str:
        return f"{', '.join(self.cell)}: {self.now}, recorded as {self.recorded}"


def recorded_file() -> Path:
    """The file of recorded verdicts that comes with the package."""
    return Path(str(resources.files(__package__) / "verdicts.jsonl"))


def verdicts_of(name: str, records: Iterable[Record]) -> dict[Cell, Verdict]:
    """What is recorded of each judged record of an experiment.

    A claim has no value of its own: those that it is made of are recorded.
    """
    return {
        Cell(name, one.row, one.column): Verdict(one.verdict)
        if one.timed or one.is_claim or one.ours is None or one.verdict == UNAVAILABLE
        else Verdict(one.verdict, one.ours, float(f"{_MAY_MOVE * abs(one.ours):.2g}"))
        for one in records
    }


def read(path: Path) -> dict[Cell, Verdict]:
    """Recorded verdicts; none if there is no file yet."""
    if not path.is_file():
        return {}
    recorded = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            cell = Cell(*(str(entry[key]) for key in Cell._fields))
            value = None if entry.get("value") is None else float(entry["value"])
            recorded[cell] = Verdict(entry["verdict"], value, float(entry.get("tolerance", 0)))
            if recorded[cell].verdict not in _PLACES:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            raise FormatError(
                f"line {number} of {path} is no recorded verdict; restore the file, or write it "
                "anew with --record"
            ) from None
    return recorded


def write(path: Path, verdicts: Mapping[Cell, Verdict]) -> None:
    """Record verdicts, sorted, one line each; those of other experiments stay."""
    again = {cell.experiment for cell in verdicts}
    kept = {cell: said for cell, said in read(path).items() if cell.experiment not in again}
    with atomic_write(path, "w") as file:
        for cell, said in sorted((kept | dict(verdicts)).items(), key=lambda item: item[0]):
            entry = said._asdict() if said.value is not None else {"verdict": said.verdict}
            file.write(json.dumps(cell._asdict() | entry, ensure_ascii=False) + "\n")


def got_worse(now: Mapping[Cell, Verdict], recorded: Mapping[Cell, Verdict]) -> list[Worse]:
    """The recorded cells of the experiments that ran which are now worse, moved or gone."""
    ran = {cell.experiment for cell in now}
    found = []
    for cell, before in recorded.items():
        # What has no published value may go: which cores are timed depends on the machine.
        gone = Verdict(MEASURED if before.verdict == MEASURED else UNAVAILABLE)
        after = now.get(cell, gone)
        if cell.experiment in ran and (after.place > before.place or before.is_left_by(after)):
            found.append(Worse(cell, before, after))
    return found
