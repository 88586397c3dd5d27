"""Sums of the rows of X by the labels they carry.

Problem   sums[k] += x_i for every label k of row i that is of the wanted kind
Given     X rows: xptr int64 (n+1,), xidx int32, xval float64
          Y rows: yptr int64 (n+1,), yidx int32, yval float64 (> 0 relevant, NaN unknown)
          unknown: False sums rows where a label is relevant, True where it is unknown
Changes   sums float64 (K, d), counts float64 (K,), in place
Cost      non-zeros of a row times its labels; nothing is allocated
Order     rows as given, onto what is there: pieces equal the whole to the last bit
"""

import numpy as np

from labelrank.kernels._compile import kernel


@kernel
def add_rows(xptr, xidx, xval, yptr, yidx, yval, unknown, sums, counts):
    for i in range(xptr.shape[0] - 1):
        for q in range(yptr[i], yptr[i + 1]):
            wanted = np.isnan(yval[q]) if unknown else yval[q] > 0.0
            if wanted:
                k = yidx[q]
                counts[k] += 1.0
                row = sums[k]
                for p in range(xptr[i], xptr[i + 1]):
                    row[xidx[p]] += xval[p]
