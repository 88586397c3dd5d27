"""Quick voting: the labels that beat Θ, and their order, without most of the duels.

Problem   votes of a label = won duels; wanted are the labels with more votes than Θ (the last
          label), by falling votes, equal votes by index. A label's losses among the duels seen so
          far bound its losses from below, so a label whose duels are all known, and whose losses
          no other's bound undercuts, is the best of those left.
Given     losses int32 (K',), all 0; state uint8 (K',), all OPEN; hint float64 (K',): which of
          equally promising labels to look at first; it cannot change the result
Changes   losses: exact for labels seen whole, a lower bound for the others; state
Returns   which label's duels are wanted next, or the evaluations made
Cost      O(K') a row of duels, besides the row
Order     rows: Θ first (the duels against Θ are a good hint), then always the least losses
See       Park & Fürnkranz 2007 (QWeighted); Loza Mencía, Park & Fürnkranz 2010 (calibrated)
"""

import math

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.dual import compare_row, duels_of

OPEN, SEEN, TAKEN = range(3)


@kernel
def best_seen(losses, state):
    """The label of least losses among those seen whole; Θ wins a tie, then the smaller index."""
    threshold = losses.shape[0] - 1
    best = threshold if state[threshold] == SEEN else -1
    for v in range(threshold):
        if state[v] == SEEN and (best < 0 or losses[v] < losses[best]):
            best = v
    return best


@kernel
def next_label(losses, state, hint):
    """Take what is decided; the label to look at next, or -1 once Θ is the best of those left."""
    threshold = losses.shape[0] - 1
    while True:
        best, found = best_seen(losses, state), -1
        for v in range(threshold):
            if state[v] != OPEN or (best >= 0 and losses[v] > losses[best]):
                continue
            if best >= 0 and losses[v] == losses[best] and (v > best or best == threshold):
                continue
            ahead = found < 0 or losses[v] < losses[found]
            if ahead or (losses[v] == losses[found] and hint[v] > hint[found]):
                found = v
        if found >= 0 or best == threshold:
            return found
        state[best] = TAKEN


@kernel
def take_row(u, margins, losses, state, hint):
    """Enter the duels of u (margins[v] > 0 where u beats v); returns how many were new."""
    n_labels, lost, new = losses.shape[0], 0, 0
    for v in range(n_labels):
        if v == u:
            continue
        wins = margins[v] >= 0 if u < v else margins[v] > 0
        lost += not wins
        if state[v] == OPEN:
            new += 1
            losses[v] += wins
    losses[u] = lost
    state[u] = SEEN
    if u == n_labels - 1:
        for v in range(n_labels):
            hint[v] = -margins[v]
    return new


@kernel
def take_rows(active, labels, margins, losses, state, hint, evaluations):
    """`take_row` and `next_label` for each active instance; labels become the next ones or -1."""
    for j in range(active.shape[0]):
        i = active[j]
        evaluations[i] += take_row(labels[j], margins[j], losses[i], state[i], hint[i])
        labels[j] = next_label(losses[i], state[i], hint[i])


@kernel
def quick_dual(X, first, last, store, similarity, scratch, losses, evaluations):
    """Rows first..last in the dual representation; False where a kernel value overflows."""
    n_labels = losses.shape[1]
    state, hint = np.empty(n_labels, np.uint8), np.empty(n_labels)
    for r in range(first, last):
        factor = compare_row(X, r, store, similarity, scratch)
        if math.isnan(factor):
            return False
        losses[r], state[:], evaluations[r] = 0, OPEN, 0
        u = n_labels - 1
        while u >= 0:
            duels_of(u, store, scratch.fixed, scratch.row)
            evaluations[r] += take_row(u, scratch.row, losses[r], state, hint)
            u = next_label(losses[r], state, hint)
    return True
