"""The file: a safetensors container whose metadata holds one JSON document and a checksum.

The document begins with `{"checksum":"`, so the 64 digits stand at a fixed place: they are the
SHA-256 of the whole file with these digits written as zeros, and every bit is covered.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from safetensors import SafetensorError, safe_open

from labelrank._types import Array
from labelrank.atomic import atomic_write
from labelrank.errors import ModelFileError

MAX_HEADER_BYTES = 2**25
MAX_TENSORS = 2**19
MAX_DIGITS = 400
TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "I16": np.dtype("<i2"), "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"), "U32": np.dtype("<u4"), "U16": np.dtype("<u2"), "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}  # fmt: skip
_CODES: dict[Any, str] = {dtype: code for code, dtype in TYPES.items()}

_PREFIX = b'{"__metadata__":{"labelrank":"{\\"checksum\\":\\"'
_DIGEST_AT = 8 + len(_PREFIX)
_DIGITS = 64
_BLANK = "0" * _DIGITS
_CHUNK = 2**22


def write(
    path: str | os.PathLike[str], document: dict[str, Any], tensors: dict[str, Array]
) -> None:
    """Write document and tensors; the same ones always give the same bytes."""
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header = _header(document, [(name, tensors[name]) for name in names])
    blocks: list[Any] = [header, *(tensors[name].reshape(-1).view(np.uint8) for name in names)]
    digest = hashlib.sha256()
    with atomic_write(path, "wb") as file:
        for block in blocks:
            digest.update(block)
            file.write(block)
        file.seek(_DIGEST_AT)
        file.write(digest.hexdigest().encode())


def _header(document: dict[str, Any], tensors: list[tuple[str, Array]]) -> bytes:
    text = json.dumps({"checksum": _BLANK, **document}, allow_nan=False, separators=(",", ":"))
    header: dict[str, Any] = {"__metadata__": {"labelrank": text}}
    start = 0
    for name, array in tensors:
        stop = start + array.nbytes
        shape = list(array.shape)
        code = _CODES[array.dtype]
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [start, stop]}
        start = stop
    raw = json.dumps(header, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    if len(raw) > MAX_HEADER_BYTES or len(tensors) > MAX_TENSORS:
        raise ModelFileError(
            f"the model has {len(tensors)} arrays and {len(raw)} bytes of structure, more than a "
            f"model file holds ({MAX_TENSORS} and {MAX_HEADER_BYTES}); use a linear learner of "
            "labelrank, which keeps all labels in one array"
        )
    return len(raw).to_bytes(8, "little") + raw


def read_document(path: Path, max_bytes: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document and the declared tensors, read from the header alone."""
    with _opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if max_bytes is not None and size > max_bytes:
            what = f"{path} has {size} bytes, but at most {max_bytes} are allowed"
            raise ModelFileError(f"{what}; raise max_bytes")
        header = _read_header(path, file, size)
    declared = _strict(path, header)
    metadata = declared.pop("__metadata__", None)
    if not isinstance(metadata, dict) or set(metadata) != {"labelrank"}:
        raise _damaged(path, "its metadata are not those of a model")
    document = _strict(path, metadata["labelrank"])
    return document, _check_declared(path, declared, size - 8 - len(header))


def _read_header(path: Path, file: IO[bytes], size: int) -> bytes:
    if size == 0:
        raise ModelFileError(f"{path} is empty, not a labelrank model; save the model again")
    start = file.read(_DIGEST_AT)
    if start[8:] != _PREFIX[: len(start[8:])] or len(start) < 8:
        advice = "give one that labelrank has saved"
        raise ModelFileError(f"{path} is not a labelrank model file; {advice}")
    length = int.from_bytes(start[:8], "little")
    if length > MAX_HEADER_BYTES:
        raise _damaged(path, f"its header claims {length} bytes, the most is {MAX_HEADER_BYTES}")
    if 8 + length > size or len(start) < _DIGEST_AT or length < len(_PREFIX):
        raise _damaged(path, f"its {size} bytes end before its header does")
    return start[8:] + file.read(length - len(_PREFIX))


def _check_declared(path: Path, declared: dict[str, Any], room: int) -> dict[str, Any]:
    """Shapes and types must fill the file's tensor bytes exactly, before anything is allocated."""
    if len(declared) > MAX_TENSORS:
        raise _damaged(path, f"it declares {len(declared)} arrays, the most is {MAX_TENSORS}")
    total = 0
    for name, entry in declared.items():
        entry = entry if isinstance(entry, dict) else {}
        dtype, shape = TYPES.get(str(entry.get("dtype"))), entry.get("shape")
        if (
            dtype is None or not isinstance(shape, list) or len(shape) > 8
            or not all(type(side) is int and 0 <= side < 2**48 for side in shape)
        ):  # fmt: skip
            raise _damaged(path, f"array {name!r} has no usable type and shape")
        total += math.prod(shape) * dtype.itemsize
    if total != room:
        raise _damaged(path, f"its arrays need {total} bytes but {room} are there")
    return declared


def verify(path: Path, document: dict[str, Any]) -> None:
    """Compare the checksum of the whole file with the one it states."""
    digest = hashlib.sha256()
    with _opened(path) as file:
        digest.update(file.read(_DIGEST_AT) + _BLANK.encode())
        file.seek(_DIGEST_AT + _DIGITS)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    if document.get("checksum") != digest.hexdigest():
        raise _damaged(path, "its checksum does not match its contents")


def stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when the file is replaced or rewritten; None where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def tensors(path: Path) -> Iterator[Any]:
    """The memory-mapped container: `get_tensor(name)` copies one array out."""
    try:
        with safe_open(path, framework="numpy") as container:
            yield container
    except (SafetensorError, OSError) as error:
        raise _damaged(path, f"its arrays cannot be read ({error})") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder; give the path of a model file")
    if path.exists() and not path.is_file():
        raise ModelFileError(f"{path} is not a plain file; give the path of a model file")
    try:
        with path.open("rb") as file:
            yield file
    except ModelFileError:
        raise
    except FileNotFoundError as error:
        raise ModelFileError(f"there is no model file {path}; check the path") from error
    except (OSError, ValueError) as error:
        raise ModelFileError(f"{path} cannot be read ({error}); check its permissions") from error


def _strict(path: Path, text: Any) -> dict[str, Any]:
    try:
        found = parse(text)
    except ValueError as error:
        raise _damaged(path, f"its header is no valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise _damaged(path, "its header is not the one of a model")
    return found


def _damaged(path: Path, why: str) -> ModelFileError:
    return ModelFileError(f"{path} is damaged or was altered ({why}); restore or save it again")


def parse(text: str | bytes) -> Any:
    """The value of a JSON text without repeated keys, NaN, endless integers or deep nesting."""
    if not isinstance(text, str | bytes):
        raise ValueError(f"{type(text).__name__} in place of text")
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_finite,
            parse_int=_short_integer, parse_float=_finite,
        )  # fmt: skip
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _short_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(float(digits)):
        raise ValueError(f"the number {digits[:20]}")
    return float(digits)
