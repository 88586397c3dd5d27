"""Learners around others: a cut-off for any ranker, and bagging."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if

from labelrank import decoding
from labelrank._types import Array
from labelrank.declared import (
    anything,
    array,
    choice,
    cut,
    flag,
    nested,
    number,
    seed,
    stored,
    threads,
    value,
)
from labelrank.errors import InputError
from labelrank.kernels import ranking as kernels
from labelrank.kernels.random import uniform
from labelrank.learners.base import Answer, IncrementalRanker, seeded
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

# Cumulative probabilities of a Poisson number of mean 1: how often a bootstrap meets an instance.
_POISSON = np.cumsum(np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)]))


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


@stored(
    "ThresholdedRanker",
    1,
    estimator_=nested(),
    threshold_=anything(),
    n_features_in_=value(int, least=0, length="d", optional=True),
)
@dataclass(eq=False, repr=False)
class ThresholdedRanker(Around):
    """A ranker with a cut-off.

    Only `fit` tunes: `partial_fit` leaves the cut where it is, at the parameter `threshold` if it
    is the first call.

    Parameters
    ----------
    estimator : any learner with `decision_function`
    strategy : {"tuned", "cardinality", "fixed"}
        "tuned": the threshold that is best for `metric` on scores predicted by cross-validation;
        "cardinality": as many labels as an instance had on average; "fixed": `threshold`.
    metric : str, default "f1_micro"
        What "tuned" optimises, exactly: micro_f1, macro_f1, example_f1, example_jaccard,
        subset_accuracy or hamming_loss (or f1_micro, f1_macro, f1_example, jaccard, hamming).
    threshold : float, default 0.0
    per_label : bool, default False
        Tune one threshold per label. The ranking then puts the set first.
    floor : float, default 0.0
        With `per_label`: a label whose best value is below this is only taken above the highest
        score seen (Yang 2001, SCutFBR.1). Some rare labels would otherwise be given to all.
    cv : int, default 3, the folds of "tuned"
    random_state : int, RandomState or None, for the folds

    Attributes
    ----------
    estimator_ : the fitted ranker
    threshold_ : float, or ndarray (K,) if per label

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import MulticlassMultilabelPerceptron, ThresholdedRanker
    >>> X = np.repeat(np.eye(3), 4, axis=0)
    >>> Y = np.repeat([[1, 1, 0], [0, 1, 0], [0, 0, 1]], 4, axis=0)
    >>> ranker = MulticlassMultilabelPerceptron(epochs=10, random_state=0)
    >>> ThresholdedRanker(ranker, random_state=0).fit(X, Y).predict([[1, 0, 0]])
    array([[1, 1, 0]])
    """

    estimator: Any
    _: KW_ONLY
    strategy: str = choice("tuned", "cardinality", "fixed")
    metric: str = choice("f1_micro", *METRICS, *list(criteria.ALIASES)[1:])
    threshold: float = number(0.0)
    per_label: bool = flag(False)
    floor: float = number(0.0)
    cv: int = number(3, least=2, whole=True)
    random_state: Any = seed()

    @property
    def _set_is_cut(self) -> bool:  # type: ignore[override]
        return not self.per_label

    def _check_X(self, X: Any, *, reset: bool, Y: Any = "no_validation") -> Any:
        if not get_tags(self.estimator).input_tags.string:
            return super()._check_X(X, reset=reset, Y=Y)
        from labelrank.learners.compression import as_texts

        return as_texts(X)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self.threshold_: Any = float(self.threshold)
        if self.strategy == "tuned":
            self.threshold_ = self._tune(X, Y)
        self.estimator_ = clone(self.estimator).fit(X, Y)

    def _tune(self, X: Any, Y: sp.csr_array) -> Any:
        if X.shape[0] < self.cv:
            raise InputError(
                f"got {X.shape[0]} instance(s), too few to tune a threshold by {self.cv} folds; "
                "use strategy='cardinality' or 'fixed'"
            )
        scores = np.empty(Y.shape)
        for train, test in KFold(self.cv, shuffle=True, random_state=self.random_state).split(X):
            scores[test] = clone(self.estimator).fit(X[train], Y[train]).decision_function(X[test])
        return best_threshold(Y, scores, self.metric, per_label=self.per_label, floor=self.floor)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "estimator_"):
            self.threshold_ = float(self.threshold)
            self.estimator_ = clone(self.estimator)
        self.estimator_.partial_fit(X, Y, classes=np.arange(self.n_labels_))

    def _widen(self, n_before: int) -> None:
        """The ranker inside is told of new labels with the piece that brings them."""
        if np.ndim(self.threshold_):
            super()._widen(n_before)

    @available_if(lambda self: hasattr(self.estimator, "why"))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Any:
        """The ranker's reasons; against the threshold, they and -threshold sum to the score."""
        reason = self.estimator_.why(x, label, over=over)
        if over is not None or self.strategy == "cardinality" or self.per_label:
            return reason
        cut = self.threshold_
        return reason._replace(margin=reason.margin - cut, constant=reason.constant - cut)

    def after_loading(self) -> None:
        cut = np.asarray(self.threshold_)
        shape = (self.n_labels_,) if self.per_label and self.strategy == "tuned" else ()
        if cut.dtype.kind != "f" or cut.shape not in ((), shape) or np.isnan(cut).any():
            raise ValueError("the threshold is no number, or not one per label")
        if self.estimator_.n_labels_ != self.n_labels_:
            raise ValueError("the ranker inside has other labels")

    def _scores(self, X: Any) -> Array:
        scores = self.estimator_.decision_function(X)
        if self.strategy == "cardinality" or self.per_label:
            return scores
        return scores - np.asarray(self.threshold_, scores.dtype)

    def _answer(self, X: Any) -> Answer:
        scores = self._scores(X)
        if self.target_.one_class:
            return Answer(scores, decoding.first(scores, 1))
        if self.strategy == "cardinality":
            return Answer(scores, decoding.first(scores, round(self.cardinality_)))
        cut = self.threshold_ if self.per_label else 0.0
        return Answer(scores, decoding.above(scores, cut))


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

    estimator: Any
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
    return model.partial_fit(X[rows], Y[rows], classes=labels) if len(rows) else model
