"""How long something takes, and how much memory at its peak."""

import ctypes
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_MIB = 2**20


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What the call returns, and its seconds of wall-clock time.

    >>> timed(lambda: 3)[0]
    3
    """
    start = perf_counter()
    found = call()
    return found, perf_counter() - start


class PeakMemory:
    """How far the resident memory of this process rose above its level at the start, in MiB.

    What was free before is given back to the system first: memory that is merely used again
    would not count. Linux tells the peak of any stretch of time; elsewhere only the peak of
    the whole process is known, so that `mib` is None unless it rose.

    Examples
    --------
    >>> from labelrank.evaluation.usage import PeakMemory
    >>> with PeakMemory() as peak:
    ...     block = bytearray(b"1") * 2**25
    >>> 30 < peak.mib < 60
    True
    """

    mib: float | None = None

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        self._reset = _reset_peak()
        self._before = _resident("VmRSS") if self._reset else _peak_of_process()
        return self

    def __exit__(self, *_: object) -> None:
        after = _resident("VmHWM") if self._reset else _peak_of_process()
        if self._reset or after > self._before:
            self.mib = max(after - self._before, 0) / _MIB


def _reset_peak() -> bool:
    """True if the system lets the peak start anew (Linux from 4.0 on)."""
    try:
        _RESET.write_text("5")
        return _resident("VmHWM") > 0
    except (OSError, StopIteration):
        return False


def _resident(field: str) -> int:
    lines = _STATUS.read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def _peak_of_process() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
