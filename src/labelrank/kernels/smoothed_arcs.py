"""Hinge losses of preferences, listed one by one, and smoothed about given duals.

Problem   for an arc a > b with dual alpha in [0, U], v = 1 - s_a + s_b and theta > 0:
              envelope(v) = max over beta in [0, U] of beta v - (beta - alpha)^2 / (2 theta U)
          its slope is that beta, clip(alpha + theta U v, 0, U); it is curved, by the weight
          theta U, where 0 < beta < U
Given     problem  as in `preference_margins`, with `dual_ptr`
          arcs     (better, worse int64: places in the flat scores; U float64)
          alpha    float64, one per arc
          S, T     float64 (n L,): flat scores of n instances and L labels, and a change of them
Changes   better, worse int64, U float64 (duals,): each arc at the place of its dual; U is 0 where
          a dual has no arc
          beta     float64, one per arc
          R        float64 (n L,): the slopes by the scores, or their changes, are added
Returns   the sum of U (v)+; or the slope of the envelopes in t at scores S + t T
Cost      a few operations per arc
See       Rockafellar 1976 (method of multipliers)
"""

from labelrank.kernels._compile import kernel
from labelrank.kernels.preference_margins import (
    ABOVE_THRESHOLD,
    BELOW_THRESHOLD,
    ORDER,
    PAIRS,
    _order_weight,
    ordered_pairs,
)


@kernel
def _put(arcs, at, row, a, b, weight):
    better, worse, U = arcs
    better[at], worse[at], U[at] = row + a, row + b, weight


@kernel
def _list_relevant(at, row, own, grade, K, weights, chain, arcs):
    """The arcs of one instance between its relevant labels and the threshold, and among them."""
    m = own.shape[0]
    if weights[ABOVE_THRESHOLD] > 0.0:
        for p in range(m):
            _put(arcs, at + p, row, own[p], K, weights[ABOVE_THRESHOLD] / m)
        at += m
    pairs = ordered_pairs(grade) if weights[ORDER] > 0.0 else 0
    if pairs:
        for p in range(m):
            for q in range(p + 1, m):
                weight = weights[ORDER] * _order_weight(grade, m, chain, p, q, pairs)
                _put(arcs, at + p * m + q, row, own[p], own[q], weight)


@kernel
def list_arcs(relevant, unknown, dual_ptr, weights, chain, better, worse, U):
    relevant_ptr, labels, grades, K = relevant
    unknown_ptr, unknown_labels, _, _ = unknown
    arcs = (better, worse, U)
    for i in range(dual_ptr.shape[0] - 1):
        at, row = dual_ptr[i], i * (K + 1)
        own = labels[relevant_ptr[i] : relevant_ptr[i + 1]]
        grade = grades[relevant_ptr[i] : relevant_ptr[i + 1]]
        hidden = unknown_labels[unknown_ptr[i] : unknown_ptr[i + 1]]
        m, n_irrelevant = own.shape[0], K - own.shape[0] - hidden.shape[0]
        rows = m if weights[PAIRS] > 0.0 else 0
        for p in range(rows + (weights[BELOW_THRESHOLD] > 0.0)):
            weight = weights[PAIRS] / m if p < rows else weights[BELOW_THRESHOLD]
            if n_irrelevant:
                for b in range(K):
                    _put(arcs, at + b, row, own[p] if p < rows else K, b, weight / n_irrelevant)
                for b in own:
                    U[at + b] = 0.0
                for b in hidden:
                    U[at + b] = 0.0
            at += K
        _list_relevant(at, row, own, grade, K, weights, chain, arcs)


@kernel
def slopes(arcs, alpha, theta, S, beta, R):
    better, worse, U = arcs
    loss = 0.0
    for e in range(U.shape[0]):
        a, b = better[e], worse[e]
        v = 1.0 - S[a] + S[b]
        beta[e] = min(max(alpha[e] + theta * U[e] * v, 0.0), U[e])
        loss += U[e] * max(v, 0.0)
        R[a] -= beta[e]
        R[b] += beta[e]
    return loss


@kernel
def slope_along(arcs, alpha, theta, S, T, t):
    better, worse, U = arcs
    slope = 0.0
    for e in range(U.shape[0]):
        a, b = better[e], worse[e]
        change = T[b] - T[a]
        v = 1.0 - S[a] + S[b] + t * change
        slope += change * min(max(alpha[e] + theta * U[e] * v, 0.0), U[e])
    return slope


@kernel
def curve(better, worse, weight, T, R):
    for e in range(weight.shape[0]):
        a, b = better[e], worse[e]
        step = weight[e] * (T[b] - T[a])
        R[a] -= step
        R[b] += step
