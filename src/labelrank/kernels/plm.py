"""Perceptron on the worst arc of each preference graph (Aiolli & Sperduti 2005; 001, Figure 1).

An instance has one graph of all its arcs relevant > irrelevant (ALL), one for each relevant label
(PER_LABEL), or one for each pair (PER_PAIR). Graph after graph, the arc (a, b) of least margin
moves w_a by +x and w_b by -x if s_a - s_b <= 0.
"""

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.linear import row_add, row_scores, squared_norm

ALL, PER_LABEL, PER_PAIR = range(3)
_IRRELEVANT, _RELEVANT, _UNKNOWN = range(3)


@kernel
def _mark(yidx, yval, start, stop, kind):
    kind[:] = _IRRELEVANT
    for p in range(start, stop):
        kind[yidx[p]] = _RELEVANT if yval[p] > 0.0 else _UNKNOWN


@kernel
def _extreme(s, kind, wanted, sign):
    """The label of the wanted kind with the largest sign * score, the first of equals, or -1."""
    best = -1
    for k in range(s.shape[0]):
        if kind[k] == wanted and (best < 0 or sign * s[k] > sign * s[best]):
            best = k
    return best


@kernel
def _arc(a, b, gain, clock, s, c, u):
    """Move one arc if it is violated; scores follow, so the next graph sees exact ones."""
    if s[a] - s[b] > 0.0:
        return 0
    s[a] += gain
    s[b] -= gain
    c[a] += 1.0
    c[b] -= 1.0
    u[a] += clock
    u[b] -= clock
    return 1


@kernel
def _walk(graph, kind, gain, clock, s, c, u):
    """All graphs of an instance; returns how many there are and how many were violated."""
    graphs, violated = 0, 0
    c[:] = 0.0
    u[:] = 0.0
    if graph == ALL:
        a, b = _extreme(s, kind, _RELEVANT, -1), _extreme(s, kind, _IRRELEVANT, 1)
        if a >= 0 and b >= 0:
            return 1, _arc(a, b, gain, clock, s, c, u)
        return 0, 0
    for a in range(s.shape[0]):
        if kind[a] != _RELEVANT:
            continue
        if graph == PER_LABEL:
            b = _extreme(s, kind, _IRRELEVANT, 1)
            if b >= 0:
                violated += _arc(a, b, gain, clock + graphs, s, c, u)
                graphs += 1
            continue
        for b in range(s.shape[0]):
            if kind[b] == _IRRELEVANT:
                violated += _arc(a, b, gain, clock + graphs, s, c, u)
                graphs += 1
    return graphs, violated


@kernel
def learn_linear(X, Y, order, graph, clock, W, U):
    """One pass with weights for each feature.

    Given     order  int64, the rows of X in the order they are presented
              graph  ALL, PER_LABEL or PER_PAIR; clock: graphs met before
    Changes   W float32 (d, K) and U float64 (d, K): with T graphs in all, W - U / T is the mean of
              the weights after each graph
    Returns   graphs met, and violated ones
    Cost      O(K) per graph in score space; the weights are touched once per instance
    """
    xptr, xidx, xval, _ = X
    yptr, yidx, yval, _ = Y
    K = W.shape[1]
    s, c, u = np.empty(K, np.float32), np.empty(K, np.float32), np.empty(K)
    kind = np.empty(K, np.int8)
    graphs, violated = 0, 0
    for i in order:
        start, stop = xptr[i], xptr[i + 1]
        row_scores(xidx, xval, start, stop, W, s)
        _mark(yidx, yval, yptr[i], yptr[i + 1], kind)
        gain = np.float32(squared_norm(xval, start, stop))
        met, moved = _walk(graph, kind, gain, float(clock + graphs), s, c, u)
        graphs += met
        violated += moved
        if moved:
            row_add(xidx, xval, start, stop, np.float32(1.0), c, W)
            row_add(xidx, xval, start, stop, 1.0, u, U)
    return graphs, violated


@kernel
def learn_dual(G, at, Y, rows, graph, clock, A, U, active):
    """One pass with a kernel, over the instances known so far.

    Given     G       float64 (m, n): the kernel of the m instances in hand with n known ones
              at      int64 (m,): the place of each instance in hand among the known ones
              rows    int64 (m,): its row in Y
              others  as in `learn_linear`
    Changes   A, U    float64 (n, K), in place of W and U; active bool (n,): A is not zero
    Returns   graphs met, and violated ones
    Cost      O(active K) per instance, then as `learn_linear`
    """
    yptr, yidx, yval, _ = Y
    K = A.shape[1]
    s, c, u = np.empty(K), np.empty(K), np.empty(K)
    kind = np.empty(K, np.int8)
    graphs, violated = 0, 0
    for t in range(rows.shape[0]):
        i = rows[t]
        s[:] = 0.0
        for known in range(A.shape[0]):
            if active[known]:
                weight, row = G[t, known], A[known]
                for k in range(K):
                    s[k] += weight * row[k]
        _mark(yidx, yval, yptr[i], yptr[i + 1], kind)
        met, moved = _walk(graph, kind, G[t, at[t]], float(clock + graphs), s, c, u)
        graphs += met
        violated += moved
        if moved:
            active[at[t]] = True
            A[at[t]] += c
            U[at[t]] += u
    return graphs, violated
