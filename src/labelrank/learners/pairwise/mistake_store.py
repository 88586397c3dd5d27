"""Memory of the dual representation: mistakes as plain arrays, and a store in which they grow.

`Mistakes` says it all and is what a model file keeps. `GrowingStore` holds the same with room to
spare and with two indices (features to documents, losers to mistakes), which follow in blocks.
"""

import itertools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float32, Int32, Int64
from labelrank.declared import array, stored
from labelrank.kernels import dual_learning
from labelrank.kernels.dual import (
    BITS,
    BLOCK,
    MOST_VISITS,
    N_DOCUMENTS,
    N_ENTRIES,
    N_WORDS,
    Documents,
    Entries,
    Index,
    Inverted,
    Store,
    squared_norm,
)


@stored(
    "Mistakes",
    1,
    document_indptr=array("i8", "documents+1", points_into="document_indices"),
    document_indices=array("i4", "values"),
    document_data=array("f4", "values"),
    document_visits=array("i4", "documents"),
    entry_document=array("i4", "entries"),
    entry_label=array("i4", "entries"),
    entry_start=array("i8", "entries+1", points_into="words"),
    words=array("u4", "words"),
)
class Mistakes(NamedTuple):
    """What perceptrons erred on: documents, how often each was visited with an error, entries.

    Entry e says that `entry_document[e]` failed to place the label `entry_label[e]` above those
    in words[entry_start[e]:entry_start[e+1]]: a list, or a bit mask (`labelrank.kernels.dual`).
    """

    document_indptr: Int64
    document_indices: Int32
    document_data: Float32
    document_visits: Int32
    entry_document: Int32
    entry_label: Int32
    entry_start: Int64
    words: Array

    @classmethod
    def none(cls) -> "Mistakes":
        dtypes = (np.int64, np.int32, np.float32, np.int32, np.int32, np.int32, np.int64, np.uint32)
        pointers = ("document_indptr", "entry_start")
        return cls(*map(np.zeros, (int(name in pointers) for name in cls._fields), dtypes))

    def check(self, n_features: int, width: int) -> None:
        """Raise ValueError for what the dtypes and shapes do not say but kernels trust."""
        limits = (
            (self.document_indices, n_features),
            (self.entry_document, len(self.document_visits)),
            (self.entry_label, width),
        )
        is_sound = (
            all(len(a) == 0 or (a.min() >= 0 and a.max() < end) for a, end in limits)
            and (self.document_visits > 0).all()
            and dual_learning.are_losers(self.entry_start, self.words, -(-width // BITS), width)
        )
        if not is_sound:
            raise ValueError("the mistakes of a dual representation do not fit together")

    def documents(self, n_features: int) -> sp.csr_array:
        shape = (len(self.document_visits), n_features)
        return sp.csr_array(
            (self.document_data, self.document_indices, self.document_indptr), shape=shape
        )

    def renamed(self, names: Int64, width: int) -> "Mistakes":
        """The same among `width` labels, label v being called names[v]."""
        start, n_words = np.zeros_like(self.entry_start), -(-width // BITS)
        words = np.empty(len(self.entry_label) * n_words, np.uint32)
        before = -(-len(names) // BITS)
        dual_learning.rewrite_losers(
            self.entry_start, self.words, before, names, start, words, width
        )
        label = names[self.entry_label].astype(np.int32)
        return self._replace(entry_label=label, entry_start=start, words=words[: start[-1]])


class GrowingStore:
    """Mistakes in arrays with room to spare, and the two indices that grow with them.

    Arrays grow by half, so that learning in small pieces costs no more than learning at once.
    """

    def __init__(self, mistakes: Mistakes) -> None:
        indptr, indices, data, visits, *entries = (np.array(part) for part in mistakes)
        self.documents = Documents(indptr, indices, data, np.zeros(0), visits)
        self.entries = Entries(*entries)
        self.used = np.zeros(6, np.int64)
        sizes = len(visits), len(self.entries.label), len(self.entries.words)
        self.used[[N_DOCUMENTS, N_ENTRIES, N_WORDS]] = sizes

    def mistakes(self) -> Mistakes:
        """What is in use of the arrays (views)."""
        n, m, n_words = self.used[[N_DOCUMENTS, N_ENTRIES, N_WORDS]]
        documents, entries = self.documents, self.entries
        values = documents.indptr[n]
        return Mistakes(
            documents.indptr[: n + 1], documents.indices[:values], documents.data[:values],
            documents.visits[:n], entries.document[:m], entries.label[:m],
            entries.start[: m + 1], entries.words[:n_words],
        )  # fmt: skip

    @property
    def for_kernels(self) -> Store:
        return Store(self.documents, self.inverted, self.entries, self.index, self.used)

    @property
    def longest(self) -> float:
        """The largest squared norm of a document."""
        return float(self.documents.norms[: self.used[N_DOCUMENTS]].max(initial=0.0))

    @property
    def n_bytes(self) -> int:
        arrays = (*self.mistakes(), *self.inverted[:3], *self.index[:3])
        return sum(part.nbytes for part in arrays)

    def build_indices(self, n_features: int, width: int) -> None:
        """From checked mistakes."""
        self.n_features, self.width = n_features, width
        spans = itertools.pairwise(self.documents.indptr)
        norms = np.array([squared_norm(self.documents.data[a:b]) for a, b in spans])
        self.documents = self.documents._replace(norms=norms)
        self.used[MOST_VISITS] = self.documents.visits.max(initial=0)
        self.index = Index(
            np.empty((width + 1, 0), np.int32), np.empty((width + 1, 0), np.int64),
            np.empty(0, np.uint16), 0,
        )  # fmt: skip
        self._invert()
        self.extend_indices()

    def reserve(self, n_rows: int, n_values: int, n_entries: int) -> None:
        """Room for so many further documents, their values, and entries."""
        n, m = self.used[[N_DOCUMENTS, N_ENTRIES]]
        documents, entries = self.documents, self.entries
        values = int(documents.indptr[n])
        self.documents = Documents(
            _room(documents.indptr, n + 1, n_rows),
            _room(documents.indices, values, n_values),
            _room(documents.data, values, n_values),
            _room(documents.norms, n, n_rows),
            _room(documents.visits, n, n_rows),
        )
        self.entries = entries._replace(
            document=_room(entries.document, m, n_entries),
            label=_room(entries.label, m, n_entries),
            start=_room(entries.start, m + 1, n_entries),
        )

    def reserve_words(self, n_better: int) -> None:
        """Room for the losers of a block of entries and one more instance."""
        more = (BLOCK + n_better) * -(-self.width // BITS)
        words = _room(self.entries.words, int(self.used[N_WORDS]), more)
        self.entries = self.entries._replace(words=words)

    def extend_indices(self) -> None:
        """Index whole blocks of entries, and the documents if they are due."""
        if self.used[N_DOCUMENTS] >= self.inverted.n_due:
            self._invert()
        while self.index.n_blocks < self.used[N_ENTRIES] // BLOCK:
            self._index_block()

    def _invert(self) -> None:
        n = int(self.used[N_DOCUMENTS])
        columns = self.mistakes().documents(self.n_features).tocsc()
        self.inverted = Inverted(
            columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data,
            n, n + max(BLOCK, n // 32),
        )  # fmt: skip

    def _index_block(self) -> None:
        first, start, offset, block = self.index
        if block == first.shape[1]:
            first, start = _more_columns(first), _more_columns(start)
        begin, fill = block * BLOCK, np.zeros(self.width + 1, np.int64)
        column = np.empty(self.width + 1, np.int32)
        dual_learning.sort_block(self.entries, begin, column)
        dual_learning.index_losers(self.entries, begin, self.width, fill, offset, True)
        used = int(start[-1, block - 1]) if block else 0
        start[:, block] = used + np.concatenate(([0], np.cumsum(fill[:-1])))
        offset = _room(offset, used, int(fill.sum()))
        dual_learning.index_losers(
            self.entries, begin, self.width, start[:, block].copy(), offset, False
        )
        first[:, block] = column
        self.index = Index(first, start, offset, block + 1)


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
