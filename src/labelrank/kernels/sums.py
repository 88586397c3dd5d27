"""Sums over the documents that carry a label."""

import numpy as np

from labelrank.kernels._compile import kernel


@kernel
def add_rows(X, Y, unknown, sums, counts):
    """sums[k] += x_i for every label k of row i that is relevant (or, if asked, unknown).

    Given     X, Y     rows: pointers int64, columns int32, values float64; in Y a value > 0 is
                       relevant, NaN unknown
              unknown  false sums the rows where a label is relevant, true where it is unknown
    Changes   sums float64 (K, d), counts float64 (K,)
    Cost      non-zeros of a row times its labels; nothing is allocated
    Order     rows as given, onto what is there: pieces equal the whole to the last bit
    """
    xptr, xidx, xval, _ = X
    yptr, yidx, yval, _ = Y
    for i in range(xptr.shape[0] - 1):
        for q in range(yptr[i], yptr[i + 1]):
            wanted = np.isnan(yval[q]) if unknown else yval[q] > 0.0
            if wanted:
                k = yidx[q]
                counts[k] += 1.0
                row = sums[k]
                for p in range(xptr[i], xptr[i + 1]):
                    row[xidx[p]] += xval[p]


@kernel
def add_product(ptr, labels, first, last, v, out):
    """out += Yᵀ(Yv) for documents first..last-1, Y the 0/1 matrix of relevant labels.

    Given     ptr int64 (n+1,), labels int32: the relevant labels of each document
              v   float64 (K,)
    Changes   out float64 (K,)
    Cost      two visits per relevant label; the co-occurrence matrix YᵀY is never formed
    Order     documents in order: same input, same bits
    See       Lauriola et al. 2018, section 4: codes from the label kernel
    """
    for i in range(first, last):
        total = 0.0
        for p in range(ptr[i], ptr[i + 1]):
            total += v[labels[p]]
        for p in range(ptr[i], ptr[i + 1]):
            out[labels[p]] += total
