"""Label distributions as MATLAB 5 files: `features` and `labels`, one instance a row.

The degrees to which labels describe an instance are its grades.
"""

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source
from labelrank.errors import FormatError, LabelrankError
from labelrank.relevance import check_relevance

_COMPRESSED, _MATRIX, _HEADER = 15, 14, 128
_PLAIN_CLASSES = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
_PIECE = 1 << 20


def read(source: Source, *, features: str = "features", labels: str = "labels") -> Dataset:
    """Read a MATLAB 5 file (as `save -v6` or `-v7` writes it).

    Parameters
    ----------
    source : Source
    features, labels : names of the two matrices
    """
    content = source.content
    if content.startswith(b"\x89HDF") or content[:20].startswith(b"MATLAB 7.3"):
        raise FormatError(f"{source.name}: a MATLAB 7.3 file; save it again with -v7")
    if not content.startswith(b"MATLAB 5") or len(content) < _HEADER:
        raise FormatError(f"{source.name}: not a MATLAB 5 file")
    _check_elements(content, source)
    try:
        found = scipy.io.loadmat(io.BytesIO(content), variable_names=(features, labels))
    except Exception as error:  # scipy raises many kinds of its own for damaged files
        raise FormatError(f"{source.name}: damaged MATLAB file ({str(error)[:200]})") from error
    X, Y = (_matrix(found, key, source) for key in (features, labels))
    if X.shape[0] != Y.shape[0]:
        raise FormatError(f"{source.name}: {X.shape[0]} rows of features, {Y.shape[0]} of labels")
    source.limits.check("labels", Y.shape[1], source.name)
    try:
        relevance = check_relevance(Y)
    except LabelrankError as error:
        raise FormatError(f"{source.name}: {error}") from error
    return Dataset(source.stem, X, relevance, label_names=[str(k) for k in range(Y.shape[1])])


def _matrix(found: dict[str, Any], key: str, source: Source) -> Any:
    if key not in found:
        raise FormatError(f"{source.name}: no matrix {key!r} in it; name it by an option")
    matrix = found[key]
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise FormatError(f"{source.name}: {key!r} is not a matrix of numbers")
    source.limits.check("rows", matrix.shape[0], source.name)
    source.limits.check("features", matrix.shape[1], source.name)
    return sp.csr_array(matrix) if sp.issparse(matrix) else np.array(matrix, np.float64)


def _check_elements(content: bytes, source: Source) -> None:
    """Walk the elements: sizes true, matrices of plain numbers only, no bomb inside."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise FormatError(f"{source.name}: damaged MATLAB file (byte order)")
    position, allowed = _HEADER, source.limits.bytes_from(len(content))
    while position + 8 <= len(content):
        kind, size = struct.unpack(order + "II", content[position : position + 8])
        body = content[position + 8 : position + 8 + size]
        if kind not in (_COMPRESSED, _MATRIX) or len(body) < size:
            raise FormatError(f"{source.name}: damaged or cut short MATLAB file")
        if kind == _COMPRESSED:
            first, spent = _unpacked(body, allowed, source)
            allowed -= spent
            _check_class(first[8:], order, source)
        else:
            _check_class(body, order, source)
        position += 8 + size


def _unpacked(body: bytes, allowed: int, source: Source) -> tuple[bytes, int]:
    first, spent = b"", 0
    for piece in _pieces(body, source):
        first = first or piece
        spent += len(piece)
        if spent > allowed:
            raise FormatError(f"{source.name}: too many bytes once decompressed; raise Limits")
    if len(first) < 24:
        raise FormatError(f"{source.name}: damaged MATLAB file")
    return first, spent


def _pieces(body: bytes, source: Source) -> Iterator[bytes]:
    unpacker = zlib.decompressobj()
    try:
        while not unpacker.eof and body:
            yield unpacker.decompress(body, _PIECE)
            body = unpacker.unconsumed_tail
    except zlib.error as error:
        raise FormatError(f"{source.name}: damaged MATLAB file ({error})") from error


def _check_class(body: bytes, order: str, source: Source) -> None:
    """Cells, structs, objects and functions are refused; `body` begins with array flags."""
    flags = struct.unpack(order + "I", body[8:12])[0] if len(body) >= 16 else 0
    if flags & 0xFF not in _PLAIN_CLASSES:
        raise FormatError(f"{source.name}: holds something else than matrices of numbers and text")
