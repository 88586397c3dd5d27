"""The k nearest documents by cosine over an inverted index, skipping what cannot be among them.

Problem   for each query q: the k rows d of the index with the largest q.d, equal ones by smaller
          number; all rows have length 1 or 0
Given     columns in order of document frequency, rare ones first:
          cptr int64 (d+1,), crow int32, cval float32: the rows of a column, rising
          rptr int64 (n+1,), ridx int32, rval float64: the same entries by row, columns rising
          cuts int64 (levels,): columns at which we consider to stop; at each of them
          tails float32 (levels, n): length of each row's part from that column on, rounded up
          after int64 (levels, n): where that part begins in ridx
          queries qptr int64, qidx int32 (columns rising), qval float64; first..last-1 are asked
Changes   near int64 (queries, k), best first; similarity float64 (queries, k)
Returns   rows that had to be finished one by one
Cost      postings of the rare columns of q, then the tails of those rows alone that could still
          reach the k-th best: sum so far + |rest of q| |rest of d| is a bound (Cauchy-Schwarz)
Order     a similarity is a float64 sum in the order of columns: same input, same bits; float32
          sums only decide, with slack for their rounding, what is looked at
See       Turtle & Flood 1995 (max-score); Anastasiu & Karypis 2014 (bounds by lengths of parts)
"""

import numpy as np

from labelrank.kernels._compile import kernel

# Above the rounding of a float32 sum of some thousand products that add up to at most 1.
_SLACK = np.float32(1e-4)
# Rows are looked over in blocks: a comparison of a whole block is a few vector operations.
_BLOCK = 64
# One row in so many is looked at to guess how large the k largest sums are.
_SAMPLE = 16
# Finishing a row waits for memory; adding a posting does not. So many postings cost the same.
_PRICE = 300
# The true bar is worth finding if the rows in question may be that many times too many.
_HOPE = 4


@kernel
def _product(ridx, rval, start, stop, query):
    total = 0.0
    for p in range(start, stop):
        total += rval[p] * query[ridx[p]]
    return total


@kernel
def _worse(similarity, row, other_similarity, other_row):
    """True if (similarity, row) stands behind the other."""
    if similarity != other_similarity:
        return similarity < other_similarity
    return row > other_row


@kernel
def _sift(similarity, row, size, values, rows):
    """Put an entry in place of the root of a heap whose root is the worst."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _worse(values[right], rows[right], values[child], rows[child]):
            child = right
        if not _worse(values[child], rows[child], similarity, row):
            break
        values[at], rows[at] = values[child], rows[child]
        at = child
    values[at], rows[at] = similarity, row


@kernel
def _clear(values, rows):
    values[:] = -np.inf
    rows[:] = np.iinfo(np.int64).max


@kernel
def _sort(values, rows):
    """The heap best first: its worst goes to the end, again and again."""
    for last in range(values.shape[0] - 1, 0, -1):
        value, row = values[0], rows[0]
        _sift(values[last], rows[last], last, values, rows)
        values[last], rows[last] = value, row


@kernel
def _best(rptr, ridx, rval, query, chosen, count, values, rows):
    """The best of the chosen rows by their similarity, as a heap."""
    _clear(values, rows)
    for c in range(count):
        i = chosen[c]
        similarity = _product(ridx, rval, rptr[i], rptr[i + 1], query)
        if _worse(values[0], rows[0], similarity, i):
            _sift(similarity, i, values.shape[0], values, rows)


@kernel
def _reachable(sums, tail, rest, least, chosen):
    """Rows that could still reach `least`; returns how many."""
    count, n = 0, sums.shape[0]
    for start in range(0, n, _BLOCK):
        block, lengths = sums[start : start + _BLOCK], tail[start : start + _BLOCK]
        above = 0
        for j in range(block.shape[0]):
            above += block[j] + rest * lengths[j] >= least
        if above:
            for j in range(block.shape[0]):
                chosen[count] = start + j
                count += block[j] + rest * lengths[j] >= least
    return count


@kernel
def _guess(sums, chosen, values, rows):
    """Some k rows with large sums: those above what a sample of the sums makes one expect."""
    k = rows.shape[0]
    size = min(k, k // _SAMPLE + 4)
    _clear(values, rows)
    for i in range(0, sums.shape[0], _SAMPLE):
        if sums[i] > values[0]:
            _sift(float(sums[i]), i, size, values, rows)
    least = np.float32(values[0])
    if _reachable(sums, sums, np.float32(0.0), least, chosen) < k:
        _reachable(sums, sums, np.float32(0.0), np.float32(-np.inf), chosen)
    rows[:] = chosen[:k]


@kernel
def _leaders(sums, chosen, values, rows):
    """The rows of the largest sums so far, as a heap, given the leaders before (or a first -1)."""
    if rows[0] < 0:
        _guess(sums, chosen, values, rows)
    least = np.float32(np.inf)
    for j in range(rows.shape[0]):
        least = min(least, sums[rows[j]])
    count = _reachable(sums, sums, np.float32(0.0), least, chosen)
    _clear(values, rows)
    for c in range(count):
        i = chosen[c]
        if sums[i] > values[0]:
            _sift(float(sums[i]), i, values.shape[0], values, rows)


@kernel
def _finish(rptr, ridx, rval, query, sums, after, least, chosen, count):
    """Add the tails of the chosen rows; keep those that reach `least`."""
    kept = 0
    for c in range(count):
        i = chosen[c]
        if sums[i] + _product(ridx, rval, after[i], rptr[i + 1], query) >= least:
            chosen[kept] = i
            kept += 1
    return kept


@kernel
def _bar(rptr, ridx, rval, query, sums, begin, values, rows):
    """No row below this can be among the k nearest: the k leaders, finished, all reach it."""
    least = np.inf
    for j in range(rows.shape[0]):
        i = rows[j]
        least = min(least, sums[i] + _product(ridx, rval, begin[i], rptr[i + 1], query))
    return np.float32(least) - 2 * _SLACK


@kernel
def _stop(rptr, ridx, rval, query, sums, tail, begin, rest, waiting, chosen, values, rows):
    """The rows that can be among the k nearest, if they are few enough to be finished, else -1."""
    length = np.float32(np.sqrt(max(rest, 0.0)))
    _leaders(sums, chosen, values, rows)
    count = _reachable(sums, tail, length, np.float32(values[0]), chosen)
    if count * _PRICE > _HOPE * waiting:
        return -1, 0
    least = _bar(rptr, ridx, rval, query, sums, begin, values, rows)
    count = _reachable(sums, tail, length, least, chosen)
    if count * _PRICE > waiting:
        return -1, 0
    return _finish(rptr, ridx, rval, query, sums, begin, least, chosen, count), count


@kernel
def _gather(
    cptr, crow, cval, rptr, ridx, rval, cuts, tails, after, columns, weights,
    query, sums, chosen, values, rows,
):  # fmt: skip
    """Choose the rows that may be among the k nearest; returns how many, and how many finished."""
    waiting, rest, level = 0, 0.0, 0
    for p in range(columns.shape[0]):
        waiting += cptr[columns[p] + 1] - cptr[columns[p]]
        rest += weights[p] * weights[p]
    sums[:] = 0.0
    rows[0] = -1
    for p in range(columns.shape[0]):
        column = columns[p]
        if level < cuts.shape[0] and cuts[level] <= column:
            while level + 1 < cuts.shape[0] and cuts[level + 1] <= column:
                level += 1
            kept, finished = _stop(rptr, ridx, rval, query, sums, tails[level], after[level], rest,
                                   waiting, chosen, values, rows)  # fmt: skip
            if kept >= 0:
                return kept, finished
            level += 1
        weight = np.float32(weights[p])
        for q in range(cptr[column], cptr[column + 1]):
            sums[crow[q]] += weight * cval[q]
        rest -= weights[p] * weights[p]
        waiting -= cptr[column + 1] - cptr[column]
    _leaders(sums, chosen, values, rows)
    least = np.float32(values[0]) - 2 * _SLACK
    return _reachable(sums, sums, np.float32(0.0), least, chosen), 0


@kernel
def search(
    cptr, crow, cval, rptr, ridx, rval, cuts, tails, after, qptr, qidx, qval, first, last,
    near, similarity,
):  # fmt: skip
    n, k = rptr.shape[0] - 1, near.shape[1]
    query = np.zeros(cptr.shape[0] - 1)
    sums, chosen = np.empty(n, np.float32), np.empty(n, np.int64)
    values, rows = np.empty(k), np.empty(k, np.int64)
    finished = 0
    for i in range(first, last):
        columns, weights = qidx[qptr[i] : qptr[i + 1]], qval[qptr[i] : qptr[i + 1]]
        for p in range(columns.shape[0]):
            query[columns[p]] = weights[p]
        count, stopped = _gather(cptr, crow, cval, rptr, ridx, rval, cuts, tails, after, columns,
                                 weights, query, sums, chosen, values, rows)  # fmt: skip
        finished += stopped
        _best(rptr, ridx, rval, query, chosen, count, values, rows)
        _sort(values, rows)
        near[i, :] = rows
        similarity[i, :] = values
        for p in range(columns.shape[0]):
            query[columns[p]] = 0.0
    return finished
