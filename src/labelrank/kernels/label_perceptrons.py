"""Perceptrons with one weight vector per label, all labels of a block at once.

Problem   for instance i in the given order:
              s = x W;  c = rule(s, y);  W += x c'
          and, if averaged, U += t x c' at time t, so that W - U / T is the mean of the weights
          after each of the T instances
Given     X         (xptr int64 (n+1,), xidx int32, xval float32, columns)
          Y         (yptr int64 (n+1,), yidx int32, yval float64 (> 0 relevant, NaN unknown), K)
          order     int64, rows of X in the order they are presented
          lo, width labels lo..lo+width-1 are in hand; B >= width is the padded block size
          clock     instances learned before
Changes   W         float32 (d, B), C-contiguous, in place; U float64 (d, B), or (0, B) if not kept
Returns   labels moved in all
Cost      two vector operations of B lanes a non-zero; nothing is allocated per non-zero
Order     instances as given: same input, same bits
See       `rules`: BR, passive-aggressive and MMP differ in the rule only
"""

from typing import NamedTuple

import numpy as np

from labelrank.kernels._compile import inner_kernel, kernel
from labelrank.kernels.linear import line_add, line_scores, row_add, squared_norm
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


class Rule(NamedTuple):
    """What happens to the weights of one instance, by the codes of `rules` and of this file."""

    rule: int
    step: int
    margin: float
    tie_is_right: bool
    C: float
    loss: int = 0
    penalty: int = 0
    seed: int = 0


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
def learn_pass(X, Y, order, lo, width, W, U, clock, settings):
    xptr, xidx, xval, _ = X
    yptr, yidx, yval, _ = Y
    rule, step, margin, tie_is_right, C, loss, penalty, seed = settings
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
