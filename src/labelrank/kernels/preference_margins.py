"""Large margins over preferences: dual coordinate descent in score space.

Problem   min 1/2 rho |W - M|^2 + sum over arcs a > b of instance i of U (1 - s_a + s_b)+, s = x_i W
          W = M + 1/rho sum alpha (e_a - e_b) x_i,  0 <= alpha <= U; the threshold label is K.
          Moving alpha by d moves s_a by +d g and s_b by -d g, g = |x|^2 / rho: all arcs of an
          instance are walked without touching W, which then changes once.
Given     problem  (X, norms, relevant, unknown, dual_ptr, weights, chain):
            norms     float32 (n,), |x|^2
            relevant  rows of grades float64, by falling grade; unknown likewise
            dual_ptr  int64 (n+1,): where the duals of an instance begin
            weights   float64 (4,): of all arcs of an instance, relevant over irrelevant, relevant
                      over threshold, threshold over irrelevant, relevant over less relevant;
                      U is C times the weight over the number of such arcs; 0: no such arcs
            chain     True: relevant labels over those of the next lower grade only, each weighted
                      by the ordered pairs whose path it lies on
          visits   (order int64: rows to visit; skip_below, skip_left, next_skip): an instance whose
                   own duality gap is at most skip_below is left as it is
          sweeps   coordinate steps on every arc at one visit; 0: only measure
Changes   W        float32 (d, L), L > K
          alpha    float32, of each instance: first the arcs over irrelevant labels, K for each
                   relevant label and K for the threshold, then m over the threshold, then m x m
                   (each only if there are such arcs)
          loss, slack  float64 (n,): sum U (1 - s_a + s_b)+ and sum alpha (1 - s_a + s_b), before
                   the visit; the gap of instance i is loss - slack, the whole gap is their sum
          skip_left, next_skip  int16 (n,): visits still to skip, and how many were skipped last:
                   an instance that is left as it is is visited ever more rarely (shrinking)
Returns   instances moved
Cost      two vector operations of L lanes a non-zero, and one pass over the arcs
See       Xu, Li & Zhou 2013 (PRO loss); Hsieh et al. 2008 (dual coordinate descent)
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel
from labelrank.kernels.linear import row_add, row_scores

PAIRS, ABOVE_THRESHOLD, BELOW_THRESHOLD, ORDER = range(4)
NEVER = np.float32(-1e30)
LONGEST_SKIP = 15
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
def _visit_row(v, alpha, at, better, U, s, learn, gain, c, z):
    """The arcs of one better label over all irrelevant ones: best duals, or loss and slack."""
    if not learn:
        return _measure_row(v, alpha, at, s[better], U)
    total = _walk_row(v, alpha, at, s[better], np.float32(U), gain, c, z)
    c[better] += total
    s[better] += total * gain
    return 0.0, 0.0


@kernel
def _visit_arc(alpha, at, better, worse, U, s, learn, gain, c):
    """One arc between labels that are not irrelevant: a coordinate step, or loss and slack."""
    if not learn:
        violation = 1.0 - s[better] + s[worse]
        return U * max(violation, 0.0), alpha[at] * violation
    wanted = alpha[at] + (np.float32(1.0) - s[better] + s[worse]) * (np.float32(0.5) / gain)
    wanted = min(max(wanted, np.float32(0.0)), np.float32(U))
    step = wanted - alpha[at]
    alpha[at] = wanted
    s[better] += step * gain
    s[worse] -= step * gain
    c[better] += step
    c[worse] -= step
    return 0.0, 0.0


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
def ordered_counts(ptr, grades):
    """`ordered_pairs` of every instance."""
    counts = np.empty(ptr.shape[0] - 1, np.int64)
    for i in range(counts.shape[0]):
        counts[i] = ordered_pairs(grades[ptr[i] : ptr[i + 1]])
    return counts


@kernel
def _visit(s, v, alpha, at, labels, grades, n_irrelevant, weights, chain, learn, gain, c, z):
    """All arcs of one instance: a coordinate step on each, in scores alone, or loss and slack."""
    m, K = labels.shape[0], v.shape[0]
    loss, slack = 0.0, 0.0
    if weights[PAIRS] > 0.0:
        if n_irrelevant:
            for p in range(m):
                U = weights[PAIRS] / m / n_irrelevant
                more = _visit_row(v, alpha, at + p * K, labels[p], U, s, learn, gain, c, z)
                loss, slack = loss + more[0], slack + more[1]
        at += m * K
    if weights[BELOW_THRESHOLD] > 0.0:
        if n_irrelevant:
            U = weights[BELOW_THRESHOLD] / n_irrelevant
            more = _visit_row(v, alpha, at, K, U, s, learn, gain, c, z)
            loss, slack = loss + more[0], slack + more[1]
        at += K
    if weights[ABOVE_THRESHOLD] > 0.0:
        for p in range(m):
            U = weights[ABOVE_THRESHOLD] / m
            more = _visit_arc(alpha, at + p, labels[p], K, U, s, learn, gain, c)
            loss, slack = loss + more[0], slack + more[1]
        at += m
    pairs = ordered_pairs(grades) if weights[ORDER] > 0.0 else 0
    if pairs:
        for p in range(m):
            for q in range(p + 1, m):
                U = weights[ORDER] * _order_weight(grades, m, chain, p, q, pairs)
                if U > 0.0:
                    arc = at + p * m + q
                    more = _visit_arc(alpha, arc, labels[p], labels[q], U, s, learn, gain, c)
                    loss, slack = loss + more[0], slack + more[1]
    return loss, slack


@kernel
def _irrelevant(s, v, relevant, unknown):
    """v = 1 + s for irrelevant labels, out of reach for the others; returns their number."""
    for k in range(v.shape[0]):
        v[k] = np.float32(1.0) + s[k]
    for k in relevant:
        v[k] = NEVER
    for k in unknown:
        v[k] = NEVER
    return v.shape[0] - len(relevant) - len(unknown)


@kernel
def learn_pass(problem, C, rho, visits, sweeps, W, alpha, loss, slack):
    (xptr, xidx, xval, _), norms, relevant, unknown, dual_ptr, weights, chain = problem
    order, skip_below, skip_left, next_skip = visits
    relevant_ptr, labels, grades, K = relevant
    unknown_ptr, unknown_labels, _, _ = unknown
    weights = C * weights
    s, c = np.empty(W.shape[1], np.float32), np.zeros(W.shape[1], np.float32)
    v, z = np.empty(K, np.float32), np.empty(K, np.float32)
    scale = np.float32(1.0 / rho)
    moved = 0
    for i in order:
        if skip_left[i] > 0:
            skip_left[i] -= 1
            continue
        start, stop, at = xptr[i], xptr[i + 1], dual_ptr[i]
        own = labels[relevant_ptr[i] : relevant_ptr[i + 1]]
        grade = grades[relevant_ptr[i] : relevant_ptr[i + 1]]
        gain = norms[i] * scale
        row_scores(xidx, xval, start, stop, W, s)
        n_irrelevant = _irrelevant(s, v, own, unknown_labels[unknown_ptr[i] : unknown_ptr[i + 1]])
        loss[i], slack[i] = _visit(
            s, v, alpha, at, own, grade, n_irrelevant, weights, chain, False, gain, c, z
        )
        if sweeps == 0:
            continue
        if loss[i] - slack[i] <= skip_below:
            next_skip[i] = min(2 * next_skip[i] + 1, LONGEST_SKIP)
            skip_left[i] = next_skip[i]
            continue
        next_skip[i] = 0
        c[:] = 0.0
        for _ in range(sweeps):
            _visit(s, v, alpha, at, own, grade, n_irrelevant, weights, chain, True, gain, c, z)
        row_add(xidx, xval, start, stop, scale, c, W)
        moved += 1
    return moved
