"""What a data set is once it is in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


@dataclass
class Dataset:
    """Instances with their relevance: `X` a matrix (or None for raw text), `texts` a list or None.

    `Y` is canonical CSR relevance (see `labelrank.relevance`), or a dense integer-coded matrix
    for multi-dimensional targets, whose class names are then in `target_classes`.
    `train` and `test` are the official parts, or None where there is no split.
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

    @property
    def n_instances(self) -> int:
        return int(self.Y.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.Y.shape[1])

    @property
    def n_features(self) -> int | None:
        return None if self.X is None else int(self.X.shape[1])

    def subset(self, rows: npt.ArrayLike, name: str | None = None) -> Dataset:
        """The chosen instances (indices or a boolean mask), without a split of their own."""
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return Dataset(
            name=name or self.name,
            X=None if self.X is None else self.X[chosen],
            Y=sp.csr_array(self.Y)[chosen] if sp.issparse(self.Y) else self.Y[chosen],
            texts=None if self.texts is None else [self.texts[i] for i in chosen],
            label_names=self.label_names,
            feature_names=self.feature_names,
            ids=None if self.ids is None else [self.ids[i] for i in chosen],
            target_classes=self.target_classes,
        )
