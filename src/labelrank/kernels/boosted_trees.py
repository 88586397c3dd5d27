"""Boost trees for the logistic loss of one label.

Problem   scores F of the rows are raised round by round by a tree that takes a Newton step: with
          p = 1 / (1 + exp(-F)), g = p - y, h = p (1 - p), a leaf with sums G and H gives

              F += -rate G / (H + l2),

          and the leaf is parted next whose best cut gains most,

              G_l^2 / (H_l + l2) + G_r^2 / (H_r + l2) - G^2 / (H + l2).
Given     bins   `Bins`; rows: the rows (int32) that know the label; y: 0 or 1 for every row
          start  the first F; rules `Rules`
Changes   trees  `kernels.trees.Nodes` with room for n_rounds trees of 2 n_leaves - 1 nodes: a leaf
          holds its number in `threshold`. `rows` is put into another order
Returns   how many trees and nodes there are; boosting ends where no cut gains anything
Cost      for each round, the rows times the features, about log2(n_leaves) times
Order     of equal cuts the first feature and the lowest bin, of equal leaves the older one
See       Friedman 2001; Chen & Guestrin 2016, XGBoost; Ke et al. 2017, LightGBM (leaf by leaf)
"""

import math
from typing import NamedTuple

import numpy as np

from labelrank._types import Array, Float32, Int64
from labelrank.kernels._compile import kernel

LEAST_GAIN = 1e-7
LEAST_H = 1e-3


class Bins(NamedTuple):
    """codes[j, i] is b where x_ij lies above b cuts of feature j: those from start[j] on."""

    codes: Array  # uint8 (d, n)
    start: Int64  # (d + 1,)
    cuts: Float32


class Rules(NamedTuple):
    """The settings of `BoostedTrees`."""

    n_rounds: int
    n_leaves: int
    min_leaf: int
    rate: float
    l2: float


class Leaves(NamedTuple):
    """The growing tree: node m holds rows[span[m, 0]:span[m, 1]]; its children, cut and sums."""

    span: Int64  # (nodes, 2)
    children: Int64  # (nodes, 2), 0 where it is a leaf
    cut: Int64  # (nodes, 2), feature and bin of the best cut
    sums: Array  # float64 (nodes, 3): G, H, gain of the best cut


@kernel
def _find_cut(bins, here, g, h, rules, table, leaves, m):
    """Note the sums of node m and its best cut; `table` is scratch for the sums by bin."""
    codes, start, _ = bins
    n = here.shape[0]
    G, H = 0.0, 0.0
    for e in range(n):
        G += g[here[e]]
        H += h[here[e]]
    leaves.sums[m, 0], leaves.sums[m, 1], leaves.sums[m, 2] = G, H, 0.0
    leaves.children[m, 0] = leaves.children[m, 1] = 0
    if n < 2 * rules.min_leaf:
        return
    whole, best = G * G / (H + rules.l2), LEAST_GAIN
    for j in range(codes.shape[0]):
        n_cuts = start[j + 1] - start[j]
        if n_cuts == 0:
            continue
        table[: n_cuts + 1] = 0.0
        code = codes[j]
        for e in range(n):
            i = here[e]
            sums = table[code[i]]
            sums[0] += g[i]
            sums[1] += h[i]
            sums[2] += 1.0
        left, right, n_left = 0.0, 0.0, 0.0
        for b in range(n_cuts):
            left += table[b, 0]
            right += table[b, 1]
            n_left += table[b, 2]
            if min(n_left, n - n_left) < rules.min_leaf or min(right, H - right) < LEAST_H:
                continue
            gain = left * left / (right + rules.l2) - whole
            gain += (G - left) * (G - left) / (H - right + rules.l2)
            if gain > best:
                best = gain
                leaves.sums[m, 2], leaves.cut[m, 0], leaves.cut[m, 1] = gain, j, b


@kernel
def _part(code, b, here, spare):
    """Put the rows of bins 0..b first; returns how many they are."""
    n_left, n_right = 0, 0
    for e in range(here.shape[0]):
        if code[here[e]] <= b:
            here[n_left] = here[e]
            n_left += 1
        else:
            spare[n_right] = here[e]
            n_right += 1
    for e in range(n_right):
        here[n_left + e] = spare[e]
    return n_left


@kernel
def _grow(bins, rows, g, h, rules, table, spare, leaves):
    """Part the leaf that gains most until there are n_leaves; returns the number of nodes."""
    leaves.span[0, 0], leaves.span[0, 1] = 0, rows.shape[0]
    _find_cut(bins, rows, g, h, rules, table, leaves, 0)
    n_nodes = 1
    for _ in range(rules.n_leaves - 1):
        m = np.argmax(leaves.sums[:n_nodes, 2])
        if leaves.sums[m, 2] <= 0:
            break
        leaves.sums[m, 2] = 0.0
        first, last = leaves.span[m]
        j, b = leaves.cut[m]
        middle = first + _part(bins.codes[j], b, rows[first:last], spare)
        leaves.span[n_nodes], leaves.span[n_nodes + 1] = (first, middle), (middle, last)
        for child in range(n_nodes, n_nodes + 2):
            here = rows[leaves.span[child, 0] : leaves.span[child, 1]]
            _find_cut(bins, here, g, h, rules, table, leaves, child)
        leaves.children[m] = n_nodes, n_nodes + 1
        n_nodes += 2
    return n_nodes


@kernel
def _write(bins, leaves, rows, rules, waiting, node, trees, F):
    """Put the tree behind the others, in preorder, and move F; returns the next free node."""
    _, feature, threshold, other = trees
    waiting[0, 0], waiting[0, 1] = 0, -1
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        m, parent = waiting[n_waiting]
        if parent >= 0:
            other[parent] = node
        if leaves.children[m, 0]:
            j, b = leaves.cut[m]
            feature[node], threshold[node] = j, bins.cuts[bins.start[j] + b]
            waiting[n_waiting] = leaves.children[m, 1], node
            waiting[n_waiting + 1] = leaves.children[m, 0], -1
            n_waiting += 2
        else:
            step = np.float32(-rules.rate * leaves.sums[m, 0] / (leaves.sums[m, 1] + rules.l2))
            feature[node], threshold[node], other[node] = -1, step, 0
            for e in range(leaves.span[m, 0], leaves.span[m, 1]):
                F[rows[e]] += step
        node += 1
    return node


@kernel
def boost(bins, rows, y, start, rules, trees):
    n, width = bins.codes.shape[1], 2 * rules.n_leaves - 1
    F, g, h = np.full(n, start), np.zeros(n), np.zeros(n)
    spare, waiting = np.empty(rows.shape[0], np.int32), np.empty((width + 1, 2), np.int64)
    table = np.zeros((256, 3))
    leaves = Leaves(
        np.empty((width, 2), np.int64), np.empty((width, 2), np.int64),
        np.empty((width, 2), np.int64), np.empty((width, 3)),
    )  # fmt: skip
    n_trees, node = 0, 0
    for _ in range(rules.n_rounds):
        for i in rows:
            p = 1.0 / (1.0 + math.exp(-F[i]))
            g[i], h[i] = p - y[i], p * (1.0 - p)
        n_nodes = _grow(bins, rows, g, h, rules, table, spare, leaves)
        if n_nodes == 1:
            break
        trees.roots[n_trees] = node
        node = _write(bins, leaves, rows, rules, waiting, node, trees, F)
        n_trees += 1
    return n_trees, node
