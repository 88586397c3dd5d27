"""RankSVM (Elisseeff & Weston 2002), and two stages with it.

min  ½ Σ_t ‖w_t‖² + C Σ_x 1 / |R||R̄| Σ_{t ∈ R, s ∈ R̄} (1 - g_t(x) + g_s(x))₊
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state, get_tags

from labelrank._types import Array
from labelrank.declared import a_learner, array, nested, seed, stored, value
from labelrank.learners.base import LabelRanker
from labelrank.learners.margins.admm import Runner
from labelrank.learners.margins.prosvm import PreferenceSVM
from labelrank.preferences import Arcs, Kind, Preferences
from labelrank.resources import blocks

_CHUNK = 4096


# The scores of an instance sum to 0 up to float32 rounding: that direction says nothing.
_RANK = 1e-10
# Intervals of scores that differ by less are equally wide: many margins are exactly 1 apart.
_AS_WIDE = 1e-4


@stored(
    "RankSVM",
    threshold_weights_=array("f8", "K"),
    threshold_coef_=array("f8", "d"),
    threshold_bias_=value(float),
)
@dataclass(kw_only=True, eq=False, repr=False)
class RankSVM(PreferenceSVM):
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
    threshold_coef_ : ndarray (d,)
        Weights of the threshold as a function of x.
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
    _reads_threshold = False

    @property
    def preferences(self) -> Preferences:
        """Relevant over irrelevant labels, all of an instance weigh 1 together."""
        return Preferences.shared(Kind.RELEVANT_IRRELEVANT)

    def _learn(self, X: Any, Y: sp.csr_array, runner: Runner | None = None) -> None:
        super()._learn(X, Y, runner)
        self.take_cuts(*self.cuts_of(X, Y))

    def cuts_of(self, X: Any, Y: sp.csr_array) -> tuple[Array, Array]:
        """The normal equations of the threshold over these instances; those of pieces add up."""
        size = self.n_labels_ + 1
        gram, moments = np.zeros((size, size)), np.zeros(size)
        for piece in blocks(X.shape[0], _CHUNK):
            scores = super()._scores(X[piece])[:, :-1].astype(np.float64)
            features = np.column_stack([scores, np.ones(len(scores))])
            gram += features.T @ features
            moments += features.T @ best_cuts(scores, Y[piece].toarray())
        return gram, moments

    def take_cuts(self, gram: Array, moments: Array) -> None:
        """The threshold of least squares, by its normal equations."""
        solution = np.linalg.lstsq(gram, moments, rcond=_RANK)[0]
        self.threshold_weights_, self.threshold_bias_ = solution[:-1], float(solution[-1])
        self.threshold_coef_ = self.threshold_weights_ @ self.coef_

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        super()._learn_stated(X, arcs)
        self.threshold_coef_ = self.threshold_weights_ @ self.coef_

    def _scores(self, X: Any) -> Array:
        scores = super()._scores(X)[:, :-1]
        threshold = scores @ self.threshold_weights_ + self.threshold_bias_
        return scores - threshold[:, None].astype(scores.dtype)

    def _threshold_weights(self) -> tuple[Array, float]:
        return self.threshold_coef_, self.threshold_intercept_

    @property
    def threshold_intercept_(self) -> float:
        """Constant of the threshold as a function of x."""
        return float(self.threshold_weights_ @ self.intercept_) + self.threshold_bias_


def best_cuts(scores: Array, grades: Array) -> Array:
    """For each row the cut with the fewest labels on its wrong side, in the middle of its interval.

    Of several such cuts the widest interval wins, the upper one of equals; one beyond the best or
    worst label lies at distance 1 from it. Unknown labels (NaN) do not count.
    """
    known = ~np.isnan(grades)
    order = np.argsort(np.where(known, -scores, np.inf), axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    gain = np.take_along_axis(np.where(grades > 0, -1, 1) * known, order, axis=1)
    n_known = known.sum(axis=1)
    errors = np.hstack([np.zeros((len(scores), 1), int), np.cumsum(gain, axis=1)])
    above = np.hstack([ranked[:, :1] + 2.0, ranked])
    below = np.hstack([ranked, np.zeros((len(scores), 1))])
    last = np.arange(len(scores)), n_known
    below[last] = above[last] - 2.0
    allowed = np.arange(errors.shape[1]) <= n_known[:, None]
    best = np.where(allowed, errors, np.inf)
    width = np.where(best == best.min(axis=1, keepdims=True), above - below, -np.inf)
    widest = width.max(axis=1, keepdims=True)
    cut = (width >= widest - _AS_WIDE).argmax(axis=1)[:, None]
    middle = 0.5 * (np.take_along_axis(above, cut, axis=1) + np.take_along_axis(below, cut, axis=1))
    return middle[:, 0]


@stored("TwoStageRanker", 1, selector_=nested(), orderer_=nested())
@dataclass(kw_only=True, eq=False, repr=False)
class TwoStageRanker(LabelRanker):
    """One learner decides which labels are relevant, another one orders them.

    RankSVM-R of the PRO loss paper: RankSVM selects, pairwise comparison orders.

    Parameters
    ----------
    selector : LabelRanker
        Its `predict` is the set; its scores order the labels outside.
    orderer : LabelRanker
        Its scores order the labels of the set; it should learn from grades.
    random_state : int, RandomState or None
        Seeds every `random_state` within the two that is None; None leaves them as they are.

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

    selector: Any = field(metadata=a_learner(needed=True), kw_only=False)
    orderer: Any = field(metadata=a_learner(needed=True), kw_only=False)
    random_state: Any = seed()

    def after_loading(self) -> None:
        if not all(hasattr(stage, "get_params") for stage in (self.selector, self.orderer)):
            raise ValueError("the selector or the orderer is no estimator")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        stages = [clone(self.selector), clone(self.orderer)]
        if self.random_state is not None:
            random = check_random_state(self.random_state)
            for stage in stages:
                _seed(stage, random)
        self.selector_, self.orderer_ = (stage.fit(X, Y) for stage in stages)

    def _scores(self, X: Any) -> Array:
        """Above 0 the set, by the orderer; below 0 the rest, by the selector."""
        selected = self.selector_.answer(X)
        inside = _squashed(self.orderer_.decision_function(X))
        return np.where(selected.members, 1.0 + inside, _squashed(selected.scores) - 1.0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        parts = [get_tags(part).input_tags.sparse for part in (self.selector, self.orderer)]
        tags.input_tags.sparse = all(parts)
        return tags


def _seed(stage: Any, random: np.random.RandomState) -> None:
    """Give every random state within that is None a number of its own."""
    for name, chosen in sorted(stage.get_params(deep=True).items()):
        if name.rpartition("__")[2] == "random_state" and chosen is None:
            stage.set_params(**{name: int(random.randint(2**31 - 1))})


def _squashed(scores: Array) -> Array:
    """The scores in (-1/2, 1/2), in the same order."""
    scores = np.asarray(scores, np.float64)
    return 0.5 * scores / (1.0 + np.abs(scores))
