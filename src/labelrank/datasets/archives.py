"""Matrices in files of numpy (.npz, .npy), without pickled objects.

Members of .npz: `X` or `X_data, X_indices, X_indptr, X_shape` (CSR), the same for `Y`, and `names`
in JSON, or arrays of text such as `label_names`; or all with `_train` and `_test`.
"""

import io
import json
import math
import zipfile
import zlib
from tokenize import TokenError
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset, join
from labelrank.datasets.opening import AnyPath, Source, open_to_write
from labelrank.errors import FormatError, InputError, LabelrankError
from labelrank.relevance import check_relevance
from labelrank.rows import canonical, check_compressed

_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError),
    *(NotImplementedError, MemoryError, OverflowError, IndexError, TypeError),
    *(SyntaxError, TokenError),  # of the header of an array, which numpy parses as a literal
)
NPY = b"\x93NUMPY"
_LISTS = ("label_names", "feature_names", "ids", "texts", "target_classes")


def read_npz(source: Source) -> Dataset:
    """Read an .npz data set; no option."""
    members = _members(source)
    if "Y_train" not in members and "Y_train_data" not in members:
        return _part(members, "", source)
    parts = {part: _part(members, f"_{part}", source) for part in ("train", "test")}
    try:
        return join(parts, source.stem)
    except InputError as error:
        raise FormatError(f"{source.name}: {error}") from error


def _members(source: Source) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            size = sum(info.file_size for info in infos)
            source.limits.check("bytes", size, source.name)
            allowed = source.limits.bytes_from(len(source.content))
            if size > allowed:
                raise FormatError(f"{source.name}: more than {allowed} bytes once decompressed")
            where = f"{source.name}: member"
            return {
                i.filename[:-4]: _array(archive.read(i), f"{where} {i.filename!r}") for i in infos
            }
    except LabelrankError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"{source.name}: not a numpy archive, or damaged ({str(error)[:200]})"
        ) from error


def _array(content: bytes, member: str) -> Any:
    """Array of a member; its header may not promise more than the bytes that follow."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"{member} has version {version}")
    one = version == (1, 0)
    header = np.lib.format.read_array_header_1_0 if one else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(stream)
    if dtype.hasobject:
        raise FormatError(
            f"{member} holds Python objects, which are not read, for they may run code; save names "
            "as np.array(names, dtype=str), and numbers as dtype=float"
        )
    if dtype.kind not in "biufUS" or any(side < 0 for side in shape):
        raise ValueError(f"{member} holds {dtype}, not numbers or text")
    count = math.prod(shape)
    if count * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"{member} is not as long as its header says")
    flat = np.frombuffer(content, dtype, count, stream.tell())
    flat = flat.astype(dtype.newbyteorder("="), copy=False)
    return flat.reshape(shape, order="F" if fortran else "C")


def matrix_of(source: Source) -> Any:
    """The matrix in a file of one array (.npy)."""
    try:
        found = _array(source.content, source.name)
    except LabelrankError:
        raise
    except _DAMAGED as error:
        raise FormatError(
            f"{source.name}: not an array of numpy, or damaged ({str(error)[:200]})"
        ) from error
    return checked_matrix(found, "the array", source)


def read_npy(source: Source) -> Dataset:
    """Read a matrix of features, such as embeddings, without labels; no option."""
    X = matrix_of(source)
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.unravel_index(int(bad.argmax()), X.shape)
        raise FormatError(
            f"{source.name}: got {X[row, column]} in row {row + 1}, column {column + 1}, where a "
            "number is wanted; fill it, leave out the row, or give a table such as CSV or Parquet, "
            "where empty cells are gaps"
        )
    return Dataset(source.stem, X, sp.csr_array((len(X), 0)))


def _part(members: dict[str, Any], part: str, source: Source) -> Dataset:
    names = {
        **_names(members, "names", source), **_names(members, f"names{part}", source),
        **_lists(members, "", source), **_lists(members, part, source),
    }  # fmt: skip
    X, Y = (_member(members, f"{key}{part}", source) for key in "XY")
    if Y is None and X is None:
        raise FormatError(f"{source.name}: no X{part} and no Y{part} in the archive")
    if Y is None:
        names["label_names"], Y = [], sp.csr_array((X.shape[0], 0))
    source.limits.check("labels", Y.shape[1], source.name)
    if names.get("target_classes") is None:
        Y = checked_relevance(Y, source) if Y.shape[1] else Y
    else:
        source.limits.check("cells", Y.shape[0] * Y.shape[1], source.name)
        Y = _codes(Y.toarray() if sp.issparse(Y) else Y, names["target_classes"], source)
    names.setdefault("label_names", [str(k) for k in range(Y.shape[1])])
    name = str(names.pop("name", source.stem)) + part.replace("_", "-")
    features = names.get("feature_names")
    is_named = features is not None and names.get("texts") is None
    reading = {"features": features} if is_named else None
    data = Dataset(name, X, Y, reading=reading, **names)
    _check_lengths(data, source)
    return data


def _codes(Y: Any, classes: list[list[str]], source: Source) -> Any:
    """Codes of classes, NaN where one is unknown; whole numbers where all are known."""
    for column, names in zip(Y.T, classes, strict=False):  # `_check_lengths` counts them
        known = column[~np.isnan(column)]
        if not ((known >= 0) & (known < len(names)) & (known == np.floor(known))).all():
            raise FormatError(f"{source.name}: a code that is none of its {len(names)} classes")
    return Y if np.isnan(Y).any() else Y.astype(np.int64)


def checked_relevance(Y: Any, source: Source) -> Any:
    try:
        return check_relevance(Y)
    except LabelrankError as error:
        raise FormatError(f"{source.name}: {error}") from error


def _check_lengths(data: Dataset, source: Source) -> None:
    for what, got, wanted in (
        ("rows of X", None if data.X is None else data.X.shape[0], data.n_instances),
        ("texts", data.texts and len(data.texts), data.n_instances),
        ("ids", data.ids and len(data.ids), data.n_instances),
        ("label names", len(data.label_names), data.n_labels),
        ("feature names", data.feature_names and len(data.feature_names), data.n_features),
        ("target classes", data.target_classes and len(data.target_classes), data.n_labels),
    ):
        if got is not None and got != wanted:
            raise FormatError(f"{source.name}: got {got} {what}, but {wanted} are wanted")
    if len(set(data.label_names)) < data.n_labels:
        raise FormatError(f"{source.name}: two labels have the same name; name each once")


def _lists(members: dict[str, Any], part: str, source: Source) -> dict[str, list[str]]:
    """Names that are arrays of text in the archive."""
    found = {}
    for key in _LISTS[:-1]:
        texts = members.get(f"{key}{part}")
        if texts is not None:
            if texts.ndim != 1 or texts.dtype.kind not in "US":
                raise FormatError(f"{source.name}: {key}{part} is no list of texts")
            texts = np.char.decode(texts, "utf-8") if texts.dtype.kind == "S" else texts
            found[key] = texts.tolist()
    return found


def _names(members: dict[str, Any], key: str, source: Source) -> dict[str, Any]:
    if key not in members:
        return {}
    try:
        found = json.loads(members[key].tobytes())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source.name}: the names are not JSON ({error})") from error
    if not isinstance(found, dict):
        raise FormatError(f"{source.name}: the names are not a JSON object")
    names = {key: found[key] for key in _LISTS if found.get(key) is not None}
    for key, value in names.items():
        lists = value if key == "target_classes" else [value]
        if not (_are(lists, list) and all(_are(one, str) for one in lists)):
            raise FormatError(f"{source.name}: {key} is not a list of texts")
    return names | ({"name": found["name"]} if "name" in found else {})


def _are(values: Any, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _member(members: dict[str, Any], key: str, source: Source) -> Any:
    if key in members:
        return checked_matrix(members[key], key, source)
    if f"{key}_data" not in members:
        return None
    try:
        data, indices, indptr, shape = (
            np.array(members[f"{key}_{part}"]) for part in ("data", "indices", "indptr", "shape")
        )
        rows, width = (int(side) for side in shape)
        check_compressed(indptr, indices, len(data), rows, width)
        matrix = sp.csr_array((data, indices, indptr), shape=(rows, width))
    except (KeyError, ValueError, TypeError, OverflowError, IndexError) as error:
        raise FormatError(f"{source.name}: {key} is not a CSR matrix ({error})") from error
    return checked_matrix(matrix, key, source)


def checked_matrix(matrix: Any, key: str, source: Source) -> Any:
    """The matrix, dense or CSR, if it is one of numbers and compiled code may follow it."""
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise FormatError(f"{source.name}: {key} is not a matrix of numbers")
    source.limits.check("rows", matrix.shape[0], source.name)
    source.limits.check("features", matrix.shape[1], source.name)
    if np.isinf(matrix.data if sp.issparse(matrix) else matrix).any():
        raise FormatError(f"{source.name}: {key} has infinite values; use NaN for what is unknown")
    if not sp.issparse(matrix):
        is_float = matrix.dtype.kind == "f" and matrix.dtype.itemsize >= 4
        return np.array(matrix, matrix.dtype if is_float else _wider(matrix.dtype))
    try:
        return sp.csr_array(canonical(matrix))
    except InputError as error:
        raise FormatError(f"{source.name}: {key} is not a CSR matrix ({error})") from error


def _wider(dtype: Any) -> Any:
    return np.float32 if dtype == np.float16 else np.float64


def write_npz(dataset: Dataset, path: AnyPath, format: str) -> None:
    """Write an .npz data set, its split included."""
    if str(path) == "-":
        raise InputError("a numpy archive cannot go to standard output; give a path")
    members: dict[str, Any] = {}
    if dataset.train is not None and dataset.test is not None:
        _add(members, dataset.train, "_train")
        _add(members, dataset.test, "_test")
    else:
        _add(members, dataset, "")
    packed = io.BytesIO()
    np.savez_compressed(packed, **members)
    with open_to_write(path) as file:
        file.write(packed.getbuffer())


def _add(members: dict[str, Any], data: Dataset, part: str) -> None:
    for key, matrix in ((f"X{part}", data.X), (f"Y{part}", data.Y)):
        if sp.issparse(matrix):
            csr = sp.csr_array(matrix)
            members[f"{key}_data"], members[f"{key}_indices"] = csr.data, csr.indices
            members[f"{key}_indptr"], members[f"{key}_shape"] = csr.indptr, np.array(csr.shape)
        elif matrix is not None:
            members[key] = np.asarray(matrix)
    names = {key: getattr(data, key) for key in _LISTS}
    if not part:
        names["name"] = data.name
    members[f"names{part}"] = np.frombuffer(json.dumps(names).encode(), np.uint8)
