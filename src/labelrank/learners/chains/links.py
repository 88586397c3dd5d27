"""The links of a chain: what each predicts, what it sees, and how all are trained.

A link predicts one column from [x, earlier labels]. Which earlier labels it sees is all that
tells the models of Read, Martino & Luengo apart: none (independent classifiers, Eq. 4), all of
them (full chain, Eq. 6), or the last one (Viterbi chain, Eq. 9).

Links are trained on the true earlier labels, so none waits for another.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from labelrank._types import Array, Int32
from labelrank.declared import stored, value
from labelrank.errors import InputError
from labelrank.learners.base import seeded
from labelrank.learners.chains.logistic import LogisticLink, Problem, SharedDesign
from labelrank.learners.chains.targets import Encoding


@stored("Link", 1, column=value(int, least=0), parents=value(tuple))
class Link(NamedTuple):
    """The column a link predicts and the earlier columns it sees."""

    column: int
    parents: tuple[int, ...]

    def after_loading(self) -> None:
        if not all(type(parent) is int for parent in self.parents):
            raise ValueError("a link sees columns that are no numbers")


class Training(NamedTuple):
    """What links are trained on: instances, class codes, their encoding, and the base learner."""

    X: Any
    codes: Int32
    encoding: Encoding
    base: Any
    seeds: Array

    def model(self, column: int) -> Any:
        """A fresh copy of the base learner for a column, seeded where it was given no seed."""
        return seeded(clone(self.base), int(self.seeds[column]))


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


def draw_seeds(rng: np.random.RandomState, n: int) -> Array:
    """One seed per column or chain, for what is random in it."""
    return rng.randint(np.iinfo(np.int32).max, size=n)


def train_links(links: Sequence[Link], training: Training, n_jobs: int | None = None) -> list[Any]:
    """One fitted classifier per link, in order.

    `n_jobs` links are trained side by side: our logistic ones on threads, others by joblib's
    backend. An instance whose label is unknown is left out of that link.
    """
    training = training._replace(X=narrow(training.X))
    constant = _constant_links(links, training)
    varying = [link for link in links if link not in constant]
    if isinstance(training.base, LogisticLink):
        trained = _solve_together(varying, training, n_jobs)
    else:
        trained = _train_each(varying, training, n_jobs)
    fitted = constant | dict(zip(varying, trained, strict=True))
    return [fitted[link] for link in links]


def _constant_links(links: Sequence[Link], training: Training) -> dict[Link, LogisticLink]:
    """Links of columns with at most one known class learn nothing (all unknown: the first)."""
    codes, widths = training.codes, training.encoding.widths
    highest = codes.max(axis=0, initial=0)
    lowest = np.where(codes < 0, highest, codes).min(axis=0, initial=np.iinfo(codes.dtype).max)
    return {
        link: LogisticLink.certain(
            int(highest[link.column]), training.X.shape[1] + int(widths[list(link.parents)].sum())
        )
        for link in links
        if lowest[link.column] >= highest[link.column]
    }


def _solve_together(
    links: Sequence[Link], training: Training, n_jobs: int | None
) -> list[LogisticLink]:
    if not links:
        return []
    encoding = training.encoding
    labels = encoding.features(training.codes, range(len(encoding.sizes)))
    shared = SharedDesign(training.X, labels, training.codes, training.base)
    problems = [
        Problem(link.column, int(encoding.sizes[link.column]), encoding.places(link.parents))
        for link in links
    ]
    return shared.solve(problems, n_jobs)


def _train_each(links: Sequence[Link], training: Training, n_jobs: int | None) -> list[Any]:
    design = _Design(links, training)
    jobs = ((design, link, training.model(link.column)) for link in links)
    if effective_n_jobs(n_jobs) > 1:
        return list(Parallel(n_jobs=n_jobs)(delayed(_train)(*job) for job in jobs))
    return _train_in_turn(jobs)


def _train_in_turn(jobs: Iterator[Any]) -> list[Any]:
    """The first link is checked in full; all that is new to the others are labels, finite ones."""
    trained = [_train(*job) for job in islice(jobs, 1)]
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return trained + [_train(*job) for job in jobs]


def _train(design: "_Design", link: Link, model: Any) -> Any:
    features, y = design.of(link), np.ascontiguousarray(design.codes[:, link.column])
    known = y >= 0
    return model.fit(features, y) if known.all() else model.fit(features[known], y[known])


class _Design:
    """[x, earlier labels] of each link; links that see prefixes of one order share one copy.

    The copy is stored as X is, but by rows for LogisticRegression, which else turns it around at
    every link.
    """

    def __init__(self, links: Sequence[Link], training: Training) -> None:
        self.X, self.codes, self.encoding = training.X, training.codes, training.encoding
        self._prefix = max((link.parents for link in links), key=len, default=())
        self._room = None
        if self._prefix and not sp.issparse(self.X):
            labels = self.encoding.features(self.codes, self._prefix)
            by_rows = self.X.flags.c_contiguous or isinstance(training.base, LogisticRegression)
            self._room = np.asarray(beside(self.X, labels), order="C" if by_rows else "F")

    def of(self, link: Link) -> Any:
        """The features of one link, a view where it sees a prefix."""
        if self._room is None or link.parents != self._prefix[: len(link.parents)]:
            return beside(self.X, self.encoding.features(self.codes, link.parents))
        width = self.X.shape[1] + int(self.encoding.widths[list(link.parents)].sum())
        return self._room[:, :width]


def train_on_predictions(links: Sequence[Link], training: Training, cv: Any) -> list[Any]:
    """Links that see cross-validated predictions of the earlier labels, not the true ones."""
    X, codes, encoding = training.X, training.codes, training.encoding
    seen, models = codes.copy(), []
    for link in links:
        y = codes[:, link.column]
        given = seen.copy()
        given[:, link.column] = y
        models += train_links([link], training._replace(codes=given))
        known = y >= 0
        if len(np.unique(y[known])) > 1:
            features = beside(X, encoding.features(seen, link.parents))
            model = training.model(link.column)
            seen[known, link.column] = cross_val_predict(model, features[known], y[known], cv=cv)
    return models


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
