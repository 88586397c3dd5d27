"""All arcs of an instance at once: hard negatives, AdaGrad steps, averaging.

Problem   for instance x in the given order, h = x W; each relevant label j is compared with the
          best-scored of `negatives` random irrelevant labels q; where <h, M_j - M_q> <= margin
              g += M_j - M_q;  and if the codes learn too, M_j and M_q move along +h and -h
          then W += x g' with a step rate / sqrt(sum of squares so far) for each feature
Given     X, Y      rows as in `embedding` and `preference_draws`, yval float64 (> 0 relevant)
          order     int64, rows in the order they are presented
          seed, clock   candidate c of turn clock + t depends on nothing else
          moves_codes   0: M is fixed, M_sums and M_since are not touched
Changes   W, M      as in `embedding` with SCALE 1: values, sums, since; one tick an instance
          W_squares, M_squares   float64, one number a row: mean squared gradient so far
Returns   the number of violated arcs
Cost      O(non-zeros * s + relevant * negatives * s) an instance
Order     instances as given: same input, same bits
See       Weston, Bengio & Usunier 2011 (WSABIE); Duchi, Hazan & Singer 2011 (AdaGrad)
"""

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.embedding import CLOCK, TIME, dot, move
from labelrank.kernels.linear import row_scores
from labelrank.kernels.preference_draws import is_stored
from labelrank.kernels.random import uniform


@kernel
def _hardest(yidx, start, stop, M, h, seed, turn, first, negatives):
    """The best-scored irrelevant label among the candidates, or -1."""
    found, best = -1, -np.inf
    for c in range(first, first + negatives):
        q = int(uniform(seed, turn, c) * M.shape[0])
        score = dot(M[q], h)
        if score > best and not is_stored(yidx, start, stop, q):
            found, best = q, score
    return found


@kernel
def _move_code(label, sign, rate, h, square, M, M_sums, M_since, M_squares, clock):
    M_squares[label] += square
    if M_squares[label] > 0.0:
        step = np.float32(sign * rate / np.sqrt(M_squares[label]))
        move(label, step, h, M, M_sums, M_since, clock)


@kernel
def learn_instances(
    xptr, xidx, xval, yptr, yidx, yval, order, seed, clock, negatives, rate, margin,
    W, W_sums, W_since, W_state, W_squares, M, M_sums, M_since, M_state, M_squares, moves_codes,
):  # fmt: skip
    s = W.shape[1]
    h, g = np.empty(s, np.float32), np.empty(s, np.float32)
    violated = 0
    for t in range(order.shape[0]):
        i = order[t]
        start, stop = yptr[i], yptr[i + 1]
        row_scores(xidx, xval, xptr[i], xptr[i + 1], W, h)
        g[:] = 0.0
        square = dot(h, h) / s
        for p in range(start, stop):
            if not yval[p] > 0.0:
                continue
            j = yidx[p]
            first = 1 + (p - start) * negatives
            q = _hardest(yidx, start, stop, M, h, seed, clock + t, first, negatives)
            if q < 0 or dot(M[j], h) - dot(M[q], h) > margin:
                continue
            violated += 1
            for c in range(s):
                g[c] += M[j, c] - M[q, c]
            if moves_codes:
                _move_code(j, 1.0, rate, h, square, M, M_sums, M_since, M_squares, M_state[CLOCK])
                _move_code(q, -1.0, rate, h, square, M, M_sums, M_since, M_squares, M_state[CLOCK])
        square = dot(g, g) / s
        if square > 0.0:
            for p in range(xptr[i], xptr[i + 1]):
                row, x = xidx[p], xval[p]
                W_squares[row] += x * x * square
                if W_squares[row] > 0.0:
                    step = np.float32(rate * x / np.sqrt(W_squares[row]))
                    move(row, step, g, W, W_sums, W_since, W_state[CLOCK])
        W_state[CLOCK] += 1.0
        W_state[TIME] += 1.0
        if moves_codes:
            M_state[CLOCK] += 1.0
            M_state[TIME] += 1.0
    return violated
