"""How much memory there is, asked before it is taken: a refusal says the figures."""

import contextlib
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from labelrank.errors import InputError

_LINE = 64


def available_bytes() -> int:
    """Memory that can still be had: of the machine, and of the group the process is held in."""
    found = [os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found = [int(next(x for x in lines if x.startswith("MemAvailable")).split()[1]) * 1024]
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        found.append(limit - int((group / "memory.current").read_text()))
    return min(found)


def require(n_bytes: int, what: str, advice: str) -> None:
    """Refuse what does not fit, before the system does it in its own way.

    >>> require(100, "a hundred bytes", "free some")
    """
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
