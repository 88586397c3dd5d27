"""Rows of X times weights, and multiples of rows added to weights.

Problem   s = x W for one row x, or W += x c'; and out = X W for many rows
Given     W         (d, B), C-contiguous, any float; the kernels of `lines` and `scores`: float32,
                    B a multiple of sixteen
          c         (B,)
Changes   s (B,), W, or out (n, width)
Cost      two vector operations of B lanes a non-zero; nothing is allocated per non-zero
"""

import numpy as np

from labelrank.kernels import simd16 as v16
from labelrank.kernels._compile import inner_kernel, kernel

_AHEAD = np.uint64(12)


@kernel
def row_scores(xidx, xval, start, stop, W, s):
    """s = x W for one row."""
    width = s.shape[0]
    for k in range(width):
        s[k] = 0.0
    paired = start + (stop - start) // 4 * 4
    for p in range(start, paired, 4):  # four rows a turn: s is read and written a quarter as often
        a, b, c, d = xval[p], xval[p + 1], xval[p + 2], xval[p + 3]
        A, B, C, D = W[xidx[p]], W[xidx[p + 1]], W[xidx[p + 2]], W[xidx[p + 3]]
        for k in range(width):
            s[k] = (((s[k] + a * A[k]) + b * B[k]) + c * C[k]) + d * D[k]
    for p in range(paired, stop):
        value = xval[p]
        row = W[xidx[p]]
        for k in range(width):
            s[k] += value * row[k]


@kernel
def row_add(xidx, xval, start, stop, factor, c, W):
    """W += factor * x c' for one row."""
    width = c.shape[0]
    for p in range(start, stop):
        value = factor * xval[p]
        row = W[xidx[p]]
        for k in range(width):
            row[k] += value * c[k]


def _sum_of(lines):
    """The kernel that sums a row of W over `lines` times sixteen labels from `at` on."""

    @inner_kernel
    def sum_lines(xidx, xval, start, stop, W, stride, at, s):
        total = v16.empty_lines(lines)
        last = np.uint64(xidx.shape[0] - 1)
        for p in range(np.uint64(start), np.uint64(stop)):  # unsigned: no index counts from the end
            v16.prefetch(W, np.int64(xidx[min(p + _AHEAD, last)]) * stride + at, total)
            total = v16.add_lines(xval[p], W, np.int64(xidx[p]) * stride + at, total)
        v16.store(s, at, total)

    return sum_lines


_seven, _four, _two, _one = _sum_of(7), _sum_of(4), _sum_of(2), _sum_of(1)


@inner_kernel
def line_scores(xidx, xval, start, stop, W, stride, s):
    """s = x W for one row, with flat float32 W: sums stay in registers, lines are fetched ahead."""
    at = 0
    while at + 7 * v16.WIDTH <= stride:
        _seven(xidx, xval, start, stop, W, stride, at, s)
        at += 7 * v16.WIDTH
    if at + 4 * v16.WIDTH <= stride:
        _four(xidx, xval, start, stop, W, stride, at, s)
        at += 4 * v16.WIDTH
    if at + 2 * v16.WIDTH <= stride:
        _two(xidx, xval, start, stop, W, stride, at, s)
        at += 2 * v16.WIDTH
    if at < stride:
        _one(xidx, xval, start, stop, W, stride, at, s)


@inner_kernel
def line_add(xidx, xval, start, stop, c, W, stride):
    """W += x c' for one row, with flat float32 W; sixteen labels that stay are passed over."""
    for at in range(0, stride, v16.WIDTH):
        moves = False
        for k in range(at, at + v16.WIDTH):
            moves |= c[k] != 0.0
        if moves:
            steps = v16.load(c, at)
            for p in range(start, stop):
                line = np.int64(xidx[p]) * stride + at
                v16.store(W, line, v16.multiply_add(xval[p], steps, v16.load(W, line)))


@kernel
def squared_norm(xval, start, stop):
    total = 0.0
    for p in range(start, stop):
        total += xval[p] * xval[p]
    return total


@kernel
def scores(X, first, last, W, width, out):
    """out[i, :width] = x_i W for rows first..last-1; X is (xptr, xidx, xval, columns)."""
    xptr, xidx, xval, _ = X
    s = np.empty(W.shape[1], np.float32)
    flat = W.reshape(W.size)
    for i in range(first, last):
        line_scores(xidx, xval, xptr[i], xptr[i + 1], flat, W.shape[1], s)
        row = out[i]
        for k in range(width):
            row[k] = s[k]


@kernel
def double_scores(X, first, last, W, width, out):
    """As `scores`, for float64 W."""
    xptr, xidx, xval, _ = X
    s = np.empty(W.shape[1], np.float64)
    for i in range(first, last):
        row_scores(xidx, xval, xptr[i], xptr[i + 1], W, s)
        row = out[i]
        for k in range(width):
            row[k] = s[k]


@kernel
def add_labelled_rows(X, Y, unknown, sums, counts):
    """sums[k] += x_i for every label k of row i that is relevant (or, if asked, unknown).

    Given     unknown  false sums the rows where a label is relevant, true where it is unknown
    Changes   sums float64 (K, d), counts float64 (K,)
    Cost      non-zeros of a row times its labels; nothing is allocated
    """
    xptr, xidx, xval, _ = X
    yptr, yidx, yval, _ = Y
    for i in range(xptr.shape[0] - 1):
        for q in range(yptr[i], yptr[i + 1]):
            wanted = np.isnan(yval[q]) if unknown else yval[q] > 0.0
            if wanted:
                k = yidx[q]
                counts[k] += 1.0
                row = sums[k]
                for p in range(xptr[i], xptr[i + 1]):
                    row[xidx[p]] += xval[p]


@kernel
def add_product(ptr, labels, first, last, v, out):
    """out += Yᵀ(Yv) for documents first..last-1, Y the 0/1 matrix of relevant labels.

    Given     ptr int64 (n+1,), labels int32: the relevant labels of each document
              v   float64 (K,)
    Changes   out float64 (K,)
    Cost      two visits per relevant label; the co-occurrence matrix YᵀY is never formed
    See       Lauriola et al. 2018, section 4: codes from the label kernel
    """
    for i in range(first, last):
        total = 0.0
        for p in range(ptr[i], ptr[i + 1]):
            total += v[labels[p]]
        for p in range(ptr[i], ptr[i + 1]):
            out[labels[p]] += total
