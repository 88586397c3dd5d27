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
    names = [
        f"{target}={name}"
        for target, classes in zip(dataset.label_names, dataset.target_classes, strict=True)
        for name in classes
    ]
    codes, parts = np.asarray(dataset.Y, np.float64), []
    for column, classes in zip(codes.T, dataset.target_classes, strict=True):
        part = (column[:, None] == np.arange(len(classes))).astype(np.float64)
        part[np.isnan(column) | (column < 0)] = np.nan
        parts.append(part)
    split: Any = {name: as_labels(part) for name, part in dataset.parts.items()}
    Y = sp.csr_array(np.hstack(parts))
    return replace(dataset, Y=Y, label_names=names, target_classes=None, **split)
