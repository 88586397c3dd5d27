"""What all chains share: one fit, one decoding for scores and sets, and the training of links."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank import decoding
from labelrank._types import Array, Int32, Int64
from labelrank.declared import (
    a_learner,
    check_parameters,
    choice,
    nested,
    seed,
    stored,
    threads,
)
from labelrank.errors import InputError
from labelrank.learners.base import Answer, LabelRanker
from labelrank.learners.chains.links import (
    UNKNOWN,
    UNSEEN,
    ColumnInfo,
    Encoding,
    Link,
    Training,
    base_estimator,
    draw_seeds,
    train_links,
    train_on_predictions,
)
from labelrank.learners.chains.scorers import Decoding, FittedChain, Scorer
from labelrank.resources import blocks

if TYPE_CHECKING:
    from labelrank.learners.chains.trellis import Trellis

Order = Sequence[int] | Int64

_ROWS_AT_ONCE = 8192
_LARGEST_LOG_ODDS = 700.0


@stored(None, target_=nested("ColumnInfo"))
@dataclass(eq=False, repr=False)
class ColumnLearner(LabelRanker):
    """A learner of columns of classes, answered by one path per instance."""

    estimator: Any = field(default=None, metadata=a_learner("logistic-fast"))
    _: KW_ONLY
    targets: str = choice("auto", "relevance", "classes")
    n_jobs: int | None = threads()
    random_state: Any = seed()

    target_: ColumnInfo = field(init=False)

    _set_is_cut = False

    def train(self, X: Any, codes: Int32) -> None:
        raise NotImplementedError

    def decode(self, X: Any) -> Decoding:
        raise NotImplementedError

    @property
    def column_classes_(self) -> list[Array]:
        return self.target_.columns

    def _look_at(self, Y: Any) -> ColumnInfo:
        return ColumnInfo.look(Y, self.targets)

    def _learn(self, X: Any, Y: Any) -> None:
        self.train(X, self.target_.codes(Y))

    def _row_blocks(self, X: Any) -> Iterator[Any]:
        return (X[rows] for rows in blocks(X.shape[0], _ROWS_AT_ONCE))

    def _paths(self, X: Any) -> Int32:
        return self._stacked(lambda block: self.decode(block).codes, X)

    def predict(self, X: Any) -> Any:
        """The chosen path: a 0/1 matrix, the classes of each column, or one class per instance."""
        check_is_fitted(self)
        if not self.target_.holds_classes:
            return super().predict(X)
        codes = self._paths(self._check_X(X, reset=False))
        columns = zip(self.target_.columns, codes.T, strict=True)
        answers = [classes[chosen] for classes, chosen in columns]
        if len({answer.dtype.kind in "US" for answer in answers}) > 1:  # a number stays one
            answers = [answer.astype(object) for answer in answers]
        return np.column_stack(answers)

    def predict_proba(self, X: Any) -> Any:
        """Probability of relevance (n × K); for columns of classes, a list of n × K_l matrices.

        They are the marginals, whose log odds `decision_function` gives; where the most probable
        set contradicts them, the nearest ones that agree with the ranking.
        """
        check_is_fitted(self)
        if not self.target_.holds_classes:
            return super().predict_proba(X)
        X = self._check_X(X, reset=False)
        parts = [self.decode(block).log_marginals() for block in self._row_blocks(X)]
        return [np.exp(np.vstack(column)) for column in zip(*parts, strict=True)]

    def link(self, scores: Array) -> Array:
        return np.exp(scores) if self.target_.one_class else np.asarray(expit(scores))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the ranking; exact match for columns of classes."""
        if not self.target_.holds_classes:
            return super().score(X, y, sample_weight)
        X = self._check_X(X, reset=False)
        equal = (self._paths(X) == self.target_.encode(y, X.shape[0])).all(axis=1)
        return float(np.average(equal, weights=sample_weight))

    def _silent(self, X: Any) -> Array:
        return super()._silent(X) & (not self.target_.holds_classes)

    def _scores(self, X: Any) -> Array:
        return self._log_odds(self.decode(X))

    def _answer(self, X: Any) -> Answer:
        decoded = self.decode(X)
        scores = self._log_odds(decoded)
        of_one = self.target_.one_class
        return Answer(scores, decoding.first(scores, 1) if of_one else decoded.codes > 0)

    def _log_odds(self, decoded: Decoding) -> Array:
        """Log odds of relevance (log probabilities of the classes after a class vector)."""
        if self.target_.holds_classes:
            raise InputError(
                f"{type(self).__name__} was fitted on columns of classes, which have no one "
                "ranking; use predict or predict_proba"
            )
        log_marginals = decoded.log_marginals()
        if self.target_.one_class:
            return np.maximum(log_marginals[0], -_LARGEST_LOG_ODDS)
        odds = np.column_stack([m[:, 1] - m[:, 0] for m in log_marginals])
        return np.clip(odds, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)


@stored(None, model_=nested("FittedChain"))
class ChainLearner(ColumnLearner):
    """One chain: links in an order."""

    order: Any = None
    cv: Any = None

    def parents(self, order: Order, position: int) -> Order:
        """The earlier columns the link at `position` sees: all of them, unless overridden."""
        return order[:position]

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        """The path this kind of chain takes; `seed` is for those that draw random numbers."""
        raise NotImplementedError

    def links(self, order: Order) -> list[Link]:
        return [
            Link(int(column), tuple(int(c) for c in self.parents(order, position)))
            for position, column in enumerate(order)
        ]

    @property
    def order_(self) -> Int64:
        return np.array([link.column for link in self.model_.links])

    @property
    def estimators_(self) -> list[Any]:
        return self.model_.models

    @property
    def base(self) -> Any:
        return base_estimator(self.estimator)

    def _check_combinations(self) -> None:
        _ = self.base

    def training(self, X: Any, codes: Int32, seeds: Array) -> Training:
        return Training(X, codes, Encoding.of(codes, self.column_classes_), self.base, seeds)

    def train(self, X: Any, codes: Int32) -> None:
        rng = check_random_state(self.random_state)
        links = self.links(_order(self.order, codes.shape[1], rng))
        training = self.training(X, codes, draw_seeds(rng, codes.shape[1]))
        if self.cv is None:
            models = train_links(links, training, self.n_jobs)
        else:
            models = train_on_predictions(links, training, self.cv)
        self.model_ = FittedChain.of(links, models, training)

    def decode(self, X: Any) -> Decoding:
        return self.choose(self.model_.scorer(X), self.model_.seed)

    def log_joint(self, X: Any, Y: Any) -> Array:
        """Log probability (n,) of the targets: unknown labels add 0, unseen classes give -inf."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        codes = self.target_.encode(Y, X.shape[0])
        log = self.model_.scorer(X).log_joint(np.maximum(codes, UNKNOWN))
        return np.where((codes == UNSEEN).any(axis=1), -np.inf, log)

    def trellis(self, x: Any) -> "Trellis":
        """The states, probabilities, best and greedy path of one instance; draw it with `draw`."""
        from labelrank.learners.chains.trellis import grow_trellis

        check_is_fitted(self)
        X = x if len(getattr(x, "shape", ())) == 2 else np.atleast_2d(np.asarray(x))
        X = self._check_X(X, reset=False)
        if X.shape[0] != 1:
            raise InputError(f"got {X.shape[0]} instances; a trellis shows one, so give one row")
        names = ["class"] if self.target_.one_class else [str(name) for name in self.classes_]
        scorer = self.model_.scorer(X)
        path = self.choose(scorer, self.model_.seed).codes
        return grow_trellis(scorer, path, names, self.column_classes_)

    def after_loading(self) -> None:
        self.model_.check(self.n_features_in_, self.column_classes_)

    def inside(self, owner: ColumnLearner, **parameters: Any) -> Self:
        """An untrained copy that knows the form of X and Y of a search or an ensemble."""
        chain = clone(self).set_params(**parameters)
        check_parameters(chain)
        chain.target_, chain.cardinality_ = owner.target_, owner.cardinality_
        chain.n_seen_, chain.n_features_in_ = owner.n_seen_, owner.n_features_in_
        chain.label_counts_ = owner.label_counts_
        if hasattr(owner, "feature_names_in_"):
            chain.feature_names_in_ = owner.feature_names_in_
        return chain


def _order(order: Any, n_columns: int, rng: np.random.RandomState) -> Order:
    if order is None:
        return range(n_columns)
    if isinstance(order, str) and order == "random":
        return rng.permutation(n_columns)
    listed = [] if isinstance(order, str) or not np.iterable(order) else list(order)
    if not all(isinstance(k, int | np.integer) for k in listed) or sorted(listed) != list(
        range(n_columns)
    ):
        raise InputError(
            f"got order={order!r}; give each of the columns 0..{n_columns - 1} once, "
            "'random', or None for their own order"
        )
    return listed
