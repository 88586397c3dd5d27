"""Loss and gradient of many logistic regressions on the same instances, in one pass.

Problem   link j scores instance i by the columns of S from first[j] on: one column for two classes
          (class 1 against class 0), else one per class (softmax); its loss on i is minus the log
          probability of the class codes[i, target[j]]
Given     S       float64 (n, M), C-contiguous: the scores
          codes   int32 (n, L): the class of each target column, -1 where it is unknown
          first   int64 (J,), width int64 (J,), target int64 (J,): columns and target of each link
Changes   R       float64 (n, M): the derivative of the loss by the scores, 0 where unknown
          loss    float64 (J,): the summed losses
Returns   nothing
Cost      one exponential per score; no allocation
Order     rows, then links: same input, same bits
See       Boehning 1992 for the bound 1/4 on the curvature that the solver scales by
"""

import numpy as np

from labelrank.kernels._compile import kernel


@kernel
def loss_and_residual(S, codes, first, width, target, R, loss):
    loss[:] = 0.0
    for i in range(S.shape[0]):
        scores, residual, known = S[i], R[i], codes[i]
        for j in range(first.shape[0]):
            c = known[target[j]]
            if c < 0:
                residual[first[j] : first[j] + width[j]] = 0.0
            elif width[j] == 1:
                loss[j] += _binary(scores, residual, first[j], c)
            else:
                loss[j] += _softmax(scores, residual, first[j], width[j], c)


@kernel
def _binary(scores, residual, a, c):
    s = scores[a]
    e = np.exp(-abs(s))
    p = 1.0 / (1.0 + e)
    if s < 0.0:
        p = 1.0 - p
    residual[a] = p - c
    wrong = -s if c == 1 else s
    return max(wrong, 0.0) + np.log1p(e)


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
