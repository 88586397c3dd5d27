"""Shortlists for thousands of labels: a cheap ranker proposes, pairwise perceptrons decide.

Only duels of relevant labels with proposed ones are ever learned, and only duels among the
proposed labels (and Θ) evaluated. A duel that never erred, most often because its labels were
never in question together, has no say: there the order of the ranker decides.
"""

import importlib
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from labelrank import decoding
from labelrank.errors import InputError
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.pairwise import votes as voting
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.proposers import spans
from labelrank.learners.pairwise.scorer import Float32, Float64, Lesson
from labelrank.rows import Rows

Candidates = npt.NDArray[np.int32]
RANKERS = {
    "br": ("perceptron", "BinaryRelevancePerceptron"),
    "centroid": ("pairwise.proposers", "CentroidRanker"),
    "knn": ("neighbors.knn", "InvertedIndexKNN"),
}


def check_shortlist(shortlist: Any) -> None:
    """Refuse anything but (ranker, k)."""
    is_pair = isinstance(shortlist, tuple | list) and len(shortlist) == 2
    if not is_pair or isinstance(shortlist[1], bool) or not isinstance(shortlist[1], int):
        raise InputError(f"got shortlist={shortlist!r}; give (ranker, k), such as ('centroid', 20)")
    ranker, size = shortlist
    if size < 1:
        raise InputError(f"got a shortlist of {size} labels; give at least 1")
    if isinstance(ranker, str) and ranker not in RANKERS:
        raise InputError(f"got shortlist ranker {ranker!r}; use one of {sorted(RANKERS)}")
    if not isinstance(ranker, str) and not hasattr(ranker, "decision_function"):
        raise InputError(f"got shortlist ranker {ranker!r}; give a name or a label ranker")


def make_ranker(ranker: Any) -> Any:
    """A fresh ranker by its name, or an unfitted copy of the one given.

    >>> make_ranker("centroid")
    CentroidRanker()
    """
    if not isinstance(ranker, str):
        return clone(ranker)
    module, name = RANKERS[ranker]
    return getattr(importlib.import_module(f"labelrank.learners.{module}"), name)()


class ShortlistScorer:
    """Pairwise perceptrons in the dual form, of the labels a ranker proposes (a `PairScorer`).

    The first piece is proposed for by two rankers, each having learned the other half of it, so
    that what is proposed in training is as good as what will be; later pieces by the ranker as
    it then is, which learns them afterwards.

    Parameters
    ----------
    scorer : DualPairScorer
    ranker : estimator
        Unfitted, see `make_ranker`.
    size : int
        Number of labels proposed.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from labelrank.rows import as_rows
    >>> X, Y = as_rows(np.tile(np.eye(4), (2, 1))), sp.csr_array(np.tile(np.eye(4), (2, 1)))
    >>> pairs = DualPairScorer(4, 4, calibrated=True, ordered=False)
    >>> scorer = ShortlistScorer(pairs, make_ranker("centroid"), 2)
    >>> lesson = scorer.learn(X, Y, np.arange(8))
    >>> scorer.scores(X).argmax(axis=1)
    array([0, 1, 2, 3, 0, 1, 2, 3])
    """

    def __init__(self, scorer: DualPairScorer, ranker: Any, size: int) -> None:
        self.scorer, self.ranker, self.size = scorer, ranker, size
        self._proposed: tuple[weakref.ref[Any], Candidates] | None = None

    @property
    def n_features(self) -> int:
        return self.scorer.n_features

    @property
    def n_labels(self) -> int:
        return self.scorer.n_labels

    @property
    def calibrated(self) -> bool:
        return self.scorer.calibrated

    @property
    def n_bytes(self) -> int:
        """Memory held by the perceptrons."""
        return self.scorer.n_bytes

    def learn(
        self, X: Rows, Y: sp.csr_array, order: npt.NDArray[np.int64], n_jobs: int | None = None
    ) -> Lesson:
        """One pass; the ranker learns the rows of X when it first meets them."""
        if self._proposed is None or self._proposed[0]() is not X.indptr:
            self._proposed = weakref.ref(X.indptr), self._propose_and_learn(_matrix(X), Y)
        return self.scorer.learn(X, Y, order, n_jobs, self._proposed[1])

    def scores(
        self, X: Rows, tie_break: str | None = "margin", n_jobs: int | None = None
    ) -> Float64:
        """Votes among the proposed labels (relative to Θ); all others below, as the ranker says."""
        parts = [self._score_rows(rows, tie_break, n_jobs) for rows in _pieces(X)]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_labels))

    def n_duels(self, n_rows: int) -> int:
        """Duels evaluated for so many instances."""
        size = min(self.size, self.n_labels) + int(self.calibrated)
        return n_rows * size * (size - 1) // 2

    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        """Votes of all labels; pairs never proposed together have margin 0."""
        return self.scorer.votes(X, n_jobs)

    def margins(self, X: Rows) -> Float32:
        return self.scorer.margins(X)

    def duels_of(
        self, X: Rows, instances: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
    ) -> Float32:
        return self.scorer.duels_of(X, instances, labels)

    def weights(self, u: int, v: int) -> Float32:
        return self.scorer.weights(u, v)

    def widen(self, n_labels: int) -> None:
        """Make room for labels declared later, in the ranker too."""
        if not isinstance(self.ranker, IncrementalRanker):
            raise InputError(
                f"got new labels, which the shortlist ranker {type(self.ranker).__name__} cannot "
                "take; declare them all at the first call"
            )
        self.scorer.widen(n_labels)
        self.ranker._welcome(np.arange(n_labels))

    def __labelrank_state__(self) -> dict[str, Any]:
        return {"scorer": self.scorer, "ranker": self.ranker, "size": self.size}

    def __labelrank_restore__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _score_rows(self, X: Rows, tie_break: str | None, n_jobs: int | None) -> Float64:
        rough = self.ranker.decision_function(_matrix(X))
        candidates = decoding.rank(rough, min(self.size, self.n_labels)).astype(np.int32)
        votes, sums = self.scorer.votes_among(X, candidates, n_jobs)
        found = votes if tie_break is None else voting.break_ties(votes, sums)
        scores = 0.5 * rough / (1.0 + np.abs(rough)) - (candidates.shape[1] + 2)
        chosen = voting.relative_to_threshold(found, self.calibrated)
        np.put_along_axis(scores, candidates.astype(np.int64), chosen, axis=1)
        return scores

    def _propose_and_learn(self, X: sp.csr_array, Y: sp.csr_array) -> Candidates:
        if hasattr(self.ranker, "classes_"):
            candidates = self._propose(self.ranker, X)
            if not hasattr(self.ranker, "partial_fit"):
                raise InputError(
                    f"got more instances, but the shortlist ranker {type(self.ranker).__name__} "
                    "learns only once; use one with partial_fit, or fit again on all"
                )
            self.ranker.partial_fit(X, Y)
            return candidates
        self.ranker.fit(X, Y)
        return self._propose_by_halves(X, Y)

    def _propose_by_halves(self, X: sp.csr_array, Y: sp.csr_array) -> Candidates:
        if X.shape[0] < 4:
            return self._propose(self.ranker, X)
        candidates = np.empty((X.shape[0], min(self.size, self.n_labels)), np.int32)
        for half in (0, 1):
            other = clone(self.ranker).fit(X[1 - half :: 2], Y[1 - half :: 2])
            candidates[half::2] = self._propose(other, X[half::2])
        return candidates

    def _propose(self, ranker: Any, X: sp.csr_array) -> Candidates:
        size = min(self.size, self.n_labels)
        parts = [
            decoding.rank(ranker.decision_function(X[first:last]), size)
            for first, last in spans(X.shape[0])
        ]
        return np.concatenate(parts).astype(np.int32) if parts else np.empty((0, size), np.int32)


def _matrix(X: Rows) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.n_rows, X.n_columns))


def _pieces(X: Rows) -> list[Rows]:
    found = []
    for first, last in spans(X.n_rows):
        start, stop = X.indptr[first], X.indptr[last]
        pointers = X.indptr[first : last + 1] - start
        found.append(Rows(pointers, X.indices[start:stop], X.data[start:stop], X.n_columns))
    return found
