"""The links of a chain: what each predicts, what it sees, and how all are trained.

Which earlier labels a link sees is all that tells the models of Read, Martino & Luengo apart: none
(independent classifiers, Eq. 4), all of them (full chain, Eq. 6), or the last (Viterbi, Eq. 9).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.parallel import Parallel, delayed

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import anything, array, stored, value
from labelrank.decoding import has_probabilities
from labelrank.errors import InputError
from labelrank.learners.around import seeded
from labelrank.learners.chains.logistic import LogisticLink, Problem, SharedDesign
from labelrank.relevance import TargetInfo, is_class_vector, missing, numbers_of
from labelrank.rows import short_indices

UNKNOWN, UNSEEN = -1, -2


@stored("ColumnInfo", 1, columns=anything(), holds_classes=value(bool))
@dataclass(frozen=True)
class ColumnInfo(TargetInfo):
    """Also the classes of the `columns`; relevance gives columns of two, a class vector one."""

    columns: list[Array]
    holds_classes: bool

    @classmethod
    def look(cls, Y: Any, kind: str) -> Self:
        Y = Y if len(getattr(Y, "shape", ())) == 2 or is_class_vector(Y) else _rectangle(Y)
        target = TargetInfo.of(Y)
        of_classes = not target.one_class and _holds_classes(Y, kind)
        if of_classes:
            columns = [np.unique(column[~missing(column)]) for column in _columns(Y)]
            columns = [np.array(c.tolist()) if c.dtype.kind == "O" else c for c in columns]
            if any(len(classes) == 0 for classes in columns):
                raise InputError("got a target column without any known class; leave it out")
        elif target.one_class:
            columns = [target.classes]
        else:
            columns = [np.arange(2)] * len(target.classes)
        return cls(**vars(target), columns=columns, holds_classes=of_classes)

    def read(self, Y: Any, n_rows: int) -> sp.csr_array:
        if not self.holds_classes:
            return super().read(Y, n_rows)
        codes = self.encode(Y, n_rows)
        return sp.csr_array(np.where(codes == UNKNOWN, np.nan, codes))

    def codes(self, Y: sp.csr_array) -> Int32:
        if self.one_class:
            return Y.indices.astype(np.int32)[:, None]
        dense = Y.toarray()
        known = dense if self.holds_classes else dense > 0
        return np.where(np.isnan(dense), UNKNOWN, known).astype(np.int32)

    def encode(self, Y: Any, n_rows: int) -> Int32:
        """Class codes of other targets: -1 unknown, -2 a class not met in training."""
        if not self.holds_classes and not self.one_class:
            return self.codes(self.read(Y, n_rows))
        given = _columns(np.asarray(Y)[:, None] if is_class_vector(Y) else Y)
        if len(given) != len(self.columns):
            raise InputError(
                f"Y has {len(given)} columns but the chain has {len(self.columns)}; "
                "give the same columns in the same order"
            )
        if len(given[0]) != n_rows:
            raise InputError(
                f"X has {n_rows} rows but Y has {len(given[0])}; give one row of Y per row of X"
            )
        codes = [_encoded(y, known) for y, known in zip(given, self.columns, strict=True)]
        return np.column_stack(codes).astype(np.int32)

    def after_loading(self) -> None:
        n_columns = 1 if self.one_class else len(self.classes)
        sound = all(np.ndim(classes) == 1 and len(classes) for classes in self.columns)
        if len(self.columns) != n_columns or not sound:
            raise ValueError("the classes of the columns do not fit the target")


def _holds_classes(Y: Any, kind: str) -> bool:
    """Whether the columns of Y are classes; see `targets` of `IndependentClassifiers`."""
    if kind != "auto" or sp.issparse(Y):
        return kind == "classes"
    dense = np.asarray(Y)
    if dense.dtype.kind == "O":  # whole numbers with gaps, or texts
        known = dense[~missing(dense)].tolist()
        if all(isinstance(value, int) for value in known):
            return not set(known) <= {0, 1}
        return any(isinstance(value, str) for value in known)
    if dense.dtype.kind not in "iu":
        return dense.dtype.kind in "US"
    return bool(((dense != 0) & (dense != 1)).any())


def _columns(Y: Any) -> list[Array]:
    """The columns of targets: each of numbers, or of texts and None where one is unknown."""
    dense = Y.toarray() if sp.issparse(Y) else _rectangle(Y)
    columns = [numbers_of(column) for column in dense.T]
    for column in columns:
        if column.dtype.kind == "O":
            gaps = missing(column)
            if not all(isinstance(value, str) for value in column[~gaps]):
                raise InputError("got a target column of texts and other values; give one kind")
            column[gaps] = None
    return columns


def _rectangle(Y: Any) -> Array:
    try:
        dense = np.array(Y)
    except ValueError as error:
        raise InputError("got targets in rows of unequal length; give one per column") from error
    if dense.ndim != 2 or dense.dtype.kind not in "biufUSO":
        raise InputError(
            f"got targets of type {dense.dtype} with {dense.ndim} dimension(s); "
            "give a matrix of numbers or strings (instances × columns)"
        )
    return dense


def _encoded(y: Array, classes: Array) -> Array:
    found = np.full(len(y), UNKNOWN)
    known = ~missing(y)
    values = np.array(y[known].tolist()) if y.dtype.kind == "O" else y[known]
    if len(values) and (values.dtype.kind in "US") != (classes.dtype.kind in "US"):
        raise InputError("got a target column of texts for one of numbers, or the reverse")
    codes = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
    found[known] = np.where(classes[codes] == values, codes, UNSEEN)
    return found


@stored("Link", 1, column=value(int, least=0), parents=value(tuple))
class Link(NamedTuple):
    """The column a link predicts and the earlier columns it sees."""

    column: int
    parents: tuple[int, ...]

    def after_loading(self) -> None:
        if not all(type(parent) is int for parent in self.parents):
            raise ValueError("a link sees columns that are no numbers")


@stored("Encoding", 1, sizes=array("i8", "columns"), frequencies=array("f8", "columns", "widest"))
class Encoding(NamedTuple):
    """How earlier labels enter a link: one 0/1 feature for two classes, else one per class."""

    sizes: Int64
    frequencies: Float64

    @classmethod
    def of(cls, codes: Int32, columns: Sequence[Array]) -> Self:
        sizes = np.array([len(classes) for classes in columns])
        counts = np.array([(codes == c).sum(axis=0) for c in range(sizes.max())])
        return cls(sizes, (counts / np.maximum(counts.sum(axis=0), 1)).T.copy())

    @property
    def widths(self) -> Int64:
        return np.where(self.sizes == 2, 1, np.where(self.sizes == 1, 0, self.sizes))

    def features(self, codes: Int32, parents: Sequence[int]) -> Float64:
        """Features of the `parents` columns; of an unknown label the frequencies of classes."""
        chosen = np.asarray(parents, dtype=np.intp)
        if (self.sizes[chosen] == 2).all():
            values = codes[:, chosen].astype(float)
            return np.where(values < 0, self.frequencies[chosen, 1], values)
        blocks = [np.empty((len(codes), 0))]
        for c, size, width in zip(chosen, self.sizes[chosen], self.widths[chosen], strict=True):
            table = np.vstack([np.eye(size), self.frequencies[c, :size]])[:, size - width :]
            blocks.append(table[np.where(codes[:, c] < 0, size, codes[:, c])])
        return np.hstack(blocks)

    def width(self, parents: Sequence[int]) -> int:
        return int(self.widths[list(parents)].sum())

    def places(self, parents: Sequence[int]) -> Int64:
        """Where these columns' features stand among those of all columns."""
        starts = np.cumsum(self.widths) - self.widths
        spans = [np.arange(starts[c], starts[c] + self.widths[c]) for c in parents]
        return np.concatenate([np.empty(0, dtype=np.int64), *spans])

    def after_loading(self) -> None:
        if self.sizes.min(initial=1) < 1 or self.sizes.max(initial=0) != self.frequencies.shape[1]:
            raise ValueError("the numbers of classes do not fit their frequencies")


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
    if isinstance(estimator, str) or not has_probabilities(estimator):
        raise InputError(
            f"got estimator={estimator!r}, which has no predict_proba; chains multiply "
            "probabilities, so give a classifier that has it, or 'logistic-fast'"
        )
    return estimator


def draw_seeds(rng: np.random.RandomState, n: int) -> Array:
    return rng.randint(np.iinfo(np.int32).max, size=n)


def train_links(links: Sequence[Link], training: Training, n_jobs: int | None = None) -> list[Any]:
    """One fitted classifier per link, in order; instances of unknown label are left out of it."""
    constant = _constant_links(links, training)
    varying = [link for link in links if link not in constant]
    together = isinstance(training.base, LogisticLink)
    trained = (_solve_together if together else _train_each)(varying, training, n_jobs)
    fitted = constant | dict(zip(varying, trained, strict=True))
    return [fitted[link] for link in links]


def _constant_links(links: Sequence[Link], training: Training) -> dict[Link, LogisticLink]:
    """Links of columns with at most one known class learn nothing (all unknown: the first)."""
    X, codes, encoding = training.X, training.codes, training.encoding
    highest = codes.max(axis=0, initial=0)
    lowest = np.where(codes < 0, highest, codes).min(axis=0, initial=np.iinfo(codes.dtype).max)
    return {
        link: LogisticLink.certain(
            int(highest[link.column]), X.shape[1] + encoding.width(link.parents)
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
    """The first link is checked in full; all that is new to the others are labels, finite ones."""
    if effective_n_jobs(n_jobs) > 1:
        return list(Parallel(n_jobs=n_jobs)(delayed(_train)(link, training) for link in links))
    first = [_train(link, training) for link in links[:1]]
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return first + [_train(link, training) for link in links[1:]]


def _train(link: Link, training: Training) -> Any:
    y = np.ascontiguousarray(training.codes[:, link.column])
    features = beside(training.X, training.encoding.features(training.codes, link.parents))
    known, model = y >= 0, training.model(link.column)
    return model.fit(features, y) if known.all() else model.fit(features[known], y[known])


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
    """[x, earlier labels], stored as X is."""
    if features.shape[1] == 0:
        return X
    features = features.astype(X.dtype, copy=False)
    if sp.issparse(X):
        return short_indices(sp.csr_array(sp.hstack([X, sp.csr_array(features)])))
    return np.asarray(np.hstack([X, features]), order="C" if X.flags.c_contiguous else "F")
