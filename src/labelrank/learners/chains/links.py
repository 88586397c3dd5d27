"""The links of a chain: training them, and asking them for probabilities in batches.

A link predicts one column from [x, earlier labels]. Which earlier labels it sees is all that
tells the models of paper 004 apart: none (independent), all (chain), the last one (Viterbi).
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.parallel import Parallel, delayed

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.learners.chains.logistic import (
    LogisticLink,
    Problem,
    SharedDesign,
    log_probabilities,
)
from labelrank.learners.chains.targets import Encoding

_CELLS_AT_ONCE = 2**25
_PLAIN = (type(None), bool, int, float, str)


class Link(NamedTuple):
    """The column a link predicts and the earlier columns it sees."""

    column: int
    parents: tuple[int, ...]


def base_estimator(estimator: Any) -> Any:
    """The classifier of a link; None and "logistic-fast" are our own logistic link."""
    if estimator is None or (isinstance(estimator, str) and estimator == "logistic-fast"):
        return LogisticLink()
    if isinstance(estimator, str) or not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"got estimator={estimator!r}, which has no predict_proba; chains multiply "
            "probabilities, so give a classifier that has it, or 'logistic-fast'"
        )
    return estimator


def train_links(
    links: Sequence[Link],
    X: Any,
    codes: Array,
    encoding: Encoding,
    estimator: Any,
    seeds: Array,
    n_jobs: int | None = None,
) -> list[Any]:
    """One fitted classifier a link, in order.

    Links are trained on the true earlier labels, so none waits for another: `n_jobs` trains them
    side by side (our logistic links on threads, others by joblib's backend). An instance whose
    label is unknown is left out of that link.
    """
    X = narrow(X)
    constant = _constant_columns(X, codes)
    varying = [link for link in links if link.column not in constant]
    if isinstance(estimator, LogisticLink):
        trained = _solve_together(varying, X, codes, encoding, estimator, n_jobs)
    else:
        by_rows = (
            sp.issparse(X) or X.flags.c_contiguous or isinstance(estimator, LogisticRegression)
        )
        design = _Design(varying, X, codes, encoding, "C" if by_rows else "F")
        fresh = _copier(estimator)
        jobs = ((design, link, _with_seed(fresh(), seeds[link.column])) for link in varying)
        if effective_n_jobs(n_jobs) == 1:
            trained = _train_in_turn(jobs)
        else:
            trained = Parallel(n_jobs=n_jobs)(delayed(_train)(*job) for job in jobs)
    waiting = iter(trained)
    return [constant[k.column] if k.column in constant else next(waiting) for k in links]


def seeded(estimator: Any, seed: int) -> Any:
    """A fresh copy, with this seed where it takes one and was given none."""
    return _with_seed(clone(estimator), seed)


def _with_seed(model: Any, seed: int) -> Any:
    if getattr(model, "random_state", 0) is None:
        model.set_params(random_state=int(seed))
    return model


def _copier(estimator: Any) -> Callable[[], Any]:
    """Makes unfitted copies; where parameters are plain values, a shallow copy is a whole one."""
    pristine = clone(estimator)
    plain = all(isinstance(value, _PLAIN) for value in pristine.get_params(deep=False).values())
    return partial(copy if plain else clone, pristine)


def _constant_columns(X: Any, codes: Array) -> dict[int, DummyClassifier]:
    """A column with at most one known class needs no learning (all unknown: the first class)."""
    highest = codes.max(axis=0, initial=0)
    lowest = np.where(codes < 0, highest, codes).min(axis=0, initial=np.iinfo(codes.dtype).max)
    return {
        int(c): DummyClassifier(strategy="prior").fit(X[:1], [highest[c]])
        for c in np.flatnonzero(lowest >= highest)
    }


def _memory_order(X: Any, estimator: Any) -> str:
    """That of X, but rows for logistic regression, which else turns X around at every link."""
    by_column = not sp.issparse(X) and X.flags.fnc
    return "F" if by_column and not isinstance(estimator, LogisticRegression) else "C"


class _Design:
    """[x, earlier labels] of each link; links that see prefixes of one order share one copy.

    The copy has the memory order given: that of X, unless the base learner wants another.
    """

    def __init__(
        self, links: Sequence[Link], X: Any, codes: Array, encoding: Encoding, order: str
    ) -> None:
        self.X, self.codes, self.encoding = X, codes, encoding
        self._prefix = max((link.parents for link in links), key=len, default=())
        self._room = None
        if self._prefix and not sp.issparse(X):
            self._room = _joined(X, encoding.features(codes, self._prefix), order)

    def of(self, link: Link) -> Any:
        """The features of one link, a view where it sees a prefix."""
        if self._room is None or link.parents != self._prefix[: len(link.parents)]:
            return beside(self.X, self.encoding.features(self.codes, link.parents))
        width = self.X.shape[1] + int(self.encoding.widths[list(link.parents)].sum())
        return self._room[:, :width]


def _joined(X: Array, features: Array, order: str) -> Array:
    n, d = X.shape
    room = np.empty((n, d + features.shape[1]), X.dtype, order=order)  # type: ignore[call-overload]
    room[:, :d], room[:, d:] = X, features
    return room


def _train_in_turn(jobs: Iterator[Any]) -> list[Any]:
    """The first link is checked in full; all that is new to the others are labels, finite ones."""
    trained = [_train(*job) for job in islice(jobs, 1)]
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return trained + [_train(*job) for job in jobs]


def _train(design: _Design, link: Link, model: Any) -> Any:
    features, y = design.of(link), np.ascontiguousarray(design.codes[:, link.column])
    known = y >= 0
    return model.fit(features, y) if known.all() else model.fit(features[known], y[known])


def _solve_together(
    links: Sequence[Link],
    X: Any,
    codes: Array,
    encoding: Encoding,
    estimator: LogisticLink,
    n_jobs: int | None,
) -> list[LogisticLink]:
    if not links:
        return []
    labels = encoding.features(codes, range(len(encoding.sizes)))
    shared = SharedDesign(X, labels, codes, estimator)
    problems = [
        Problem(link.column, int(encoding.sizes[link.column]), encoding.places(link.parents))
        for link in links
    ]
    return shared.solve(problems, n_jobs)


def beside(X: Any, features: Array) -> Any:
    """[x, earlier labels], sparse where X is."""
    if features.shape[1] == 0:
        return X
    features = features.astype(X.dtype, copy=False)
    if sp.issparse(X):
        return narrow(sp.csr_array(sp.hstack([X, sp.csr_array(features)])))
    return np.hstack([X, features])


def narrow(X: Any) -> Any:
    """Sparse X with 32-bit indices where they suffice: forests and others take no wider ones."""
    if not sp.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sp.csr_array(parts, shape=X.shape)


class Scorer(Protocol):
    """The links of a fitted chain, bound to the instances they are asked about."""

    links: Sequence[Link]
    sizes: Array
    n_rows: int

    def log_proba(self, position: int, codes: Array, rows: Array | None = None) -> Array:
        """Log probabilities (m × K) of a link's classes after the earlier labels in `codes`.

        Row r of `codes` belongs to instance `rows[r]` (None: to instance r).
        """
        ...


def make_scorer(links: Sequence[Link], models: Sequence[Any], encoding: Encoding, X: Any) -> Scorer:
    """The quickest scorer for these models: logistic ones take their share of x only once."""
    if all(_is_logistic(model) or isinstance(model, DummyClassifier) for model in models):
        return _LogisticScorer(links, models, encoding, X)
    return _BatchScorer(links, models, encoding, X)


def _is_logistic(model: Any) -> bool:
    if type(model) is LogisticRegression:
        return len(model.classes_) == 2 or model.solver != "liblinear"
    return isinstance(model, LogisticLink)


class _BatchScorer:
    """Any classifier: one call of `predict_proba` for all the rows asked about."""

    def __init__(
        self, links: Sequence[Link], models: Sequence[Any], encoding: Encoding, X: Any
    ) -> None:
        self.links, self.models, self.encoding, self.X = links, models, encoding, narrow(X)
        self.sizes, self.n_rows = encoding.sizes, X.shape[0]
        self._room: Array | None = None

    def log_proba(self, position: int, codes: Array, rows: Array | None = None) -> Array:
        features = self.encoding.features(codes, self.links[position].parents)
        if rows is None:
            return self._ask(position, self._with_all(features))
        at_once = max(1, _CELLS_AT_ONCE // max(self.X.shape[1], 1))
        parts = [slice(a, a + at_once) for a in range(0, max(len(rows), 1), at_once)]
        asked = [self._ask(position, beside(self.X[rows[p]], features[p])) for p in parts]
        return np.vstack(asked)

    def _with_all(self, features: Array) -> Any:
        """X with the features written into room kept beside it: X itself is copied only once."""
        if sp.issparse(self.X) or features.shape[1] == 0:
            return beside(self.X, features)
        n, d = self.X.shape
        if self._room is None:
            self._room = np.empty((n, d + int(self.encoding.widths.sum())), self.X.dtype)
            self._room[:, :d] = self.X
        self._room[:, d : d + features.shape[1]] = features
        return self._room[:, : d + features.shape[1]]

    def _ask(self, position: int, features: Any) -> Array:
        model, column = self.models[position], self.links[position].column
        proba = model.predict_proba(features)
        with np.errstate(divide="ignore"):
            return _at_classes(np.log(proba), model.classes_, int(self.sizes[column]))


class _LogisticScorer:
    """Logistic links: the share of x in all of them is one product, computed once."""

    def __init__(
        self, links: Sequence[Link], models: Sequence[Any], encoding: Encoding, X: Any
    ) -> None:
        self.links, self.models, self.encoding = links, models, encoding
        self.sizes, self.n_rows = encoding.sizes, X.shape[0]
        d = X.shape[1]
        rows = [np.empty((0, d)) if _is_dummy(m) else m.coef_[:, :d] for m in models]
        self._first = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
        self._of_x = np.asarray(X @ np.vstack(rows).T)
        self._of_labels: list[Any] = [None if _is_dummy(m) else m.coef_[:, d:].T for m in models]

    def log_proba(self, position: int, codes: Array, rows: Array | None = None) -> Array:
        model, link = self.models[position], self.links[position]
        size = int(self.sizes[link.column])
        if _is_dummy(model):
            return np.repeat(_at_classes(np.zeros((1, 1)), model.classes_, size), len(codes), 0)
        of_x = self._of_x[:, self._first[position] : self._first[position + 1]]
        scores = (of_x if rows is None else of_x[rows]) + model.intercept_
        if link.parents:
            features = self.encoding.features(codes, link.parents)
            scores = scores + features @ self._of_labels[position]
        return _at_classes(log_probabilities(scores, len(model.classes_)), model.classes_, size)


def _is_dummy(model: Any) -> bool:
    return isinstance(model, DummyClassifier)


def _at_classes(log_proba: Array, classes: Array, size: int) -> Array:
    """Columns by class code; a class the link never met has probability zero."""
    if log_proba.shape[1] == size:
        return log_proba
    full = np.full((len(log_proba), size), -np.inf)
    full[:, classes] = log_proba
    return full
