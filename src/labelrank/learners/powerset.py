"""Label powerset: every set of labels met in training is one class (lecture 003)."""

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from labelrank import decoding
from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.base import Answer, LabelRanker


class LabelPowerset(LabelRanker):
    """One multi-class problem whose classes are the label sets of the training data.

    Scores are the probability of a label, summed over the sets that hold it, less one half.
    Instances with an unknown label are left out of training.

    Parameters
    ----------
    estimator : classifier or None
        Any multi-class classifier of scikit-learn's kind; None is logistic regression. Without
        `predict_proba` its decision function is turned into probabilities (softmax), without
        either the predicted set has probability 1.
    decode : {"set", "labels"}
        "set" predicts the most probable set met in training; "labels" every label that is more
        probable than not, so that combinations never met can be predicted. "set" ranks the
        labels of that set first.
    prune : int, default 0
        Sets met at most this often are taken out (Read 2008); their instances come back under
        the frequent sets they contain.
    n_subsets : int, default 2
        So many of those, largest and then most frequent first; 0 drops the instances.

    Attributes
    ----------
    estimator_ : the fitted classifier, or None where only one set was left
    sets_ : csr_array (sets, K), 0/1

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import LabelPowerset
    >>> X = np.repeat(np.eye(3), 5, axis=0)
    >>> Y = np.repeat([[1, 1, 0], [0, 1, 0], [0, 0, 1]], 5, axis=0)
    >>> learner = LabelPowerset().fit(X, Y)
    >>> learner.predict(np.eye(3))
    array([[1, 1, 0],
           [0, 1, 0],
           [0, 0, 1]])
    >>> learner.sets_.shape
    (3, 3)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        decode: str = "set",
        prune: int = 0,
        n_subsets: int = 2,
    ) -> None:
        self.estimator = estimator
        self.decode = decode
        self.prune = prune
        self.n_subsets = n_subsets

    @property
    def _set_is_cut(self) -> bool:  # type: ignore[override]
        return self.decode == "labels"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("decode", self.decode, ("set", "labels"))
        check_at_least("prune", self.prune, 0)
        check_at_least("n_subsets", self.n_subsets, 0)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        sets = _label_sets(Y)
        rows, classes = self._assigned(sets)
        names = sorted(set(classes))
        number = {name: k for k, name in enumerate(names)}
        target = np.array([number[name] for name in classes])
        self.sets_ = _indicator(names, Y.shape[1])
        self.estimator_ = None
        if len(names) > 1:
            usual = LogisticRegression(max_iter=1000)
            base = usual if self.estimator is None else clone(self.estimator)
            self.estimator_ = base.fit(X[rows], target)

    def _assigned(self, sets: list[tuple[int, ...] | None]) -> tuple[Array, list[tuple[int, ...]]]:
        """The training rows and the set each of them stands for."""
        count = Counter(members for members in sets if members is not None)
        if not count:
            raise InputError(
                "got no instance all of whose labels are known; label powerset needs whole sets"
            )
        frequent = {members for members, n in count.items() if n > self.prune}
        if not frequent:
            raise InputError(
                f"got prune={self.prune}, but no label set occurs more often than "
                f"{max(count.values())} time(s); give a smaller number"
            )
        instead = {
            members: [members] if members in frequent else self._subsets(members, frequent, count)
            for members in count
        }
        pairs = [
            (i, stands_for)
            for i, members in enumerate(sets)
            if members is not None
            for stands_for in instead[members]
        ]
        return np.array([i for i, _ in pairs]), [stands_for for _, stands_for in pairs]

    def _subsets(
        self, members: tuple[int, ...], frequent: set[tuple[int, ...]], count: Counter[Any]
    ) -> list[tuple[int, ...]]:
        within = [other for other in frequent if other and set(other) < set(members)]
        within.sort(key=lambda other: (-len(other), -count[other], other))
        return within[: self.n_subsets]

    def _probabilities(self, X: Any) -> Array:
        """Of the sets (n × sets)."""
        if self.estimator_ is None:
            return np.ones((X.shape[0], 1))
        if hasattr(self.estimator_, "predict_proba"):
            return np.asarray(self.estimator_.predict_proba(X))
        if hasattr(self.estimator_, "decision_function"):
            scores = np.asarray(self.estimator_.decision_function(X))
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            return softmax(scores, axis=1)
        same = self.estimator_.predict(X)[:, None] == self.estimator_.classes_
        return np.asarray(same, np.float64)

    def _scores(self, X: Any) -> Array:
        return self._probabilities(X) @ self.sets_.toarray() - 0.5

    def _answer(self, X: Any) -> Answer:
        chances = self._probabilities(X)
        scores = chances @ self.sets_.toarray() - 0.5
        if self.decode == "labels" or self.target_.one_class:
            members = decoding.above(scores)
        else:
            members = self.sets_[chances.argmax(axis=1)].toarray() > 0
        return Answer(scores, members)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each label (n × K): that of the sets that hold it."""
        check_is_fitted(self)
        return self._scores(self._check_X(X, reset=False)) + 0.5


def _label_sets(Y: sp.csr_array) -> list[tuple[int, ...] | None]:
    """The relevant labels of each row; None where one is unknown."""
    known = ~np.isnan(Y.data)
    spans = zip(Y.indptr[:-1].tolist(), Y.indptr[1:].tolist(), strict=True)
    return [tuple(Y.indices[a:b].tolist()) if known[a:b].all() else None for a, b in spans]


def _indicator(sets: list[tuple[int, ...]], n_labels: int) -> sp.csr_array:
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.array([k for members in sets for k in members], np.int32)
    return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(sets), n_labels))
