"""All arcs of an instance at once: hard negatives, AdaGrad steps, averaging."""

from typing import NamedTuple

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.embedding import CLOCK, TIME, dot, move
from labelrank.kernels.linear import row_scores
from labelrank.kernels.preference_draws import is_stored
from labelrank.kernels.random import uniform


class Steps(NamedTuple):
    """How to learn: candidates for each negative label, rate, margin, and whether codes move."""

    negatives: int
    rate: float
    margin: float
    moves_codes: bool


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
    Given     X, Y   rows: pointers int64, columns int32, values float32 or float64; in Y a value
                     > 0 is relevant, NaN unknown
              order  int64, rows in the order they are presented
              seed, clock   candidate c of turn clock + t depends on nothing else
              steps  Steps
    Changes   W, M   matrices with their means (see `embedding`), of SCALE 1; one tick per instance
    Returns   the number of violated arcs
    Cost      O(non-zeros * s + relevant * negatives * s) per instance
    Order     instances as given: same input, same bits
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
