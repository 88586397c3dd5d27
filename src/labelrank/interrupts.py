"""Ctrl-C and its like between two pieces of work, never in the middle of one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class TerminatedError(KeyboardInterrupt):
    """The process was asked to end (SIGTERM): as Ctrl-C, so that nothing half done stays."""


def raise_when_terminated() -> None:
    """Let SIGTERM raise TerminatedError in the main thread; for programs, not libraries."""

    def handler(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


class Held:
    """Signals that wait; `delivered` lets them through."""

    def __init__(self, handlers: dict[signal.Signals, Any]) -> None:
        self._handlers = handlers
        self._waiting: list[tuple[int, FrameType | None]] = []
        self._is_open = False

    def take(self, number: int, frame: FrameType | None) -> None:
        """Note a signal; when interrupts are let through, or it is the second, deliver it."""
        if self._is_open or self._waiting:
            self._deliver(number, frame)
        else:
            self._waiting.append((number, frame))

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """A block in which interrupts do not wait, such as waiting for data."""
        self._is_open = True
        try:
            self.catch_up()
            yield
        finally:
            self._is_open = False

    def catch_up(self) -> None:
        """Deliver what waits."""
        while self._waiting:
            self._deliver(*self._waiting.pop())

    def _deliver(self, number: int, frame: FrameType | None) -> None:
        self._waiting.clear()
        self._handlers[signal.Signals(number)](number, frame)


@contextmanager
def held_back() -> Iterator[Held]:
    """Let an interrupt wait until the block is done, so that it is done whole; a second breaks in.

    Only handlers written in Python wait, and only in the main thread: no others break into it.

    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)
    >>> try:
    ...     with held_back():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("done whole")
    ... except KeyboardInterrupt:
    ...     print("then interrupted")
    done whole
    then interrupted
    >>> handler = signal.signal(signal.SIGINT, before)
    """
    handlers = _handlers() if threading.current_thread() is threading.main_thread() else {}
    held = Held(handlers)
    try:
        for number in handlers:
            signal.signal(number, held.take)
        yield held
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        held.catch_up()


def _handlers() -> dict[signal.Signals, Any]:
    """The handlers of the signals that can be held back and are not held back already."""
    found = {number: signal.getsignal(number) for number in _SIGNALS}
    return {
        number: handler
        for number, handler in found.items()
        if callable(handler) and not isinstance(getattr(handler, "__self__", None), Held)
    }
