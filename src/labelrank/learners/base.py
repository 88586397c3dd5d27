"""What every learner shares: checking input, and turning scores into answers and reasons.

A learner implements `_learn(X, Y)` and `_scores(X)` (and `_learn_more(X, Y)` if it learns in
pieces) on checked input: X a CSR or dense float matrix, Y canonical CSR relevance. The promise
kept here for all: `rank` sorts the scores, and the predicted set is a prefix of the ranking.
"""

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank import decoding
from labelrank._estimators import BaseEstimator, ClassifierMixin
from labelrank._types import Array, Float64, Int64
from labelrank.declared import array, check_parameters, nested, stored, value
from labelrank.errors import InputError, InputTypeError, one_sentence
from labelrank.interrupts import held_back
from labelrank.preferences import Arcs, checked_arcs
from labelrank.relevance import LabelCounts, TargetInfo, cardinality, check_relevance, without_mask
from labelrank.resources import blocks
from labelrank.rows import canonical, check_magnitude, count_zeros, short_indices

_SCORES_AT_ONCE = 1 << 20


class Answer(NamedTuple):
    """What a learner says of n instances: `scores`, and the predicted sets as booleans (n × K)."""

    scores: Array
    members: Array


class Seen(NamedTuple):
    """What every learner notes of the instances it learns; of pieces it adds up to the whole's."""

    n_rows: int
    n_relevant: int
    n_features: int
    counts: LabelCounts

    def merged(self, other: "Seen") -> "Seen":
        """With the instances of another piece."""
        n_rows, n_relevant = self.n_rows + other.n_rows, self.n_relevant + other.n_relevant
        return Seen(n_rows, n_relevant, self.n_features, self.counts.merged(other.counts))


@stored(
    None,
    target_=nested("TargetInfo"),
    n_features_in_=value(int, least=0, length="d"),
    feature_names_in_=array("O", "d", optional=True),
    cardinality_=value(float, least=0.0, most="K"),
    n_seen_=value(int, least=0),
    label_counts=nested("LabelCounts", attribute="label_counts_", optional=True),
)
class LabelRanker(decoding.Probable, decoding.Prior, ClassifierMixin, BaseEstimator):
    """Base of all learners.

    Fitted on a relevance matrix (n × K), `decision_function` gives n × K scores, `rank` label
    indices, `predict` a 0/1 matrix (sparse if Y was). Fitted on a class vector (one relevant
    label per instance), scikit-learn's conventions hold: `predict` gives the top-ranked class,
    and the decision function of two classes is one column, the second over the first.
    Where a learner has no threshold of its own, its parameter `threshold` cuts the ranking: at a
    score, or at as many labels as an instance had on average ("cardinality"). Of an
    instance without any feature nothing is known: its labels are ranked by how often they are
    relevant (see `decoding.Prior`). `n_jobs` threads never change a result; `verbose` above 0
    shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels: column names of Y where it has them, the classes of a class vector, else 0..K-1.
    n_labels_, n_features_in_ : int
    """

    threshold: Any  # of learners that are not calibrated

    # A calibrated learner scores relative to the threshold label: the set is `scores > 0`.
    _calibrated = True
    # False where the set is not a cut of the scores (chains, label powerset): the ranking then
    # puts the predicted set first.
    _set_is_cut = True

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        raise NotImplementedError

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError

    def _answer(self, X: Any) -> Answer:
        """Scores and sets of checked instances; learners whose sets are no cut override it."""
        scores = self._scores(X)
        return Answer(scores, self._members(scores))

    def _members(self, scores: Array) -> Array:
        if self.target_.one_class:
            return decoding.first(scores, 1)
        if self._calibrated:
            return decoding.above(scores)
        if self.threshold == "cardinality":
            return decoding.first(scores, round(self.cardinality_))
        return decoding.above(scores, float(self.threshold))

    def _answered(self, X: Any) -> Answer:
        scores, members = self._answer(X)
        completed = self._completed(X, scores)
        if completed is not scores:
            prior = self._members(self._prior()[None])
            members = np.where(self._silent(X)[:, None], prior, members)
        return Answer(completed, members)

    def _check_combinations(self) -> None:
        """Raise InputError for parameters that are right one by one but do not go together."""

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        """Raise InputError for instances or relevance that this learner cannot use."""

    def _look_at(self, Y: Any) -> TargetInfo:
        """What the Y of `fit` looks like; learners of other targets than relevance override it."""
        return TargetInfo.of(Y)

    @property
    def classes_(self) -> Array:
        """The labels, in the order of the columns of Y."""
        return self.target_.classes

    @property
    def n_labels_(self) -> int:
        """How many labels there are."""
        return len(self.target_.classes)

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from instances X (n × d) and relevance Y (n × K), forgetting what was learned."""
        return self._fit(X, Y, self._learn)

    def _fit(self, X: Any, Y: Any, learn: Callable[[Any, sp.csr_array], None]) -> Self:
        with unchanged_if_refused(self):
            self.check_parameters()
            X = self._check_X(X, reset=True, Y=Y)
            target = self._look_at(Y)
            Y = target.read(Y, X.shape[0])
            self._check_values(X, Y)
            self.target_, self.n_seen_ = target, X.shape[0]
            self.cardinality_ = cardinality(Y)
            self.label_counts_ = LabelCounts.none()
            self._count_labels(X, Y)
            learn(X, Y)
        return self

    def look_at_piece(self, X: Any, Y: sp.csr_array) -> Seen:
        """What `fit` would note of these instances, checked as it does.

        With `note`, for who brings a learner what it learns in pieces, from elsewhere.
        """
        n, d = X.shape
        if n:
            X = self._check_X(X, reset=True, Y=Y)
            Y = check_relevance(Y, n_rows=n)
            self._check_values(X, Y)
        none = LabelCounts.none()
        silent = int(np.count_nonzero(self._without_features(X)))
        return Seen(n, int((Y.data > 0).sum()), d, none.add(Y, silent, count_zeros(X)))

    def note(self, seen: Seen) -> None:
        """Be a learner of instances of which no more than this is known here."""
        self.check_parameters()
        n_labels = len(seen.counts.known)
        self.n_features_in_, self.target_ = seen.n_features, _of_relevance(n_labels)
        self.n_seen_, self.label_counts_ = seen.n_rows, seen.counts
        self.cardinality_ = seen.n_relevant / max(seen.n_rows, 1)

    def decision_function(self, X: Any) -> Array:
        """Scores, larger is more relevant; 0 is the threshold of a calibrated learner."""
        scores = self._stacked(self._scored, self._ready(X))
        if self.target_.one_class and self.n_labels_ == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def answer(self, X: Any) -> Answer:
        """Scores and predicted sets of the same instances, computed once."""
        answers = [self._answered(block) for block in self._row_blocks(self._ready(X))]
        if len(answers) == 1:
            return answers[0]
        return Answer(*(np.vstack(parts) for parts in zip(*answers, strict=True)))

    def predict(self, X: Any) -> Any:
        """The relevant labels: a 0/1 matrix, or the top-ranked class after a class vector."""
        X, target = self._ready(X), self.target_
        if target.one_class:
            return self.classes_[self._first(X, 1)[:, 0]]
        members = map(self._sets, self._row_blocks(X))
        sets = [decoding.indicator(m, sparse=target.sparse, dtype=target.dtype) for m in members]
        return sp.csr_array(sp.vstack(sets)) if target.sparse else np.vstack(sets)

    def _sets(self, X: Any) -> Array:
        return self._answered(X).members

    def rank(self, X: Any, top: int | None = None) -> Array:
        """Label indices (columns of Y), best first; `top` keeps only the first ones."""
        return self._first(self._ready(X), top)

    def _first(self, X: Any, top: int | None) -> Array:
        return self._stacked(lambda block: self._ranked(block, top), X)

    def _ranked(self, X: Any, top: int | None) -> Array:
        if self._set_is_cut or self.target_.one_class:
            return decoding.rank(self._scored(X), top)
        answer = self._answered(X)
        return decoding.rank(answer.scores, top, answer.members)

    def _row_blocks(self, X: Any) -> Iterator[Any]:
        """X in pieces whose scores fit into memory; X itself where it is small."""
        at_once = _SCORES_AT_ONCE // max(self.n_labels_, 1)
        small = X.shape[0] <= at_once
        return iter([X]) if small else (X[piece] for piece in blocks(X.shape[0], at_once))

    def _stacked(self, answer: Callable[[Any], Array], X: Any) -> Array:
        parts = [answer(block) for block in self._row_blocks(X)]
        return parts[0] if len(parts) == 1 else np.vstack(parts)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the ranking (accuracy after a class vector); larger is better."""
        check_is_fitted(self)
        if self.target_.one_class:
            return float(super().score(X, y, sample_weight))
        from labelrank.metrics import average_precision_loss

        scores = self.decision_function(X)
        return 1.0 - float(average_precision_loss(y, scores, sample_weight=sample_weight))

    @property
    def is_calibrated(self) -> bool:
        """Whether scores are relative to a threshold: the predicted set is `scores > 0`."""
        return self._calibrated

    def check_values(self, X: Any, Y: sp.csr_array) -> None:
        """Raise InputError for checked instances and relevance that the learner cannot use."""
        self._check_values(X, Y)

    def check_parameters(self) -> None:
        """Raise InputError for parameters that `fit` would refuse."""
        if dataclasses.is_dataclass(self):
            check_parameters(self)
        self._check_combinations()

    def _ready(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._check_X(X, reset=False)

    def _check_X(self, X: Any, *, reset: bool, Y: Any = "no_validation") -> Any:
        if Y is None:
            name = type(self).__name__
            raise InputError(f"{name} requires y to be passed, but the target y is None")
        X = canonical(X) if sp.issparse(X) else without_mask(X, "X")
        try:
            dtypes = [np.float64, np.float32]
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtypes)
        except TypeError as error:
            raise InputTypeError(f"got X that is no matrix of numbers: {error}") from error
        except ValueError as error:
            raise InputError(one_sentence(str(error))) from error
        check_magnitude(X, learning=reset)
        return short_indices(sp.csr_array(X)) if sp.issparse(X) else X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _of_relevance(n_labels: int) -> TargetInfo:
    return TargetInfo.of(sp.csr_array((0, n_labels)))


class IncrementalRanker(LabelRanker):
    """A learner that also learns in pieces: any number of pieces equal one pass over the whole."""

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        """Make what the first instances, of `fit` or of a stream, are added to."""

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        raise NotImplementedError

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._set_up(X, Y)
        self._learn_more(X, Y)

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn from more instances, in the given order.

        `classes` declares the labels; it is needed at the first call if Y is a class vector,
        and may name further labels (after the known ones) at a later one. Ctrl-C waits until the
        piece is learned; a second one does not, and may leave the learner half taught.
        """
        with held_back(), unchanged_if_refused(self):
            self.check_parameters()
            first = not hasattr(self, "target_")
            X = self._check_X(X, reset=first, Y=Y)
            if first:
                target, n_before = TargetInfo.of(Y, classes), 0
                self.n_seen_, self.cardinality_ = 0, 0.0
                self.label_counts_ = LabelCounts.none()
            else:
                target = self.target_ if classes is None else self.target_.widened(classes)
                n_before = self.n_labels_
            Y = target.read(Y, X.shape[0])
            self._check_values(X, Y)
            self.target_ = target
            if 0 < n_before < self.n_labels_:
                self._widen(n_before)
            total = self.cardinality_ * self.n_seen_ + cardinality(Y) * X.shape[0]
            self.n_seen_ += X.shape[0]
            self.cardinality_ = total / max(self.n_seen_, 1)
            self._count_labels(X, Y)
            if first:
                self._set_up(X, Y)
            self._learn_more(X, Y)
        return self

    def add_labels(self, classes: Array) -> None:
        """Take in labels declared after the first piece, before the piece that brings them."""
        n_before = self.n_labels_
        self.target_ = self.target_.widened(classes)
        if self.n_labels_ > n_before:
            self._widen(n_before)

    def _widen(self, n_before: int) -> None:
        """Make room for labels `n_before ... n_labels_ - 1`, in new objects: it may be undone."""
        raise InputError(
            f"{type(self).__name__} cannot take new labels after its first piece; "
            "declare them all by `classes` at the first call"
        )


class FromArcs:
    """Gives a fitted learner `learn_arcs`, of single preferences; it implements `_learn_stated`.

    See `Arcs.as_examples` for what an arc is as an example.
    """

    # Whether arcs over and under the threshold are read.
    _reads_threshold = True

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        """Learn the arcs of checked instances, in their order."""
        raise NotImplementedError

    def learn_arcs(self, X: Any, arcs: Arcs) -> Self:
        """Learn preferences alone, in their order: row i of `arcs` is stated of instance i."""
        check_is_fitted(self)
        learner: Any = self
        with held_back(), unchanged_if_refused(self):
            learner.check_parameters()
            X = sp.csr_array(learner._check_X(X, reset=False))  # noqa: SLF001
            arcs, K = checked_arcs(arcs, X.shape[0], learner.n_labels_), learner.n_labels_
            if not self._reads_threshold and (arcs.better == K).any() | (arcs.worse == K).any():
                raise InputError(
                    f"got an arc of the threshold, but {type(self).__name__} ranks without one; "
                    "give arcs between labels, or use a CorrectedRanker"
                )
            if len(arcs.better):
                self._learn_stated(X, arcs)
        return self


@contextlib.contextmanager
def unchanged_if_refused(learner: Any) -> Iterator[None]:
    """Give the learner back the attributes it had if the block raises: all or nothing."""
    before = dict(vars(learner))
    try:
        yield
    except BaseException:
        learner.__dict__ = before
        raise


class Explanation(NamedTuple):
    """Why `label` is ahead of (or behind) `over`; strongest contributions first.

    `margin` is the sum of `contributions` and `constant` (an intercept, where the learner has one).
    `over` is None where the label is measured against the threshold, or against all others.
    Of a corrected ranker the margin has also the `shares` of past `steps`, strongest first.
    """

    label: Any
    over: Any
    margin: float
    features: Int64
    names: Array
    contributions: Float64
    constant: float = 0.0
    steps: Int64 = np.zeros(0, np.int64)
    shares: Float64 = np.zeros(0)


class Explained:
    """Gives a learner `why`, by the weights of the labels asked for."""

    def _label_weights(self, label: int) -> tuple[Array, float]:
        """Weight vector and constant of the score of a label, before the threshold is taken off."""
        raise NotImplementedError

    def _threshold_weights(self) -> tuple[Any, float]:
        return 0.0, 0.0

    def reason_weights(self, label: int, over: int | None) -> tuple[Array, float]:
        """Weight vector and constant of the margin of `label` over another, or the threshold."""
        weights, constant = self._label_weights(label)
        below, shift = self._threshold_weights() if over is None else self._label_weights(over)
        return weights - below, constant - shift

    def why(self, x: Any, label: Any, over: Any = None) -> Explanation:
        """The features that decided for or against a label, exactly: they sum to its margin.

        Parameters
        ----------
        x : one instance, a vector or a matrix of one row
        label : int or str
            Column of Y, or its name in `classes_`.
        over : int, str or None
            The label it is compared with; None compares with the threshold label, or, where there
            is none, gives the score itself.
        """
        check_is_fitted(self)
        row = self._one_row(x)
        a, b = self._label(label), None if over is None else self._label(over)
        if self._silent(row)[0]:  # type: ignore[attr-defined]
            prior = self._prior()  # type: ignore[attr-defined]
            features, addends = row.indices[:0], np.zeros(0)
            constant = float(prior[a] - (0.0 if b is None else prior[b]))
        else:
            features, addends, constant = self._addends(row, a, b)
        order = np.argsort(-np.abs(addends), kind="stable")
        features = features[order].astype(np.int64)
        try:
            margin = math.fsum([*addends, constant])
        except (OverflowError, ValueError):  # infinite or NaN: it exceeds all numbers
            margin = float(np.sum([*addends, constant]))
        classes = [*self.classes_.tolist(), None]  # type: ignore[attr-defined]
        label, over = classes[a], classes[-1 if b is None else b]
        names = self._feature_names()[features]
        return Explanation(label, over, margin, features, names, addends[order], constant)

    def _addends(self, row: sp.csr_array, a: int, b: int | None) -> tuple[Array, Float64, float]:
        """Features, what each adds to the margin of label a (over b), and the constant."""
        weights, constant = self.reason_weights(a, b)
        addends = row.data.astype(np.float64) * np.asarray(weights, np.float64)[row.indices]
        return row.indices, addends, constant

    def _one_row(self, x: Any) -> sp.csr_array:
        if not sp.issparse(x) and not hasattr(x, "columns"):
            x = np.atleast_2d(np.asarray(x))
        row = sp.csr_array(self._check_X(x, reset=False))  # type: ignore[attr-defined]
        if row.shape[0] != 1:
            raise InputError(f"got {row.shape[0]} instances; give one, a reason is for one only")
        return row

    def _label(self, label: Any) -> int:
        names = self.classes_.tolist()  # type: ignore[attr-defined]
        if isinstance(label, str):
            if label not in names:
                raise InputError(f"got label {label!r}, which is none of the {len(names)} known")
            return int(names.index(label))
        if not isinstance(label, Integral) or not 0 <= int(label) < len(names):
            raise InputError(f"got label {label!r}; give a column of Y, 0 to {len(names) - 1}")
        return int(label)

    def _feature_names(self) -> Array:
        n_features = self.n_features_in_  # type: ignore[attr-defined]
        by_number = [f"x{j}" for j in range(n_features)]
        return np.asarray(getattr(self, "feature_names_in_", by_number), object)
