"""Graded multi-label classification (GMLC; Cheng, Dembczyński & Hüllermeier 2010).

Vertical reduction: each label is an ordinal problem of its own, and each of those is a binary
problem a level, "is the grade at least this?" (Frank & Hall 2001). Any binary learner answers.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker
from labelrank.resources import run_jobs

_MOST_LEVELS = 100


class GradedClassifier(LabelRanker):
    """Predicts the grade of every label, by one binary problem a label and level (GMLC).

    A label is relevant if its lowest level is more probable than not. Relevant labels are ranked
    by their expected level, irrelevant ones by the probability of the lowest.

    Parameters
    ----------
    estimator : learner or None
        Answers the binary problems. A calibrated learner of this library learns them all at once,
        one label each; any other classifier is fitted to one after the other, with
        `predict_proba`, else `decision_function` (through a logistic link). None is logistic
        regression (`IndependentClassifiers`).
    levels : "grades", "ranks" or int
        The levels of relevance: the distinct grades of Y; the places of an instance's relevant
        labels in their order (the first of all is the highest level, as in Xu, Li & Zhou 2013);
        or this many levels of about equally frequent grades, for grades on a scale.
    n_jobs : int or None
        Threads over binary problems of a scikit-learn `estimator`.

    Attributes
    ----------
    levels_ : ndarray (m,)
        The least grade of each level, ascending.
    grades_ : ndarray (m + 1,)
        The grade `predict_grades` gives to each level; 0 is irrelevant.
    estimators_ : the fitted learner of all problems, or the list of classifiers
    problems_ : ndarray (problems, 2)
        Level and label of each binary problem; where all answers were equal there is none.

    References
    ----------
    Cheng, Dembczyński & Hüllermeier, Graded multilabel classification: the ordinal case. ICML 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import GradedClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0], [18.0], [19.0], [20.0]])
    >>> Y = np.array([[0, 2]] * 3 + [[1, 1]] * 3 + [[2, 0]] * 3)
    >>> GradedClassifier().fit(X, Y).predict_grades([[1.0], [9.0], [19.0]])
    array([[0., 2.],
           [1., 1.],
           [2., 0.]])
    """

    def __init__(
        self, estimator: Any = None, *, levels: str | int = "grades", n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.levels = levels
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        if isinstance(self.levels, str):
            check_choice("levels", self.levels, ("grades", "ranks"))
        else:
            check_at_least("levels", self.levels, 1)
        if isinstance(self.estimator, LabelRanker) and not self.estimator._calibrated:
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
        self.problems_ = np.argwhere(np.isnan(self._constant))
        self.estimators_: Any = self._fit_problems(X, targets) if len(self.problems_) else None

    def _thresholds(self, positive: Array) -> Array:
        """The least grade of each level; one level where nothing is relevant at all."""
        if not isinstance(self.levels, str):
            firsts = np.arange(int(self.levels)) * len(positive) // int(self.levels)
            positive = positive[firsts] if len(positive) else positive
        found = np.unique(positive)
        if len(found) > _MOST_LEVELS:
            raise InputError(
                f"got {len(found)} distinct grades, more than {_MOST_LEVELS} levels; "
                "use levels='ranks' or a number of levels"
            )
        return found

    def _problems(self, Y: sp.csr_array) -> tuple[sp.csr_array, Array]:
        """0/1 targets (n × problems); by level and label the answer all agree on, or NaN."""
        targets, constant = [], np.full((len(self.levels_), self.n_labels_), np.nan)
        known = Y.shape[0] - np.asarray(sp.csr_array(
            (np.isnan(Y.data).astype(float), Y.indices, Y.indptr), shape=Y.shape
        ).sum(axis=0)).ravel()  # fmt: skip
        for level, least in enumerate(self.levels_):
            reached = Y.copy()
            reached.data = np.where(np.isnan(Y.data), np.nan, (Y.data >= least).astype(float))
            reached.eliminate_zeros()
            count = np.bincount(
                reached.indices, np.nan_to_num(reached.data), minlength=self.n_labels_
            )
            constant[level, count == known] = 1.0
            constant[level, count == 0] = 0.0
            targets.append(reached[:, np.flatnonzero(np.isnan(constant[level]))])
        if not targets:
            return sp.csr_array((Y.shape[0], 0)), constant
        return sp.csr_array(sp.hstack(targets, format="csr")), constant

    def _fit_problems(self, X: Any, targets: sp.csr_array) -> Any:
        from labelrank.learners.chains.greedy import IndependentClassifiers

        base = IndependentClassifiers() if self.estimator is None else self.estimator
        if isinstance(base, LabelRanker):
            return clone(base).fit(X, targets)
        columns = targets.tocsc()
        jobs = [
            partial(_fit_one, base, X, columns[:, [j]].toarray().ravel())
            for j in range(targets.shape[1])
        ]
        return run_jobs(jobs, self.n_jobs)

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
        if self.estimators_ is not None:
            level, label = self.problems_.T
            chances[:, level, label] = self._chances(X)
        return np.minimum.accumulate(chances, axis=1)

    def _chances(self, X: Any) -> Array:
        """Of a yes to each problem (n × problems)."""
        if isinstance(self.estimators_, LabelRanker):
            return _chance(self.estimators_, X)
        columns = run_jobs([partial(_chance_of_one, e, X) for e in self.estimators_], self.n_jobs)
        return np.column_stack(columns)

    def _scores(self, X: Any) -> Array:
        chances = self._reached(X)
        if not chances.shape[1]:
            return np.full((X.shape[0], self.n_labels_), -0.5)
        lowest = chances[:, 0]
        return np.where(lowest > 0.5, chances.sum(axis=1), lowest) - 0.5


def places(Y: sp.csr_array) -> sp.csr_array:
    """Grades by place: the first relevant label gets as many as the fullest row has labels.

    Each further one gets one less; equal grades share their place.

    >>> places(sp.csr_array([[0.2, 0.0, 0.7], [0.0, 3.0, 0.0]])).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    """
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    relevant = Y.data > 0
    most = int(np.bincount(row[relevant], minlength=1).max()) if relevant.any() else 0
    order = np.lexsort((-Y.data, ~relevant, row))
    number = np.arange(len(order)) - Y.indptr[row[order]]
    tied = np.zeros(len(order), dtype=bool)
    tied[1:] = (row[order][1:] == row[order][:-1]) & (Y.data[order][1:] == Y.data[order][:-1])
    place = np.maximum.accumulate(np.where(tied, 0, np.arange(len(order))))
    number = number[place]
    found = Y.copy()
    found.data[order] = np.where(relevant[order], most - number, np.nan)
    return found


def _fit_one(base: Any, X: Any, target: Array) -> Any:
    known = np.flatnonzero(~np.isnan(target))
    return clone(base).fit(X[known], target[known].astype(np.int64))


def _chance(learner: Any, X: Any) -> Array:
    if hasattr(learner, "predict_proba"):
        return np.asarray(learner.predict_proba(X))
    if hasattr(learner, "decision_function"):
        return np.asarray(expit(learner.decision_function(X)))
    return np.asarray(learner.predict(X), dtype=np.float64)


def _chance_of_one(classifier: Any, X: Any) -> Array:
    found = _chance(classifier, X)
    return found[:, -1] if found.ndim == 2 else found
