"""Iterative stratification: folds in which every label has its share.

Problem   give each instance a fold so that each fold has about 1/F of each label's instances
Given     Y rows (yptr, yidx: relevant labels only), Y columns (cptr, cidx: instances of a label),
          noise float64 (n,), seeded, to settle what is equally good
Changes   fold int64 (n,), overwritten
Cost      O(stored entries x F + labels squared)
Order     rarest label first (of what is left), its instances as listed
See       Sechidis, Tsoumakas & Vlahavas 2011
"""

import numpy as np

from labelrank.kernels._compile import kernel


@kernel
def assign(yptr, yidx, cptr, cidx, noise, n_folds, fold):
    n, n_labels = fold.shape[0], cptr.shape[0] - 1
    left = np.empty(n_labels, np.int64)
    need = np.empty((n_labels, n_folds))
    for k in range(n_labels):
        left[k] = cptr[k + 1] - cptr[k]
        for f in range(n_folds):
            need[k, f] = left[k] / n_folds
    room = np.full(n_folds, n / n_folds)
    fold[:] = -1
    while True:
        rarest = -1
        for k in range(n_labels):
            if left[k] > 0 and (rarest < 0 or left[k] < left[rarest]):
                rarest = k
        if rarest < 0:
            break
        for q in range(cptr[rarest], cptr[rarest + 1]):
            i = cidx[q]
            if fold[i] < 0:
                f = _neediest(need[rarest], room, noise[i])
                fold[i] = f
                room[f] -= 1.0
                for p in range(yptr[i], yptr[i + 1]):
                    left[yidx[p]] -= 1
                    need[yidx[p], f] -= 1.0
    for i in range(n):
        if fold[i] < 0:
            fold[i] = _neediest(room, room, noise[i])
            room[fold[i]] -= 1.0


@kernel
def _neediest(need, room, noise):
    """The fold with the largest need; then with most room; then by the instance's noise."""
    n_folds = need.shape[0]
    first = int(noise * n_folds)
    best = first
    for step in range(1, n_folds):
        f = (first + step) % n_folds
        more_need = need[f] > need[best] + 1e-9
        as_needy = abs(need[f] - need[best]) <= 1e-9
        if more_need or (as_needy and room[f] > room[best] + 1e-9):
            best = f
    return best
