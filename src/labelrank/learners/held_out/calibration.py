"""Scores to probabilities: one rising link for all labels, learned from scores held out.

A link of its own for each label could put a label of lower score above one of higher score. The
ranking is by score, so all labels share the link: the order of the probabilities is that of the
scores, with ties where the link is flat, and a set that is a cut of the scores is one of them too.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logit, logsumexp, softmax

from labelrank._types import Array, Float64
from labelrank.declared import array, stored, value

_ENTRIES = 1 << 21  # at most so many scores are looked at: whole rows, drawn once for all
_GROUPS = 2048
_KNOTS, _FURTHEST = 400, 20.0
_LARGEST = 1e30
_LEAST = 1e-12


@stored(
    "Calibration", 1, kind=value(str), scores=array("f8", "knots"), shares=array("f8", "knots"),
    slope=value(float, least=0.0),
)  # fmt: skip
class Calibration(NamedTuple):
    """Probability of relevance over the score, the same for all labels.

    Between the knots it is linear, beyond them constant, and it never falls. After a class vector
    (`kind="softmax"`) the probabilities of a row are softmax(slope · scores) instead.

    Attributes
    ----------
    kind : "platt", "beta", "isotonic" or "softmax"
    scores, shares : ndarray, the knots: rising scores, and the probability at each
    slope : float, of "softmax"

    Examples
    --------
    >>> from labelrank.learners.held_out.calibration import Calibration
    >>> scores = np.tile([[-1.0, 0.0, 1.0]], (90, 1))  # of 90 documents and 3 labels
    >>> Y = np.arange(90)[:, None] % 3 < [[0, 1, 2]]  # relevant: none, one and two of three
    >>> Calibration.fit(Y, scores).probabilities([[-2.0, 0.0, 0.5, 2.0]]).round(2)
    array([[0.01, 0.33, 0.5 , 0.66]])
    """

    kind: str
    scores: Float64
    shares: Float64
    slope: float = 1.0

    @classmethod
    def fit(cls, Y: Any, scores: Any, *, one_class: bool = False) -> "Calibration":
        """The link that suits scores of instances which the learner has not learned.

        The candidates are Platt's sigmoid (1999, with smoothed targets), the beta link (Kull et
        al. 2017: a sigmoid with a slope of its own on each side of the middle) and isotonic
        regression. Each learns from half of the rows and is judged by the log loss on the other,
        both ways round; the best learns from all. Of many rows some are drawn, always the same.

        Parameters
        ----------
        Y : relevance (n × K), dense or sparse; NaN is unknown and ignored
        scores : array (n, K)
            Out-of-fold or held-out scores, on the scale that `probabilities` will be given.
        one_class : bool, default False
            Each row has one relevant label: the probabilities of a row sum to 1, by the slope of
            a softmax with the least log loss.
        """
        n, K = np.shape(scores)
        rows = drawn_rows(n, K, _ENTRIES)
        given = np.clip(np.asarray(scores)[rows].astype(np.float64), -_LARGEST, _LARGEST)
        levels = Y.tocsr()[rows].toarray() if sp.issparse(Y) else np.asarray(Y, float)[rows]
        if one_class:
            return cls("softmax", np.zeros(0), np.zeros(0), _softmax_slope(levels, given))
        halves = [Groups.of(levels[first::2], given[first::2]) for first in (0, 1)]
        pairs = [halves, halves[::-1]]
        losses = {kind: sum(one.log_loss(fit(other)) for one, other in pairs)
                  for kind, fit in LINKS.items()}  # fmt: skip
        return LINKS[min(losses, key=losses.__getitem__)](Groups.of(levels, given))

    def probabilities(self, scores: Any) -> Float64:
        """Probabilities (n × K) of scores; NaN stays NaN."""
        scores = np.asarray(scores, np.float64)
        if self.kind == "softmax":
            return np.asarray(softmax(self.slope * scores, axis=1))
        x, y = self.scores, self.shares
        if len(x) == 1:
            return np.full(scores.shape, y[0])
        within = np.clip(scores, x[0], x[-1])
        low = np.clip(np.searchsorted(x, within, "right") - 1, 0, len(x) - 2)
        along = (within - x[low]) / np.diff(x)[low]
        # Rounding may not lift a score above those of the next piece: the order is a promise.
        return np.clip(y[low] + np.diff(y)[low] * along, y[low], y[low + 1])

    def after_loading(self) -> None:
        x, y = self.scores, self.shares
        if self.kind not in (*LINKS, "softmax") or (len(x) == 0) != (self.kind == "softmax"):
            raise ValueError("a calibration of an unknown kind, or without knots")
        if (np.diff(x) <= 0).any() or (np.diff(y) < 0).any() or ((y < 0) | (y > 1)).any():
            raise ValueError("the knots of a calibration do not rise, or leave 0 to 1")


def drawn_rows(n: int, n_labels: int, entries: int) -> Array:
    """Rows in random order, always the same; at most so many that there are `entries` scores."""
    return np.random.RandomState(0).permutation(n)[: max(entries // max(n_labels, 1), 200)]


class Groups(NamedTuple):
    """Known entries in order of their scores, neighbours put together: at most some thousand.

    Each group has about the same share of the entries, or of the relevant ones.
    """

    scores: Float64  # the mean of each group, rising
    hits: Float64  # how many of it are relevant
    totals: Float64

    @classmethod
    def of(cls, levels: Array, scores: Float64) -> "Groups":
        """Those of known relevance."""
        known = ~np.isnan(levels)
        score, relevant = scores[known], levels[known] > 0
        if not len(score):
            return cls(*np.zeros((3, 0)))
        order = np.argsort(score, kind="stable")
        score, relevant = score[order], relevant[order]
        first = np.flatnonzero(np.diff(score, prepend=-np.inf) > 0)  # equal scores stay together
        totals = np.diff(first, append=len(score)).astype(np.float64)
        hits = np.add.reduceat(relevant.astype(np.float64), first)
        place = np.cumsum(totals / len(score) + hits / max(hits.sum(), 1.0)) * (_GROUPS / 2)
        starts = np.flatnonzero(np.diff(np.floor(place), prepend=-1.0) > 0)
        sums = [np.add.reduceat(part, starts) for part in (score[first] * totals, hits, totals)]
        return cls(sums[0] / sums[2], sums[1], sums[2])

    @property
    def goals(self) -> Float64:
        """The sum of Platt's targets: a little inside 0 and 1, so that no link is too sure."""
        n_hits = self.hits.sum()
        n_misses = self.totals.sum() - n_hits
        high, low = (n_hits + 1.0) / (n_hits + 2.0), 1.0 / (n_misses + 2.0)
        return self.hits * high + (self.totals - self.hits) * low

    def log_loss(self, link: Calibration) -> float:
        shares = np.clip(link.probabilities(self.scores), _LEAST, 1.0 - _LEAST)
        misses = self.totals - self.hits
        return -float((self.hits * np.log(shares) + misses * np.log1p(-shares)).sum())


def platt(groups: Groups) -> Calibration:
    """P = 1 / (1 + exp(-(a·s + b))), a ≥ 0."""
    return _sigmoid("platt", groups, lambda z: z)


def beta(groups: Groups) -> Calibration:
    """logit P = a ln q - b ln(1 - q) + c for q of Platt's link; a and b at least 0."""
    a, b = _line(groups)
    middle = a * groups.scores + b
    sides = np.column_stack([_log_sigmoid(middle), -_log_sigmoid(-middle)])
    low, high, c = _logistic(sides, groups, [1.0, 1.0, 0.0])
    return _sigmoid(
        "beta", groups, lambda z: low * _log_sigmoid(z) - high * _log_sigmoid(-z) + c, (a, b)
    )


def isotonic(groups: Groups) -> Calibration:
    """The rising steps that are nearest to the targets, joined by lines."""
    from sklearn.isotonic import isotonic_regression

    if not len(groups.scores):
        return platt(groups)._replace(kind="isotonic")
    means = groups.goals / groups.totals
    shares = np.asarray(isotonic_regression(means, sample_weight=groups.totals), np.float64)
    shares = np.clip(np.maximum.accumulate(shares), 0.0, 1.0)
    is_new = np.diff(shares, prepend=-1.0) > 0
    kept = is_new | np.append(is_new[1:], True)  # both ends of each step
    return _of_knots("isotonic", groups.scores[kept], shares[kept])


LINKS: dict[str, Callable[[Groups], Calibration]] = {
    "platt": platt, "beta": beta, "isotonic": isotonic,
}  # fmt: skip


def _sigmoid(
    kind: str, groups: Groups, link: Callable[[Float64], Float64],
    line: tuple[float, float] | None = None,
) -> Calibration:  # fmt: skip
    """Knots of `link`, the log odds over those of Platt's line, where there are scores."""
    a, b = _line(groups) if line is None else line
    if not a > 0:
        return Calibration(kind, np.zeros(1), expit(link(np.array([b]))))
    ends = np.clip(a * groups.scores[[0, -1]] + b, -_FURTHEST, _FURTHEST)
    z = np.linspace(float(ends[0]), float(ends[1]), _KNOTS)
    return _of_knots(kind, (z - b) / a, np.maximum.accumulate(expit(link(z))))


def _of_knots(kind: str, scores: Float64, shares: Float64) -> Calibration:
    """Each score once, as rounding may let two of them coincide."""
    scores, first = np.unique(scores, return_index=True)
    return Calibration(kind, scores, shares[first])


def _line(groups: Groups) -> tuple[float, float]:
    """Slope and constant of Platt's log odds a·s + b."""
    hits, misses = groups.hits.sum(), groups.totals.sum() - groups.hits.sum()
    base = float(logit((hits + 1.0) / (hits + misses + 2.0)))
    if not hits or not misses:
        return 0.0, base
    weights = groups.hits / hits + (groups.totals - groups.hits) / misses  # both kinds alike
    middle = np.average(groups.scores, weights=weights)
    spread = np.sqrt(np.average((groups.scores - middle) ** 2, weights=weights))
    if not spread > 0:
        return 0.0, base
    a, b = _logistic(((groups.scores - middle) / spread)[:, None], groups, [1.0, base])
    return float(a / spread), float(b - a * middle / spread)


def _logistic(features: Float64, groups: Groups, start: list[float]) -> Float64:
    """Slopes, none below 0, and the constant (last) of the least log loss to the targets."""
    from scipy.optimize import minimize

    if not len(features):
        return np.array(start)
    design = np.column_stack([features, np.ones(len(features))])
    goals, totals, n = groups.goals, groups.totals, groups.totals.sum()

    def loss(weights: Float64) -> tuple[float, Float64]:
        z = (design * weights).sum(axis=1)
        slope = totals * expit(z) - goals
        value = (-totals * _log_sigmoid(-z) - goals * z).sum() / n
        return float(value), (design * slope[:, None]).sum(axis=0) / n

    bounds = [(0.0, None)] * features.shape[1] + [(None, None)]
    options = {"maxiter": 500, "ftol": 1e-13, "gtol": 1e-9}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x)


def _log_sigmoid(z: Float64) -> Float64:
    return -np.logaddexp(0.0, -z)


def _softmax_slope(levels: Array, scores: Float64) -> float:
    """The slope of the least log loss, with a target a little below 1 for the relevant class."""
    from scipy.optimize import minimize_scalar

    stated = np.flatnonzero((levels > 0).any(axis=1))[: max(_ENTRIES // 8 // levels.shape[1], 100)]
    scores = scores[stated] - scores[stated].mean(axis=1, keepdims=True)
    spread = float(scores.std()) if len(stated) else 0.0
    if not spread > 0:
        return 1.0
    relevant = levels[stated].argmax(axis=1)[:, None]
    # Rows are centred: shares of the target spread over all classes add nothing.
    target = np.take_along_axis(scores, relevant, axis=1).mean() * (1.0 - 1.0 / (len(stated) + 2))

    def loss(log_slope: float) -> float:
        slope = np.exp(log_slope)
        return float(logsumexp(slope * scores, axis=1).mean() - slope * target)

    low, high = np.log(1e-3 / spread), np.log(1e3 / spread)
    found = minimize_scalar(loss, bounds=(low, high), method="bounded")
    return float(np.exp(found.x))
