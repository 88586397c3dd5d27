"""Orders of the relevant labels for data that have none, as Xu, Li & Zhou (2013) made them.

Rankers score each instance after learning from other folds; the scores, scaled to mean 0 and
standard deviation 1 in each instance, are summed, and the largest sum gets the highest grade.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from labelrank._types import Float64
from labelrank.errors import InputError
from labelrank.relevance import check_relevance


class SyntheticOrder(NamedTuple):
    """Graded relevance `Y`, and the names of the rankers that made it."""

    Y: sp.csr_array
    scorers: tuple[str, ...]


def _default_scorers(X: Any, random_state: Any = 0) -> dict[str, Any]:
    """Three rankers by name; naive Bayes is that of words for sparse X, else of normal values."""
    from labelrank.learners.chains.greedy import IndependentClassifiers
    from labelrank.learners.naive_bayes import NaiveBayesRanker
    from labelrank.learners.perceptron import MulticlassMultilabelPerceptron
    from labelrank.learners.rocchio import Rocchio

    mmp = MulticlassMultilabelPerceptron(epochs=10, averaging="averaged", random_state=random_state)
    if sp.issparse(X):
        bayes: dict[str, Any] = {"Bernoulli naive Bayes": NaiveBayesRanker("bernoulli")}
    else:
        gaussian = IndependentClassifiers(GaussianNB(), targets="relevance")
        bayes = {"Gaussian naive Bayes": gaussian}
    return {"MMP": mmp, "Rocchio": Rocchio(), **bayes}


def synthesize_order(
    X: Any, Y: Any, scorers: Mapping[str, Any] | None = None, *,
    n_folds: int = 5, random_state: Any = 0,
) -> SyntheticOrder:  # fmt: skip
    """Grade the relevant labels of Y by what several rankers agree on.

    Parameters
    ----------
    X : array or sparse matrix (n, d)
    Y : relevance (n, K); only what is relevant, irrelevant and unknown counts
    scorers : mapping of names to unfitted rankers, or None
        None is MMP, Rocchio and naive Bayes.
    n_folds : int, default 5
        Rankers learn from all folds but the one they score; 1 learns from and scores all.
    random_state : int, RandomState or None
        Of the folds and the rankers made here.

    Returns
    -------
    SyntheticOrder
        `Y`: the same relevant and unknown labels, graded m, m - 1, ..., 1 where an instance has m
        relevant ones; `scorers`: the names of the rankers.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import Rocchio
    >>> from labelrank.datasets import synthesize_order
    >>> X = np.array([[1.0, 0.1], [1.0, 0.2], [0.1, 1.0], [0.2, 1.0]])
    >>> Y = np.array([[1, 1], [1, 0], [1, 1], [0, 1]])
    >>> made = synthesize_order(X, Y, {"Rocchio": Rocchio(gamma=0)}, n_folds=1)
    >>> made.Y.toarray().tolist(), made.scorers
    ([[2.0, 1.0], [1.0, 0.0], [1.0, 2.0], [0.0, 1.0]], ('Rocchio',))
    """
    csr = check_relevance(Y)
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    n = csr.shape[0]
    if X.shape[0] != n:
        raise InputError(f"X has {X.shape[0]} rows but Y has {n}; give one row of Y per row of X")
    if not 1 <= n_folds <= n:
        raise InputError(f"got n_folds={n_folds} for {n} instances; give 1 to {n}")
    chosen = _default_scorers(X, random_state) if scorers is None else dict(scorers)
    if not chosen:
        raise InputError("got no scorer; give at least one ranker, or None for the default ones")
    plain = csr.copy()
    plain.data = np.where(np.isnan(csr.data), np.nan, 1.0)
    folds = [(np.arange(n), np.arange(n))]
    if n_folds > 1:
        folds = list(KFold(n_folds, shuffle=True, random_state=random_state).split(np.empty(n)))
    total = sum(_scaled(_held_out_scores(one, X, plain, folds)) for one in chosen.values())
    return SyntheticOrder(_graded(csr, np.asarray(total)), tuple(chosen))


def _held_out_scores(ranker: Any, X: Any, Y: sp.csr_array, folds: list[tuple[Any, Any]]) -> Float64:
    scores = np.empty(Y.shape)
    for train, test in folds:
        scores[test] = clone(ranker).fit(X[train], Y[train]).decision_function(X[test])
    return scores


def _scaled(scores: Float64) -> Float64:
    """Rows with mean 0 and standard deviation 1; a row of equal scores is 0."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def _graded(Y: sp.csr_array, scores: Float64) -> sp.csr_array:
    """The relevant labels of each row graded m, ..., 1 by falling score."""
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    relevant = np.flatnonzero(Y.data > 0)
    row, column = row[relevant], Y.indices[relevant]
    order = np.lexsort((column, -scores[row, column], row))
    count = np.bincount(row, minlength=Y.shape[0])
    ends = np.cumsum(count)
    graded = Y.copy()
    graded.data[relevant[order]] = ends[row[order]] - np.arange(len(order))
    return graded
