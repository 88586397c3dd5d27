"""Scores <x W, M_r>: voted perceptrons for the embedding W and for the codes M.

Problem   an arc (i, j) > (k, q) is violated if <x_i W, M_j> <= <x_k W, M_q>; then
              W += x_i M_j' - x_k M_q'     (codes fixed), or
              M_j += x_i W,  M_q -= x_k W  (embedding fixed)
          and the prediction vector is the mean of the matrix after each arc
Given     X         rows: xptr int64 (n+1,), xidx int32, xval float32
          arcs      int64 (m, 4), columns i, j, k, q; i = -1 is passed over
Changes   a matrix is kept as (values, sums, since, state), so that only rows that move are touched:
              values float32 (rows, s), sums float64 (rows, s), since float64 (rows,)
              state  float64 (4,): SCALE, CLOCK, SQUARE, TIME
          it stands for SCALE * values, of squared norm SCALE^2 * SQUARE; the sum over TIME arcs
          is sums + (CLOCK - since) * values, row by row
Returns   the number of violated arcs
Cost      O(non-zeros * s) an arc, O(s) an arc for the codes beside the products x W
Order     arcs as given: same input, same bits
See       Lauriola et al. (001), Algorithm 1; Freund & Schapire 1999 (voted perceptron)
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
def learn_embedding(xptr, xidx, xval, arcs, M, values, sums, since, state):
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
                step = 1.0 / state[SCALE]
                for p in range(i, i_end):
                    move(xidx[p], np.float32(step * xval[p]), M[j], values, sums, since,
                         state[CLOCK])  # fmt: skip
                for p in range(k, k_end):
                    move(xidx[p], np.float32(-step * xval[p]), M[q], values, sums, since,
                         state[CLOCK])  # fmt: skip
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
def mean_scores(xidx, xval, start, stop, values, sums, since, state, h):
    """h = x times the mean of the matrix over its TIME arcs."""
    clock, time = state[CLOCK], max(state[TIME], 1.0)
    for c in range(h.shape[0]):
        h[c] = 0.0
    for p in range(start, stop):
        value, total = values[xidx[p]], sums[xidx[p]]
        x, gap = xval[p] / time, clock - since[xidx[p]]
        for c in range(h.shape[0]):
            h[c] += x * (total[c] + gap * value[c])


@kernel
def learn_codes(
    xptr, xidx, xval, arcs, W, W_sums, W_since, W_state, values, sums, since, state
):  # fmt: skip
    s = values.shape[1]
    wide = np.empty(s)
    better, worse = np.empty(s, np.float32), np.empty(s, np.float32)
    violated = 0
    for t in range(arcs.shape[0]):
        i, j, k, q = arcs[t]
        if i >= 0:
            mean_scores(xidx, xval, xptr[i], xptr[i + 1], W, W_sums, W_since, W_state, wide)
            better[:] = wide
            mean_scores(xidx, xval, xptr[k], xptr[k + 1], W, W_sums, W_since, W_state, wide)
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
def settle(values, sums, since, state):
    """Bring all sums up to date and make SCALE 1, the clock 0: the matrix stays what it is."""
    for row in range(values.shape[0]):
        gap = state[CLOCK] - since[row]
        since[row] = 0.0
        for c in range(values.shape[1]):
            sums[row, c] += gap * values[row, c]
            values[row, c] *= state[SCALE]
    state[SQUARE] *= state[SCALE] * state[SCALE]
    state[CLOCK], state[SCALE] = 0.0, 1.0


@kernel
def project(xptr, xidx, xval, first, last, values, sums, since, state, H):
    """H[i] = x_i times the mean of the matrix, for rows first..last-1."""
    wide = np.empty(values.shape[1])
    for i in range(first, last):
        mean_scores(xidx, xval, xptr[i], xptr[i + 1], values, sums, since, state, wide)
        H[i] = wide
