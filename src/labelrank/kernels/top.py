"""Products of two thin matrices, whole or only the largest of each row.

A score is summed over s in rising order, whatever the rows and labels around it: both kernels give
the same bits. Equal scores: the smaller label first, as in `labelrank.decoding`.
"""

import numpy as np

from labelrank.kernels._compile import kernel

BLOCK = 1024
_RUN = 32


@kernel
def _four_rows(H, i, last, codes, lo, hi, o0, o1, o2, o3):
    """Scores of rows i..i+3 (where there are fewer before `last`, its last one again).

    Each stretch of codes is read once for all of them.
    """
    width, end = hi - lo, last - 1
    i0, i1, i2, i3 = i, min(i + 1, end), min(i + 2, end), min(i + 3, end)
    for k in range(width):
        o0[k], o1[k], o2[k], o3[k] = 0.0, 0.0, 0.0, 0.0
    s = codes.shape[0]
    paired = s - s % 2
    for c in range(0, paired, 2):
        first, second = codes[c, lo:hi], codes[c + 1, lo:hi]
        a0, a1, a2, a3 = H[i0, c], H[i1, c], H[i2, c], H[i3, c]
        b0, b1, b2, b3 = H[i0, c + 1], H[i1, c + 1], H[i2, c + 1], H[i3, c + 1]
        for k in range(width):
            x, y = first[k], second[k]
            o0[k] = (o0[k] + a0 * x) + b0 * y
            o1[k] = (o1[k] + a1 * x) + b1 * y
            o2[k] = (o2[k] + a2 * x) + b2 * y
            o3[k] = (o3[k] + a3 * x) + b3 * y
    if paired < s:
        last = codes[paired, lo:hi]
        a0, a1, a2, a3 = H[i0, paired], H[i1, paired], H[i2, paired], H[i3, paired]
        for k in range(width):
            x = last[k]
            o0[k] += a0 * x
            o1[k] += a1 * x
            o2[k] += a2 * x
            o3[k] += a3 * x


@kernel
def _offer(scores, width, lo, labels, values):
    """Insert what beats the worst kept score; runs whose largest does not are passed over."""
    last = labels.shape[0] - 1
    for start in range(0, width, _RUN):
        stop = min(start + _RUN, width)
        largest = scores[start]
        for k in range(start + 1, stop):
            largest = max(largest, scores[k])
        if largest > values[last]:
            for k in range(start, stop):
                score = scores[k]
                if score > values[last]:
                    place = last
                    while place > 0 and values[place - 1] < score:
                        values[place], labels[place] = values[place - 1], labels[place - 1]
                        place -= 1
                    values[place], labels[place] = score, lo + k


@kernel
def best(H, first, last, codes, labels, values):
    """The best labels of rows first..last-1.

    Given     H       float32 (n, s), one row per instance
              codes   float32 (s, K), C-contiguous: one column per label
    Changes   labels  int64 (n, top) and values float32 (n, top), best first
    Cost      O(n s K) in blocks of labels that stay in cache; the n x K scores never exist
    """
    block = np.empty((4, BLOCK), np.float32)
    values[first:last] = -np.inf
    for lo in range(0, codes.shape[1], BLOCK):
        hi = min(lo + BLOCK, codes.shape[1])
        for i in range(first, last, 4):
            _four_rows(H, i, last, codes, lo, hi, block[0], block[1], block[2], block[3])
            for r in range(min(4, last - i)):
                _offer(block[r], hi - lo, lo, labels[i + r], values[i + r])


@kernel
def scores(H, first, last, codes, out):
    """All scores of rows first..last-1 into out, float32 (n, K); H and codes as in `best`."""
    block = np.empty((4, BLOCK), np.float32)
    for lo in range(0, codes.shape[1], BLOCK):
        hi = min(lo + BLOCK, codes.shape[1])
        for i in range(first, last, 4):
            _four_rows(H, i, last, codes, lo, hi, block[0], block[1], block[2], block[3])
            for r in range(min(4, last - i)):
                out[i + r, lo:hi] = block[r, : hi - lo]
