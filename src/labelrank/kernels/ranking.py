"""Every criterion of a ranking in one pass over each row of scores; the best cut of scores.

Problem   a row has relevant labels (by grade), irrelevant ones and unknown ones, which are left
          out. From A_j, the number of irrelevant labels not below the j-th best relevant label,
          all criteria follow: the label stands at rank A_j + j, and A_1 + ... + A_m is the
          number of wrongly ordered pairs.
Given     scores     (n, K) C-contiguous, float32 or float64
          threshold  float64 (n,), the score of the threshold label
          discount   float64 (K,), 1 / log2(1 + rank) for ranks 1..K
          ks         int64, the cut-offs of precision and nDCG
          ties       WORST or RANDOM; at random by (seed, row, label) alone
Changes   out        float64 (n, 8 + 2 len(ks)): columns as numbered below, then precision at
          each k, then nDCG at each k; rows first..last-1 only
Returns   -1, or the first row that holds a NaN score (rows behind it are not computed)
Cost      O(m K) vector comparisons for m <= 512 relevant labels, else O(K log K); O(m^2) more
          for m graded labels; work space O(K), once per call
See       Fürnkranz & Loza Mencía (losses of a ranking); Xu, Li & Zhou 2013 (PRO loss)
"""

import numpy as np

from labelrank.kernels._compile import kernel
from labelrank.kernels.random import GOLDEN, SCALE, mix

WORST, RANDOM = range(2)
F1, JACCARD, EXACT, RIGHT = range(4)
(
    IS_ERROR, ERROR_SET_SIZE, MARGIN_LOSS, AVERAGE_PRECISION_LOSS, RANKING_LOSS, ONE_ERROR,
    COVERAGE, PRO_LOSS,
) = range(8)  # fmt: skip
N_COLUMNS = 8
_FEW = 512


@kernel
def tie_rank(seed, row, label):
    """A random number in [0, 1) that orders a label among its ties: SplitMix64 of its place."""
    z = mix(seed + np.uint64(row + 1) * GOLDEN)
    z = mix(z + np.uint64(label + 1) * GOLDEN)
    return np.float64(np.int64(z >> np.uint64(11))) * SCALE


@kernel
def _not_below(row, value):
    """How many entries are >= value, and how many are > value."""
    at_least, above = 0, 0
    for k in range(row.shape[0]):
        at_least += row[k] >= value
        above += row[k] > value
    return at_least, above


@kernel
def _sort_falling(value, second, gain, m):
    """Shell sort by falling value, equal ones by rising `second`; the arrays move in step."""
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for j in range(gap, m):
            v, s, g = value[j], second[j], gain[j]
            p = j
            while p >= gap and (
                value[p - gap] < v or (value[p - gap] == v and second[p - gap] > s)
            ):
                value[p], second[p], gain[p] = value[p - gap], second[p - gap], gain[p - gap]
                p -= gap
            value[p], second[p], gain[p] = v, s, g
        gap //= 3


@kernel
def _gather(row, labels, grades, i, ties, seed, value, second, gain, unknown):
    """Scores, tie-breakers and grades of the relevant labels; scores of the unknown ones."""
    m, u = 0, 0
    for p in range(labels.shape[0]):
        if grades[p] != grades[p]:
            unknown[u] = row[labels[p]]
            u += 1
        else:
            value[m] = row[labels[p]]
            gain[m] = grades[p]
            second[m] = tie_rank(seed, i, labels[p]) if ties == RANDOM else grades[p]
            m += 1
    return m, u


@kernel
def _group_end(value, j, m):
    """One past the last relevant label that ties with the j-th."""
    end = j + 1
    while end < m and value[end] == value[j]:
        end += 1
    return end


@kernel
def _count_by_comparing(row, value, m, unknown, at_least, above):
    """Irrelevant labels at or above, and above, each of few relevant labels."""
    j = 0
    while j < m:
        end = _group_end(value, j, m)
        all_at_least, all_above = _not_below(row, value[j])
        unknown_at_least, unknown_above = _not_below(unknown, value[j])
        for t in range(j, end):
            at_least[t] = all_at_least - unknown_at_least - end
            above[t] = all_above - unknown_above - j
        j = end


@kernel
def _count_at_random(row, value, second, m, taken, i, seed, at_least, above, before):
    """Irrelevant labels before each relevant one when ties are ordered at random."""
    for j in range(m):
        before[j] = above[j]
        if at_least[j] > above[j]:
            for k in range(row.shape[0]):
                if not taken[k] and row[k] == value[j]:
                    before[j] += tie_rank(seed, i, k) < second[j]


@kernel
def _losses(value, m, q, ties, before, out):
    """The criteria that follow from the number of irrelevant labels before each relevant one."""
    out[:PRO_LOSS] = 0.0
    if m == 0:
        return
    out[COVERAGE] = before[m - 1] + m
    if q == 0:
        return
    wrong, clean, precision, end = 0, 0, 0.0, 0
    for j in range(m):
        wrong += before[j]
        clean += before[j] == 0
        if j >= end:
            end = j + 1 if ties == RANDOM else _group_end(value, j, m)
        precision += end / (before[j] + end)
    out[IS_ERROR] = wrong > 0
    out[ERROR_SET_SIZE] = wrong
    out[MARGIN_LOSS] = max(0, before[m - 1] + m - clean - 1)
    out[AVERAGE_PRECISION_LOSS] = 1.0 - precision / m
    out[RANKING_LOSS] = wrong / (np.float64(m) * q)
    out[ONE_ERROR] = before[0] > 0


@kernel
def _is_graded(gain, m):
    other = 0
    for j in range(1, m):
        other += gain[j] != gain[0]
    return other > 0


@kernel
def _misordered_grades(value, gain, m):
    """Mean error of the strictly ordered pairs of relevant labels, given by falling value."""
    pairs, error = 0, 0.0
    for a in range(m):
        for b in range(a + 1, m):
            if gain[a] != gain[b]:
                pairs += 1
                if value[a] == value[b]:
                    error += 0.5
                elif gain[a] < gain[b]:
                    error += 1.0
    return error / pairs if pairs else 0.0


@kernel
def _pro_loss(row, value, gain, m, q, unknown, threshold, at_least, above):
    """A quarter of the mean error of each of the four groups of pairs; a tie is half an error."""
    loss = 0.0
    relevant_at_least, relevant_above = _not_below(value[:m], threshold)
    if m > 0:
        loss += 1.0 - 0.5 * (relevant_at_least + relevant_above) / m
        if _is_graded(gain, m):
            loss += _misordered_grades(value, gain, m)
    if q > 0:
        all_at_least, all_above = _not_below(row, threshold)
        unknown_at_least, unknown_above = _not_below(unknown, threshold)
        over = all_at_least - relevant_at_least - unknown_at_least
        over += all_above - relevant_above - unknown_above
        loss += 0.5 * over / q
    if m > 0 and q > 0:
        halves = 0
        for j in range(m):
            halves += at_least[j] + above[j]
        loss += 0.5 * halves / (np.float64(m) * q)
    return 0.25 * loss


@kernel
def _top(gain, ideal, m, before, discount, ks, out):
    """Precision and nDCG at each k, for relevant labels in the order of the ranking."""
    ideal[:m] = gain[:m]
    if _is_graded(gain, m):
        ideal[:m].sort()
    for c in range(ks.shape[0]):
        hits, found, best = 0, 0.0, 0.0
        for j in range(m):
            if before[j] + j < ks[c]:
                hits += 1
                found += gain[j] * discount[before[j] + j]
            if j < ks[c]:
                best += ideal[m - 1 - j] * discount[j]
        out[N_COLUMNS + c] = hits / ks[c]
        out[N_COLUMNS + ks.shape[0] + c] = found / best if m > 0 else 0.0


@kernel
def criteria(Y, scores, threshold, discount, ks, ties, seed, first, last, out):
    """All criteria of rows first..last-1; see the head of this file."""
    indptr, indices, grades, n_labels = Y
    value, unknown = np.empty(n_labels, scores.dtype), np.empty(n_labels, scores.dtype)
    second, gain, ideal = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    at_least, above = np.empty(n_labels, np.int64), np.empty(n_labels, np.int64)
    drawn, taken = np.empty(n_labels, np.int64), np.zeros(n_labels, np.bool_)
    for i in range(first, last):
        row = scores[i]
        n_nan = 0
        for k in range(n_labels):
            n_nan += row[k] != row[k]
        if n_nan:
            return i
        labels, marks = indices[indptr[i] : indptr[i + 1]], grades[indptr[i] : indptr[i + 1]]
        m, u = _gather(row, labels, marks, i, ties, seed, value, second, gain, unknown)
        q = n_labels - m - u
        _sort_falling(value, second, gain, m)
        for p in range(labels.shape[0]):
            taken[labels[p]] = True
        if m <= _FEW:
            _count_by_comparing(row, value, m, unknown[:u], at_least, above)
        else:
            irrelevant = np.sort(row[~taken])
            at_least[:m] = len(irrelevant) - np.searchsorted(irrelevant, value[:m], "left")
            above[:m] = len(irrelevant) - np.searchsorted(irrelevant, value[:m], "right")
        before = at_least
        if ties == RANDOM:
            before = drawn
            _count_at_random(row, value, second, m, taken, i, seed, at_least, above, before)
        for p in range(labels.shape[0]):
            taken[labels[p]] = False
        _losses(value, m, q, ties, before, out[i])
        out[i, PRO_LOSS] = _pro_loss(
            row, value, gain, m, q, unknown[:u], threshold[i], at_least, above
        )
        _top(gain, ideal, m, before, discount, ks, out[i])
    return -1


@kernel
def weighted_wins(better, better_weight, worse, worse_weight):
    """Weight of the rightly ordered pairs of two samples in rising order; a tie counts half."""
    total, below, tied, p = 0.0, 0.0, 0.0, 0
    for j in range(better.shape[0]):
        if j == 0 or better[j] != better[j - 1]:
            below += tied
            tied = 0.0
            while p < worse.shape[0] and worse[p] < better[j]:
                below += worse_weight[p]
                p += 1
            while p < worse.shape[0] and worse[p] == better[j]:
                tied += worse_weight[p]
                p += 1
        total += better_weight[j] * (below + 0.5 * tied)
    return total


@kernel
def weight_not_below(scores, weights, value):
    """Weight of the entries of a matrix that are >= value, and > value; `weights` by row."""
    at_least, above = 0.0, 0.0
    for i in range(scores.shape[0]):
        row_at_least, row_above = _not_below(scores[i], value)
        at_least += weights[i] * row_at_least
        above += weights[i] * row_above
    return at_least, above


@kernel
def _cut_value(measure, hits, predicted, relevant):
    if measure == RIGHT:
        return 2.0 * hits - predicted
    if measure == EXACT:
        return 1.0 if hits == predicted and hits == relevant else 0.0
    if predicted + relevant == 0:
        return 1.0
    if measure == F1:
        return 2.0 * hits / (predicted + relevant)
    return hits / (predicted + relevant - hits)


@kernel
def best_cut(order, score, group, relevant, total, measure):
    """The best threshold of all, found by lowering it past one score at a time.

    Problem   over all cuts t of the scores, maximise the sum over groups g of the measure of
              tp_g, p_g, r_g: true positives, predicted and relevant entries of g at "score > t"
    Given     order     int64 (m,), entries by falling score
              score     float64 (m,), group int64 (m,), relevant bool (m,), all by entry
              total     int64 (groups,), relevant entries of each group
              measure   F1, JACCARD, EXACT or RIGHT (entries classified rightly)
    Returns   the threshold (midway between two scores, or just outside all) and its value
    Cost      O(m) after the sort; of equally good cuts the highest wins
    """
    hits, predicted = np.zeros_like(total), np.zeros_like(total)
    current = 0.0
    for g in range(total.shape[0]):
        current += _cut_value(measure, 0, 0, total[g])
    m = order.shape[0]
    best, threshold = current, score[order[0]] if m else 0.0
    for q in range(m):
        e = order[q]
        g = group[e]
        current -= _cut_value(measure, hits[g], predicted[g], total[g])
        predicted[g] += 1
        hits[g] += relevant[e]
        current += _cut_value(measure, hits[g], predicted[g], total[g])
        below = score[order[q + 1]] if q + 1 < m else score[e] - 1.0
        if below < score[e] and current > best + 1e-12:
            best, threshold = current, 0.5 * (score[e] + below)
            if not below <= threshold < score[e]:
                threshold = below
    return threshold, best
