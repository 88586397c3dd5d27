"""The verdicts recorded in the repository, and which of a run's got worse than those."""

import json
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from labelrank.atomic import atomic_write
from labelrank.errors import FormatError
from labelrank.experiments.record import MEASURED, ORDER, OUTSIDE, UNAVAILABLE, WITHIN, Record

_BEST_FIRST = (WITHIN, ORDER, OUTSIDE, UNAVAILABLE)


class Cell(NamedTuple):
    """Where a verdict stands."""

    experiment: str
    row: str
    column: str

    def __str__(self) -> str:
        return f"{self.experiment}, {self.row}, {self.column}"


class Worse(NamedTuple):
    """A verdict that was better when it was recorded."""

    cell: Cell
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.cell}: {self.now}, recorded as {self.recorded}"


def recorded_file() -> Path:
    """The file of recorded verdicts that comes with the package."""
    return Path(str(resources.files("labelrank.experiments") / "verdicts.jsonl"))


def verdicts_of(name: str, records: Iterable[Record]) -> dict[Cell, str]:
    """The verdict of each judged record.

    >>> verdicts_of("x", [Record("BR", "loss", 1.0, 1.0, verdict=WITHIN)])
    {Cell(experiment='x', row='BR', column='loss'): 'within tolerance'}
    """
    return {Cell(name, record.row, record.column): record.verdict for record in records}


def read(path: Path) -> dict[Cell, str]:
    """Recorded verdicts; none if there is no file yet."""
    if not path.is_file():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            entry = json.loads(line)
            _place(entry["verdict"])
            found[Cell(*(str(entry[key]) for key in Cell._fields))] = entry["verdict"]
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                f"line {number} of {path} is no recorded verdict; restore the file, or write it "
                "anew with --record"
            ) from None
    return found


def write(path: Path, verdicts: Mapping[Cell, str]) -> None:
    """Record verdicts, sorted, one line each; those of other experiments stay.

    An experiment that is recorded again keeps none of its old lines.
    """
    again = {cell.experiment for cell in verdicts}
    kept = {cell: said for cell, said in read(path).items() if cell.experiment not in again}
    with atomic_write(path, "w") as file:
        for cell, verdict in sorted((kept | dict(verdicts)).items()):
            line = json.dumps(cell._asdict() | {"verdict": verdict}, ensure_ascii=False)
            file.write(f"{line}\n")


def got_worse(now: Mapping[Cell, str], recorded: Mapping[Cell, str]) -> list[Worse]:
    """The recorded verdicts of the experiments that ran which are now worse, or gone.

    What has no published value may go: which cores are timed, say, depends on the machine.

    >>> cell = Cell("mlpp-rcv1", "IsErr", "BR")
    >>> [str(worse) for worse in got_worse({cell: OUTSIDE}, {cell: WITHIN})]
    ['mlpp-rcv1, IsErr, BR: outside, recorded as within tolerance']
    """
    ran = {cell.experiment for cell in now}
    found = []
    for cell, before in recorded.items():
        after = now.get(cell, MEASURED if before == MEASURED else UNAVAILABLE)
        if cell.experiment in ran and _place(after) > _place(before):
            found.append(Worse(cell, before, after))
    return found


def _place(verdict: str) -> int:
    """How bad a verdict is; a value with nothing to compare it with is as good as any."""
    return 0 if verdict == MEASURED else _BEST_FIRST.index(verdict)
