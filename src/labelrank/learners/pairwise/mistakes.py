"""Pairwise perceptrons for thousands of labels: what was mistaken is kept, not the weights.

With K labels there are K (K - 1) / 2 weight vectors, 8 million for EUR-Lex; but a vector is the sum
of the instances its perceptron erred on, so a bit for each (instance, relevant label, other
label) says the same. See `labelrank.kernels.dual` for the layout.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float32, Float64, Int32, Int64
from labelrank.declared import nested, stored, value
from labelrank.errors import InputError
from labelrank.kernels import dual, dual_learning, quick
from labelrank.kernels.dual import BITS, N_DOCUMENTS, N_ENTRIES
from labelrank.learners.pairwise.mistake_store import GrowingStore, Mistakes
from labelrank.learners.pairwise.scorer import Course, Lesson, PairScorer, within
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows, as_rows

_MOST_ADDENDS = 2.0**64
KERNELS = {"linear": dual.LINEAR, "poly": dual.POLY, "rbf": dual.RBF}


@stored(
    "DualPairScorer",
    1,
    kernel=value(str),
    gamma=value(int, float),
    coef0=value(int, float),
    degree=value(int),
    mistakes=nested("Mistakes"),
)
@dataclass(eq=False, repr=False, kw_only=True)
class DualPairScorer(PairScorer):
    """All pairwise perceptrons in dual form; zero start, perceptron step.

    Given the same rows in the same order it makes the mistakes of the primal form: exactly so
    where the sums of products of the values are exact in float32 (binary or small whole numbers),
    else up to the rounding of the primal's float32 weights. Its own sums are exact.

    Its kernel is "linear", "poly", (gamma x·z + coef0)^degree, or "rbf", exp(-gamma |x - z|²);
    gamma None is 1 / n_features.
    """

    kernel: str = "linear"
    gamma: float | None = None
    coef0: float = 1.0
    degree: int = 2

    def __post_init__(self) -> None:
        if self.gamma is None:
            self.gamma = 1.0 / max(self.n_features, 1)
        self.mistakes = Mistakes.none()
        self.after_loading()

    def after_loading(self) -> None:
        """Check what the kernels trust, and build the indices."""
        if self.kernel not in KERNELS:
            raise InputError(f"got kernel={self.kernel!r}; use one of {sorted(KERNELS)}")
        if reason := self.rule.needs_weights():
            raise InputError(
                f"got {reason}, but the dual representation keeps plain perceptron mistakes; "
                "use the default, or representation='primal'"
            )
        self.mistakes.check(self.n_features, self.width)
        self._store.build_indices(self.n_features, self.width)

    @property
    def mistakes(self) -> Mistakes:
        """All that was learned."""
        return self._store.mistakes()

    @mistakes.setter
    def mistakes(self, mistakes: Mistakes) -> None:
        self._store = GrowingStore(mistakes)

    def course(
        self, X: Rows, Y: sp.csr_array, n_jobs: int | None = None, *, until_no_error: bool = False
    ) -> Course:
        """As in `PairScorer`; instances are learned one after the other."""
        self.check_lesson(X, Y)
        chosen = self.candidates(X, Y)
        rest = -1.0 if chosen is None else math.nan
        grades = dual_learning.Grades(
            np.full(self._padded, rest), np.zeros(self._padded, np.uint8),
            np.empty((X.n_rows, 0), np.int32) if chosen is None else chosen, rest,
        )  # fmt: skip
        where = np.full(X.n_rows, -1, np.int64)  # each row's document, so that passes share it
        return partial(self._learn_pass, X, as_rows(Y, np.float64), where, grades)

    def candidates(self, X: Rows, Y: sp.csr_array) -> Int32 | None:
        """The irrelevant labels (n, k) that take part in the duels of each row; None: all do."""
        return None

    def _learn_pass(
        self, X: Rows, Y: Rows, where: Int64, grades: dual_learning.Grades, order: Int64
    ) -> Lesson:
        order, store, at = within("order", order, X.n_rows), self._store, 0
        lengths = np.diff(Y.indptr)
        store.reserve(len(order), len(X.indices), int(lengths[order].sum()) + len(order))
        before = store.used[-2:].copy()
        margin = math.nan if self.rule.margin is None else self.rule.margin
        training = dual_learning.Training(self.calibrated, self.ordered, margin)
        _, similarity, scratch = self._learned()
        while at < len(order):
            store.extend_indices()
            store.reserve_words(int(lengths.max(initial=0)) + 1)
            at = dual_learning.learn_pass(
                X[:3], Y[:3], order, at, training, where, store.for_kernels, similarity, scratch,
                grades,
            )  # fmt: skip
        return Lesson(*(store.used[-2:] - before).tolist())

    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        out = np.empty((X.n_rows, self.width)), np.empty((X.n_rows, self.width))
        self._over_rows(X, dual.vote, n_jobs, *out)
        return out

    def margins(self, X: Rows) -> Float32:
        rows = np.repeat(np.arange(X.n_rows), self.width)
        margins = self.duels_of(X, rows, np.tile(np.arange(self.width), X.n_rows))
        return margins.reshape(X.n_rows, self.width, self.width)

    def duels_of(self, X: Rows, instances: Int64, labels: Int64) -> Float32:
        """Row `labels[j]` of the margins of instance `instances[j]`; best grouped by instance."""
        self.check_rows(X)
        instances = within("instances", instances, X.n_rows)
        labels = within("labels", labels, self.width)
        out = np.empty((len(instances), self.width), np.float32)
        self._demand([dual.list_duels(X[:3], instances, labels, *self._learned(), out)])
        return out

    def quick_losses(
        self, X: Rows, losses: Int32, evaluations: Int64, n_jobs: int | None = None
    ) -> None:
        """Quick voting row by row: the similarities of a row are computed once."""
        self._over_rows(X, quick.quick_dual, n_jobs, losses, evaluations)

    def weights(self, u: int, v: int) -> Float32:
        """The weight vector (d,) of u over v: twice the sum of the instances that erred on it."""
        if self.kernel != "linear":
            raise InputError(
                f"got kernel={self.kernel!r}, whose perceptrons have no weight vector; "
                "use kernel='linear'"
            )
        within("labels", [u, v], self.width)
        used = self._store.used
        counts = np.zeros(used[N_DOCUMENTS], np.int64)
        n_words = -(-self.width // BITS)
        dual.count_mistakes(u, v, self._store.entries, used[N_ENTRIES], n_words, counts)
        return np.asarray(2.0 * counts @ self.mistakes.documents(self.n_features), np.float32)

    def widened(self, n_labels: int) -> Self:
        wide, names = replace(self, n_labels=n_labels), np.arange(self.width)
        if self.calibrated:
            names[-1] = n_labels
        wide.mistakes = self.mistakes.renamed(names, wide.width)
        wide.after_loading()
        return wide

    @property
    def n_bytes(self) -> int:
        """Memory held by what was learned, the indices included."""
        return self._store.n_bytes

    @property
    def _padded(self) -> int:
        return -(-self.width // BITS) * BITS

    def _over_rows(self, X: Rows, kernel: Any, n_jobs: int | None, *rest: Array) -> None:
        """Call kernel(X, first, last, store, similarity, scratch, *rest) for spans of rows."""
        self.check_rows(X)

        def job(first: int, last: int) -> bool:
            return bool(kernel(X[:3], first, last, *self._learned(), *rest))

        spans = row_chunks(X.n_rows, n_jobs, least=8)
        self._demand(run_jobs([partial(job, *span) for span in spans], n_jobs))

    def _learned(self) -> tuple[dual.Store, dual.Similarity, dual.Scratch]:
        """What the kernels read, and working memory for one thread."""
        room = len(self._store.documents.norms)
        scratch = dual.Scratch(
            np.zeros(self.n_features), np.empty(room), np.empty(room, np.int64),
            np.empty(self._padded, np.int64),
        )  # fmt: skip
        gamma, degree = float(self.gamma or 0.0), int(self.degree)
        similarity = dual.Similarity(KERNELS[self.kernel], gamma, float(self.coef0), degree)
        return self._store.for_kernels, similarity, scratch

    def check_lesson(self, X: Rows, Y: sp.csr_array) -> None:
        """As in `PairScorer`, and all sums of kernel values stay finite, by Cauchy and Schwarz."""
        super().check_lesson(X, Y)
        longest = float(np.abs(X.data).max(initial=0.0)) ** 2 * np.diff(X.indptr).max(initial=0)
        bound = np.float64(max(longest, self._store.longest))
        with np.errstate(over="ignore"):
            if self.kernel == "poly":
                bound = (abs(self.gamma or 0.0) * bound + abs(self.coef0)) ** self.degree
            self._demand([bool(np.isfinite(bound * _MOST_ADDENDS))])

    def _demand(self, is_finite: list[bool]) -> None:
        if not all(is_finite):
            raise InputError(
                f"the values of kernel={self.kernel!r} exceed what a float can hold; "
                "scale the features, or choose a smaller gamma or degree"
            )
