"""What all chains share: reading targets, training links, and answering from paths."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import cross_val_predict
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank import decoding
from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.learners.base import Answer, LabelRanker, unchanged_if_refused
from labelrank.learners.chains import inference
from labelrank.learners.chains.links import (
    Link,
    Scorer,
    base_estimator,
    beside,
    make_scorer,
    seeded,
    train_links,
)
from labelrank.learners.chains.targets import (
    UNSEEN,
    Encoding,
    Targets,
    encode,
    holds_classes,
    read_classes,
    read_relevance,
)
from labelrank.learners.chains.trellis import Trellis, grow_trellis
from labelrank.relevance import TargetInfo, is_class_vector

Codes = npt.NDArray[np.int32]
Order = Sequence[int] | npt.NDArray[np.int64]

_ROWS_AT_ONCE = 8192
_LARGEST_LOG_ODDS = 700.0
_DECLARED = (
    "target_", "n_features_in_", "feature_names_in_", "column_classes_",
    "cardinality_", "_multidimensional", "n_seen_",
)  # fmt: skip


class ColumnLearner(LabelRanker):
    """A learner of columns of classes, answered by one path an instance.

    A subclass trains in `_learn_columns`, and tells of a block of instances its path (`_paths`)
    and the log probabilities of the classes of each column (`_log_marginals`).
    """

    _set_is_cut = False

    def _learn_columns(self, X: Any, targets: Targets) -> None:
        raise NotImplementedError

    def _paths(self, X: Any) -> Codes:
        raise NotImplementedError

    def _log_marginals(self, X: Any) -> list[Array]:
        raise NotImplementedError

    def _log_joint(self, X: Any, codes: Codes) -> Array:
        raise NotImplementedError

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from instances X (n × d) and targets Y.

        Y is a relevance matrix (dense or CSR), a matrix of classes (see `targets`), or a class
        vector; NaN is unknown.
        """
        with unchanged_if_refused(self):
            self._check()
            X = self._check_X(X, reset=True, Y=Y)
            self.target_ = TargetInfo.of(Y)
            targets = self._read(Y, X.shape[0])
            self.column_classes_ = targets.classes
            relevant = (targets.codes > 0).sum(axis=1).mean()
            self.cardinality_ = 1.0 if self._one_class else float(relevant)
            self.n_seen_ = X.shape[0]
            self._learn_columns(X, targets)
        return self

    def _read(self, Y: Any, n_rows: int) -> Targets:
        self._multidimensional = not self._one_class and holds_classes(Y, self.targets)
        if self._one_class:
            self.target_.read(Y, n_rows)
            codes = np.searchsorted(self.classes_, np.asarray(Y))[:, None]
            return Targets(codes.astype(np.int32), [self.classes_])
        return (read_classes if self._multidimensional else read_relevance)(Y, n_rows)

    def _codes(self, Y: Any, n_rows: int) -> Codes:
        """Codes of given targets, -1 unknown, -2 a class not met in training."""
        if self._one_class and is_class_vector(Y):
            return encode(np.asarray(Y)[:, None], self.column_classes_, n_rows)
        if self._multidimensional:
            return encode(Y, self.column_classes_, n_rows)
        self.target_.read(Y, n_rows)
        return read_relevance(Y, n_rows).codes

    def predict(self, X: Any) -> Any:
        """The chosen path: a 0/1 matrix, the classes of each column, or one class an instance."""
        check_is_fitted(self)
        codes = self._in_blocks(self._check_X(X, reset=False), self._paths)
        if self._one_class:
            return self.classes_[codes[:, 0]]
        if not self._multidimensional:
            return decoding.indicator(
                codes > 0, sparse=self.target_.sparse, dtype=self.target_.dtype
            )
        columns = zip(self.column_classes_, codes.T, strict=True)
        return np.column_stack([classes[chosen] for classes, chosen in columns])

    def predict_proba(self, X: Any) -> Any:
        """Probability of relevance (n × K), or for columns of classes a list of n × K_l matrices.

        What they mean is the learner's own: see the class.
        """
        check_is_fitted(self)
        found = [np.exp(m) for m in self._all_log_marginals(self._check_X(X, reset=False))]
        if self._one_class:
            return found[0]
        return found if self._multidimensional else np.column_stack([p[:, 1] for p in found])

    def log_joint(self, X: Any, Y: Any) -> Array:
        """Log probability (n,) of the given targets under the model.

        An unknown label contributes nothing; a class that training never showed makes it -inf.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        codes = self._codes(Y, X.shape[0])
        found = self._log_joint(X, np.maximum(codes, -1))
        return np.where((codes == UNSEEN).any(axis=1), -np.inf, found)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the ranking; exact match for columns of classes."""
        if not self._multidimensional:
            return super().score(X, y, sample_weight)
        X = self._check_X(X, reset=False)
        equal = (self._in_blocks(X, self._paths) == self._codes(y, X.shape[0])).all(axis=1)
        return float(np.average(equal, weights=sample_weight))

    def _adopt(self, owner: "ColumnLearner") -> None:
        """Take over what `owner` learned about the form of X and Y, to answer in its place."""
        for name in _DECLARED:
            if hasattr(owner, name):
                setattr(self, name, getattr(owner, name))

    def _scores(self, X: Any) -> Array:
        """Log odds of relevance (log probabilities of the classes after a class vector)."""
        found = self._all_log_marginals(X)
        if self._one_class:
            return np.maximum(found[0], -_LARGEST_LOG_ODDS)
        if self._multidimensional:
            raise InputError(
                f"{type(self).__name__} was fitted on columns of classes, which have no one "
                "ranking; use predict or predict_proba"
            )
        odds = np.column_stack([m[:, 1] - m[:, 0] for m in found])
        return np.clip(odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)

    def _answer(self, X: Any) -> Answer:
        return Answer(self._scores(X), self._in_blocks(X, self._paths) > 0)

    def _all_log_marginals(self, X: Any) -> list[Array]:
        parts = [self._log_marginals(X[b]) for b in _blocks(X)]
        return [np.vstack(columns) for columns in zip(*parts, strict=True)]

    def _in_blocks(self, X: Any, answer: Callable[[Any], Codes]) -> Codes:
        return np.vstack([answer(X[b]) for b in _blocks(X)])


def _blocks(X: Any) -> list[slice]:
    return [slice(a, a + _ROWS_AT_ONCE) for a in range(0, X.shape[0], _ROWS_AT_ONCE)]


class ChainLearner(ColumnLearner):
    """One chain: links in an order. A subclass says what a link sees, and which path it takes."""

    def _parents(self, order: Order, position: int) -> Order:
        """The earlier columns the link at `position` sees: all of them, unless overridden."""
        return order[:position]

    def _decode(self, scorer: Scorer) -> Codes:
        raise NotImplementedError

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        """By default the log probabilities after the earlier labels of the chosen path."""
        return inference.conditionals(scorer, self._decode(scorer))

    def _check_parameters(self) -> None:
        base_estimator(self.estimator)

    def links(self, order: Order) -> list[Link]:
        """The links of this kind of chain for an order of the columns."""
        return [
            Link(int(column), tuple(int(c) for c in self._parents(order, position)))
            for position, column in enumerate(order)
        ]

    def _learn_columns(self, X: Any, targets: Targets) -> None:
        rng = check_random_state(self.random_state)
        n_columns = targets.codes.shape[1]
        order = _order(getattr(self, "order", None), n_columns, rng)
        links, seeds = self.links(order), draw_seeds(rng, n_columns)
        base, encoding = base_estimator(self.estimator), Encoding(targets)
        cv = getattr(self, "cv", None)
        if cv is None:
            models = train_links(links, X, targets.codes, encoding, base, seeds, self.n_jobs)
        else:
            models = _train_on_predictions(links, X, targets, base, seeds, cv)
        self._take(links, models, encoding, int(seeds[0]))

    def _take(self, links: list[Link], models: list[Any], encoding: Encoding, seed: int) -> None:
        """Become the chain of these fitted links."""
        self.order_ = np.array([link.column for link in links])
        self.estimators_ = models
        self._links, self._encoding, self._seed = links, encoding, seed

    def _scorer(self, X: Any) -> Scorer:
        return make_scorer(self._links, self.estimators_, self._encoding, X)

    def _paths(self, X: Any) -> Codes:
        return self._decode(self._scorer(X))

    def _log_marginals(self, X: Any) -> list[Array]:
        return self._decode_marginals(self._scorer(X))

    def _log_joint(self, X: Any, codes: Codes) -> Array:
        return inference.log_joint(self._scorer(X), codes)

    def trellis(self, x: Any) -> Trellis:
        """The states, probabilities, best and greedy path of one instance; draw it with `draw`."""
        check_is_fitted(self)
        X = x if len(getattr(x, "shape", ())) == 2 else np.atleast_2d(np.asarray(x))
        X = self._check_X(X, reset=False)
        if X.shape[0] != 1:
            raise InputError(f"got {X.shape[0]} instances; a trellis shows one, so give one row")
        names = ["class"] if self._one_class else [str(name) for name in self.classes_]
        scorer = self._scorer(X)
        return grow_trellis(scorer, self._decode(scorer), names, self.column_classes_)


def draw_seeds(rng: np.random.RandomState, n_columns: int) -> Array:
    """One seed a column, for links whose classifier is random."""
    return rng.randint(np.iinfo(np.int32).max, size=n_columns)


def _order(order: Any, n_columns: int, rng: np.random.RandomState) -> Order:
    if order is None:
        return list(range(n_columns))
    if isinstance(order, str) and order == "random":
        return [int(c) for c in rng.permutation(n_columns)]
    if isinstance(order, str) or sorted(order) != list(range(n_columns)):
        raise InputError(
            f"got order={order!r}; give each of the columns 0..{n_columns - 1} once, "
            "'random', or None for their own order"
        )
    return [int(c) for c in order]


def _train_on_predictions(
    links: list[Link], X: Any, targets: Targets, base: Any, seeds: Array, cv: Any
) -> list[Any]:
    """Links that see cross-validated predictions of the earlier labels instead of the true ones."""
    encoding, seen, models = Encoding(targets), targets.codes.copy(), []
    for link in links:
        y = targets.codes[:, link.column]
        given = seen.copy()
        given[:, link.column] = y
        models += train_links([link], X, given, encoding, base, seeds)
        known = y >= 0
        if len(np.unique(y[known])) > 1:
            features = beside(X, encoding.features(seen, link.parents))
            model = seeded(base, seeds[link.column])
            seen[known, link.column] = cross_val_predict(model, features[known], y[known], cv=cv)
    return models
