"""How every kernel is compiled: the one place that knows Numba's options.

Kernels are cached on disk, per user. Numba notices a change in a kernel's own file but
not in a helper imported from another one, so the folder is named after the sources of the
kernel's file and of all kernel files it imports: edit any of them and it is compiled afresh.
"""

import contextlib
import hashlib
import os
import re
import shutil
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import platformdirs
from numba.core import config

from labelrank.interrupts import held_back

P = ParamSpec("P")
R = TypeVar("R")

_HERE = Path(__file__).parent
_MONTH = 30 * 24 * 3600
_IMPORT = re.compile(rb"^from labelrank\.kernels(?:\.| import )(\w+)", re.MULTILINE)


def _digest(module: str) -> str:
    """A hash of the sources of a kernel module and of those it imports."""
    sources: dict[str, bytes] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        sources[name] = (_HERE / f"{name}.py").read_bytes()
        waiting |= {match.decode() for match in _IMPORT.findall(sources[name])} - sources.keys()
    digest = hashlib.sha256(f"{numba.__version__} {config.BOUNDSCHECK}".encode())
    for name, source in sorted(sources.items()):
        digest.update(name.encode() + source)
    return digest.hexdigest()[:16]


def _is_ours(folder: Path) -> bool:
    """Compiled code is read back from here, so nobody else may own or write the folder."""
    status = folder.stat()
    mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return mine and not status.st_mode & 0o022 and os.access(folder, os.W_OK)


@lru_cache
def _cache_folder(module: str) -> Path | None:
    named = os.environ.get("LABELRANK_CACHE_DIR")
    candidates = [Path(named)] if named else []
    with contextlib.suppress(RuntimeError, OSError):
        candidates.append(platformdirs.user_cache_path("labelrank", appauthor=False) / "kernels")
    for base in candidates:
        folder = base / _digest(module)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_ours(folder):
                _forget_old_versions(base, folder)
                return folder
        except OSError:
            continue
    warnings.warn(
        "no private writable folder for compiled kernels: they are compiled anew in each process; "
        "set LABELRANK_CACHE_DIR to a folder of your own",
        stacklevel=3,
    )
    return None


def _forget_old_versions(base: Path, current: Path) -> None:
    for other in base.iterdir():
        with contextlib.suppress(OSError):
            stale = other.stat().st_mtime < time.time() - _MONTH
            if stale and other != current and len(other.name) == 16:
                shutil.rmtree(other, ignore_errors=True)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with the project's one set of options."""
    return _compile(function, fastmath=False)


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, put into its caller: for what is called once a row, where a call is dear.

    A call counts references to arrays, in counters that threads share. Here nothing is counted,
    so an inner kernel must neither allocate nor hand an array to a kernel that is not inner.
    """
    return _compile(function, fastmath=False, forceinline=True, _nrt=False)


def fast_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, and sums may be reassociated: only for loops compared within a tolerance."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def _compile(function: Callable[P, R], **options: object) -> Callable[P, R]:
    folder = _cache_folder(function.__module__.rpartition(".")[2])
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder or "")
    try:
        compiled = numba.njit(cache=folder is not None, nogil=True, error_model="numpy", **options)(
            function
        )
    finally:
        config.CACHE_DIR = before
    if folder is not None:
        _forgive_damage(compiled)
    _let_interrupts_wait(compiled)
    return cast(Callable[P, R], compiled)


def _let_interrupts_wait(dispatcher: Any) -> None:
    """LLVM calls back while it compiles, and there an interrupt would be lost with what is made."""
    compile_now = dispatcher.compile

    def compile_whole(signature: object) -> object:
        with held_back():
            return compile_now(signature)

    dispatcher.compile = compile_whole


def _forgive_damage(dispatcher: Any) -> None:
    """Let a damaged cache file count as a miss, and a full disk as no cache; Numba would raise."""
    cache = dispatcher._cache  # noqa: SLF001
    load, save = cache.load_overload, cache.save_overload

    def load_or_miss(*arguments: object) -> object:
        try:
            return load(*arguments)
        except Exception:  # whatever a broken file makes the loader raise
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    def save_if_possible(*arguments: object) -> None:
        with contextlib.suppress(OSError):
            save(*arguments)

    cache.load_overload, cache.save_overload = load_or_miss, save_if_possible
