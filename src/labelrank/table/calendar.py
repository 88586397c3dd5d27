"""Which parts of a date are worth their features: those on which some label depends.

A month is twelve features and a weekday seven. Where no label depends on them, they only hide the
others from trees, which look at a few features at a time, and slow down all learners.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.table.parts import Learned
from labelrank.table.reading import DATE_CATEGORIES, DATE_NUMBERS

# All parts but the days, which are always kept.
PARTS = (*DATE_NUMBERS[1:], *DATE_CATEGORIES)
# The chance that a part is kept on which no label depends.
_CHANCE = 0.01


def as_relevance(y: Any, n_rows: int) -> sp.csr_array | None:
    """Targets as relevance of labels, or None where they are none: a column per label is wanted."""
    if y is None or not (sp.issparse(y) or isinstance(y, np.ndarray)) or y.ndim != 2:
        return None
    if y.shape[0] != n_rows or y.dtype.kind not in "biuf":
        return None
    Y = sp.csr_array(y)
    return sp.csr_array((Y.data > 0, Y.indices, Y.indptr), shape=Y.shape).astype(float)


def tells(part: Learned, Y: sp.csr_array) -> bool:
    """Whether some label depends on this part of a date, by the chi-squared test of each label.

    chi² = Σ_g (O_g - E_g)² / (E_g (1 - p)): O_g rows of group g have the label, E_g = n_g p would
    if it did not depend on the group. Groups in which less than one row is expected are left out.
    """
    from scipy.stats import chi2

    known = ~part.gaps
    rows = np.flatnonzero(known)
    if not len(rows):
        return False
    group, n_groups = _groups(part, known)
    is_in = sp.csr_array((np.ones(len(rows)), (group, np.arange(len(rows)))),
                         shape=(n_groups, len(rows)))  # fmt: skip
    got = (is_in @ Y[rows]).toarray()
    share = got.sum(axis=0) / len(rows)
    wanted = is_in.sum(axis=1)[:, None] * share
    counts = (wanted >= 1.0) & (share < 1.0)
    scale = np.where(counts, wanted * (1.0 - share), np.inf)
    statistic = (np.square(got - wanted) / scale).sum(axis=0)
    freedom = np.maximum(counts.sum(axis=0) - 1, 1)
    smallest = chi2.sf(statistic, freedom).min(initial=1.0)
    return bool(smallest * Y.shape[1] * len(PARTS) < _CHANCE)


def _groups(part: Learned, known: Array) -> tuple[Array, int]:
    """The number of the group of each row without a gap, and how many groups there are."""
    values = np.asarray(part.values, dtype=object)[known].astype(str)
    met, place = np.unique(values, return_inverse=True)
    return place, len(met)
