"""The nearest rows of each query, from the inner products with all rows.

The fast sums of the frequent columns come from a matrix product, the others are added here, from
posting lists. Sums in single precision decide only which rows are looked at again.
"""

import numpy as np

from labelrank.kernels._compile import kernel

# Rows are looked over in blocks: mostly a few vector operations show that there is nothing to do.
_BLOCK = 128


@kernel
def insert(value, row, values, rows):
    """Keep the largest values, given in order of row number: an equal one goes behind."""
    j = values.shape[0] - 1
    while j > 0 and values[j - 1] < value:
        values[j], rows[j] = values[j - 1], rows[j - 1]
        j -= 1
    values[j], rows[j] = value, row


@kernel
def _candidates(sums, slack, best, best_rows, chosen):
    """Rows whose sum is within `slack` of the k-th largest; returns how many."""
    k = best.shape[0]
    best[:] = -np.inf
    least, count = best[0], 0
    for begin in range(0, sums.shape[0], _BLOCK):
        block = sums[begin : begin + _BLOCK]
        below = 0
        for e in range(block.shape[0]):
            below += block[e] < least
        if below == block.shape[0]:
            continue
        for e in range(block.shape[0]):
            if not block[e] < least:  # a sum that overflowed is looked at, too
                chosen[count] = begin + e
                count += 1
                if block[e] > best[k - 1]:
                    insert(block[e], begin + e, best, best_rows)
                    least = best[k - 1] - slack
    kept = 0
    for c in range(count):
        if not sums[chosen[c]] < least:
            chosen[kept] = chosen[c]
            kept += 1
    return kept


@kernel
def nearest(sums, postings, scale, rows, half, queries, slack, first, near, similarity):
    """The k rows x with the largest q.x - half, for queries q from `first` on.

    Problem   half = 0: the largest inner products (cosines, if all rows have length 1);
              half = |x|²/2: the nearest rows in Euclidean distance
    Given     sums        float32 (b, n): what the frequent columns, which stand last, and `half`
                          contribute, divided by scale² and moved by any number per query
              postings    the other columns as rows: instances, values / scale float32
              half        float64 (n,)
              queries     rows with rising columns
              slack       float32, by how much the sums of a query may differ from exact ones
    Changes   near int64 (queries, k), nearest first, equal ones by smaller number, and their
              similarity float64 (queries, k), in rows first..first+b-1; sums
    Returns   the rows whose similarity was computed exactly
    Cost      one addition per posting of q, one comparison per row, and exact inner products with
              the few rows that rounding leaves in doubt
    See       Zobel & Moffat 2006 (inverted files)
    """
    posting_ptr, posting_rows, posting_values, _ = postings
    row_ptr, row_columns, row_values, n_columns = rows
    query_ptr, query_columns, query_values, _ = queries
    n, k, n_rare = sums.shape[1], near.shape[1], posting_ptr.shape[0] - 1
    query, chosen = np.zeros(n_columns), np.empty(n, np.int64)
    best, best_rows = np.empty(k, np.float32), np.empty(k, np.int64)
    exact = 0
    for b in range(sums.shape[0]):
        i = first + b
        start, stop = query_ptr[i], query_ptr[i + 1]
        for p in range(start, stop):
            column, value = query_columns[p], query_values[p]
            query[column] = value
            if column < n_rare:
                begin, end = posting_ptr[column], posting_ptr[column + 1]
                weight = np.float32(value / scale)
                holders, values, row = posting_rows[begin:end], posting_values[begin:end], sums[b]
                for e in range(holders.shape[0]):
                    row[holders[e]] += weight * values[e]
        count = _candidates(sums[b], slack[i], best, best_rows, chosen)
        exact += count
        similarity[i] = -np.inf
        for c in range(count):
            j = chosen[c]
            begin, end = row_ptr[j], row_ptr[j + 1]
            product = 0.0
            for p in range(begin, end):
                product += row_values[p] * query[row_columns[p]]
            value = product - half[j]
            if value > similarity[i, k - 1]:
                insert(value, j, similarity[i], near[i])
        query[query_columns[start:stop]] = 0.0
    return exact
