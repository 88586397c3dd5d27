"""Data sets as numpy archives (.npz) without pickled objects.

Members: `X` (dense) or `X_data, X_indices, X_indptr, X_shape` (CSR), the same for `Y`, and
`names`: the UTF-8 bytes of a JSON object with label_names, feature_names, ids, texts,
target_classes, name. `X_train...`, `X_test...`, `Y_train...`, `Y_test...` instead hold the
parts of an official split.
"""

import io
import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset, join
from labelrank.datasets.opening import Source, open_to_write
from labelrank.errors import FormatError, InputError, LabelrankError
from labelrank.relevance import check_relevance

_LISTS = ("label_names", "feature_names", "ids", "texts", "target_classes")


def read(source: Source) -> Dataset:
    """Read an .npz data set; no option."""
    members = _members(source)
    if "Y_train" in members or "Y_train_data" in members:
        return _with_split(members, source)
    return _part(members, "", source)


def _members(source: Source) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            infos = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            size = sum(info.file_size for info in infos)
            source.limits.check("bytes", size, source.name)
            allowed = source.limits.bytes_from(len(source.content))
            if size > allowed:
                raise FormatError(f"{source.name}: more than {allowed} bytes once decompressed")
            return {i.filename[:-4]: _array(archive.read(i), i.filename) for i in infos}
    except LabelrankError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError,
            NotImplementedError, MemoryError, OverflowError, IndexError) as error:  # fmt: skip
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
    if dtype.hasobject or dtype.kind not in "biufU" or any(side < 0 for side in shape):
        raise ValueError(f"{member} holds {dtype}, not numbers or text")
    count = 1
    for side in shape:
        count *= side
    if count * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"{member} is not as long as its header says")
    flat = np.frombuffer(content, dtype, count, stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C")


def _with_split(members: dict[str, Any], source: Source) -> Dataset:
    parts = {part: _part(members, f"_{part}", source) for part in ("train", "test")}
    try:
        return join(parts, source.stem)
    except InputError as error:
        raise FormatError(f"{source.name}: {error}") from error


def _part(members: dict[str, Any], part: str, source: Source) -> Dataset:
    names = {**_names(members, "names", source), **_names(members, f"names{part}", source)}
    X, Y = (_matrix(members, f"{key}{part}", source) for key in "XY")
    if Y is None:
        raise FormatError(f"{source.name}: no Y{part} in the archive; is it a data set?")
    source.limits.check("labels", Y.shape[1], source.name)
    classes = names.get("target_classes")
    try:
        Y = check_relevance(Y) if classes is None else _codes(Y, source)
    except LabelrankError as error:
        raise FormatError(f"{source.name}: {error}") from error
    names.setdefault("label_names", [str(k) for k in range(Y.shape[1])])
    name = str(names.pop("name", source.stem)) + part.replace("_", "-")
    data = Dataset(name, X, Y, **names)
    _check_lengths(data, source)
    return data


def _codes(Y: Any, source: Source) -> Any:
    source.limits.check("cells", Y.shape[0] * Y.shape[1], source.name)
    dense = Y.toarray() if sp.issparse(Y) else Y
    return dense if np.isnan(dense).any() else dense.astype(np.int64)


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


def _names(members: dict[str, Any], key: str, source: Source) -> dict[str, Any]:
    if key not in members:
        return {}
    try:
        found = json.loads(members[key].tobytes())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{source.name}: the names are not JSON ({error})") from error
    if not isinstance(found, dict):
        raise FormatError(f"{source.name}: the names are not a JSON object")
    lists = {key: found[key] for key in _LISTS if found.get(key) is not None}
    for key, value in lists.items():
        inner = list if key == "target_classes" else str
        if not isinstance(value, list) or not all(isinstance(v, inner) for v in value):
            raise FormatError(f"{source.name}: {key} is not a list of {inner.__name__}")
    return {**lists, **({"name": found["name"]} if "name" in found else {})}


def _matrix(members: dict[str, Any], key: str, source: Source) -> Any:
    if key in members:
        dense = members[key]
        if dense.ndim != 2 or dense.dtype.kind not in "biuf":
            raise FormatError(f"{source.name}: {key} is not a matrix of numbers")
        source.limits.check("rows", dense.shape[0], source.name)
        return np.array(dense, np.float64 if dense.dtype.kind != "f" else dense.dtype)
    if f"{key}_data" not in members:
        return None
    try:
        data, indices, indptr, shape = (
            members[f"{key}_{part}"] for part in ("data", "indices", "indptr", "shape")
        )
        rows, width = (int(side) for side in shape)
        source.limits.check("rows", rows, source.name)
        source.limits.check("features", width, source.name)
        matrix = sp.csr_array((data.copy(), indices, indptr), shape=(rows, width))
        matrix.check_format(full_check=True)
    except LabelrankError:
        raise
    except (KeyError, ValueError, TypeError, OverflowError, IndexError) as error:
        raise FormatError(f"{source.name}: {key} is not a CSR matrix ({error})") from error
    matrix.sum_duplicates()
    return matrix


def write(dataset: Dataset, path: str | os.PathLike[str], format: str = "npz") -> None:
    """Write an .npz data set, its split included."""
    members: dict[str, Any] = {}
    if dataset.train is not None and dataset.test is not None:
        _add(members, dataset.train, "_train")
        _add(members, dataset.test, "_test")
    else:
        _add(members, dataset, "")
    if str(path) == "-":
        raise InputError("a numpy archive cannot go to standard output; give a path")
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
