"""Targets of several classes each as labels: one per target and class."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset


def as_labels(dataset: Dataset) -> Dataset:
    """The data set with a label ``target=class`` for each class; others stay as they are."""
    if dataset.target_classes is None:
        return dataset
    from labelrank.learners.auto import blocks

    names = [
        f"{target}={name}"
        for target, classes in zip(dataset.label_names, dataset.target_classes, strict=True)
        for name in classes
    ]
    codes = np.asarray(dataset.Y, np.float64)
    Y = blocks.as_labels(np.where(codes < 0, np.nan, codes), list(map(len, dataset.target_classes)))
    split: Any = {name: as_labels(part) for name, part in dataset.parts.items()}
    return replace(
        dataset, Y=Y, label_names=names, target_classes=None,
        table=dataset.table or _table_of_gaps(dataset), **split,
    )  # fmt: skip


def _table_of_gaps(dataset: Dataset) -> Any:
    """Features as a table where some are missing, so that these are filled in; else None."""
    if dataset.X is None or sp.issparse(dataset.X) or not np.isnan(dataset.X).any():
        return None
    return dict(zip(dataset.names_of_features(), np.asarray(dataset.X).T, strict=True))
