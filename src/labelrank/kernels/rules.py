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

from labelrank.kernels._compile import kernel
from labelrank.kernels.random import uniform

IRRELEVANT, RELEVANT, UNKNOWN = range(3)
PERCEPTRON, PASSIVE_AGGRESSIVE = range(2)
IS_ERROR, ERROR_SET_SIZE, MARGIN, AVERAGE_PRECISION = range(4)
UNIFORM, PROPORTIONAL, MAX, RANDOM = range(4)


@kernel
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


@kernel
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


@kernel
def mmp(s, kind, width, relevant, n_relevant, gain, step, margin, C, loss, penalty, seed, clock, c):
    """One step of the multiclass multilabel perceptron; `c` becomes delta * tau / sigma."""
    c[:] = 0.0
    if n_relevant == 0:
        return 0
    ascending = np.empty(n_relevant, np.float32)
    for r in range(n_relevant):
        ascending[r] = s[relevant[r]]
    ascending.sort()
    n_violating, best = _survey(s, kind, width, margin, ascending[0])
    if n_violating == 0:
        return 0
    delta = _loss(s, kind, width, margin, ascending, n_violating, best, loss)
    sigma = _penalties(s, kind, width, relevant, ascending, margin, penalty, seed, clock, c)
    if sigma == 0.0:
        sigma = _penalties(s, kind, width, relevant, ascending, margin, UNIFORM, seed, clock, c)
    if step == PASSIVE_AGGRESSIVE:
        delta = _pa_delta(s, width, gain, C, sigma, c)
    moved = 0
    for k in range(width):
        moved += c[k] != 0.0
        c[k] *= delta / sigma
    return moved


@kernel
def _survey(s, kind, width, margin, worst):
    """How many irrelevant labels violate, and the best score among them."""
    n_violating, best = 0, -np.inf
    for k in range(width):
        if kind[k] == IRRELEVANT:
            shifted = s[k] + margin
            n_violating += shifted >= worst
            best = max(best, shifted)
    return n_violating, best


@kernel
def _loss(s, kind, width, margin, ascending, n_violating, best, loss):
    n_relevant = ascending.shape[0]
    if loss == IS_ERROR:
        return 1.0
    if loss == MARGIN:
        before = n_relevant - np.searchsorted(ascending, best, side="right")
        return float(n_relevant + n_violating - (before + 1))
    wrong_pairs = 0
    ahead = np.zeros(n_relevant + 1, np.int64)
    for k in range(width):
        if kind[k] == IRRELEVANT and s[k] + margin >= ascending[0]:
            position = np.searchsorted(ascending, s[k] + margin, side="right")
            wrong_pairs += position
            ahead[position] += 1
    if loss == ERROR_SET_SIZE:
        return float(wrong_pairs)
    return 1.0 - _average_precision(ascending, ahead)


@kernel
def _average_precision(ascending, ahead):
    """`ahead[p]` irrelevant labels score at or above exactly the p lowest relevant ones."""
    n_relevant = ascending.shape[0]
    total, irrelevant_above = 0.0, 0
    for r in range(n_relevant - 1, -1, -1):
        irrelevant_above += ahead[r + 1]
        at_or_above = n_relevant - np.searchsorted(ascending, ascending[r], side="left")
        total += at_or_above / (at_or_above + irrelevant_above)
    return total / n_relevant


@kernel
def _penalties(s, kind, width, relevant, ascending, margin, penalty, seed, clock, tau):
    """Fill tau (each violated pair gives its penalty) and return sigma, the sum of penalties."""
    tau[:] = 0.0
    n_relevant = ascending.shape[0]
    if penalty == MAX:
        return _most_violated(s, kind, width, relevant, n_relevant, tau)
    if penalty == RANDOM:
        return _random_pairs(s, kind, width, relevant, n_relevant, margin, seed, clock, tau)
    sums = np.zeros(n_relevant + 1)
    for r in range(n_relevant):
        sums[r + 1] = sums[r] + ascending[r]
    counts = np.zeros(n_relevant + 1, np.int64)
    scores = np.zeros(n_relevant + 1)
    sigma = 0.0
    for k in range(width):
        if kind[k] == IRRELEVANT and s[k] + margin >= ascending[0]:
            below = np.searchsorted(ascending, s[k] + margin, side="right")
            given = float(below) if penalty == UNIFORM else below * float(s[k]) - sums[below]
            if penalty != UNIFORM:
                given += below * margin
            tau[k] = -given
            sigma += given
            counts[below] += 1
            scores[below] += s[k] + margin
    for r in range(n_relevant - 1, 0, -1):
        counts[r] += counts[r + 1]
        scores[r] += scores[r + 1]
    for r in range(n_relevant):
        k = relevant[r]
        position = np.searchsorted(ascending, s[k], side="left") + 1
        uniform_share = float(counts[position])
        tau[k] = uniform_share if penalty == UNIFORM else scores[position] - uniform_share * s[k]
    return sigma


@kernel
def _most_violated(s, kind, width, relevant, n_relevant, tau):
    lowest, highest = relevant[0], -1
    for r in range(1, n_relevant):
        if s[relevant[r]] < s[lowest]:
            lowest = relevant[r]
    for k in range(width):
        if kind[k] == IRRELEVANT and (highest < 0 or s[k] > s[highest]):
            highest = k
    tau[lowest] = 1.0
    tau[highest] = -1.0
    return 1.0


@kernel
def _random_pairs(s, kind, width, relevant, n_relevant, margin, seed, clock, tau):
    sigma = 0.0
    for r in range(n_relevant):
        a = relevant[r]
        for b in range(width):
            if kind[b] == IRRELEVANT and s[a] <= s[b] + margin:
                p = uniform(seed, clock, a * width + b)
                tau[a] += p
                tau[b] -= p
                sigma += p
    return sigma


@kernel
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
