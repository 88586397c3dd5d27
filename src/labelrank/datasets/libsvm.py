"""Multi-label LIBSVM text: `label,label index:value index:value ...`, one instance per line.

A label number is its column. Features count from 1, unless an index 0 occurs or
`zero_based=True`. `# comment` ends a line; `qid:n` is not for multi-label data and refused.
Extreme classification text is the same with a first line `n d k`, all numbered from 0.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.arff import number
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source, open_to_write
from labelrank.datasets.pairs import (
    check_indices,
    csr,
    given_names,
    located,
    numbers_in,
    refuse_cut,
    sizes_in,
    sparse_rows,
)
from labelrank.errors import FormatError, InputError
from labelrank.relevance import check_relevance
from labelrank.rows import of_lengths


def read(
    source: Source,
    *,
    encoding: str | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | None = None,
    label_names: Sequence[str] | None = None,
) -> Dataset:
    """Read multi-label LIBSVM text.

    Parameters
    ----------
    source : Source
    encoding : str or None
    n_features, n_labels : columns of X and Y; None takes the largest number met
    zero_based : whether features count from 0; None: only if an index 0 occurs
    label_names : names of the label columns, which also gives their number
    """
    lines, numbers = _instances(source.lines(encoding))
    if not lines:
        raise FormatError(f"{source.name}: no instance in it; 'label,label index:value' is wanted")
    source.limits.check("rows", len(lines), source.name)
    names = None if label_names is None else list(label_names)
    Y = labels(lines, numbers, source, len(names) if names is not None else n_labels)
    parts = features(lines, numbers, source)
    X = _matrix(parts, n_features, zero_based, source)
    return Dataset(source.stem, X, Y, label_names=names or [str(k) for k in range(Y.shape[1])])


def _instances(lines: list[str]) -> tuple[list[str], list[int]]:
    """Lines that hold an instance, with their numbers; a blank in front means no label."""
    kept = [(k, line.split("#", 1)[0].rstrip()) for k, line in enumerate(lines, 1)]
    kept = [(k, line) for k, line in kept if line]
    return [line for _, line in kept], [k for k, _ in kept]


def _halves(line: str) -> tuple[str, str]:
    """Labels and features of a line; without labels it begins with a blank or a feature."""
    head, _, rest = (line.replace("\t", " ") if "\t" in line else line).partition(" ")
    return ("", line) if ":" in head else (head, rest)


def labels(
    lines: list[str], numbers: list[int], source: Source, n_labels: int | None
) -> sp.csr_array:
    """Relevance by the label numbers at the beginning of each line."""
    heads = [_halves(line)[0] for line in lines]
    allowed = min(n_labels or source.limits.labels, source.limits.labels)

    def parse(part: Sequence[str]) -> Any:
        counts = np.array([head.count(",") + 1 if head else 0 for head in part])
        found = numbers_in(",".join(head for head in part if head), ",", int(counts.sum()))
        check_indices(found, allowed, "label")
        return counts, found.astype(np.int64)

    counts, columns = located(parse, heads, numbers, source.name)
    width = n_labels or int(columns.max(initial=0)) + 1
    Y = of_lengths(counts, columns, np.ones(len(columns)), width)
    Y.sum_duplicates()
    Y.data[:] = 1
    return check_relevance(Y)


def features(lines: list[str], numbers: list[int], source: Source) -> Any:
    """CSR parts of the `index:value` pairs of each line."""

    def check(pairs: Any) -> None:
        check_indices(pairs[:, 0], source.limits.features + 1, "feature index")
        if np.isnan(pairs[:, 1]).any():
            raise ValueError("got a value NaN; leave a feature out instead")

    bodies = [_halves(line)[1].strip() for line in lines]
    return sparse_rows(bodies, numbers, source.name, source.limits, (":", " "), check)


def _matrix(
    parts: Any, n_features: int | None, zero_based: bool | None, source: Source
) -> sp.csr_array:
    indptr, indices, data = parts
    has_zero = len(indices) > 0 and indices.min() == 0
    if has_zero and zero_based is False:
        raise FormatError(f"{source.name}: got feature index 0 with zero_based=False")
    if not (has_zero if zero_based is None else zero_based):
        indices = indices - 1
    width = int(indices.max(initial=-1)) + 1
    source.limits.check("features", max(width, n_features or 0), source.name)
    if n_features is not None and width > n_features:
        raise FormatError(
            f"{source.name}: got {width} features, but n_features={n_features} are expected"
        )
    return csr((indptr, indices, data), n_features or width)


def write(dataset: Dataset, path: str | os.PathLike[str], format: str = "libsvm") -> None:
    """Write LIBSVM text, features from 1; only relevant or not can be told."""
    with open_to_write(path) as file:
        for line in lines_of(dataset, 1, format):
            file.write(line.encode())


def lines_of(dataset: Dataset, first_index: int, format: str) -> list[str]:
    """One line an instance; features from `first_index`."""
    X, Y = plain_matrices(dataset, format)
    lines = []
    for row in range(X.shape[0]):
        head = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        span = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = (X.indices[span] + first_index).tolist(), X.data[span].tolist()
        pairs = (f"{column}:{number(value)}" for column, value in zip(columns, values))
        body = " ".join(pairs) or f"{first_index}:0"
        lines.append(f"{head} {body}\n")
    return lines


def plain_matrices(dataset: Dataset, format: str) -> tuple[sp.csr_array, sp.csr_array]:
    """X and Y as CSR, if X is there and Y says no more than relevant or not."""
    if dataset.X is None:
        raise InputError(f"the {format} format holds no raw text; write jsonl, or vectorise first")
    if dataset.target_classes is not None or not (dataset.Y.data == 1).all():
        raise InputError(
            f"the {format} format holds no grades, unknown labels or classes; "
            "write jsonl, npz or arff instead"
        )
    X = csr_of(dataset.X)
    if not np.isfinite(X.data).all():
        raise InputError(f"the {format} format holds no missing values; impute them first")
    return X, sp.csr_array(dataset.Y)


def csr_of(X: Any) -> sp.csr_array:
    """Sorted CSR without stored zeros, the given matrix left as it is."""
    X = sp.csr_array(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def read_extreme(
    source: Source, *, encoding: str | None = None, label_names: Sequence[str] | None = None
) -> Dataset:
    """Read extreme classification text; the header is checked against limits and content.

    Parameters
    ----------
    source : Source
    encoding : str or None
    label_names : names of the k label columns; "0", "1", ... if None
    """
    lines = source.lines(encoding)
    words = lines[0].split() if lines else []
    n, d, k = sizes_in(words, "instances features labels", source)
    names = given_names(label_names, k, source)
    rows = lines[1:]
    while rows and not rows[-1].strip() and len(rows) > n:
        rows.pop()
    refuse_cut(n, len(rows), source)
    numbers = list(range(2, n + 2))
    Y = labels(rows, numbers, source, k)
    indptr, indices, data = features(rows, numbers, source)
    if len(indices) and indices.max() >= d:
        raise FormatError(
            f"{source.name}: got feature index {indices.max()}, but line 1 says {d} features"
        )
    return Dataset(source.stem, csr((indptr, indices, data), d), Y, label_names=names)


def write_extreme(dataset: Dataset, path: str | os.PathLike[str], format: str) -> None:
    """Write extreme classification text; only relevant or not can be told."""
    lines = lines_of(dataset, 0, format)
    with open_to_write(path) as file:
        file.write(f"{len(lines)} {dataset.n_features} {dataset.n_labels}\n".encode())
        for line in lines:
            file.write(line.encode())
