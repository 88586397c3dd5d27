"""Files appear whole or not at all: written beside their place, then moved into it.

What a killed process has left half written beside a place is cleared by the next one that writes
there. Who writes holds a lock on its temporary file, so nobody clears what is still written.
"""

import errno
import importlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from labelrank.errors import InputError, MissingError

# Flags of `open` that are not everywhere.
NO_WAIT, BINARY, NO_LINK = (
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_BINARY", "O_NOFOLLOW")
)
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK)
_FAR = 2**30  # Windows locks bytes, which nobody can read meanwhile: one beyond what is there


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """Open a temporary file in the folder of `path` that replaces `path` when the block succeeds.

    If the block raises, the old file stays as it was and the temporary one is removed. The
    bytes are on disk (fsync) before the name changes. `mode` is "wb" for bytes, or "w" for text
    with newlines written as they are.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "scores.txt", "w") as file:
    ...         _ = file.write("done")
    ...     (Path(folder) / "scores.txt").read_text()
    'done'
    """
    if mode not in ("wb", "w"):
        raise InputError(f"got mode {mode!r}; use 'wb' for bytes or 'w' for text")
    target = Path(os.path.realpath(path))
    text: dict[str, Any] = {} if mode == "wb" else {"encoding": "utf-8", "newline": ""}
    descriptor, temporary = _temporary(target)
    try:
        with open(descriptor, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode_of(target))
        os.replace(temporary, target)
    except OSError as error:
        raise MissingError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    with suppress(OSError):
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_writable(path: str | os.PathLike[str] | None, *inputs: Any) -> None:
    """Refuse a path that `atomic_write` would refuse, or a file that is read, before hours of work;
    None is no path.

    >>> check_writable("/")
    Traceback (most recent call last):
    labelrank.errors.MissingError: / is a folder; give the path of a file to write
    """
    if path is not None:
        for read in inputs:
            if read is not None and _are_one(path, read):
                raise InputError(f"got {path} to write, which is read too; name another file")
        descriptor, temporary = _temporary(Path(os.path.realpath(path)))
        os.close(descriptor)
        os.unlink(temporary)


def _are_one(path: str | os.PathLike[str], other: Any) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def hold(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if another process has locked it."""
    try:
        fcntl: Any = importlib.import_module("fcntl")
    except ImportError:
        fcntl = None
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt: Any = importlib.import_module("msvcrt")
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise
    return True


def _temporary(target: Path) -> tuple[int, str]:
    """A new file beside the target, held by this process."""
    if target.is_dir():
        raise MissingError(f"{target} is a folder; give the path of a file to write")
    if target.exists() and not target.is_file():
        raise MissingError(f"{target} is a device or pipe; give the path of a plain file to write")
    prefix = f".{target.name[:100]}."
    _clear(target.parent, re.compile(re.escape(prefix) + r"\w{8}\.part"))
    try:
        while True:
            descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=".part", dir=target.parent)
            with suppress(OSError):  # a file system without locks: then nobody clears there either
                hold(descriptor)
            if os.path.exists(name):  # else it was taken for a left one before it was held
                return descriptor, name
            os.close(descriptor)
    except OSError as error:
        reason = error.strerror or error
        raise MissingError(
            f"{target}: cannot be written ({reason}); give a folder that exists and is writable"
        ) from error


def _clear(folder: Path, temporary: re.Pattern[str]) -> None:
    """Remove temporary files that no living process holds."""
    with suppress(OSError):
        for name in filter(temporary.fullmatch, os.listdir(folder)):
            _clear_one(folder / name)


def _clear_one(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | NO_WAIT | NO_LINK | BINARY)
        try:
            if hold(descriptor):
                os.unlink(path)
        finally:
            os.close(descriptor)


def _mode_of(target: Path) -> int:
    """Permissions of the file that is replaced, or those a plain `open` would give."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
