"""What a race is judged by: a criterion, and where sets are cut for it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank import decoding
from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.learners.auto import blocks as of_targets
from labelrank.learners.thresholded import METRICS, best_threshold
from labelrank.metrics import criteria
from labelrank.metrics.criteria import Criterion

# How far the cut falls for a label ten times as rare; the held-out instances choose.
TILTS = (0.0, 0.1)
# Where the threshold label of PRO loss may stand, among the scores; then nearer to the best.
_PLACES = 16
# Groups of instances that are left out in turn to see how much a value depends on chance.
_GROUPS = 20


class Judged(NamedTuple):
    """How good scores are (larger is better), and where, with what tilt, sets are cut for it."""

    value: float
    cut: float | None = None
    tilt: float = 0.0


class Goal(NamedTuple):
    """A criterion, the criterion of sets for which the ranking is cut, and the rarity of labels.

    `one_class`: one label is relevant to each instance, and the first one is the set. `blocks`:
    so it is in each block of so many labels. `graded`: the grades of labels matter.
    """

    criterion: Criterion
    cut: str | None
    rarity: Array | None = None
    one_class: bool = False
    blocks: tuple[int, ...] | None = None
    graded: bool = False

    @classmethod
    def of(cls, name: str, blocks: Sequence[int] | None = None) -> "Goal":
        criterion = criteria.get(name)
        if blocks is not None and criterion.direction != criteria.NEITHER:
            return cls(criterion, None, blocks=of_targets.check_blocks(blocks))
        if criterion.needs == "classes":
            raise InputError(
                f"got criterion={name!r}, which judges targets of several classes; put AutoRanker "
                "into a BlockClassifier, or ask for 'subset_accuracy' or 'hamming_loss' of labels"
            )
        of_scores = criterion.needs == "scores"
        if criterion.direction == criteria.NEITHER or not (of_scores or criterion.name in METRICS):
            raise InputError(
                f"got criterion={name!r}, for which no cut can be tuned; use one of "
                f"{', '.join(METRICS)}, or a criterion of rankings such as 'ranking_loss'"
            )
        if criterion.name == "pro_loss":
            return cls(criterion, None)
        return cls(criterion, "micro_f1" if of_scores else criterion.name)

    def on(self, Y: sp.csr_array, *, one_class: bool) -> "Goal":
        """The goal for these training data."""
        if self.blocks is not None:
            of_targets.check_blocks(self.blocks, Y.shape[1])
        grades = np.unique(Y.data[Y.data > 0])
        graded = len(grades) > 1 and tells_grades(self.criterion)
        return self._replace(rarity=rarity(Y), one_class=one_class, graded=graded)

    def judge(self, Y: sp.csr_array, scores: Array) -> Judged:
        """How good the scores are with the best cut."""
        if self._by_threshold:
            return self._best_threshold(Y, scores)
        if self.criterion.needs != "sets" or self.one_class or self.blocks:
            return Judged(self.value(Y, scores, Judged(0.0)))
        found = []
        for tilt in TILTS:
            cut = float(best_threshold(Y, self._tilted(scores, tilt), str(self.cut)))
            judged = Judged(0.0, cut, tilt)
            found.append(judged._replace(value=self.value(Y, scores, judged)))
        return max(found, key=lambda one: one.value)

    def value(self, Y: sp.csr_array, scores: Array, judged: Judged) -> float:
        """How good the scores are with the cut of `judged`."""
        if self.criterion.needs == "classes":
            codes = (of_targets.as_codes(Y, self.blocks or ()),
                     of_targets.first_of_blocks(scores, self.blocks or ()))  # fmt: skip
            return self.criterion.direction * self.criterion(*codes)
        answer: Array | sp.csr_array = scores
        if self._by_threshold:
            answer = scores - np.asarray(judged.cut or 0.0, scores.dtype)
        if self.criterion.needs == "sets" and self.blocks:
            answer = sp.csr_array(of_targets.members(scores, self.blocks))
        elif self.criterion.needs == "sets":
            members = (
                decoding.first(scores, 1)
                if self.one_class
                else self._tilted(scores, judged.tilt) > (judged.cut or 0.0)
            )
            answer = sp.csr_array(members)
        return self.criterion.direction * self.criterion(Y, answer)

    def distance(self, value: float) -> float:
        """How far a value is from the best there is."""
        return (1.0 if self.criterion.direction > 0 else 0.0) - value

    def noise(self, Y: sp.csr_array, one: tuple[Array, Judged], two: tuple[Array, Judged]) -> float:
        """Standard error of the difference of two values, by leaving out groups of instances."""
        n = Y.shape[0]
        n_groups = min(_GROUPS, n)
        differences = []
        for group in range(n_groups):
            rest = np.flatnonzero(np.arange(n) % n_groups != group)
            values = [self.value(Y[rest], scores[rest], judged) for scores, judged in (one, two)]
            differences.append(values[0] - values[1])
        return float(np.std(differences) * (n_groups - 1) ** 0.5)

    @property
    def _by_threshold(self) -> bool:
        """Whether the threshold label is judged too."""
        return self.criterion.name == "pro_loss"

    def _best_threshold(self, Y: sp.csr_array, scores: Array) -> Judged:
        """The learner's own threshold, or a better one among the scores."""
        best = Judged(self.value(Y, scores, Judged(0.0, 0.0)), 0.0)
        low, high = 0.0, 1.0
        for _ in range(2):
            shares = np.linspace(low, high, _PLACES + 1)
            for share, cut in zip(shares, np.quantile(scores, shares), strict=True):
                cut = float(np.nextafter(np.asarray(cut, scores.dtype), -np.inf))
                value = self.value(Y, scores, Judged(0.0, cut))
                if value > best.value:
                    best, middle = Judged(value, cut), float(share)
            if best.cut == 0.0:
                return best
            low, high = max(middle - 1 / _PLACES, 0.0), min(middle + 1 / _PLACES, 1.0)
        return best

    def levels(self, Y: sp.csr_array) -> sp.csr_array:
        """How relevant labels are, from 0 to 1: by their grade where that matters."""
        relevant, found = Y.data > 0, Y.copy()
        grades = np.unique(Y.data[relevant]) if self.graded else np.zeros(1)
        places = np.searchsorted(grades, Y.data[relevant], "right")
        found.data[relevant] = places / len(grades)
        return found

    def _tilted(self, scores: Array, tilt: float) -> Array:
        if not tilt or self.rarity is None:
            return scores
        return scores + (tilt * self.rarity).astype(scores.dtype)


def tells_grades(criterion: Criterion) -> bool:
    """Whether the order of relevant labels makes a difference to the criterion.

    >>> [tells_grades(criteria.get(name)) for name in ("pro_loss", "ndcg_at_5", "one_error")]
    [True, True, False]
    """
    if criterion.needs != "scores" or criterion.direction == criteria.NEITHER:
        return False
    scores = np.array([[3.0, 2.0, 1.0, -1.0]])
    values = [criterion([grades], scores) for grades in ([1, 2, 2, 0], [2, 1, 1, 0])]
    return values[0] != values[1]


def rarity(Y: sp.csr_array) -> Array:
    """Of each label, how many powers of ten fewer instances have it than there are."""
    counts = np.bincount(Y.indices[Y.data > 0], minlength=Y.shape[1])
    return np.log10((Y.shape[0] + 1.0) / (counts + 1.0))
