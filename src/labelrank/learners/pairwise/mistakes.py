"""Pairwise perceptrons for thousands of labels: what was mistaken is kept, not the weights.

With K labels there are K (K - 1) / 2 weight vectors, 8 million for EUR-Lex; but a vector is the sum
of the instances its perceptron erred on, so a bit for each (instance, relevant label, other
label) says the same. See `labelrank.kernels.dual` for the layout.
"""

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels import dual, dual_learning, quick
from labelrank.learners.pairwise.mistake_store import SAVED, DualStore
from labelrank.learners.pairwise.scorer import Float32, Float64, Lesson, Rule
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows, as_rows

KERNELS = {"linear": dual.LINEAR, "poly": dual.POLY, "rbf": dual.RBF}


class DualPairScorer:
    """All pairwise perceptrons in dual form (a `PairScorer`); zero start, perceptron step.

    Given the same rows in the same order it makes the mistakes of the primal form: exactly so
    where the sums of products of the values are exact in float32 (binary or small whole numbers),
    else up to the rounding of the primal's float32 weights. Its own sums are exact.

    Parameters
    ----------
    n_features, n_labels : int
    calibrated, ordered : bool
    rule : Rule
    kernel : {"linear", "poly", "rbf"}
    gamma : float or None
        Of "poly" and "rbf"; None is 1 / n_features.
    coef0, degree : of "poly", (gamma x·z + coef0)^degree

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from labelrank.rows import as_rows
    >>> X, Y = as_rows(np.eye(3)), sp.csr_array(np.eye(3))
    >>> scorer = DualPairScorer(3, 3, calibrated=False, ordered=False)
    >>> scorer.learn(X, Y, np.arange(3))
    Lesson(trained=6, mistakes=3)
    >>> scorer.votes(X)[0].argmax(axis=1)
    array([0, 1, 2])
    """

    def __init__(
        self,
        n_features: int,
        n_labels: int,
        *,
        calibrated: bool,
        ordered: bool,
        rule: Rule = Rule(),  # noqa: B008 - immutable
        kernel: str = "linear",
        gamma: float | None = None,
        coef0: float = 1.0,
        degree: int = 2,
    ) -> None:
        check_rule(rule, kernel)
        self.n_features, self.n_labels = n_features, n_labels
        self.calibrated, self.ordered, self.margin = calibrated, ordered, rule.margin
        self.kernel, self.coef0, self.degree = kernel, coef0, degree
        self.gamma = 1.0 / max(n_features, 1) if gamma is None else gamma
        self._store = DualStore(n_features, self._width)

    def learn(
        self,
        X: Rows,
        Y: sp.csr_array,
        order: npt.NDArray[np.int64],
        n_jobs: int | None = None,
        candidates: npt.NDArray[np.int32] | None = None,
    ) -> Lesson:
        """One pass over the rows named by `order`; instances are learned one after the other.

        `candidates` (n, k): only these irrelevant labels of a row take part in its duels.
        """
        order = np.ascontiguousarray(order, np.int64)
        self._check(X, Y, order)
        store, relevance = self._store, as_rows(Y, np.float64)
        known = store.documents_of(X)
        lengths = np.diff(relevance.indptr)
        store.reserve(len(order), len(X.indices), int(lengths[order].sum()) + len(order))
        before = store.used[-2:].copy()
        grades = self._grades(X, candidates)
        rule = dual_learning.Rule(
            self.calibrated, self.ordered, math.nan if self.margin is None else self.margin
        )
        scratch, at = self._scratch(), 0
        while at < len(order):
            store.index()
            store.reserve_words(int(lengths.max(initial=0)) + 1)
            at = dual_learning.learn_pass(
                X[:3], relevance[:3], order, at, rule, self._similarity, known, store.arrays,
                store.used, store.n_recent, scratch, grades,
            )  # fmt: skip
            self._demand([at >= 0])
        return Lesson(*(store.used[-2:] - before).tolist())

    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        """Won duels and summed margins, both n × K'."""
        self._check(X)
        store = self._store
        out = np.empty((X.n_rows, self._width)), np.empty((X.n_rows, self._width))

        def job(first: int, last: int) -> bool:
            wins = np.empty((self._width, self._padded), np.int64)
            return dual.vote(
                X[:3], first, last, store.arrays, store.sizes, self._similarity,
                self._scratch(), wins, *out,
            )  # fmt: skip

        spans = row_chunks(X.n_rows, n_jobs, least=8)
        self._demand(run_jobs([partial(job, *span) for span in spans], n_jobs))
        return out

    def margins(self, X: Rows) -> Float32:
        """All margins, n × K' × K'."""
        rows = np.repeat(np.arange(X.n_rows), self._width)
        found = self.duels_of(X, rows, np.tile(np.arange(self._width), X.n_rows))
        return found.reshape(X.n_rows, self._width, self._width)

    def duels_of(
        self, X: Rows, instances: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
    ) -> Float32:
        """Row `labels[j]` of the margins of instance `instances[j]`; best grouped by instance."""
        self._check(X)
        instances, labels = (np.ascontiguousarray(a, np.int64) for a in (instances, labels))
        _check_range("instances", instances, X.n_rows)
        _check_range("labels", labels, self._width)
        out = np.empty((len(instances), self._width), np.float32)
        found = dual.list_duels(
            X[:3], instances, labels, self._store.arrays, self._store.sizes, self._similarity,
            self._scratch(), out,
        )  # fmt: skip
        self._demand([found])
        return out

    def votes_among(
        self, X: Rows, candidates: npt.NDArray[np.int32], n_jobs: int | None = None
    ) -> tuple[Float64, Float64]:
        """As `votes`, of the k candidates of each row (and of Θ) in the duels among them.

        A duel with margin 0, for instance one never learned, is won by the candidate named first.
        """
        self._check(X)
        candidates = self._check_candidates(X, candidates)
        if self.calibrated:
            threshold = np.full((X.n_rows, 1), self.n_labels, np.int32)
            candidates = np.hstack((candidates, threshold))
        out = np.empty(candidates.shape), np.empty(candidates.shape)

        def job(first: int, last: int) -> bool:
            return dual.vote_among(
                X[:3], first, last, candidates, self._store.arrays, self._store.sizes,
                self._similarity, self._scratch(), *out,
            )  # fmt: skip

        self._demand(run_jobs([partial(job, *s) for s in row_chunks(X.n_rows, n_jobs)], n_jobs))
        return out

    def quick_losses(
        self,
        X: Rows,
        losses: npt.NDArray[np.int32],
        evaluations: npt.NDArray[np.int64],
        n_jobs: int | None = None,
    ) -> None:
        """Quick voting by rows, into `losses` (n × K') and `evaluations` (n,)."""
        self._check(X)

        def job(first: int, last: int) -> bool:
            return quick.quick_dual(
                X[:3], first, last, self._store.arrays, self._store.sizes, self._similarity,
                self._scratch(), losses, evaluations,
            )  # fmt: skip

        spans = row_chunks(X.n_rows, n_jobs, least=8)
        self._demand(run_jobs([partial(job, *span) for span in spans], n_jobs))

    def weights(self, u: int, v: int) -> Float32:
        """The weight vector (d,) of u over v: twice the sum of the instances that erred on it."""
        if self.kernel != "linear":
            raise InputError(
                f"got kernel={self.kernel!r}, whose perceptrons have no weight vector; "
                "use kernel='linear'"
            )
        _check_range("labels", np.array([u, v]), self._width)
        n_documents, n_entries, _ = self._store.sizes
        mistakes = np.zeros(n_documents, np.int64)
        dual.count_mistakes(u, v, self._store.entries, n_entries, self._store.n_words, mistakes)
        return np.asarray(2.0 * mistakes @ self._store.matrix(), np.float32)

    def widen(self, n_labels: int) -> None:
        """Make room for labels declared later, before Θ."""
        names = np.arange(self._width)
        self.n_labels = n_labels
        if self.calibrated:
            names[-1] = n_labels
        self._store = self._store.widened(self._width, names)

    @property
    def n_bytes(self) -> int:
        """Memory held by what was learned, the indices included."""
        return self._store.n_bytes

    def __getstate__(self) -> dict[str, Any]:
        """Plain arrays, numbers and strings; the indices are made anew from them."""
        named = {name: value for name, value in vars(self).items() if name != "_store"}
        return named | self._store.state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update((name, value) for name, value in state.items() if name not in SAVED)
        self._store = DualStore(self.n_features, self._width, {n: state[n] for n in SAVED})

    __labelrank_state__ = __getstate__
    __labelrank_restore__ = __setstate__

    @property
    def _width(self) -> int:
        return self.n_labels + int(self.calibrated)

    @property
    def _padded(self) -> int:
        return -(-self._width // dual.BITS) * dual.BITS

    @property
    def _similarity(self) -> dual.Similarity:
        return dual.Similarity(
            KERNELS[self.kernel], float(self.gamma), float(self.coef0), int(self.degree)
        )

    def _scratch(self) -> dual.Scratch:
        room = len(self._store.documents.norms)
        return dual.Scratch(
            np.zeros(self.n_features), np.empty(room), np.empty(room, np.int64),
            np.empty(self._padded, np.int64),
        )  # fmt: skip

    def _grades(self, X: Rows, candidates: Array | None) -> dual_learning.Grades:
        if candidates is None:
            chosen, rest = np.empty((X.n_rows, 0), np.int32), -1.0
        else:
            chosen, rest = self._check_candidates(X, candidates), math.nan
        lost = np.zeros(self._padded, np.uint8)
        return dual_learning.Grades(np.full(self._padded, rest), lost, chosen, rest)

    def _check_candidates(self, X: Rows, candidates: Array) -> Array:
        candidates = np.ascontiguousarray(candidates, np.int32)
        if candidates.ndim != 2 or len(candidates) != X.n_rows:
            raise InputError(f"got candidates of shape {candidates.shape}; give {X.n_rows} rows")
        _check_range("candidates", candidates, self.n_labels)
        return candidates

    def _check(self, X: Rows, Y: Any = None, order: Any = None) -> None:
        if X.n_columns != self.n_features:
            raise InputError(
                f"X has {X.n_columns} features but {self.n_features} are expected; "
                "use the features of the first piece"
            )
        if Y is not None and Y.shape != (X.n_rows, self.n_labels):
            raise InputError(
                f"got Y of shape {Y.shape}; give {X.n_rows} rows of {self.n_labels} labels"
            )
        if order is not None:
            _check_range("order", order, X.n_rows)

    def _demand(self, fine: list[bool]) -> None:
        if not all(fine):
            raise InputError(
                f"the values of kernel={self.kernel!r} exceed what a float can hold; "
                "scale the features, or choose a smaller gamma or degree"
            )


def check_rule(rule: Rule, kernel: str) -> None:
    """Refuse what the dual representation cannot hold."""
    if kernel not in KERNELS:
        raise InputError(f"got kernel={kernel!r}; use one of {sorted(KERNELS)}")
    for name, wanted in (("step", "perceptron"), ("averaging", None), ("init", "zeros")):
        got = getattr(rule, name)
        if got != wanted:
            raise InputError(
                f"got {name}={got!r}, but the dual representation keeps plain perceptron mistakes "
                f"({name}={wanted!r}); use that, or representation='primal'"
            )


def _check_range(name: str, numbers: Array, end: int) -> None:
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < end:
        raise InputError(f"got {name} outside 0..{end - 1}; give valid indices")
