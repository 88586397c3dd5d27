"""The whole book of results: experiments one after another, each kept the moment it is done.
A run that was interrupted goes on with what `chapters.jsonl` does not hold. After a change of the
seed, of the settings or of the code that measures, an experiment runs again."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labelrank.evaluation.store import CellStore, fingerprint
from labelrank.experiments import figures
from labelrank.experiments.registry import Experiment
from labelrank.experiments.verdicts import Record, judge

FILE = "chapters.jsonl"


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

    @property
    def counts(self) -> Counter[str]:
        """How many numbers got each verdict."""
        return Counter(record.verdict for record in self.records)


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
    gives a chapter with its error, is not stored, and does not stop the others. `tell` is called
    after every record.
    """
    with CellStore(folder, FILE) as store:
        for experiment in sorted(chosen, key=lambda one: one.minutes):
            mark = fingerprint(vars(experiment), seed)
            chapter = None if fresh else _kept(store.done.get(mark))
            if chapter is None:
                chapter = _measured(experiment, folder, seed, jobs, mark, tell)
                if not chapter.error:
                    store.add(asdict(chapter))
            yield chapter


def pictures(folder: Path, name: str) -> list[Path]:
    """The pictures that an experiment of the book drew, by name."""
    return sorted((folder / "figures" / name).glob("*.png"))


def _kept(stored: Any) -> Chapter | None:
    """The chapter as it was stored; None if there is none, or one of another form."""
    with suppress(TypeError, KeyError):
        records = tuple(Record(**record) for record in stored["records"])
        return Chapter(**{**stored, "records": records, "kept": True})
    return None


def _measured(
    experiment: Experiment,
    folder: Path,
    seed: int,
    jobs: int | None,
    mark: str,
    tell: Callable[[Experiment, int], Any],
) -> Chapter:
    """A chapter; an error ends this experiment and is told in it, for the others go on."""
    records: list[Record] = []
    error = ""
    for picture in pictures(folder, experiment.name):
        picture.unlink()  # of an earlier run
    place = figures.folder.set(folder / "figures" / experiment.name)
    start, cpu = time.perf_counter(), _cpu()
    try:
        for record in experiment.records(seed, jobs):
            records.append(record)
            tell(experiment, len(records))
    except Exception as failure:
        error = " ".join(str(failure).split()) or type(failure).__name__
    finally:
        figures.folder.reset(place)
    seconds, cpu_seconds = round(time.perf_counter() - start, 2), round(_cpu() - cpu, 2)
    judged = judge(records, experiment.tolerance, experiment.along)
    return Chapter(experiment.name, seed, mark, seconds, cpu_seconds, tuple(judged), error)


def _cpu() -> float:
    """Seconds of computing, with those of worker processes that have ended."""
    return sum(os.times()[:4])
