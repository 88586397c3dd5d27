"""Shortlists for thousands of labels: a cheap ranker proposes, pairwise perceptrons decide.

A duel that never erred is won by the label that the ranker puts first.
"""

import copy
import importlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import normalize

from labelrank import decoding
from labelrank._types import Array, Float64, Int32
from labelrank.declared import cut, nested, sparse, stored, value
from labelrank.errors import InputError
from labelrank.kernels import dual
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import within
from labelrank.learners.pairwise.votes import break_ties, relative_to_threshold
from labelrank.relevance import relevant_part
from labelrank.resources import blocks
from labelrank.rows import Rows

RANKERS = {
    "br": ("perceptron", "BinaryRelevancePerceptron"),
    "centroid": ("pairwise.shortlist", "CentroidRanker"),
    "knn": ("neighbors", "InvertedIndexKNN"),
}
_ROWS_AT_ONCE = 512


def check_shortlist(shortlist: Any) -> None:
    """Raise InputError for anything but (ranker, k)."""
    is_pair = isinstance(shortlist, tuple | list) and len(shortlist) == 2
    if not is_pair or isinstance(shortlist[1], bool) or not isinstance(shortlist[1], int):
        raise InputError(f"got shortlist={shortlist!r}; give (ranker, k), such as ('centroid', 20)")
    ranker, size = shortlist
    if size < 1:
        raise InputError(f"got a shortlist of {size} labels; give at least 1")
    is_name = isinstance(ranker, str)
    if not (ranker in RANKERS if is_name else hasattr(ranker, "decision_function")):
        raise InputError(
            f"got shortlist ranker {ranker!r}; use one of {sorted(RANKERS)}, or give a label ranker"
        )


def make_ranker(ranker: Any, seed: int = 0) -> Any:
    """A fresh ranker by its name, or an unfitted copy of the given one; `seed` if it has none."""
    if isinstance(ranker, str):
        module, name = RANKERS[ranker]
        fresh = getattr(importlib.import_module(f"labelrank.learners.{module}"), name)()
    else:
        fresh = clone(ranker)
    if fresh.get_params(deep=False).get("random_state", seed) is None:
        fresh.set_params(random_state=seed)
    return fresh


@stored("CentroidRanker", 1, sums_=sparse("K", "d"))
@dataclass(kw_only=True, eq=False, repr=False)
class CentroidRanker(IncrementalRanker):
    """`Rocchio` with sparse sums, which with thousands of labels save most memory and time."""

    threshold: Any = cut()

    _calibrated = False
    _learns_silence = False

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self.sums_ = sp.csr_array((self.n_labels_, X.shape[1]))
        self._learn_more(X, Y)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        before = getattr(self, "sums_", sp.csr_array((self.n_labels_, X.shape[1])))
        relevant = relevant_part(Y).astype(bool).astype(np.float64)
        self.sums_ = sp.csr_array(before + relevant.T @ normalize(sp.csr_array(X)))
        self.after_loading()

    def after_loading(self) -> None:
        """Scale the sums to length 1."""
        self.centroids_ = sp.csr_array(normalize(self.sums_).T.astype(np.float32))

    def _widen(self, n_before: int) -> None:
        self.sums_ = self.sums_.copy()
        self.sums_.resize(self.n_labels_, self.sums_.shape[1])
        self.after_loading()

    def _scores(self, X: Any) -> Array:
        return np.asarray((normalize(sp.csr_array(X)) @ self.centroids_).toarray(), np.float64)


@stored("ShortlistScorer", 1, ranker=nested(), size=value(int, least=1))
@dataclass(eq=False, repr=False, kw_only=True)
class ShortlistScorer(DualPairScorer):
    """Pairwise perceptrons in the dual form, of the `size` labels that a ranker proposes."""

    ranker: Any
    size: int

    @property
    def duels_each(self) -> int:
        size = min(self.size, self.n_labels) + int(self.calibrated)
        return size * (size - 1) // 2

    def candidates(self, X: Rows, Y: sp.csr_array) -> Int32:
        """What the ranker proposes; for the first piece, having learned the other half of it."""
        matrix = _matrix(X)
        if not hasattr(self.ranker, "classes_"):
            self.ranker.fit(matrix, Y)
            if X.n_rows < 4:
                return self._proposed(self.ranker, matrix)
            proposed = np.empty((X.n_rows, min(self.size, self.n_labels)), np.int32)
            for half in (0, 1):
                other = clone(self.ranker).fit(matrix[1 - half :: 2], Y[1 - half :: 2])
                proposed[half::2] = self._proposed(other, matrix[half::2])
            return proposed
        if not hasattr(self.ranker, "partial_fit"):
            raise InputError(
                f"got more instances, but the shortlist ranker {type(self.ranker).__name__} "
                "learns only once; use one with partial_fit, or fit again on all"
            )
        proposed = self._proposed(self.ranker, matrix)
        self.ranker.partial_fit(matrix, Y)
        return proposed

    def scores(self, X: Rows, tie_break: str | None, n_jobs: int | None = None) -> Float64:
        """Votes among the proposed labels (relative to Θ); all others below, as the ranker says."""
        parts = []
        for piece in blocks(X.n_rows, _ROWS_AT_ONCE):
            rows = X.slice(piece.start, piece.stop)
            rough = self.ranker.decision_function(_matrix(rows))
            proposed = self._best(rough)
            votes, sums = self.votes_among(rows, proposed, n_jobs)
            decided = votes if tie_break is None else break_ties(votes, sums)
            scores = 0.5 * rough / (1.0 + np.abs(rough)) - (proposed.shape[1] + 2)
            chosen = relative_to_threshold(decided, self.calibrated)
            np.put_along_axis(scores, proposed.astype(np.int64), chosen, axis=1)
            parts.append(scores)
        return np.concatenate(parts) if parts else np.zeros((0, self.n_labels))

    def votes_among(
        self, X: Rows, proposed: Int32, n_jobs: int | None = None
    ) -> tuple[Float64, Float64]:
        """As `votes`, among the proposed labels of each row (and Θ); the first wins a draw."""
        shape = np.shape(proposed)
        if len(shape) != 2 or shape[0] != X.n_rows:
            raise InputError(f"got candidates of shape {shape}; give {X.n_rows} rows")
        labels = within("candidates", proposed, self.n_labels, np.int32)
        if self.calibrated:
            labels = np.hstack((labels, np.full((X.n_rows, 1), self.n_labels, np.int32)))
        out = np.empty(labels.shape), np.empty(labels.shape)
        self._over_rows(X, dual.vote_among, n_jobs, labels, *out)
        return out

    def widened(self, n_labels: int) -> Self:
        if not isinstance(self.ranker, IncrementalRanker):
            raise InputError(
                f"got new labels, which the shortlist ranker {type(self.ranker).__name__} cannot "
                "take; declare them all at the first call"
            )
        wide = super().widened(n_labels)
        wide.ranker = copy.deepcopy(self.ranker)
        wide.ranker.add_labels(np.arange(n_labels))
        return wide

    def _proposed(self, ranker: Any, X: sp.csr_array) -> Int32:
        pieces = blocks(X.shape[0], _ROWS_AT_ONCE)
        parts = [self._best(ranker.decision_function(X[piece])) for piece in pieces]
        return np.concatenate(parts) if parts else np.empty((0, self.size), np.int32)

    def _best(self, rough: Float64) -> Int32:
        return decoding.rank(rough, min(self.size, self.n_labels)).astype(np.int32)


def _matrix(X: Rows) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.n_rows, X.n_columns))
