"""The one loop: one weight vector a label, all labels of a block at once.

Problem   for instance i in the given order:
              s = x W;  c = rule(s, y);  W += x c'
          and, if averaged, U += t x c' at time t, so that W - U / T is the mean of the weights
          after each of the T instances
Given     X         rows: xptr int64 (n+1,), xidx int32, xval float32
          Y         rows: yptr int64 (n+1,), yidx int32, yval float64 (> 0 relevant, NaN unknown)
          order     int64, rows of X in the order they are presented
          lo, width labels lo..lo+width-1 are in hand; B >= width is the padded block size
Changes   W         float32 (d, B), C-contiguous, in place; U float64 (d, B), or (0, B) if not kept
Returns   labels moved in all
Cost      two vector operations of B lanes a non-zero; nothing is allocated per non-zero
Order     instances as given: same input, same bits
See       the architecture of the library: BR, passive-aggressive and MMP differ in `rule` only
"""

import numpy as np

from labelrank.kernels._compile import inner_kernel, kernel
from labelrank.kernels.lanes import (
    WIDTH,
    add_lines,
    empty_lines,
    load,
    multiply_add,
    prefetch_lines,
    store,
    store_lines,
)
from labelrank.kernels.random import normal
from labelrank.kernels.rules import (
    IRRELEVANT,
    PASSIVE_AGGRESSIVE,
    RELEVANT,
    UNKNOWN,
    mmp,
    separate,
    separate_pa,
)

SEPARATE, MMP = range(2)
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
        total = empty_lines(lines)
        last = np.uint64(xidx.shape[0] - 1)
        for p in range(np.uint64(start), np.uint64(stop)):  # unsigned: no index counts from the end
            prefetch_lines(W, np.int64(xidx[min(p + _AHEAD, last)]) * stride + at, total)
            total = add_lines(xval[p], W, np.int64(xidx[p]) * stride + at, total)
        store_lines(s, at, total)

    return sum_lines


_seven, _four, _two, _one = _sum_of(7), _sum_of(4), _sum_of(2), _sum_of(1)


@inner_kernel
def line_scores(xidx, xval, start, stop, W, stride, s):
    """s = x W for one row, with flat float32 W: sums stay in registers, lines are fetched ahead."""
    at = 0
    while at + 7 * WIDTH <= stride:
        _seven(xidx, xval, start, stop, W, stride, at, s)
        at += 7 * WIDTH
    if at + 4 * WIDTH <= stride:
        _four(xidx, xval, start, stop, W, stride, at, s)
        at += 4 * WIDTH
    if at + 2 * WIDTH <= stride:
        _two(xidx, xval, start, stop, W, stride, at, s)
        at += 2 * WIDTH
    if at < stride:
        _one(xidx, xval, start, stop, W, stride, at, s)


@inner_kernel
def line_add(xidx, xval, start, stop, c, W, stride):
    """W += x c' for one row, with flat float32 W; sixteen labels that stay are passed over."""
    for at in range(0, stride, WIDTH):
        moves = False
        for k in range(at, at + WIDTH):
            moves |= c[k] != 0.0
        if moves:
            steps = load(c, at)
            for p in range(start, stop):
                line = np.int64(xidx[p]) * stride + at
                store(W, line, multiply_add(xval[p], steps, load(W, line)))


@kernel
def squared_norm(xval, start, stop):
    total = 0.0
    for p in range(start, stop):
        total += xval[p] * xval[p]
    return total


@inner_kernel
def _mark(yidx, yval, start, stop, lo, width, kind, relevant, unknown):
    """Note what the labels of this block are; returns how many are relevant and unknown."""
    n_relevant, n_unknown = 0, 0
    for q in range(start, stop):
        k = yidx[q] - lo
        if 0 <= k < width:
            if yval[q] > 0.0:
                kind[k] = RELEVANT
                relevant[n_relevant] = k
                n_relevant += 1
            else:
                kind[k] = UNKNOWN
                unknown[n_unknown] = k
                n_unknown += 1
    return n_relevant, n_unknown


@inner_kernel
def _unmark(yidx, start, stop, lo, width, kind):
    for q in range(start, stop):
        k = yidx[q] - lo
        if 0 <= k < width:
            kind[k] = IRRELEVANT


@kernel
def learn_pass(
    xptr, xidx, xval, yptr, yidx, yval, order, lo, width, W, U, clock,
    rule, step, margin, tie_is_right, C, loss, penalty, seed,
):  # fmt: skip
    lanes = W.shape[1]
    flat = W.reshape(W.size)
    s, c = np.empty(lanes, np.float32), np.zeros(lanes, np.float32)
    kind = np.zeros(lanes, np.int8)
    relevant, unknown = np.empty(lanes, np.int32), np.empty(lanes, np.int32)
    shifted, ascending = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    violating = np.empty(lanes + 1, np.int32)
    tally = np.empty((3, lanes + 1))
    averaged = U.shape[0] > 0
    total = 0
    for t in range(order.shape[0]):
        i = order[t]
        start, stop, first, last = xptr[i], xptr[i + 1], yptr[i], yptr[i + 1]
        line_scores(xidx, xval, start, stop, flat, lanes, s)
        n_relevant, n_unknown = _mark(yidx, yval, first, last, lo, width, kind, relevant, unknown)
        gain = squared_norm(xval, start, stop) if step else 0.0
        if rule == MMP:
            moved = mmp(
                s, kind, width, relevant, n_relevant, gain, step, margin, C, loss, penalty, seed,
                clock + t, c, shifted, violating, ascending, tally,
            )  # fmt: skip
        elif step == PASSIVE_AGGRESSIVE:
            moved = separate_pa(s, kind, width, gain, C, c)
        else:
            moved = separate(s, width, relevant, n_relevant, unknown, n_unknown, margin,
                             tie_is_right, c)  # fmt: skip
        _unmark(yidx, first, last, lo, width, kind)
        total += moved
        if moved:
            line_add(xidx, xval, start, stop, c, flat, lanes)
            if averaged:
                row_add(xidx, xval, start, stop, float(clock + t), c, U)
    return total


@kernel
def scores(xptr, xidx, xval, first, last, W, width, out):
    """out[i, :width] = x_i W for rows first..last-1."""
    s = np.empty(W.shape[1], np.float32)
    flat = W.reshape(W.size)
    for i in range(first, last):
        line_scores(xidx, xval, xptr[i], xptr[i + 1], flat, W.shape[1], s)
        row = out[i]
        for k in range(width):
            row[k] = s[k]


@kernel
def double_scores(xptr, xidx, xval, first, last, W, width, out):
    """As `scores`, for float64 W."""
    s = np.empty(W.shape[1], np.float64)
    for i in range(first, last):
        row_scores(xidx, xval, xptr[i], xptr[i + 1], W, s)
        row = out[i]
        for k in range(width):
            row[k] = s[k]


@kernel
def fill_normal(W, first, last, lo, scale, seed):
    """Lanes first..last-1 get small normal weights that depend on (feature, label) alone."""
    for j in range(W.shape[0]):
        for k in range(first, last):
            W[j, k] = scale * normal(seed, j, lo + k)
