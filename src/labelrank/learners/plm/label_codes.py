"""Label codes: the leading eigenvectors of the co-occurrence matrix of the labels (001).

Only label data is needed, in any number of pieces: the labels of each document are kept as plain
integers (four bytes a label), and of more than `FOLD` documents the integer counts of pairs, so
the codes do not depend on how the documents were cut into pieces.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from sklearn.base import BaseEstimator

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.kernels import cooccurrence
from labelrank.relevance import check_relevance
from labelrank.resources import run_jobs

SCALES = ("eigenvalue", "sqrt", "none", "balanced")
FOLD = 1 << 24
_SPAN = 1 << 18


class LabelCodes(BaseEstimator):
    """Codes M = U_s Λ_s from the top s eigenpairs of YᵀY, Y the 0/1 matrix of relevant labels.

    Parameters
    ----------
    n_components : int, default 50
        Dimension s of the codes; at most as many as there are labels.
    scale : {"eigenvalue", "sqrt", "none", "balanced"}
        U_s times the eigenvalues (the paper's), times their square roots, or alone; "balanced"
        divides the rows of U_s by the square roots of their lengths, which lifts rare labels.
    n_jobs : int or None
        Threads; never changes the result.

    Attributes
    ----------
    codes_ : ndarray (K, s)
        The largest entry of each column is positive.
    eigenvalues_ : ndarray (s,), falling

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.learners.plm.label_codes import LabelCodes
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> LabelCodes(2, scale="none").fit(Y).codes_.round(3).tolist()
    [[0.707, 0.0], [0.707, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self, n_components: int = 50, *, scale: str = "eigenvalue", n_jobs: int | None = None
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.n_jobs = n_jobs

    def fit(self, Y: Any) -> Self:
        """Codes of one label matrix, or of an iterable of label matrices."""
        self.__dict__.pop("_ptr", None)
        return self.partial_fit(Y).finish()

    def partial_fit(self, Y: Any) -> Self:
        """Take in one more label matrix, or an iterable of them; `finish` makes the codes.

        A piece that is refused leaves the pieces before it counted.
        """
        for piece in _pieces(Y):
            known = hasattr(self, "_ptr")
            relevance = check_relevance(piece, n_labels=self.n_labels_ if known else None)
            if not known:
                self._start(relevance.shape[1])
            self._add(relevance)
        return self

    def _start(self, n_labels: int) -> None:
        self.n_labels_ = n_labels
        self._ptr: Array = np.zeros(1, np.int64)
        self._labels: Array = np.zeros(0, np.int32)
        self._waiting: list[tuple[Array, Array]] = []
        self._counts = sp.csr_array((n_labels, n_labels), dtype=np.int64)

    def _add(self, Y: sp.csr_array) -> None:
        relevant = Y.data > 0
        ends = np.concatenate(([0], np.cumsum(relevant)))[Y.indptr[1:]]
        self._waiting.append((ends, Y.indices[relevant].astype(np.int32)))
        if len(self._ptr) + sum(len(ends) for ends, _ in self._waiting) > FOLD:
            self._gather()

    def _gather(self) -> None:
        """One array of all waiting pieces; every full `FOLD` documents become counts."""
        ptr, labels = [self._ptr], [self._labels]
        for ends, more in self._waiting:
            ptr.append(ends + ptr[-1][-1])
            labels.append(more)
        self._ptr, self._labels = np.concatenate(ptr), np.concatenate(labels)
        self._waiting = []
        while len(self._ptr) > FOLD:
            cut = self._ptr[FOLD]
            self._counts = self._counts + _pair_counts(
                self._ptr[: FOLD + 1], self._labels[:cut], self.n_labels_
            )
            self._ptr, self._labels = self._ptr[FOLD:] - cut, self._labels[cut:]

    def finish(self) -> Self:
        """Make the codes of all pieces so far; more may follow."""
        check_choice("scale", self.scale, SCALES)
        check_at_least("n_components", self.n_components, 1)
        if not hasattr(self, "_ptr"):
            raise InputError("got no label matrix; give at least one to make codes from")
        self._gather()
        values, vectors = self._eigenpairs()
        largest = np.abs(vectors).argmax(axis=0), np.arange(len(values))
        vectors *= np.where(vectors[largest] < 0, -1.0, 1.0)
        self.eigenvalues_ = values
        self.codes_ = _scaled(values, vectors, self.scale)
        return self

    def _eigenpairs(self) -> tuple[Array, Array]:
        """The top eigenpairs, falling; dense only where that is no larger than the codes."""
        used = np.unique(np.concatenate([np.unique(self._labels), np.unique(self._counts.indices)]))
        size = min(self.n_components, self.n_labels_)
        values, vectors = np.zeros(size), np.zeros((self.n_labels_, size))
        vectors[np.arange(size), np.arange(size)] = 1.0
        if len(used) <= max(2 * size, 64):
            pairs = _pair_counts(self._ptr, self._labels, self.n_labels_) + self._counts
            found, within = scipy.linalg.eigh(pairs[used][:, used].toarray().astype(np.float64))
            found, within = found[::-1][:size], within[:, ::-1][:, :size]
            values[: len(found)] = np.maximum(found, 0.0)
            vectors = _embedded(within, used, self.n_labels_, size)
        else:
            start = np.random.default_rng(0).uniform(0.5, 1.5, self.n_labels_)
            found, vectors = _converged(self._operator(), size, start)
            order = np.argsort(-found, kind="stable")
            values, vectors = np.maximum(found[order], 0.0), np.ascontiguousarray(vectors[:, order])
        return values, vectors

    def _operator(self) -> LinearOperator:
        """v -> YᵀYv. Labels are renumbered by falling frequency: the usual ones stay in cache."""
        order = np.argsort(-np.bincount(self._labels, minlength=self.n_labels_), kind="stable")
        place = np.empty(self.n_labels_, np.int32)
        place[order] = np.arange(self.n_labels_, dtype=np.int32)
        ranked = place[self._labels]

        def product(v: Array) -> Array:
            v = v.ravel()
            found = np.asarray(self._counts @ v)
            found[order] += self._product(ranked, np.ascontiguousarray(v[order]))
            return found

        shape = (self.n_labels_, self.n_labels_)
        return LinearOperator(shape, matvec=product, dtype=np.float64)

    def _product(self, ranked: Array, v: Array) -> Array:
        n = len(self._ptr) - 1
        # Spans of documents are fixed, not one a thread: their sums must not depend on n_jobs.
        spans = [(first, min(first + _SPAN, n)) for first in range(0, n, _SPAN)]
        jobs = [partial(_part, self._ptr, ranked, v, *span) for span in spans]
        return np.sum([np.zeros_like(v), *run_jobs(jobs, self.n_jobs)], axis=0)


def _part(ptr: Array, labels: Array, v: Array, first: int, last: int) -> Array:
    out = np.zeros_like(v)
    cooccurrence.add_product(ptr, labels, first, last, v, out)
    return out


def _pieces(Y: Any) -> Iterable[Any]:
    if hasattr(Y, "shape"):
        return [Y]
    pieces = iter(Y) if isinstance(Y, Iterable) else None
    if pieces is None:
        raise InputError(f"got {type(Y).__name__}; give a label matrix or an iterable of them")
    if isinstance(Y, list | tuple) and len(Y) and not hasattr(Y[0], "shape"):
        return [Y]
    return pieces


def _pair_counts(ptr: Array, labels: Array, n_labels: int) -> sp.csr_array:
    ones = np.ones(len(labels), np.int64)
    Y = sp.csr_array((ones, labels, ptr), shape=(len(ptr) - 1, n_labels))
    return sp.csr_array(Y.T @ Y)


def _embedded(within: Array, used: Array, n_labels: int, size: int) -> Array:
    """Eigenvectors among the used labels as vectors over all; the rest of them are zero."""
    vectors = np.zeros((n_labels, size))
    vectors[used, : within.shape[1]] = within
    return vectors


def _converged(operator: LinearOperator, size: int, start: Array) -> tuple[Array, Array]:
    try:
        return eigsh(operator, k=size, v0=start)
    except ArpackNoConvergence as error:
        raise InputError(
            f"only {len(error.eigenvalues)} of {size} code dimensions could be found; "
            "use fewer components"
        ) from error


def _scaled(values: Array, vectors: Array, scale: str) -> Array:
    if scale == "eigenvalue":
        return vectors * values
    if scale == "sqrt":
        return vectors * np.sqrt(values)
    if scale == "none":
        return vectors
    length = np.sqrt(np.linalg.norm(vectors, axis=1, keepdims=True))
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
