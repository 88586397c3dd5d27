"""Where the steps of learning in pieces run: on a Dask cluster, or here, with blocks on disk.

A step is a pure function of earlier results. Of a lost worker Dask runs the steps again, with the
same results, bit for bit; no scheduler, protocol or repeated attempt is written here.
"""

import json
import logging
import tempfile
import warnings
from asyncio import CancelledError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from labelrank import __version__
from labelrank.errors import InputError, MissingError
from labelrank.resources import available_bytes, peak_bytes

Report = Callable[[int, int], Any]
_PATIENCE = 30  # seconds for the scheduler to answer


def silent(done: int, total: int) -> None:
    """Tell nobody how much is done."""


class Engine(Protocol):
    """Runs steps; a handle stands for a result that may be elsewhere."""

    # About how much memory one step may take, and how many run side by side.
    n_bytes: int
    n_workers: int

    # A step whose result is rows of data.
    def keep(self, step: Callable[..., Any], *arguments: Any) -> Any: ...

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any: ...

    def get(self, handle: Any) -> Any: ...

    # Wait for these results, and say how many are there.
    def watch(self, handles: Sequence[Any], report: Report) -> None: ...

    # Bytes that workers have sent, and the most memory that one of them took.
    def usage(self) -> dict[str, int]: ...


def reduced(engine: Engine, merge: Callable[[Any, Any], Any], handles: Sequence[Any]) -> Any:
    """All results merged two by two, neighbours first: the order depends on their number alone."""
    left = list(handles)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2])
        merged = [engine.call(merge, *pair) for pair in pairs]
        left = merged + left[2 * len(merged) :]
    return left[0]


class Cluster:
    """The workers of a `dask.distributed.Client`."""

    def __init__(self, client: Any) -> None:
        if not hasattr(client, "submit"):
            raise MissingError(f"got {client!r} as client; give a dask.distributed.Client")
        self.client = client
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            raise MissingError(
                f"{_address(client)} has no worker; start some by 'dask worker {_address(client)}'"
            )
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        limits = [w["memory_limit"] // w["nthreads"] for w in workers if w["memory_limit"]]
        self.n_bytes = min(limits, default=available_bytes())

    def keep(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return self.call(step, *arguments)

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")  # a model goes there once
            return self.client.submit(step, *arguments, pure=False)

    def get(self, handle: Any) -> Any:
        with explained(self.client):
            return handle.result()

    def watch(self, handles: Sequence[Any], report: Report) -> None:
        for done, _ in enumerate(self.finished(handles), 1):
            report(done, len(handles))

    def finished(self, handles: Sequence[Any]) -> Iterator[Any]:
        """The results, as they come."""
        from distributed import as_completed

        with explained(self.client):
            for handle in as_completed(handles):
                yield handle.result()

    def usage(self) -> dict[str, int]:
        sent, peaks = zip(*self.client.run(_usage).values(), strict=True)
        return {"sent_bytes": sum(sent), "peak_bytes": max(peaks)}


@contextmanager
def explained(client: Any) -> Iterator[None]:
    """Lost workers and schedulers as one sentence."""
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    from distributed import KilledWorker

    try:
        yield
    except (KilledWorker, MemoryError) as error:
        raise InputError(
            "a step was given up, for the workers that ran it were lost or out of memory; give "
            "them more memory, keep fewer terms (max_terms), or make smaller parts"
        ) from error
    except (FutureCancelledError, CommClosedError, CancelledError) as error:
        raise MissingError(
            f"the scheduler at {_address(client)} is lost; files that are complete are kept: start "
            "it, and run this again"
        ) from error


def _address(client: Any) -> str:
    scheduler = getattr(client, "scheduler", None)
    return str(getattr(scheduler, "address", None) or "the given address")


@contextmanager
def connected(address: str, memory: int | None = None) -> Iterator[Any]:
    """A client of the cluster at ``tcp://host:port``, or of ``local:N`` processes made for it.

    Parameters
    ----------
    address : str
    memory : bytes that each process of ``local:N`` may take; None is its share of the machine
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingError(
            f"got cluster {address}, but Dask is not there; pip install 'labelrank[distributed]'"
        ) from error
    kind = address.partition(":")[0]
    if kind == "local":
        limit: Any = "auto" if memory is None else memory
        options: Any = {
            "n_workers": n_local(address),
            "threads_per_worker": 1,
            "memory_limit": limit,
        }
        with (
            LocalCluster(**options, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    if kind not in ("tcp", "tls", "ucx", "ws", "wss"):
        raise InputError(f"got cluster {address}; write tcp://host:port or local:N")
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise MissingError(
            f"no scheduler answers at {address}; start one by 'dask scheduler', and workers by "
            f"'dask worker {address}'"
        ) from error
    with _quiet(), client:
        with explained(client):
            _check_versions(client)
        yield client


def n_local(address: str) -> int:
    """N of ``local:N``.

    >>> n_local("local:2")
    2
    """
    number = address.partition(":")[2]
    if not number.isdecimal() or not int(number):
        raise InputError(f"got cluster {address}; write local:N with N processes, as local:2")
    return int(number)


@contextmanager
def _quiet() -> Iterator[None]:
    """No logs of Dask, whose tracebacks of a lost scheduler go before our sentence."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _check_versions(client: Any) -> None:
    """Refuse workers of another labelrank: their steps are other functions."""
    try:
        found = client.run(_version)
    except ImportError as error:
        raise MissingError(
            f"the workers at {_address(client)} cannot import labelrank ({error}); install "
            f"labelrank {__version__} there"
        ) from error
    others = {worker: version for worker, version in found.items() if version != __version__}
    if others:
        worker, version = next(iter(others.items()))
        raise MissingError(
            f"worker {worker} has labelrank {version}, but here is {__version__}; install the same"
        )


def _usage(dask_worker: Any) -> tuple[int, int]:
    """Bytes that a worker has sent, and the most memory that it has taken."""
    return dask_worker.transfer_outgoing_bytes_total, peak_bytes()


def _version() -> str:
    return __version__


class Stored(NamedTuple):
    """A result that waits on disk."""

    path: Path
    kind: type


class Here:
    """This process, one step after the other; rows of data wait in files of a folder."""

    n_workers = 1

    def __init__(self, folder: str | Path, memory: int | None = None) -> None:
        self.folder, self._made = Path(folder), 0
        self.n_bytes = memory or available_bytes()

    def keep(self, step: Callable[..., Any], *arguments: Any) -> Stored:
        self._made += 1
        path = self.folder / f"{self._made}.npz"
        result = self.call(step, *arguments)
        _write(path, result)
        return Stored(path, type(result))

    def call(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return step(*map(self.get, arguments))

    def get(self, handle: Any) -> Any:
        return _read(handle) if isinstance(handle, Stored) else handle

    def watch(self, handles: Sequence[Any], report: Report) -> None:
        report(len(handles), len(handles))

    def usage(self) -> dict[str, int]:
        return {}


@contextmanager
def here(memory: int | None = None) -> Iterator[Here]:
    """An engine in this process, and the folder of its blocks, which ends with it."""
    with tempfile.TemporaryDirectory(prefix="labelrank-") as folder:
        yield Here(folder, memory)


def _write(path: Path, rows: Any) -> None:
    """A named tuple of CSR matrices and lists of texts as numpy arrays."""
    arrays: dict[str, Any] = {}
    for name, part in rows._asdict().items():
        if sp.issparse(part):
            arrays |= {f"{name}.{key}": getattr(part, key) for key in ("data", "indices", "indptr")}
            arrays[f"{name}.shape"] = np.array(part.shape)
        elif part is not None:
            arrays[name] = np.frombuffer(json.dumps(part).encode(), np.uint8)
    np.savez(path, **arrays)


def _read(stored: Stored) -> Any:
    with np.load(stored.path, allow_pickle=False) as file:
        parts: dict[str, Any] = {}
        for name in stored.kind._fields:  # type: ignore[attr-defined]
            if f"{name}.shape" in file:
                arrays = (file[f"{name}.{key}"] for key in ("data", "indices", "indptr"))
                shape = tuple(file[f"{name}.shape"].tolist())
                parts[name] = sp.csr_array(tuple(arrays), shape=shape)
            else:
                parts[name] = json.loads(file[name].tobytes()) if name in file else None
    return stored.kind(**parts)
