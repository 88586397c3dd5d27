"""Text of numbers: multi-label LIBSVM, extreme classification, and label rankings.

Extreme classification text is LIBSVM after a line `n d k`. Rankings are a line `n,d,q`, then d
features and q ranks per instance: rank r becomes grade q + 1 - r, and `?` is unknown.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Float64
from labelrank.datasets.arff import number
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import AnyPath, Source, open_to_write
from labelrank.datasets.pairs import check_indices, cleaned, csr, located, numbers_in, sparse_rows
from labelrank.errors import FormatError, InputError
from labelrank.relevance import check_relevance
from labelrank.rows import of_lengths

_FIRST_LINE = 1 << 10


def read(
    source: Source, *, encoding: str | None = None, n_features: int | None = None,
    n_labels: int | None = None, zero_based: bool | None = None,
    label_names: Sequence[str] | None = None,
) -> Dataset:  # fmt: skip
    """Read multi-label LIBSVM text; widths that are not given are the largest numbers met."""
    kept = [(k, line.split("#", 1)[0].rstrip()) for k, line in enumerate(source.lines(encoding), 1)]
    numbers, lines = [k for k, line in kept if line], [line for _, line in kept if line]
    if not lines:
        raise FormatError(f"{source.name}: no instance in it; 'label,label index:value' is wanted")
    source.limits.check("rows", len(lines), source.name)
    heads, bodies = _halves(lines)
    Y = _labels(heads, numbers, source, n_labels if label_names is None else len(label_names))
    X = _matrix(_features(bodies, numbers, source), n_features, zero_based, source)
    return Dataset(source.stem, X, Y, label_names=_names(label_names, Y.shape[1], source))


def _halves(lines: list[str]) -> tuple[list[str], list[str]]:
    """Labels and features of lines; one without labels begins with a blank or a feature."""
    heads, bodies = [], []
    for line in lines:
        head, _, rest = (line.replace("\t", " ") if "\t" in line else line).partition(" ")
        heads.append("" if ":" in head else head)
        bodies.append((line if ":" in head else rest).strip())
    return heads, bodies


def _labels(heads: list[str], numbers: list[int], source: Source, n_labels: int | None) -> Any:
    """Relevance by the label numbers at the beginning of each line."""
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


def _features(bodies: list[str], numbers: list[int], source: Source) -> Any:
    """CSR parts of the `index:value` pairs of each line."""

    def check(pairs: Any) -> None:
        check_indices(pairs[:, 0], source.limits.features + 1, "feature index")
        if np.isnan(pairs[:, 1]).any():
            raise ValueError("got a value NaN; leave a feature out instead")

    return sparse_rows(bodies, numbers, source.name, source.limits, (":", " "), check)


def _matrix(parts: Any, n_features: int | None, zero_based: bool | None, source: Source) -> Any:
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


def write(dataset: Dataset, path: AnyPath, format: str) -> None:
    """Write LIBSVM text, or extreme classification text; only relevant or not can be told."""
    X, Y = _plain_matrices(dataset, format)
    first, lines = (0 if format == "extreme" else 1), []
    for row in range(X.shape[0]):
        head = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        span = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = (X.indices[span] + first).tolist(), X.data[span].tolist()
        pairs = (f"{column}:{number(value)}" for column, value in zip(columns, values))
        body = " ".join(pairs) or f"{first}:0"
        lines.append(f"{head} {body}\n".encode())
    if format == "extreme":
        lines.insert(0, f"{len(lines)} {dataset.n_features} {dataset.n_labels}\n".encode())
    with open_to_write(path) as file:
        file.writelines(lines)


write_extreme = write


def _plain_matrices(dataset: Dataset, format: str) -> tuple[sp.csr_array, sp.csr_array]:
    """X and Y as CSR, if X is there and Y says no more than relevant or not."""
    if dataset.X is None:
        raise InputError(f"the {format} format holds no raw text; write jsonl, or vectorise first")
    if dataset.target_classes is not None or not (dataset.Y.data == 1).all():
        raise InputError(
            f"the {format} format holds no grades, unknown labels or classes; "
            "write jsonl, npz or arff instead"
        )
    X = cleaned(sp.csr_array(dataset.X, copy=True))
    if not np.isfinite(X.data).all():
        raise InputError(f"the {format} format holds no missing values; impute them first")
    return X, sp.csr_array(dataset.Y)


def read_extreme(
    source: Source, *, encoding: str | None = None, label_names: Sequence[str] | None = None
) -> Dataset:
    """Read extreme classification text; the header is checked against limits and content."""
    lines = source.lines(encoding)
    n, d, k = _sizes(lines[0].split() if lines else [], "instances features labels", source)
    names = _names(label_names, k, source)
    rows = lines[1:]
    while rows and not rows[-1].strip() and len(rows) > n:
        rows.pop()
    _refuse_cut(n, len(rows), source)
    numbers = list(range(2, n + 2))
    heads, bodies = _halves(rows)
    Y = _labels(heads, numbers, source, k)
    indptr, indices, data = _features(bodies, numbers, source)
    if len(indices) and indices.max() >= d:
        raise FormatError(
            f"{source.name}: got feature index {indices.max()}, but line 1 says {d} features"
        )
    return Dataset(source.stem, csr((indptr, indices, data), d), Y, label_names=names)


def declared(source: Source) -> tuple[int, int, int]:
    """Instances, features and labels by the first line of extreme classification text."""
    with source.stream() as file:
        words = file.readline(_FIRST_LINE).decode("latin-1").split()
    return _sizes(words, "instances features labels", source)


def read_rankings(
    source: Source, *, encoding: str | None = None, label_names: Sequence[str] | None = None
) -> Dataset:
    """Read label rankings; their ranks become grades."""
    lines = source.lines(encoding)
    words = [word.strip() for word in lines[0].split(",")] if lines else []
    n, d, q = _sizes(words, "instances,features,labels", source)
    rows = [(k, line) for k, line in enumerate(lines[1:], 2) if line.strip()]
    _refuse_cut(n, len(rows), source)

    def parse(part: Sequence[str]) -> Float64:
        for row in part:
            if row.count(",") != d + q - 1:
                raise ValueError(f"got {row.count(',') + 1} values, but {d} + {q} are wanted")
        table = numbers_in(",".join(part).replace("?", "nan"), ",", len(part) * (d + q))
        table = table.reshape(len(part), d + q)
        if ((table[:, d:] < 1) | (table[:, d:] > q)).any():
            raise ValueError(f"got a rank outside 1..{q}; rank 1 is the best label")
        return table

    table = located(parse, [line for _, line in rows], [k for k, _ in rows], source.name)
    Y = check_relevance(q + 1 - table[:, d:])
    names = _names(label_names, q, source)
    return Dataset(source.stem, table[:, :d].copy(), Y, label_names=names)


def _sizes(words: Sequence[str], wanted: str, source: Source) -> tuple[int, int, int]:
    """Instances, features and labels of a header line, within the limits."""
    where = f"{source.name}, line 1"
    if len(words) != 3 or not all(word.isascii() and word.isdigit() for word in words):
        raise FormatError(f"{where}: {wanted!r} is wanted")
    if max(map(len, words)) > 18:
        raise FormatError(f"{where}: got a number of more than 18 digits")
    n, d, k = map(int, words)
    for what, got in (("rows", n), ("features", d), ("labels", k)):
        source.limits.check(what, got, source.name)
    if k < 1:
        raise FormatError(f"{where}: got 0 labels; at least one is wanted")
    return n, d, k


def _names(names: Sequence[str] | None, n_labels: int, source: Source) -> list[str]:
    """The names of the labels, or "0", "1", ... where none are given."""
    if names is None:
        return [str(k) for k in range(n_labels)]
    if len(names) != n_labels:
        raise FormatError(f"{source.name}: got {len(names)} label names for {n_labels} labels")
    return list(names)


def _refuse_cut(n_said: int, n_there: int, source: Source) -> None:
    """Raise FormatError if the header says another number of instances than there are."""
    if n_said != n_there:
        raise FormatError(
            f"{source.name}: the first line says {n_said} instances, but {n_there} follow; "
            "the file is cut short or damaged"
        )
