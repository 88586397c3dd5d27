"""The k nearest rows of each query, by all inner products: what a dense block leaves, by postings.

Problem   for each query q: the k rows x with the largest q.x - |x|²/2, which are the nearest in
          Euclidean distance (with no lengths: the largest q.x), equal ones by smaller number
Given     sums      float32 (b, n): q.x over the frequent columns, of queries first..first+b-1
          columns   the other columns: cptr int64 (d+1,), crow int32, cval float32
          rows      all of them: rptr int64 (n+1,), ridx int32, rval float64; half float64 (n,): the
                    halves of their squared lengths (or zeros); longest: the largest length
          queries   qptr int64, qidx int32, qval float64
Changes   near      int64 (queries, k), nearest first, rows first..first+b-1; sums
Returns   nothing
Cost      one addition a posting of the other columns of q, one comparison a row, and exact inner
          products with the few rows that rounding leaves in doubt
Order     decided by float64 sums in the order of columns: same input, same bits; the float32 sums
          only leave out rows that are worse by more than their rounding
See       Zhang & Zhou 2007 for what the neighbours are used for
"""

import numpy as np

from labelrank.kernels._compile import kernel

_EPSILON = np.float32(1.2e-7)
_STRIDE = 128


@kernel
def _add_postings(cptr, crow, cval, column, weight, sums):
    rows, values = crow[cptr[column] : cptr[column + 1]], cval[cptr[column] : cptr[column + 1]]
    for e in range(rows.shape[0]):
        sums[rows[e]] += weight * values[e]


@kernel
def _candidates(sums, k, slack, best, chosen):
    """Rows whose sum is within `slack` of the k-th largest; `best` (k,) is scratch."""
    best[:] = -np.inf
    bar, least, count = best[0], best[0], 0
    for begin in range(0, sums.shape[0], _STRIDE):
        part = sums[begin : begin + _STRIDE]
        hits = 0
        for e in range(part.shape[0]):  # whole vectors at a time: mostly there is nothing to do
            hits += part[e] >= least
        if hits == 0:
            continue
        for e in range(part.shape[0]):
            if part[e] < least:
                continue
            chosen[count] = begin + e
            count += 1
            if part[e] > bar:
                j = k - 1
                while j > 0 and best[j - 1] < part[e]:
                    best[j] = best[j - 1]
                    j -= 1
                best[j] = part[e]
                bar = best[k - 1]
                least = bar - slack
    kept = 0
    for c in range(count):
        if sums[chosen[c]] >= least:
            chosen[kept] = chosen[c]
            kept += 1
    return kept


@kernel
def _exact(ridx, rval, start, stop, query):
    total = 0.0
    for p in range(start, stop):
        total += rval[p] * query[ridx[p]]
    return total


@kernel
def _insert(value, row, k, values, rows):
    """Keep the k largest, given in order of row number: an equal one goes behind."""
    j = k - 1
    while j > 0 and values[j - 1] < value:
        values[j], rows[j] = values[j - 1], rows[j - 1]
        j -= 1
    values[j], rows[j] = value, row


@kernel
def nearest(
    sums, cptr, crow, cval, rptr, ridx, rval, half, longest, qptr, qidx, qval, first, near
):  # fmt: skip
    n, k = sums.shape[1], near.shape[1]
    query = np.zeros(cptr.shape[0] - 1)
    best, chosen = np.empty(k, np.float32), np.empty(n, np.int32)
    values = np.empty(k)
    has_lengths = half.any()
    for b in range(sums.shape[0]):
        i, row = first + b, sums[b]
        length = 0.0
        for p in range(qptr[i], qptr[i + 1]):
            query[qidx[p]] = qval[p]
            length += qval[p] * qval[p]
            _add_postings(cptr, crow, cval, qidx[p], np.float32(qval[p]), row)
        if has_lengths:
            for j in range(n):
                row[j] -= np.float32(half[j])
        terms = qptr[i + 1] - qptr[i] + 8
        slack = _EPSILON * (terms * np.sqrt(length) * longest + longest * longest)
        count = _candidates(row, k, np.float32(2.0 * slack), best, chosen)
        values[:] = -np.inf
        for c in range(count):
            j = chosen[c]
            value = _exact(ridx, rval, rptr[j], rptr[j + 1], query) - half[j]
            if value > values[k - 1]:
                _insert(value, j, k, values, near[i])
        for p in range(qptr[i], qptr[i + 1]):
            query[qidx[p]] = 0.0
