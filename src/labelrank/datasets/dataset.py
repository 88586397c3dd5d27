"""What a data set is once it is in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError

PARTS = ("train", "validation", "test")


@dataclass
class Dataset:
    """Instances with their relevance: `X` a matrix (or None for raw text), `texts` a list or None.

    `Y` is canonical CSR relevance (see `labelrank.relevance`), or a dense integer-coded matrix
    for multi-dimensional targets, whose class names are then in `target_classes`.
    `train`, `validation` and `test` are the official parts, or None where there is no split.
    `label_parents` names the parent of each label where the labels form a hierarchy.
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
        return replace(
            self,
            name=name or self.name,
            X=None if self.X is None else self.X[chosen],
            Y=sp.csr_array(self.Y)[chosen] if sp.issparse(self.Y) else self.Y[chosen],
            texts=None if self.texts is None else [self.texts[i] for i in chosen],
            ids=None if self.ids is None else [self.ids[i] for i in chosen],
            train=None,
            validation=None,
            test=None,
        )

    def with_split(self, parts: dict[str, npt.ArrayLike]) -> Dataset:
        """The same data with the named parts (train, validation, test), given by their rows."""
        made: dict[str, Any] = {
            part: self.subset(rows, f"{self.name}-{part}") for part, rows in parts.items()
        }
        return replace(self, **made)

    def with_labels(self, columns: npt.ArrayLike) -> Dataset:
        """The same instances with the chosen labels only, in the whole and in every part.

        Examples
        --------
        >>> from labelrank.relevance import check_relevance
        >>> data = Dataset("tiny", None, check_relevance([[1, 0, 2]]), label_names=["a", "b", "c"])
        >>> data.with_labels([2, 0]).label_names
        ['c', 'a']
        """
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
    """The whole of the named parts, one after the other, with the parts in it.

    Examples
    --------
    >>> from labelrank.relevance import check_relevance
    >>> one = Dataset("one", None, check_relevance([[1, 0]]), ["grain"], ["a", "b"])
    >>> whole = join({"train": one, "test": one}, "both")
    >>> whole.n_instances, whole.texts, whole.test.name
    (2, ['grain', 'grain'], 'both-test')
    """
    named: dict[str, Any] = {
        part: replace(dataset, name=f"{name}-{part}") for part, dataset in parts.items()
    }
    found = list(named.values())
    for dataset in found[1:]:
        if (dataset.label_names, dataset.n_features) != (found[0].label_names, found[0].n_features):
            raise InputError(
                f"{dataset.name} and {found[0].name} have other labels or features; "
                "give parts of the same data set"
            )
    return replace(
        found[0],
        name=name,
        X=None if found[0].X is None else _stack([dataset.X for dataset in found]),
        Y=_stack([dataset.Y for dataset in found]),
        texts=_chain([dataset.texts for dataset in found]),
        ids=_chain([dataset.ids for dataset in found]),
        **named,
    )


def _stack(matrices: Sequence[Any]) -> Any:
    if all(sp.issparse(matrix) for matrix in matrices):
        return sp.csr_array(sp.vstack(matrices, format="csr"))
    return np.concatenate([np.asarray(matrix) for matrix in matrices])


def _chain(lists: Sequence[list[str] | None]) -> list[str] | None:
    present = [entries for entries in lists if entries is not None]
    return (
        [entry for entries in present for entry in entries] if len(present) == len(lists) else None
    )
