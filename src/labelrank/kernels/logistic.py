"""Logistic losses: of many labels on one instance, and of the links of chains on all instances.

The kernels that take one row work on float32 lanes; `exp` is a polynomial, so that the compiler
makes vector operations of these loops.
"""

import numpy as np

from labelrank.kernels._compile import fast_kernel, kernel

ZERO, ONE, TWO, HALF = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(0.5)
# A dual variable is C times the sigmoid of its logit; from here down it is 0.
NO_DUAL = np.float32(-20.0)

# exp(x) = 2^n exp(r): the lowest x, 1 / ln 2, ln 2 in two parts, and the Taylor series of exp(r)
# less 1 + r, bent to fit [-ln 2 / 2, ln 2 / 2] (Cephes, expf).
_LOWEST = np.float32(-87.0)
_PER_LN2 = np.float32(1.4426950408889634)
_LN2, _LN2_REST = np.float32(0.693359375), np.float32(-2.12194440e-4)
_E7, _E6, _E5 = np.float32(1.9875691e-4), np.float32(1.3981999e-3), np.float32(8.3334519e-3)
_E4, _E3, _E2 = np.float32(4.1665796e-2), np.float32(1.6666666e-1), np.float32(0.5)
_BIAS, _MANTISSA = np.int32(127), np.int32(23)
# ln(1 + e) = 2 artanh(r), r = e / (2 + e).
_A3, _A5, _A7 = np.float32(1 / 3), np.float32(1 / 5), np.float32(1 / 7)
_A9, _A11, _A13 = np.float32(1 / 9), np.float32(1 / 11), np.float32(1 / 13)


@fast_kernel
def exp_minus_abs(z):
    """exp(-|z|) of a float32, within 4e-7 of itself; exp(-87) from 87 on."""
    x = max(-abs(z), _LOWEST)
    n = np.int32(x * _PER_LN2 - HALF)
    r = (x - np.float32(n) * _LN2) - np.float32(n) * _LN2_REST
    series = ((((_E7 * r + _E6) * r + _E5) * r + _E4) * r + _E3) * r + _E2
    power = np.int32((n + _BIAS) << _MANTISSA).view(np.float32)
    return (series * r * r + r + ONE) * power


@fast_kernel
def share(z):
    """The sigmoid of z: the part of C that the dual of logit z is."""
    e = exp_minus_abs(z)
    p = (ONE if z > ZERO else e) / (ONE + e)
    return p if z > NO_DUAL else ZERO


@fast_kernel
def softplus(z):
    """ln(1 + exp(z))."""
    e = exp_minus_abs(z)
    r = e / (TWO + e)
    q = r * r
    series = (((((_A13 * q + _A11) * q + _A9) * q + _A7) * q + _A5) * q + _A3) * q + ONE
    return max(z, ZERO) + TWO * r * series


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
