"""Named sets of feature vectors: how each is built from its files."""

import io
import struct
import zipfile
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset, join
from labelrank.datasets.opening import Source
from labelrank.datasets.registry import Content, Folders
from labelrank.errors import FormatError, InputError
from labelrank.relevance import check_relevance

_DAMAGED_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError),
    *(KeyError, TypeError, ValueError, EOFError, OSError, SyntaxError),
)
# Whether each column is nominal.
_BRIDGE_COLUMNS = {
    "river": True, "location": False, "erected": True, "purpose": True, "length": True,
    "lanes": False, "clear-g": True, "t-or-d": True, "material": True, "span": True,
    "rel-l": True, "type": True,
}  # fmt: skip


def mulan(folders: Folders, *, nominal: str = "ordinal") -> Dataset:
    """ARFF with XML, in one file or in train and test files."""
    from labelrank.datasets import mulan as reader

    *files, xml = folders.files
    labels = folders.path(xml)
    found = [
        reader.read(folders.source(file), "mulan", xml=labels, nominal=nominal) for file in files
    ]
    if len(found) == 1:
        return replace(found[0], name=folders.name)
    return join(dict(zip(("train", "test"), found)), folders.name)


def meka(folders: Folders, *, nominal: str = "ordinal") -> Dataset:
    """ARFF whose relation name says which attributes are targets."""
    from labelrank.datasets import mulan as reader

    return replace(
        reader.read_meka(folders.source(folders.files[0]), nominal=nominal), name=folders.name
    )


def class_targets(folders: Folders, *, n_targets: int, nominal: str = "ordinal") -> Dataset:
    """ARFF whose last attributes are targets, each distinct value a class."""
    return _last_columns(folders, folders.source(folders.files[0]), n_targets, nominal, "classes")


def graded_targets(folders: Folders, *, n_targets: int, nominal: str = "ordinal") -> Dataset:
    """ARFF whose last attributes are the grades of labels."""
    return _last_columns(folders, folders.source(folders.files[0]), n_targets, nominal, "relevance")


def _last_columns(
    folders: Folders, source: Source, n_targets: int, nominal: str, targets: str
) -> Dataset:
    from labelrank.datasets import mulan as reader

    found = reader.read(source, n_labels=n_targets, nominal=nominal, targets=targets)
    return replace(found, name=folders.name)


def bridges(folders: Folders, *, nominal: str = "ordinal", missing: str = "unknown") -> Dataset:
    """Pittsburgh bridges: seven features, five design targets, unknown ones among both.

    `missing` targets are "unknown" (NaN), a "class" of their own, or "drop" their instances.
    """
    if missing not in ("unknown", "class", "drop"):
        raise InputError(f"got missing={missing!r}; use 'unknown', 'class' or 'drop'")
    source = folders.source(folders.files[0])
    rows = [line.split(",") for line in source.lines() if line.strip()]
    if any(len(row) != len(_BRIDGE_COLUMNS) + 1 for row in rows):
        raise FormatError(f"{source.name}: 13 columns are wanted in each line; get the file again")
    table = Content(source.name, _as_arff([row[1:] for row in rows]), folders.limits)
    dataset = _last_columns(folders, table, 5, nominal, "classes")
    dataset.ids = [row[0] for row in rows]
    return _settled(dataset, missing)


def _as_arff(rows: list[list[str]]) -> bytes:
    lines = ["@relation bridges"]
    for k, (name, is_nominal) in enumerate(_BRIDGE_COLUMNS.items()):
        values = sorted({row[k] for row in rows} - {"?"})
        lines.append(
            f"@attribute {name} {'{' + ','.join(values) + '}' if is_nominal else 'numeric'}"
        )
    return "\n".join([*lines, "@data", *map(",".join, rows), ""]).encode()


def _settled(dataset: Dataset, missing: str) -> Dataset:
    """The data set with its unknown targets dealt with as asked."""
    unknown = np.isnan(dataset.Y)
    if missing == "unknown" or not unknown.any():
        return dataset
    if missing == "drop":
        kept = dataset.subset(~unknown.any(axis=1))
        return replace(kept, Y=kept.Y.astype(np.int64))
    classes = [list(names) for names in dataset.target_classes or []]
    Y = dataset.Y.copy()
    for k in np.flatnonzero(unknown.any(axis=0)):
        Y[unknown[:, k], k] = len(classes[k])
        classes[k].append("?")
    return replace(dataset, Y=Y.astype(np.int64), target_classes=classes)


def rcv1v2(folders: Folders) -> Dataset:
    """News of 1996 and 1997 as term vectors; topic codes with their parents in the hierarchy."""
    from labelrank.datasets import libsvm

    topics = folders.source(folders.files[-1])
    try:
        codes = [
            (code, parent) for _, code, parent in (line.split("\t") for line in topics.lines())
        ]
    except ValueError as error:
        raise FormatError(f"{topics.name}: index, topic and parent are wanted in a line") from error
    parts = {}
    for part, file in zip(("train", "test"), folders.files):
        found = libsvm.read(
            folders.source(file), n_features=47236, n_labels=len(codes), zero_based=False
        )
        parents = [parent or None for _, parent in codes]
        parts[part] = replace(found, label_names=[code for code, _ in codes], label_parents=parents)
    return join(parts, folders.name)


def yahoo(folders: Folders) -> Dataset:
    """Web pages of one Yahoo directory; labels and words have no names."""
    source = folders.source(folders.files[0])
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            declared = sum(member.file_size for member in archive.infolist())
        source.limits.check("bytes", declared, source.name)
        with np.load(io.BytesIO(source.content), allow_pickle=False) as arrays:
            parts = {part: _yahoo_part(arrays, part) for part in ("train", "test")}
    except FormatError:
        raise
    except _DAMAGED_ARCHIVE as error:
        raise FormatError(
            f"{source.name}: not the archive wanted ({error}); get it again"
        ) from error
    return join(parts, folders.name)


def _yahoo_part(arrays: Any, part: str) -> Dataset:
    indices = arrays[f"X_{part}_indices"].astype(np.int32)
    content = (arrays[f"X_{part}_data"], indices, arrays[f"X_{part}_indptr"])
    X = sp.csr_array(content, shape=tuple(arrays[f"X_{part}_shape"].tolist()))
    X.check_format(full_check=True)
    Y = check_relevance(arrays[f"Y_{part}"], n_rows=X.shape[0])
    return Dataset(part, X, Y, label_names=[f"label {k + 1}" for k in range(Y.shape[1])])


def distribution(folders: Folders) -> Dataset:
    """Label distributions: grades are the degrees to which the labels describe an instance."""
    from labelrank.datasets import mat

    return replace(mat.read(folders.source(folders.files[0])), name=folders.name)


def ranking(folders: Folders) -> Dataset:
    """Rankings of labels, best rank the highest grade; loose or in the archive of all."""
    from labelrank.datasets import rankings

    return replace(rankings.read(folders.source(folders.files[0])), name=folders.name)
