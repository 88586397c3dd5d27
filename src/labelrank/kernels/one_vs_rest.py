"""One linear SVM a label, all labels of a block at once: dual coordinate descent side by side.

Problem   for every label k, y = +1 where it is relevant, -1 where irrelevant (unknown: left out):
              min 1/2 |w_k|^2 + C sum h       (hinge,   D = 0,       U = C)
              min 1/2 |w_k|^2 + C sum h^2     (squared, D = 1 / 2C,  U unbounded)
          with h = (1 - y x.w_k)+; w_k = sum y alpha x, and a step is
              alpha <- clip(alpha + (1 - y x.w_k - D alpha) / (|x|^2 + D), 0, U)
Given     X        rows: xptr int64 (n+1,), xidx int32, xval float32; norms float32 (n,), |x|^2
          Y        rows: yptr int64 (n+1,), yidx int32, yval float64 (> 0 relevant, NaN unknown)
          order    int64, rows to visit
          lo, width  labels lo..lo+width-1 are in hand, in B >= width lanes
          weight   float32 (B,): 1 over the objective of each label, 0 for lanes without one
          calm     a row whose gap, times weight, is at most this for every label is left as it is
Changes   W        float32 (d, B); alpha float32 (n, B)
          loss, gap  float64 (B,): summed over the visited rows, before their visit
          rest, pause  int16 (n,): visits to skip: a row that was calm is visited ever more rarely
Returns   rows moved
Cost      two vector operations of B lanes a non-zero
Order     as given: same input, same bits
See       Hsieh et al. 2008, algorithm 1 (LIBLINEAR -s 1 and -s 3): the same steps for each label
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.linear import row_add, row_scores

LONGEST_PAUSE = 15
ZERO, ONE, HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)


@fast_kernel
def _negative(s, a, wanted, now_loss, now_gap, Q, D, U, C, squared):
    """Every label as if irrelevant: its new dual, its loss and gap before the step."""
    if squared:
        for k in range(s.shape[0]):
            room = ONE + s[k]
            wanted[k] = max(a[k] + (room - D * a[k]) * Q, ZERO)
            h = max(room, ZERO)
            now_loss[k] = C * h * h
            now_gap[k] = now_loss[k] - a[k] * (room - HALF * D * a[k])
    else:
        for k in range(s.shape[0]):
            room = ONE + s[k]
            wanted[k] = min(max(a[k] + room * Q, ZERO), U)
            now_loss[k] = C * max(room, ZERO)
            now_gap[k] = now_loss[k] - a[k] * room


@kernel
def _positive(k, s, a, wanted, now_loss, now_gap, Q, D, U, C, squared):
    """The same for one label that is relevant."""
    room = ONE - s[k]
    wanted[k] = min(max(a[k] + (room - D * a[k]) * Q, ZERO), U)
    h = max(room, ZERO)
    now_loss[k] = C * h * h if squared else C * h
    now_gap[k] = now_loss[k] - a[k] * (room - HALF * D * a[k])


@fast_kernel
def _account(now_loss, now_gap, weight, loss, gap):
    """Add to the sums; returns the largest weighted gap of a label."""
    worst = ZERO
    for k in range(weight.shape[0]):
        loss[k] += now_loss[k]
        gap[k] += now_gap[k]
        worst = max(worst, weight[k] * now_gap[k])
    return worst


@kernel
def learn_pass(
    xptr, xidx, xval, norms, yptr, yidx, yval, order, lo, width, W, alpha, C, squared, weight,
    calm, learn, loss, gap, rest, pause,
):  # fmt: skip
    lanes = W.shape[1]
    s, c, wanted = (
        np.empty(lanes, np.float32),
        np.empty(lanes, np.float32),
        np.empty(lanes, np.float32),
    )
    now_loss, now_gap = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    C = np.float32(C)
    D = HALF / C if squared else ZERO
    U = np.float32(1e30) if squared else C
    moved = 0
    for i in order:
        if rest[i] > 0:
            rest[i] -= 1
            continue
        start, stop = xptr[i], xptr[i + 1]
        Q = ONE / (norms[i] + D)
        a = alpha[i]
        row_scores(xidx, xval, start, stop, W, s)
        _negative(s, a, wanted, now_loss, now_gap, Q, D, U, C, squared)
        for q in range(yptr[i], yptr[i + 1]):
            k = yidx[q] - lo
            if 0 <= k < width:
                if yval[q] > 0.0:
                    _positive(k, s, a, wanted, now_loss, now_gap, Q, D, U, C, squared)
                else:
                    wanted[k], now_loss[k], now_gap[k] = ZERO, ZERO, ZERO
        worst = _account(now_loss, now_gap, weight, loss, gap)
        if not learn:
            continue
        if worst <= calm:
            pause[i] = min(2 * pause[i] + 1, LONGEST_PAUSE)
            rest[i] = pause[i]
            continue
        pause[i] = 0
        for k in range(lanes):
            c[k] = a[k] - wanted[k]
            a[k] = wanted[k]
        for q in range(yptr[i], yptr[i + 1]):
            k = yidx[q] - lo
            if 0 <= k < width and yval[q] > 0.0:
                c[k] = -c[k]
        row_add(xidx, xval, start, stop, ONE, c, W)
        moved += 1
    return moved
