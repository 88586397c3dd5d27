"""How every kernel is compiled: the one place that knows Numba's options.

Kernels are cached on disk, per user. Numba notices a change in a kernel's own file but
not in a helper imported from another one, so the folder is named after the sources of
all kernels (and Numba's version): edit any of them and all are compiled afresh.
"""

import contextlib
import hashlib
import os
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numba
import platformdirs
from numba.core import config

P = ParamSpec("P")
R = TypeVar("R")

_HERE = Path(__file__).parent
_MONTH = 30 * 24 * 3600


def _sources_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {config.BOUNDSCHECK}".encode())
    for path in sorted(_HERE.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _candidates() -> list[Path]:
    named = os.environ.get("LABELRANK_CACHE_DIR")
    found = [Path(named)] if named else []
    with contextlib.suppress(RuntimeError, OSError):
        found.append(platformdirs.user_cache_path("labelrank", appauthor=False) / "kernels")
    return found


def _is_ours(folder: Path) -> bool:
    """Compiled code is read back from here, so nobody else may own or write the folder."""
    status = folder.stat()
    mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return mine and not status.st_mode & 0o022 and os.access(folder, os.W_OK)


def _cache_folder() -> Path | None:
    for base in _candidates():
        folder = base / _sources_digest()
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


_CACHE = _cache_folder()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with the project's one set of options."""
    return _compile(function, fastmath=False)


def fast_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """As `kernel`, and sums may be reassociated: only for loops compared within a tolerance."""
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def _compile(function: Callable[P, R], fastmath: object) -> Callable[P, R]:
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_CACHE or "")
    try:
        compiled = numba.njit(
            cache=_CACHE is not None, nogil=True, error_model="numpy", fastmath=fastmath
        )(function)
    finally:
        config.CACHE_DIR = before
    if _CACHE is not None:
        _forgive_damage(compiled)
    return cast(Callable[P, R], compiled)


def _forgive_damage(dispatcher: object) -> None:
    """Let a damaged cache file count as a miss (Numba would raise): it is then written anew."""
    cache = dispatcher._cache  # type: ignore[attr-defined]
    load = cache.load_overload

    def load_or_miss(*arguments: object) -> object:
        try:
            return load(*arguments)
        except Exception:  # noqa: BLE001 - whatever a broken file makes the loader raise
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    cache.load_overload = load_or_miss
