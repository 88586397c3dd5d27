"""What criteria of labels work on: the instances ranked for each label, with their weights."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.kernels.ranking import weight_not_below
from labelrank.metrics._common import check_pair, check_weights, in_threads, refuse_nan
from labelrank.resources import blocks

ROWS_AT_ONCE = 1 << 14


class Sample(NamedTuple):
    """Scores in rising order with their weights."""

    scores: Array
    weights: Array

    @property
    def weight(self) -> float:
        return float(self.weights.sum())


class Problem(NamedTuple):
    """Checked input: Y by column, scores, a weight for every row, and whether all are 1."""

    Y: sp.csc_array
    scores: Array
    weights: Array
    even: bool

    @classmethod
    def of(cls, Y: Any, scores: Any, sample_weight: Any = None) -> "Problem":
        Y, scores = check_pair(Y, scores)
        for rows in blocks(len(scores), ROWS_AT_ONCE):
            bad = np.isnan(scores[rows]).any(axis=1)
            if bad.any():
                refuse_nan(rows.start + int(bad.argmax()))
        weights = check_weights(sample_weight, len(scores))
        given = np.ones(len(scores)) if weights is None else weights
        return cls(Y.tocsc(), scores, given, weights is None)

    def sample(self, scores: Array, weights: Array) -> Sample:
        """Some of the scores in rising order; equal weights need not be moved."""
        if self.even:
            return Sample(np.sort(scores), weights)
        order = np.argsort(scores, kind="stable")
        return Sample(scores[order], weights[order])

    def column(self, k: int) -> tuple[Sample, Sample]:
        """The relevant and the irrelevant instances of label k."""
        span = slice(self.Y.indptr[k], self.Y.indptr[k + 1])
        stored = self.Y.indices[span]
        irrelevant = np.ones(len(self.scores), dtype=bool)
        irrelevant[stored] = False
        column, relevant = self.scores[:, k], stored[self.Y.data[span] > 0]
        return (
            self.sample(column[relevant], self.weights[relevant]),
            self.sample(column[irrelevant], self.weights[irrelevant]),
        )

    def entries(self, chosen: Array) -> tuple[Array, Array]:
        """Scores and weights of the stored entries of Y picked by `chosen`, over all labels."""
        columns = np.repeat(np.arange(self.Y.shape[1]), np.diff(self.Y.indptr))[chosen]
        rows = self.Y.indices[chosen]
        return self.scores[rows, columns], self.weights[rows]

    def relevant(self) -> Sample:
        return self.sample(*self.entries(self.Y.data > 0))

    def unknown(self) -> Sample:
        return self.sample(*self.entries(np.isnan(self.Y.data)))

    def blocks(self) -> Iterator["Problem"]:
        """The labels in blocks whose scores are in memory: here all of them."""
        yield self

    def not_below(self, value: Any) -> tuple[float, float]:
        """Weight of all entries that score at least the value, and of those that score more."""

        def count(rows: slice) -> tuple[float, float]:
            return weight_not_below(self.scores[rows], self.weights[rows], value)

        parts = in_threads(count, blocks(len(self.scores), ROWS_AT_ONCE), self.scores.size)
        at_least, above = np.array(parts).sum(axis=0)
        return at_least, above
