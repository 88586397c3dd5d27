"""Random arcs between a positive and a negative node (001, section 4).

An arc joins (x_i, j), label j relevant to instance i, to (x_k, q), label q known to be irrelevant
to instance k; i and k are the same instance, or any two.
"""

from labelrank.kernels._compile import kernel
from labelrank.kernels.random import uniform

_TRIES = 64


@kernel
def is_stored(yidx, start, stop, label):
    p = start
    while p < stop and yidx[p] != label:
        p += 1
    return p < stop


@kernel
def draw_arcs(Y, nodes, seed, clock, same, window, arcs):
    """One arc for each row of `arcs`.

    Given     Y        rows: pointers int64, columns int32, values; stored labels are relevant or
                       unknown, and the number of labels
              nodes    rows and labels of the positive nodes, int64
              seed, clock   arc number clock + t of the seed's sequence is drawn t-th
              same     true: k = i
              window   0: positive nodes are drawn at random, k among all rows; otherwise each node
                       has its turn, and k is one of the `window` rows before i, or i itself
    Changes   arcs     int64 (m, 4): columns i, j, k, q; i = -1 where no negative node was found
    Cost      O(1) per arc, and the labels of a row for each try
    Order     an arc depends on the seed, its number and the rows it may reach, not on its batch
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
