"""Cells of a comparison on disk: one JSON line each, there the moment the cell is done.

A line is appended, flushed and forced to disk before the next cell counts, so that a run ended
at any moment loses at most the cells in progress. What such an end may leave, a line cut short, is
recognised when the file is opened again, and taken away.
"""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from labelrank.errors import MissingError

FILE = "cells.jsonl"


class CellStore:
    """The finished cells in a folder, by their fingerprint; one run at a time may hold it.

    Parameters
    ----------
    folder : path
        Made if it is not there.

    Attributes
    ----------
    done : dict
        Fingerprint to record, for every whole line of the file.

    Examples
    --------
    >>> import tempfile
    >>> from labelrank.evaluation.store import CellStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with CellStore(folder) as store:
    ...         store.add({"fingerprint": "a", "micro_f1": 0.5})
    ...     with CellStore(folder) as store:
    ...         store.done["a"]["micro_f1"]
    0.5
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / FILE
        self.done: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
            self._file = os.open(self.path, flags, 0o666)
        except OSError as error:
            raise self._refusal(error, "give a folder that you may write to") from error
        try:
            self._hold()
            self._recover()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record (it names its "fingerprint") and wait until it is on disk."""
        text = json.dumps(_finite(record), ensure_ascii=False, allow_nan=False, default=str)
        size = os.fstat(self._file).st_size
        try:
            _write_all(self._file, f"{text}\n".encode())
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, size)
            advice = f"{len(self.done)} cell(s) are kept: make room and run the same again"
            raise self._refusal(error, advice) from error
        self.done[record["fingerprint"]] = dict(record)

    def _hold(self) -> None:
        import fcntl

        if not self.path.is_file():
            raise MissingError(f"{self.path} is no plain file; give another folder")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MissingError(
                f"{self.path} is in use by another comparison; wait for it, or give another folder"
            ) from None

    def _recover(self) -> None:
        """Read the whole lines; a last one without its end is cut off, so that none joins it."""
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._file, whole)
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            record = _record(line)
            if record is None:
                warnings.warn(
                    f"line {number} of {self.path} is damaged; its cell is measured again",
                    stacklevel=3,
                )
            else:
                self.done[record["fingerprint"]] = record

    def _refusal(self, error: OSError, advice: str) -> MissingError:
        return MissingError(f"{self.path}: cannot be written ({error.strerror or error}); {advice}")


def fingerprint(*parts: Any) -> str:
    """A short digest of settings: equal for equal ones, in whatever order a mapping names them.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    text = json.dumps(parts, sort_keys=True, default=_named)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _named(value: Any) -> Any:
    """What JSON does not know: arrays by their values, functions and objects by their names."""
    if hasattr(value, "tolist"):
        return value.tolist()
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    is_cell = isinstance(found, dict) and isinstance(found.get("fingerprint"), str)
    return found if is_cell else None


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write_all(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]
