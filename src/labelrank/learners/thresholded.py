"""Where to cut a ranking: a threshold for any ranker, by a strategy that is named."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from labelrank import decoding
from labelrank._types import Array
from labelrank.declared import (
    anything,
    choice,
    flag,
    nested,
    number,
    seed,
    stored,
    value,
)
from labelrank.errors import InputError
from labelrank.kernels import ranking as kernels
from labelrank.learners.around import Around
from labelrank.learners.base import Answer
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
