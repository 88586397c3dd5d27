"""A matrix with the mean of all it has been, kept lazily: the door to the embedding kernels."""

import copy
from functools import partial
from typing import NamedTuple

import numpy as np

from labelrank._types import Array, Float32, Float64
from labelrank.declared import array, stored
from labelrank.errors import InputError
from labelrank.kernels import embedding as kernels
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows

# Beyond this factor between stored and true values the two are made one again.
_FAR = 1e4


@stored(
    "Averaged",
    1,
    values=array("f4", "rows", "s"),
    sums=array("f8", "rows", "s"),
    since=array("f8", "rows"),
    state=array("f8", 4),
    squares=array("f8", "rows"),
)
class Averaged(NamedTuple):
    """SCALE * values, and what its mean needs; see `kernels.embedding` for the fields."""

    values: Float32
    sums: Float64
    since: Float64
    state: Float64
    squares: Float64

    @classmethod
    def of(cls, start: Array) -> "Averaged":
        """A matrix that is `start` and has no past."""
        values = np.array(start, np.float32, order="C")
        state = np.array([1.0, 0.0, np.square(values, dtype=np.float64).sum(), 0.0])
        zeros = np.zeros(len(values))
        return cls(values, np.zeros(values.shape), zeros, state, zeros.copy())

    def mean(self) -> Float32:
        """The mean over its arcs; the matrix itself while there was none."""
        time = self.state[kernels.TIME]
        if not time:
            return (self.values * self.state[kernels.SCALE]).astype(np.float32)
        gap = self.state[kernels.CLOCK] - self.since
        return ((self.sums + gap[:, None] * self.values) / time).astype(np.float32)

    def normalize(self) -> None:
        """Divide by the Frobenius norm: a factor for all, hardly ever a visit of all weights."""
        square = self.state[kernels.SQUARE]
        if square > 0:
            self.state[kernels.SCALE] = 1.0 / np.sqrt(square)
        if not 1 / _FAR < self.state[kernels.SCALE] < _FAR:
            kernels.settle(self)

    def widened(self, more: Array) -> "Averaged":
        """A new matrix with further rows, which count as if they had always been there."""
        old = copy.deepcopy(self)
        kernels.settle(old)
        new = Averaged.of(more)
        state = old.state.copy()
        values = np.vstack([old.values, new.values])
        state[kernels.SQUARE] = np.square(values, dtype=np.float64).sum()
        return Averaged(
            values,
            np.vstack([old.sums, state[kernels.TIME] * np.asarray(more, np.float64)]),
            np.concatenate([old.since, new.since]),
            state,
            np.concatenate([old.squares, new.squares]),
        )

    def project(self, X: Rows, n_jobs: int | None) -> Float32:
        """X times the mean, n × s."""
        if X.n_columns != len(self.values):
            raise InputError(
                f"X has {X.n_columns} features, but the embedding has {len(self.values)}"
            )
        H = np.empty((X.n_rows, self.values.shape[1]), np.float32)
        jobs = [partial(kernels.project, X, self, *s, H) for s in row_chunks(X.n_rows, n_jobs)]
        run_jobs(jobs, n_jobs)
        return H
