"""What a data set is once it is in memory, and the numbers that describe it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.relevance import check_relevance
from labelrank.rows import short_indices
from labelrank.table.frame import take

PARTS = ("train", "validation", "test")


@dataclass
class Dataset:
    """Instances with their relevance: `X` a matrix (or None for raw text), `texts` a list or None.

    `table` has the feature columns as they were read (see `labelrank.table`), `reading` says how
    they were read, so that other files are read alike, and `remarks` tells people of it.
    `columns` has all columns of the file with the cells as they stand there, in their order.
    `Y` is canonical CSR relevance (see `labelrank.relevance`), or a dense integer-coded matrix
    for multi-dimensional targets, whose class names are then in `target_classes`.
    `train`, `validation` and `test` are the official parts, or None where there is no split.
    `label_parents` names the parent of each label where the labels form a hierarchy.
    `prefer` has what each row prefers, pairs (better, worse) of label names, None the threshold.
    """

    name: str
    X: Any
    Y: Any
    texts: list[str] | None = None
    label_names: list[str] = field(default_factory=list)
    feature_names: list[str] | None = None
    ids: list[str] | None = None
    target_classes: list[list[str]] | None = None
    train: Dataset | None = None
    test: Dataset | None = None
    validation: Dataset | None = None
    label_parents: list[str | None] | None = None
    table: dict[str, list[Any]] | None = None
    reading: dict[str, Any] | None = None
    remarks: list[str] = field(default_factory=list)
    columns: dict[str, Any] | None = None
    prefer: list[list[tuple[str | None, str | None]]] | None = None

    def __post_init__(self) -> None:
        if sp.issparse(self.X) and self.X.format == "csr":
            self.X = short_indices(self.X)

    @property
    def n_instances(self) -> int:
        return int(self.Y.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.Y.shape[1])

    @property
    def n_features(self) -> int | None:
        return None if self.X is None else int(self.X.shape[1])

    @property
    def documents(self) -> Any:
        """What a model learns from: texts, else the table, else the matrix."""
        if self.texts is not None:
            return self.texts
        return self.X if self.table is None else self.table

    @property
    def roles(self) -> dict[str, str]:
        """The roles of the columns of the table, as `TablePreparation` takes them."""
        from labelrank.table import ROLES

        known = (self.reading or {}).get("roles") or {}
        columns = self.table or {}
        return {name: role for name, role in known.items() if name in columns and role in ROLES}

    @property
    def parts(self) -> dict[str, Dataset]:
        """The official parts that there are, by name."""
        found = {part: getattr(self, part) for part in PARTS}
        return {part: dataset for part, dataset in found.items() if dataset is not None}

    def names_of_features(self) -> list[str]:
        """The feature names, or x0, x1, ... where there are none."""
        return self.feature_names or [f"x{k}" for k in range(self.n_features or 0)]

    def subset(self, rows: npt.ArrayLike, name: str | None = None) -> Dataset:
        """The chosen instances (indices or a boolean mask), without a split of their own."""
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        none: dict[str, Any] = dict.fromkeys(PARTS)
        return replace(
            self,
            name=name or self.name,
            X=None if self.X is None else self.X[chosen],
            Y=sp.csr_array(self.Y)[chosen] if sp.issparse(self.Y) else self.Y[chosen],
            texts=None if self.texts is None else [self.texts[i] for i in chosen],
            ids=None if self.ids is None else [self.ids[i] for i in chosen],
            table=None if self.table is None else take(self.table, chosen),
            columns=None if self.columns is None else take(self.columns, chosen),
            prefer=None if self.prefer is None else [self.prefer[i] for i in chosen],
            **none,
        )

    def with_split(self, parts: dict[str, npt.ArrayLike]) -> Dataset:
        """The same data with the named parts (train, validation, test), given by their rows."""
        made: dict[str, Any] = {
            part: self.subset(rows, f"{self.name}-{part}") for part, rows in parts.items()
        }
        return replace(self, **made)

    def with_labels(self, columns: npt.ArrayLike) -> Dataset:
        """The same instances with the chosen labels only, in the whole and in every part."""
        chosen = np.asarray(columns)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        classes, parents = self.target_classes, self.label_parents
        parts: dict[str, Any] = {p: data.with_labels(chosen) for p, data in self.parts.items()}
        return replace(
            self,
            Y=self.Y[:, chosen],
            label_names=[self.label_names[k] for k in chosen],
            target_classes=None if classes is None else [classes[k] for k in chosen],
            label_parents=None if parents is None else [parents[k] for k in chosen],
            **parts,
        )


def join(parts: dict[str, Dataset], name: str) -> Dataset:
    """The whole of the named parts, one after the other, with the parts in it."""
    named: dict[str, Any] = {p: replace(one, name=f"{name}-{p}") for p, one in parts.items()}
    first, *others = named.values()
    for other in others:
        if _columns(other) != _columns(first):
            raise InputError(
                f"{other.name} and {first.name} have other labels or features; "
                "give parts of the same data set"
            )
    return replace(
        first,
        name=name,
        X=None if first.X is None else _stack([one.X for one in named.values()]),
        Y=_stack([one.Y for one in named.values()]),
        texts=_chain([one.texts for one in named.values()]),
        ids=_chain([one.ids for one in named.values()]),
        table=_rows([one.table for one in named.values()]),
        columns=None,
        prefer=_chain([one.prefer for one in named.values()]),
        **named,
    )


def _columns(data: Dataset) -> tuple[Any, ...]:
    """What the parts of one data set have in common."""
    return data.label_names, data.n_features, None if data.table is None else set(data.table)


def _rows(tables: list[Any]) -> dict[str, list[Any]] | None:
    """The rows of all tables, one after the other."""
    if tables[0] is None:
        return None
    return {name: list(chain(*(table[name] for table in tables))) for name in tables[0]}


def _stack(matrices: Sequence[Any]) -> Any:
    if all(sp.issparse(matrix) for matrix in matrices):
        return sp.csr_array(sp.vstack(matrices, format="csr"))
    return np.concatenate([np.asarray(matrix) for matrix in matrices])


def _chain(lists: Sequence[list[Any] | None]) -> list[Any] | None:
    present = [entries for entries in lists if entries is not None]
    return list(chain(*present)) if len(present) == len(lists) else None


def describe(dataset: Dataset) -> dict[str, Any]:
    """Size, label statistics and splits of a data set.

    For relevance labels: `cardinality` (mean number of relevant labels), `density` (cardinality
    per label), `distinct_label_sets`, `most_common_label_set` (its share of the instances),
    `mean_imbalance` and `max_imbalance` (IRLbl: count of the most frequent label over that of a
    label; labels never relevant are counted apart), `unlabelled_instances`, `graded` (share of
    the relevant entries whose grade is not 1), `unknown` (share of all entries).
    For multi-dimensional targets: the number of `classes` of each target, distinct target vectors.

    Examples
    --------
    >>> from labelrank.relevance import check_relevance
    >>> Y = check_relevance([[1, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 0]])
    >>> found = describe(Dataset("tiny", None, Y, label_names=["a", "b", "c"]))
    >>> found["cardinality"], found["distinct_label_sets"], found["labels_never_relevant"]
    (1.0, 3, 1)
    """
    multidimensional = dataset.target_classes is not None
    start = {
        "name": dataset.name,
        "instances": dataset.n_instances,
        "features": _n_features(dataset),
        "targets" if multidimensional else "labels": dataset.n_labels,
    }
    middle = _targets(dataset) if multidimensional else _relevance(check_relevance(dataset.Y))
    splits = {part: found.n_instances for part, found in dataset.parts.items()}
    return {**start, **middle, "splits": splits}


def _n_features(dataset: Dataset) -> int | str | None:
    if dataset.X is None and dataset.table is not None:
        return len(dataset.table)
    return "text" if dataset.X is None else dataset.n_features


def _relevance(Y: sp.csr_array) -> dict[str, Any]:
    n, K = Y.shape
    unknown = np.isnan(Y.data).sum() / max(n * K, 1)
    relevant = Y.copy()
    relevant.data[np.isnan(relevant.data)] = 0
    relevant.eliminate_zeros()
    counts = np.bincount(relevant.indices, minlength=K)
    bounds = pairwise(relevant.indptr.tolist())
    sets = Counter(relevant.indices[start:end].tobytes() for start, end in bounds)
    imbalance = counts.max() / counts[counts > 0]
    return {
        "cardinality": relevant.nnz / max(n, 1),
        "density": relevant.nnz / max(n * K, 1),
        "distinct_label_sets": len(sets),
        "most_common_label_set": max(sets.values(), default=0) / max(n, 1),
        "mean_imbalance": float(imbalance.mean()) if len(imbalance) else None,
        "max_imbalance": float(imbalance.max()) if len(imbalance) else None,
        "labels_never_relevant": int((counts == 0).sum()),
        "unlabelled_instances": int((np.diff(relevant.indptr) == 0).sum()),
        "graded": float((relevant.data != 1).mean()) if relevant.nnz else 0.0,
        "unknown": float(unknown),
    }


def _targets(dataset: Dataset) -> dict[str, Any]:
    Y = np.asarray(dataset.Y)
    vectors = Counter(row.tobytes() for row in np.ascontiguousarray(Y))
    classes = dataset.target_classes or []
    return {
        "classes": {
            name: len(found) for name, found in zip(dataset.label_names, classes, strict=True)
        },
        "distinct_target_vectors": len(vectors),
        "most_common_target_vector": max(vectors.values(), default=0) / max(len(Y), 1),
        "unknown": float(np.isnan(Y).mean()) if Y.size else 0.0,
    }


def as_text(description: dict[str, Any]) -> str:
    """The description as aligned lines for a terminal.

    Examples
    --------
    >>> print(as_text({"instances": 3, "cardinality": 1.5, "splits": {"train": 2, "test": 1}}))
    instances    3
    cardinality  1.500
    splits       train 2, test 1
    """
    width = max(map(len, description), default=0)
    lines = (f"{key.replace('_', ' '):<{width}}  {_shown(v)}" for key, v in description.items())
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(count)}" for name, count in value.items()) or "none"
    if isinstance(value, float):
        return f"{value:.3f}"
    return "none" if value is None else str(value)
