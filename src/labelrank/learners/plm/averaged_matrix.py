"""A matrix with the mean of all it has been, kept lazily: the door to the embedding kernels."""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels import embedding as kernels
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows

# Beyond this factor between stored and true values the two are made one again.
_FAR = 1e4


class Averaged(NamedTuple):
    """SCALE * values, and what its mean needs; see `kernels.embedding` for the fields."""

    values: npt.NDArray[np.float32]
    sums: npt.NDArray[np.float64]
    since: npt.NDArray[np.float64]
    state: npt.NDArray[np.float64]

    @classmethod
    def of(cls, start: Array) -> "Averaged":
        """A matrix that is `start` and has no past."""
        values = np.array(start, np.float32, order="C")
        square = float(np.square(values, dtype=np.float64).sum())
        return cls(
            values,
            np.zeros(values.shape),
            np.zeros(len(values)),
            np.array([1.0, 0.0, square, 0.0]),
        )

    def mean(self) -> npt.NDArray[np.float32]:
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
            kernels.settle(*self)

    def widened(self, more: Array) -> "Averaged":
        """The same with further rows behind, which count as if they had always been there."""
        kernels.settle(*self)
        values = np.vstack([self.values, np.asarray(more, np.float32)])
        past = self.state[kernels.TIME] * np.asarray(more, np.float64)
        state = self.state.copy()
        state[kernels.SQUARE] = float(np.square(values, dtype=np.float64).sum())
        return Averaged(values, np.vstack([self.sums, past]), np.zeros(len(values)), state)

    def project(self, X: Rows, n_jobs: int | None) -> npt.NDArray[np.float32]:
        """X times the mean, n × s."""
        if X.n_columns != len(self.values):
            raise InputError(
                f"X has {X.n_columns} features, but the embedding has {len(self.values)}"
            )
        H = np.empty((X.n_rows, self.values.shape[1]), np.float32)
        chunks = row_chunks(X.n_rows, n_jobs)
        run_jobs([partial(kernels.project, *X[:3], *span, *self, H) for span in chunks], n_jobs)
        return H
