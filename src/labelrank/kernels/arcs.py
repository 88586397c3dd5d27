"""Large margins over preferences: dual coordinate descent in score space.

Problem   min 1/2 rho |W - M|^2 + sum over arcs a > b of instance i of U (1 - s_a + s_b)+, s = x_i W
          W = M + 1/rho sum alpha (e_a - e_b) x_i,  0 <= alpha <= U; the threshold label is K.
          Moving alpha by d moves s_a by +d g and s_b by -d g, g = |x|^2 / rho: all arcs of an
          instance are walked without touching W, which then changes once.
Given     X        rows: xptr int64 (n+1,), xidx int32, xval float32; norms float32 (n,), |x|^2
          R        relevant labels by falling grade: rptr int64 (n+1,), ridx int32, grade float64
          N        unknown labels: nptr int64 (n+1,), nidx int32
          order    int64, rows to visit
          shares   float64 (3,): C times the share of a group of arcs, relevant over irrelevant,
                   relevant over threshold and threshold over irrelevant (each), relevant over
                   less relevant; U is the share over the size of the group; 0: no such arcs
          chain    True: relevant labels over those of the next lower grade only, each weighted by
                   the ordered pairs whose path it lies on
          calm     an instance whose own duality gap is at most this is left as it is
Changes   W        float32 (d, L), L > K; alpha float32, that of instance i from dptr[i]: first the
                   arcs over irrelevant labels, K for each relevant label (if such arcs
                   are) and K for the threshold, then m over the threshold, then m x m
          loss, slack  float64 (n,): sum U (1 - s_a + s_b)+ and sum alpha (1 - s_a + s_b), before
                   the visit; the gap of instance i is loss - slack, the whole gap is their sum
          rest, pause  int16 (n,): visits still to skip, and how many to skip next time: an
                   instance that was calm is visited ever more rarely (shrinking)
Returns   instances moved
Cost      two vector operations of L lanes a non-zero, and one pass over the arcs
Order     as given: same input, same bits
See       Xu, Li & Zhou 2013 (PRO loss); Hsieh et al. 2008 (dual coordinate descent)
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.linear import row_add, row_scores

NEVER = np.float32(-1e30)
LONGEST_PAUSE = 15
MOST_NEWTON_STEPS = 20
ENOUGH = np.float32(1e-6)


@fast_kernel
def _measure_row(v, alpha, at, top, U):
    """Loss and slack of the arcs of one better label (score `top`) over all irrelevant ones."""
    loss, slack = np.float32(0.0), np.float32(0.0)
    row = alpha[at : at + v.shape[0]]
    for b in range(v.shape[0]):
        violation = v[b] - top
        loss += max(violation, np.float32(0.0))
        slack += row[b] * violation
    return U * float(loss), float(slack)


@fast_kernel
def _pull(z, t, u):
    """Sum of the steps clipped to [0, u] if the better label scores t, and how many are inside."""
    total, inside = np.float32(0.0), np.float32(0.0)
    for b in range(z.shape[0]):
        step = z[b] - t
        total += min(max(step, np.float32(0.0)), u)
        inside += np.float32(1.0) if step > np.float32(0.0) and step < u else np.float32(0.0)
    return total, inside


@fast_kernel
def _walk_row(v, alpha, at, top, U, gain, c, z):
    """Best duals of the arcs of one better label (score `top`) over all irrelevant ones.

    With t the score the better label ends at, alpha = clip((z - t) / gain, 0, U) where
    z = v + gain alpha: what is left is one increasing piecewise linear equation in t, solved by
    Newton steps kept inside a bracket. Returns the sum of the changes of alpha.
    """
    K = v.shape[0]
    row = alpha[at : at + K]
    before, above = np.float32(0.0), np.float32(0.0)
    for b in range(K):
        z[b] = v[b] + gain * row[b]
        before += row[b]
        above += np.float32(1.0) if z[b] > top else np.float32(0.0)
    if above == np.float32(0.0) and before == np.float32(0.0):
        return np.float32(0.0)
    u, before = gain * U, before * gain
    low, high = top - before, -NEVER
    t = top
    for _ in range(MOST_NEWTON_STEPS):
        total, inside = _pull(z, t, u)
        excess = t - top + before - total
        if abs(excess) <= ENOUGH * (np.float32(1.0) + abs(t)):
            break
        if excess > np.float32(0.0):
            high = t
        else:
            low = t
        t -= excess / (np.float32(1.0) + inside)
        if not low < t < high:
            t = np.float32(0.5) * (low + high)
    total = np.float32(0.0)
    for b in range(K):
        wanted = min(max((z[b] - t) / gain, np.float32(0.0)), U)
        step = wanted - row[b]
        row[b] = wanted
        v[b] -= step * gain
        c[b] -= step
        total += step
    return total


@kernel
def _step(alpha, at, better, worse, U, gain, s, c):
    """One coordinate step on one arc between labels that are not irrelevant."""
    wanted = alpha[at] + (np.float32(1.0) - s[better] + s[worse]) * (np.float32(0.5) / gain)
    wanted = min(max(wanted, np.float32(0.0)), U)
    step = wanted - alpha[at]
    alpha[at] = wanted
    s[better] += step * gain
    s[worse] -= step * gain
    c[better] += step
    c[worse] -= step


@kernel
def _order_weight(grade, m, chain, p, q, pairs):
    """Share of the arc from the p-th to the q-th relevant label; 0: there is none."""
    if not grade[p] > grade[q]:
        return 0.0
    if not chain:
        return 1.0 / pairs
    low, high = p, q
    while low > 0 and grade[low - 1] == grade[p]:
        low -= 1
    middle = p + 1
    while grade[middle] == grade[p]:
        middle += 1
    if grade[middle] != grade[q]:
        return 0.0
    while high < m and grade[high] == grade[q]:
        high += 1
    crossing = float(middle) * (m - middle)
    return crossing / (float(middle - low) * (high - middle)) / pairs


@kernel
def ordered_pairs(grade):
    """How many pairs of relevant labels (by falling grade) are strictly ordered."""
    m = grade.shape[0]
    pairs, first = 0, 0
    for p in range(1, m):
        if grade[p] < grade[p - 1]:
            first = p
        pairs += first
    return pairs


@kernel
def ordered_counts(rptr, grade):
    """`ordered_pairs` of every instance."""
    counts = np.empty(rptr.shape[0] - 1, np.int64)
    for i in range(counts.shape[0]):
        counts[i] = ordered_pairs(grade[rptr[i] : rptr[i + 1]])
    return counts


@kernel
def _measure(s, v, alpha, at, ridx, grade, m, K, n_irrelevant, shares, chain):
    """Loss and slack of all arcs of one instance."""
    loss, slack = 0.0, 0.0
    if shares[0] > 0.0 and n_irrelevant:
        for p in range(m):
            more = _measure_row(v, alpha, at, s[ridx[p]], shares[0] / m / n_irrelevant)
            loss, slack, at = loss + more[0], slack + more[1], at + K
    elif shares[0] > 0.0:
        at += m * K
    if shares[1] > 0.0:
        if n_irrelevant:
            more = _measure_row(v, alpha, at, s[K], shares[1] / n_irrelevant)
            loss, slack = loss + more[0], slack + more[1]
        at += K
        for p in range(m):
            violation = 1.0 - s[ridx[p]] + s[K]
            loss += shares[1] / m * max(violation, 0.0)
            slack += alpha[at + p] * violation
        at += m
    if shares[2] > 0.0:
        pairs = ordered_pairs(grade)
        if pairs:
            for p in range(m):
                for q in range(p + 1, m):
                    U = shares[2] * _order_weight(grade, m, chain, p, q, pairs)
                    violation = 1.0 - s[ridx[p]] + s[ridx[q]]
                    loss += U * max(violation, 0.0)
                    slack += alpha[at + p * m + q] * violation
    return loss, slack


@kernel
def _walk(s, v, alpha, at, ridx, grade, m, K, n_irrelevant, gain, shares, chain, c, z):
    """One coordinate step on every arc of one instance, in scores alone."""
    if shares[0] > 0.0:
        if n_irrelevant:
            U = np.float32(shares[0] / m / n_irrelevant) if m else np.float32(0.0)
            for p in range(m):
                a = ridx[p]
                total = _walk_row(v, alpha, at + p * K, s[a], U, gain, c, z)
                c[a] += total
                s[a] += total * gain
        at += m * K
    if shares[1] > 0.0:
        if n_irrelevant:
            U = np.float32(shares[1] / n_irrelevant)
            total = _walk_row(v, alpha, at, s[K], U, gain, c, z)
            c[K] += total
            s[K] += total * gain
        at += K
        for p in range(m):
            _step(alpha, at + p, ridx[p], K, np.float32(shares[1] / m), gain, s, c)
        at += m
    if shares[2] > 0.0:
        pairs = ordered_pairs(grade)
        if pairs:
            for p in range(m):
                for q in range(p + 1, m):
                    U = shares[2] * _order_weight(grade, m, chain, p, q, pairs)
                    if U > 0.0:
                        _step(alpha, at + p * m + q, ridx[p], ridx[q], np.float32(U), gain, s, c)


@kernel
def _irrelevant(s, v, ridx, nidx):
    """v = 1 + s for irrelevant labels, out of reach for the others; returns their number."""
    for k in range(v.shape[0]):
        v[k] = np.float32(1.0) + s[k]
    for k in ridx:
        v[k] = NEVER
    for k in nidx:
        v[k] = NEVER
    return v.shape[0] - len(ridx) - len(nidx)


@kernel
def learn_pass(
    xptr, xidx, xval, norms, rptr, ridx, grade, nptr, nidx, order, K, W, rho, shares, chain,
    calm, sweeps, dptr, alpha, loss, slack, rest, pause,
):  # fmt: skip
    s, c = np.empty(W.shape[1], np.float32), np.zeros(W.shape[1], np.float32)
    v, z = np.empty(K, np.float32), np.empty(K, np.float32)
    scale = np.float32(1.0 / rho)
    moved = 0
    for i in order:
        if rest[i] > 0:
            rest[i] -= 1
            continue
        start, stop = xptr[i], xptr[i + 1]
        relevant, grades = ridx[rptr[i] : rptr[i + 1]], grade[rptr[i] : rptr[i + 1]]
        m, gain = relevant.shape[0], norms[i] * scale
        row_scores(xidx, xval, start, stop, W, s)
        n_irrelevant = _irrelevant(s, v, relevant, nidx[nptr[i] : nptr[i + 1]])
        loss[i], slack[i] = _measure(
            s, v, alpha, dptr[i], relevant, grades, m, K, n_irrelevant, shares, chain
        )
        if sweeps == 0:
            continue
        if loss[i] - slack[i] <= calm:
            pause[i] = min(2 * pause[i] + 1, LONGEST_PAUSE)
            rest[i] = pause[i]
            continue
        pause[i] = 0
        c[:] = 0.0
        for _ in range(sweeps):
            _walk(s, v, alpha, dptr[i], relevant, grades, m, K, n_irrelevant, gain, shares, chain,
                  c, z)  # fmt: skip
        row_add(xidx, xval, start, stop, scale, c, W)
        moved += 1
    return moved
