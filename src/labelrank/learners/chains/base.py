"""What all chains share: one fit, one decoding for scores and sets, and the training of links.

| learner | a link sees | inference | file |
|---|---|---|---|
| `IndependentClassifiers` (IC) | x | each column by itself | `greedy` |
| `ClassifierChain` (CC) | x and all earlier labels | greedy | `greedy` |
| `ProbabilisticClassifierChain` (PCC) | as CC | exact, beam, ε-approximate | `probabilistic` |
| `MonteCarloClassifierChain` (MCC) | as CC | best of sampled paths | `monte_carlo` |
| `ViterbiClassifierChain` (VCC) | x and the label before | exact (Viterbi) | `viterbi` |

`orders` looks for a good order (MsCC, VsCC), or lets several vote.
"""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank import decoding
from labelrank._types import Array, Int32, Int64
from labelrank.declared import (
    anything,
    check_parameters,
    choice,
    nested,
    seed,
    stored,
    threads,
    value,
)
from labelrank.errors import InputError
from labelrank.learners.base import Answer, LabelRanker
from labelrank.learners.chains.links import (
    UNKNOWN,
    UNSEEN,
    Encoding,
    Link,
    Training,
    base_estimator,
    draw_seeds,
    train_links,
    train_on_predictions,
)
from labelrank.learners.chains.scorers import Decoding, FittedChain, Scorer
from labelrank.relevance import TargetInfo, is_class_vector
from labelrank.resources import blocks

if TYPE_CHECKING:
    from labelrank.learners.chains.trellis import Trellis

Order = Sequence[int] | Int64

_ROWS_AT_ONCE = 8192
_LARGEST_LOG_ODDS = 700.0


@stored("ColumnInfo", 1, columns=anything(), holds_classes=value(bool))
@dataclass(frozen=True)
class ColumnInfo(TargetInfo):
    """What the Y of a chain looked like, besides `TargetInfo`: `columns`, the classes of each.

    `holds_classes`: Y was a matrix whose columns hold classes. A relevance matrix gives columns
    of two classes (irrelevant, relevant), a class vector one column.
    """

    columns: list[Array]
    holds_classes: bool

    @classmethod
    def look(cls, Y: Any, kind: str) -> Self:
        """Look at Y, which holds what `kind`, the parameter `targets`, says."""
        target = TargetInfo.of(Y)
        of_classes = not target.one_class and _holds_classes(Y, kind)
        if of_classes:
            columns = [np.unique(column[_is_known(column)]) for column in _dense_matrix(Y).T]
            if any(len(classes) == 0 for classes in columns):
                raise InputError("got a target column without any known class; leave it out")
        elif target.one_class:
            columns = [target.classes]
        else:
            columns = [np.arange(2)] * len(target.classes)
        return cls(**vars(target), columns=columns, holds_classes=of_classes)

    def read(self, Y: Any, n_rows: int) -> sp.csr_array:
        """Y as canonical CSR; classes become grades, their codes."""
        if not self.holds_classes:
            return super().read(Y, n_rows)
        codes = self.encode(Y, n_rows)
        return sp.csr_array(np.where(codes == UNKNOWN, np.nan, codes))

    def codes(self, Y: sp.csr_array) -> Int32:
        """The class codes of what `read` gave."""
        if self.one_class:
            return Y.indices.astype(np.int32)[:, None]
        dense = Y.toarray()
        known = dense if self.holds_classes else dense > 0
        return np.where(np.isnan(dense), UNKNOWN, known).astype(np.int32)

    def encode(self, Y: Any, n_rows: int) -> Int32:
        """Class codes of other targets: -1 unknown, -2 a class not met in training."""
        if not self.holds_classes and not self.one_class:
            return self.codes(self.read(Y, n_rows))
        dense = _dense_matrix(np.asarray(Y)[:, None] if is_class_vector(Y) else Y)
        if len(dense) != n_rows:
            raise InputError(
                f"X has {n_rows} rows but Y has {len(dense)}; give one row of Y per row of X"
            )
        if dense.shape[1] != len(self.columns):
            raise InputError(
                f"Y has {dense.shape[1]} columns but the chain has {len(self.columns)}; "
                "give the same columns in the same order"
            )
        codes = [_encoded(y, known) for y, known in zip(dense.T, self.columns, strict=True)]
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
    try:
        dense = np.asarray(Y)
    except ValueError:
        return False
    is_whole = dense.ndim == 2 and dense.dtype.kind in "iu"
    is_text = dense.ndim == 2 and dense.dtype.kind in "US"
    return is_text or (is_whole and bool(((dense != 0) & (dense != 1)).any()))


def _dense_matrix(Y: Any) -> Array:
    dense = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    if dense.ndim != 2 or dense.dtype.kind not in "biufUS":
        raise InputError(
            f"got targets of type {dense.dtype} with {dense.ndim} dimension(s); "
            "give a matrix of numbers or strings (instances × columns)"
        )
    return dense


def _encoded(y: Array, classes: Array) -> Array:
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    codes = np.where(classes[codes] == y, codes, UNSEEN)
    return np.where(_is_known(y), codes, UNKNOWN)


def _is_known(y: Array) -> Array:
    return ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), dtype=bool)


@stored(None, target_=nested("ColumnInfo"))
@dataclass(eq=False, repr=False)
class ColumnLearner(LabelRanker):
    """A learner of columns of classes, answered by one path per instance.

    Y is a relevance matrix (dense or CSR), a matrix of classes, or a class vector; NaN is unknown.
    """

    estimator: Any = None
    _: KW_ONLY
    targets: str = choice("auto", "relevance", "classes")
    n_jobs: int | None = threads()
    random_state: Any = seed()

    target_: ColumnInfo = field(init=False)

    _set_is_cut = False

    def train(self, X: Any, codes: Int32) -> None:
        """Learn from checked instances and class codes."""
        raise NotImplementedError

    def decode(self, X: Any) -> Decoding:
        """The paths of checked instances, and the log probabilities they go with."""
        raise NotImplementedError

    @property
    def column_classes_(self) -> list[Array]:
        """The classes of each column."""
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
        codes, target = self._paths(self._check_X(X, reset=False)), self.target_
        if target.one_class:
            return self.classes_[codes[:, 0]]
        if not target.holds_classes:
            return decoding.indicator(codes > 0, sparse=target.sparse, dtype=target.dtype)
        columns = zip(target.columns, codes.T, strict=True)
        return np.column_stack([classes[chosen] for classes, chosen in columns])

    def predict_proba(self, X: Any) -> Any:
        """Probability of relevance (n × K); for columns of classes, a list of n × K_l matrices."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        parts = [self.decode(block).log_marginals() for block in self._row_blocks(X)]
        proba = [np.exp(np.vstack(column)) for column in zip(*parts, strict=True)]
        if self.target_.one_class:
            return proba[0]
        return proba if self.target_.holds_classes else np.column_stack([p[:, 1] for p in proba])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the ranking; exact match for columns of classes."""
        if not self.target_.holds_classes:
            return super().score(X, y, sample_weight)
        X = self._check_X(X, reset=False)
        equal = (self._paths(X) == self.target_.encode(y, X.shape[0])).all(axis=1)
        return float(np.average(equal, weights=sample_weight))

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
        """The links of this kind of chain for an order of the columns."""
        return [
            Link(int(column), tuple(int(c) for c in self.parents(order, position)))
            for position, column in enumerate(order)
        ]

    @property
    def order_(self) -> Int64:
        """The columns in chain order."""
        return np.array([link.column for link in self.model_.links])

    @property
    def estimators_(self) -> list[Any]:
        """The fitted classifiers of the links, in chain order."""
        return self.model_.models

    @property
    def base(self) -> Any:
        """The classifier of a link, not fitted."""
        return base_estimator(self.estimator)

    def _check_combinations(self) -> None:
        _ = self.base

    def training(self, X: Any, codes: Int32, seeds: Array) -> Training:
        """What links are trained on."""
        return Training(X, codes, Encoding.of(codes, self.column_classes_), self.base, seeds)

    def train(self, X: Any, codes: Int32) -> None:
        """Train one link per column."""
        rng = check_random_state(self.random_state)
        links = self.links(_order(self.order, codes.shape[1], rng))
        training = self.training(X, codes, draw_seeds(rng, codes.shape[1]))
        if self.cv is None:
            models = train_links(links, training, self.n_jobs)
        else:
            models = train_on_predictions(links, training, self.cv)
        self.model_ = FittedChain.of(links, models, training)

    def decode(self, X: Any) -> Decoding:
        """The chosen paths."""
        return self.choose(self.model_.scorer(X), self.model_.seed)

    def log_joint(self, X: Any, Y: Any) -> Array:
        """Log probability (n,) of the given targets under the model.

        An unknown label contributes nothing; a class not met in training makes it -inf.
        """
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
        if hasattr(owner, "feature_names_in_"):
            chain.feature_names_in_ = owner.feature_names_in_
        return chain


def _order(order: Any, n_columns: int, rng: np.random.RandomState) -> Order:
    if order is None:
        return range(n_columns)
    if isinstance(order, str) and order == "random":
        return rng.permutation(n_columns)
    if isinstance(order, str) or sorted(order) != list(range(n_columns)):
        raise InputError(
            f"got order={order!r}; give each of the columns 0..{n_columns - 1} once, "
            "'random', or None for their own order"
        )
    return list(order)
