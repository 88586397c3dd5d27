"""Linear classifiers side by side: one SVM per label, by dual coordinate descent on all at once.

Logistic regressions, whose loss and gradient `loss_and_residual` gives, have their own contract.

Problem   for every label k, y = +1 where it is relevant, -1 where irrelevant (unknown: left out):
              min 1/2 |w_k|^2 + C sum h       (hinge,   D = 0,       U = C)
              min 1/2 |w_k|^2 + C sum h^2     (squared, D = 1 / 2C,  U unbounded)
          with h = (1 - y x.w_k)+; w_k = sum y alpha x, and a step is
              alpha <- clip(alpha + (1 - y x.w_k - D alpha) / (|x|^2 + D), 0, U)
Given     problem  (X, norms, Y, C, squared):
            norms     float32 (n,), |x|^2
          labels   (lo, width, weight): labels lo..lo+width-1 are in hand, in B >= width lanes;
                   weight float32 (B,): 1 over the objective of each, 0 for lanes without one
          visits   (order int64: rows to visit; skip_below, skip_left, next_skip): a row whose gap,
                   times weight, is at most skip_below for every label is left as it is
          learn    False: only measure
Changes   W        float32 (d, B); alpha float32 (n, B), at least 0
          loss, gap  float64 (B,): summed over the visited rows, before their visit
          skip_left, next_skip  int16 (n,): visits still to skip, and how many were skipped last: a
                   row that is left as it is is visited ever more rarely (shrinking)
Returns   rows moved
Cost      two vector operations of B lanes a non-zero
See       Hsieh et al. 2008, algorithm 1 (LIBLINEAR -s 1 and -s 3): the same steps for each label
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.linear import row_add, row_scores

LONGEST_SKIP = 15
ZERO, ONE, HALF = np.float32(0.0), np.float32(1.0), np.float32(0.5)


# Short loops over few arrays, sums but no maxima: what LLVM turns into vector operations.
@fast_kernel
def _steps(s, a, c, Q, D, U):
    """Minus the dual step of every label as if irrelevant, which is its step along x."""
    for k in range(s.shape[0]):
        c[k] = a[k] - min(max(a[k] + (ONE + s[k] - D * a[k]) * Q, ZERO), U)


@fast_kernel
def _add_loss(s, loss, C, squared):
    for k in range(s.shape[0]):
        h = max(ONE + s[k], ZERO)
        loss[k] += C * h * h if squared else C * h


@fast_kernel
def _add_gap(s, a, weight, gap, D, C, squared, skip_below):
    """Add the gaps of every label as if irrelevant; returns how many are above `skip_below`."""
    busy = ZERO
    for k in range(s.shape[0]):
        room = ONE + s[k]
        h = max(room, ZERO)
        now = (C * h * h if squared else C * h) - a[k] * (room - HALF * D * a[k])
        gap[k] += now
        busy += ONE if weight[k] * now > skip_below else ZERO
    return busy


@kernel
def _positive(k, score, dual, c, weight, loss, gap, Q, D, U, C, squared, skip_below):
    """Step, loss and gap of one relevant label; returns whether its gap is above `skip_below`."""
    room = ONE - score
    c[k] = min(max(dual + (room - D * dual) * Q, ZERO), U) - dual
    h = max(room, ZERO)
    now = C * h * h if squared else C * h
    loss[k] += now
    now -= dual * (room - HALF * D * dual)
    gap[k] += now
    return weight[k] * now > skip_below


@kernel
def _set_apart(yidx, yval, start, stop, lo, width, s, a, label, score, dual):
    """Take relevant and unknown labels out: at score -1 and dual 0 an irrelevant one is at rest.

    Returns how many are set apart, the relevant ones first.
    """
    n_apart = 0
    for q in range(start, stop):
        k = yidx[q] - lo
        if 0 <= k < width:
            if yval[q] > 0.0:
                label[n_apart], score[n_apart], dual[n_apart] = k, s[k], a[k]
                n_apart += 1
            s[k], a[k] = -ONE, ZERO
    return n_apart


@kernel
def _move(a, c, label, n_relevant, dual):
    """Take the steps: those along x add to the duals of relevant labels, and lessen the others."""
    for k in range(a.shape[0]):
        a[k] -= c[k]
    for p in range(n_relevant):
        a[label[p]] = dual[p] + c[label[p]]


@kernel
def learn_pass(problem, labels, visits, learn, W, alpha, loss, gap):
    (xptr, xidx, xval, _), norms, (yptr, yidx, yval, _), C, squared = problem
    lo, width, weight = labels
    order, skip_below, skip_left, next_skip = visits
    lanes = W.shape[1]
    s, c = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    score, dual = np.empty(lanes, np.float32), np.empty(lanes, np.float32)
    label = np.empty(lanes, np.int64)
    C = np.float32(C)
    D = HALF / C if squared else ZERO
    U = np.float32(1e30) if squared else C
    skip_below, moved = np.float32(skip_below), 0
    for i in order:
        if skip_left[i] > 0:
            skip_left[i] -= 1
            continue
        start, stop, a = xptr[i], xptr[i + 1], alpha[i]
        Q = ONE / (norms[i] + D)
        row_scores(xidx, xval, start, stop, W, s)
        n_relevant = _set_apart(
            yidx, yval, yptr[i], yptr[i + 1], lo, width, s, a, label, score, dual
        )
        _add_loss(s, loss, C, squared)
        busy = _add_gap(s, a, weight, gap, D, C, squared, skip_below) > ZERO
        if learn:
            _steps(s, a, c, Q, D, U)
        for p in range(n_relevant):
            busy |= _positive(label[p], score[p], dual[p], c, weight, loss, gap, Q, D, U, C,
                              squared, skip_below)  # fmt: skip
            a[label[p]] = dual[p]
        if not learn:
            continue
        if not busy:
            next_skip[i] = min(2 * next_skip[i] + 1, LONGEST_SKIP)
            skip_left[i] = next_skip[i]
            continue
        next_skip[i] = 0
        _move(a, c, label, n_relevant, dual)
        row_add(xidx, xval, start, stop, ONE, c, W)
        moved += 1
    return moved


@kernel
def loss_and_residual(S, codes, first, width, target, R, loss):
    """Loss and gradient of many logistic regressions on the same instances, in one pass.

    Problem   link j scores instance i by the columns of S from first[j] on: one for two classes
              (class 1 against class 0), else one per class (softmax); its loss on i is minus the
              log probability of the class codes[i, target[j]]
    Given     S       float64 (n, M), C-contiguous: the scores
              codes   int32 (n, L): the class of each target column, -1 where it is unknown
              first, width, target   int64 (J,): columns and target of each link
    Changes   R       float64 (n, M): the derivative of the loss by the scores, 0 where unknown
              loss    float64 (J,): the summed losses
    Cost      one exponential per score; no allocation
    See       Boehning 1992 for the bound 1/4 on the curvature that the solver scales by
    """
    loss[:] = 0.0
    for i in range(S.shape[0]):
        scores, residual, known = S[i], R[i], codes[i]
        for j in range(first.shape[0]):
            c = known[target[j]]
            if c < 0:
                residual[first[j] : first[j] + width[j]] = 0.0
            elif width[j] == 1:
                s = scores[first[j]]
                e = np.exp(-abs(s))
                p = 1.0 / (1.0 + e)
                residual[first[j]] = (1.0 - p if s < 0.0 else p) - c
                loss[j] += max(-s if c == 1 else s, 0.0) + np.log1p(e)
            else:
                loss[j] += _softmax(scores, residual, first[j], width[j], c)


@kernel
def _softmax(scores, residual, a, k, c):
    top = scores[a]
    for q in range(a + 1, a + k):
        top = max(top, scores[q])
    total = 0.0
    for q in range(a, a + k):
        residual[q] = np.exp(scores[q] - top)
        total += residual[q]
    for q in range(a, a + k):
        residual[q] /= total
    residual[a + c] -= 1.0
    return np.log(total) + top - scores[a + c]
