"""Rounds of AdaBoost.MH over decision stumps: judge every cut, reweigh, score.

Problem   D(i, l) > 0 weighs the pairs of instance and label. A cut parts the instances into those
          inside (the first rows of a run: all rows of a feature whose value lies beyond some
          point) and those outside. Find the cut whose stump makes the weights of the next round
          smallest in sum; then multiply D(i, l) by exp(-y c), y = ±1, c the stump's answer.
Given     runs    `Runs`, the cuts
          above   float64 (K,), below float32 (K,): summed weights of the pairs with y = +1, y = -1
Changes   pairs   `Pairs`, the weights (`reweigh` alone changes them)
Returns   `best_cut`: the criterion (smaller is better) and the cut, -1 if there is none
Cost      `best_cut`: one vector addition of K lanes per row of a run, two square roots per label
          and cut; `reweigh`: one multiplication per pair
Order     the first of equal cuts, however runs are split
See       Schapire & Singer 2000, Section 3 and Figures 2 and 3
"""

from typing import NamedTuple

import numpy as np

from labelrank._types import Float32, Int32, Int64
from labelrank.kernels._compile import fast_kernel, kernel

REAL, DISCRETE, ABSTAINING = range(3)


class Runs(NamedTuple):
    """Cuts c from first_cut[r] to first_cut[r+1] - 1 of run r: rows[start[r]:end[c]], ascending."""

    start: Int64
    rows: Int32
    first_cut: Int64
    end: Int64


class Pairs(NamedTuple):
    """D by relevant and unknown labels of each row (0: unknown), and by irrelevant ones (n, K)."""

    indptr: Int64
    indices: Int32
    positive: Float32
    negative: Float32


@kernel
def _add_rows(rows, begin, end, yptr, yidx, positive, negative, inside, outside):
    """Add the weights of rows[begin:end]: relevant ones to `inside`, others to `outside`."""
    width = outside.shape[0]
    paired = begin + (end - begin) // 4 * 4
    for e in range(begin, paired, 4):  # four rows at once: the sums are touched a quarter as often
        a, b = negative[rows[e]], negative[rows[e + 1]]
        c, d = negative[rows[e + 2]], negative[rows[e + 3]]
        for k in range(width):
            outside[k] += (a[k] + b[k]) + (c[k] + d[k])
    for e in range(paired, end):
        a = negative[rows[e]]
        for k in range(width):
            outside[k] += a[k]
    for e in range(begin, end):
        i = rows[e]
        for q in range(yptr[i], yptr[i + 1]):
            inside[yidx[q]] += positive[q]


@fast_kernel
def _real(P, N, above, below):
    """Half the weight left by the best real-valued answers of both sides."""
    total = np.float32(0.0)
    zero = np.float32(0.0)
    for k in range(N.shape[0]):
        p, n = np.float32(P[k]), N[k]
        q, m = np.float32(above[k] - P[k]), below[k] - n
        q = q if q > zero else zero
        m = m if m > zero else zero
        total += np.sqrt(p * n) + np.sqrt(q * m)
    return total


@fast_kernel
def _discrete(P, N, above, below):
    """Minus the advantage of the better sign of both sides."""
    total = np.float32(0.0)
    for k in range(N.shape[0]):
        lead = np.float32(P[k]) - N[k]
        rest = np.float32(above[k] - P[k]) - (below[k] - N[k])
        total -= abs(lead) + abs(rest)
    return total


@fast_kernel
def _abstaining(P, N):
    """Weight saved by real-valued answers inside alone, with a minus."""
    total = np.float32(0.0)
    for k in range(N.shape[0]):
        gap = np.sqrt(np.float32(P[k])) - np.sqrt(N[k])
        total -= gap * gap
    return total


@kernel
def best_cut(runs, first, last, pairs, above, below, weak):
    """The best cut of runs first..last-1."""
    start, rows, first_cut, end = runs
    yptr, yidx, positive, negative = pairs
    width = negative.shape[1]
    P, N = np.empty(width, np.float64), np.empty(width, np.float32)
    best, where = np.inf, np.int64(-1)
    for r in range(first, last):
        P[:] = 0.0
        N[:] = 0.0
        begin = start[r]
        for c in range(first_cut[r], first_cut[r + 1]):
            _add_rows(rows, begin, end[c], yptr, yidx, positive, negative, P, N)
            begin = end[c]
            if weak == REAL:
                found = _real(P, N, above, below)
            elif weak == DISCRETE:
                found = _discrete(P, N, above, below)
            else:
                found = _abstaining(P, N)
            if found < best:
                best, where = np.float64(found), np.int64(c)
    return best, where


@kernel
def sums(rows, pairs, P, N):
    """P[l], N[l] (float64) += the weights of the given rows for y = +1 and y = -1."""
    yptr, yidx, positive, negative = pairs
    for e in range(rows.shape[0]):
        i = rows[e]
        row = negative[i]
        for k in range(row.shape[0]):
            N[k] += row[k]
        for q in range(yptr[i], yptr[i + 1]):
            P[yidx[q]] += positive[q]


@kernel
def reweigh(is_inside, pairs, up, down):
    """Multiply the weights: `up[side]` for y = -1, `down[side]` for y = +1; side 1 is inside."""
    yptr, yidx, positive, negative = pairs
    for i in range(negative.shape[0]):
        side = is_inside[i]
        row, factor, other = negative[i], up[side], down[side]
        for k in range(row.shape[0]):
            row[k] *= factor[k]
        for q in range(yptr[i], yptr[i + 1]):
            positive[q] *= other[yidx[q]]


@kernel
def scores(xptr, xidx, xval, first, last, of_feature, sign, threshold, gain, out):
    """out[i] += gain[t] for every stump t that holds x_i inside; stumps grouped by feature."""
    for i in range(first, last):
        row = out[i]
        for p in range(xptr[i], xptr[i + 1]):
            j = xidx[p]
            for t in range(of_feature[j], of_feature[j + 1]):
                if sign[t] * xval[p] > threshold[t]:
                    step = gain[t]
                    for k in range(row.shape[0]):
                        row[k] += step[k]
