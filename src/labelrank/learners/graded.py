"""Graded multi-label classification: a binary problem per label and level.

Vertical reduction: each label is an ordinal problem of its own, and each of those a binary
problem per level, "is the grade at least this?" (Frank & Hall 2001).
"""

from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import a_learner, array, nested, stored, threads
from labelrank.decoding import has_probabilities
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker
from labelrank.relevance import unknown_part
from labelrank.resources import run_jobs

_MOST_LEVELS = 100
# What to use where a setting of `levels` gives too many.
_FEWER = {"grades": "'ranks' or a number of levels", "ranks": "a number of levels"}


@stored(
    "GradedClassifier",
    1,
    levels_=array("f8", "levels"),
    grades_=array("f8", "levels+1"),
    constant=array("f8", "levels", "K", attribute="_constant", finite=False),
    learner=nested(attribute="_learner", optional=True),
    classifiers=nested(attribute="_classifiers", many=True),
)
@dataclass(eq=False, repr=False)
class GradedClassifier(LabelRanker):
    """Predicts grades by a binary problem per label and level (Cheng et al., ICML 2010; GMLC).

    A label is relevant if its lowest level is more probable than not. Relevant labels are ranked
    by their expected level, irrelevant ones by the probability of the lowest.

    Parameters
    ----------
    estimator : learner or None
        Answers the binary problems. A learner of this library learns them all at once, if it is
        calibrated or has probabilities (such as a forest);
        any other classifier one after the other, by `predict_proba`, else `decision_function`
        (through a logistic link). None is logistic regression (`IndependentClassifiers`).
    levels : "grades", "ranks" or int
        The levels of relevance: the distinct grades of Y; the places of an instance's relevant
        labels in their order (the first of all is the highest level, as in Xu, Li & Zhou 2013);
        or this many levels of about equally frequent grades, for grades on a scale.
    n_jobs : int or None, threads over binary problems of a scikit-learn `estimator`

    Attributes
    ----------
    levels_ : ndarray (m,), the least grade of each level, ascending
    grades_ : ndarray (m + 1,), what `predict_grades` gives to each level; 0 is irrelevant
    estimators_ : the fitted learner of all problems, or the list of classifiers
    problems_ : ndarray (problems, 2), level and label of each; none where all answers agreed

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import GradedClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [18.0], [19.0], [20.0]])
    >>> Y = np.repeat([[0, 2], [1, 1], [2, 0]], 3, axis=0)
    >>> GradedClassifier().fit(X, Y).predict_grades([[1.0], [9.0], [19.0]]).tolist()
    [[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]]
    """

    estimator: Any = field(default=None, metadata=a_learner())
    _: KW_ONLY
    levels: str | int = "grades"
    n_jobs: int | None = threads()

    def _check_combinations(self) -> None:
        levels = self.levels
        is_number = isinstance(levels, int) and not isinstance(levels, bool) and levels >= 1
        if levels not in ("grades", "ranks") and not is_number:
            raise InputError(
                f"got levels={levels!r}; use 'grades', 'ranks' or a number of at least 1"
            )
        base = self.estimator
        if isinstance(base, LabelRanker) and not (base.is_calibrated or has_probabilities(base)):
            raise InputError(
                f"got {type(self.estimator).__name__}, a ranker without a threshold of its own; "
                "put it into a ThresholdedRanker, or use a calibrated learner"
            )

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        if self.levels == "ranks":
            Y = places(Y)
        positive = np.sort(Y.data[Y.data > 0])
        self.levels_ = self._thresholds(positive)
        level_of = np.searchsorted(self.levels_, positive, side="right") - 1
        means = [positive[level_of == level].mean() for level in range(len(self.levels_))]
        self.grades_ = np.array([0.0, *means])
        targets, self._constant = self._problems(Y)
        self._learner: LabelRanker | None = None
        self._classifiers: list[Any] = []
        if targets.shape[1]:
            self._fit_problems(X, targets)

    @property
    def problems_(self) -> Array:
        """Level and label of each binary problem."""
        return np.argwhere(np.isnan(self._constant))

    @property
    def estimators_(self) -> Any:
        """The fitted learner of all problems, or the list of classifiers."""
        return self._classifiers if self._learner is None else self._learner

    def _thresholds(self, positive: Array) -> Array:
        """The least grade of each level; one level where nothing is relevant at all."""
        if not isinstance(self.levels, str):
            firsts = np.arange(int(self.levels)) * len(positive) // int(self.levels)
            positive = positive[firsts] if len(positive) else positive
        levels = np.unique(positive)
        if len(levels) > _MOST_LEVELS:
            raise InputError(
                f"got {len(levels)} distinct grades, more than {_MOST_LEVELS} levels; "
                f"use levels={_FEWER.get(str(self.levels), 'a smaller number')}"
            )
        return levels

    def _problems(self, Y: sp.csr_array) -> tuple[sp.csr_array, Array]:
        """0/1 targets (n × problems); by level and label the answer all agree on, or NaN."""
        targets, constant = [], np.full((len(self.levels_), self.n_labels_), np.nan)
        n_known = Y.shape[0] - np.bincount(unknown_part(Y).indices, minlength=self.n_labels_)
        for level, least in enumerate(self.levels_):
            reached = Y.copy()
            reached.data = np.where(np.isnan(Y.data), np.nan, (Y.data >= least).astype(float))
            reached.eliminate_zeros()
            yes = reached.indices[reached.data > 0]
            count = np.bincount(yes, minlength=self.n_labels_)
            constant[level, count == n_known] = 1.0
            constant[level, count == 0] = 0.0
            targets.append(reached[:, np.flatnonzero(np.isnan(constant[level]))])
        if not targets:
            return sp.csr_array((Y.shape[0], 0)), constant
        return sp.csr_array(sp.hstack(targets, format="csr")), constant

    def _fit_problems(self, X: Any, targets: sp.csr_array) -> None:
        from labelrank.learners.chains.greedy import IndependentClassifiers

        usual = IndependentClassifiers(random_state=0)
        base = usual if self.estimator is None else self.estimator
        if isinstance(base, LabelRanker):
            self._learner = clone(base).fit(X, targets)
            return
        columns = (column.toarray().ravel() for column in targets.T.tocsr())
        jobs = [partial(_fit_one, base, X, column) for column in columns]
        self._classifiers = run_jobs(jobs, self.n_jobs)

    def after_loading(self) -> None:
        n_problems = len(self.problems_)
        n_learned = len(self._classifiers) if self._learner is None else self._learner.n_labels_
        if n_learned != n_problems:
            raise ValueError("not every level of a label has its classifier")

    def predict_levels_proba(self, X: Any) -> Array:
        """Probabilities (n × m × K) that a label reaches a level; falling along the levels."""
        check_is_fitted(self)
        return self._reached(self._check_X(X, reset=False))

    def predict_grades(self, X: Any) -> Any:
        """The median grade of each label, 0 for irrelevant; sparse if Y was."""
        level = (self.predict_levels_proba(X) > 0.5).sum(axis=1)
        grades = self.grades_[level]
        return sp.csr_array(grades) if self.target_.sparse else grades

    def _reached(self, X: Any) -> Array:
        chances = np.tile(self._constant, (X.shape[0], 1, 1))
        level, label = self.problems_.T
        if self._learner is not None:
            chances[:, level, label] = _chance(self._learner, X)
        elif self._classifiers:
            jobs = [partial(_chance, one, X) for one in self._classifiers]
            columns = [one[:, -1] if one.ndim == 2 else one for one in run_jobs(jobs, self.n_jobs)]
            chances[:, level, label] = np.column_stack(columns)
        return np.minimum.accumulate(chances, axis=1)

    def _scores(self, X: Any) -> Array:
        chances = self._reached(X)
        if not chances.shape[1]:
            return np.full((X.shape[0], self.n_labels_), -0.5)
        lowest = chances[:, 0]
        return np.where(lowest > 0.5, chances.sum(axis=1), lowest) - 0.5


def places(Y: sp.csr_array) -> sp.csr_array:
    """Grades by place: as many as the fullest row has labels, then less; equal ones share a place.

    >>> places(sp.csr_array([[0.2, 0.0, 0.7], [0.0, 3.0, 0.0]])).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    """
    relevant = Y.data > 0
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[relevant]
    counts = np.bincount(row, minlength=Y.shape[0])
    distinct, level = np.unique(-Y.data[relevant], return_inverse=True)
    place = row * len(distinct) + level
    n_ahead = np.searchsorted(np.sort(place), place) - (np.cumsum(counts) - counts)[row]
    placed = Y.copy()
    placed.data[relevant] = counts.max(initial=0) - n_ahead
    return placed


def _fit_one(base: Any, X: Any, target: Array) -> Any:
    known = np.flatnonzero(~np.isnan(target))
    return clone(base).fit(X[known], target[known].astype(np.int64))


def _chance(learner: Any, X: Any) -> Array:
    if has_probabilities(learner):
        return np.asarray(learner.predict_proba(X))
    if hasattr(learner, "decision_function"):
        return np.asarray(expit(learner.decision_function(X)))
    return np.asarray(learner.predict(X), dtype=np.float64)
