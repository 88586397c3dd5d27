"""Random numbers addressed by position, not by turn; random arcs between two nodes.

Problem   a value that depends on (seed, a, b) alone, so that the order of work, the layout of
          memory and the number of threads cannot change it
Given     seed, a, b: integers >= 0
Returns   `uniform` in (0, 1), `normal` with mean 0 and variance 1
Changes   `fill_normal`: lanes first..last-1 of W (d, B), which hold labels lo + lane
Cost      O(1) a number
See       Steele, Lea & Flood 2014 (SplitMix64's finaliser)
"""

import math

import numpy as np

from labelrank.kernels._compile import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
RANDOM_SCALE = 0.01
SCALE = 1.0 / float(1 << 53)
_TRIES = 64


@kernel
def mix(z):
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@kernel
def uniform(seed, a, b):
    z = mix(np.uint64(seed) + GOLDEN)
    z = mix(z ^ (np.uint64(a) + GOLDEN))
    z = mix(z ^ (np.uint64(b) + GOLDEN))
    return (float(z >> np.uint64(11)) + 0.5) * SCALE


@kernel
def normal(seed, a, b):
    radius = math.sqrt(-2.0 * math.log(uniform(seed, a, 2 * b)))
    return radius * math.cos(2.0 * math.pi * uniform(seed, a, 2 * b + 1))


@kernel
def fill_normal(W, first, last, lo, scale, seed):
    """Small normal weights that depend on the feature and the label alone."""
    for j in range(W.shape[0]):
        for k in range(first, last):
            W[j, k] = scale * normal(seed, j, lo + k)


@kernel
def is_stored(yidx, start, stop, label):
    p = start
    while p < stop and yidx[p] != label:
        p += 1
    return p < stop


@kernel
def draw_arcs(Y, nodes, seed, clock, same, window, arcs):
    """One arc for each row of `arcs`, between a positive and a negative node.

    An arc joins (x_i, j), label j relevant to instance i, to (x_k, q), label q known to be
    irrelevant to instance k; i and k are the same instance, or any two.

    Given     nodes    rows and labels of the positive nodes, int64
              seed, clock   arc number clock + t of the seed's sequence is drawn t-th
              same     true: k = i
              window   0: positive nodes are drawn at random, k among all rows; otherwise each node
                       has its turn, and k is one of the `window` rows before i, or i itself
    Changes   arcs     int64 (m, 4): columns i, j, k, q; i = -1 where no negative node was found
    Cost      O(1) per arc, and the labels of a row for each try
    """
    yptr, yidx, _, n_labels = Y
    node_row, node_label = nodes
    for t in range(arcs.shape[0]):
        turn = clock + t
        node = t if window else int(uniform(seed, turn, 0) * node_row.shape[0])
        i = node_row[node]
        first = max(0, i - window) if window else 0
        last = i + 1 if window else yptr.shape[0] - 1
        arcs[t, 0], arcs[t, 1] = -1, node_label[node]
        for attempt in range(_TRIES):
            k = i
            if not same:
                k = first + int(uniform(seed, turn, 2 * attempt + 1) * (last - first))
            q = int(uniform(seed, turn, 2 * attempt + 2) * n_labels)
            if not is_stored(yidx, yptr[k], yptr[k + 1], q):
                arcs[t, 0], arcs[t, 2], arcs[t, 3] = i, k, q
                break


@kernel
def draw_rows(candidates, seed, clock, rows):
    """Rows drawn with replacement from the candidates (int64), one for each place of `rows`."""
    for t in range(rows.shape[0]):
        rows[t] = candidates[int(uniform(seed, clock + t, 0) * candidates.shape[0])]
