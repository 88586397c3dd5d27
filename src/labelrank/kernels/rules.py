"""The rules of per-label learners: from the scores of one instance, how far each label moves.

Problem   given the scores s of the labels in hand and what they are, find c with W += x c'
Given     s         float32 (B,), scores x.w_k of labels 0..width-1 (lanes behind are padding)
          kind      int8 (B,): IRRELEVANT, RELEVANT or UNKNOWN
          relevant  int32, first `n_relevant` entries: the relevant lanes, ascending;
          unknown   likewise
          gain      squared norm of x
Changes   c         float32 (B,), overwritten; 0 where a label stays
Returns   the number of labels that move (BR: of mistakes)
Cost      `separate` O(width); `mmp` O(width + violated log |R|), no pair is listed, except
          for the random penalty, which is one number a pair by definition
Order     nothing is summed in an order that depends on threads: same input, same bits
See       Loza Mencía & Fürnkranz 2008 (BR, MMP); Crammer & Singer 2003 (MMP);
          Crammer et al. 2006 (passive-aggressive)
"""

import numpy as np

from labelrank.kernels._compile import inner_kernel
from labelrank.kernels.random import uniform

IRRELEVANT, RELEVANT, UNKNOWN = range(3)
PERCEPTRON, PASSIVE_AGGRESSIVE = range(2)
IS_ERROR, ERROR_SET_SIZE, MARGIN, AVERAGE_PRECISION = range(4)
UNIFORM, PROPORTIONAL, MAX, RANDOM = range(4)


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

    Scratch, one entry a lane each: `shifted` (scores of the irrelevant labels plus the margin),
    `violating` (lanes of those at or above the lowest relevant score), `ascending`; `tally` has
    three rows of one entry more.
    """
    c[:] = 0.0
    if n_relevant == 0:
        return 0
    _sort_relevant(s, relevant, n_relevant, ascending)
    low = ascending[:n_relevant]
    n_violating = _find_violating(s, kind, width, margin, low[0], shifted, violating)
    if n_violating == 0:
        return 0
    wrong = violating[:n_violating]
    delta = _loss(shifted, wrong, low, loss, tally[0])
    sigma = _penalties(s, shifted, wrong, relevant, low, penalty, seed, clock, width, tally, c)
    if sigma == 0.0:
        sigma = _penalties(s, shifted, wrong, relevant, low, UNIFORM, seed, clock, width, tally, c)
    if step == PASSIVE_AGGRESSIVE:
        delta = _pa_delta(s, width, gain, C, sigma, c)
    share = np.float32(delta / sigma)
    moved = 0
    for k in range(width):
        moved += c[k] != 0.0
        c[k] *= share
    return moved


@inner_kernel
def _sort_relevant(s, relevant, n_relevant, ascending):
    for r in range(n_relevant):
        value = s[relevant[r]]
        q = r
        while q > 0 and ascending[q - 1] > value:
            ascending[q] = ascending[q - 1]
            q -= 1
        ascending[q] = value


@inner_kernel
def _find_violating(s, kind, width, margin, lowest, shifted, violating):
    for k in range(width):
        shifted[k] = s[k] + np.float32(margin) if kind[k] == IRRELEVANT else np.float32(-np.inf)
    found = 0
    for k in range(width):
        violating[found] = k
        found += shifted[k] >= lowest
    return found


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
    return 1.0 - _average_precision(low, ahead)


@inner_kernel
def _average_precision(low, ahead):
    """`ahead[p]` irrelevant labels score at or above exactly the p lowest relevant ones."""
    n_relevant = low.shape[0]
    total, irrelevant_above = 0.0, 0
    for r in range(n_relevant - 1, -1, -1):
        irrelevant_above += ahead[r + 1]
        at_or_above = n_relevant - np.searchsorted(low, low[r], side="left")
        total += at_or_above / (at_or_above + irrelevant_above)
    return total / n_relevant


@inner_kernel
def _penalties(s, shifted, wrong, relevant, low, penalty, seed, clock, width, tally, tau):
    """Fill tau (each violated pair gives its penalty) and return sigma, the sum of penalties."""
    tau[:] = 0.0
    if penalty == MAX:
        return _most_violated(s, shifted, wrong, relevant, low.shape[0], tau)
    if penalty == RANDOM:
        return _random_pairs(s, shifted, wrong, relevant, low.shape[0], seed, clock, width, tau)
    return _counted_pairs(s, shifted, wrong, relevant, low, penalty == PROPORTIONAL, tally, tau)


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
def _most_violated(s, shifted, wrong, relevant, n_relevant, tau):
    lowest, highest = relevant[0], wrong[0]
    for r in range(1, n_relevant):
        if s[relevant[r]] < s[lowest]:
            lowest = relevant[r]
    for k in wrong:
        if shifted[k] > shifted[highest]:
            highest = k
    tau[lowest] = 1.0
    tau[highest] = -1.0
    return 1.0


@inner_kernel
def _random_pairs(s, shifted, wrong, relevant, n_relevant, seed, clock, width, tau):
    sigma = 0.0
    for r in range(n_relevant):
        a = relevant[r]
        for b in wrong:
            if s[a] <= shifted[b]:
                p = uniform(seed, clock, a * width + b)
                tau[a] += p
                tau[b] -= p
                sigma += p
    return sigma


@inner_kernel
def _pa_delta(s, width, gain, C, sigma, tau):
    """PA-I along the direction tau / sigma: its mean hinge loss over its squared length."""
    agreement, length = 0.0, 0.0
    for k in range(width):
        agreement += tau[k] * s[k]
        length += tau[k] * tau[k]
    loss = 1.0 - agreement / sigma
    if loss <= 0.0 or gain == 0.0:
        return 0.0
    return min(C, loss * sigma * sigma / (gain * length))
