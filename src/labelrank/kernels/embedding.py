"""Scores <x W, M_r>: how the embedding W and the codes M are learned, and the best labels.

Learned by voted perceptrons, one random arc after the other (001, Algorithm 1), or by all arcs of
an instance at once, with hard negatives, AdaGrad steps and averages. A matrix with the mean of all
it has been is kept as five arrays, so that an update touches only the rows that move:

    values   float32 (rows, s)   the matrix is SCALE * values, of squared norm SCALE² * SQUARE
    sums     float64 (rows, s)   its sum over TIME arcs is sums + (CLOCK - since) * values
    since    float64 (rows,)
    state    float64 (4,)        SCALE, CLOCK, SQUARE, TIME
    squares  float64 (rows,)     mean squared gradients, for `learn_instances`
"""

from typing import NamedTuple

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.inverted import insert
from labelrank.kernels.linear import row_scores, squared_norm
from labelrank.kernels.random import is_stored, uniform

SCALE, CLOCK, SQUARE, TIME = range(4)
BLOCK, _RUN = 1024, 32


class Steps(NamedTuple):
    """How to learn: candidates for each negative label, rate, margin, and whether codes move."""

    negatives: int
    rate: float
    margin: float
    moves_codes: bool


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
    Given     arcs   int64 (m, 4), columns i, j, k, q; i = -1 is skipped
              M      float32 (K, s)
    Changes   W      a matrix of d rows with its mean
    Returns   the number of violated arcs
    Cost      O(non-zeros * s) per arc
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

    Problem   as there, but with the mean of W, and the update M_j += x_i W,  M_q -= x_k W
    Given     W, of d rows; the others as in `learn_embedding`
    Changes   M, of K rows
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


@kernel
def _hardest(yidx, start, stop, M, h, seed, turn, first, negatives):
    """The best-scored irrelevant label among the candidates, or -1."""
    hardest, best = -1, -np.inf
    for c in range(first, first + negatives):
        q = int(uniform(seed, turn, c) * M.shape[0])
        score = dot(M[q], h)
        if score > best and not is_stored(yidx, start, stop, q):
            hardest, best = q, score
    return hardest


@kernel
def _move_code(label, sign, rate, h, square, M):
    values, sums, since, state, squares = M
    squares[label] += square
    if squares[label] > 0.0:
        step = np.float32(sign * rate / np.sqrt(squares[label]))
        move(label, step, h, values, sums, since, state[CLOCK])


@kernel
def _move_embedding(xidx, xval, start, stop, rate, g, square, W):
    values, sums, since, state, squares = W
    for p in range(start, stop):
        row, x = xidx[p], xval[p]
        squares[row] += x * x * square
        if squares[row] > 0.0:
            step = np.float32(rate * x / np.sqrt(squares[row]))
            move(row, step, g, values, sums, since, state[CLOCK])


@kernel
def learn_instances(X, Y, order, seed, clock, steps, W, M):
    """AdaGrad steps for W, and for M too if the codes move.

    Problem   for instance x in the given order, h = x W; each relevant label j is compared with
              the best-scored of `negatives` random irrelevant labels q; where
              <h, M_j - M_q> <= margin
                  g += M_j - M_q;  and if the codes move, M_j and M_q move along +h and -h
              then W += x g', with a step rate / sqrt(sum of squares so far) for each feature
    Given     order  int64, rows in the order they are presented
              seed, clock   candidate c of turn clock + t depends on nothing else
    Changes   W, M   matrices with their means, of SCALE 1; one tick per instance
    Returns   the number of violated arcs
    Cost      O(non-zeros * s + relevant * negatives * s) per instance
    See       Weston, Bengio & Usunier 2011 (WSABIE); Duchi, Hazan & Singer 2011 (AdaGrad)
    """
    xptr, xidx, xval, _ = X
    yptr, yidx, yval, _ = Y
    negatives, rate, margin, moves_codes = steps
    embedding, codes, W_state, M_state = W[0], M[0], W[3], M[3]
    s = embedding.shape[1]
    h, g = np.empty(s, np.float32), np.empty(s, np.float32)
    violated = 0
    for t in range(order.shape[0]):
        i = order[t]
        start, stop = yptr[i], yptr[i + 1]
        row_scores(xidx, xval, xptr[i], xptr[i + 1], embedding, h)
        g[:] = 0.0
        square = dot(h, h) / s
        for p in range(start, stop):
            if not yval[p] > 0.0:
                continue
            j = yidx[p]
            first = 1 + (p - start) * negatives
            q = _hardest(yidx, start, stop, codes, h, seed, clock + t, first, negatives)
            if q < 0 or dot(codes[j], h) - dot(codes[q], h) > margin:
                continue
            violated += 1
            for c in range(s):
                g[c] += codes[j, c] - codes[q, c]
            if moves_codes:
                _move_code(j, 1.0, rate, h, square, M)
                _move_code(q, -1.0, rate, h, square, M)
        square = dot(g, g) / s
        if square > 0.0:
            _move_embedding(xidx, xval, xptr[i], xptr[i + 1], rate, g, square, W)
        W_state[CLOCK] += 1.0
        W_state[TIME] += 1.0
        if moves_codes:
            M_state[CLOCK] += 1.0
            M_state[TIME] += 1.0
    return violated


@kernel
def _four_rows(H, i, last, codes, lo, hi, o0, o1, o2, o3):
    """Scores of rows i..i+3 (where there are fewer before `last`, its last one again)."""
    width, end = hi - lo, last - 1
    i0, i1, i2, i3 = i, min(i + 1, end), min(i + 2, end), min(i + 3, end)
    for k in range(width):
        o0[k], o1[k], o2[k], o3[k] = 0.0, 0.0, 0.0, 0.0
    s = codes.shape[0]
    paired = s - s % 2
    for c in range(0, paired, 2):
        first, second = codes[c, lo:hi], codes[c + 1, lo:hi]
        a0, a1, a2, a3 = H[i0, c], H[i1, c], H[i2, c], H[i3, c]
        b0, b1, b2, b3 = H[i0, c + 1], H[i1, c + 1], H[i2, c + 1], H[i3, c + 1]
        for k in range(width):
            x, y = first[k], second[k]
            o0[k] = (o0[k] + a0 * x) + b0 * y
            o1[k] = (o1[k] + a1 * x) + b1 * y
            o2[k] = (o2[k] + a2 * x) + b2 * y
            o3[k] = (o3[k] + a3 * x) + b3 * y
    if paired < s:
        last = codes[paired, lo:hi]
        a0, a1, a2, a3 = H[i0, paired], H[i1, paired], H[i2, paired], H[i3, paired]
        for k in range(width):
            x = last[k]
            o0[k] += a0 * x
            o1[k] += a1 * x
            o2[k] += a2 * x
            o3[k] += a3 * x


@kernel
def _offer(scores, width, lo, labels, values):
    """Insert what beats the worst kept score; runs whose largest does not are passed over."""
    last = labels.shape[0] - 1
    for start in range(0, width, _RUN):
        stop = min(start + _RUN, width)
        largest = scores[start]
        for k in range(start + 1, stop):
            largest = max(largest, scores[k])
        if largest > values[last]:
            for k in range(start, stop):
                if scores[k] > values[last]:
                    insert(scores[k], lo + k, values, labels)


@kernel
def best(H, first, last, codes, labels, values):
    """The best labels of rows first..last-1; of equal scores the smaller label first.

    A score is summed over s in rising order, whatever the rows and labels around it, so `best`
    and `scores` give the same bits.

    Given     H       float32 (n, s), one row per instance
              codes   float32 (s, K), C-contiguous: one column per label
    Changes   labels  int64 (n, top) and values float32 (n, top), best first
    Cost      O(n s K) in blocks of labels that stay in cache; the n x K scores never exist
    """
    block = np.empty((4, BLOCK), np.float32)
    values[first:last] = -np.inf
    for lo in range(0, codes.shape[1], BLOCK):
        hi = min(lo + BLOCK, codes.shape[1])
        for i in range(first, last, 4):
            _four_rows(H, i, last, codes, lo, hi, block[0], block[1], block[2], block[3])
            for r in range(min(4, last - i)):
                _offer(block[r], hi - lo, lo, labels[i + r], values[i + r])


@kernel
def scores(H, first, last, codes, out):
    """All scores of rows first..last-1 into out, float32 (n, K); H and codes as in `best`."""
    block = np.empty((4, BLOCK), np.float32)
    for lo in range(0, codes.shape[1], BLOCK):
        hi = min(lo + BLOCK, codes.shape[1])
        for i in range(first, last, 4):
            _four_rows(H, i, last, codes, lo, hi, block[0], block[1], block[2], block[3])
            for r in range(min(4, last - i)):
                out[i + r, lo:hi] = block[r, : hi - lo]
