"""Grow one extremely randomised tree for all labels at once.

Problem   part the rows of a node by the best of some random cuts, until a node is pure or small. A
          cut is a feature and a threshold drawn between its least and largest value in the node. It
          is the better, the larger

              sum over labels k of  c_k(left)^2 / n_k(left) + c_k(right)^2 / n_k(right),

          c_k: rows to which k is relevant, n_k: rows of which that is known (Gini impurity, summed
          over the labels).
Given     X     `Instances`; Y: row pointers, labels, and whether relevant (1) or unknown (0)
          rules `Rules`
Changes   tree  `Tree`, whose arrays have room for 2 n - 1 nodes and as many leaf labels as Y has
Returns   how many nodes, leaves and leaf labels there are
Cost      per node and cut: its rows with their labels
Order     nodes in preorder; of equal cuts the first one drawn
See       Geurts, Ernst & Wehenkel 2006, Extremely randomized trees
"""

from typing import NamedTuple

import numpy as np

from labelrank._types import Float32, Float64, Int32, Int64
from labelrank.kernels._compile import kernel
from labelrank.kernels.random import uniform

# Sums that differ by less are equal: rounding decides nothing.
SLACK = 1e-9
# Draws beyond the wanted number, in search of a first feature that is not constant.
MORE = 50


class Instances(NamedTuple):
    """Either `dense` (d, n), feature by feature, or CSR rows; then `dense` has no column."""

    dense: Float32
    indptr: Int64
    indices: Int32
    data: Float32


class Rules(NamedTuple):
    """Cuts tried per node, fewest rows of a leaf, and the share for labels unknown in a leaf."""

    n_cuts: int
    min_leaf: int
    prior: Float64


class Tree(NamedTuple):
    """What is grown, see `kernels.trees`; leaf l holds labels leaf_ptr[l]..leaf_ptr[l+1]-1."""

    feature: Int32
    threshold: Float32
    other: Int32
    leaf_ptr: Int64
    leaf_labels: Int32
    leaf_values: Float32


@kernel
def _read(X, j, rows, out):
    """Values of feature j, and the least and largest of them."""
    dense, indptr, indices, data = X
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for e in range(rows.shape[0]):
        i = rows[e]
        found = np.float32(0.0)
        if dense.shape[1]:
            found = dense[j, i]
        else:
            first, last = indptr[i], indptr[i + 1]
            while first < last:
                middle = (first + last) // 2
                if indices[middle] < j:
                    first = middle + 1
                else:
                    last = middle
            if first < indptr[i + 1] and indices[first] == j:
                found = data[first]
        out[e] = found
        low, high = min(low, found), max(high, found)
    return low, high


@kernel
def _count(rows, Y, counts, present):
    """counts[:, k] += relevant and unknown rows; the labels met first are put into `present`."""
    yptr, yidx, relevant = Y
    n_present = 0
    for i in rows:
        for q in range(yptr[i], yptr[i + 1]):
            k = yidx[q]
            if counts[0, k] == 0 and counts[1, k] == 0:
                present[n_present] = k
                n_present += 1
            counts[1 - relevant[q], k] += 1
    return n_present


@kernel
def _is_pure(counts, present, n_rows):
    for k in present:  # noqa: SIM110 - compiled code takes no generators
        if 0 < counts[0, k] < n_rows - counts[1, k]:
            return False
    return True


@kernel
def _worth(rows, values, threshold, min_leaf, Y, counts, side, present):
    """The sum above for one cut; -1 where a side is too small. `side` is zero before and after."""
    yptr, yidx, relevant = Y
    n_left = 0
    for e in range(rows.shape[0]):
        n_left += values[e] <= threshold
    if min(n_left, rows.shape[0] - n_left) < min_leaf:
        return -1.0
    is_left = 2 * n_left <= rows.shape[0]  # the smaller side is counted
    for e in range(rows.shape[0]):
        if (values[e] <= threshold) == is_left:
            i = rows[e]
            for q in range(yptr[i], yptr[i + 1]):
                side[1 - relevant[q], yidx[q]] += 1
    n_here = n_left if is_left else rows.shape[0] - n_left
    n_there = rows.shape[0] - n_here
    total = 0.0
    for k in present:
        here, unknown = side[0, k], side[1, k]
        there = counts[0, k] - here
        if here:
            total += float(here) * here / (n_here - unknown)
        if there:
            total += float(there) * there / (n_there - counts[1, k] + unknown)
        side[0, k] = side[1, k] = 0
    return total


@kernel
def _candidate(X, features, visited, rows, seed, clock):
    """A feature: of dense X any not yet visited; of sparse X one of a random row of the node."""
    dense, indptr, indices, _ = X
    if dense.shape[1]:
        place = visited + int(uniform(seed, clock, 0) * (features.shape[0] - visited))
        features[visited], features[place] = features[place], features[visited]
        return features[visited]
    i = rows[int(uniform(seed, clock, 0) * rows.shape[0])]
    n_stored = indptr[i + 1] - indptr[i]
    return indices[indptr[i] + int(uniform(seed, clock, 2) * n_stored)] if n_stored else -1


@kernel
def _best_cut(X, Y, rules, rows, features, counts, side, present, seed, clock, values):
    """Feature (-1: none), threshold and clock after some random cuts."""
    n_cuts, min_leaf, _ = rules
    limit = features.shape[0] if X.dense.shape[1] else n_cuts + MORE
    best, best_feature, best_threshold = -1.0, -1, np.float32(0.0)
    visited = 0
    while visited < limit and (visited < n_cuts or best < 0):
        j = _candidate(X, features, visited, rows, seed, clock)
        share = uniform(seed, clock, 1)
        visited += 1
        clock += 1
        if j < 0:
            continue
        low, high = _read(X, j, rows, values)
        if not low < high:
            continue
        threshold = np.float32(low + share * (float(high) - float(low)))
        if threshold >= high:
            threshold = low
        worth = _worth(rows, values, threshold, min_leaf, Y, counts, side, present)
        if worth > best + SLACK:
            best, best_feature, best_threshold = worth, j, threshold
    return best_feature, best_threshold, clock


@kernel
def _parted(rows, values, threshold, spare):
    """Put the rows that go left first, each side in its order; returns how many go left."""
    n_left, n_right = 0, 0
    for e in range(rows.shape[0]):
        if values[e] <= threshold:
            rows[n_left] = rows[e]
            n_left += 1
        else:
            spare[n_right] = rows[e]
            n_right += 1
    for e in range(n_right):
        rows[n_left + e] = spare[e]
    return n_left


@kernel
def _write_leaf(tree, node, leaf, counts, present, n_rows, prior):
    """The share of each label among the rows that know it; the prior where none does."""
    end = tree.leaf_ptr[leaf]
    for k in np.sort(present):
        known = n_rows - counts[1, k]
        share = counts[0, k] / known if known else prior[k]
        if share > 0:
            tree.leaf_labels[end], tree.leaf_values[end] = k, share
            end += 1
    tree.leaf_ptr[leaf + 1] = end
    tree.feature[node], tree.other[node] = -1, leaf


@kernel
def grow(X, Y, rules, n_features, seed, tree):
    n, K = Y[0].shape[0] - 1, rules.prior.shape[0]
    rows, spare = np.arange(n).astype(np.int32), np.empty(n, np.int32)
    values, features = np.empty(n, np.float32), np.arange(n_features)
    counts, side = np.zeros((2, K), np.int64), np.zeros((2, K), np.int64)
    labels = np.empty(K, np.int64)
    waiting = np.empty((n + 1, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, n, -1
    n_waiting, node, leaf, clock = 1, 0, 0, 0
    tree.leaf_ptr[0] = 0
    while n_waiting:
        n_waiting -= 1
        first, last, parent = waiting[n_waiting]
        if parent >= 0:
            tree.other[parent] = node
        here = rows[first:last]
        present = labels[: _count(here, Y, counts, labels)]
        j, threshold = -1, np.float32(0.0)
        if last - first >= 2 * rules.min_leaf and not _is_pure(counts, present, last - first):
            j, threshold, clock = _best_cut(
                X, Y, rules, here, features, counts, side, present, seed, clock, values
            )
        if j >= 0:
            _read(X, j, here, values)
            middle = first + _parted(here, values, threshold, spare)
            tree.feature[node], tree.threshold[node] = j, threshold
            waiting[n_waiting] = middle, last, node
            waiting[n_waiting + 1] = first, middle, -1
            n_waiting += 2
        else:
            _write_leaf(tree, node, leaf, counts, present, last - first, rules.prior)
            leaf += 1
        for k in present:
            counts[0, k] = counts[1, k] = 0
        node += 1
    return node, leaf, tree.leaf_ptr[leaf]
