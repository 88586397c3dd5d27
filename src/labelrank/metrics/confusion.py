"""Which label was given where another was missed."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank.metrics._counts import check_sets


def label_confusion(Y: Any, predicted: Any) -> sp.csr_array:
    """Count for labels u, v the instances in which u was missed and v wrongly given.

    An instance with several misses or false alarms counts for each of their pairs. Unknown labels
    (NaN) are neither.

    Parameters
    ----------
    Y : array or sparse matrix (n, K)
        Relevance.
    predicted : 0/1 array or sparse matrix (n, K)

    Returns
    -------
    sparse array (K, K) of whole numbers: missed in rows, wrongly given in columns

    Examples
    --------
    >>> from labelrank.metrics import label_confusion
    >>> label_confusion([[1, 0], [1, 0], [0, 1]], [[0, 1], [0, 1], [0, 1]]).toarray().tolist()
    [[0, 2], [0, 0]]
    """
    sets = check_sets(Y, predicted)
    missed = (sets.relevant - sets.hits).astype(np.int64)
    alarms = sp.csr_array(sets.predicted, dtype=np.int64) - sets.hits - sets.strays
    found = sp.csr_array(missed.T @ alarms)
    found.eliminate_zeros()
    return found
