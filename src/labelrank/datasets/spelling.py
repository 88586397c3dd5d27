"""Labels that differ only by case or spaces, made one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset
from labelrank.relevance import relevant_part


def spelled(name: str) -> str:
    """What all spellings of a label have in common.

    >>> spelled(" Public  Library") == spelled("public library")
    True
    """
    return " ".join(name.split()).casefold()


def merged(dataset: Dataset, known: list[str]) -> Dataset:
    """The data set with one label for all its spellings: a known one, else the most frequent.

    `known` gets the new label names; the reading has it, so that other data are merged alike.
    """
    if dataset.target_classes is not None:
        return dataset
    names = _chosen_names(dataset, known)
    to_name = {name: names[spelled(name)] for name in dataset.label_names}
    made = _renamed(dataset, to_name)
    met = set(known)
    known.extend(name for name in made.label_names if name not in met)
    reading = {**(dataset.reading or {}), "spellings": known}
    parts: dict[str, Any] = {
        part: replace(_renamed(one, to_name), reading=reading)
        for part, one in dataset.parts.items()
    }
    n = dataset.n_labels - made.n_labels
    told = [f"Labels that are another spelling of one were merged: {n:,}."] * (n > 0)
    return replace(made, reading=reading, remarks=[*dataset.remarks, *told], **parts)


def _chosen_names(dataset: Dataset, known: Sequence[str]) -> dict[str, str]:
    """The name of each label by what its spellings have in common."""
    counts = np.bincount(relevant_part(dataset.Y).indices, minlength=dataset.n_labels).tolist()
    chosen = {spelled(name): name for name in reversed(known)}
    ranked = sorted(zip(dataset.label_names, counts), key=lambda pair: -pair[1])
    for name, _ in ranked:
        chosen.setdefault(spelled(name), name)
    return chosen


def _renamed(dataset: Dataset, to_name: Mapping[str, str]) -> Dataset:
    """The data set with these names of labels; those that now have one name become one."""
    names = list(dict.fromkeys(to_name[name] for name in dataset.label_names))
    names = sorted(names) if dataset.label_names == sorted(dataset.label_names) else names
    column = {name: k for k, name in enumerate(names)}
    place = np.array([column[to_name[name]] for name in dataset.label_names], np.int64)
    Y = sp.coo_array(dataset.Y)
    cells = Y.row.astype(np.int64) * len(names) + place[Y.col] if Y.nnz else np.zeros(0, np.int64)
    distinct, at = np.unique(cells, return_inverse=True)
    grades = np.full(len(distinct), np.nan)
    np.fmax.at(grades, at, Y.data)
    shape = (dataset.n_instances, len(names))
    rows, columns = np.divmod(distinct, max(len(names), 1))
    Y = sp.csr_array((grades, (rows, columns)), shape=shape)
    return replace(dataset, Y=Y, label_names=names, prefer=_as_named(dataset.prefer, to_name))


def _as_named(prefer: Any, to_name: Mapping[str, str]) -> Any:
    """What rows prefer, by the new names, which other spellings have too."""
    by_spelling = {None: None} | {spelled(old): name for old, name in to_name.items()}
    return prefer and [
        [tuple(by_spelling.get(n and spelled(n), n) for n in pair) for pair in pairs]
        for pairs in prefer
    ]
