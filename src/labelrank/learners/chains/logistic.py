"""Logistic regression for the links of chains: all links of one data set are solved side by side.

The links of a chain, of many chains, or of a whole search over orders differ only in their target
and in the earlier labels they see. They share X, so X is factored once (rotated to its principal
axes, in which the penalty does not change and the curvature is nearly diagonal), and one matrix
product serves all links in each step of a limited-memory BFGS. The problem of each link is that of
scikit-learn's LogisticRegression: C Σ loss + ½ |w|², the intercept free.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import log_expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels.logistic import loss_and_residual
from labelrank.resources import run_jobs

_MEMORY = 8
_LINKS_AT_ONCE = 128
_LARGEST_FACTOR = 2500


class LogisticLink(ClassifierMixin, BaseEstimator):
    """Logistic regression that chains train many of at once; also a plain classifier.

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the penalty ½ |w|², as in LogisticRegression.
    tol : float, default 1e-4
        A link is solved when no derivative of its mean loss (in scaled coordinates) exceeds this.
    max_iter : int, default 300

    Attributes
    ----------
    coef_ : ndarray (1, d) for two classes, else (K, d)
    intercept_ : ndarray
    classes_ : ndarray
    n_iter_ : int, steps taken (by the slowest of the links solved together)

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.learners.chains.logistic import LogisticLink
    >>> link = LogisticLink().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> link.predict([[-1.0], [4.0]])
    array([0, 1])
    """

    def __init__(self, C: float = 1.0, *, tol: float = 1e-4, max_iter: int = 300) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Solve for one target; a y of one class gives that class with certainty."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        if y.dtype.kind == "f" and (y != np.round(y)).any():
            raise InputError("Unknown label type: continuous; give one class an instance")
        classes, codes = np.unique(y, return_inverse=True)
        shared = SharedDesign(X, np.empty((X.shape[0], 0)), codes[:, None], self)
        fitted = shared.solve([Problem(0, len(classes), np.arange(0))])[0]
        self.coef_: Array = fitted.coef_
        self.intercept_: Array = fitted.intercept_
        self.n_iter_: int = fitted.n_iter_
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes; one column, the second over the first, where there are two."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_log_proba(self, X: Any) -> Array:
        """Log probabilities (n × K)."""
        scores = self.decision_function(X)
        return log_probabilities(scores.reshape(len(scores), -1), len(self.classes_))

    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n × K)."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable class."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def log_probabilities(scores: Array, n_classes: int) -> Array:
    """Of the classes, from the score columns of one link."""
    if n_classes == 1:
        return np.zeros((len(scores), 1))
    if scores.shape[1] == 1:
        return np.hstack([log_expit(-scores), log_expit(scores)])
    return log_softmax(scores, axis=1)


class Problem(NamedTuple):
    """One link: the column it predicts, its number of classes, the label features it sees."""

    target: int
    n_classes: int
    features: npt.NDArray[np.int64]

    @property
    def width(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes


class SharedDesign:
    """X and the encoded labels in the scaled coordinates in which all links are solved.

    `labels` (n × W) are the label features, of which each link sees its own choice; `codes`
    (n × L) the classes of the target columns, -1 where unknown.
    """

    def __init__(self, X: Any, labels: Array, codes: Array, settings: LogisticLink) -> None:
        if not settings.C > 0:
            raise InputError(f"got C={settings.C!r}; give a number above 0")
        self.settings = settings
        self.codes = np.ascontiguousarray(codes, np.int32)
        n, self._n_features = X.shape
        inner, self._axes, self._centre = _factor(X)
        self._label_centre = labels.mean(axis=0)
        design = _beside(inner, labels - self._label_centre)
        squares = design.multiply(design).sum(axis=0) if sp.issparse(design) else (design**2).sum(0)
        penalty = np.r_[np.full(design.shape[1] - 1, 1.0 / settings.C), 0.0]
        self._scale = np.sqrt(0.25 * np.asarray(squares).ravel() + penalty)
        self._scale[self._scale == 0.0] = 1.0
        self._design = (
            design @ sp.diags_array(1.0 / self._scale)
            if sp.issparse(design)
            else (design / self._scale)
        )
        self._penalty = (penalty / self._scale**2)[:, None]
        self._n_inner = inner.shape[1]

    def solve(self, problems: Sequence[Problem], n_jobs: int | None = None) -> list[LogisticLink]:
        """A fitted LogisticLink for each problem, in order; features of X first, then labels'."""
        parts = [problems[a : a + _LINKS_AT_ONCE] for a in range(0, len(problems), _LINKS_AT_ONCE)]
        solved = run_jobs([partial(self._solve_part, part) for part in parts], n_jobs)
        return [link for links in solved for link in links]

    def _solve_part(self, problems: Sequence[Problem]) -> list[LogisticLink]:
        width = np.array([p.width for p in problems])
        first = np.concatenate([[0], np.cumsum(width)[:-1]])
        free = np.zeros((self._design.shape[1], width.sum()))
        free[: self._n_inner] = 1.0
        free[-1] = 1.0
        for a, p in zip(first, problems, strict=True):
            free[self._n_inner + p.features, a : a + p.width] = 1.0
        target = np.array([p.target for p in problems])
        batch = _Batch(self, first, width, target, free)
        weights = batch.minimise() / self._scale[:, None]
        return [
            self._link(weights[:, a : a + p.width], p, batch.n_steps)
            for a, p in zip(first, problems, strict=True)
        ]

    def _link(self, weights: Array, problem: Problem, n_steps: int) -> LogisticLink:
        inner, of_labels = weights[: self._n_inner], weights[self._n_inner : -1][problem.features]
        of_x = inner if self._axes is None else self._axes @ inner
        offset = self._centre @ of_x + self._label_centre[problem.features] @ of_labels
        link = LogisticLink(**self.settings.get_params())
        link.coef_ = np.ascontiguousarray(np.vstack([of_x, of_labels]).T)
        link.intercept_ = weights[-1] - offset
        link.classes_ = np.arange(problem.n_classes)
        link.n_iter_ = n_steps
        link.n_features_in_ = link.coef_.shape[1]
        return link


def _factor(X: Any) -> tuple[Any, Array | None, Array]:
    """X in centred principal coordinates, their axes, and the centre; large sparse X unchanged."""
    n, d = X.shape
    if min(n, d) > _LARGEST_FACTOR:
        return (
            (sp.csr_array(X, dtype=float) if sp.issparse(X) else X.astype(float)),
            None,
            (np.zeros(d)),
        )
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


def _beside(inner: Any, labels: Array) -> Any:
    ones = np.ones((inner.shape[0], 1))
    if sp.issparse(inner):
        return sp.csr_array(sp.hstack([inner, sp.csr_array(labels), sp.csr_array(ones)]))
    return np.hstack([inner, labels, ones])


class _Batch:
    """Limited-memory BFGS on many links at once; a link that is solved leaves the batch.

    Weights are kept as (features, columns); a link owns `width` neighbouring columns, and its
    step lengths and curvatures are its own: it takes the path it would take alone.
    """

    def __init__(
        self, shared: SharedDesign, first: Array, width: Array, target: Array, free: Array
    ) -> None:
        self.design, self.penalty = shared._design, shared._penalty
        self.codes, self.settings = shared.codes, shared.settings
        self.first, self.width, self.target, self.free = first, width, target, free
        self.weights = np.zeros_like(free)
        self.scores = np.zeros((len(self.codes), int(width.sum())))
        self.history: list[tuple[Array, Array, Array]] = []
        self.n_steps = 1

    def minimise(self) -> Array:
        solved = np.zeros_like(self.weights)
        columns = np.arange(int(self.width.sum()))
        objective, gradient = self._gradient(*self._evaluate(self.scores, self.weights))
        tol = self.settings.tol * len(self.codes) / self._typical_scale()
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

    def _typical_scale(self) -> float:
        """Turns a tolerance on the derivative by a unit-variance feature into scaled ones."""
        return max(0.5 * np.sqrt(len(self.codes)), 1.0)

    def _evaluate(self, scores: Array, weights: Array) -> tuple[Array, Array]:
        residual, loss = np.empty_like(scores), np.empty(len(self.first))
        loss_and_residual(scores, self.codes, self.first, self.width, self.target, residual, loss)
        return loss + 0.5 * self._dots(self.penalty * weights, weights), residual

    def _gradient(self, objective: Array, residual: Array) -> tuple[Array, Array]:
        return objective, (self.design.T @ residual + self.penalty * self.weights) * self.free

    def _dots(self, a: Array, b: Array) -> Array:
        return np.add.reduceat(np.einsum("pm,pm->m", a, b), self.first)

    def _each(self, values: Array) -> Array:
        return np.repeat(values, self.width)

    def _step(self, objective: Array, gradient: Array) -> tuple[Array, Array]:
        direction = self._direction(gradient)
        slope = self._dots(gradient, direction)
        length, moved, objective, residual = self._search(objective, direction, slope)
        self.scores = moved
        change = direction * self._each(length)
        self.weights = self.weights + change
        objective, after = self._gradient(objective, residual)
        self._remember(change, after - gradient)
        return objective, after

    def _search(
        self, objective: Array, direction: Array, slope: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Halve each link's step until its objective falls enough (Armijo)."""
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
        return length, moved, reached, residual

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

    def _remember(self, change: Array, response: Array) -> None:
        curvature = self._dots(change, response)
        usable = curvature > 1e-12 * self._dots(response, response)
        rho = np.where(usable, 1.0 / np.where(usable, curvature, 1.0), 0.0)
        self.history = [*self.history[-_MEMORY + 1 :], (change, response, rho)]

    def _keep(self, links: Array, columns: Array) -> None:
        self.width, self.target = self.width[links], self.target[links]
        self.first = np.concatenate([[0], np.cumsum(self.width)[:-1]])
        self.free, self.weights = self.free[:, columns], self.weights[:, columns]
        self.scores = np.ascontiguousarray(self.scores[:, columns])
        self.history = [(c[:, columns], r[:, columns], rho[links]) for c, r, rho in self.history]
