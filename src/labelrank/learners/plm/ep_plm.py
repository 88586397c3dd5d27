"""EP-PLM: codes from the co-occurrence of labels, the embedding learned (Lauriola et al. 2018).

The matrix of co-occurrence counts is decomposed, YᵀY = U Λ Uᵀ, and the codes are the top s
eigenvectors, scaled:

    M = U_s Λ_s (code_scale="eigenvalue", the paper's),  U_s Λ_s^½ ("sqrt"),  U_s ("none")

One voted perceptron then learns W, with M fixed. Label data may come in pieces: all but the last
`FOLD` documents become counts of pairs, so the codes do not depend on the cuts between pieces.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from labelrank import declared
from labelrank._estimators import BaseEstimator
from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import anything, array, choice, number, sparse, stored, threads
from labelrank.errors import InputError
from labelrank.kernels.linear import add_product
from labelrank.learners.base import unchanged_if_refused
from labelrank.learners.plm.embedding import EmbeddingRanker
from labelrank.relevance import check_relevance, relevant_part
from labelrank.resources import blocks, run_jobs

SCALES = ("eigenvalue", "sqrt", "none", "balanced")


FOLD = 1 << 24


_SPAN = 1 << 18


@stored(
    "LabelCodes",
    codes_=array("f8", "K", "s"),
    eigenvalues_=array("f8", "s"),
    documents=sparse("documents", "K", attribute="_documents"),
    waiting=anything(attribute="_waiting"),
    counts=sparse("K", "K", attribute="_counts"),
)
@dataclass(eq=False, repr=False)
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

    Attributes
    ----------
    codes_ : ndarray (K, s)
        The largest entry of each column is positive.
    eigenvalues_ : ndarray (s,), falling

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import LabelCodes
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> LabelCodes(2, scale="none").fit(Y).codes_.round(3).tolist()
    [[0.707, 0.0], [0.707, 0.0], [0.0, 1.0]]
    """

    n_components: int = number(50, least=1, whole=True)
    _: KW_ONLY
    scale: str = choice(*SCALES)
    n_jobs: int | None = threads()

    def fit(self, Y: Any) -> Self:
        """Codes of one label matrix, or of an iterable of label matrices."""
        with unchanged_if_refused(self):
            self._documents: Any = None
            return self.partial_fit(Y).finish()

    def partial_fit(self, Y: Any) -> Self:
        """Count one more label matrix, or an iterable; a refused piece leaves those before it."""
        for piece in _pieces(Y):
            if getattr(self, "_documents", None) is None:
                relevance = check_relevance(piece)
                n_labels = relevance.shape[1]
                self._documents = sp.csr_array((0, n_labels), dtype=bool)
                self._counts = sp.csr_array((n_labels, n_labels), dtype=np.int64)
                self._waiting: list[sp.csr_array] = []
            else:
                relevance = check_relevance(piece, n_labels=self.n_labels_)
            self._waiting.append(relevant_part(relevance).astype(bool))
            if sum(waiting.shape[0] for waiting in self._waiting) > FOLD:
                self._gather()
        return self

    @property
    def n_labels_(self) -> int:
        """How many labels there are."""
        return int(self._documents.shape[1])

    def _gather(self) -> None:
        """One matrix of all waiting pieces; every full `FOLD` documents become counts."""
        documents = sp.csr_array(sp.vstack([self._documents, *self._waiting]))
        while documents.shape[0] >= FOLD:
            self._counts = self._counts + _pair_counts(documents[:FOLD])
            documents = documents[FOLD:]
        self._documents, self._waiting = documents, []

    def finish(self) -> Self:
        """Make the codes of all pieces so far; more may follow."""
        declared.check_parameters(self)
        if getattr(self, "_documents", None) is None:
            raise InputError("got no label matrix; give at least one to make codes from")
        self._gather()
        values, vectors = self._eigenpairs()
        largest = np.abs(vectors).argmax(axis=0), np.arange(len(values))
        vectors *= np.where(vectors[largest] < 0, -1.0, 1.0)
        self.eigenvalues_ = values
        self.codes_ = _scaled(values, vectors, self.scale)
        return self

    def _eigenpairs(self) -> tuple[Float64, Float64]:
        """The top eigenpairs, falling; dense only where that is no larger than the codes."""
        used = np.unique(np.concatenate([self._documents.indices, self._counts.indices]))
        size = min(self.n_components, self.n_labels_)
        if len(used) > max(2 * size, 64):
            start = np.random.default_rng(0).uniform(0.5, 1.5, self.n_labels_)
            try:
                values, vectors = eigsh(self._operator(), k=size, v0=start)
            except ArpackNoConvergence as error:
                raise InputError(
                    f"only {len(error.eigenvalues)} of {size} code dimensions could be found; "
                    "use fewer components"
                ) from error
            order = np.argsort(-values, kind="stable")
            return np.maximum(values[order], 0.0), np.ascontiguousarray(vectors[:, order])
        pairs = (_pair_counts(self._documents) + self._counts)[used][:, used]
        within, among_used = scipy.linalg.eigh(pairs.toarray().astype(np.float64))
        n_found = min(size, len(used))
        values, vectors = np.zeros(size), np.zeros((self.n_labels_, size))
        values[:n_found] = np.maximum(within[::-1][:n_found], 0.0)
        vectors[used, :n_found] = among_used[:, ::-1][:, :n_found]
        return values, vectors

    def _operator(self) -> LinearOperator:
        """v -> YᵀYv. Labels are renumbered by falling frequency: the usual ones stay in cache."""
        ptr, labels = self._documents.indptr.astype(np.int64), self._documents.indices
        order = np.argsort(-np.bincount(labels, minlength=self.n_labels_), kind="stable")
        place = np.empty(self.n_labels_, np.int32)
        place[order] = np.arange(self.n_labels_, dtype=np.int32)
        ranked = place[labels]

        def product(v: Float64) -> Float64:
            v = v.ravel()
            total = np.asarray(self._counts @ v)
            total[order] += self._product(ptr, ranked, np.ascontiguousarray(v[order]))
            return total

        shape = (self.n_labels_, self.n_labels_)
        return LinearOperator(shape, matvec=product, dtype=np.float64)

    def _product(self, ptr: Int64, ranked: Int32, v: Float64) -> Float64:
        # Spans of documents are fixed, not one per thread: their sums must not depend on n_jobs.
        spans = [(span.start, span.stop) for span in blocks(len(ptr) - 1, _SPAN)]
        parts = np.zeros((len(spans) + 1, len(v)))
        run_jobs([partial(add_product, ptr, ranked, *span, v, parts[i])
                  for i, span in enumerate(spans)], self.n_jobs)  # fmt: skip
        return parts.sum(axis=0)

    def after_loading(self) -> None:
        sound = isinstance(self._waiting, list) and all(map(sp.issparse, self._waiting))
        if not sound or any(piece.shape[1] != self.n_labels_ for piece in self._waiting):
            raise ValueError("a piece of label data has other labels")


def _pieces(Y: Any) -> Iterable[Any]:
    are_rows = isinstance(Y, list | tuple) and len(Y) and not hasattr(Y[0], "shape")
    if are_rows or hasattr(Y, "shape"):
        return [Y]
    if not isinstance(Y, Iterable):
        raise InputError(f"got {type(Y).__name__}; give a label matrix or an iterable of them")
    return Y


def _pair_counts(documents: sp.csr_array) -> sp.csr_array:
    Y = documents.astype(np.int64)
    return sp.csr_array(Y.T @ Y)


def _scaled(values: Float64, vectors: Float64, scale: str) -> Float64:
    if scale == "eigenvalue":
        return vectors * values
    if scale == "sqrt":
        return vectors * np.sqrt(values)
    if scale == "none":
        return vectors
    length = np.sqrt(np.linalg.norm(vectors, axis=1, keepdims=True))
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)


@stored("EmbeddingPCAPLM", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingPCAPLM(EmbeddingRanker):
    """EP-PLM: codes from the co-occurrence of labels, and a voted perceptron for the embedding.

    In `partial_fit` each relevant label is one arc, in the given order. Its negative node is an
    irrelevant label of one of the 256 instances before (`arcs="any"`), or of the same one.

    Parameters
    ----------
    n_components : int, default 50
        Dimension s of embedding and codes, at most the number of labels.
    epochs, preferences_per_epoch : int, default 100 and 2000
        `fit` draws that many arcs, from a relevant label of an instance to an irrelevant one.
    arcs : {"any", "instance"}
        Whether the two nodes of an arc may belong to different instances.
    code_scale : {"eigenvalue", "sqrt", "none", "balanced"}
        See `LabelCodes`; "eigenvalue" is the paper's, the others rank better.
    codes : array (K, s) or None
        Codes from other label data, such as `fit_codes` sets; None: from the first Y.
    update : {"perceptron", "adagrad"}
        The paper's voted perceptron; or, for each drawn instance, all its relevant labels against
        hard negatives with margin 1, AdaGrad steps and averaging: better, and faster.
    negatives : int, default 8
        "adagrad": the best-scored of so many random irrelevant labels is the negative node.
    learning_rate : float, default 0.1, of "adagrad"
    threshold : "cardinality" or float
    n_jobs, random_state, verbose

    Attributes
    ----------
    embedding_ : ndarray (s, d)
    codes_ : ndarray (K, s)
        `decision_function(X)` is `X @ embedding_.T @ codes_.T`.
    n_violated_ : int
        Arcs that led to an update.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import EmbeddingPCAPLM
    >>> X = np.eye(3)
    >>> Y = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> learner = EmbeddingPCAPLM(n_components=3, epochs=2, random_state=0).fit(X, Y)
    >>> sorted(learner.rank(X, top=2)[0].tolist())
    [0, 1]
    """

    code_scale: str = choice(*SCALES)
    codes: Any = None

    def fit_codes(self, Y: Any) -> Self:
        """Make the codes from label data alone: a matrix, or an iterable of matrices.

        Sets the parameter `codes`, so that clones keep them. Called again, it adds to the label
        data it has seen; any number of pieces give the codes of the whole.
        """
        self.check_parameters()
        maker = getattr(self, "_code_maker", None) or self._new_code_maker()
        self.codes = maker.partial_fit(Y).finish().codes_
        self._code_maker = maker
        return self

    def _new_code_maker(self) -> LabelCodes:
        return LabelCodes(self.n_components, scale=self.code_scale, n_jobs=self.n_jobs)

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        if self.codes is None:
            return
        codes = self._given_codes()
        if codes.ndim != 2 or len(codes) != Y.shape[1] or not np.isfinite(codes).all():
            what = f"got codes of shape {codes.shape} for {Y.shape[1]} labels"
            raise InputError(f"{what}; give one row of finite numbers per label")

    def _first_codes(self, Y: sp.csr_array) -> Array:
        self._code_maker = None
        are_given = self.codes is not None
        return self._given_codes() if are_given else self._new_code_maker().fit(Y).codes_

    def _given_codes(self) -> Float64:
        try:
            return np.asarray(self.codes, np.float64)
        except (TypeError, ValueError) as error:
            what = type(self.codes).__name__
            raise InputError(f"got codes of type {what}; give a matrix of numbers") from error
