"""The best threshold of all, found by lowering it past one score at a time.

Problem   over all cuts t of the scores, maximise the sum over groups g of value(tp_g, p_g, r_g):
          true positives, predicted and relevant entries of g at "score > t"
Given     order     int64 (m,), entries by falling score
          score     float64 (m,), group int64 (m,), relevant bool (m,), all by entry
          total     int64 (groups,), relevant entries of each group
          measure   F1, JACCARD, EXACT or RIGHT (entries classified rightly)
Returns   the threshold (midway between two scores, or just outside all) and its value
Cost      O(m) after the sort
Order     of equally good cuts the highest wins
See       learners.thresholded.ThresholdedRanker
"""

import numpy as np

from labelrank.kernels._compile import kernel

F1, JACCARD, EXACT, RIGHT = range(4)


@kernel
def value(measure, hits, predicted, relevant):
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
    hits, predicted = np.zeros_like(total), np.zeros_like(total)
    current = 0.0
    for g in range(total.shape[0]):
        current += value(measure, 0, 0, total[g])
    m = order.shape[0]
    best, threshold = current, score[order[0]] if m else 0.0
    for q in range(m):
        e = order[q]
        g = group[e]
        current -= value(measure, hits[g], predicted[g], total[g])
        predicted[g] += 1
        hits[g] += relevant[e]
        current += value(measure, hits[g], predicted[g], total[g])
        below = score[order[q + 1]] if q + 1 < m else score[e] - 1.0
        if below < score[e] and current > best + 1e-12:
            best, threshold = current, 0.5 * (score[e] + below)
            if not below <= threshold < score[e]:
                threshold = below
    return threshold, best
