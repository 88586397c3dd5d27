"""Extreme classification text: a line `n d k`, then one LIBSVM line an instance, all from 0."""

import os
from collections.abc import Sequence

from labelrank.datasets import libsvm
from labelrank.datasets.dataset import Dataset
from labelrank.datasets.opening import Source, open_to_write
from labelrank.datasets.pairs import csr, given_names, refuse_cut, sizes_in
from labelrank.errors import FormatError


def read(
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
    Y = libsvm.labels(rows, numbers, source, k)
    indptr, indices, data = libsvm.features(rows, numbers, source)
    if len(indices) and indices.max() >= d:
        raise FormatError(
            f"{source.name}: got feature index {indices.max()}, but line 1 says {d} features"
        )
    return Dataset(source.stem, csr((indptr, indices, data), d), Y, label_names=names)


def write(dataset: Dataset, path: str | os.PathLike[str], format: str = "extreme") -> None:
    """Write extreme classification text; only relevant or not can be told."""
    lines = libsvm.lines_of(dataset, 0, format)
    with open_to_write(path) as file:
        file.write(f"{len(lines)} {dataset.n_features} {dataset.n_labels}\n".encode())
        for line in lines:
            file.write(line.encode())
