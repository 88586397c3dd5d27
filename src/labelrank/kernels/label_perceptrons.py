"""Perceptrons with one weight vector per label, all labels of a block at once, and their rules.

Problem   for instance x in the given order: s = x W;  c = rule(s, y);  W += x c'
          and, if averaged, U += t x c' at time t, so that W - U / T is the mean of the weights
          after each of the T instances
Given     lo, width labels lo..lo+width-1 are in hand; B >= width is the padded block size
          clock     instances learned before
          A rule gets s (B,), `kind` int8 (B,) and the relevant and unknown lanes, ascending, in
          the first entries of `relevant` and `unknown`; `gain` is the squared norm of x
Changes   W         float32 (d, B), C-contiguous, in place; U float64 (d, B), or (0, B) if not kept
          c         float32 (B,), by the rules: how far each label moves, 0 where it stays
Returns   the labels that moved (BR: mistakes), of one instance by a rule, in all by `learn_pass`
Cost      two vector operations of B lanes per non-zero; `separate` O(width) per instance; `mmp`
          O(width + violated log |R|): no pair is listed, except for the random penalty, which
          is one number per pair by definition
See       Loza Mencía & Fürnkranz 2008 (BR, MMP); Crammer & Singer 2003 (MMP);
          Crammer et al. 2006 (passive-aggressive)
"""

from typing import NamedTuple

import numpy as np

from labelrank.kernels._compile import inner_kernel, kernel
from labelrank.kernels.linear import line_add, line_scores, row_add, squared_norm
from labelrank.kernels.random import uniform

SEPARATE, MMP = range(2)
IRRELEVANT, RELEVANT, UNKNOWN = range(3)
PERCEPTRON, PASSIVE_AGGRESSIVE = range(2)
IS_ERROR, ERROR_SET_SIZE, MARGIN, AVERAGE_PRECISION = range(4)
UNIFORM, PROPORTIONAL, MAX, RANDOM = range(4)


class Rule(NamedTuple):
    """What happens to the weights of one instance, by the codes of this file."""

    rule: int
    step: int
    margin: float
    tie_is_right: bool
    C: float
    loss: int = 0
    penalty: int = 0
    seed: int = 0


@inner_kernel
def separate(s, width, relevant, n_relevant, unknown, n_unknown, margin, tie_is_right, c):
    """Each label is its own perceptron: w += (y - prediction) x on a mistake, so c is +-2 or 0."""
    low, high = np.float32(-margin), np.float32(margin)
    moved = 0
    for k in range(width):
        wrong = s[k] >= low
        c[k] = np.float32(-2.0) if wrong else np.float32(0.0)
        moved += wrong
    for r in range(n_relevant):
        k = relevant[r]
        wrong = s[k] < high or (s[k] == high and not tie_is_right)
        moved += int(wrong) - int(c[k] != 0.0)
        c[k] = np.float32(2.0) if wrong else np.float32(0.0)
    for r in range(n_unknown):
        k = unknown[r]
        moved -= int(c[k] != 0.0)
        c[k] = np.float32(0.0)
    return moved


@inner_kernel
def separate_pa(s, kind, width, gain, C, c):
    """Each label is its own passive-aggressive learner (PA-I, hinge loss at margin 1)."""
    moved = 0
    for k in range(width):
        y = 1.0 if kind[k] == RELEVANT else -1.0
        loss = 1.0 - y * s[k]
        if loss > 0.0 and gain > 0.0 and kind[k] != UNKNOWN:
            c[k] = y * min(C, loss / gain)
            moved += 1
        else:
            c[k] = 0.0
    return moved


@inner_kernel
def mmp(
    s, kind, width, relevant, n_relevant, gain, step, margin, C, loss, penalty, seed, clock, c,
    shifted, violating, ascending, tally,
):  # fmt: skip
    """One step of the multiclass multilabel perceptron; `c` becomes delta * tau / sigma.

    The last four are scratch: irrelevant scores plus the margin, lanes that violate, and so on.
    """
    c[:] = 0.0
    if n_relevant == 0:
        return 0
    for r in range(n_relevant):
        value = s[relevant[r]]
        q = r
        while q > 0 and ascending[q - 1] > value:
            ascending[q] = ascending[q - 1]
            q -= 1
        ascending[q] = value
    low, n_violating = ascending[:n_relevant], 0
    for k in range(width):
        shifted[k] = s[k] + np.float32(margin) if kind[k] == IRRELEVANT else np.float32(-np.inf)
    for k in range(width):
        violating[n_violating] = k
        n_violating += shifted[k] >= low[0]
    if n_violating == 0:
        return 0
    wrong = violating[:n_violating]
    delta = _loss(shifted, wrong, low, loss, tally[0])
    sigma = _penalties(s, shifted, wrong, relevant, low, penalty, seed, clock, width, tally, c)
    if sigma == 0.0:
        sigma = _penalties(s, shifted, wrong, relevant, low, UNIFORM, seed, clock, width, tally, c)
    if step == PASSIVE_AGGRESSIVE:
        # PA-I along the direction c / sigma: its mean hinge loss over its squared length.
        agreement, length = 0.0, 0.0
        for k in range(width):
            agreement += c[k] * s[k]
            length += c[k] * c[k]
        hinge = 1.0 - agreement / sigma
        delta = 0.0
        if hinge > 0.0 and gain != 0.0:
            delta = min(C, hinge * sigma * sigma / (gain * length))
    share = np.float32(delta / sigma)
    moved = 0
    for k in range(width):
        moved += c[k] != 0.0
        c[k] *= share
    return moved


@inner_kernel
def _below(low, value):
    """How many of the ascending relevant scores are at or below `value`."""
    first, last = 0, low.shape[0]
    while first < last:
        middle = (first + last) // 2
        if low[middle] <= value:
            first = middle + 1
        else:
            last = middle
    return first


@inner_kernel
def _loss(shifted, wrong, low, loss, ahead):
    n_relevant = low.shape[0]
    if loss == IS_ERROR:
        return 1.0
    if loss == MARGIN:
        best = low[0]
        for k in wrong:
            best = max(best, shifted[k])
        first_irrelevant = n_relevant - _below(low, best) + 1
        return float(n_relevant + wrong.shape[0] - first_irrelevant)
    ahead[: n_relevant + 1] = 0.0
    pairs = 0
    for k in wrong:
        below = _below(low, shifted[k])
        pairs += below
        ahead[below] += 1.0
    if loss == ERROR_SET_SIZE:
        return float(pairs)
    total, irrelevant_above = 0.0, 0  # ahead[p] are at or above exactly the p lowest relevant ones
    for r in range(n_relevant - 1, -1, -1):
        irrelevant_above += ahead[r + 1]
        at_or_above = n_relevant - np.searchsorted(low, low[r], side="left")
        total += at_or_above / (at_or_above + irrelevant_above)
    return 1.0 - total / n_relevant


@inner_kernel
def _penalties(s, shifted, wrong, relevant, low, penalty, seed, clock, width, tally, tau):
    """Fill tau (each violated pair gives its penalty) and return sigma, the sum of penalties."""
    tau[:] = 0.0
    if penalty == MAX:
        lowest, highest = relevant[0], wrong[0]
        for r in range(1, low.shape[0]):
            if s[relevant[r]] < s[lowest]:
                lowest = relevant[r]
        for k in wrong:
            if shifted[k] > shifted[highest]:
                highest = k
        tau[lowest], tau[highest] = 1.0, -1.0
        return 1.0
    if penalty != RANDOM:
        return _counted_pairs(s, shifted, wrong, relevant, low, penalty == PROPORTIONAL, tally, tau)
    sigma = 0.0
    for r in range(low.shape[0]):
        a = relevant[r]
        for b in wrong:
            if s[a] <= shifted[b]:
                p = uniform(seed, clock, a * width + b)
                tau[a] += p
                tau[b] -= p
                sigma += p
    return sigma


@inner_kernel
def _counted_pairs(s, shifted, wrong, relevant, low, proportional, tally, tau):
    """A violating label is wrong against the lowest relevant ones: count and sum, never list."""
    n_relevant = low.shape[0]
    counts, scores, sums = tally[0], tally[1], tally[2]
    for r in range(n_relevant + 1):
        counts[r], scores[r], sums[r] = 0.0, 0.0, 0.0
    for r in range(n_relevant):
        sums[r + 1] = sums[r] + low[r]
    sigma = 0.0
    for k in wrong:
        below = _below(low, shifted[k])
        given = below * float(shifted[k]) - sums[below] if proportional else float(below)
        tau[k] = -given
        sigma += given
        counts[below] += 1.0
        scores[below] += shifted[k]
    for r in range(n_relevant - 1, 0, -1):
        counts[r] += counts[r + 1]
        scores[r] += scores[r + 1]
    for r in range(n_relevant):
        k = relevant[r]
        position = np.searchsorted(low, s[k], side="left") + 1
        tau[k] = scores[position] - counts[position] * s[k] if proportional else counts[position]
    return sigma


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
        for q in range(first, last):
            if 0 <= yidx[q] - lo < width:
                kind[yidx[q] - lo] = IRRELEVANT
        total += moved
        if moved:
            line_add(xidx, xval, start, stop, c, flat, lanes)
            if averaged:
                row_add(xidx, xval, start, stop, float(clock + t), c, U)
    return total
