"""The rivals of ProSVM: RankSVM (Elisseeff & Weston 2002), two stages with it, and BSVM.

BSVM is one linear SVM per label: LIBLINEAR's dual coordinate descent, all labels at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state, get_tags

from labelrank._types import Array, Float32, Float64
from labelrank.declared import array, choice, flag, nested, number, seed, stored, threads, value
from labelrank.kernels.one_vs_rest import learn_pass
from labelrank.learners.base import LabelRanker
from labelrank.learners.label_weights import LabelWeights, LinearRanker, padded
from labelrank.learners.margins.admm import Runner
from labelrank.learners.margins.prosvm import PreferenceSVM
from labelrank.learners.margins.solver import SKIPPED, Visits, close_gap, warn_unless_closed
from labelrank.preferences import Kind, Preferences
from labelrank.resources import aligned_zeros, blocks, gap_bar, run_jobs
from labelrank.rows import Rows, as_rows, squared_norms, with_constant

# Wider blocks read x less often, narrower ones keep more threads busy and more weights in cache.
WIDEST = 160
_CHUNK = 4096
# The scores of an instance sum to 0 up to float32 rounding: that direction says nothing.
_RANK = 1e-10


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

    @property
    def preferences(self) -> Preferences:
        """Relevant over irrelevant labels, all of an instance weigh 1 together."""
        return Preferences.shared(Kind.RELEVANT_IRRELEVANT)

    def _learn(self, X: Any, Y: sp.csr_array, runner: Runner | None = None) -> None:
        super()._learn(X, Y, runner)
        # The threshold, by normal equations gathered over pieces of the training instances.
        size = self.n_labels_ + 1
        gram, moments = np.zeros((size, size)), np.zeros(size)
        for piece in blocks(X.shape[0], _CHUNK):
            scores = super()._scores(X[piece])[:, :-1].astype(np.float64)
            features = np.column_stack([scores, np.ones(len(scores))])
            gram += features.T @ features
            moments += features.T @ best_cuts(scores, Y[piece].toarray())
        solution = np.linalg.lstsq(gram, moments, rcond=_RANK)[0]
        self.threshold_weights_, self.threshold_bias_ = solution[:-1], float(solution[-1])
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

    Of several such cuts the widest interval wins; one beyond the best or worst label lies at
    distance 1 from it. Unknown labels (NaN) do not count.
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
    cut = width.argmax(axis=1)[:, None]
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

    selector: Any = field(kw_only=False)
    orderer: Any = field(kw_only=False)
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


@stored(
    "BinaryRelevanceSVM",
    objective_=array("f8", "K"),
    dual_gap_=value(float),
    n_iter_=value(int, least=0),
)
@dataclass(kw_only=True, eq=False, repr=False)
class BinaryRelevanceSVM(LinearRanker):
    """One independent linear SVM a label, trained for all labels in one pass over the data.

    Each label k gets the solution of ½‖w‖² + C Σ loss(y x·w), y = +1 where it is relevant and -1
    where it is irrelevant (unknown: left out), up to a relative duality gap of `tol`: what
    LIBLINEAR finds one label after the other. Instances that are solved for all labels of a
    block are visited ever more rarely (shrinking); the gap is checked over all of them.

    Parameters
    ----------
    loss : {"squared_hinge", "hinge"}
    C, fit_intercept, tol, max_iter, n_jobs, random_state, verbose
        As in `ProSVM`; `tol` is reached for every label.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    intercept_ : ndarray (K,)
    objective_ : ndarray (K,)
    dual_gap_ : float, the largest of a label
    n_iter_ : int, the most epochs of a block of labels

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevanceSVM
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> BinaryRelevanceSVM(C=10, random_state=0).fit(X, Y).predict(X)
    array([[1, 0],
           [0, 1],
           [1, 1]])
    """

    C: float = number(1.0, above=0)
    loss: str = choice("squared_hinge", "hinge")
    fit_intercept: bool = flag(False)
    tol: float = number(1e-3, above=0)
    max_iter: int = number(1000, least=1, whole=True)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        rows = with_constant(as_rows(X)) if self.fit_intercept else as_rows(X)
        labels, is_squared = as_rows(Y, np.float64), self.loss == "squared_hinge"
        problem = Problem(rows, squared_norms(rows), labels, float(self.C), is_squared)
        # An even number of equal blocks, at most WIDEST labels wide.
        n_blocks = 2 * -(-self.n_labels_ // (2 * WIDEST))
        size = rows.n_columns, self.n_labels_, padded(-(-self.n_labels_ // n_blocks))
        weights = LabelWeights.zeros(*size, has_constant=bool(self.fit_intercept))
        seed, tol = int(check_random_state(self.random_state).randint(2**31 - 1)), float(self.tol)
        spans = enumerate(weights.spans())
        parts = [LabelBlock(problem, *span, tol=tol, seed=seed + b) for b, span in spans]
        with gap_bar(type(self).__name__, self.verbose, len(parts)) as report:
            run_jobs([partial(part.solve, self.max_iter, report) for part in parts], self.n_jobs)
        self._weights = weights
        self.objective_ = np.concatenate([part.objective for part in parts])
        self.dual_gap_ = max(part.worst for part in parts)
        self.n_iter_ = max(part.n_iter for part in parts)
        warn_unless_closed(self.dual_gap_, self.tol, self.max_iter, of=" of a label")


class Problem(NamedTuple):
    """What all labels share, as the kernel takes it."""

    X: Rows
    norms: Float32
    Y: Rows
    C: float
    squared: bool


class LabelBlock:
    """Epochs over one block of labels, until the gap of every label is closed."""

    # Gaps of skipped rows are not seen: only below half of the tolerance is it worth to look.
    promising = 0.5

    def __init__(
        self, problem: Problem, W: Float32, lo: int, width: int, *, tol: float, seed: int
    ) -> None:
        n, lanes = problem.X.n_rows, W.shape[1]
        self.problem, self.W, self.lo, self.width, self.tol = problem, W, lo, width, tol
        self.random, self.visits = np.random.RandomState(seed), Visits.of(0, n, n)
        self.alpha, self.weight = aligned_zeros((n, lanes)), np.zeros(lanes, np.float32)
        self.weight[:width] = 1.0

    def solve(self, max_iter: int, report: Callable[[float], Any]) -> None:
        self.worst, self.n_iter = close_gap(self, self.tol, max_iter)
        report(self.worst)

    def epoch(self) -> float:
        complete = not self.visits.skip_left.any()
        self.visits = self.visits.shuffled(self.random)
        loss, gap = self._pass(self.visits, learn=True)
        if complete:
            self._weigh(loss)
            skip_below = SKIPPED * self.tol / len(self.alpha)
            self.visits = self.visits._replace(skip_below=skip_below)
        return float((gap * self.weight).max())

    def gap(self) -> float:
        n = len(self.alpha)
        loss, gap = self._pass(Visits.of(0, n, n), learn=False)
        self._weigh(loss)
        self.visits.skip_left[:] = 0
        return float((gap * self.weight).max())

    def _weigh(self, loss: Float64) -> None:
        """Note the objectives of the labels; `weight` becomes their inverses."""
        objective = 0.5 * np.einsum("jk,jk->k", self.W, self.W, dtype=np.float64) + loss
        self.objective = objective[: self.width]
        self.weight[: self.width] = 1.0 / np.maximum(self.objective, 1e-12)

    def _pass(self, visits: Visits, *, learn: bool) -> tuple[Float64, Float64]:
        loss, gap = np.zeros(self.W.shape[1]), np.zeros(self.W.shape[1])
        labels = (self.lo, self.width, self.weight)
        learn_pass(self.problem, labels, visits, learn, self.W, self.alpha, loss, gap)
        return loss, gap
