"""Cells measured in this process, or side by side in their own: records, time and memory."""

import ctypes
import gc
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from labelrank.evaluation.pool import Crew, EndedError
from labelrank.resources import peak_bytes

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_MIB = 2**20
_ENDED = (
    "its process was ended from outside, most likely for want of memory; "
    "use fewer jobs, or leave out this learner"
)


class Cell(NamedTuple):
    """Which learner on which fold of which data set."""

    dataset: str
    learner: str
    fold: int

    def __str__(self) -> str:
        return f"{self.learner} on {self.dataset}, fold {self.fold + 1}"


Outcome = tuple[Cell, dict[str, Any]]


class Bench(Protocol):
    """What measures cells; a process that does has a copy."""

    def only(self, cell: Cell) -> "Bench":
        """The part that this cell needs."""

    def measure(self, cell: Cell) -> dict[str, Any]:
        """The record of the cell; whatever fails is told by the record, not raised."""


def failure(cell: Cell, reason: str, *, is_lost: bool = False) -> dict[str, Any]:
    """The record of a cell without values; a lost one fell to the machine, not to its learner."""
    return {**cell._asdict(), "error": reason, "lost": is_lost, "warnings": []}


def measured(
    bench: Bench, cells: Iterable[Cell], *, jobs: int, memory: bool
) -> Generator[Outcome, None, None]:
    """Each cell with its record when done; closing the generator ends the processes at once."""
    if jobs == 1 and not memory:
        for cell in cells:
            yield cell, bench.measure(cell)
        return
    with Crew(jobs, fresh=memory) as crew:
        futures = {
            crew.submit(partial(_measuring, bench.only(cell) if memory else bench), cell): cell
            for cell in cells
        }
        for future in as_completed(futures):
            yield futures[future], _record(futures[future], future)


def _measuring(bench: Bench) -> Callable[[Cell], dict[str, Any]]:
    return bench.measure


def _record(cell: Cell, future: "Future[dict[str, Any]]") -> dict[str, Any]:
    try:
        return future.result()
    except EndedError:
        return failure(cell, _ENDED, is_lost=True)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What the call returns, and its seconds of wall-clock time."""
    start = perf_counter()
    found = call()
    return found, perf_counter() - start


class PeakMemory:
    """How far the memory of this process rose, in MiB; None if that is not known."""

    mib: float | None = None

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        with suppress(OSError, AttributeError, TypeError):  # as other systems have it
            ctypes.CDLL(None).malloc_trim(0)
        try:  # Linux lets the peak start anew, from 4.0 on
            _RESET.write_text("5")
            self._reset = _resident("VmHWM") > 0
        except (OSError, StopIteration):
            self._reset = False
        self._before = _resident("VmRSS") if self._reset else peak_bytes()
        return self

    def __exit__(self, *_: object) -> None:
        after = _resident("VmHWM") if self._reset else peak_bytes()
        if self._reset or after > self._before:
            self.mib = max(after - self._before, 0) / _MIB


def _resident(field: str) -> int:
    lines = _STATUS.read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024
