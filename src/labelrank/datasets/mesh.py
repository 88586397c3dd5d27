"""Any number of PubMed-like documents with subject headings, made from a seed, never stored."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.datasets.opening import check_choice
from labelrank.errors import InputError
from labelrank.kernels import documents
from labelrank.rows import of_lengths

ROOTS, CHILDREN = 16, 6


class MeshStream:
    """A stream of bag-of-words documents and the headings that caused their words.

    Document i is a function of the seed and i alone: batches of any size give the same
    documents, any part of the stream can be made by itself, and nothing is kept.

    Words follow Zipf's law; headings form a hierarchy (`parents`), follow Zipf's law too, and
    come together by theme: parent, siblings, fixed companions. About 55% of the words of a
    document come from the vocabularies of its headings and of their parents.

    Parameters
    ----------
    n_labels : int, default 28,333
    n_features : int, default 100,000
    weighting : {"unit", "bag"}
        1 + log(count) in rows of length 1, or plain counts.
    random_state : int, default 0

    Examples
    --------
    >>> from labelrank.datasets import MeshStream
    >>> stream = MeshStream(random_state=1)
    >>> X, Y = next(stream.batches(1000, batch_size=500))
    >>> X.shape, Y.shape, 11 < Y.nnz / 500 < 13
    ((500, 100000), (500, 28333), True)
    """

    def __init__(
        self, n_labels: int = 28_333, n_features: int = 100_000, *,
        weighting: str = "unit", random_state: int = 0,
    ) -> None:  # fmt: skip
        if n_labels < 32 or n_features < 100:
            raise InputError(
                f"got {n_labels} labels and {n_features} features; give at least 32 and 100"
            )
        check_choice("weighting", weighting, ("unit", "bag"))
        if not 0 <= random_state < 2**31:
            raise InputError(f"got random_state={random_state}; give an integer from 0 to 2**31-1")
        self.n_labels = n_labels
        self.n_features = n_features
        self.weighting = weighting
        self.random_state = int(random_state)
        self._names = np.random.default_rng(random_state).permutation(n_labels).astype(np.int32)

    @property
    def parents(self) -> Array:
        """The parent of each label, -1 for a root."""
        labels = np.arange(self.n_labels)
        return np.where(labels < ROOTS, -1, (labels - ROOTS) // CHILDREN)

    def batches(
        self, n_documents: int, *, batch_size: int = 10_000, start: int = 0
    ) -> Iterator[tuple[sp.csr_array, sp.csr_array]]:
        """(X, Y) of documents start, start + 1, ..., `batch_size` at a time."""
        for first, size in _spans(n_documents, batch_size, start):
            labels, n_labels = self._labels(first, size)
            yield self._words(first, labels, n_labels), self._relevance(labels, n_labels)

    def label_batches(
        self, n_documents: int, *, batch_size: int = 100_000, start: int = 0
    ) -> Iterator[sp.csr_array]:
        """Y alone, without writing the words: what `fit_codes` takes."""
        for first, size in _spans(n_documents, batch_size, start):
            yield self._relevance(*self._labels(first, size))

    def _labels(self, first: int, size: int) -> tuple[Array, Array]:
        most = documents.FEWEST_LABELS + documents.LABEL_SPAN
        labels, n_labels = np.zeros((size, most), np.int32), np.zeros(size, np.int64)
        documents.write_labels(
            self.random_state, first, self._names, ROOTS, CHILDREN, labels, n_labels
        )
        return labels, n_labels

    def _relevance(self, labels: Array, n_labels: Array) -> sp.csr_array:
        used = np.arange(labels.shape[1]) < n_labels[:, None]
        return of_lengths(n_labels, labels[used], np.ones(n_labels.sum()), self.n_labels)

    def _words(self, first: int, labels: Array, n_labels: Array) -> sp.csr_array:
        shape = (len(labels), documents.FEWEST_WORDS + documents.WORD_SPAN)
        words, counts = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        n_words = np.zeros(len(labels), np.int64)
        documents.write_words(
            self.random_state, first, ROOTS, CHILDREN, self.n_features, labels, n_labels,
            words, counts, n_words,
        )  # fmt: skip
        used = np.arange(shape[1]) < n_words[:, None]
        if self.weighting == "unit":
            np.log(counts, out=counts, where=counts > 0)
            counts[used] += 1
            counts /= np.sqrt((counts**2).sum(axis=1, where=used, keepdims=True))
        return of_lengths(n_words, words[used], counts[used], self.n_features)


def _spans(n_documents: int, batch_size: int, start: int) -> Iterator[tuple[int, int]]:
    if n_documents < 0 or batch_size < 1 or start < 0:
        raise InputError(
            f"got n_documents={n_documents}, batch_size={batch_size}, start={start}; "
            "give numbers of at least 0, 1 and 0"
        )
    for first in range(start, start + n_documents, batch_size):
        yield first, min(batch_size, start + n_documents - first)
