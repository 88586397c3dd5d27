"""Processes that work side by side: items go out in order, and results come back in order.

A process is started by a function that makes its worker, so that it can load a model file itself;
no model is sent. Processes end with whoever started them, however that one ends.
"""

import functools
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NamedTuple

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from labelrank.errors import FarValueWarning, InputError, LabelrankError

Work = Callable[[Any], Any]
PAUSE = object()


class EndedError(LabelrankError):
    """A process that was ended from outside."""


class Answer(NamedTuple):
    """What the work on an item gave, or the error that it met; and what it warned of."""

    found: Any
    error: Exception | None
    heard: list[str]


def ordered_map(
    function: Callable[[Any, Any], Any], items: Iterable[Any], *, jobs: int | None = None,
    initial: Callable[[], Any] | None = None,
) -> Iterator[Any]:  # fmt: skip
    """Yield `function(state, item)` for each item, in order, from several processes.

    What `function` raises is raised here, and ends all processes; so does closing the iterator. If
    the items cannot be read to their end, the results of those before come first.

    Parameters
    ----------
    function : callable
        Of a module, so that other processes can import it.
    items : iterable
        Taken as they are needed: at most twice as many as processes are under way. At a `PAUSE`
        among them all results so far are given first: what comes next may take its time.
    jobs : int or None
        Number of processes, -1 for one per core. None or 1 works in this one.
    initial : callable or None
        Called once in each process for its `state`, for example
        ``partial(persistence.load, "model.labelrank")``.

    Examples
    --------
    >>> import operator
    >>> list(ordered_map(operator.add, [1, 2, 3], initial=int))
    [1, 2, 3]
    """
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise InputError(f"got jobs={jobs}; give at least 1, or -1 for one per core")
    start = functools.partial(_worker, function, initial)
    n_jobs = effective_n_jobs(jobs)
    if n_jobs == 1:
        work = start()
        yield from (work(item) for item in items if item is not PAUSE)
        return
    with Crew(n_jobs) as crew:
        submit = functools.partial(crew.submit, functools.partial(_on_one_thread, start))
        yield from _in_order(submit, iter(items), 2 * n_jobs)


def _worker(function: Callable[[Any, Any], Any], initial: Callable[[], Any] | None) -> Work:
    return functools.partial(function, initial() if initial else None)


def _on_one_thread(start: Callable[[], Work]) -> Work:
    """Processes side by side leave the other cores to each other."""
    threadpool_limits(limits=1)
    return start()


def _in_order(
    submit: Callable[[Any], "Future[Any]"], items: Iterator[Any], most: int
) -> Iterator[Any]:
    waiting: deque[Future[Any]] = deque()
    error = None
    while True:
        try:
            item = next(items)
            if item is not PAUSE:
                waiting.append(submit(item))
        except StopIteration:
            break
        except Exception as met:
            error = met
            break
        while waiting and (item is PAUSE or len(waiting) == most):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if error is not None:
        raise error


class Crew:
    """So many processes, each led by a thread that hands it items; all end with this one.

    With `fresh` every item has a process of its own, else an idle one is used again.
    """

    def __init__(self, jobs: int, *, fresh: bool = False) -> None:
        self._fresh = fresh
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._all: set[_Process] = set()
        self._closed = False
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(jobs)

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            for process in self._all:
                process.end()

    def submit(self, start: Callable[[], Work], item: Any) -> "Future[Any]":
        """Let a process work on the item; `start()` makes the worker of a new one."""
        return self._threads.submit(self._work, start, item)

    def _work(self, start: Callable[[], Work], item: Any) -> Any:
        process = self._take(start)
        try:
            found, error, heard = process.ask(item)
        except (EOFError, OSError):
            self._drop(process)
            raise EndedError(
                "a process that worked for this one was ended from outside, most likely for want "
                "of memory; use fewer jobs"
            ) from None
        if self._fresh:
            self._drop(process)
        else:
            self._idle.put(process)
        for warning in heard:
            warnings.warn(warning, stacklevel=2)
        if error is not None:
            raise error
        return found

    def _take(self, start: Callable[[], Work]) -> "_Process":
        if not self._idle.empty():
            return self._idle.get()
        with self._lock:
            if self._closed:
                raise InputError("the work was stopped")
            process = _Process(start)
            self._all.add(process)
            return process

    def _drop(self, process: "_Process") -> None:
        process.end()
        with self._lock:
            self._all.discard(process)


class _Process:
    """A process that works on what it is sent, one item after the other."""

    def __init__(self, start: Callable[[], Work]) -> None:
        # Never plain fork: a copy of a process with threads may wait for ever for their locks.
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload([__name__])
        self._end, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(start, theirs), daemon=True)  # type: ignore[attr-defined]
        self._process.start()
        theirs.close()

    def ask(self, item: Any) -> "Answer":
        """What came of the item."""
        self._end.send(item)
        answer: Answer = self._end.recv()
        return answer

    def end(self) -> None:
        self._process.kill()


def _serve(start: Callable[[], Work], end: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    work = None
    while True:
        message = end.recv_bytes()
        with warnings.catch_warnings(record=True) as heard:
            try:
                work = work or start()
                found = work(pickle.loads(message))  # noqa: S301 - our own pipe
                answer = pickle.dumps(Answer(found, None, _sentences(heard)))
            except Exception as error:
                answer = pickle.dumps(Answer(None, _portable(error), _sentences(heard)))
        end.send_bytes(answer)


def _sentences(heard: list[warnings.WarningMessage]) -> list[str]:
    """The warnings, but for those that a command tells for all batches at once."""
    return [str(one.message) for one in heard if one.category is not FarValueWarning]


def _portable(error: Exception) -> Exception:
    """The error as it can be sent, with the place where it was met unless it is a user's."""
    if not isinstance(error, LabelrankError):
        error.add_note("met in another process:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own object
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    return error


def _follow_parent() -> None:
    """A run that is killed leaves nobody behind who goes on computing for it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
