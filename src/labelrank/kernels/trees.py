"""Walk through trees that lie in arrays, one after the other.

Problem   the leaf of a row in each tree; sums of what the leaves hold
Given     `Nodes`: node i asks for feature[i]; a row with x <= threshold[i] goes on at node i + 1,
          any other row at other[i]; feature[i] = -1 is a leaf, and other[i] its number
          rows    float32 (n, d)
Changes   `add_lists`: out (n, K) += the labels and values of each leaf; `add_values`: out[:, label]
          += threshold[leaf], where the numbers of boosted trees lie
Cost      the depth of a tree for each row and tree
Order     tree by tree, so that a tree stays in the cache; sums follow the order of the trees
"""

from typing import NamedTuple

from labelrank._types import Float32, Int32, Int64
from labelrank.kernels._compile import inner_kernel, kernel


class Nodes(NamedTuple):
    """All nodes of all trees; tree t begins at roots[t]."""

    roots: Int64
    feature: Int32
    threshold: Float32
    other: Int32


@inner_kernel
def _leaf(node, row, feature, threshold, other):
    while feature[node] >= 0:
        node = node + 1 if row[feature[node]] <= threshold[node] else other[node]
    return node


@kernel
def add_lists(nodes, rows, leaf_ptr, leaf_labels, leaf_values, out):
    roots, feature, threshold, other = nodes
    for t in range(roots.shape[0]):
        for i in range(rows.shape[0]):
            leaf = other[_leaf(roots[t], rows[i], feature, threshold, other)]
            for q in range(leaf_ptr[leaf], leaf_ptr[leaf + 1]):
                out[i, leaf_labels[q]] += leaf_values[q]


@kernel
def add_values(nodes, rows, labels, out):
    roots, feature, threshold, other = nodes
    for t in range(roots.shape[0]):
        for i in range(rows.shape[0]):
            out[i, labels[t]] += threshold[_leaf(roots[t], rows[i], feature, threshold, other)]
