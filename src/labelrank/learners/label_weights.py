"""One weight vector per label, stored in blocks of labels: the door to the kernels of `linear`.

Each block of up to `BLOCK` labels is contiguous, stays in cache while a thread passes over the
data, and is written by that thread alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrank._types import Array
from labelrank.declared import array, nested, stored, value
from labelrank.errors import InputError
from labelrank.kernels import linear as kernels
from labelrank.learners.base import Explained, LabelRanker
from labelrank.resources import aligned_zeros, require, row_chunks, run_jobs
from labelrank.rows import Rows, as_rows

BLOCK = 64
LANE = 16


def padded(n_labels: int) -> int:
    """The labels rounded up to whole lines of the cache."""
    return -(-n_labels // LANE) * LANE


@stored(
    "LabelWeights",
    blocks=array("f4 f8", "blocks", "rows", "lanes"),
    n_labels=value(int, least=1),
    has_constant=value(bool),
)
@dataclass(frozen=True)
class LabelWeights:
    """Weights `blocks` (blocks × features × lanes) of `n_labels` labels.

    With `has_constant` the last row is no feature: it holds the intercepts.
    """

    blocks: Array
    n_labels: int
    has_constant: bool = False

    @classmethod
    def zeros(
        cls, n_rows: int, n_labels: int, lanes: int, *, has_constant: bool = False,
        dtype: npt.DTypeLike = np.float32,
    ) -> "LabelWeights":  # fmt: skip
        """Zero weights, `lanes` labels in a block; an InputError if they exceed free memory."""
        shape = (-(-n_labels // lanes), n_rows, lanes)
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        what = f"weights of {n_labels} labels x {n_rows} features"
        require(size, what, "keep fewer features (max_terms, hashing) or labels")
        return cls(aligned_zeros(shape, dtype), n_labels, has_constant)

    def after_loading(self) -> None:
        n_blocks, n_rows, lanes = self.blocks.shape
        needed = -(-self.n_labels // max(lanes, 1))
        if lanes % LANE or n_blocks != needed or n_rows < self.has_constant:
            raise ValueError(f"weights {self.blocks.shape} do not hold {self.n_labels} labels")

    @property
    def n_features(self) -> int:
        """Rows of weights without the intercepts."""
        return self.blocks.shape[1] - self.has_constant

    def spans(self) -> Iterator[tuple[Array, int, int]]:
        """Each block with its first label and their number."""
        lanes = self.blocks.shape[2]
        for block, first in zip(self.blocks, range(0, self.n_labels, lanes), strict=False):
            yield block, first, min(lanes, self.n_labels - first)

    def scores(self, X: Rows, n_jobs: int | None) -> Array:
        """X times the weights plus the intercepts, n × K, in the type of the weights."""
        if X.n_columns != self.n_features:
            raise InputError(f"X has {X.n_columns} features, but the weights {self.n_features}")
        out = np.empty((X.n_rows, self.n_labels), self.blocks.dtype)
        kernel = kernels.scores if out.dtype == np.float32 else kernels.double_scores
        jobs = [
            partial(kernel, X, *rows, block[: X.n_columns], width, out[:, lo : lo + width])
            for block, lo, width in self.spans()
            for rows in row_chunks(X.n_rows, n_jobs)
        ]
        run_jobs(jobs, n_jobs)
        if self.has_constant:
            out += self.constants()
        return out

    def by_label(self) -> Array:
        """The weights as K × d, one row per label."""
        flat = self.blocks.transpose(0, 2, 1).reshape(-1, self.blocks.shape[1])
        return np.ascontiguousarray(flat[: self.n_labels, : self.n_features])

    def constants(self) -> Array:
        """The intercepts (K,)."""
        if not self.has_constant:
            return np.zeros(self.n_labels, self.blocks.dtype)
        return self.blocks[:, -1].reshape(-1)[: self.n_labels].copy()

    def column(self, label: int) -> Array:
        """The weights of a label and its intercept, as a view: who writes to it changes them."""
        lanes = self.blocks.shape[2]
        return self.blocks[label // lanes, :, label % lanes]

    def of_label(self, label: int) -> tuple[Array, float]:
        """Weights (d,) and intercept of one label; no other label is read."""
        column = self.column(label)
        constant = float(column[-1]) if self.has_constant else 0.0
        return column[: self.n_features], constant


@stored(None, weights=nested("LabelWeights", attribute="_weights"))
class LinearRanker(Explained, LabelRanker):
    """A learner whose scores are X times one weight vector per label, plus intercepts."""

    _weights: LabelWeights
    n_jobs: int | None
    fit_intercept: bool
    # True where the weights of the threshold label stand behind those of the labels.
    _weighs_threshold = False

    def after_loading(self) -> None:
        kept = self._weights.n_features, self._weights.n_labels
        if kept != (self.n_features_in_, self.n_labels_ + self._weighs_threshold):
            raise ValueError("the weights do not fit the labels or the features")

    def _scores(self, X: Any) -> Array:
        return self._weights.scores(as_rows(X), self.n_jobs)

    @property
    def _learns_silence(self) -> bool:  # type: ignore[override]
        return bool(self.fit_intercept)

    @property
    def coef_(self) -> Array:
        """Weights of the labels (K × d)."""
        return self._weights.by_label()[: self.n_labels_]

    @property
    def intercept_(self) -> Array:
        """Intercepts of the labels (K,); zeros without `fit_intercept`."""
        return self._weights.constants()[: self.n_labels_]

    def _label_weights(self, label: int) -> tuple[Array, float]:
        return self._weights.of_label(label)
