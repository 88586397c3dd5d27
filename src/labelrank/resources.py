"""What a computation may take of the machine: memory, threads, and the reader's patience."""

import contextlib
import itertools
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import psutil
from joblib import effective_n_jobs

from labelrank.errors import InputError, OutOfTimeError

_LINE = 64
T = TypeVar("T")
_END: ContextVar[float] = ContextVar("end", default=math.inf)


def available_bytes() -> int:
    """Free memory of the machine, or of the control group that limits this process."""
    found = [psutil.virtual_memory().available]
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return min(found)


def peak_bytes() -> int:
    """The most memory that this process has taken."""
    memory = psutil.Process().memory_info()
    if hasattr(memory, "peak_wset"):  # Windows, which has no module `resource`
        return int(memory.peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def require(n_bytes: int, what: str, advice: str) -> None:
    """Raise InputError if `n_bytes` exceeds free memory."""
    there = available_bytes()
    if n_bytes > there:
        raise InputError(
            f"{what} need {n_bytes / 2**30:.1f} GiB, but {there / 2**30:.1f} GiB are available; "
            + advice
        )


def aligned_zeros(
    shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32
) -> npt.NDArray[np.floating]:
    """Zeros that begin at a cache line, so that sixteen float32 are one line."""
    size = int(np.prod(shape, dtype=np.int64))
    kind = np.dtype(dtype)
    room = np.zeros(size + _LINE // kind.itemsize, kind)
    skip = -room.ctypes.data % _LINE // kind.itemsize
    return room[skip : skip + size].reshape(shape)


def n_threads(n_jobs: int | None) -> int:
    """How many `n_jobs` asks for (None: 1, -1: all cores); 1 in one of several processes."""
    return 1 if multiprocessing.current_process().daemon else effective_n_jobs(n_jobs)


@contextlib.contextmanager
def until(end: float) -> Iterator[None]:
    """A block that ends with OutOfTimeError after this moment (of `time.perf_counter`).

    It is looked for before each job of `run_jobs` and each step of a bar, shown or not.
    """
    before = _END.set(min(end, _END.get()))
    try:
        yield
    finally:
        _END.reset(before)


def check_time() -> None:
    """Raise OutOfTimeError if this is done in a block `until` a moment that is over."""
    if time.perf_counter() > _END.get():
        raise OutOfTimeError("this took longer than there was time for")


def _timely(job: Callable[[], T]) -> T:
    check_time()
    return job()


def run_jobs(jobs: Iterable[Callable[[], T]], n_jobs: int | None) -> list[T]:
    """Results in the order of the jobs, whatever `n_jobs` (None: 1, -1: all cores)."""
    jobs = list(jobs)
    workers = min(n_threads(n_jobs), len(jobs))
    if workers <= 1:
        return [_timely(job) for job in jobs]
    with ThreadPoolExecutor(workers) as pool:  # its threads know the end by a copy of the context
        contexts = [copy_context() for _ in jobs]
        return list(pool.map(lambda job, context: context.run(_timely, job), jobs, contexts))


def row_chunks(n_rows: int, n_jobs: int | None, least: int = 256) -> list[tuple[int, int]]:
    """Spans of rows for `run_jobs`: about four per worker, none shorter than `least`."""
    wanted = max(1, min(4 * n_threads(n_jobs), n_rows // least))
    bounds = [n_rows * part // wanted for part in range(wanted + 1)]
    return list(itertools.pairwise(bounds))


def blocks(n_rows: int, at_once: int) -> Iterator[slice]:
    """Consecutive slices of at most `at_once` rows (at least one)."""
    size = max(1, at_once)
    for first in range(0, n_rows, size):
        yield slice(first, min(first + size, n_rows))


def track(items: Iterable[T], what: str, verbose: int, total: int | None = None) -> Iterator[T]:
    """Yield the items, with a progress bar if `verbose` is above 0."""
    if not verbose:
        for item in items:
            check_time()
            yield item
        return
    if total is None and isinstance(items, Sized):
        total = len(items)
    with bar(what, verbose, total) as advance:
        for item in items:
            yield item
            advance("")


@contextlib.contextmanager
def bar(what: str, verbose: int, total: int | None) -> Iterator[Callable[[str], Any]]:
    """A function to call after each step, with a note to show beside the bar."""
    with _drawn(what, verbose, total, counted="steps") as update:
        yield lambda note: update(advance=1, note=note)


@contextlib.contextmanager
def meter(
    what: str, shown: bool, total: int | None = None, *, done: int = 0, in_bytes: bool = False
) -> Iterator[Callable[[int, int | None], Any]]:
    """A function to call with how much is done, and of how much; without a call, a clock."""
    counted = "bytes" if in_bytes else ""
    with _drawn(what, shown, total, counted=counted, transient=not in_bytes) as update:
        update(completed=done)
        yield lambda done, total: update(completed=done, total=total)


@contextlib.contextmanager
def _drawn(
    what: str, shown: int, total: int | None, *, counted: str, transient: bool = False
) -> Iterator[Callable[..., Any]]:
    """The one progress bar: a function that updates it, or does nothing where it is not shown."""
    if not shown:
        yield lambda **_: check_time()
        return
    from rich import progress
    from rich.console import Console

    amounts = {"steps": progress.MofNCompleteColumn, "bytes": progress.DownloadColumn}
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        *([amounts[counted]()] if counted else []),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[note]}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=transient) as drawn:
        task = drawn.add_task(what, total=total, note="")

        def update(**changes: Any) -> None:
            check_time()
            drawn.update(task, **changes)

        yield update


@contextlib.contextmanager
def gap_bar(what: str, verbose: int, total: int) -> Iterator[Callable[[float], Any]]:
    """As `bar`, for solvers: a function to call with the duality gap after each epoch."""
    with bar(what, verbose, total) as advance:
        yield lambda gap: advance(f"gap {gap:.2g}")
