"""Files appear whole or not at all: written beside their place, then moved into it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from labelrank.errors import InputError, MissingError


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


def check_writable(path: str | os.PathLike[str] | None) -> None:
    """Refuse a path that `atomic_write` would refuse, before hours of work; None is no path.

    >>> check_writable("/")
    Traceback (most recent call last):
    labelrank.errors.MissingError: / is a folder; give the path of a file to write
    """
    if path is not None:
        descriptor, temporary = _temporary(Path(os.path.realpath(path)))
        os.close(descriptor)
        os.unlink(temporary)


def _temporary(target: Path) -> tuple[int, str]:
    if target.is_dir():
        raise MissingError(f"{target} is a folder; give the path of a file to write")
    if target.exists() and not target.is_file():
        raise MissingError(f"{target} is a device or pipe; give the path of a plain file to write")
    try:
        return tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    except OSError as error:
        reason = error.strerror or error
        raise MissingError(
            f"{target}: cannot be written ({reason}); give a folder that exists and is writable"
        ) from error


def _mode_of(target: Path) -> int:
    """Permissions of the file that is replaced, or those a plain `open` would give."""
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
