"""RankSVM (Elisseeff & Weston 2002) and the two-stage ranker built on it (RankSVM-R)."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Tags, get_tags

from labelrank._types import Array
from labelrank.learners.base import LabelRanker
from labelrank.learners.margins.machine import ArcMachine
from labelrank.learners.margins.problem import Shares

_CHUNK = 4096
# The scores of an instance sum to 0 up to float32 rounding: that direction says nothing.
_RANK = 1e-10


class RankSVM(ArcMachine):
    """Every relevant label over every irrelevant one by a large margin, and a fitted threshold.

    Minimises ½‖w‖² + C Σ_instances mean over R × R̄ of (1 - g_relevant(x) + g_irrelevant(x))₊
    by the solver of `ProSVM`. The threshold of an instance is a linear function of its scores,
    fitted by least squares to the cuts that are best on the training instances.

    Parameters
    ----------
    C, fit_intercept, tol, max_iter, n_blocks, eta, max_rounds, warm_start, memory_limit, n_jobs, \
random_state, verbose
        As in `ProSVM`.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    intercept_ : ndarray (K,)
    threshold_weights_ : ndarray (K,)
        The threshold of x is `threshold_weights_` times its K raw scores + `threshold_bias_`.
    threshold_bias_ : float
    objective_, dual_gap_, n_iter_
        As in `ProSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import RankSVM
    >>> X = np.eye(3)
    >>> Y = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    >>> RankSVM(C=10, random_state=0).fit(X, Y).predict(X)
    array([[1, 1, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """

    _advice = "use ProSVM(approximate=True), which needs far fewer, or keep fewer labels"

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_blocks: int = 1,
        eta: float = 0.1,
        max_rounds: int = 100,
        warm_start: bool = False,
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_blocks = n_blocks
        self.eta = eta
        self.max_rounds = max_rounds
        self.warm_start = warm_start
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _shares(self) -> Shares:
        return Shares(pairs=1.0, threshold=0.0, order=0.0)

    def _finish(self, X: Any, Y: sp.csr_array) -> None:
        """Fit the threshold: normal equations, gathered over pieces of the training instances."""
        size = self.n_labels_ + 1
        gram, moments = np.zeros((size, size)), np.zeros(size)
        for first in range(0, X.shape[0], _CHUNK):
            piece = slice(first, first + _CHUNK)
            scores = self._raw_scores(X[piece])[:, :-1].astype(np.float64)
            features = np.column_stack([scores, np.ones(len(scores))])
            gram += features.T @ features
            moments += features.T @ best_cuts(scores, Y[piece].toarray())
        solution = np.linalg.lstsq(gram, moments, rcond=_RANK)[0]
        self.threshold_weights_, self.threshold_bias_ = solution[:-1], float(solution[-1])

    def _scores(self, X: Any) -> Array:
        scores = self._raw_scores(X)[:, :-1]
        threshold = scores @ self.threshold_weights_ + self.threshold_bias_
        return scores - threshold[:, None].astype(scores.dtype)

    @property
    def threshold_coef_(self) -> Array:
        """Weights of the threshold as a function of x (d,)."""
        return self.threshold_weights_ @ self.coef_

    @property
    def threshold_intercept_(self) -> float:
        """Constant of the threshold as a function of x."""
        return float(self.threshold_weights_ @ self.intercept_) + self.threshold_bias_


def best_cuts(scores: Array, grades: Array) -> Array:
    """For each row the cut with the fewest labels on its wrong side, in the middle of its interval.

    Of several such cuts the widest interval wins; one beyond the best or worst label lies at
    distance 1 from it. Unknown labels (NaN) do not count.

    >>> best_cuts(np.array([[0.9, 0.5, 0.1]]), np.array([[1, 1, 0]]))
    array([0.3])
    """
    known = ~np.isnan(grades)
    order = np.argsort(np.where(known, -scores, np.inf), axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    gain = np.where(np.take_along_axis(grades, order, axis=1) > 0, -1, 1)
    gain[~np.take_along_axis(known, order, axis=1)] = 0
    n_known = known.sum(axis=1)
    start = np.zeros((len(scores), 1), int)
    errors = np.hstack([start, np.cumsum(gain, axis=1)])
    above = np.hstack([ranked[:, :1] + 2.0, ranked])
    below = np.hstack([ranked, np.zeros((len(scores), 1))])
    last = np.arange(len(scores)), n_known
    below[last] = above[last] - 2.0
    allowed = np.arange(errors.shape[1]) <= n_known[:, None]
    best = np.where(allowed, errors, np.inf)
    width = np.where(best == best.min(axis=1, keepdims=True), above - below, -np.inf)
    cut = width.argmax(axis=1)[:, None]
    middle = 0.5 * (np.take_along_axis(above, cut, axis=1) + np.take_along_axis(below, cut, axis=1))
    return middle[:, 0]


class TwoStageRanker(LabelRanker):
    """One learner decides which labels are relevant, another one orders them.

    RankSVM-R of the PRO loss paper: RankSVM selects, pairwise comparison orders.

    Parameters
    ----------
    selector : LabelRanker
        Its `predict` is the set; its scores order the labels outside.
    orderer : LabelRanker
        Its scores order the labels of the set; it should learn from grades.

    Attributes
    ----------
    selector_, orderer_ : the fitted learners

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import ProSVM, RankSVM, TwoStageRanker
    >>> X = np.eye(3)
    >>> Y = np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]])
    >>> learner = TwoStageRanker(RankSVM(C=10), ProSVM(C=10)).fit(X, Y)
    >>> learner.rank(X, top=2)[:2]
    array([[1, 0],
           [0, 1]])
    """

    def __init__(self, selector: Any, orderer: Any) -> None:
        self.selector = selector
        self.orderer = orderer

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self.selector_ = clone(self.selector).fit(X, Y)
        self.orderer_ = clone(self.orderer).fit(X, Y)

    def _scores(self, X: Any) -> Array:
        """Above 0 the set, by the orderer; below 0 the rest, by the selector."""
        chosen = self.selector_.predict(X)
        chosen = (chosen.toarray() if sp.issparse(chosen) else np.asarray(chosen)).astype(bool)
        inside, outside = (
            _squashed(learner.decision_function(X)) for learner in (self.orderer_, self.selector_)
        )
        return np.where(chosen, 1.0 + inside, outside - 1.0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        parts = [get_tags(part).input_tags.sparse for part in (self.selector, self.orderer)]
        tags.input_tags.sparse = all(parts)
        return tags


def _squashed(scores: Array) -> Array:
    """The scores in (-1/2, 1/2), in the same order."""
    scores = np.asarray(scores, np.float64)
    return 0.5 * scores / (1.0 + np.abs(scores))
