"""Bagging of rankers: models of different samples, their scores averaged."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if

from labelrank._types import Array
from labelrank.declared import check_at_least
from labelrank.errors import InputError
from labelrank.kernels.random import uniform
from labelrank.learners.base import IncrementalRanker

# Cumulative probabilities of a Poisson number of mean 1: how often a bootstrap meets an instance.
_POISSON = np.cumsum(np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)]))


def _learns_in_pieces(self: "BaggedRanker") -> bool:
    return hasattr(self.estimator, "partial_fit")


class BaggedRanker(IncrementalRanker):
    """Models of the same kind, each of its own sample of the instances; scores are averaged.

    The models are fitted side by side by joblib: threads by default, or whatever
    `joblib.parallel_config` names, a Dask cluster for example. Samples and seeds are drawn
    before, so the result is the same whatever runs them.

    Parameters
    ----------
    estimator : LabelRanker
        Any learner with `decision_function`.
    n_estimators : int, default 10
    sample_size : int, float or None
        Instances of a sample: a number, a share, or as many as there are.
    bootstrap : bool, default True
        Draw with replacement.
    threshold : "cardinality" or float
        How `predict` cuts the ranking if the estimator has no threshold of its own.
    n_jobs : int or None
        Models fitted at the same time; never changes the result.
    random_state : int, RandomState or None
        Samples, and the seeds of the models.

    Attributes
    ----------
    estimators_ : list of the fitted models

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BaggedRanker, BinaryRelevancePerceptron
    >>> X = np.repeat(np.eye(3), 5, axis=0)
    >>> bagged = BaggedRanker(BinaryRelevancePerceptron(), n_estimators=3, random_state=0)
    >>> bagged.fit(X, X.astype(int)).rank(np.eye(3), top=1).tolist()
    [[0], [1], [2]]
    """

    def __init__(
        self,
        estimator: Any,
        n_estimators: int = 10,
        *,
        sample_size: float | None = None,
        bootstrap: bool = True,
        threshold: Any = "cardinality",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.sample_size = sample_size
        self.bootstrap = bootstrap
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.estimator, "_calibrated", True))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_at_least("n_estimators", self.n_estimators, 1)

    def _size(self, n: int) -> int:
        wanted = n if self.sample_size is None else self.sample_size
        size = round(wanted * n) if isinstance(wanted, float) else int(wanted)
        if size < 1 or (not self.bootstrap and size > n):
            raise InputError(
                f"got sample_size={self.sample_size!r} for {n} instances; give a number or share "
                "that leaves at least one, and no more than there are without bootstrap"
            )
        return size

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        random = check_random_state(self.random_state)
        size = self._size(X.shape[0])
        jobs = []
        for model in self._models(random):
            rows = random.choice(X.shape[0], size, replace=self.bootstrap)
            jobs.append(delayed(_fitted)(model, X, Y, np.sort(rows)))
        self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)

    def _models(self, random: np.random.RandomState) -> list[Any]:
        self._seeds = random.randint(2**31 - 1, size=self.n_estimators)
        return [_seeded(clone(self.estimator), int(seed)) for seed in self._seeds]

    @available_if(_learns_in_pieces)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Teach the models more instances; each meets an instance a Poisson number of times.

        `sample_size` and `bootstrap` do not apply (Oza & Russell 2001, online bagging).
        """
        return super().partial_fit(X, Y, classes)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "estimators_"):
            random = check_random_state(self.random_state)
            self.estimators_ = self._models(random)
        first, labels = self.n_seen_ - X.shape[0], np.arange(self.n_labels_)
        jobs = []
        for model, seed in zip(self.estimators_, self._seeds, strict=True):
            draws = [uniform(int(seed), first + i, 0) for i in range(X.shape[0])]
            rows = np.repeat(np.arange(X.shape[0]), np.searchsorted(_POISSON, draws))
            jobs.append(delayed(_taught)(model, X, Y, rows, labels))
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)

    def _widen(self, n_before: int) -> None:
        """The models are told of new labels with the piece that brings them."""

    def _scores(self, X: Any) -> Array:
        total: Any = 0.0
        for model in self.estimators_:
            total = total + model.decision_function(X)
        return np.asarray(total / len(self.estimators_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _fitted(model: Any, X: Any, Y: sp.csr_array, rows: Array) -> Any:
    return model.fit(X[rows], Y[rows])


def _taught(model: Any, X: Any, Y: sp.csr_array, rows: Array, labels: Array) -> Any:
    if len(rows) or not hasattr(model, "classes_"):
        # A model's first piece may not be empty: it takes the whole piece once.
        chosen = rows if len(rows) else np.arange(X.shape[0])
        model.partial_fit(X[chosen], Y[chosen], classes=labels)
    return model


def _seeded(model: Any, seed: int) -> Any:
    """The model with every random state in it set, each to its own number."""
    names = sorted(
        name
        for name in model.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    return model.set_params(**{name: (seed + i) % 2**31 for i, name in enumerate(names)})
