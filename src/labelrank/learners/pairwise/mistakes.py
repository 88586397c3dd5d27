"""Pairwise perceptrons for thousands of labels: what was mistaken is kept, not the weights.

A weight vector is the sum of the instances its perceptron erred on, so a bit for each (instance,
relevant label, other label) says the same. See `labelrank.kernels.dual` for the layout.
"""

import copy
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float32, Float64, Int32, Int64
from labelrank.declared import array, nested, stored, value
from labelrank.errors import InputError
from labelrank.kernels import dual, dual_learning
from labelrank.learners.pairwise.scorer import Course, Lesson, PairScorer, within
from labelrank.preferences import Arcs
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows, as_rows

_MOST_ADDENDS = 2.0**64
KERNELS = {"linear": dual.LINEAR, "poly": dual.POLY, "rbf": dual.RBF}


@stored(
    "Mistakes", 1,
    document_indptr=array("i8", "documents+1", points_into="document_indices"),
    document_indices=array("i4", "values"), document_data=array("f4", "values"),
    document_visits=array("i4", "documents"),
    entry_document=array("i4", "entries"), entry_label=array("i4", "entries"),
    entry_start=array("i8", "entries+1", points_into="words"), words=array("u4", "words"),
)  # fmt: skip
class Mistakes(NamedTuple):
    """What perceptrons erred on, as documents and entries; see `labelrank.kernels.dual`."""

    document_indptr: Int64
    document_indices: Int32
    document_data: Float32
    document_visits: Int32
    entry_document: Int32
    entry_label: Int32
    entry_start: Int64
    words: Array

    def check(self, n_features: int, width: int) -> None:
        """Raise ValueError for what the dtypes and shapes do not say but kernels trust."""
        limits = (
            (self.document_indices, n_features),
            (self.entry_document, len(self.document_visits)),
            (self.entry_label, width),
        )
        n_words = -(-width // dual.BITS)
        if not (
            all(len(a) == 0 or (a.min() >= 0 and a.max() < end) for a, end in limits)
            and (self.document_visits > 0).all()
            and dual_learning.are_losers(self.entry_start, self.words, n_words, width)
        ):
            raise ValueError("the mistakes of a dual representation do not fit together")

    def documents(self, n_features: int) -> sp.csr_array:
        parts = self.document_data, self.document_indices, self.document_indptr
        return sp.csr_array(parts, shape=(len(self.document_visits), n_features))

    def renamed(self, names: Int64, width: int) -> "Mistakes":
        """The same among `width` labels, label v being called names[v]."""
        start, n_words = np.zeros_like(self.entry_start), -(-width // dual.BITS)
        words = np.empty(len(self.entry_label) * n_words, np.uint32)
        before = self.entry_start, self.words, -(-len(names) // dual.BITS)
        dual_learning.rewrite_losers(*before, names, start, words, width)
        label = names[self.entry_label].astype(np.int32)
        return self._replace(entry_label=label, entry_start=start, words=words[: start[-1]])


class GrowingStore:
    """Mistakes in arrays that grow by half, and the two indices that grow with them."""

    def __init__(self, mistakes: Mistakes) -> None:
        indptr, indices, data, visits, *entries = (np.array(part) for part in mistakes)
        self.documents = dual.Documents(indptr, indices, data, np.zeros(0), visits)
        self.entries = dual.Entries(*entries)
        self.used = np.zeros(6, np.int64)
        sizes = len(visits), len(self.entries.label), len(self.entries.words)
        self.used[[dual.N_DOCUMENTS, dual.N_ENTRIES, dual.N_WORDS]] = sizes

    def mistakes(self) -> Mistakes:
        """What is in use of the arrays (views)."""
        n, m, n_words = self.used[[dual.N_DOCUMENTS, dual.N_ENTRIES, dual.N_WORDS]]
        documents, entries = self.documents, self.entries
        values = documents.indptr[n]
        return Mistakes(
            documents.indptr[: n + 1], documents.indices[:values], documents.data[:values],
            documents.visits[:n], entries.document[:m], entries.label[:m],
            entries.start[: m + 1], entries.words[:n_words],
        )  # fmt: skip

    @property
    def for_kernels(self) -> dual.Store:
        return dual.Store(self.documents, self.inverted, self.entries, self.index, self.used)

    def build_indices(self, n_features: int, width: int) -> None:
        self.n_features, self.width = n_features, width
        spans = itertools.pairwise(self.documents.indptr)
        norms = np.array([dual.squared_norm(self.documents.data[a:b]) for a, b in spans])
        self.documents = self.documents._replace(norms=norms)
        self.used[dual.MOST_VISITS] = self.documents.visits.max(initial=0)
        self.index = dual.Index(
            np.empty((width + 1, 0), np.int32), np.empty((width + 1, 0), np.int64),
            np.empty(0, np.uint16), 0,
        )  # fmt: skip
        self._invert()
        self.extend_indices()

    def reserve(self, n_rows: int, n_values: int, n_entries: int) -> None:
        n, m = self.used[[dual.N_DOCUMENTS, dual.N_ENTRIES]]
        indptr, indices, data, norms, visits = self.documents
        values = int(indptr[n])
        self.documents = dual.Documents(
            _room(indptr, n + 1, n_rows), _room(indices, values, n_values),
            _room(data, values, n_values), _room(norms, n, n_rows), _room(visits, n, n_rows),
        )  # fmt: skip
        document, label, start, words = self.entries
        self.entries = dual.Entries(
            _room(document, m, n_entries), _room(label, m, n_entries),
            _room(start, m + 1, n_entries), words,
        )  # fmt: skip

    def reserve_words(self, n_better: int) -> None:
        """Room for the losers of a block of entries and one more instance."""
        more = (dual.BLOCK + n_better) * -(-self.width // dual.BITS)
        words = _room(self.entries.words, int(self.used[dual.N_WORDS]), more)
        self.entries = self.entries._replace(words=words)

    def extend_indices(self) -> None:
        """Index whole blocks of entries, and the documents if they are due."""
        if self.used[dual.N_DOCUMENTS] >= self.inverted.n_due:
            self._invert()
        while self.index.n_blocks < self.used[dual.N_ENTRIES] // dual.BLOCK:
            self._index_block()

    def _invert(self) -> None:
        n = int(self.used[dual.N_DOCUMENTS])
        columns = self.mistakes().documents(self.n_features).tocsc()
        self.inverted = dual.Inverted(
            columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data,
            n, n + max(dual.BLOCK, n // 32),
        )  # fmt: skip

    def _index_block(self) -> None:
        first, start, offset, block = self.index
        if block == first.shape[1]:
            first, start = _more_columns(first), _more_columns(start)
        begin, fill = block * dual.BLOCK, np.zeros(self.width + 1, np.int64)
        column = np.empty(self.width + 1, np.int32)
        dual_learning.sort_block(self.entries, begin, column)
        dual_learning.index_losers(self.entries, begin, self.width, fill, offset, True)
        used = int(start[-1, block - 1]) if block else 0
        start[:, block] = used + np.concatenate(([0], np.cumsum(fill[:-1])))
        offset = _room(offset, used, int(fill.sum()))
        fill = start[:, block].copy()
        dual_learning.index_losers(self.entries, begin, self.width, fill, offset, False)
        first[:, block] = column
        self.index = dual.Index(first, start, offset, block + 1)


@stored(
    "DualPairScorer", 1, kernel=value(str), gamma=value(int, float), coef0=value(int, float),
    degree=value(int), mistakes=nested("Mistakes"),
)  # fmt: skip
@dataclass(eq=False, repr=False, kw_only=True)
class DualPairScorer(PairScorer):
    """All pairwise perceptrons in dual form; the mistakes of the primal form but for rounding."""

    kernel: str = "linear"
    gamma: float | None = None
    coef0: float = 1.0
    degree: int = 2

    def __post_init__(self) -> None:
        if self.gamma is None:
            self.gamma = 1.0 / max(self.n_features, 1)
        integers, numbers = np.zeros(0, np.int32), np.zeros(0, np.float32)
        self.mistakes = Mistakes(
            np.zeros(1, np.int64), integers, numbers, integers, integers, integers,
            np.zeros(1, np.int64), np.zeros(0, np.uint32),
        )  # fmt: skip
        self.after_loading()

    def after_loading(self) -> None:
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

    def learn_arcs(
        self, rows: Callable[[Any], Rows], X: sp.csr_array, arcs: Arcs, n_jobs: int | None = None
    ) -> Lesson:
        """All at once: Θ has a place among the labels, and is one of them here."""
        instances, Y = arcs.as_examples(X)
        plain = copy.copy(self)
        plain.n_labels, plain.calibrated = self.width, False
        learn = plain.course(rows(instances), Y[:, : self.width], n_jobs)
        return learn(np.arange(instances.shape[0]))

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
        self._over_rows(X, dual.quick_dual, n_jobs, losses, evaluations)

    def weights(self, u: int, v: int) -> Float32:
        """The weight vector (d,) of u over v: twice the sum of the instances that erred on it."""
        if self.kernel != "linear":
            raise InputError(
                f"got kernel={self.kernel!r}, whose perceptrons have no weight vector; "
                "use kernel='linear'"
            )
        within("labels", [u, v], self.width)
        used = self._store.used
        counts = np.zeros(used[dual.N_DOCUMENTS], np.int64)
        n_words = -(-self.width // dual.BITS)
        dual.count_mistakes(u, v, self._store.entries, used[dual.N_ENTRIES], n_words, counts)
        return np.asarray(2.0 * counts @ self.mistakes.documents(self.n_features), np.float32)

    def widened(self, n_labels: int) -> Self:
        wide, names = replace(self, n_labels=n_labels), np.arange(self.width)
        if self.calibrated:
            names[-1] = n_labels
        wide.mistakes = self.mistakes.renamed(names, wide.width)
        wide.after_loading()
        return wide

    @property
    def _padded(self) -> int:
        return -(-self.width // dual.BITS) * dual.BITS

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
        norms = self._store.documents.norms[: self._store.used[dual.N_DOCUMENTS]]
        bound = np.float64(max(longest, float(norms.max(initial=0.0))))
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


def _room(array: Array, used: int, more: int) -> Array:
    """`array`, or a larger copy of its used part with place for `more`."""
    if used + more <= len(array):
        return array
    larger = np.empty(max(used + more, used + used // 2), array.dtype)
    larger[:used] = array[:used]
    return larger


def _more_columns(array: Array) -> Array:
    n_rows, used = array.shape
    wider = np.empty((n_rows, max(16, used + used // 2)), array.dtype)
    wider[:, :used] = array
    return wider
