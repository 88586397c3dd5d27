"""Asking a fitted chain: the probabilities of its links, in batches, and paths made of them.

A path is a row of class codes in the order of the columns, not of the chain.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from labelrank._types import Array, Float64, Int32
from labelrank.declared import nested, stored, value
from labelrank.learners.chains.links import UNKNOWN, Encoding, Link, Training, beside
from labelrank.learners.chains.logistic import LogisticLink, log_probabilities
from labelrank.resources import blocks

_CELLS_AT_ONCE = 2**25


@stored(
    "FittedChain",
    1,
    links=nested("Link", many=True),
    models=nested(many=True),
    encoding=nested("Encoding"),
    seed=value(int, least=0),
)
class FittedChain(NamedTuple):
    """Links in chain order, their classifiers, their encoding, and a seed for inference."""

    links: list[Link]
    models: list[Any]
    encoding: Encoding
    seed: int

    @classmethod
    def of(cls, links: list[Link], models: list[Any], training: Training) -> "FittedChain":
        return cls(links, models, training.encoding, int(training.seeds[0]))

    def scorer(self, X: Any) -> "Scorer":
        """The quickest scorer for these models: logistic ones take their share of x only once."""
        kind = _LogisticScorer if all(map(_is_logistic, self.models)) else Scorer
        return kind(self, X)

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
            width = n_features + self.encoding.width(link.parents)
            classes = np.asarray(model.classes_)
            known = np.isin(classes, np.arange(len(columns[link.column]))).all()
            if getattr(model, "n_features_in_", width) != width or classes.ndim != 1 or not known:
                raise ValueError("a classifier does not fit its link")


def _is_logistic(model: Any) -> bool:
    if type(model) is LogisticRegression:
        return len(model.classes_) == 2 or model.solver != "liblinear"
    return isinstance(model, LogisticLink)


class Scorer:
    """A fitted chain bound to instances; one call of `predict_proba` asks about many prefixes."""

    def __init__(self, chain: FittedChain, X: Any) -> None:
        self.links, self.models, self.encoding = chain.links, chain.models, chain.encoding
        self.X, self.sizes, self.n_rows = X, chain.encoding.sizes, X.shape[0]

    def log_proba(self, position: int, codes: Int32, rows: Array | None = None) -> Float64:
        """Log probabilities (m × K); row r of `codes` is of instance `rows[r]` (None: r)."""
        model, link = self.models[position], self.links[position]
        log_proba = self._log_proba(position, self.encoding.features(codes, link.parents), rows)
        size = int(self.sizes[link.column])
        if log_proba.shape[1] == size:
            return log_proba
        full = np.full((len(log_proba), size), -np.inf)  # classes the link never met
        full[:, model.classes_] = log_proba
        return full

    def _log_proba(self, position: int, features: Float64, rows: Array | None) -> Float64:
        model = self.models[position]
        with np.errstate(divide="ignore"):
            if rows is None:
                return np.log(model.predict_proba(beside(self.X, features)))
            parts = list(blocks(len(rows), _CELLS_AT_ONCE // max(self.X.shape[1], 1)))
            asked = (beside(self.X[rows[p]], features[p]) for p in parts or [slice(0, 0)])
            return np.log(np.vstack([model.predict_proba(instances) for instances in asked]))

    def no_labels(self, n_rows: int) -> Int32:
        return np.full((n_rows, len(self.links)), UNKNOWN, dtype=np.int32)

    def log_joint(self, codes: Int32) -> Float64:
        """Log probability of the given paths; unknown labels (codes < 0) contribute nothing."""
        total = np.zeros(len(codes))
        for position, link in enumerate(self.links):
            chosen = codes[:, link.column, None]
            log_proba = self.log_proba(position, codes)
            of_chosen = np.take_along_axis(log_proba, np.maximum(chosen, 0), axis=1)
            total += np.where(chosen >= 0, of_chosen, 0.0)[:, 0]
        return total

    def by_column(self, by_position: Sequence[Any]) -> list[Any]:
        """What each link gave, in the order of the columns."""
        return [by_position[q] for q in np.argsort([link.column for link in self.links])]


class _LogisticScorer(Scorer):
    """Logistic links: the share of x in all of them is one product, computed once."""

    def __init__(self, chain: FittedChain, X: Any) -> None:
        super().__init__(chain, X)
        weights = [model.coef_[:, : X.shape[1]] for model in self.models]
        ends = np.cumsum([len(rows) for rows in weights])
        self._of_x = np.split(np.asarray(X @ np.vstack(weights).T), ends[:-1], axis=1)

    def _log_proba(self, position: int, features: Float64, rows: Array | None) -> Float64:
        model, of_x = self.models[position], self._of_x[position]
        scores = (of_x if rows is None else of_x[rows]) + model.intercept_
        if features.shape[1]:
            scores = scores + features @ model.coef_[:, self.X.shape[1] :].T
        return log_probabilities(scores, len(model.classes_))


class Decoding(NamedTuple):
    """The path chosen for each instance; log probabilities (n × classes) per column, if asked."""

    codes: Int32
    log_marginals: Callable[[], list[Float64]]


class Frontier(NamedTuple):
    """Prefixes under consideration: their instance, labels so far, and log probability."""

    instance: Array
    codes: Int32
    log: Float64

    @classmethod
    def start(cls, scorer: Scorer, n_rows: int) -> "Frontier":
        return cls(np.arange(n_rows), scorer.no_labels(n_rows), np.zeros(n_rows))

    def extend(self, column: int, log: Float64, kept: Array) -> "Frontier":
        """The children marked in `kept` (prefixes × classes), `log` their log probabilities."""
        parent, chosen = np.nonzero(kept)
        codes = self.codes[parent]
        codes[:, column] = chosen
        return Frontier(self.instance[parent], codes, log[parent, chosen])
