"""Every criterion of every row of scores at once: the one door to `kernels.ranking`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels import ranking as kernels
from labelrank.metrics._inputs import answer, check_pair, in_threads, refuse_nan, spans
from labelrank.rows import as_rows

_TIES = {"worst": kernels.WORST, "random": kernels.RANDOM}
_ROWS_AT_ONCE = 1 << 14


def row_criteria(
    Y: Any,
    scores: Any,
    *,
    ties: str = "worst",
    random_state: Any = None,
    threshold: Any = 0.0,
    ks: Sequence[int] = (),
) -> Array:
    """Every criterion of every row: the door to the kernel, whose head says what a column is."""
    Y, scores = check_pair(Y, scores)
    n, n_labels = scores.shape
    rows = as_rows(Y, np.float64)
    cuts = np.array([_check_k(k) for k in ks], dtype=np.int64)
    discount = 1.0 / np.log2(np.arange(2, n_labels + 2))
    out = np.empty((n, kernels.N_COLUMNS + 2 * len(cuts)))
    given = (
        *(rows.indptr, rows.indices, rows.data, scores, _check_threshold(threshold, n), discount),
        *(cuts, _check_ties(ties), _seed(ties, random_state)),
    )
    found = in_threads(
        lambda first, last: kernels.criteria(*given, first, last, out),
        spans(n, _ROWS_AT_ONCE),
        scores.size,
    )
    if max(found) >= 0:
        refuse_nan(min(row for row in found if row >= 0))
    return out


def _check_ties(ties: str) -> int:
    if ties not in _TIES:
        raise InputError(f"got ties={ties!r}; use one of {sorted(_TIES)}")
    return _TIES[ties]


def _check_k(k: Any) -> int:
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"got k={k!r}; give a whole number of at least 1")
    return int(k)


def _check_threshold(threshold: Any, n: int) -> Array:
    values = np.asarray(threshold, dtype=np.float64)
    if values.shape not in ((), (n,), (n, 1)) or np.isnan(values).any():
        raise InputError(
            f"got a threshold of shape {values.shape}; give one number, or {n} (one a row), "
            "none of them NaN"
        )
    return np.ascontiguousarray(np.broadcast_to(values.reshape(-1), (n,)))


def _seed(ties: str, random_state: Any) -> np.uint64:
    if ties != "random":
        return np.uint64(0)
    if isinstance(random_state, np.random.Generator):
        return np.uint64(random_state.integers(2**63))
    return np.uint64(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))


def criterion(
    column: int,
    Y: Any,
    scores: Any,
    *,
    sample_weight: Any,
    per_instance: bool,
    **options: Any,
) -> float | Array:
    """One column of `row_criteria`, or its weighted mean."""
    values = row_criteria(Y, scores, **options)[:, column].copy()
    return answer(values, sample_weight, per_instance)
