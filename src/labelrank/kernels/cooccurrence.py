"""The co-occurrence matrix of labels as an operator.

Problem   out += Y' (Y v) for documents first..last-1, Y the 0/1 matrix of relevant labels
Given     ptr int64 (n+1,), labels int32: the relevant labels of each document
          v       float64 (K,)
Changes   out     float64 (K,)
Cost      two visits a relevant label; Y' Y is never formed
Order     documents in order: same input, same bits
See       Lauriola et al. (001), section 4: codes from the label kernel
"""

from labelrank.kernels._compile import kernel


@kernel
def add_product(ptr, labels, first, last, v, out):
    for i in range(first, last):
        total = 0.0
        for p in range(ptr[i], ptr[i + 1]):
            total += v[labels[p]]
        for p in range(ptr[i], ptr[i + 1]):
            out[labels[p]] += total
