"""Newton steps for large margins, where coordinate descent crawls.

    min_W  ½ Σ_j r_j ‖W_j‖² + losses(X W),   one problem of all labels, or one per label (a group)

Hinge losses are first smoothed about duals α (`kernels.smoothed_arcs`): the minimum of the smooth
problem gives the next α, and these converge to the duals of the hinge (method of multipliers).
Offsets and scales of the features, with which coordinate descent cannot cope, are in the second
derivatives. A step solves

    (r + Xᵀ curvature X) D = -gradient

by conjugate gradients, preconditioned by the exact inverse for each label alone where that is
cheap, else by that of the mean curvature of the labels, else by the diagonal.

Any duals β bound the optimum from below: with V = Xᵀ(slopes of β) and any t in [0, 1], by
t · (what β spends) - ½ t² Σ ‖V_j‖² / r_j. So the gap between the best weights and the best bound
seen is true, whatever the steps were.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from labelrank._types import Array, Float64
from labelrank.learners.margins.solver import DENSE
from labelrank.rows import Rows

# A smooth problem is solved well enough if it lacks this part of the gap.
SOLVED = 0.1
# Where the gap fell by less than this factor, the next problem is less smooth, by GROWTH.
FALLING, GROWTH = 0.3, 5.0
# Conjugate gradients end where the residual has fallen by this factor, or after so many steps.
RESIDUAL, MOST_DIRECTIONS = 0.1, 100
# A line search ends where the slope has fallen by this factor.
FLAT, MOST_TRIALS = 0.2, 40
# Multiplications that one preconditioner may take.
CHEAP = 4e9
# The products of all instances are kept if these are no more, and few beside the features.
MOST_ROWS = 3000
Solve = Callable[[Float64], Float64]


class Losses(Protocol):
    """Losses of scores S (n × labels), smooth ones; numbers are one per group of labels."""

    # Smoothness and duals change from one smooth problem to the next.
    multipliers: bool

    # The sums of an array, whose columns are labels.
    def total(self, parts: Float64) -> Float64: ...

    # Slopes by S, the true losses, and what the duals spend.
    def look(self, S: Float64) -> tuple[Float64, Float64, Float64]: ...

    # Slopes in t of the smooth losses at S + t T.
    def slope_along(self, S: Float64, T: Float64, t: Float64) -> Float64: ...

    # Second derivatives by each score, at the S last looked at.
    def curvature(self, shape: tuple[int, int]) -> Float64: ...

    # The change of the slopes along T; after `curvature`.
    def curve(self, T: Float64) -> Float64: ...

    # The part of a change of the weights that changes differences of scores, where only they count.
    def centred(self, D: Float64) -> Float64: ...

    # The duals last looked at times t are the best that were seen.
    def keep(self, better: Array, t: Float64) -> None: ...

    # The next smooth problem is about the duals last looked at, and less smooth by `growth`.
    def advance(self, ready: Array, growth: Float64) -> None: ...


@dataclass
class Newton:
    """The best weights, objectives and bounds seen, W = 0 among them."""

    X: Any
    ridge: Float64
    losses: Losses
    W: Float64
    bound: Float64

    def minimise(self, tol: float, max_steps: int) -> int:
        """Steps until the gap of every group is at most `tol`; returns how many."""
        with threadpool_limits(limits=1, user_api="blas"):
            return self._minimise(tol, max_steps)

    @property
    def gaps(self) -> Float64:
        """Relative to the objective, for each group."""
        positive = np.maximum(self.objective, np.finfo(float).tiny)
        return np.maximum(self.objective - self.bound, 0.0) / positive

    def _minimise(self, tol: float, max_steps: int) -> int:
        W, losses = self.W, self.losses
        S, self.preconditioner = self.X @ W, Preconditioner(self.X, self.ridge)
        self.W, self.objective = np.zeros_like(W), losses.look(np.zeros_like(S))[1]
        at_zero = self.objective
        before, stuck = np.ones_like(self.bound), np.zeros(len(self.bound), bool)
        step = 0
        while step < max_steps:
            step += 1
            gradient, lacking, apart = self._look(W, S)
            gaps = self.gaps
            if (gaps <= tol).all():
                break
            ready = ((lacking <= SOLVED * apart) | stuck) & (gaps > tol)
            if losses.multipliers and ready.any():
                losses.advance(ready, np.where(gaps > FALLING * before, GROWTH, 1.0))
                before, stuck = np.where(ready, gaps, before), stuck & ~ready
                continue
            if stuck[gaps > tol].all():
                break
            D = self._direction(np.where(gaps > tol, gradient, 0.0))
            T = np.ascontiguousarray(self.X @ D)
            t = self._best_step(gradient, W, D, S, T)
            W, S, stuck = W + t * D, S + t * T, t == 0.0
        self._round(at_zero)
        return step

    def _round(self, at_zero: Float64) -> None:
        """To the weights that a model keeps, in single precision."""
        W = self.W.astype(np.float32).astype(np.float64)
        loss = self.losses.look(self.X @ W)[1]
        objective = 0.5 * self.losses.total(self.ridge[:, None] * W * W) + loss
        self.W = np.where(objective <= at_zero, W, 0.0)
        self.objective = np.minimum(objective, at_zero)

    def _look(self, W: Float64, S: Float64) -> tuple[Float64, Float64, Float64]:
        """Gradient, what the smooth problem lacks, and the gap here; the best is kept."""
        losses = self.losses
        slopes, loss, spent = losses.look(S)
        pull = self.X.T @ slopes
        half = 0.5 * losses.total(pull * pull / self.ridge[:, None])
        t = np.clip(0.5 * spent / np.maximum(half, np.finfo(float).tiny), 0.0, 1.0)
        bound = t * spent - t * t * half
        objective = 0.5 * losses.total(self.ridge[:, None] * W * W) + loss
        self.W = np.where(objective < self.objective, W, self.W)
        self.objective = np.minimum(objective, self.objective)
        losses.keep(bound > self.bound, t)
        self.bound = np.maximum(bound, self.bound)
        gradient = self.ridge[:, None] * W + pull
        lacking = 0.5 * losses.total(gradient * gradient / self.ridge[:, None])
        return gradient, lacking, objective - bound

    def _direction(self, gradient: Float64) -> Float64:
        """Preconditioned conjugate gradients, all groups side by side."""
        total = self.losses.total
        curvature = self.losses.curvature((self.X.shape[0], gradient.shape[1]))
        inverse = self.preconditioner(curvature)
        D, r = np.zeros_like(gradient), -gradient
        z = self.losses.centred(inverse(r))
        p, rz = z, total(r * z)
        goal = RESIDUAL**2 * rz
        for _ in range(MOST_DIRECTIONS):
            T = np.ascontiguousarray(self.X @ p)
            q = self.ridge[:, None] * p + self.X.T @ self.losses.curve(T)
            pq = total(p * q)
            a = np.where((rz > goal) & (pq > 0), rz / np.where(pq > 0, pq, 1.0), 0.0)
            D, r = D + a * p, r - a * q
            z = self.losses.centred(inverse(r))
            before, rz = rz, total(r * z)
            if (rz <= goal).all() or not a.any():
                break
            p = z + np.where(before > 0, rz / np.where(before > 0, before, 1.0), 0.0) * p
        return D

    def _best_step(
        self, gradient: Float64, W: Float64, D: Float64, S: Float64, T: Float64
    ) -> Float64:
        """The step at which the slope along D is nearly 0; 0 where there is none."""
        total, ridge = self.losses.total, self.ridge[:, None]
        start, first, second = total(gradient * D), total(ridge * W * D), total(ridge * D * D)
        t, low, high = np.ones_like(start), np.zeros_like(start), np.full_like(start, np.inf)
        for _ in range(MOST_TRIALS):
            slope = first + t * second + self.losses.slope_along(S, T, t)
            done = np.abs(slope) <= FLAT * np.abs(start)
            if done.all():
                return t
            high = np.where((slope > 0) & ~done, t, high)
            low = np.where((slope <= 0) & ~done, t, low)
            middle = np.where(np.isinf(high), 2.0 * t, 0.5 * (low + np.minimum(high, 1e300)))
            t = np.where(done, t, middle)
        return np.where(done, t, low)


def matrix(rows: Rows) -> Any:
    """The rows as float64, dense if many of the values are not 0."""
    shape = rows.n_rows, rows.n_columns
    X = sp.csr_array((rows.data.astype(np.float64), rows.indices, rows.indptr), shape=shape)
    return X.toarray() if len(rows.data) > DENSE * shape[0] * shape[1] else X


class Preconditioner:
    """Inverses of (ridge + Xᵀ curvature X), exact for each label alone if that is cheap."""

    def __init__(self, X: Any, ridge: Float64) -> None:
        self.X, self.ridge = X, ridge
        wide = X * (1.0 / ridge)
        self.wide = sp.csr_array(wide) if sp.issparse(X) else wide
        n, d = X.shape
        self.gram = _dense(self.wide @ X.T) if n <= min(2 * d, MOST_ROWS) else None
        self.squares = X * X

    def __call__(self, curvature: Float64) -> Solve:
        used = np.count_nonzero(curvature, axis=0)
        if self._price(used).sum() <= CHEAP:
            solves = [self._inverse(column) for column in curvature.T]
            return lambda r: np.column_stack(
                [solve(column) for solve, column in zip(solves, r.T, strict=True)]
            )
        mean = curvature.mean(axis=1)
        if self._price(np.count_nonzero(mean)) <= CHEAP:
            return self._inverse(mean)
        diagonal = self.ridge[:, None] + self.squares.T @ curvature
        return lambda r: r / diagonal

    def _price(self, n_used: Any) -> Any:
        """Multiplications of `_inverse`."""
        d = self.X.shape[1]
        small, large = np.minimum(n_used, d), np.maximum(n_used, d).astype(float)
        known = (self.gram is not None) & (np.asarray(n_used) < d)
        return small**2 * (small / 3.0 + np.where(known, 0.0, large))

    def _inverse(self, weight: Float64) -> Solve:
        """r ↦ (ridge + Xᵀ weight X)⁻¹ r, by features or by instances, whichever are fewer."""
        used = np.flatnonzero(weight)
        if not len(used):
            return lambda r: (r.T / self.ridge).T
        try:
            if len(used) < self.X.shape[1]:
                return self._by_instances(used, weight[used])
            return self._by_features(used, weight[used])
        except LinAlgError:  # too far apart for Cholesky's method
            diagonal = self.ridge + self.squares.T @ weight
            return lambda r: (r.T / diagonal).T

    def _by_instances(self, used: Array, weight: Float64) -> Solve:
        B = self.wide[used]
        whole = _dense(B @ self.X[used].T) if self.gram is None else self.gram[np.ix_(used, used)]
        whole[np.diag_indices_from(whole)] += 1.0 / weight
        factor = cho_factor(whole, overwrite_a=True)
        return lambda r: (r.T / self.ridge).T - B.T @ cho_solve(factor, B @ r)

    def _by_features(self, used: Array, weight: Float64) -> Solve:
        X = self.X[used]
        whole = _dense(X.T @ (X.T * weight).T)
        whole[np.diag_indices_from(whole)] += self.ridge
        factor = cho_factor(whole, overwrite_a=True)
        return lambda r: cho_solve(factor, r)


def _dense(product: Any) -> Float64:
    dense: Float64 = product.toarray() if sp.issparse(product) else product
    return dense
