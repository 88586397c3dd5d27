"""Which document a person should look at next."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64, Int64
from labelrank.errors import InputError
from labelrank.learners.corrections.corrected import relative, zero_of
from labelrank.relevance import check_relevance

# What the documents of a queue are chosen by, and how many of twenty are chosen so.
SHARES = {"near": 12, "rare": 5, "random": 3}
_SIDE = 1e30


def next_documents(
    ranker: Any, X: Any, n: int, *, seen: Any = None, by: str = "random", random_state: int = 0
) -> Int64:
    """Rows of X in the order in which a person should correct them, `n` of them.

    Parameters
    ----------
    ranker : any fitted label ranker
    X : matrix of the documents that wait
    n : int
    seen : relevance of the documents that were corrected so far, or None
        What labels are rare is counted in it.
    by : {"random", "near", "rare", "mixed"}
        None was found to beat "random" on all sets that were tried (docs/corrections.rst). "near":
        where the labels next to the cut are nearest to it, and unlike those before in the
        queue; "rare": where a label may be that was seldom seen; "mixed": 60 % near, 25 % rare and
        15 % random.
    random_state : int

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevanceSVM
    >>> base = BinaryRelevanceSVM(random_state=0).fit(np.eye(3), np.eye(3, dtype=int))
    >>> next_documents(base, [[3.0, 0, 0], [1, 1, 1], [0, 3, 0]], 1, by="near").tolist()
    [1]
    """
    if by != "mixed" and by not in SHARES:
        raise InputError(f"got by={by!r}; use 'mixed', {', '.join(map(repr, SHARES))}")
    answer = ranker.answer(X)
    n_rows = len(answer.scores)
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 0 <= n <= n_rows:
        raise InputError(f"got n={n!r} of {n_rows} documents; give a whole number up to that")
    rows, over = _unit(X), _over_cut(ranker, answer)
    near, rare = 1.0 / (1.0 + np.abs(over).min(axis=1)), _rarity(over, seen)
    chance = np.random.default_rng(random_state).permutation(n_rows).astype(np.float64)
    left, likeness = np.ones(n_rows, bool), np.zeros(n_rows)
    shares = SHARES if by == "mixed" else {by: 1}
    total = sum(shares.values())
    chosen: list[int] = []
    taken = dict.fromkeys(shares, 0)
    for turn in range(n):
        kind = max(taken, key=lambda one: (turn + 1) * shares[one] - total * taken[one])
        taken[kind] += 1
        value = {"near": near * (1.0 - likeness), "rare": rare, "random": chance}[kind]
        best = int(np.where(left, value, -np.inf).argmax())
        left[best] = False
        chosen.append(best)
        likeness = np.maximum(likeness, (rows @ rows[[best]].T).toarray().ravel())
    return np.array(chosen, np.int64)


def _unit(X: Any) -> sp.csr_array:
    rows = sp.csr_array(X, dtype=np.float64)
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ rows)


def _over_cut(ranker: Any, answer: Any) -> Float64:
    """Scores in which 0 is the cut, and 1 the usual distance to it."""
    scores = np.clip(answer.scores.astype(np.float64), -_SIDE, _SIDE)
    over = relative(scores, answer.members, zero_of(ranker))
    return over / (float(np.median(np.abs(over))) or 1.0)


def _rarity(over: Float64, seen: Any) -> Float64:
    """The largest chance of a label, by its score, divided by how often it was seen."""
    n_labels = over.shape[1]
    met = np.zeros(0, np.int32)
    if seen is not None:
        relevance = check_relevance(seen, n_labels=n_labels)
        met = relevance.indices[relevance.data > 0]
    counts = np.bincount(met, minlength=n_labels)
    chance: Array = 1.0 / (1.0 + np.exp(-np.clip(over, -30.0, 30.0)))
    return np.asarray((chance / (1.0 + counts)).max(axis=1))
