"""Where to cut scores: at one threshold, one per label, or by a number of labels per row."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64
from labelrank.declared import array, nested, stored, value
from labelrank.kernels import ranking as kernels
from labelrank.learners.held_out.calibration import Calibration, drawn_rows
from labelrank.metrics import criteria

# What is summed, and over which groups: (measure, axis of the group; None is one group of all).
METRICS = {
    "micro_f1": (kernels.F1, None),
    "macro_f1": (kernels.F1, 1),
    "example_f1": (kernels.F1, 0),
    "example_jaccard": (kernels.JACCARD, 0),
    "subset_accuracy": (kernels.EXACT, 0),
    "hamming_loss": (kernels.RIGHT, None),
}
CUTS = ("one", "per_label", "count")
_ENTRIES = 1 << 20
_GAIN = 0.002  # less than that is chance
_SHRINKING = (2.0, 8.0, 32.0)
_FACTORS, _ADDENDS = (0.7, 0.85, 1.0, 1.2), (0.3, 0.5, 0.8)


@stored(
    "Cut", 1, kind=value(str), threshold=value(float),
    of_labels=array("f8", "K", optional=True), calibration=nested("Calibration", optional=True),
    factor=value(float, least=0.0), addend=value(float, least=0.0),
)  # fmt: skip
class Cut(NamedTuple):
    """Which labels of a row are in the set: those with a score above the threshold.

    Attributes
    ----------
    kind : "one", "per_label" or "count"
    threshold : float, the one for all ("one"), and that to which those of labels are shrunk
    of_labels : ndarray (K,) or None, the threshold of each label ("per_label")
    calibration, factor, addend
        Of "count": a row has ⌊factor · (sum of its probabilities) + addend⌋ labels.
    """

    kind: str
    threshold: float
    of_labels: Float64 | None = None
    calibration: Calibration | None = None
    factor: float = 1.0
    addend: float = 0.5

    def thresholds(self, scores: Array) -> Float64:
        """Thresholds that broadcast to the scores (n × K): the set is `scores > thresholds`."""
        if self.of_labels is not None:
            return self.of_labels
        if self.calibration is None:
            return np.array(self.threshold)
        sums = self.calibration.probabilities(scores).sum(axis=1)
        return _between(-np.sort(-np.asarray(scores, np.float64), axis=1), self.sizes(sums))

    def sizes(self, expected: Float64) -> Array:
        """The number of labels where so many are expected."""
        return np.floor(self.factor * expected + self.addend).astype(np.int64)

    def after_loading(self) -> None:
        parts = self.of_labels is not None, self.calibration is not None
        if parts != (self.kind == "per_label", self.kind == "count") or self.kind not in CUTS:
            raise ValueError("a cut of an unknown kind, or without its parts")


def _between(falling: Float64, sizes: Array) -> Float64:
    """Thresholds (n × 1) that leave so many of the sorted scores above them, but for ties."""
    below = np.nextafter(falling[:, -1:], -np.inf)
    bounded = np.column_stack([falling[:, :1], falling, below])
    first = np.clip(sizes, 0, falling.shape[1])[:, None]
    high, low = (np.take_along_axis(bounded, first + step, axis=1) for step in (0, 1))
    middle = low + (high - low) / 2
    return np.where(first == 0, high, np.where(middle < high, middle, low))


def best_cut(Y: Any, scores: Any, metric: str, *, kinds: Sequence[str] = CUTS) -> Cut:
    """The kind of cut that is best for the metric on scores held out, and that cut.

    Each kind learns from half of the rows and is judged by the other, both ways round; another
    kind than the first of `kinds` is taken only if it is clearly ahead in both. Of many rows some
    are drawn, always the same.

    Parameters
    ----------
    Y : relevance (n × K), sparse or dense; NaN is unknown and ignored
    scores : array (n, K)
        Of instances that the learner has not learned.
    metric : a name in `METRICS`, or an alias
    kinds : some of "one", "per_label", "count"
        "one" threshold for all; "per_label" the best of each label, shrunk to the common one the
        more, the fewer relevant instances the label has; "count" as many labels as are expected
        by the calibrated probabilities of the row.

    Examples
    --------
    >>> scores = np.array([[2.0, 1.0], [1.5, 0.5], [0.5, 2.5], [1.0, 2.0]])
    >>> cut = best_cut([[1, 0], [1, 0], [0, 1], [0, 1]], scores, "micro_f1", kinds=("one",))
    >>> (scores > cut.thresholds(scores)).astype(int).tolist()
    [[1, 0], [1, 0], [0, 1], [0, 1]]
    """
    metric, scores = criteria.canonical(metric), np.asarray(scores)
    rows = drawn_rows(len(scores), scores.shape[1], _ENTRIES)
    Y = sp.csr_array(Y)
    drawn, truth = scores[rows].astype(np.float64), Y[rows].toarray()
    makers = [maker for kind in kinds for maker in _MAKERS[kind]]
    best = makers[0]
    if len(makers) > 1 and len(rows) > 1:
        values = np.array([_held_out(maker, truth, drawn, metric) for maker in makers])
        ahead = (values > values[0] + _GAIN).all(axis=1)
        ahead[0] = True
        best = makers[int(np.argmax(np.where(ahead, values.sum(axis=1), -np.inf)))]
    whole = best is _one
    return best(Y.toarray(), scores, metric) if whole else best(truth, drawn, metric)


def _held_out(maker: "Maker", truth: Array, scores: Float64, metric: str) -> list[float]:
    """What the cut of one half is worth on the other, both ways round."""
    halves = [slice(0, None, 2), slice(1, None, 2)]
    cuts = [maker(truth[half], scores[half], metric) for half in halves]
    judged = zip(halves[::-1], cuts, strict=True)
    return [_worth(truth[b], scores[b] > cut.thresholds(scores[b]), metric) for b, cut in judged]


def _worth(truth: Array, members: Array, metric: str) -> float:
    criterion = criteria.get(metric)
    return criterion.direction * criterion(truth, members.astype(np.int8))


Maker = Callable[[Array, Array, str], Cut]


def _one(truth: Array, scores: Array, metric: str) -> Cut:
    return Cut("one", _cut(truth, scores, metric)[0])


def _per_label(truth: Array, scores: Array, metric: str, *, shrinking: float) -> Cut:
    """t + n₊ / (n₊ + shrinking) · (best of the label - t)."""
    common, reached = _cut(truth, scores, metric)
    price = 0.5 if metric in ("hamming_loss", "subset_accuracy") else _price(reached, metric)
    counts = np.nansum(truth > 0, axis=0).astype(np.float64)
    own = np.full(len(counts), common)
    for k in np.flatnonzero(counts):
        column = truth[:, [k]], scores[:, [k]]
        own[k] = _cut(*column, metric)[0] if metric == "macro_f1" else _worth_taking(*column, price)
    return Cut("per_label", common, common + counts / (counts + shrinking) * (own - common))


def _price(reached: float, metric: str) -> float:
    """The probability from which on a label adds to F1 (half of it), or to Jaccard."""
    return reached / (1.0 + reached) if metric == "example_jaccard" else reached / 2.0


def _worth_taking(truth: Array, scores: Array, price: float) -> float:
    """The threshold with the most relevant entries above it, less the price of each entry."""
    known = ~np.isnan(truth)
    score, relevant = scores[known], truth[known] > 0
    order = np.argsort(-score, kind="stable")
    score = score[order]
    gains = np.append(0.0, np.cumsum(relevant[order] - price))
    is_between = np.append(np.diff(score) < 0, True)  # no cut between equal scores
    gains[1:][~is_between] = -np.inf
    return float(_between(score[None], np.array([np.argmax(gains)]))[0, 0])


def _count(truth: Array, scores: Array, metric: str) -> Cut:
    calibration = Calibration.fit(truth, scores)
    expected = calibration.probabilities(scores).sum(axis=1)
    falling = -np.sort(-np.asarray(scores, np.float64), axis=1)
    common = float(np.median(scores)) if scores.size else 0.0
    cuts = [Cut("count", common, None, calibration, f, a) for f in _FACTORS for a in _ADDENDS]
    worths = [_worth(truth, scores > _between(falling, c.sizes(expected)), metric) for c in cuts]
    return cuts[int(np.argmax(worths))]


_MAKERS: dict[str, list[Maker]] = {
    "one": [_one],
    "per_label": [partial(_per_label, shrinking=m) for m in _SHRINKING],
    "count": [_count],
}


def best_threshold(
    Y: sp.csr_array, scores: Array, metric: str, *, per_label: bool = False, floor: float = 0.0
) -> Any:
    """The threshold (or one per label) at which `scores > threshold` is best for the metric."""
    truth, metric = Y.toarray(), criteria.canonical(metric)
    if not per_label:
        return _cut(truth, np.asarray(scores), metric)[0]
    columns = (np.asarray(scores)[:, [k]] for k in range(Y.shape[1]))
    cuts_of = [(*_cut(truth[:, [k]], c, metric), c.max()) for k, c in enumerate(columns)]
    return np.array([high if best < floor else cut for cut, best, high in cuts_of], np.float64)


def _cut(truth: Array, scores: Array, metric: str) -> tuple[float, float]:
    measure, axis = METRICS[metric]
    groups = np.zeros(1, np.int64) if axis is None else np.arange(truth.shape[axis])
    group = np.broadcast_to(groups if axis != 0 else groups[:, None], truth.shape)
    known = ~np.isnan(truth)
    relevant, group, score = truth[known] > 0, group[known], scores[known]
    total = np.bincount(group[relevant], minlength=len(groups)).astype(np.int64)
    if metric == "micro_f1":
        kept = _contenders(score, relevant)
        score, group, relevant = score[kept], group[kept], relevant[kept]
    score, group = np.ascontiguousarray(score, np.float64), np.ascontiguousarray(group, np.int64)
    order = np.argsort(-score, kind="stable")
    threshold, best = kernels.best_cut(order, score, group, relevant, total, measure)
    return float(threshold), float(best)


def _contenders(score: Array, relevant: Array) -> Array:
    """The entries that matter to the best micro-F1, so that not all need be sorted.

    With p entries taken and r relevant it is at most 2r / (p + r): if a cut reaches F, none with
    more than r (2 / F - 1) entries is better.
    """
    n, r = score.size, int(relevant.sum())
    everything = np.ones(n, bool)
    if r == 0:
        return everything
    taken = score >= np.partition(score, n - r)[n - r]
    reached = 2.0 * np.count_nonzero(relevant & taken) / (np.count_nonzero(taken) + r)
    most = int(r * (2.0 / reached - 1.0)) + 2 if reached else n
    return score >= np.partition(score, n - most)[n - most] if most < n else everything
