"""What learners around other learners share."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from labelrank._types import Array
from labelrank.learners.base import IncrementalRanker, LabelRanker


class Around(IncrementalRanker):
    """A learner around `estimator`; it takes what that one takes, in pieces too if that does."""

    estimator: Any
    # Whether what is said of instances of which nothing is known is what the learner inside says.
    _asks_inside = True

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        if hasattr(self.estimator, "check_values"):
            self.estimator.check_values(X, Y)

    def _silent(self, X: Any) -> Array:
        if self._asks_inside and isinstance(self.estimator, LabelRanker):
            return np.zeros(X.shape[0], bool)
        return super()._silent(X)

    @available_if(lambda self: hasattr(self.estimator, "partial_fit"))  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn from more instances; see the notes of the class."""
        return super().partial_fit(X, Y, classes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def seeded(learner: Any, seed: int, *, replace: bool = False) -> Any:
    """The learner with a number for every random state in it that is None; all, if `replace`.

    The learner's own random state is `seed`, those within it `seed` + 1, + 2, ..., by name; with
    `replace` all are numbered by name.
    """
    states = learner.get_params(deep=True)
    names = sorted(name for name in states if name.rpartition("__")[2] == "random_state")
    if not replace:
        names = [name for name in names if states[name] is None]
        names.sort(key=lambda name: name != "random_state")
    return learner.set_params(**{name: (seed + i) % 2**31 for i, name in enumerate(names)})
