"""Scores <x W, M_r>: voted perceptrons for the embedding W and for the codes M (001, Algorithm 1).

A matrix with the mean of all it has been is kept as five arrays, so that an update touches only
the rows that move:

    values   float32 (rows, s)   the matrix is SCALE * values, of squared norm SCALE² * SQUARE
    sums     float64 (rows, s)   its sum over TIME arcs is sums + (CLOCK - since) * values
    since    float64 (rows,)
    state    float64 (4,)        SCALE, CLOCK, SQUARE, TIME
    squares  float64 (rows,)     mean squared gradients; see `instance_arcs`
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.linear import row_scores, squared_norm

SCALE, CLOCK, SQUARE, TIME = range(4)


@fast_kernel
def dot(a, b):
    total = np.float32(0.0)
    for c in range(a.shape[0]):
        total += a[c] * b[c]
    return total


@kernel
def _common(xidx, xval, i, i_end, k, k_end):
    """Inner product of two sparse rows."""
    total = 0.0
    while i < i_end and k < k_end:
        if xidx[i] == xidx[k]:
            total += xval[i] * xval[k]
            i += 1
            k += 1
        elif xidx[i] < xidx[k]:
            i += 1
        else:
            k += 1
    return total


@kernel
def move(row, step, direction, values, sums, since, clock):
    """values[row] += step * direction, after the row's past has been added to its sum."""
    value, total = values[row], sums[row]
    gap = clock - since[row]
    since[row] = clock
    for c in range(direction.shape[0]):
        total[c] += gap * value[c]
        value[c] += step * direction[c]


@kernel
def learn_embedding(X, arcs, M, W):
    """Voted perceptron of the embedding, with fixed codes.

    Problem   an arc (i, j) > (k, q) is violated if <x_i W, M_j> <= <x_k W, M_q>; then
              W += x_i M_j' - x_k M_q', and W stands for one more arc in its mean
    Given     X      rows: pointers int64, columns int32, values float32
              arcs   int64 (m, 4), columns i, j, k, q; i = -1 is skipped
              M      float32 (K, s)
    Changes   W      a matrix of d rows with its mean
    Returns   the number of violated arcs
    Cost      O(non-zeros * s) per arc
    Order     arcs as given: same input, same bits
    See       Freund & Schapire 1999 (voted perceptron)
    """
    xptr, xidx, xval, _ = X
    values, sums, since, state, _ = W
    s = values.shape[1]
    better, worse = np.empty(s, np.float32), np.empty(s, np.float32)
    violated = 0
    for t in range(arcs.shape[0]):
        i, j, k, q = arcs[t]
        if i >= 0:
            i, i_end, k, k_end = xptr[i], xptr[i + 1], xptr[k], xptr[k + 1]
            row_scores(xidx, xval, i, i_end, values, better)
            row_scores(xidx, xval, k, k_end, values, worse)
            margin = dot(M[j], better) - dot(M[q], worse)
            if margin <= 0.0:
                violated += 1
                step, clock = 1.0 / state[SCALE], state[CLOCK]
                for p in range(i, i_end):
                    move(xidx[p], np.float32(step * xval[p]), M[j], values, sums, since, clock)
                for p in range(k, k_end):
                    move(xidx[p], np.float32(-step * xval[p]), M[q], values, sums, since, clock)
                square = (
                    dot(M[j], M[j]) * squared_norm(xval, i, i_end)
                    + dot(M[q], M[q]) * squared_norm(xval, k, k_end)
                    - 2.0 * dot(M[j], M[q]) * _common(xidx, xval, i, i_end, k, k_end)
                )
                state[SQUARE] += step * (2.0 * margin + step * square)
        state[CLOCK] += state[SCALE]
        state[TIME] += 1.0
    return violated


@kernel
def _mean_scores(xidx, xval, start, stop, W, h):
    """h = x times the mean of the matrix over its TIME arcs."""
    values, sums, since, state, _ = W
    clock, time = state[CLOCK], max(state[TIME], 1.0)
    for c in range(h.shape[0]):
        h[c] = 0.0
    for p in range(start, stop):
        value, total = values[xidx[p]], sums[xidx[p]]
        x, gap = xval[p] / time, clock - since[xidx[p]]
        for c in range(h.shape[0]):
            h[c] += x * (total[c] + gap * value[c])


@kernel
def learn_codes(X, arcs, W, M):
    """Voted perceptron of the codes, with a fixed embedding.

    Problem   as `learn_embedding`, but with the mean of W, and the update
              M_j += x_i W,  M_q -= x_k W
    Given     X, arcs   as in `learn_embedding`; W a matrix of d rows with its mean
    Changes   M         a matrix of K rows with its mean
    Returns   the number of violated arcs
    Cost      O(s) per arc beside the two products x W
    """
    xptr, xidx, xval, _ = X
    values, sums, since, state, _ = M
    s = values.shape[1]
    wide = np.empty(s)
    better, worse = np.empty(s, np.float32), np.empty(s, np.float32)
    violated = 0
    for t in range(arcs.shape[0]):
        i, j, k, q = arcs[t]
        if i >= 0:
            _mean_scores(xidx, xval, xptr[i], xptr[i + 1], W, wide)
            better[:] = wide
            _mean_scores(xidx, xval, xptr[k], xptr[k + 1], W, wide)
            worse[:] = wide
            margin = dot(values[j], better) - dot(values[q], worse)
            if margin <= 0.0:
                violated += 1
                step = 1.0 / state[SCALE]
                move(j, np.float32(step), better, values, sums, since, state[CLOCK])
                move(q, np.float32(-step), worse, values, sums, since, state[CLOCK])
                square = dot(better, better) + dot(worse, worse)
                if j == q:
                    square -= 2.0 * dot(better, worse)
                state[SQUARE] += step * (2.0 * margin + step * square)
        state[CLOCK] += state[SCALE]
        state[TIME] += 1.0
    return violated


@kernel
def settle(matrix):
    """Bring all sums up to date and make SCALE 1, the clock 0: the matrix stays what it is."""
    values, sums, since, state, _ = matrix
    for row in range(values.shape[0]):
        gap = state[CLOCK] - since[row]
        since[row] = 0.0
        for c in range(values.shape[1]):
            sums[row, c] += gap * values[row, c]
            values[row, c] *= state[SCALE]
    state[SQUARE] *= state[SCALE] * state[SCALE]
    state[CLOCK], state[SCALE] = 0.0, 1.0


@kernel
def project(X, W, first, last, H):
    """H[i] = x_i times the mean of W, for rows first..last-1; H float32 (n, s)."""
    xptr, xidx, xval, _ = X
    wide = np.empty(H.shape[1])
    for i in range(first, last):
        _mean_scores(xidx, xval, xptr[i], xptr[i + 1], W, wide)
        H[i] = wide
