"""Bagging of rankers: models of different samples, their scores averaged."""

import copy
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.declared import a_learner, array, cut, flag, nested, number, seed, stored, threads
from labelrank.errors import InputError
from labelrank.kernels.random import uniform
from labelrank.learners.around import Around, seeded

# Cumulative probabilities of a Poisson number of mean 1: how often a bootstrap meets an instance.
_POISSON = np.cumsum(np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)]))


@stored(
    "BaggedRanker",
    1,
    estimators_=nested(many=True),
    seeds=array("i8", "models", attribute="_seeds"),
)
@dataclass(eq=False, repr=False)
class BaggedRanker(Around):
    """Models of the same kind, each of its own sample of the instances; scores are averaged.

    The models are fitted side by side by joblib: threads by default, or whatever
    `joblib.parallel_config` names, a Dask cluster for example; the result is the same. By
    `partial_fit` each model meets an instance a Poisson number of times, `sample_size` and
    `bootstrap` do not apply (online bagging, Oza & Russell 2001).

    Parameters
    ----------
    estimator : any learner with `decision_function`
    n_estimators : int, default 10
    sample_size : int, float or None
        Instances of a sample: a number, a share, or as many as there are.
    bootstrap : bool, default True, draw with replacement
    threshold : "cardinality" or float
        How `predict` cuts the ranking if the estimator has no threshold of its own.
    n_jobs : int or None, models fitted at the same time
    random_state : int, RandomState or None, for the samples and the models

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

    estimator: Any = field(metadata=a_learner(needed=True))
    n_estimators: int = number(10, least=1, whole=True)
    _: KW_ONLY
    sample_size: float | None = None
    bootstrap: bool = flag(True)
    threshold: Any = cut()
    n_jobs: int | None = threads()
    random_state: Any = seed()

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return getattr(self.estimator, "is_calibrated", True)

    _asks_inside = False  # the labels of all instances count, not those of the samples

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
        drawn = self._seeds.tolist()
        return [seeded(clone(self.estimator), one, replace=True) for one in drawn]

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "estimators_"):
            self.estimators_ = self._models(check_random_state(self.random_state))
        first, labels = self.n_seen_ - X.shape[0], np.arange(self.n_labels_)
        jobs = []
        for model, drawn in zip(self.estimators_, self._seeds.tolist(), strict=True):
            draws = [uniform(drawn, first + i, 0) for i in range(X.shape[0])]
            rows = np.repeat(np.arange(X.shape[0]), np.searchsorted(_POISSON, draws))
            jobs.append(delayed(_taught)(model, X, Y, rows, labels))
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)

    def _widen(self, n_before: int) -> None:
        """The models are told of new labels with the piece that brings them."""

    def after_loading(self) -> None:
        form = (self.n_labels_, self.n_features_in_)
        sound = [(m.n_labels_, m.n_features_in_) == form for m in self.estimators_]
        if len(self._seeds) != len(sound) or not sound or not all(sound):
            raise ValueError("the models of a bagged ranker are not as many or not as wide as it")

    def _scores(self, X: Any) -> Array:
        total = sum(model.decision_function(X) for model in self.estimators_)
        return np.asarray(total / len(self.estimators_))


def _fitted(model: Any, X: Any, Y: sp.csr_array, rows: Array) -> Any:
    return model.fit(X[rows], Y[rows])


def _taught(model: Any, X: Any, Y: sp.csr_array, rows: Array, labels: Array) -> Any:
    if not len(rows) and getattr(model, "n_labels_", 0) < len(labels):
        # A model's first piece may not be empty, nor one that brings labels: it is taken once.
        rows = np.arange(X.shape[0])
    # A copy learns, so that all models stay as they were if one of them fails.
    taught = copy.copy(model)
    return taught.partial_fit(X[rows], Y[rows], classes=labels) if len(rows) else model
