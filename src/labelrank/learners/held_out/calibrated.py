"""Any ranker, with probabilities calibrated on the scores of held-out folds."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from labelrank import decoding
from labelrank._types import Array
from labelrank.declared import nested, number, seed, stored
from labelrank.errors import InputError
from labelrank.learners.around import Around
from labelrank.learners.base import Answer, LabelRanker
from labelrank.learners.held_out.calibration import Calibration
from labelrank.learners.held_out.scores import out_of_fold


@stored(
    "CalibratedRanker", 1,
    estimator_=nested(), calibration_=nested("Calibration", optional=True),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class CalibratedRanker(Around):
    """A ranker with calibrated probabilities; scores, ranking and sets are those of the ranker.

    One link from scores to probabilities, common to all labels, is learned from the scores of
    `cv` held-out folds: Platt's sigmoid, a beta link or isotonic regression, whichever has the
    least log loss on scores that it has not seen. Only `fit` calibrates: `partial_fit` leaves the
    link as it is, and without any the probabilities are guessed.

    Parameters
    ----------
    estimator : LabelRanker
    cv : int, default 3, the folds
    random_state : int, RandomState or None, for the folds

    Attributes
    ----------
    estimator_ : the ranker, fitted on all instances
    calibration_ : Calibration, or None after `partial_fit` alone

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevanceSVM, CalibratedRanker
    >>> X = np.repeat(np.eye(2), 20, axis=0)
    >>> Y = np.repeat([[1, 0], [0, 1]], 20, axis=0)
    >>> Y[:5], Y[20:25] = Y[20:25], Y[:5].copy()  # five of twenty are against the rule
    >>> ranker = CalibratedRanker(BinaryRelevanceSVM(random_state=0), random_state=0).fit(X, Y)
    >>> ranker.predict_proba(np.eye(2)).round(1)
    array([[0.7, 0.3],
           [0.3, 0.7]])
    """

    estimator: Any
    _: KW_ONLY
    cv: int = number(3, least=2, whole=True)
    random_state: Any = seed()

    @property
    def _set_is_cut(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "_set_is_cut", True))

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "is_calibrated", True))

    @property
    def has_probabilities(self) -> bool:
        """Whether `fit` was, or is still to be, called: it calibrates."""
        return getattr(self, "calibration_", None) is not None or not hasattr(self, "target_")

    def _check_combinations(self) -> None:
        if not isinstance(self.estimator, LabelRanker):
            raise InputError(
                f"got estimator={self.estimator!r}; give a learner of labelrank, or use "
                "scikit-learn's CalibratedClassifierCV for a classifier"
            )

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        scores = out_of_fold(self.estimator, X, Y, cv=self.cv, random_state=self.random_state)
        self.calibration_ = Calibration.fit(Y, scores, one_class=self.target_.one_class)
        self.estimator_ = clone(self.estimator).fit(X, Y)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        learner = getattr(self, "estimator_", None)
        learner = clone(self.estimator) if learner is None else learner
        self.estimator_ = learner.partial_fit(X, Y, classes=range(self.n_labels_))

    def _widen(self, n_before: int) -> None:
        """The ranker inside is told of new labels with the piece that brings them."""

    def after_loading(self) -> None:
        if self.estimator_.n_labels_ != self.n_labels_:
            raise ValueError("the ranker inside has other labels")

    @available_if(lambda self: hasattr(self.estimator, "why"))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Any:
        """The ranker's reasons."""
        return self.estimator_.why(x, label, over=over)

    def _scores(self, X: Any) -> Array:
        return np.asarray(self.estimator_.decision_function(X))

    def _answer(self, X: Any) -> Answer:
        answer = self.estimator_.answer(X)
        if self.target_.one_class:
            return Answer(answer.scores, decoding.first(answer.scores, 1))
        return answer
