"""What every learner shares: checking input, and turning scores into rankings and sets.

A learner implements `_learn(X, Y)` and `_scores(X)` (and `_learn_more(X, Y)` if it is
incremental) on checked input: X a CSR or dense float matrix, Y canonical CSR relevance.
The promise kept here for all: `rank` sorts the scores, `predict` is a prefix of `rank`.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from labelrank import decoding
from labelrank.errors import InputError
from labelrank.relevance import cardinality, check_relevance, from_classes, is_class_vector

Array = npt.NDArray[Any]


class LabelRanker(ClassifierMixin, BaseEstimator):
    """Base of all learners.

    Fitted on a relevance matrix (n × K), `decision_function` gives n × K scores, `rank` label
    indices, `predict` a 0/1 matrix (sparse if Y was). Fitted on a class vector (one relevant
    label an instance), scikit-learn's conventions hold: `predict` gives the top-ranked class, and
    the decision function of two classes is one column, the second over the first.

    Attributes
    ----------
    classes_ : ndarray (K,)
        The labels: column names of Y where it has them, the classes of a class vector, else 0..K-1.
    n_labels_ : int
    n_features_in_ : int
    """

    # A calibrated learner scores relative to the threshold label: the set is `scores > 0`.
    _calibrated = True

    # False where the set is not a cut of the scores (chains, label powerset): the ranking then
    # puts the predicted set first.
    _set_is_cut = True

    # Dtypes X may have; the first is what anything else is converted to.
    _x_dtypes: Any = (np.float64, np.float32)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        raise NotImplementedError

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        raise NotImplementedError

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from instances X (n × d) and relevance Y (n × K), forgetting what was learned."""
        self._check_parameters()
        X = self._check_X(X, reset=True, Y=Y)
        self._declare(Y)
        Y = self._check_Y(Y, X.shape[0])
        self.cardinality_ = cardinality(Y)
        self._n_seen = X.shape[0]
        self._learn(X, Y)
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores, larger is more relevant; 0 is the threshold of a calibrated learner."""
        check_is_fitted(self)
        scores = self._scores(self._check_X(X, reset=False))
        if self._one_class and self.n_labels_ == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any) -> Any:
        """The relevant labels: a 0/1 matrix, or the top-ranked class after a class vector."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        scores = self._scores(X)
        if self._one_class:
            return self.classes_[decoding.rank(scores, top=1)[:, 0]]
        members = self._members(X, scores)
        return decoding.indicator(members, sparse=self._sparse_output, dtype=self._output_dtype)

    def rank(self, X: Any, top: int | None = None) -> Array:
        """Label indices (columns of Y), best first; `top` keeps only the first ones."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        scores = self._scores(X)
        members = None if self._set_is_cut or self._one_class else self._members(X, scores)
        return decoding.rank(scores, top, members)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Average precision of the ranking (accuracy after a class vector); larger is better."""
        if self._one_class:
            return float(super().score(X, y, sample_weight))
        from labelrank.metrics import average_precision_loss

        scores = self.decision_function(X)
        return 1.0 - float(average_precision_loss(y, scores, sample_weight=sample_weight))

    def _members(self, X: Any, scores: Array) -> Array:
        """The predicted set, a boolean matrix: by default `scores > 0`, or the `threshold` named.

        An uncalibrated learner has a parameter `threshold`: a number (a fixed score),
        or "cardinality" (as many labels as an instance had on average in training).
        """
        if self._calibrated:
            return decoding.above(scores)
        threshold = self.threshold
        if threshold == "cardinality":
            return decoding.first(scores, round(self.cardinality_))
        return decoding.above(scores, float(threshold))

    def _check_parameters(self) -> None:
        """Refuse wrong parameters with an InputError; learners extend it."""
        if not self._calibrated:
            threshold = self.threshold
            if threshold != "cardinality" and not isinstance(threshold, int | float):
                raise InputError(f"got threshold={threshold!r}; use a number or 'cardinality'")

    def _check_X(self, X: Any, *, reset: bool, Y: Any = "no_validation") -> Any:
        if Y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        try:
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=list(self._x_dtypes))
        except ValueError as error:
            raise InputError(_one_sentence(str(error))) from error
        return sp.csr_array(X) if sp.issparse(X) else X

    def _declare(self, Y: Any, classes: Any = None) -> None:
        """Fix the labels and the form of the answers from the first Y seen."""
        self._one_class = is_class_vector(Y)
        self._sparse_output = sp.issparse(Y)
        dtype = getattr(Y, "dtype", None)
        is_integer = dtype is not None and np.dtype(dtype).kind in "iu"
        self._output_dtype = np.dtype(dtype) if is_integer else np.dtype(np.int64)
        if self._one_class:
            check_classification_targets(np.asarray(Y))
            self.classes_ = np.unique(np.asarray(Y if classes is None else classes))
            if len(self.classes_) < 2:
                raise InputError(
                    f"got one class ({self.classes_[0]!r}) in y; give at least two classes, "
                    "or a relevance matrix"
                )
        elif classes is not None:
            self.classes_ = np.asarray(classes)
        else:
            names = getattr(Y, "columns", None)
            self.classes_ = np.asarray(names) if names is not None else np.arange(_width(Y))
        self.n_labels_ = len(self.classes_)

    def _check_Y(self, Y: Any, n_rows: int) -> sp.csr_array:
        if is_class_vector(Y):
            Y = np.asarray(Y)
            if not self._one_class:
                raise InputError("got a class vector, but the learner was fitted on a matrix")
            if len(Y) != n_rows:
                raise InputError(f"X has {n_rows} rows but y has {len(Y)}; give one class a row")
            return from_classes(Y, self.classes_)
        return check_relevance(Y, n_rows=n_rows, n_labels=self.n_labels_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


class IncrementalRanker(LabelRanker):
    """A learner that also learns in pieces: any number of pieces equal one pass over the whole."""

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn from more instances, in the given order.

        `classes` declares the labels; it is needed at the first call if Y is a class vector,
        and may name further labels (after the known ones) at a later one.
        """
        first = not hasattr(self, "classes_")
        if first:
            self._check_parameters()
        X = self._check_X(X, reset=first, Y=Y)
        if first:
            self._declare(Y, classes)
            self._n_seen, self.cardinality_ = 0, 0.0
        elif classes is not None:
            self._welcome(np.asarray(classes))
        Y = self._check_Y(Y, X.shape[0])
        total = self.cardinality_ * self._n_seen + cardinality(Y) * X.shape[0]
        self._n_seen += X.shape[0]
        self.cardinality_ = total / max(self._n_seen, 1)
        self._learn_more(X, Y)
        return self

    def _welcome(self, classes: Array) -> None:
        """Take in labels declared after the first piece: known ones first, new ones behind."""
        known = len(self.classes_)
        if self._one_class:
            classes = np.unique(classes)
        if len(classes) < known or not np.array_equal(classes[:known], self.classes_):
            raise InputError(
                f"got classes {classes[:5].tolist()}..., but the first {known} must be those "
                "already known, in the same order; put new labels behind them"
            )
        if len(classes) > known:
            before = self.classes_
            self.classes_, self.n_labels_ = classes, len(classes)
            try:
                self._widen(known)
            except InputError:
                self.classes_, self.n_labels_ = before, known
                raise

    def _widen(self, n_before: int) -> None:
        """Make room for labels `n_before ... n_labels_ - 1`; learners that can, override this."""
        raise InputError(
            f"{type(self).__name__} cannot take new labels after its first piece; "
            "declare them all by `classes` at the first call"
        )


def _one_sentence(message: str) -> str:
    """scikit-learn's message without its paragraphs of advice."""
    if "contains NaN" in message or "contains infinity" in message:
        return message.split("\n")[0].rstrip(".") + "; fill in or leave out such values first"
    return " ".join(message.split())


def _width(Y: Any) -> int:
    shape: tuple[int, ...] = getattr(Y, "shape", ())
    return int(shape[1]) if len(shape) == 2 else int(check_relevance(Y).shape[1])
