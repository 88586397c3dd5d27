"""Blends: learners whose log odds are averaged, chosen one by one by held-out quality.

Greedy forward selection with replacement (Caruana et al. 2004): the learner that helps most is
added, and may be added again, which gives it more weight. The scores of each are made log odds by
one line for all labels, so that they can be added and no ranking of theirs changes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit

from labelrank._types import Array
from labelrank.declared import nested, stored, value
from labelrank.learners.auto.goal import Goal, Judged
from labelrank.learners.auto.weighting import Weighting

MOST_MEMBERS = 12
# A blend is kept if it gains so many standard errors, and so much of what is left to gain.
_BEYOND, _WORTH_IT = 1.0, 0.005
_MOST_CELLS = 2_000_000
_STEPS, _LEAST_SHARE = 50, 1e-6


@stored("Line", 1, slope=value(float), offset=value(float), shares=value(bool))
class Line(NamedTuple):
    """Scores s as log odds: slope · s + offset, of shares slope · ln(s / (1 - s)) + offset."""

    slope: float = 1.0
    offset: float = 0.0
    shares: bool = False

    def __call__(self, scores: Array) -> Array:
        if self.shares:
            scores = logit(np.clip(scores, _LEAST_SHARE, 1.0 - _LEAST_SHARE))
        return scores * self.slope + self.offset

    @classmethod
    def of(cls, Y: sp.csr_array, scores: Array, *, shares: bool = False) -> "Line":
        """The line of the largest likelihood (Platt 2000), that never falls.

        `Y` may hold levels between 0 and 1.
        """
        every = max(1, -(-scores.size // _MOST_CELLS))
        scores = cls(shares=shares)(scores)
        truth, scores = Y[::every].toarray(), scores[::every]
        known = ~np.isnan(truth)
        relevant, s = np.minimum(truth[known], 1.0), scores[known].astype(np.float64)
        n_relevant = float(relevant.sum())
        mean, spread = float(s.mean()), float(s.std())
        if not spread or not 0 < n_relevant < len(s):
            return cls(shares=shares)
        high, low = (n_relevant + 1) / (n_relevant + 2), 1 / (len(s) - n_relevant + 2)
        target = low + (high - low) * relevant
        slope, offset = _likeliest((s - mean) / spread, target)
        slope = max(slope, 1e-3) / spread
        return cls(slope, offset - slope * mean, shares)


def _likeliest(s: Array, target: Array) -> tuple[float, float]:
    """Logistic regression of one feature, by Newton's method."""
    share = float(target.mean())
    found = np.array([1.0, np.log(share / (1.0 - share))])
    for _ in range(_STEPS):
        p = expit(found[0] * s + found[1])
        weight, wrong = np.maximum(p * (1 - p), 1e-10), p - target
        gradient = np.array([wrong @ s, wrong.sum()])
        across = float(weight @ s)
        curve = np.array([[weight @ (s * s), across], [across, weight.sum()]])
        step = np.linalg.solve(curve, gradient)
        step *= min(1.0, 2.0 / float(np.abs(step).max() or 1.0))
        found = found - step
        if np.abs(step).max() < 1e-6:
            break
    return float(found[0]), float(found[1])


@stored(
    "Member", 1, name=value(str), share=value(float, least=0.0), weighting=nested("Weighting"),
    line=nested("Line", optional=True), estimator=nested(),
)  # fmt: skip
class Member(NamedTuple):
    """A learner fitted on all instances, and what it adds to the scores; alone it needs no line."""

    name: str
    share: float
    weighting: Weighting
    line: Line | None
    estimator: Any

    def scores(self, X: Any) -> Array:
        scores = np.asarray(self.estimator.decision_function(self.weighting(X)))
        return scores if self.line is None else self.share * self.line(scores)

    @property
    def explains(self) -> bool:
        """Whether it gives reasons."""
        return hasattr(self.estimator, "why")

    def why(self, row: Any, label: Any, over: Any) -> Any:
        """Its reasons, which sum to what it adds."""
        if self.line is None:
            return self.estimator.why(self.weighting(row), label, over=over)
        if over is not None:
            ahead, behind = self.why(row, label, None), self.why(row, over, None)
            return together([ahead, _times(behind, -1.0)])._replace(over=behind.label)
        # The line bends where scores are shares: each reason keeps its part of the way.
        reason = self.estimator.why(self.weighting(row), label)
        end, start = (
            self.share * float(self.line(np.array(s))) for s in (reason.margin, reason.constant)
        )
        way = reason.margin - reason.constant
        told = _times(reason, (end - start) / way if way else 0.0)
        return told._replace(margin=end, constant=start)


def _times(reason: Any, factor: float) -> Any:
    return reason._replace(
        margin=factor * reason.margin, constant=factor * reason.constant,
        contributions=factor * reason.contributions,
    )  # fmt: skip


def together(reasons: Sequence[Any]) -> Any:
    """The sum of the reasons of several members, strongest feature first."""
    first = reasons[0]
    if len(reasons) == 1:
        return first
    features = np.concatenate([one.features for one in reasons])
    names = np.concatenate([one.names for one in reasons])
    found, place, of = np.unique(features, return_index=True, return_inverse=True)
    sums = np.bincount(of, np.concatenate([one.contributions for one in reasons]), len(found))
    order = np.argsort(-np.abs(sums), kind="stable")
    return first._replace(
        margin=sum(one.margin for one in reasons), features=found[order],
        constant=sum(one.constant for one in reasons), names=names[place][order],
        contributions=sums[order],
    )  # fmt: skip


class Blend(NamedTuple):
    """What was chosen: the share of each member, the scores they give together, and their worth."""

    shares: dict[int, float]
    scores: Array
    judged: Judged


def best_blend(
    goal: Goal,
    Y: sp.csr_array,
    scores: Sequence[Array],
    costs: Sequence[float],
    affordable: float,
    single: float = -np.inf,
) -> Blend | None:
    """Members by their places among the (log odds) scores; None if the first alone is as good.

    The first is the best of them, worth `single` by its own scores. What the members cost together
    stays within `affordable`.
    """
    every = max(1, -(-scores[0].size // _MOST_CELLS))
    few, truth = [one[::every] for one in scores], Y[::every]
    picked, total, alone = [0], few[0], goal.judge(truth, few[0])
    best = alone
    while len(picked) < MOST_MEMBERS:
        tried = []
        for k, one in enumerate(few):
            if sum(costs[m] for m in {*picked, k}) <= affordable or k in picked:
                tried.append((goal.judge(truth, total + (one - total) / (len(picked) + 1)), k))
        judged, k = max(tried, key=lambda one: (one[0].value, -one[1]))
        if judged.value <= best.value:
            break
        picked.append(k)
        total, best = total + (few[k] - total) / len(picked), judged
    if len(set(picked)) == 1:
        return None
    gain, left = best.value - alone.value, goal.distance(alone.value)
    chance = goal.noise(truth, (total, best), (few[0], alone))
    if gain <= max(_BEYOND * chance, _WORTH_IT * left):
        return None
    shares = {k: count / len(picked) for k, count in sorted(Counter(picked).items())}
    blended = np.asarray(sum(share * scores[k] for k, share in shares.items()))
    found = Blend(shares, blended, goal.judge(Y, blended))
    return found if found.judged.value - single > _WORTH_IT * left else None
