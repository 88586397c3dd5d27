"""ProSVM: large margins for PRO loss, the set and the order of the relevant labels.

Xu, Li & Zhou 2013, Eq. 3, for instances x with relevant labels R and irrelevant labels R̄:

    min  ½ Σ_t ‖w_t‖² + C Σ_x Σ_{t ≻ s} c_ts ξ_ts
    such that  g_t(x) - g_s(x) ≥ 1 - ξ_ts  and  ξ_ts ≥ 0  for every preference t ≻ s of x

with g_t(x) = w_t·x for the labels and the threshold label Θ (C is the paper's λ). Weights c_ts of
the preferences of one instance, of its exact form and of the upper bound with fewer of them:

    t ≻ s                                        PRO loss (Eq. 1)     ProSVM-A (Eq. 9)
    R ∋ t more relevant than s ∈ R               ¼ / number of pairs  -
    R ∋ t = i-th of R, s the next one            -                    i(|R| - i) / 2|R|(|R| - 1)
    t ∈ R, s ∈ R̄                                 ¼ / |R||R̄|           -
    t ∈ R, s = Θ                                 ¼ / |R|              ½ / |R|
    t = Θ, s ∈ R̄                                 ¼ / |R̄|              ½ / |R̄|

With tied grades the chain runs from grade to grade, see `preferences.Preferences`.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelrank._types import Array, Float32
from labelrank.declared import array, flag, nested, number, seed, stored, threads, value
from labelrank.learners.base import FromArcs
from labelrank.learners.label_weights import LabelWeights, LinearRanker
from labelrank.learners.margins import solver
from labelrank.learners.margins.admm import Runner, Settings, ThreadRunner, minimise, split_rows
from labelrank.learners.margins.solver import DualState, PreferenceProblem
from labelrank.preferences import Arcs, Kind, Preferences
from labelrank.resources import aligned_zeros, gap_bar


@stored("Duals", 1, alpha=array("f4", "duals"), C=value(float), data=value(str))
@dataclass(frozen=True)
class Duals:
    """Where a fit ended: its duals, at which C, and the digest of its problem."""

    alpha: Float32
    C: float
    data: str

    def after_loading(self) -> None:
        if not 0 < self.C < float("inf"):
            raise ValueError(f"duals of C={self.C}")


@stored(
    None,
    objective_=value(float),
    dual_gap_=value(float),
    n_iter_=value(int, least=0),
    duals_=nested("Duals", optional=True),
)
@dataclass(kw_only=True, eq=False, repr=False)
class PreferenceSVM(FromArcs, LinearRanker):
    """½‖w‖² + C Σ weight (1 - g_better + g_worse)₊ over the preferences that a learner declares."""

    C: float = number(1.0, above=0)
    fit_intercept: bool = flag(False)
    tol: float = number(1e-3, above=0)
    max_iter: int = number(1000, least=1, whole=True)
    n_blocks: int = number(1, least=1, whole=True)
    eta: float = number(0.1, above=0)
    max_rounds: int = number(100, least=1, whole=True)
    warm_start: bool = flag(False)
    memory_limit: float | None = number(None, above=0, or_none=True)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    _advice = "keep fewer labels or instances"
    _weighs_threshold = True

    @property
    def preferences(self) -> Preferences:
        """The preferences that are learned, and what they weigh."""
        raise NotImplementedError

    def fit_on(self, X: Any, Y: Any, runner: Runner) -> Self:
        """As `fit`, the blocks of ADMM solved where `runner` says (see `labelrank.distributed`)."""
        return self._fit(X, Y, partial(self._learn, runner=runner))

    def _learn(self, X: Any, Y: sp.csr_array, runner: Runner | None = None) -> None:
        problem = self.problem_of(X, Y)
        if runner is None or self.memory_limit is not None:
            problem.refuse_too_many(self.memory_limit, self._advice)
        random = check_random_state(self.random_state)
        runner = runner or ThreadRunner(self.n_jobs)
        solved = partial(self._solved_apart, runner) if self.n_blocks > 1 else self._solved_whole
        W, self.objective_, self.dual_gap_, self.n_iter_ = solved(problem, random)
        self._take(W)

    def _take(self, W: Float32) -> None:
        constant = bool(self.fit_intercept)
        self._weights = LabelWeights(W[None], self.n_labels_ + 1, has_constant=constant)

    def problem_of(self, X: Any, Y: sp.csr_array) -> PreferenceProblem:
        """The preferences of these instances."""
        return PreferenceProblem.of(X, Y, self.preferences, fit_intercept=self.fit_intercept)

    def learn_placed(self, placed: list[Any], runner: Runner) -> None:
        """Learn problems that lie where the runner has them, of instances that were noted."""
        random = check_random_state(self.random_state)
        W, self.objective_, self.dual_gap_, self.n_iter_ = self._agreed(placed, runner, random)
        self._take(W)

    def _solved_whole(
        self, problem: PreferenceProblem, random: np.random.RandomState
    ) -> tuple[Float32, float, float, int]:
        data, state = problem.digest() if self.warm_start else "", DualState.zeros(problem)
        duals = getattr(self, "duals_", None)
        if duals is not None and duals.data == data:
            # The duals of the last fit on these data, scaled to C, stay feasible.
            alpha = duals.alpha * np.float32(self.C / duals.C)
            state = solver.begun(problem, alpha)
        options: Any = {"tol": self.tol, "random": random, "n_jobs": self.n_jobs}
        descent = solver.PreferenceDescent(problem, state, self.C, **options)
        with gap_bar(type(self).__name__, self.verbose, self.max_iter) as report:
            gap, n_iter = descent.solve(self.max_iter, report)
        solver.warn_unless_closed(gap, self.tol, self.max_iter)
        self.duals_ = Duals(state.alpha, float(self.C), data) if self.warm_start else None
        return state.W, descent.objective, gap, n_iter

    def _solved_apart(
        self, runner: Runner, problem: PreferenceProblem, random: np.random.RandomState
    ) -> tuple[Float32, float, float, int]:
        blocks = runner.place(split_rows(problem, self.n_blocks))
        return self._agreed(blocks, runner, random)

    def _agreed(
        self, blocks: list[Any], runner: Runner, random: np.random.RandomState
    ) -> tuple[Float32, float, float, int]:
        self.duals_ = None
        seed = int(random.randint(2**31 - 1))
        settings = Settings(float(self.C), len(blocks), float(self.eta), float(self.tol), seed)
        with gap_bar(type(self).__name__, self.verbose, self.max_rounds) as report:
            return minimise(blocks, settings, self.max_rounds, runner, report)

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        """Stay near: min ½‖W - W₀‖² + C Σ (1 - g_better + g_worse)₊ over the arcs alone.

        Θ is a label like the others here; the solver's own has no arc.
        """
        instances, Y = arcs.as_examples(X)
        alone = Preferences.shared(Kind.RELEVANT_IRRELEVANT)
        problem = PreferenceProblem.of(instances, Y, alone, fit_intercept=self.fit_intercept)
        problem.refuse_too_many(self.memory_limit, "teach fewer arcs at a time")
        near, K = DualState.zeros(problem), self.n_labels_ + 1
        before = self._weights.blocks[0]
        near.W[:, :K] = before[:, :K]
        near.offset = near.W.copy()
        options: Any = {"tol": self.tol, "random": check_random_state(self.random_state)}
        descent = solver.PreferenceDescent(problem, near, self.C, **options, n_jobs=self.n_jobs)
        gap, n_iter = solver.close_gap(descent, self.tol, self.max_iter)
        solver.warn_unless_closed(gap, self.tol, self.max_iter)
        W = aligned_zeros(before.shape)
        W[:, :K] = near.W[:, :K]
        self._weights = replace(self._weights, blocks=W[None])
        self.objective_, self.dual_gap_, self.n_iter_ = descent.objective, gap, n_iter
        self.duals_ = None

    def path(self, X: Any, Y: Any, Cs: Iterable[float]) -> list[Self]:
        """A fitted learner for each C, each begun where the one before ended.

        Given in rising order, a path costs little more than its last fit alone.
        """
        learner = clone(self).set_params(warm_start=True, n_blocks=1)
        path: list[Self] = []
        for C in Cs:
            learner.set_params(C=C).fit(X, Y)
            fitted = copy.copy(learner).set_params(**clone(self).get_params(deep=False) | {"C": C})
            fitted.duals_ = None
            path.append(fitted)
        return path


@stored("ProSVM", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class ProSVM(PreferenceSVM):
    """Linear scores for the labels and the threshold label Θ that minimise a bound of PRO loss.

    The problem is ½‖w‖² + C Σ weight·(1 - g_better(x) + g_worse(x))₊ over four groups of
    preferences of each instance: relevant over less relevant, relevant over irrelevant, relevant
    over Θ, Θ over irrelevant, a quarter each. With `approximate` only those with Θ (a half each)
    and a chain through the grades: an upper bound with O(K) in place of O(K²) preferences. Labels
    of equal grade state no preference; unknown labels take part in none.

    Solved by dual coordinate descent, which walks the preferences of an instance in scores alone,
    until the duality gap is at most `tol` of the objective; with `n_blocks` above 1 by ADMM over
    blocks of instances, side by side (joblib; `labelrank.distributed` for a Dask cluster).

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses beside ½‖w‖² (λ of the paper).
    approximate : bool, default False
        ProSVM-A: fewer preferences, less memory and time.
    ordered : bool, default True
        False drops the preferences between relevant labels (the primed variants).
    fit_intercept : bool, default False
        Give x one more feature that is always 1.
    tol : float, default 1e-3
        Relative duality gap to reach (for ADMM also the relative size of its residuals).
    max_iter : int, default 1000
        Most epochs; a ConvergenceWarning names the gap if they do not suffice.
    n_blocks : int, default 1
        Blocks of instances; the objective is the same for any number.
    eta : float, default 0.1, the step of ADMM
    max_rounds : int, default 100, rounds of ADMM at most
    warm_start : bool, default False
        Begin the next `fit` on the same data (at another C) where this one ended.
    memory_limit : float or None
        GiB that weights and duals may take; None is what the machine has free.
    n_jobs, random_state, verbose

    Attributes
    ----------
    coef_ : ndarray (K, d)
    threshold_coef_ : ndarray (d,)
        Weights of Θ: scores are X times `coef_ - threshold_coef_`.
    intercept_ : ndarray (K,)
    threshold_intercept_ : float
    objective_ : float
    dual_gap_ : float
        Relative: (objective - dual objective) / objective.
    n_iter_ : int, epochs or rounds of ADMM

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import ProSVM
    >>> X = np.eye(3)
    >>> learner = ProSVM(C=10, random_state=0).fit(X, [[2, 1, 0], [0, 2, 1], [1, 0, 2]])
    >>> learner.rank(X)
    array([[0, 1, 2],
           [1, 2, 0],
           [2, 0, 1]])
    """

    approximate: bool = flag(False)
    ordered: bool = flag(True)

    _advice = "use approximate=True, which needs far fewer, or keep fewer labels or instances"

    @property
    def preferences(self) -> Preferences:
        """The preferences of Eq. 3, or of Eq. 9, and what they weigh."""
        ends, order = (0.5, Kind.CHAIN) if self.approximate else (0.25, Kind.GRADED)
        weights = {Kind.RELEVANT_THRESHOLD: ends, Kind.THRESHOLD_IRRELEVANT: ends}
        if not self.approximate:
            weights[Kind.RELEVANT_IRRELEVANT] = 0.25
        if self.ordered:
            weights[order] = 0.25
        return Preferences(weights)

    def _scores(self, X: Any) -> Array:
        raw = super()._scores(X)
        return raw[:, :-1] - raw[:, -1:]

    def _threshold_weights(self) -> tuple[Array, float]:
        return self._weights.of_label(self.n_labels_)

    @property
    def threshold_coef_(self) -> Array:
        """Weights of the threshold label Θ (d,)."""
        return self._threshold_weights()[0].copy()

    @property
    def threshold_intercept_(self) -> float:
        """Intercept of the threshold label Θ; 0 without `fit_intercept`."""
        return self._threshold_weights()[1]
