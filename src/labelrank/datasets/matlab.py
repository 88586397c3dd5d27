"""MATLAB 5 files (.mat): a matrix of features and one of labels, as grades.

They are read here, as scipy looks types up without a check and dies of damaged ones. A file is a
row of elements: a type, a size and so many bytes. Those of a matrix are elements again: flags,
sides, name, then the values; before those of a sparse one its row indices and column pointers.
"""

import struct
import zlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.archives import checked_matrix, checked_relevance
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source
from labelrank.errors import FormatError, InputError, LabelrankError
from labelrank.rows import check_compressed

_COMPRESSED, _MATRIX, _HEADER = 15, 14, 128
_ORDERS = {b"IM": "<", b"MI": ">"}
_TYPES = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
    16: "u1", 17: "u2", 18: "u4",  # of text
}  # fmt: skip
_TEXT, _SPARSE, _PLAIN_CLASSES = 4, 5, range(4, 16)
_COMPLEX = 0x0800
_PIECE = 1 << 20


def read_mat(source: Source, *, features: str = "features", labels: str = "labels") -> Dataset:
    """Read a MATLAB 5 file, as `save -v6` or `-v7` writes it; the options name the matrices."""
    content = source.content
    if content.startswith(b"\x89HDF") or content[:20].startswith(b"MATLAB 7.3"):
        raise FormatError(f"{source.name}: a MATLAB 7.3 file; save it again with -v7")
    if not content.startswith(b"MATLAB 5") or len(content) < _HEADER:
        raise FormatError(f"{source.name}: not a MATLAB 5 file")
    try:
        found = dict(_matrices(content, (features, labels), source))
    except LabelrankError:
        raise
    except (ValueError, KeyError, OverflowError, struct.error, zlib.error) as error:
        raise FormatError(
            f"{source.name}: damaged or cut short MATLAB file ({str(error)[:200]})"
        ) from error
    for key in (features, labels):
        if key not in found:
            raise FormatError(f"{source.name}: no matrix {key!r} in it; name it by an option")
    X, Y = (checked_matrix(found[key], key, source) for key in (features, labels))
    if X.shape[0] != Y.shape[0]:
        raise FormatError(f"{source.name}: {X.shape[0]} rows of features, {Y.shape[0]} of labels")
    source.limits.check("labels", Y.shape[1], source.name)
    names = [str(k) for k in range(Y.shape[1])]
    return Dataset(source.stem, X, checked_relevance(Y, source), label_names=names)


def _matrices(content: bytes, wanted: tuple[str, ...], source: Source) -> Iterator[tuple[str, Any]]:
    """The wanted matrices by name; whatever else there is must be plain numbers or text."""
    order = _ORDERS[content[126:128]]
    position, allowed = _HEADER, source.limits.bytes_from(len(content))
    while position + 8 <= len(content):
        kind, body = _element(memoryview(content)[position:], order)
        position += 8 + len(body)
        if kind == _COMPRESSED:
            unpacked = _unpacked(body, allowed, source)
            allowed -= len(unpacked)
            kind, body = _element(unpacked, order)
        if kind != _MATRIX:
            raise ValueError(f"element of type {kind}")
        parts = _parts(body, order)
        flags, sides, name = islice(parts, 3)
        if flags[0] & 0xFF not in _PLAIN_CLASSES:  # cells, structs, objects and functions
            raise FormatError(
                f"{source.name}: holds something else than matrices of numbers and text"
            )
        key = name.tobytes().decode("latin-1")
        if key in wanted:
            yield key, _matrix(int(flags[0]), sides.tolist(), list(parts), f"{source.name}: {key}")


def _matrix(flags: int, sides: list[int], parts: list[Any], where: str) -> Any:
    """The matrix, dense or CSC, of what stands in its elements."""
    if flags & 0xFF == _TEXT or flags & _COMPLEX or len(sides) != 2:
        raise FormatError(f"{where} is not a matrix of numbers")
    *places, values = parts
    values = values.astype(np.float64)
    if flags & 0xFF != _SPARSE:
        return values.reshape(sides, order="F")
    indices, indptr = places
    try:
        check_compressed(indptr, indices, len(values), *sides[::-1])
    except InputError as error:
        raise FormatError(f"{where} is not a CSR matrix ({error})") from error
    used = slice(int(indptr[-1]))
    return sp.csc_array((values[used], indices[used], indptr), shape=tuple(sides))


def _element(content: Any, order: str) -> tuple[int, memoryview]:
    """Type and bytes of the element at the beginning."""
    kind, size = struct.unpack_from(f"{order}II", content)
    body = memoryview(content)[8 : 8 + size]
    if len(body) < size:
        raise ValueError(f"an element of {size} bytes, but {len(body)} are left")
    return kind, body


def _parts(body: memoryview, order: str) -> Iterator[Any]:
    """The numbers of each element of a matrix."""
    position = 0
    while position + 8 <= len(body):
        (head,) = struct.unpack_from(f"{order}I", body, position)
        if head >> 16:  # at most four bytes, in the place of the size
            kind, size, start = head & 0xFFFF, head >> 16, position + 4
            position += 8
        else:
            kind, inner = _element(body[position:], order)
            size, start = len(inner), position + 8
            position = start + -(-size // 8) * 8
        if kind not in _TYPES:
            raise ValueError(f"numbers of type {kind}")
        yield np.frombuffer(body[start : start + size], order + _TYPES[kind])


def _unpacked(body: memoryview, allowed: int, source: Source) -> bytes:
    unpacker, pieces, spent = zlib.decompressobj(), [], 0
    while not unpacker.eof and body:
        pieces.append(unpacker.decompress(body, _PIECE))
        body, spent = memoryview(unpacker.unconsumed_tail), spent + len(pieces[-1])
        if spent > allowed:
            raise FormatError(f"{source.name}: too many bytes once decompressed; raise Limits")
    return b"".join(pieces)
