"""What a data set is like, in the numbers multi-label papers print."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.datasets.dataset import Dataset
from labelrank.relevance import check_relevance


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
        "features": "text" if dataset.X is None else dataset.n_features,
        "targets" if multidimensional else "labels": dataset.n_labels,
    }
    middle = _targets(dataset) if multidimensional else _relevance(check_relevance(dataset.Y))
    splits = {part: found.n_instances for part, found in dataset.parts.items()}
    return {**start, **middle, "splits": splits}


def _relevance(Y: sp.csr_array) -> dict[str, Any]:
    n, K = Y.shape
    unknown = np.isnan(Y.data).sum() / max(n * K, 1)
    relevant = Y.copy()
    relevant.data[np.isnan(relevant.data)] = 0
    relevant.eliminate_zeros()
    counts = np.bincount(relevant.indices, minlength=K)
    sets = _label_sets(relevant)
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


def _label_sets(relevant: sp.csr_array) -> Counter[bytes]:
    bounds = relevant.indptr.tolist()
    pairs = pairwise(bounds)
    return Counter(relevant.indices[start:end].tobytes() for start, end in pairs)


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
