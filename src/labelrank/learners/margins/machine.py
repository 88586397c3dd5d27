"""What ProSVM and RankSVM share: both are large margins over a choice of preferences."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners import label_weights
from labelrank.learners.base import Explained, LabelRanker
from labelrank.learners.margins import solver as arc_solver
from labelrank.learners.margins.admm import Runner, Settings, ThreadRunner, minimise, split_rows
from labelrank.learners.margins.problem import ArcProblem, Shares, make_problem, refuse_too_many
from labelrank.resources import gap_bar
from labelrank.rows import as_rows


class ArcMachine(Explained, LabelRanker):
    """½‖w‖² + C Σ weight (1 - g_better + g_worse)₊ over the arcs that `_shares` chooses."""

    _advice = "keep fewer labels or instances"

    C: float
    fit_intercept: bool
    tol: float
    max_iter: int
    n_blocks: int
    eta: float
    max_rounds: int
    warm_start: bool
    memory_limit: float | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    @property
    def threshold_coef_(self) -> npt.NDArray[Any]:
        """Weights of the threshold (d,): scores are X times `coef_ - threshold_coef_`."""
        raise NotImplementedError

    @property
    def threshold_intercept_(self) -> float:
        """Intercept of the threshold."""
        raise NotImplementedError

    def _shares(self) -> Shares:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("C", "tol", "eta"):
            check_above_zero(name, getattr(self, name))
        for name in ("max_iter", "max_rounds", "n_blocks"):
            check_at_least(name, getattr(self, name), 1)
        for name in ("fit_intercept", "warm_start"):
            check_choice(name, getattr(self, name), (True, False))

    def fit_on(self, X: Any, Y: Any, runner: Runner) -> Self:
        """As `fit`, the blocks of ADMM solved where `runner` says (see `labelrank.distributed`)."""
        self._runner = runner
        try:
            return self.fit(X, Y)
        finally:
            del self._runner

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        runner = getattr(self, "_runner", None)
        problem = make_problem(X, Y, self._shares(), fit_intercept=self.fit_intercept)
        if runner is None or self.memory_limit is not None:
            refuse_too_many(problem, self.memory_limit, self._advice)
        if self.n_blocks > 1:
            self._learn_apart(problem, runner or ThreadRunner(self.n_jobs))
        else:
            self._learn_whole(problem)
        self._finish(X, Y)

    def _learn_whole(self, problem: ArcProblem) -> None:
        state = self._resumed(problem) or arc_solver.start(problem)
        with gap_bar(type(self).__name__, self.verbose, self.max_iter) as report:
            outcome = arc_solver.descend(
                problem, state, self.C, tol=self.tol, max_iter=int(self.max_iter),
                random=check_random_state(self.random_state), n_jobs=self.n_jobs, report=report,
            )  # fmt: skip
        arc_solver.warn_unless_closed(outcome, self.tol, self.max_iter)
        self._keep(state.W, outcome)
        if self.warm_start:
            self._duals, self._duals_C = state.alpha, float(self.C)

    def _learn_apart(self, problem: ArcProblem, runner: Runner) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        settings = Settings(
            float(self.C), int(self.n_blocks), float(self.eta), float(self.tol), seed
        )
        with gap_bar(type(self).__name__, self.verbose, self.max_rounds) as report:
            W, outcome = minimise(
                split_rows(problem, int(self.n_blocks)),
                settings,
                int(self.max_rounds),
                runner,
                report,
            )
        self._keep(W, outcome)

    def _resumed(self, problem: ArcProblem) -> arc_solver.Descent | None:
        """Weights and duals of the last fit, scaled to the present C (they stay feasible)."""
        alpha = getattr(self, "_duals", None) if self.warm_start else None
        shape = (problem.X.n_columns, problem.n_lanes)
        if alpha is None or len(alpha) != problem.dptr[-1] or self._W.shape[1:] != shape:
            return None
        scale = np.float32(self.C / self._duals_C)
        return arc_solver.Descent(self._W[0] * scale, alpha * scale)

    def _keep(self, W: npt.NDArray[np.float32], outcome: arc_solver.Outcome) -> None:
        self._W = W[None]
        self.objective_, self.dual_gap_ = outcome.objective, outcome.gap
        self.n_iter_ = outcome.n_iter

    def _finish(self, X: Any, Y: sp.csr_array) -> None:
        """What is fitted on top of the weights."""

    def path(self, X: Any, Y: Any, Cs: Iterable[float]) -> list[Self]:
        """A fitted learner for each C, each begun where the one before ended.

        Given in rising order, a path costs little more than its last fit alone.
        """
        learner = clone(self).set_params(warm_start=True, n_blocks=1)
        found: list[Self] = []
        for C in Cs:
            learner.set_params(C=C).fit(X, Y)
            fitted = clone(self).set_params(C=C)
            kept = {k: v for k, v in vars(learner).items() if k not in self.get_params(deep=False)}
            vars(fitted).update({k: v for k, v in kept.items() if not k.startswith("_duals")})
            found.append(fitted)
        return found

    def _raw_scores(self, X: Any) -> npt.NDArray[Any]:
        """g_t(x) of the labels and of Θ."""
        rows, n_features = as_rows(X), self.n_features_in_
        raw = label_weights.scores(rows, self._W[:, :n_features], self.n_labels_ + 1, self.n_jobs)
        if self.fit_intercept:
            raw += self._W[0, n_features, : self.n_labels_ + 1]
        return raw

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """Weights of the labels (K × d)."""
        return label_weights.by_label(self._W, self.n_labels_)[:, : self.n_features_in_]

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        """Intercepts of the labels (K,); zeros without `fit_intercept`."""
        if not self.fit_intercept:
            return np.zeros(self.n_labels_, np.float32)
        return self._W[0, -1, : self.n_labels_].copy()

    def _label_weights(self, label: int) -> tuple[npt.NDArray[Any], float]:
        weights = label_weights.of_label(self._W, label)
        shift = float(weights[-1]) if self.fit_intercept else 0.0
        return weights[: self.n_features_in_], shift

    def _threshold_weights(self) -> tuple[npt.NDArray[Any], float]:
        return self.threshold_coef_, self.threshold_intercept_


def check_above_zero(name: str, value: Any) -> None:
    """Refuse a parameter that is not a finite number above 0."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0 < value < float("inf"):
        raise InputError(f"got {name}={value!r}; give a number above 0")
