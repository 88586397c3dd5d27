"""The whole book of results: experiments one after another, each kept the moment it is done.

An experiment's records are one file, written whole or not at all, under a fingerprint of all that
decides them. A run that was interrupted finds the files of the same fingerprint and goes on with
the others; after a change of seed, settings or code everything it touches is measured again.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from labelrank.atomic import atomic_write
from labelrank.errors import MissingError
from labelrank.experiments import Experiment, Record, figures, judge

# What is printed, drawn as a page or served decides no number.
_NO_NUMBERS = ("cli", "report", "server")


@dataclass(frozen=True)
class Chapter:
    """An experiment that ran: judged records and its time, or the error that ended it."""

    experiment: str
    seed: int
    fingerprint: str
    seconds: float
    cpu_seconds: float
    records: tuple[Record, ...] = ()
    error: str = ""
    kept: bool = False


def write_book(
    chosen: Sequence[Experiment],
    folder: Path,
    *,
    seed: int = 0,
    jobs: int | None = None,
    fresh: bool = False,
    tell: Callable[[Experiment, int], Any] = lambda experiment, done: None,
) -> Iterator[Chapter]:
    """Run the experiments, shortest first; each chapter comes when it is stored in `folder`.

    Those that `folder` holds already are not run again, unless `fresh`. An experiment that fails
    gives a chapter with its error, is not stored, and does not stop the others. `tell` hears of
    every record.
    """
    _make_room(folder)
    for experiment in sorted(chosen, key=lambda one: one.minutes):
        mark = fingerprint(experiment, seed)
        kept = None if fresh else read_chapter(folder, experiment.name, mark)
        if kept is None:
            kept = _measured(experiment, folder, seed, jobs, mark, tell)
            if not kept.error:
                _store(folder, kept)
        yield kept


def pictures(folder: Path, name: str) -> list[Path]:
    """The pictures that an experiment of the book drew, by name."""
    return sorted((folder / "figures" / name).glob("*.png"))


def _measured(
    experiment: Experiment,
    folder: Path,
    seed: int,
    jobs: int | None,
    mark: str,
    tell: Callable[[Experiment, int], Any],
) -> Chapter:
    """A chapter; any error is its last word, for the others must not be lost by it."""
    records: list[Record] = []
    error = ""
    place = figures.folder.set(_emptied(folder / "figures" / experiment.name))
    start, cpu = time.perf_counter(), _cpu()
    try:
        for record in experiment.measure(seed=seed, jobs=jobs):
            records.append(record)
            tell(experiment, len(records))
    except Exception as failure:
        error = " ".join(str(failure).split()) or type(failure).__name__
    finally:
        figures.folder.reset(place)
    judged = judge(records, experiment.tolerance, experiment.absolute, experiment.along)
    seconds, cpu_seconds = time.perf_counter() - start, _cpu() - cpu
    return Chapter(
        experiment.name, seed, mark, round(seconds, 2), round(cpu_seconds, 2), tuple(judged), error
    )


def _cpu() -> float:
    """Seconds of computing, with those of worker processes that have ended."""
    return sum(os.times()[:4])


def _emptied(folder: Path) -> Path:
    """The folder without pictures of an earlier run."""
    for picture in folder.glob("*.png"):
        picture.unlink()
    return folder


def fingerprint(experiment: Experiment, seed: int) -> str:
    """A digest of what the experiment declares, of the seed, and of the code that measures."""
    told = {key: value for key, value in vars(experiment).items() if key != "measure"}
    text = json.dumps([told, seed, _code()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@lru_cache(maxsize=1)
def _code() -> str:
    digest = hashlib.sha256()
    package = Path(str(resources.files("labelrank")))
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in _NO_NUMBERS:
            digest.update(str(place).encode() + path.read_bytes())
    return digest.hexdigest()


def _store(folder: Path, chapter: Chapter) -> None:
    """One line about the run, then one a record."""
    about = {key: value for key, value in asdict(chapter).items() if key not in _NOT_STORED}
    lines = [about, *(asdict(record) for record in chapter.records)]
    with atomic_write(_path(folder, chapter.experiment), "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def _make_room(folder: Path) -> None:
    """A folder that cannot be written is told before anything is measured."""
    try:
        _path(folder, "").parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / ".writable"):
            pass
        (folder / ".writable").unlink()
    except (OSError, MissingError) as error:
        raise MissingError(
            f"{folder}: cannot be written; give a folder that you may write to by --out"
        ) from error


_NOT_STORED = ("records", "error", "kept")


def read_chapter(folder: Path, name: str, mark: str) -> Chapter | None:
    """What is stored of an experiment under this fingerprint; None if nothing, or if damaged."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        lines = _path(folder, name).read_text(encoding="utf-8").splitlines()
        about, *records = map(json.loads, lines)
        if about["fingerprint"] == mark:
            found = tuple(Record(**record) for record in records)
            return Chapter(**about, records=found, kept=True)
    return None


def _path(folder: Path, name: str) -> Path:
    return folder / "records" / f"{name}.jsonl"
