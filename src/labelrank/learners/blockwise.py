"""Rankings and sets of thousands of labels without an n × K array of scores."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from labelrank import decoding
from labelrank.learners.base import LabelRanker

Array = npt.NDArray[Any]

_SCORES_AT_ONCE = 1 << 24


class BlockwiseRanker(LabelRanker):
    """`rank(X, top)` and `predict` go through blocks of instances; answers are the same."""

    def rank(self, X: Any, top: int | None = None) -> Array:
        """Label indices (columns of Y), best first; `top` keeps only the first ones."""
        if top is None or top < 1:
            return super().rank(X, top)
        check_is_fitted(self)
        return self._top(self._check_X(X, reset=False), min(top, self.n_labels_))

    def predict(self, X: Any) -> Any:
        """The relevant labels: a 0/1 matrix, or the top-ranked class after a class vector."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        if self._one_class:
            return self.classes_[self._top(X, 1)[:, 0]]
        blocks = [decoding.indicator(block, sparse=True) for block in self._sets(X)]
        members = sp.csr_array(sp.vstack(blocks, format="csr"))
        return decoding.indicator(
            members if self._sparse_output else members.toarray(),
            sparse=self._sparse_output,
            dtype=self._output_dtype,
        )

    def _sets(self, X: Any) -> Iterator[Any]:
        by_size = not self._calibrated and self.threshold == "cardinality"
        size = min(round(self.cardinality_), self.n_labels_) if by_size else 0
        if not by_size or size < 1:
            for block in self._blocks(X):
                yield self._members(block, self._scores(block))
            return
        labels = self._top(X, size)
        ends = np.arange(0, labels.size + 1, size)
        ones = np.ones(labels.size, bool)
        yield sp.csr_array((ones, labels.ravel(), ends), shape=(len(labels), self.n_labels_))

    def _top(self, X: Any, top: int) -> Array:
        """The first `top` labels of checked instances."""
        return np.vstack([decoding.rank(self._scores(block), top) for block in self._blocks(X)])

    def _blocks(self, X: Any) -> Iterator[Any]:
        rows = max(1, _SCORES_AT_ONCE // self.n_labels_)
        for first in range(0, X.shape[0], rows):
            yield X[first : first + rows]
