"""Asking a fitted chain: the probabilities of its links, in batches, and paths made of them.

A path is a row of class codes in the order of the columns, not of the chain. Every function
walks the links in chain order and asks a link about all the prefixes it needs at once.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from labelrank._types import Array, Float64, Int32
from labelrank.declared import nested, stored, value
from labelrank.learners.chains.links import Link, Training, beside, narrow
from labelrank.learners.chains.logistic import LogisticLink, log_probabilities
from labelrank.learners.chains.targets import UNKNOWN, Encoding
from labelrank.resources import blocks

_CELLS_AT_ONCE = 2**25


class Scorer(Protocol):
    """The links of a fitted chain, bound to the instances they are asked about."""

    links: list[Link]
    sizes: Array
    n_rows: int

    def log_proba(self, position: int, codes: Int32, rows: Array | None = None) -> Float64:
        """Log probabilities (m × K) of a link's classes after the earlier labels in `codes`.

        Row r of `codes` belongs to instance `rows[r]` (None: to instance r).
        """
        ...


@stored(
    "FittedChain",
    1,
    links=nested("Link", many=True),
    models=nested(many=True),
    encoding=nested("Encoding"),
    seed=value(int, least=0),
)
class FittedChain(NamedTuple):
    """Links in chain order, their classifiers, and how they see earlier labels.

    `seed` is for inference that draws random numbers.
    """

    links: list[Link]
    models: list[Any]
    encoding: Encoding
    seed: int

    @classmethod
    def of(cls, links: list[Link], models: list[Any], training: Training) -> "FittedChain":
        """The chain of links and the models trained for them."""
        return cls(links, models, training.encoding, int(training.seeds[0]))

    def scorer(self, X: Any) -> Scorer:
        """The quickest scorer for these models: logistic ones take their share of x only once."""
        if all(map(_is_logistic, self.models)):
            return _LogisticScorer(self, X)
        return _BatchScorer(self, X)

    def check(self, n_features: int, columns: Sequence[Array]) -> None:
        """Raise ValueError unless a loaded chain answers for these columns and features."""
        order = [link.column for link in self.links]
        if sorted(order) != list(range(len(columns))) or len(self.models) != len(order):
            raise ValueError("the links of a chain are not one per column")
        if self.encoding.sizes.tolist() != [len(classes) for classes in columns]:
            raise ValueError("the encoding of a chain is not that of its columns")
        for position, (link, model) in enumerate(zip(self.links, self.models, strict=True)):
            if not set(link.parents) <= set(order[:position]):
                raise ValueError("a link sees a label that no link before it predicts")
            width = n_features + int(self.encoding.widths[list(link.parents)].sum())
            classes = np.asarray(model.classes_)
            known = np.isin(classes, np.arange(len(columns[link.column])))
            if (
                getattr(model, "n_features_in_", width) != width
                or classes.ndim != 1
                or not known.all()
            ):
                raise ValueError("a classifier does not fit its link")


def _is_logistic(model: Any) -> bool:
    if type(model) is LogisticRegression:
        return len(model.classes_) == 2 or model.solver != "liblinear"
    return isinstance(model, LogisticLink)


class _BatchScorer:
    """Any classifier: one call of `predict_proba` for all the rows asked about."""

    def __init__(self, chain: FittedChain, X: Any) -> None:
        self.links, self.models, self.encoding = chain.links, chain.models, chain.encoding
        self.X, self.sizes, self.n_rows = narrow(X), chain.encoding.sizes, X.shape[0]
        self._room: Array | None = None

    def log_proba(self, position: int, codes: Int32, rows: Array | None = None) -> Float64:
        features = self.encoding.features(codes, self.links[position].parents)
        if rows is None:
            return self._ask(position, self._with_all(features))
        at_once = _CELLS_AT_ONCE // max(self.X.shape[1], 1)
        parts = list(blocks(len(rows), at_once)) or [slice(0, 0)]
        asked = [self._ask(position, beside(self.X[rows[p]], features[p])) for p in parts]
        return np.vstack(asked)

    def _with_all(self, features: Float64) -> Any:
        """X with the features written into room kept beside it: X itself is copied only once."""
        if sp.issparse(self.X) or features.shape[1] == 0:
            return beside(self.X, features)
        n, d = self.X.shape
        if self._room is None:
            self._room = np.empty((n, d + int(self.encoding.widths.sum())), self.X.dtype)
            self._room[:, :d] = self.X
        self._room[:, d : d + features.shape[1]] = features
        return self._room[:, : d + features.shape[1]]

    def _ask(self, position: int, features: Any) -> Float64:
        model, column = self.models[position], self.links[position].column
        proba = model.predict_proba(features)
        with np.errstate(divide="ignore"):
            return _at_classes(np.log(proba), model.classes_, int(self.sizes[column]))


class _LogisticScorer:
    """Logistic links: the share of x in all of them is one product, computed once."""

    def __init__(self, chain: FittedChain, X: Any) -> None:
        self.links, self.models, self.encoding = chain.links, chain.models, chain.encoding
        self.sizes, self.n_rows, self._d = chain.encoding.sizes, X.shape[0], X.shape[1]
        weights = [model.coef_[:, : self._d] for model in self.models]
        self._first = np.concatenate([[0], np.cumsum([len(rows) for rows in weights])])
        self._of_x = np.asarray(X @ np.vstack(weights).T)

    def log_proba(self, position: int, codes: Int32, rows: Array | None = None) -> Float64:
        model, link = self.models[position], self.links[position]
        of_x = self._of_x[:, self._first[position] : self._first[position + 1]]
        scores = (of_x if rows is None else of_x[rows]) + model.intercept_
        if link.parents:
            features = self.encoding.features(codes, link.parents)
            scores = scores + features @ model.coef_[:, self._d :].T
        log_proba = log_probabilities(scores, len(model.classes_))
        return _at_classes(log_proba, model.classes_, int(self.sizes[link.column]))


def _at_classes(log_proba: Array, classes: Array, size: int) -> Float64:
    """Columns by class code; a class the link never met has probability zero."""
    if log_proba.shape[1] == size:
        return log_proba
    full = np.full((len(log_proba), size), -np.inf)
    full[:, classes] = log_proba
    return full


class Decoding(NamedTuple):
    """The path chosen for each instance, and what computes the log probabilities of classes.

    `log_marginals()` gives one matrix (n × classes) per column; it is called only where scores
    are wanted.
    """

    codes: Int32
    log_marginals: Callable[[], list[Float64]]


def no_labels(scorer: Scorer, n_rows: int) -> Int32:
    """Paths on which no label is taken yet."""
    return np.full((n_rows, len(scorer.links)), UNKNOWN, dtype=np.int32)


def log_joint(scorer: Scorer, codes: Int32) -> Float64:
    """Log probability of the given paths; unknown labels (codes < 0) contribute nothing."""
    total = np.zeros(len(codes))
    for position, link in enumerate(scorer.links):
        chosen = codes[:, link.column]
        log_proba = scorer.log_proba(position, codes)
        of_chosen = np.take_along_axis(log_proba, np.maximum(chosen, 0)[:, None], axis=1)[:, 0]
        total += np.where(chosen >= 0, of_chosen, 0.0)
    return total


def conditionals(scorer: Scorer, codes: Int32) -> list[Float64]:
    """Log probabilities of each column's classes after the earlier labels of the given paths."""
    after = [scorer.log_proba(position, codes) for position in range(len(scorer.links))]
    return by_column(scorer, after)


def by_column(scorer: Scorer, by_position: Sequence[Any]) -> list[Any]:
    """What each link gave, in the order of the columns."""
    return [by_position[q] for q in np.argsort([link.column for link in scorer.links])]


class Frontier(NamedTuple):
    """Prefixes under consideration: their instance, labels so far, and log probability."""

    instance: Array
    codes: Int32
    log: Float64

    @classmethod
    def start(cls, scorer: Scorer, n_rows: int) -> "Frontier":
        """The empty prefix of each instance."""
        return cls(np.arange(n_rows), no_labels(scorer, n_rows), np.zeros(n_rows))

    def extend(self, column: int, log: Float64, kept: Array) -> "Frontier":
        """The children marked in `kept` (prefixes × classes), `log` their log probabilities."""
        parent, chosen = np.nonzero(kept)
        codes = self.codes[parent]
        codes[:, column] = chosen
        return Frontier(self.instance[parent], codes, log[parent, chosen])
