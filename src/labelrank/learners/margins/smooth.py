"""The losses of large margins as Newton steps take them (`newton.Losses`).

A hinge c (v)₊ is smoothed about a dual α: max over β in [0, c] of βv - (β - α)² / 2θc.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, xlogy

from labelrank._types import Array, Float32, Float64
from labelrank.kernels import smoothed_arcs as kernel
from labelrank.kernels.one_vs_rest import HINGE, SQUARED
from labelrank.learners.margins.newton import matrix
from labelrank.resources import blocks

_TINY = np.finfo(float).tiny
# A first smoothness below this would be lost in rounding.
_SMOOTHEST = 1e-12
_ROWS = 4096


def first_theta(alpha: Float64, U: Float64) -> Float64:
    """So that a violation of 1 moves a dual by about what duals are."""
    return np.maximum(alpha / np.maximum(U, _TINY), _SMOOTHEST)


def listed(problem: Any) -> tuple[Array, Array, Float64]:
    """The arcs of a `PreferenceProblem`, at the places of their duals; weight 0 where is none."""
    better, worse = np.zeros((2, problem.n_duals), np.int64)
    U = np.zeros(problem.n_duals)
    parts = problem.relevant, problem.unknown, problem.dual_ptr, problem.weights
    kernel.list_arcs(*parts, problem.chain, better, worse, U)
    return better, worse, U


def weights_of(problem: Any, duals: Float32) -> Float64:
    """Σ α (e_better - e_worse) ⊗ x, in double precision."""
    W = np.zeros(problem.shape)
    n_labels = problem.relevant.n_columns + 1
    for piece in blocks(problem.X.n_rows, _ROWS):
        first, last = piece.start, piece.stop
        part = problem.slice(first, last)
        alpha = duals[problem.dual_ptr[first] : problem.dual_ptr[last]].astype(float)
        better, worse, _ = listed(part)
        size = (last - first) * n_labels
        pull = np.bincount(better, alpha, size) - np.bincount(worse, alpha, size)
        W[:, :n_labels] += matrix(part.X).T @ pull.reshape(-1, n_labels)
    return W


class ArcLosses:
    """Hinge losses of the preferences of a `PreferenceProblem`: one group of all labels."""

    multipliers = True

    def __init__(self, problem: Any, C: float, duals: Float32) -> None:
        better, worse, U = listed(problem)
        # Where each arc has its dual, and the best duals seen.
        self.places, self.duals = np.flatnonzero(U), duals
        U = C * U[self.places]
        self.arcs = better[self.places], worse[self.places], U
        self.alpha = np.minimum(duals[self.places].astype(float), U)
        self.theta = float(first_theta(self.alpha.sum(), U.sum()))
        self.labels = np.unique(np.concatenate(self.arcs[:2]) % (problem.relevant.n_columns + 1))

    def total(self, parts: Float64) -> Float64:
        return np.array([parts.sum()])

    def look(self, S: Float64) -> tuple[Float64, Float64, Float64]:
        self.beta, R = np.empty_like(self.alpha), np.zeros_like(S)
        options = self.arcs, self.alpha, self.theta, S.ravel(), self.beta, R.ravel()
        loss = kernel.slopes(*options)
        return R, np.array([loss]), np.array([self.beta.sum()])

    def slope_along(self, S: Float64, T: Float64, t: Float64) -> Float64:
        options = self.arcs, self.alpha, self.theta, S.ravel(), T.ravel(), float(t[0])
        return np.array([kernel.slope_along(*options)])

    def curvature(self, shape: tuple[int, int]) -> Float64:
        better, worse, U = self.arcs
        inside = np.flatnonzero((self.beta > 0) & (self.beta < U))
        self.curved = better[inside], worse[inside], self.theta * U[inside]
        size, weight = shape[0] * shape[1], self.curved[2]
        total = np.zeros(size)
        for ends in self.curved[:2]:
            total += np.bincount(ends, weight, size)
        return total.reshape(shape)

    def curve(self, T: Float64) -> Float64:
        R = np.zeros_like(T)
        kernel.curve(*self.curved, T.ravel(), R.ravel())
        return R

    def centred(self, D: Float64) -> Float64:
        D = D.copy()
        D[:, self.labels] -= D[:, self.labels].mean(axis=1, keepdims=True)
        return D

    def keep(self, better: Array, t: Float64) -> None:
        if better[0]:
            duals = np.zeros_like(self.duals)
            duals[self.places] = t[0] * self.beta
            self.duals = duals

    def advance(self, ready: Array, growth: Float64) -> None:
        self.alpha, self.theta = self.beta, self.theta * float(growth[0])


@dataclass
class LabelLosses:
    """Hinge, squared hinge or logistic losses of one classifier per label: each is a group.

    `sign` is 1, -1, or 0 where unknown; `cost` is C of each instance and label, 0 where unknown.
    """

    kind: int
    sign: Float64
    cost: Float64
    alpha: Float64

    def __post_init__(self) -> None:
        self.multipliers = self.kind == HINGE
        self.theta = first_theta(self.alpha.sum(axis=0), self.cost.sum(axis=0))

    def total(self, parts: Float64) -> Float64:
        return parts.sum(axis=0)

    def _duals(self, S: Float64) -> tuple[Float64, Float64]:
        """How far the margin is violated, and the duals there."""
        v = 1.0 - self.sign * S
        if self.kind == HINGE:
            return v, np.clip(self.alpha + self.theta * self.cost * v, 0.0, self.cost)
        if self.kind == SQUARED:
            return v, 2.0 * self.cost * np.maximum(v, 0.0)
        return v, self.cost * expit(v - 1.0)

    def look(self, S: Float64) -> tuple[Float64, Float64, Float64]:
        v, self.beta = self._duals(S)
        if self.kind == HINGE:
            loss, spent = self.cost * np.maximum(v, 0.0), self.beta
        elif self.kind == SQUARED:
            loss = self.cost * np.maximum(v, 0.0) ** 2
            spent = self.beta - loss
        else:
            p = expit(v - 1.0)
            loss = self.cost * np.logaddexp(0.0, v - 1.0)
            spent = -self.cost * (xlogy(p, p) + xlogy(1.0 - p, 1.0 - p))
        return -self.sign * self.beta, loss.sum(axis=0), spent.sum(axis=0)

    def slope_along(self, S: Float64, T: Float64, t: Float64) -> Float64:
        return -(self.sign * T * self._duals(S + t * T)[1]).sum(axis=0)

    def curvature(self, shape: tuple[int, int]) -> Float64:
        if self.kind == HINGE:
            inside = (self.beta > 0) & (self.beta < self.cost)
            self.curved = np.where(inside, self.theta * self.cost, 0.0)
        elif self.kind == SQUARED:
            self.curved = np.where(self.beta > 0, 2.0 * self.cost, 0.0)
        else:
            self.curved = self.beta * (1.0 - self.beta / np.maximum(self.cost, _TINY))
        return self.curved

    def curve(self, T: Float64) -> Float64:
        return self.curved * T

    def centred(self, D: Float64) -> Float64:
        return D

    def keep(self, better: Array, t: Float64) -> None:
        """The duals are not needed afterwards."""

    def advance(self, ready: Array, growth: Float64) -> None:
        self.alpha = np.where(ready, self.beta, self.alpha)
        self.theta = np.where(ready, self.theta * growth, self.theta)
