"""Rules by separate and conquer, one label against all others (FOIL, Quinlan 1990).

A rule is a set of features that must all be there. It grows by the feature of the largest gain

    p (log2 p / (p + n) - log2 P / (P + N)),

where it covers P relevant and N irrelevant instances before, and p and n after. What it covers of
the relevant instances is taken away, and the next rule is sought.
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.utils import Tags

from labelrank._types import Array, Float64
from labelrank.declared import array, number, stored, threads
from labelrank.learners.base import LabelRanker
from labelrank.resources import run_jobs

Rule = tuple[int, ...]


@stored(
    "RuleRanker", 1,
    labels=array("i8", "rules", below="K", attribute="_labels"),
    precisions=array("f8", "rules", attribute="_precisions"),
    rule_ptr=array("i8", "rules+1", points_into="features", attribute="_ptr"),
    features=array("i8", "features", below="d", attribute="_features"),
    default=array("f8", "K", attribute="_default"),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class RuleRanker(LabelRanker):
    """Rules for each label against all others: which words together mean the label.

    A feature is there or not, whatever its value. The probability of a label is the best precision
    of its rules that hold, by Laplace's correction; where none holds, it is how often the label is
    relevant among the instances that no rule covers. Scores are log odds.

    Parameters
    ----------
    max_length : int, default 4, features of a rule
    max_rules : int, default 30, rules per label
    min_covered : int, default 2, relevant instances that a rule must cover
    n_jobs : int or None, threads over labels

    Attributes
    ----------
    rules_ : list of (label, features, precision), in the order they were found

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import RuleRanker
    >>> X = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]] * 3)
    >>> Y = X[:, :1] * X[:, 1:2]
    >>> learner = RuleRanker().fit(X, Y)
    >>> [(label, features) for label, features, _ in learner.rules_]
    [(0, (0, 1))]
    """

    max_length: int = number(4, least=1, whole=True)
    _: KW_ONLY
    max_rules: int = number(30, least=1, whole=True)
    min_covered: int = number(2, least=1, whole=True)
    n_jobs: int | None = threads()

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        there = _there(X)
        columns = (column.toarray().ravel() for column in Y.T.tocsr())
        found = run_jobs([partial(self._conquer, there, c) for c in columns], self.n_jobs)
        rules = [(k, *one) for k, (rules, _) in enumerate(found) for one in rules]
        self._labels = np.array([rule[0] for rule in rules], np.int64)
        self._precisions = np.array([rule[2] for rule in rules])
        lengths = [len(rule[1]) for rule in rules]
        self._ptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        self._features = np.array([j for rule in rules for j in rule[1]], np.int64)
        self._default = np.array([share for _, share in found])

    @property
    def rules_(self) -> list[tuple[int, Rule, float]]:
        """Label (its column), features and precision of each rule."""
        spans = zip(self._ptr[:-1], self._ptr[1:], strict=True)
        features = [tuple(self._features[a:b].tolist()) for a, b in spans]
        labels, precisions = self._labels.tolist(), self._precisions.tolist()
        return list(zip(labels, features, precisions, strict=True))

    def _conquer(self, X: sp.csr_array, grades: Float64) -> tuple[list[tuple[Rule, float]], float]:
        """The rules of a label, and how often it is relevant where none holds."""
        known, positive = ~np.isnan(grades), grades > 0
        left = positive.copy()
        rules: list[tuple[Rule, float]] = []
        covered = np.zeros(len(grades), bool)
        while len(rules) < self.max_rules and left.sum() >= self.min_covered:
            features, held = self._grow(X, left, known & ~positive)
            n_right, n_held = int((held & positive).sum()), int((held & known).sum())
            precision = (n_right + 1.0) / (n_held + 2.0)
            share = positive.sum() / max(known.sum(), 1)
            if (held & left).sum() < self.min_covered or precision <= share:
                break
            rules.append((features, precision))
            left &= ~held
            covered |= held
        rest = known & ~covered
        return rules, float(((positive & rest).sum() + 0.5) / (rest.sum() + 1.0))

    def _grow(self, X: sp.csr_array, wanted: Array, against: Array) -> tuple[Rule, Array]:
        """Features of the next rule, and the instances in which it holds."""
        features: list[int] = []
        held = np.ones(X.shape[0], bool)
        while len(features) < self.max_length:
            P, N = (held & wanted).sum(), (held & against).sum()
            if not N or not P:
                break
            p, n = (X.T @ (held & mask).astype(np.float64) for mask in (wanted, against))
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = np.where(p > 0, p * (np.log2(p / (p + n)) - np.log2(P / (P + N))), 0.0)
            gain[features] = 0.0
            best = int(gain.argmax()) if len(gain) else 0
            if not len(gain) or gain[best] <= 1e-9:
                break
            features.append(best)
            held &= X[:, [best]].toarray().ravel() > 0
        return tuple(sorted(features)), held if features else np.zeros(X.shape[0], bool)

    def _scores(self, X: Any) -> Array:
        X, n_rules = _there(X), len(self._labels)
        best = np.tile(self._default, (X.shape[0], 1))
        owner = np.repeat(np.arange(n_rules), np.diff(self._ptr))
        ones = np.ones(len(owner))
        needed = sp.csr_array((ones, (self._features, owner)), shape=(X.shape[1], n_rules))
        holds = (X @ needed).toarray() == np.diff(self._ptr)
        chances = np.where(holds, self._precisions, 0.0)
        for rule, label in enumerate(self._labels):
            best[:, label] = np.maximum(best[:, label], chances[:, rule])
        return np.asarray(logit(best))

    def link(self, scores: Array) -> Array:
        """Precisions."""
        return np.asarray(expit(scores))

    def after_loading(self) -> None:
        shares = np.concatenate([self._precisions, self._default])
        if ((shares <= 0) | (shares >= 1)).any() or (np.diff(self._ptr) < 1).any():
            raise ValueError("rules without features, or without a precision")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on features that are always there
        return tags


def _there(X: Any) -> sp.csr_array:
    """1 where a feature is not 0."""
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.eliminate_zeros()
    X.data[:] = 1.0
    return X
