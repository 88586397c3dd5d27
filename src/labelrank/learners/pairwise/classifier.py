"""Round robin: one binary classifier of any kind for each pair of labels, for few labels."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import check_choice
from labelrank.learners.base import LabelRanker
from labelrank.learners.pairwise import votes as voting
from labelrank.learners.pairwise.coupling import COUPLINGS


def _couples(learner: "PairwiseClassifier") -> bool:
    """Votes have no probabilities that would agree with them: coupling has."""
    return learner.voting == "coupling" and hasattr(_base(learner), "predict_proba")


def _base(learner: "PairwiseClassifier") -> Any:
    return LogisticRegression() if learner.estimator is None else learner.estimator


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
    coupling : {"wu-lin-weng", "hastie-tibshirani"}
    threshold : "cardinality" or float
        How `predict` cuts the ranking if not calibrated.
    n_jobs : int or None
        Pairs fitted side by side.

    Attributes
    ----------
    pairs_ : list of (u, v), u < v; the threshold label has the index K
    estimators_ : list of classifiers, one a pair; a number where the pair is always decided so:
        the probability that u is preferred

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

    def __init__(
        self,
        estimator: Any = None,
        *,
        calibrated: bool = True,
        ordered: bool = False,
        voting: str = "votes",
        tie_break: str | None = "margin",
        coupling: str = "wu-lin-weng",
        threshold: Any = "cardinality",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibrated = calibrated
        self.ordered = ordered
        self.voting = voting
        self.tie_break = tie_break
        self.coupling = coupling
        self.threshold = threshold
        self.n_jobs = n_jobs

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return bool(self.calibrated)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, voting.VOTINGS)
        check_choice("tie_break", self.tie_break, voting.TIE_BREAKS)
        check_choice("coupling", self.coupling, tuple(COUPLINGS))

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        levels = self._levels(Y)
        width = levels.shape[1]
        self.pairs_ = [(u, v) for u in range(width) for v in range(u + 1, width)]
        sides = (np.sign(levels[:, u] - levels[:, v]) for u, v in self.pairs_)
        self.estimators_ = list(
            Parallel(n_jobs=self.n_jobs)(delayed(_fit_pair)(_base(self), X, y) for y in sides)
        )

    def _levels(self, Y: sp.csr_array) -> Array:
        """Grades whose differences are the preferences: NaN states none, Θ is between 0 and 1."""
        levels = Y.toarray()
        if not self.ordered:
            levels[levels > 0] = 1.0
        elif (levels > 0).any():
            _, ranks = np.unique(levels[levels > 0], return_inverse=True)
            levels[levels > 0] = ranks + 1.0
        if not self.calibrated:
            return levels
        return np.column_stack([levels, np.full(len(levels), 0.5)])

    def _scores(self, X: Any) -> Array:
        width = self.n_labels_ + int(self.calibrated)
        scores = voting.in_row_blocks(X.shape[0], width, lambda *span: self._block(X, *span))
        return voting.relative_to_threshold(scores, self.calibrated)

    def _block(self, X: Any, first: int, last: int) -> Array:
        chances = self._chances(X[first:last])
        if self.voting != "votes":
            return voting.soft_scores(chances, self.voting, self.coupling)
        votes = voting.count_votes(chances)
        if self.tie_break is None:
            return votes
        return voting.break_ties(votes, (chances - 0.5).sum(axis=2))

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

    @available_if(_couples)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Coupled probabilities, n × K, for `voting="coupling"` and a base with `predict_proba`.

        After a class vector, or without the threshold label, they are those of being the best
        label and sum to 1. With it, each is the probability of ranking above the threshold.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        width = self.n_labels_ + int(self.calibrated)
        couple = COUPLINGS[self.coupling]
        coupled = voting.in_row_blocks(
            X.shape[0], width, lambda first, last: couple(self._chances(X[first:last]))
        )
        if not self.calibrated:
            return coupled
        if self._one_class:
            return coupled[:, :-1] / coupled[:, :-1].sum(axis=1, keepdims=True)
        return coupled[:, :-1] / (coupled[:, :-1] + coupled[:, -1:])


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
    if hasattr(one, "predict_proba"):
        return one.predict_proba(X)[:, 1]
    if hasattr(one, "decision_function"):
        return expit(one.decision_function(X))
    return one.predict(X).astype(np.float64)
