"""Time and peak memory of a call."""

import contextlib
import resource
import subprocess
import sys
import time
from collections.abc import Callable


def best_of(call: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of several calls: what the machine can do, with the least noise."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def best_in_turn(*calls: Callable[[], object], repeats: int = 3) -> list[float]:
    """As `best_of` for calls that are compared: one after the other, so that noise meets all."""
    rounds = [[best_of(call, 1) for call in calls] for _ in range(repeats)]
    return [min(times) for times in zip(*rounds, strict=True)]


def record(name: str, ours: float, rival: float, target: str = "", **more: object) -> dict:
    """One line of the table: how many times faster than the rival we are."""
    return {
        "name": name,
        "ours_s": ours,
        "rival_s": rival,
        "ratio": rival / ours,
        "target": target,
    } | more


def peak_mib() -> float:
    """Largest resident size of this process so far; a parent's peak is not counted."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def start_up(*arguments: str, repeats: int = 5) -> float:
    """Seconds a fresh process needs for a command line."""
    command = [sys.executable, *arguments]
    return best_of(lambda: subprocess.run(command, check=True, capture_output=True), repeats)
