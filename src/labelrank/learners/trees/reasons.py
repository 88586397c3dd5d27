"""Why trees score a label as they do: what each cut on the way to the leaf has changed.

The value of a node is the mean over the leaves below it. A walk from the root to a leaf v_0, v_1,
..., v_m then sums to the value of the leaf, value(v_0) + Σ (value(v_i) - value(v_(i-1))), and each
difference is owed to the feature that was asked for at v_(i-1) (Saabas 2014).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64
from labelrank.learners.base import Explained


def by_cuts(
    trees: Any, which: Array, leaf_values: Float64, row: Array
) -> tuple[dict[int, float], float]:
    """What each feature adds over the walks through some of the trees, and the value of the roots.

    Parameters
    ----------
    trees : Trees
    which : the numbers of the trees
    leaf_values : array (nodes,), the values of leaves; that of other nodes is ignored
    row : float32 array (d,)
    """
    roots, feature, threshold, other = trees.nodes
    is_leaf = feature < 0
    ends = np.append(roots[1:], len(feature))
    leaves = np.concatenate([[0], np.cumsum(is_leaf)])
    sums = np.concatenate([[0.0], np.cumsum(np.where(is_leaf, leaf_values, 0.0))])

    def value(node: int, end: int) -> float:
        if is_leaf[node]:
            return float(leaf_values[node])
        return float((sums[end] - sums[node]) / (leaves[end] - leaves[node]))

    added: dict[int, float] = {}
    constant = 0.0
    for t in which.tolist():
        node, end = int(roots[t]), int(ends[t])
        before = value(node, end)
        constant += before
        while not is_leaf[node]:
            j, right = int(feature[node]), int(other[node])
            node, end = (node + 1, right) if row[j] <= threshold[node] else (right, end)
            now = value(node, end)
            added[j] = added.get(j, 0.0) + now - before
            before = now
    return added, constant


class ExplainedTrees(Explained):
    """Gives a learner of trees `why`."""

    def _walks(self, row: Array, label: int) -> tuple[dict[int, float], float]:
        """What each feature adds to the score of a label, and the rest of the score."""
        raise NotImplementedError

    def _addends(self, row: sp.csr_array, a: int, b: int | None) -> tuple[Array, Float64, float]:
        with np.errstate(over="ignore"):
            x = np.ravel(row.toarray()).astype(np.float32)
        added, constant = self._walks(x, a)
        if b is not None:
            against, shift = self._walks(x, b)
            constant -= shift
            for j, value in against.items():
                added[j] = added.get(j, 0.0) - value
        features = np.array(list(added), np.int64)
        return features, np.array(list(added.values()), np.float64), constant
