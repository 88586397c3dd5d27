"""Label powerset: each set of labels met in training is a class."""

from collections import Counter
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labelrank._types import Array
from labelrank.declared import a_learner, choice, nested, number, sparse, stored
from labelrank.decoding import has_probabilities
from labelrank.errors import InputError
from labelrank.learners.base import Answer, LabelRanker
from labelrank.relevance import from_grades

LabelSet = tuple[int, ...]


@stored("LabelPowerset", 1, estimator_=nested(optional=True), sets_=sparse("sets", "K"))
@dataclass(eq=False, repr=False)
class LabelPowerset(LabelRanker):
    """One multi-class problem whose classes are the label sets of the training data.

    Scores are the probability of a label, summed over the sets that hold it, less one half.
    Instances with an unknown label are left out of training.

    Parameters
    ----------
    estimator : classifier or None
        Any multi-class classifier; None is logistic regression. Without `predict_proba` its
        decision function gives probabilities (softmax), without either the predicted set has 1.
    decode : {"set", "labels"}
        "set" predicts the most probable set met in training, and ranks its labels first;
        "labels" every label more probable than not, also in combinations never met.
    prune : int, default 0
        Sets met at most this often are taken out (Read 2008); their instances come back under
        `n_subsets` of the frequent sets they contain, largest and then most frequent first.
    n_subsets : int, default 2

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
    >>> learner.predict([[1, 0, 0]]), learner.sets_.shape
    (array([[1, 1, 0]]), (3, 3))
    """

    estimator: Any = field(default=None, metadata=a_learner())
    _: KW_ONLY
    decode: str = choice("set", "labels")
    prune: int = number(0, least=0, whole=True)
    n_subsets: int = number(2, least=0, whole=True)

    @property
    def _set_is_cut(self) -> bool:  # type: ignore[override]
        return self.decode == "labels"

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        rows, sets = self._assigned(_label_sets(Y))
        names = sorted(set(sets))
        number = {name: k for k, name in enumerate(names)}
        self.sets_ = from_grades([dict.fromkeys(name, 1.0) for name in names], Y.shape[1])
        self.estimator_ = None
        if len(names) > 1:
            usual = LogisticRegression(max_iter=1000)
            base = usual if self.estimator is None else clone(self.estimator)
            self.estimator_ = base.fit(X[rows], np.array([number[name] for name in sets]))

    def _assigned(self, sets: list[LabelSet | None]) -> tuple[Array, list[LabelSet]]:
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
        largest_first = sorted(frequent, key=lambda one: (-len(one), -count[one], one))
        instead: dict[LabelSet | None, list[LabelSet]] = {None: [], **{s: [s] for s in frequent}}
        for rare in count.keys() - frequent:
            within = [other for other in largest_first if other and set(other) < set(rare)]
            instead[rare] = within[: self.n_subsets]
        pairs = [(i, members) for i, one in enumerate(sets) for members in instead[one]]
        return np.array([i for i, _ in pairs], np.int64), [members for _, members in pairs]

    def after_loading(self) -> None:
        n_classes = 1 if self.estimator_ is None else len(self.estimator_.classes_)
        if self.sets_.shape[0] != n_classes:
            raise ValueError("the classifier has another number of label sets")

    def _chances(self, X: Any) -> Array:
        """Probabilities of the sets (n × sets)."""
        if self.estimator_ is None:
            return np.ones((X.shape[0], 1))
        if has_probabilities(self.estimator_):
            return np.asarray(self.estimator_.predict_proba(X))
        if hasattr(self.estimator_, "decision_function"):
            scores = np.asarray(self.estimator_.decision_function(X))
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            return softmax(scores, axis=1)
        same = self.estimator_.predict(X)[:, None] == self.estimator_.classes_
        return np.asarray(same, np.float64)

    def _scores(self, X: Any) -> Array:
        return self._chances(X) @ self.sets_.toarray() - 0.5

    def _answer(self, X: Any) -> Answer:
        if self._set_is_cut or self.target_.one_class:
            return super()._answer(X)
        probabilities = self._chances(X)
        members = self.sets_[probabilities.argmax(axis=1)].toarray() > 0
        return Answer(probabilities @ self.sets_.toarray() - 0.5, members)

    def _prior(self) -> Array:
        return self.label_shares() - 0.5

    def link(self, scores: Array) -> Array:
        """Probabilities of the sets that hold each label."""
        return np.clip(scores + 0.5, 0.0, 1.0)


def _label_sets(Y: sp.csr_array) -> list[LabelSet | None]:
    """The relevant labels of each row; None where one is unknown."""
    known = ~np.isnan(Y.data)
    spans = pairwise(Y.indptr.tolist())
    return [tuple(Y.indices[a:b].tolist()) if known[a:b].all() else None for a, b in spans]
