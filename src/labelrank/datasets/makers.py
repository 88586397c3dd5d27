"""Synthetic data whose right answer is known by construction, and streams of any length."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq

from labelrank._types import Array, Float64, Int32
from labelrank.datasets.opening import check_choice
from labelrank.errors import InputError
from labelrank.kernels import documents
from labelrank.rows import of_lengths


class LinearPreferences(NamedTuple):
    """`X @ coef.T > 0` is the true label set and its order the true ranking (without noise)."""

    X: Float64
    Y: sp.csr_array
    coef: Float64


class Chain(NamedTuple):
    """Labels drawn link by link; `mode` is the most probable path of each instance."""

    X: Float64
    Y: sp.csr_array
    coef: Float64
    mode: sp.csr_array


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    return np.random.default_rng(random_state)


def _sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if value < 1:
            raise InputError(f"got {name}={value}; give at least 1")


def make_linear_preferences(
    n_instances: int = 500, n_features: int = 20, n_labels: int = 10, *,
    cardinality: float = 2.5, noise: float = 0.0, grades: int = 1, unknown: float = 0.0,
    random_state: Any = None,
) -> LinearPreferences:  # fmt: skip
    """Labels that a linear ranker without intercept can rank and cut without error.

    The last feature is the constant 1: its weights hold the threshold, so learners without an
    intercept can find it too.

    Parameters
    ----------
    n_instances, n_features, n_labels : int
    cardinality : expected number of relevant labels of an instance
    noise : standard deviation of the normal noise added to the scores (themselves of standard
        deviation 1) before the labels are read off
    grades : relevant labels get the grades 1 to `grades`, by rising score
    unknown : share of the entries of Y hidden as NaN
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> X, Y, coef = make_linear_preferences(50, random_state=0)
    >>> bool(((X @ coef.T > 0) == (Y.toarray() > 0)).all())
    True
    """
    _sizes(n_instances=n_instances, n_features=n_features - 1, n_labels=n_labels, grades=grades)
    for name, share in (("unknown", unknown), ("cardinality / n_labels", cardinality / n_labels)):
        if not 0 <= share <= 1:
            raise InputError(f"got {name}={share}; give a share between 0 and 1")
    rng = _generator(random_state)
    X = np.ones((n_instances, n_features))
    X[:, :-1] = rng.normal(size=(n_instances, n_features - 1))
    coef = rng.normal(size=(n_labels, n_features))
    coef[:, :-1] /= np.linalg.norm(coef[:, :-1], axis=1, keepdims=True)
    coef[:, -1] = 0
    scores = X @ coef.T
    coef[:, -1] = -np.quantile(scores, 1 - cardinality / n_labels)
    scores = scores + coef[:, -1] + noise * rng.normal(size=scores.shape)
    Y = _graded(scores, grades)
    Y[rng.random(Y.shape) < unknown] = np.nan
    return LinearPreferences(X, sp.csr_array(Y), coef)


def _graded(scores: Float64, grades: int) -> Float64:
    relevant = scores[scores > 0]
    inner = np.linspace(0, 1, grades + 1)[1:-1]
    cuts = np.quantile(relevant, inner) if len(relevant) else np.empty(0)
    return np.where(scores > 0, 1.0 + np.searchsorted(cuts, scores, side="left"), 0.0)


def make_chain(
    n_instances: int = 500, n_features: int = 10, n_labels: int = 6, *,
    coupling: float = 2.0, random_state: Any = None,
) -> Chain:  # fmt: skip
    """Labels that depend on the features and on the label before them.

    Link k is relevant with probability sigmoid(coef_k · x + coupling · (±1)), the sign being
    that of label k−1 (none for the first): independent classifiers lose what a chain can gain.

    Parameters
    ----------
    n_instances, n_features, n_labels : int
    coupling : strength of the link; 0 makes the labels independent given x
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> chain = make_chain(200, coupling=5.0, random_state=0)
    >>> Y = chain.Y.toarray()
    >>> bool((Y[:, 1:] == Y[:, :-1]).mean() > 0.9)
    True
    """
    _sizes(n_instances=n_instances, n_features=n_features, n_labels=n_labels)
    rng = _generator(random_state)
    X = rng.normal(size=(n_instances, n_features))
    coef = rng.normal(size=(n_labels, n_features)) / np.sqrt(n_features)
    scores = X @ coef.T
    Y = np.zeros((n_instances, n_labels))
    for k in range(n_labels):
        link = coupling * (2 * Y[:, k - 1] - 1) if k else 0.0
        Y[:, k] = rng.random(n_instances) < 1 / (1 + np.exp(-scores[:, k] - link))
    return Chain(X, sp.csr_array(Y), coef, sp.csr_array(_viterbi(scores, coupling)))


def _viterbi(scores: Float64, coupling: float) -> Float64:
    """Most probable paths: log p(y_k | y_{k-1}) = -log(1 + exp(-(2 y_k - 1)(s_k ± coupling)))."""
    n, K = scores.shape
    signs = np.array([-1.0, 1.0])
    best = -np.logaddexp(0, -signs * scores[:, :1])
    came_from = np.zeros((n, K, 2), dtype=np.int64)
    for k in range(1, K):
        # axes: instance, value of label k-1, value of label k
        link = scores[:, k, None, None] + coupling * signs[:, None]
        path = best[:, :, None] - np.logaddexp(0, -signs * link)
        came_from[:, k] = path.argmax(axis=1)
        best = path.max(axis=1)
    mode = np.zeros((n, K))
    value = best.argmax(axis=1)
    for k in range(K - 1, -1, -1):
        mode[:, k] = value
        value = came_from[np.arange(n), k, value]
    return mode


_TABLE = 1 << 20  # slots of a word distribution: the rarest of 25,000 words still has about four
_TOPICAL = 0.35
_TOPIC_WORDS = 200
_PILOT = 2000


def make_rcv1_like(
    n_instances: int = 100_000, n_features: int = 25_000, nonzeros: int = 75, n_labels: int = 103,
    *, cardinality: float = 3.2, random_state: Any = None,
) -> tuple[sp.csr_array, sp.csr_array]:  # fmt: skip
    """News-like term vectors, and the topics that caused them.

    Topics and words follow Zipf's law; about a third of the words of a document come from the
    vocabularies of its topics, so that the labels can be learned. Values are (1 + log tf) · idf,
    each row of length 1.

    Parameters
    ----------
    n_instances, n_features, n_labels : int
    nonzeros : mean number of distinct words of a document
    cardinality : mean number of topics of a document
    random_state : int, Generator, RandomState or None

    Returns
    -------
    X : csr_array of float32 with int32 indices
    Y : csr_array of int64, 0/1

    Examples
    --------
    >>> X, Y = make_rcv1_like(1000, 500, 20, 10, cardinality=2, random_state=0)
    >>> X.shape, X.dtype.name, Y.shape, Y.dtype.name
    ((1000, 500), 'float32', (1000, 10), 'int64')
    """
    _sizes(n_instances=n_instances, n_features=n_features, nonzeros=nonzeros, n_labels=n_labels)
    if not 1 <= cardinality <= max(n_labels / 2, 1) or nonzeros > n_features / 4:
        raise InputError(
            f"got cardinality={cardinality} of {n_labels} labels and nonzeros={nonzeros} of "
            f"{n_features} features; give 1 <= cardinality <= n_labels / 2 and "
            "nonzeros <= n_features / 4"
        )
    rng = _generator(random_state)
    Y = _topics(rng, n_instances, n_labels, cardinality)
    vocabulary = _Vocabulary(rng, n_features, n_labels)
    length = float(nonzeros)
    for _ in range(8):
        pilot = vocabulary.write(rng, Y[:_PILOT], length)
        length *= nonzeros * pilot.shape[0] / pilot.nnz
    return _tf_idf(vocabulary.write(rng, Y, length)), Y


def _zipf(size: int, exponent: float) -> Float64:
    weight = 1.0 / (10 + np.arange(size)) ** exponent
    return weight / weight.sum()


def _table(probability: Float64) -> Int32:
    """Slots holding each index in proportion to its probability: drawing is then one look-up."""
    middle = (np.arange(_TABLE) + 0.5) / _TABLE
    return np.searchsorted(np.cumsum(probability)[:-1], middle).astype(np.int32)


def _topics(rng: np.random.Generator, n: int, n_labels: int, cardinality: float) -> sp.csr_array:
    """1 + Poisson(rate) draws from Zipf's law, repeats dropped; rate solved for the mean left."""
    p = _zipf(n_labels, 1.0)

    def excess(rate: float) -> float:
        return float((1 - (1 - p) * np.exp(-rate * p)).sum()) - cardinality

    rate = 0.0 if cardinality == 1 else brentq(excess, 0.0, 1e6)
    draws = 1 + rng.poisson(rate, n)
    labels = rng.permutation(n_labels)[_table(p)[rng.integers(0, _TABLE, draws.sum())]]
    Y = _counted(labels, draws, n_labels, np.int64)
    Y.data[:] = 1
    return Y


def _counted(columns: Array, lengths: Array, n_columns: int, dtype: Any) -> sp.csr_array:
    csr = of_lengths(lengths, columns, np.ones(len(columns), dtype), n_columns)
    csr.sum_duplicates()
    return csr


class _Vocabulary:
    """One background distribution of words, and a small vocabulary of each topic."""

    def __init__(self, rng: np.random.Generator, n_features: int, n_labels: int) -> None:
        name = rng.permutation(n_features).astype(np.int32)
        size = max(1, min(_TOPIC_WORDS, n_features // 10))
        rarity = _zipf(n_features, 0.5)
        chosen = [rng.choice(n_features, size, replace=False, p=rarity) for _ in range(n_labels)]
        self.n_features = n_features
        self.background = name[_table(_zipf(n_features, 1.0))]
        self.topical = name[np.array(chosen)]
        self.within_topic = _table(_zipf(size, 1.0))

    def write(self, rng: np.random.Generator, Y: sp.csr_array, length: float) -> sp.csr_array:
        """Word counts of one document per row of Y, of `length` words on average."""
        n = Y.shape[0]
        lengths = np.maximum(1, (length * rng.lognormal(-0.125, 0.5, n)).astype(np.int64))
        total = int(lengths.sum())
        words = self.background[rng.integers(0, _TABLE, total)]
        at = np.flatnonzero(rng.random(total, np.float32) < _TOPICAL)
        document = np.repeat(np.arange(n), lengths)[at]
        n_topics = np.diff(Y.indptr)[document]
        pick = Y.indptr[document] + (rng.random(len(at)) * n_topics).astype(np.int64)
        slot = self.within_topic[rng.integers(0, _TABLE, len(at))]
        words[at] = self.topical[Y.indices[pick], slot]
        return _counted(words, lengths, self.n_features, np.float32)


def _tf_idf(counts: sp.csr_array) -> sp.csr_array:
    n = counts.shape[0]
    document_frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log((1 + n) / (1 + document_frequency)).astype(np.float32) + np.float32(1)
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    norm = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
    counts.data /= np.repeat(norm, np.diff(counts.indptr))
    return counts


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
