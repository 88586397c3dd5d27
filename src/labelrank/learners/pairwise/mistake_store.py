"""Memory of the dual representation: documents, mistakes, and the two indices that grow with them.

Arrays have room to spare and grow by half, so that learning in small pieces costs no more than
learning at once. The indices (features to documents, losers to mistakes) follow in blocks; what
is saved is the rest, as plain arrays.
"""

import itertools
import weakref

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import ModelFileError
from labelrank.kernels import dual, dual_learning
from labelrank.kernels.dual import BITS, BLOCK, Documents, Entries, Index, Inverted
from labelrank.kernels.dual_learning import MOST_VISITS, N_DOCUMENTS, N_ENTRIES, N_WORDS
from labelrank.rows import Rows

SAVED = {
    "document_indptr": np.int64,
    "document_indices": np.int32,
    "document_data": np.float32,
    "document_visits": np.int32,
    "entry_document": np.int32,
    "entry_label": np.int32,
    "entry_start": np.int64,
    "words": np.uint32,
}


class DualStore:
    """What `width` labels (Θ counted) have learned from rows of `n_features` columns.

    `saved` are the arrays of `state`, to go on from; None starts empty.
    """

    def __init__(self, n_features: int, width: int, saved: dict[str, Array] | None = None) -> None:
        self.n_features, self.width = n_features, width
        arrays = saved or {
            name: np.zeros(int(name in ("document_indptr", "entry_start")), dtype)
            for name, dtype in SAVED.items()
        }
        indptr, indices, data, visits, document, label, start, words = (
            np.array(arrays[name], dtype) for name, dtype in SAVED.items()
        )
        self._check(indptr, indices, data, visits, document, label, start, words)
        self.documents = Documents(indptr, indices, data, _norms(indptr, data), visits)
        self.entries = Entries(document, label, start, words)
        self.used = np.zeros(6, np.int64)
        self.used[[N_DOCUMENTS, N_ENTRIES, N_WORDS]] = len(visits), len(label), len(words)
        self.used[MOST_VISITS] = visits.max(initial=0)
        self._rows: tuple[weakref.ref[Array], Array] | None = None
        shape = (width + 1, 0)
        self.blocks = Index(np.empty(shape, np.int32), np.empty(shape, np.int64),
                            np.empty(0, np.uint16), 0)  # fmt: skip
        self.invert()
        self.index()

    def _check(self, *arrays: Array) -> None:
        """Kernels trust these arrays, and a model file may have been made to mislead them."""
        indptr, indices, data, visits, document, label, start, words = arrays
        is_sound = (
            all(array.ndim == 1 for array in arrays)
            and _points_to(indptr, len(visits), indices)
            and _points_to(start, len(label), words)
            and len(data) == len(indices)
            and len(document) == len(label)
            and _within(indices, self.n_features)
            and _within(document, len(visits))
            and _within(label, self.width)
            and dual_learning.are_losers(start, words, self.n_words, self.width)
        )
        if not is_sound:
            raise ModelFileError(
                "the mistakes of a dual representation do not fit together; the file is damaged "
                "or was altered: save the model again"
            )

    def state(self) -> dict[str, Array]:
        """The arrays that say it all (views, not copies)."""
        n, m = self.used[N_DOCUMENTS], self.used[N_ENTRIES]
        documents, entries = self.documents, self.entries
        values = documents.indptr[n]
        arrays = (
            documents.indptr[: n + 1], documents.indices[:values], documents.data[:values],
            documents.visits[:n], entries.document[:m], entries.label[:m],
            entries.start[: m + 1], entries.words[: self.used[N_WORDS]],
        )  # fmt: skip
        return dict(zip(SAVED, arrays, strict=True))

    @property
    def arrays(self) -> tuple[Documents, Inverted, Entries, Index]:
        """What the kernels read."""
        return self.documents, self.inverted, self.entries, self.blocks

    @property
    def n_words(self) -> int:
        """Length of a mask."""
        return -(-self.width // BITS)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Documents, entries, and the most updates one pair can have from one document."""
        return int(self.used[N_DOCUMENTS]), int(self.used[N_ENTRIES]), int(self.used[MOST_VISITS])

    @property
    def n_recent(self) -> int:
        """Documents searched directly before the inverted index is made anew."""
        return max(BLOCK, self.inverted.n_documents // 32)

    @property
    def n_bytes(self) -> int:
        """Memory in use."""
        arrays = (*self.state().values(), *self.inverted[:3], *self.blocks[:3])
        return sum(array.nbytes for array in arrays)

    def documents_of(self, X: Rows) -> npt.NDArray[np.int64]:
        """Where the rows of X are stored (-1: not yet): a later pass over X finds them again."""
        if self._rows is None or self._rows[0]() is not X.indptr:
            self._rows = weakref.ref(X.indptr), np.full(X.n_rows, -1, np.int64)
        return self._rows[1]

    def reserve(self, n_rows: int, n_values: int, n_entries: int) -> None:
        """Room for so many further documents, their values, and entries."""
        n, m = int(self.used[N_DOCUMENTS]), int(self.used[N_ENTRIES])
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
        more = (BLOCK + n_better) * self.n_words
        words = _room(self.entries.words, int(self.used[N_WORDS]), more)
        self.entries = self.entries._replace(words=words)

    def invert(self) -> None:
        """The inverted index over all documents."""
        n = int(self.used[N_DOCUMENTS])
        columns = self.matrix().tocsc()
        self.inverted = Inverted(
            columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data, n
        )

    def matrix(self) -> sp.csr_array:
        """The documents."""
        indptr, indices, data = tuple(self.state().values())[:3]
        return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, self.n_features))

    def index(self) -> None:
        """Bring the indices up to date: whole blocks of entries, and documents if they are due."""
        if self.used[N_DOCUMENTS] >= self.inverted.n_documents + self.n_recent:
            self.invert()
        n_blocks = int(self.used[N_ENTRIES]) // BLOCK
        while self.blocks.n_blocks < n_blocks:
            self._index_block()

    def _index_block(self) -> None:
        first, start, offset, block = self.blocks
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
        self.blocks = Index(first, start, offset, block + 1)

    def widened(self, width: int, names: npt.NDArray[np.int64]) -> "DualStore":
        """The same mistakes among `width` labels, label v being called names[v]."""
        state = self.state()
        wide = DualStore(self.n_features, width)
        start = np.zeros_like(state["entry_start"])
        words = np.empty(len(state["entry_label"]) * wide.n_words, np.uint32)
        dual_learning.rewrite_losers(
            state["entry_start"], state["words"], self.n_words, names, start, words, width
        )
        label = names[state["entry_label"]]
        changed = {"entry_start": start, "words": words[: start[-1]], "entry_label": label}
        return DualStore(self.n_features, width, state | changed)


def _points_to(pointers: Array, n_rows: int, values: Array) -> bool:
    return (
        len(pointers) == n_rows + 1
        and pointers[0] == 0
        and pointers[-1] == len(values)
        and bool((np.diff(pointers) >= 0).all())
    )


def _within(numbers: Array, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= 0 and numbers.max() < end)


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


def _norms(indptr: Array, data: Array) -> Array:
    return np.array([dual.squared_norm(data[a:b]) for a, b in itertools.pairwise(indptr)])
