"""Orders of labels by levels: which labels are at least this good?

An instance whose labels have the grades g stands once for each grade t: relevant are the labels
with g >= t, irrelevant the others. A label far above another is above it at many levels, so any
ranker of relevant labels learns orders from these copies.
"""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from labelrank._types import Array
from labelrank.declared import a_learner, cut, nested, stored
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker


def by_levels(X: Any, Y: sp.csr_array) -> tuple[Any, sp.csr_array]:
    """Copies of the instances, one per level, the lowest first; as given where there is no order.

    A level that all labels of an instance reach says nothing, and is left out. Unknown labels stay
    unknown.

    >>> by_levels(np.array([[7.0]]), sp.csr_array([[3.0, 1.0, 2.0]]))[1].toarray().tolist()
    [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    positive = Y.data[Y.data > 0]
    if not len(positive) or positive.min() == positive.max():
        return X, Y
    owners: list[int] = []
    least: list[float] = []
    for i in range(Y.shape[0]):
        grades = Y.data[Y.indptr[i] : Y.indptr[i + 1]]
        levels = np.unique(grades[grades > 0])
        if len(grades) == Y.shape[1] and len(levels) > 1:
            levels = levels[1:]
        levels = levels if len(levels) else np.ones(1)
        owners += [i] * len(levels)
        least += levels.tolist()
    copies = Y[owners]
    reached = copies.data >= np.repeat(least, np.diff(copies.indptr))
    copies.data = np.where(np.isnan(copies.data), np.nan, reached)
    copies.eliminate_zeros()
    return X[owners], copies


@stored("LevelRanker", 1, estimator_=nested())
@dataclass(eq=False, repr=False)
class LevelRanker(LabelRanker):
    """A ranker of relevant labels that learns orders of them, level by level.

    With `ForestRanker` it is a label ranking forest: the mean share of the levels that a label
    reaches is a Borda count over the leaves.

    Parameters
    ----------
    estimator : LabelRanker
    threshold : "cardinality" or float

    Attributes
    ----------
    estimator_ : the ranker, fitted on one copy of each instance per level

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import ForestRanker, LevelRanker
    >>> X, Y = np.array([[1.0, 0.0], [0.0, 1.0]] * 5), np.array([[3, 2, 1], [1, 2, 3]] * 5)
    >>> LevelRanker(ForestRanker(random_state=0)).fit(X, Y).rank(X[:2]).tolist()
    [[0, 1, 2], [2, 1, 0]]
    """

    estimator: Any = field(metadata=a_learner(needed=True))
    _: KW_ONLY
    threshold: Any = cut()

    _calibrated = False

    def _check_combinations(self) -> None:
        if not isinstance(self.estimator, LabelRanker):
            raise InputError(f"got estimator={self.estimator!r}; give a learner of labelrank")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self.estimator_ = clone(self.estimator).fit(*by_levels(X, Y))

    def _scores(self, X: Any) -> Array:
        scores = np.asarray(self.estimator_.decision_function(X))
        two = self.target_.one_class and scores.ndim == 1
        return np.column_stack([-scores, scores]) if two else scores

    def after_loading(self) -> None:
        if (self.estimator_.n_labels_, self.estimator_.n_features_in_) != (
            self.n_labels_, self.n_features_in_,
        ):  # fmt: skip
            raise ValueError("the ranker inside is of other labels or features")
