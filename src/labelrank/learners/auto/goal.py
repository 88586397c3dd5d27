"""What a race is judged by: a criterion, and where sets are cut for it."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank import decoding
from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.learners.thresholded import METRICS, best_threshold
from labelrank.metrics import criteria
from labelrank.metrics.criteria import Criterion

# How far the cut falls for a label ten times as rare; the held-out instances choose.
TILTS = (0.0, 0.1)
# Groups of instances that are left out in turn to see how much a value depends on chance.
_GROUPS = 20


class Judged(NamedTuple):
    """How good scores are (larger is better), and where, with what tilt, sets are cut for it."""

    value: float
    cut: float | None = None
    tilt: float = 0.0


class Goal(NamedTuple):
    """A criterion, the criterion of sets for which the ranking is cut, and the rarity of labels.

    `one_class`: one label is relevant to each instance, and the first one is the set.
    """

    criterion: Criterion
    cut: str | None
    rarity: Array | None = None
    one_class: bool = False

    @classmethod
    def of(cls, name: str) -> "Goal":
        criterion = criteria.get(name)
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
        return self._replace(rarity=rarity(Y), one_class=one_class)

    def judge(self, Y: sp.csr_array, scores: Array) -> Judged:
        """How good the scores are with the best cut."""
        if self.criterion.needs != "sets" or self.one_class:
            return Judged(self.value(Y, scores, Judged(0.0)))
        found = []
        for tilt in TILTS:
            cut = float(best_threshold(Y, self._tilted(scores, tilt), str(self.cut)))
            judged = Judged(0.0, cut, tilt)
            found.append(judged._replace(value=self.value(Y, scores, judged)))
        return max(found, key=lambda one: one.value)

    def value(self, Y: sp.csr_array, scores: Array, judged: Judged) -> float:
        """How good the scores are with the cut of `judged`."""
        answer: Array | sp.csr_array = scores
        if self.criterion.needs == "sets":
            members = (
                decoding.first(scores, 1)
                if self.one_class
                else self._tilted(scores, judged.tilt) > (judged.cut or 0.0)
            )
            answer = sp.csr_array(members)
        return self.criterion.direction * self.criterion(Y, answer)

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

    def _tilted(self, scores: Array, tilt: float) -> Array:
        if not tilt or self.rarity is None:
            return scores
        return scores + (tilt * self.rarity).astype(scores.dtype)


def rarity(Y: sp.csr_array) -> Array:
    """Of each label, how many powers of ten fewer instances have it than there are."""
    counts = np.bincount(Y.indices[Y.data > 0], minlength=Y.shape[1])
    return np.log10((Y.shape[0] + 1.0) / (counts + 1.0))
