"""Test on each example, then learn it: the learning curve of an online learner."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank.errors import InputError
from labelrank.metrics import evaluate_ranking


class CurvePoint(NamedTuple):
    """After `n_seen` examples: mean criteria over the latest ones, and over all tested so far."""

    n_seen: int
    recent: dict[str, float]
    overall: dict[str, float]


def prequential(
    learner: Any,
    X: Any,
    Y: Any,
    *,
    batch: int = 1,
    every: int = 1000,
    classes: Any = None,
    ties: str = "worst",
    random_state: Any = None,
) -> Iterator[CurvePoint]:
    """Yield a point of the learning curve after every `every` examples.

    Each batch is first ranked by what has been learned so far, then learned. A fresh learner
    ranks nothing before its first batch, which is learned untested. Breaking off leaves the
    learner as after the last point.

    Parameters
    ----------
    learner : any learner with `partial_fit`
    X, Y : matrices, in the order of the stream
    batch : int, default 1
        Examples tested, then learned, at a time; 1 is the definition, more is faster.
    every : int
        Examples between two points.
    classes : labels, declared at the first `partial_fit`

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevancePerceptron
    >>> from labelrank.evaluation import prequential
    >>> X, Y = np.tile(np.eye(2), (10, 1)), np.tile(np.eye(2), (10, 1))
    >>> points = list(prequential(BinaryRelevancePerceptron(), X, Y, every=10))
    >>> [(point.n_seen, round(point.recent["is_error"], 2)) for point in points]
    [(10, 0.11), (20, 0.0)]
    """
    if not hasattr(learner, "partial_fit"):
        raise InputError(f"{type(learner).__name__} cannot learn in pieces; use one that can")
    if batch < 1 or every < 1:
        raise InputError(f"got batch={batch}, every={every}; give at least 1")
    X, Y = _sliceable(X), _sliceable(Y)
    tally, random = Tally(), check_random_state(random_state)
    for start in range(0, X.shape[0], batch):
        rows = slice(start, min(start + batch, X.shape[0]))
        if hasattr(learner, "classes_"):
            scores = learner.decision_function(X[rows])
            found = evaluate_ranking(Y[rows], scores, ties=ties, random_state=random)
            tally.add(found, rows.stop - rows.start)
        learner.partial_fit(X[rows], Y[rows], **({} if start else {"classes": classes}))
        done = rows.stop == X.shape[0]
        if tally.n_recent and (rows.stop // every > start // every or done):
            yield CurvePoint(rows.stop, *tally.close())


class Tally:
    """Sums of criteria since the last point and since the beginning."""

    def __init__(self) -> None:
        self.recent: dict[str, float] = {}
        self.overall: dict[str, float] = {}
        self.n_recent = self.n_overall = 0

    def add(self, means: dict[str, float], size: int) -> None:
        for name, mean in means.items():
            self.recent[name] = self.recent.get(name, 0.0) + size * mean
        self.n_recent += size

    def close(self) -> tuple[dict[str, float], dict[str, float]]:
        """Means of both, and a fresh start for the recent ones."""
        for name, total in self.recent.items():
            self.overall[name] = self.overall.get(name, 0.0) + total
        self.n_overall += self.n_recent
        recent = {name: total / self.n_recent for name, total in self.recent.items()}
        overall = {name: total / self.n_overall for name, total in self.overall.items()}
        self.recent, self.n_recent = {}, 0
        return recent, overall


def _sliceable(matrix: Any) -> Any:
    return matrix.tocsr() if sp.issparse(matrix) else np.asarray(matrix)
