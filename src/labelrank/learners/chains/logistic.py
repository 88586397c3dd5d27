"""Logistic regression for the links of chains: all links of one data set are solved side by side.

The links of all chains of a search share X: it is factored once (rotated to its principal axes, in
which the penalty does not change and the curvature is nearly diagonal), and one matrix product
serves all links in each step of a limited-memory BFGS. The problem of each link is that of
scikit-learn's LogisticRegression: C Σ loss + ½ |w|², the intercept free.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import log_expit, log_softmax
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._estimators import BaseEstimator, ClassifierMixin
from labelrank._types import Array, Float64, Int64
from labelrank.declared import anything, array, check_parameters, number, stored, value
from labelrank.errors import InputError
from labelrank.kernels.logistic import loss_and_residual
from labelrank.resources import blocks, run_jobs

_MEMORY = 8
_LINKS_AT_ONCE = 128
_LARGEST_FACTOR = 2500


@stored(
    "LogisticLink",
    1,
    coef_=array("f8", "columns", "d"),
    intercept_=array("f8", "columns"),
    classes_=anything(),
    n_iter_=value(int, least=0),
    n_features_in_=value(int, least=0),
)
@dataclass(eq=False, repr=False)
class LogisticLink(ClassifierMixin, BaseEstimator):
    """Logistic regression that chains train many of at once; also a plain classifier.

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the penalty ½ |w|², as in LogisticRegression.
    tol : float, default 1e-4
        A link is solved when no derivative of its mean loss (in scaled coordinates) exceeds this.
    max_iter : int, default 300
    """

    C: float = number(1.0, above=0)
    _: KW_ONLY
    tol: float = number(1e-4, least=0)
    max_iter: int = number(300, least=0, whole=True)

    def fit(self, X: Any, y: Any) -> Self:
        """Solve for one target; a y of one class gives that class with certainty."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        if y.dtype.kind == "f" and (y != np.round(y)).any():
            raise InputError("Unknown label type: continuous; give one class per instance")
        classes, codes = np.unique(y, return_inverse=True)
        shared = SharedDesign(X, np.empty((X.shape[0], 0)), codes[:, None], self)
        fitted: Any = shared.solve([Problem(0, len(classes), np.arange(0))])[0]
        self.coef_, self.intercept_, self.n_iter_ = fitted.coef_, fitted.intercept_, fitted.n_iter_
        self.classes_ = classes
        return self

    @classmethod
    def certain(cls, code: int, n_features: int) -> Self:
        """The fitted link of a column in which only this class occurs."""
        link = cls()
        link.coef_, link.intercept_ = np.zeros((0, n_features)), np.zeros(0)
        link.classes_, link.n_iter_, link.n_features_in_ = np.array([code]), 0, n_features
        return link

    def after_loading(self) -> None:
        n_classes, n_columns = len(self.classes_), len(self.coef_)
        if np.ndim(self.classes_) != 1 or self.coef_.shape[1] != self.n_features_in_:
            raise ValueError("the classes or features of a link do not fit its weights")
        width = n_classes if n_classes > 2 else 1
        if not n_classes or (n_columns != width and (n_columns, n_classes) != (0, 1)):
            raise ValueError("a link has too many or too few weight vectors for its classes")

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes; one column, the second over the first, where there are two."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_log_proba(self, X: Any) -> Array:
        scores = self.decision_function(X)
        return log_probabilities(scores.reshape(len(scores), -1), len(self.classes_))

    def predict_proba(self, X: Any) -> Array:
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def log_probabilities(scores: Array, n_classes: int) -> Array:
    if n_classes == 1:
        return np.zeros((len(scores), 1))
    if scores.shape[1] == 1:
        return np.hstack([log_expit(-scores), log_expit(scores)])
    return log_softmax(scores, axis=1)


class Problem(NamedTuple):
    """One link: the column it predicts, its number of classes, the label features it sees."""

    target: int
    n_classes: int
    features: Int64

    @property
    def width(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes


class SharedDesign:
    """X and the encoded labels (n × W) in the scaled coordinates in which all links are solved."""

    def __init__(self, X: Any, labels: Array, codes: Array, settings: LogisticLink) -> None:
        check_parameters(settings)
        self.settings = settings
        self.codes = np.ascontiguousarray(codes, np.int32)
        inner, self._axes, self._centre = _factored(X)
        self._label_centre = labels.mean(axis=0)
        labels = np.hstack([labels - self._label_centre, np.ones((len(labels), 1))])
        is_sparse = sp.issparse(inner)
        design: Any = (
            sp.csr_array(sp.hstack([inner, labels])) if is_sparse else np.hstack([inner, labels])
        )
        penalty = np.r_[np.full(design.shape[1] - 1, 1.0 / settings.C), 0.0]
        squares = design.multiply(design) if is_sparse else design**2
        scale = np.sqrt(0.25 * np.asarray(squares.sum(axis=0)).ravel() + penalty)
        scale[scale == 0.0] = 1.0
        self.design = design @ sp.diags_array(1.0 / scale) if is_sparse else design / scale
        self.penalty = (penalty / scale**2)[:, None]
        self._scale, self._n_inner = scale, inner.shape[1]

    def solve(self, problems: Sequence[Problem], n_jobs: int | None = None) -> list[LogisticLink]:
        """A fitted LogisticLink for each problem, in order; features of X first, then labels'."""
        parts = [problems[part] for part in blocks(len(problems), _LINKS_AT_ONCE)]
        solved = run_jobs([partial(self._solve_part, part) for part in parts], n_jobs)
        return [link for links in solved for link in links]

    def _solve_part(self, problems: Sequence[Problem]) -> list[LogisticLink]:
        width = np.array([p.width for p in problems])
        first = np.cumsum(width) - width
        spans = [(slice(a, a + p.width), p) for a, p in zip(first, problems, strict=True)]
        free = np.zeros((self.design.shape[1], width.sum()))
        free[: self._n_inner] = free[-1] = 1.0
        for columns, p in spans:
            free[self._n_inner + p.features, columns] = 1.0
        batch = _Batch(self, width, np.array([p.target for p in problems]), free)
        weights = batch.minimise() / self._scale[:, None]
        return [self._link(weights[:, columns], p, batch.n_steps) for columns, p in spans]

    def _link(self, weights: Array, problem: Problem, n_steps: int) -> LogisticLink:
        inner, of_labels = weights[: self._n_inner], weights[self._n_inner : -1][problem.features]
        of_x = inner if self._axes is None else self._axes @ inner
        offset = self._centre @ of_x + self._label_centre[problem.features] @ of_labels
        link = LogisticLink(**self.settings.get_params())
        link.coef_ = np.ascontiguousarray(np.vstack([of_x, of_labels]).T)
        link.intercept_ = weights[-1] - offset
        link.classes_, link.n_iter_ = np.arange(problem.n_classes), n_steps
        link.n_features_in_ = link.coef_.shape[1]
        return link


def _factored(X: Any) -> tuple[Any, Array | None, Array]:
    """X in centred principal coordinates, their axes, and the centre; large X unchanged."""
    n, d = X.shape
    if min(n, d) > _LARGEST_FACTOR:
        unchanged = sp.csr_array(X, dtype=float) if sp.issparse(X) else X.astype(float)
        return unchanged, None, np.zeros(d)
    dense = X.toarray().astype(float) if sp.issparse(X) else X.astype(float)
    centre = dense.mean(axis=0)
    dense -= centre
    if d <= n:
        axes = np.linalg.eigh(dense.T @ dense)[1]
        return dense @ axes, axes, centre
    values, left = np.linalg.eigh(dense @ dense.T)
    kept = values > values.max(initial=0.0) * 1e-12
    lengths = np.sqrt(values[kept])
    return left[:, kept] * lengths, dense.T @ (left[:, kept] / lengths), centre


class _Batch:
    """Limited-memory BFGS on many links at once; a link that is solved leaves the batch."""

    def __init__(self, shared: SharedDesign, width: Int64, target: Int64, free: Float64) -> None:
        self.design, self.penalty = shared.design, shared.penalty
        self.codes, self.settings = shared.codes, shared.settings
        self.first, self.width = np.cumsum(width) - width, width
        self.target, self.free = target, free
        self.weights = np.zeros_like(free)
        self.scores = np.zeros((len(self.codes), int(width.sum())))
        self.history: list[tuple[Array, Array, Array]] = []
        self.n_steps = 1

    def minimise(self) -> Array:
        solved = np.zeros_like(self.weights)
        columns = np.arange(int(self.width.sum()))
        objective, residual = self._evaluate(self.scores, self.weights)
        gradient = self._gradient(residual)
        # A tolerance on the derivative by a feature of unit variance, turned into scaled ones.
        tol = self.settings.tol * len(self.codes) / max(0.5 * np.sqrt(len(self.codes)), 1.0)
        for _ in range(self.settings.max_iter):
            solved[:, columns] = self.weights
            open_ = np.maximum.reduceat(np.abs(gradient).max(axis=0), self.first) > tol
            if not open_.any():
                break
            if open_.sum() <= 0.7 * len(open_):
                kept = np.repeat(open_, self.width)
                columns, gradient, objective = columns[kept], gradient[:, kept], objective[open_]
                self._keep(open_, kept)
            objective, gradient = self._step(objective, gradient)
            self.n_steps += 1
        solved[:, columns] = self.weights
        return solved

    def _evaluate(self, scores: Array, weights: Array) -> tuple[Array, Array]:
        residual, loss = np.empty_like(scores), np.empty(len(self.first))
        loss_and_residual(scores, self.codes, self.first, self.width, self.target, residual, loss)
        return loss + 0.5 * self._dots(self.penalty * weights, weights), residual

    def _gradient(self, residual: Array) -> Array:
        return np.asarray((self.design.T @ residual + self.penalty * self.weights) * self.free)

    def _dots(self, a: Array, b: Array) -> Array:
        return np.add.reduceat(np.einsum("pm,pm->m", a, b), self.first)

    def _each(self, values: Array) -> Array:
        return np.repeat(values, self.width)

    def _step(self, objective: Array, gradient: Array) -> tuple[Array, Array]:
        direction = self._direction(gradient)
        objective, change, residual = self._search(objective, gradient, direction)
        self.weights = self.weights + change
        after = self._gradient(residual)
        response = after - gradient
        curvature = self._dots(change, response)
        usable = curvature > 1e-12 * self._dots(response, response)
        rho = np.where(usable, 1.0 / np.where(usable, curvature, 1.0), 0.0)
        self.history = [*self.history[-_MEMORY + 1 :], (change, response, rho)]
        return objective, after

    def _search(self, objective: Array, gradient: Array, direction: Array) -> tuple[Array, ...]:
        """Halve each link's step until its objective falls enough (Armijo)."""
        slope = self._dots(gradient, direction)
        along = self.design @ direction
        length = np.ones(len(self.first))
        for _ in range(40):
            steps = self._each(length)
            moved = self.scores + along * steps
            reached, residual = self._evaluate(moved, self.weights + direction * steps)
            slack = 1e-12 * np.abs(objective)
            too_far = reached > objective + 1e-4 * length * slope + slack
            if not too_far.any():
                break
            length[too_far] *= 0.5
        self.scores = moved
        return reached, direction * self._each(length), residual

    def _direction(self, gradient: Array) -> Array:
        """The two-loop recursion of Liu & Nocedal 1989, all links side by side."""
        q = -gradient
        shares = []
        for change, response, rho in reversed(self.history):
            share = self._each(rho * self._dots(change, q))
            q = q - share * response
            shares.append(share)
        if self.history:
            change, response, rho = self.history[-1]
            curvature = rho * self._dots(response, response)
            q = q * self._each(np.where(curvature > 0, 1.0 / np.maximum(curvature, 1e-300), 1.0))
        for (change, response, rho), share in zip(self.history, reversed(shares), strict=True):
            q = q + (share - self._each(rho * self._dots(response, q))) * change
        return q

    def _keep(self, links: Array, columns: Array) -> None:
        self.width, self.target = self.width[links], self.target[links]
        self.first = np.cumsum(self.width) - self.width
        self.free, self.weights = self.free[:, columns], self.weights[:, columns]
        self.scores = np.ascontiguousarray(self.scores[:, columns])
        self.history = [(c[:, columns], r[:, columns], rho[links]) for c, r, rho in self.history]
