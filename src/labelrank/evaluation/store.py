"""Results on disk, one JSON line each, under a fingerprint of all that decides them.
A line is forced to disk before the next result counts; one that was cut short is removed. The
fingerprint holds the syntax trees of all modules of labelrank that a learner imports."""

import ast
import hashlib
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import labelrank
from labelrank.atomic import BINARY, NO_WAIT, hold
from labelrank.errors import MissingError

_PACKAGE = Path(labelrank.__file__).parent
_PLACE = re.compile(r"(labelrank(?:\.\w+)+)(?::\w+)?")


class CellStore:
    """The results in a folder, in `done` by their fingerprint; one run at a time may hold it."""

    def __init__(self, folder: str | os.PathLike[str], name: str = "cells.jsonl") -> None:
        self.path = Path(folder) / name
        self.done: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | NO_WAIT | BINARY
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
            left = f"{text}\n".encode()
            while left:
                left = left[os.write(self._file, left) :]
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, size)
            advice = f"{len(self.done)} result(s) are kept: make room and run the same again"
            raise self._refusal(error, advice) from error
        self.done[record["fingerprint"]] = dict(record)

    def _hold(self) -> None:
        if not self.path.is_file():
            raise MissingError(f"{self.path} is not a regular file; give another folder")
        if not hold(self._file):
            raise MissingError(
                f"{self.path} is in use by another run; wait for it, or give another folder"
            )

    def _recover(self) -> None:
        """Read the whole lines; a last one without its end is cut off, so that none joins it."""
        content = self.path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.ftruncate(self._file, whole)
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                record = json.loads(line)
                self.done[record["fingerprint"]] = record
            except (ValueError, TypeError, KeyError):
                sentence = f"line {number} of {self.path} is damaged; its result is measured again"
                warnings.warn(sentence, stacklevel=3)

    def _refusal(self, error: OSError, advice: str) -> MissingError:
        return MissingError(f"{self.path}: cannot be written ({error.strerror or error}); {advice}")


def fingerprint(*parts: Any) -> str:
    """A short digest of settings; classes, functions and objects count by name and code."""
    return _digest(json.dumps(parts, sort_keys=True, default=_named))


def _named(value: Any) -> Any:
    """What JSON does not know: arrays by their values, all else by its name and code."""
    if hasattr(value, "tolist"):
        return value.tolist()
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__} {code(kind.__module__)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@lru_cache
def code(module: str) -> str:
    """A digest of the code of a module and of all that it imports from labelrank."""
    trees: dict[str, str] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        tree = _tree(_source(name))
        trees[name] = _digest(ast.dump(tree))
        named = {one for place in _places(tree) for one in _modules(place)}
        waiting |= named - trees.keys()
    return _digest(json.dumps(trees, sort_keys=True))


def _source(module: str) -> str:
    """The text of a module; nothing where there is none, as for compiled ones."""
    path = _file(module) or Path(getattr(sys.modules.get(module), "__file__", None) or "")
    return path.read_text(encoding="utf-8") if path.suffix == ".py" else ""


def _file(module: str) -> Path | None:
    """The file of a module of this package."""
    first, *names = module.split(".")
    stem = _PACKAGE.joinpath(*names)
    files = (stem.with_suffix(".py"), stem / "__init__.py") if first == "labelrank" else ()
    return next((file for file in files if file.is_file()), None)


def _tree(source: str) -> ast.Module:
    """The syntax tree without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            del node.body[: ast.get_docstring(node) is not None]
    return tree


def _places(tree: ast.Module) -> Iterator[str]:
    """What a module names of this package: by imports, and by text such as the catalog's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            places = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (place if _file(place) else f"{node.module}" for place in places)
            yield from (place for place in places if node.module == "labelrank")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _modules(place: str) -> list[str]:
    """The modules that make what stands at a place: one of a public class, all of a package."""
    match = _PLACE.fullmatch(place)
    file = _file(match[1]) if match else None
    if match and file is not None:
        inside = sorted(file.parent.glob("[!_]*.py")) if file.name == "__init__.py" else []
        return [match[1], *(f"{match[1]}.{other.stem}" for other in inside)]
    name = place.removeprefix("labelrank.")
    if name[:1].isupper() and name in labelrank.__all__:
        return [getattr(labelrank, name).__module__]
    return []


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
