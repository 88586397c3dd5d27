"""Round robin: one binary classifier of any kind for each pair of labels, for few labels."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import a_learner, choice, cut, flag, nested, stored, threads
from labelrank.decoding import has_probabilities
from labelrank.learners.base import LabelRanker
from labelrank.learners.pairwise import votes


@stored("PairwiseClassifier", 1, estimators_=nested(many=True, types=(float,)))
@dataclass(kw_only=True, eq=False, repr=False)
class PairwiseClassifier(LabelRanker):
    """One binary classifier for each pair of labels: round robin with any scikit-learn classifier.

    The classifier of u and v learns from the instances that prefer one of them. A pair that no
    instance decides is a draw; one decided always the same way needs no classifier.

    Parameters
    ----------
    estimator : classifier or None
        With `predict_proba`, `decision_function` or only `predict`; None is LogisticRegression.
    calibrated : bool, default True
        The threshold label takes part: scores are relative to it, and the set is `scores > 0`.
    ordered : bool, default False
        Grades state preferences among relevant labels too.
    voting : {"votes", "weighted", "coupling"}
    tie_break : {"margin", None}
        Order equal votes by the summed probabilities, or leave whole votes.
    coupling : {"wu-lin-weng", "hastie-tibshirani", "price"}
    threshold : "cardinality" or float
        How `predict` cuts the ranking if not calibrated.
    n_jobs : int or None
        Pairs fitted side by side.

    Attributes
    ----------
    pairs_ : list of (u, v), u < v; the threshold label has the index K
    estimators_ : list of classifiers, one per pair; a number where the pair is always decided the
        same way: the probability that u is preferred

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from labelrank import PairwiseClassifier
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])
    >>> learner = PairwiseClassifier(GaussianNB()).fit(X, [0, 0, 1, 1, 2, 2])
    >>> learner.predict([[0.05], [1.05], [2.05]])
    array([0, 1, 2])
    """

    estimator: Any = field(default=None, metadata=a_learner(), kw_only=False)
    calibrated: bool = flag(True)
    ordered: bool = flag(False)
    voting: str = choice(*votes.VOTINGS)
    tie_break: str | None = choice(*votes.TIE_BREAKS)
    coupling: str = choice(*votes.COUPLINGS)
    threshold: Any = cut()
    n_jobs: int | None = threads()

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return bool(self.calibrated)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        # Differences of levels are the preferences: NaN states none, Θ is between 0 and 1.
        levels = Y.toarray()
        if not self.ordered:
            levels[levels > 0] = 1.0
        elif (levels > 0).any():
            _, ranks = np.unique(levels[levels > 0], return_inverse=True)
            levels[levels > 0] = ranks + 1.0
        if self.calibrated:
            levels = np.column_stack([levels, np.full(len(levels), 0.5)])
        sides = (np.sign(levels[:, u] - levels[:, v]) for u, v in self.pairs_)
        base, fit = _base(self.estimator), delayed(_fit_pair)
        self.estimators_ = list(Parallel(n_jobs=self.n_jobs)(fit(base, X, y) for y in sides))

    @property
    def pairs_(self) -> list[tuple[int, int]]:
        """The pairs u < v of labels, Θ being the last."""
        return list(itertools.combinations(range(self.n_labels_ + int(self.calibrated)), 2))

    def after_loading(self) -> None:
        fits = isinstance(self.estimators_, list) and len(self.estimators_) == len(self.pairs_)
        for one in self.estimators_ if fits else ():
            if not isinstance(one, float):
                check_is_fitted(one)
                fits &= getattr(one, "n_features_in_", self.n_features_in_) == self.n_features_in_
                fits &= np.array_equal(getattr(one, "classes_", ()), (0, 1))
        if not fits:
            raise ValueError("the classifiers are not one for each pair of labels")

    def _scores(self, X: Any) -> Array:
        def block(first: int, last: int) -> Array:
            chances = self._chances(X[first:last])
            if self.voting != "votes":
                return votes.soft_scores(chances, self.voting, self.coupling)
            won = votes.count_votes(chances)
            sums = (chances - 0.5).sum(axis=2)
            return won if self.tie_break is None else votes.break_ties(won, sums)

        scores = votes.in_row_blocks(X.shape[0], self.n_labels_ + int(self.calibrated), block)
        return votes.relative_to_threshold(scores, self.calibrated)

    def _chances(self, X: Any) -> Array:
        """P(u beats v), n × K' × K'; both sides sum to 1."""
        width = self.n_labels_ + int(self.calibrated)
        chances = np.full((X.shape[0], width, width), 0.5)
        for (u, v), one in zip(self.pairs_, self.estimators_, strict=True):
            chances[:, u, v] = _chance(one, X)
            chances[:, v, u] = 1.0 - chances[:, u, v]
        return chances

    def duels(self, X: Any) -> Array:
        """Margins n × K × K (K + 1 with Θ, the last), from -1 to 1: `[i, u, v] > 0`: u beat v."""
        check_is_fitted(self)
        return 2.0 * self._chances(self._check_X(X, reset=False)) - 1.0

    @property
    def has_probabilities(self) -> bool:
        """Votes have no probabilities that would agree with them: coupling has."""
        return self.voting == "coupling" and has_probabilities(_base(self.estimator))

    def _probabilities(self, X: Any) -> Array:
        """Coupled, if they can be.

        After a class vector, or without the threshold label, they are those of being the best
        label and sum to 1. With it, each is the probability of ranking above the threshold.
        """
        if not self.has_probabilities:
            return super()._probabilities(X)
        width = self.n_labels_ + int(self.calibrated)
        couple = votes.COUPLINGS[self.coupling]
        coupled = votes.in_row_blocks(
            X.shape[0], width, lambda first, last: couple(self._chances(X[first:last]))
        )
        if self.calibrated and self.target_.one_class:
            coupled = coupled[:, :-1] / coupled[:, :-1].sum(axis=1, keepdims=True)
        elif self.calibrated:
            coupled = coupled[:, :-1] / (coupled[:, :-1] + coupled[:, -1:])
        shares = np.exp(-np.logaddexp(0.0, -self._prior()))
        if self.target_.one_class or not self.calibrated:
            shares /= shares.sum()
        return np.where(self._silent(X)[:, None], shares, coupled)


def _base(estimator: Any) -> Any:
    return LogisticRegression() if estimator is None else estimator


def _fit_pair(estimator: Any, X: Any, side: Array) -> Any:
    """A classifier of u (+1) against v (-1), or the chance of u where there is nothing to learn."""
    decided = np.flatnonzero(np.abs(side) == 1)
    y = (side[decided] > 0).astype(np.int64)
    if len(decided) == 0:
        return 0.5
    if y.min() == y.max():
        return float(y[0])
    return clone(estimator).fit(X[decided], y)


def _chance(one: Any, X: Any) -> Any:
    if isinstance(one, float):
        return one
    if has_probabilities(one):
        return one.predict_proba(X)[:, 1]
    if hasattr(one, "decision_function"):
        return expit(one.decision_function(X))
    return one.predict(X).astype(np.float64)
