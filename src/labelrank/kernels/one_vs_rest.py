"""Linear classifiers side by side: one per label, by dual coordinate descent on all at once.

Problem   for every label k, y = +1 where it is relevant, -1 where irrelevant (unknown: left out):
              min 1/2 |w_k|^2 + sum C loss(y x.w_k),  C of its own for label k and sign y
          HINGE     (1 - m)+           D = 0,       U = C
          SQUARED   (1 - m)+^2         D = 1 / 2C,  U unbounded
          LOGISTIC  ln(1 + exp(-m))
          with w_k = sum y alpha x. A step for the first two, s = y x.w_k:
              alpha <- clip(alpha + (1 - s - D alpha) / (|x|^2 + D), 0, U)
          and for LOGISTIC, where alpha = C sigmoid(z) and z is kept in the place of alpha, a few
          Newton steps, within the bracket [z, -s], towards the z' that solves
              z' + C |x|^2 sigmoid(z') = -s + alpha |x|^2
Given     problem  (X, norms, Y, loss):
            norms     float32 (n,), |x|^2
          labels   (lo, width, weight, costs): labels lo..lo+width-1 are in hand, in B >= width
                   lanes; weight float32 (B,): 1 over the objective of each, 0 for lanes without one
            costs    float32 (2, 3, B): C, D and U where irrelevant, and where relevant; 0 for
                     lanes without a label
          visits   (order int64: rows to visit; skip_below, skip_left, next_skip): a row whose gap,
                   times weight, is at most skip_below for every label is left as it is
          learn    False: only measure
Changes   W        float32 (d, B); alpha float32 (n, B), at least 0 (LOGISTIC: any logits)
          loss, gap  float64 (B,): summed over the visited rows, before their visit; the gap of
                   LOGISTIC is exact where nothing is learned, else within a factor of two for
                   rows that are nearly solved
          skip_left, next_skip  int16 (n,): visits still to skip, and how many were skipped last: a
                   row that is left as it is is visited ever more rarely (shrinking)
Returns   rows moved
Cost      two vector operations of B lanes a non-zero; LOGISTIC: some 100 more a row
See       Hsieh et al. 2008, algorithm 1 (LIBLINEAR -s 1 and -s 3): the same steps for each label;
          Yu, Huang & Lin 2011 (-s 7)
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.linear import row_add, row_scores
from labelrank.kernels.logistic import share, softplus

HINGE, SQUARED, LOGISTIC = range(3)
LONGEST_SKIP = 15
ZERO, ONE, HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)
# Where C |x|^2 is at most this, Newton steps need no bracket.
GENTLE = np.float32(3.0)
MOST_NEWTON_STEPS = 30
ENOUGH, FAR = np.float32(1e-5), np.float32(1e30)


# Short loops over few arrays, sums but no maxima: what LLVM turns into vector operations. In all
# of them every label is irrelevant: those of relevant labels are turned round before and after.
@fast_kernel
def _steps(s, a, c, D, U, norm):
    """Minus the dual step of every label, which is its step along x."""
    for k in range(s.shape[0]):
        now = min(max(a[k] + (ONE + s[k] - D[k] * a[k]) / (norm + D[k]), ZERO), U[k])
        c[k] = a[k] - now
        a[k] = now


@fast_kernel
def _add_loss(s, loss, C, squared):
    for k in range(s.shape[0]):
        h = max(ONE + s[k], ZERO)
        loss[k] += C[k] * h * h if squared else C[k] * h


@fast_kernel
def _add_gap(s, a, weight, gap, C, D, squared, skip_below):
    """Add the gap of every label; returns how many are above `skip_below`."""
    busy = ZERO
    for k in range(s.shape[0]):
        room = ONE + s[k]
        h = max(room, ZERO)
        now = (C[k] * h * h if squared else C[k] * h) - a[k] * (room - HALF * D[k] * a[k])
        gap[k] += now
        busy += ONE if weight[k] * now > skip_below else ZERO
    return busy


@fast_kernel
def _add_logistic_loss(s, loss, C):
    for k in range(s.shape[0]):
        loss[k] += C[k] * softplus(s[k])


@fast_kernel
def _add_logistic_gap(s, z, gap, C):
    """The Kullback-Leibler divergence between the sigmoids of z and of s, times C."""
    for k in range(s.shape[0]):
        spent = softplus(z[k]) if share(z[k]) > ZERO else ZERO
        now = softplus(s[k]) - spent - share(z[k]) * (s[k] - z[k])
        gap[k] += C[k] * max(now, ZERO)


@fast_kernel
def _divergence(s, z, C, now):
    """Half the sum of the divergences both ways, for which no logarithm is due."""
    for k in range(s.shape[0]):
        now[k] = HALF * C[k] * (s[k] - z[k]) * (share(s[k]) - share(z[k]))


@fast_kernel
def _add_row_gap(now, weight, gap, skip_below):
    """Add the gap of every label; returns how many are above `skip_below`."""
    busy = ZERO
    for k in range(now.shape[0]):
        gap[k] += now[k]
        busy += ONE if weight[k] * now[k] > skip_below else ZERO
    return busy


@fast_kernel
def _logistic_start(s, z, target, near, C, norm):
    """The first Newton step from z to `near`; `target` is the right-hand side of the equation."""
    for k in range(s.shape[0]):
        gain = C[k] * norm
        p = share(z[k])
        target[k] = s[k] + gain * p
        near[k] = z[k] + (s[k] - z[k]) / (ONE + gain * p * (ONE - p))


@fast_kernel
def _logistic_newton(s, z, near, target, C, norm):
    """One more Newton step, kept between z and s."""
    for k in range(near.shape[0]):
        gain = C[k] * norm
        p = share(near[k])
        there = near[k] - (near[k] + gain * p - target[k]) / (ONE + gain * p * (ONE - p))
        near[k] = min(max(there, min(s[k], z[k])), max(s[k], z[k]))


@fast_kernel
def _logistic_search(s, z, near, target, C, norm):
    """Newton steps within a bracket, or its middle where they do not halve what is missing."""
    for k in range(near.shape[0]):
        gain, there = C[k] * norm, near[k]
        low, high = min(s[k], z[k]), max(s[k], z[k])
        before = FAR
        for _ in range(MOST_NEWTON_STEPS):
            p = share(there)
            excess = there + gain * p - target[k]
            if abs(excess) <= ENOUGH * (ONE + abs(target[k])):
                break
            if excess > ZERO:
                high = there
            else:
                low = there
            there -= excess / (ONE + gain * p * (ONE - p))
            if not low < there < high or abs(excess) > HALF * before:
                there = HALF * (low + high)
            before = abs(excess)
        near[k] = there


@fast_kernel
def _logistic_move(z, near, c, C):
    for k in range(z.shape[0]):
        c[k] = C[k] * (share(z[k]) - share(near[k]))
        z[k] = near[k]


@kernel
def _logistic_steps(s, z, c, target, near, C, norm, steepest):
    """As `_steps`, for the logits of the duals."""
    _logistic_start(s, z, target, near, C, norm)
    if steepest <= GENTLE:
        for _ in range(1 if steepest <= HALF else 2):
            _logistic_newton(s, z, near, target, C, norm)
    else:
        _logistic_search(s, z, near, target, C, norm)
    _logistic_move(z, near, c, C)


@kernel
def _turn(yidx, yval, start, stop, lo, width, s, now, costs):
    """Let relevant labels look irrelevant, and unknown ones cost nothing."""
    for q in range(start, stop):
        k = yidx[q] - lo
        if 0 <= k < width:
            relevant = yval[q] > 0.0
            for part in range(3):
                now[part, k] = costs[1, part, k] if relevant else ZERO
            if relevant:
                s[k] = -s[k]


@kernel
def _turn_back(yidx, yval, start, stop, lo, width, c, now, costs):
    for q in range(start, stop):
        k = yidx[q] - lo
        if 0 <= k < width:
            for part in range(3):
                now[part, k] = costs[0, part, k]
            if yval[q] > 0.0:
                c[k] = -c[k]


@kernel
def learn_pass(problem, labels, visits, learn, W, alpha, loss, gap):
    (xptr, xidx, xval, _), norms, (yptr, yidx, yval, _), kind = problem
    lo, width, weight, costs = labels
    order, skip_below, skip_left, next_skip = visits
    s, c = np.empty(W.shape[1], np.float32), np.zeros(W.shape[1], np.float32)
    target, near = np.empty(W.shape[1], np.float32), np.empty(W.shape[1], np.float32)
    now = costs[0].copy()
    C, D, U, largest = now[0], now[1], now[2], costs[:, 0].max()
    skip_below, moved = np.float32(skip_below), 0
    for i in order:
        if skip_left[i] > 0:
            skip_left[i] -= 1
            continue
        start, stop, a, norm = xptr[i], xptr[i + 1], alpha[i], norms[i]
        row_scores(xidx, xval, start, stop, W, s)
        _turn(yidx, yval, yptr[i], yptr[i + 1], lo, width, s, now, costs)
        if kind == LOGISTIC:
            _add_logistic_loss(s, loss, C)
            busy = True
            if learn:
                _divergence(s, a, C, near)
                busy = _add_row_gap(near, weight, gap, skip_below) > ZERO
            else:
                _add_logistic_gap(s, a, gap, C)
        else:
            _add_loss(s, loss, C, kind == SQUARED)
            busy = _add_gap(s, a, weight, gap, C, D, kind == SQUARED, skip_below) > ZERO
        if learn and busy:
            next_skip[i] = 0
            if kind == LOGISTIC:
                _logistic_steps(s, a, c, target, near, C, norm, largest * norm)
            else:
                _steps(s, a, c, D, U, norm)
        _turn_back(yidx, yval, yptr[i], yptr[i + 1], lo, width, c, now, costs)
        if learn and busy:
            row_add(xidx, xval, start, stop, ONE, c, W)
            moved += 1
        elif learn:
            next_skip[i] = min(2 * next_skip[i] + 1, LONGEST_SKIP)
            skip_left[i] = next_skip[i]
    return moved
