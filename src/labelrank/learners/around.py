"""What learners around other learners share."""

from typing import Any, Self

import scipy.sparse as sp
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from labelrank.learners.base import IncrementalRanker


class Around(IncrementalRanker):
    """A learner around `estimator`; it takes what that one takes, in pieces too if that does."""

    estimator: Any

    def _check_values(self, X: Any, Y: sp.csr_array) -> None:
        if hasattr(self.estimator, "check_values"):
            self.estimator.check_values(X, Y)

    @available_if(lambda self: hasattr(self.estimator, "partial_fit"))  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn from more instances; see the notes of the class."""
        return super().partial_fit(X, Y, classes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
