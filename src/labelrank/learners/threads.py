"""Independent jobs over threads: kernels release the GIL and share nothing they write."""

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

T = TypeVar("T")


def run_jobs(jobs: Iterable[Callable[[], T]], n_jobs: int | None) -> list[T]:
    """Results in the order of the jobs, whatever `n_jobs` (None: 1, -1: all cores)."""
    jobs = list(jobs)
    workers = min(effective_n_jobs(n_jobs), len(jobs))
    if workers <= 1:
        return [job() for job in jobs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: job(), jobs))


def row_chunks(n_rows: int, n_jobs: int | None, least: int = 256) -> list[tuple[int, int]]:
    """Spans of rows for `run_jobs`: about four a worker, none shorter than `least`."""
    wanted = max(1, min(4 * effective_n_jobs(n_jobs), n_rows // least))
    bounds = [n_rows * part // wanted for part in range(wanted + 1)]
    return list(itertools.pairwise(bounds))
