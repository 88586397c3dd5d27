"""Cells measured in this process, or side by side in their own: records, time and memory."""

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from labelrank.errors import InputError

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
    with _Workers(bench, jobs, fresh=memory) as workers:
        yield from workers.measure(cells)


class _Workers:
    """So many processes, each led by a thread that hands it cells; all end with this one."""

    def __init__(self, bench: Bench, jobs: int, fresh: bool) -> None:
        self._bench, self._jobs, self._fresh = bench, jobs, fresh
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all: set[_Worker] = set()
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> "_Workers":
        self._threads = ThreadPoolExecutor(self._jobs)
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.end()

    def measure(self, cells: Iterable[Cell]) -> Iterator[Outcome]:
        futures = {self._threads.submit(self._measure, cell): cell for cell in cells}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def _measure(self, cell: Cell) -> dict[str, Any]:
        worker = self._take(cell)
        try:
            found = worker.measure(cell)
        except (EOFError, OSError):
            self._drop(worker)
            return failure(cell, _ENDED, is_lost=True)
        if self._fresh:
            self._drop(worker)
        else:
            self._idle.put(worker)
        return found

    def _take(self, cell: Cell) -> "_Worker":
        if not self._idle.empty():
            return self._idle.get()
        with self._lock:
            if self._closed:
                raise InputError("the comparison was stopped")
            worker = _Worker(self._bench.only(cell) if self._fresh else self._bench)
            self._all.add(worker)
            return worker

    def _drop(self, worker: "_Worker") -> None:
        worker.end()
        with self._lock:
            self._all.discard(worker)


class _Worker:
    """A process that measures the cells it is sent, one after the other."""

    def __init__(self, bench: Bench) -> None:
        # Never plain fork: a copy of a process with threads may wait for ever for their locks.
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload([__name__])
        self._end, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(bench, theirs), daemon=True)  # type: ignore[attr-defined]
        self._process.start()
        theirs.close()

    def measure(self, cell: Cell) -> dict[str, Any]:
        self._end.send(cell)
        found: dict[str, Any] = self._end.recv()
        return found

    def end(self) -> None:
        self._process.kill()


def _serve(bench: Bench, end: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        end.send(bench.measure(end.recv()))


def _follow_parent() -> None:
    """A run that is killed leaves nobody behind who goes on computing for it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        try:  # Linux lets the peak start anew, from 4.0 on
            _RESET.write_text("5")
            self._reset = _resident("VmHWM") > 0
        except (OSError, StopIteration):
            self._reset = False
        self._before = _resident("VmRSS") if self._reset else _peak_of_process()
        return self

    def __exit__(self, *_: object) -> None:
        after = _resident("VmHWM") if self._reset else _peak_of_process()
        if self._reset or after > self._before:
            self.mib = max(after - self._before, 0) / _MIB


def _resident(field: str) -> int:
    lines = _STATUS.read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def _peak_of_process() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
