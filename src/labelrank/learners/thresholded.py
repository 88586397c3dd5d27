"""Where to cut a ranking: a threshold for any ranker, by a strategy that is named."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from labelrank import decoding
from labelrank._types import Array
from labelrank.declared import (
    a_learner,
    anything,
    choice,
    flag,
    nested,
    number,
    seed,
    stored,
    value,
)
from labelrank.learners.around import Around
from labelrank.learners.base import Answer, LabelRanker
from labelrank.learners.held_out.calibration import Calibration
from labelrank.learners.held_out.cuts import CUTS, METRICS, Cut, best_cut, best_threshold
from labelrank.learners.held_out.scores import out_of_fold
from labelrank.metrics import criteria

__all__ = ["METRICS", "ThresholdedRanker", "best_threshold"]
# What is judged on held-out scores, from the first suggestion to the whole ranking.
_JUDGED = ("precision_at_1", "micro_f1", "macro_f1", "average_precision", "ranking_loss")
_LEARNED = ("tuned", "shrunk", "count", "best")  # by scores of held-out folds


@stored(
    "ThresholdedRanker",
    2,
    estimator_=nested(),
    threshold_=anything(),
    cut_=nested("Cut", optional=True),
    calibration_=nested("Calibration", optional=True),
    held_out_=anything(optional=True, volatile=True),
    n_features_in_=value(int, least=0, length="d", optional=True),
)
@dataclass(eq=False, repr=False)
class ThresholdedRanker(Around):
    """A ranker with a cut-off.

    Only `fit` tunes and calibrates: `partial_fit` teaches the ranker inside and leaves the cut
    where it is, at the parameter `threshold` if it is the first call; "cardinality" counts the
    labels of what is learned. A cut that is to follow what is taught is that of a
    `CorrectedRanker` around this one: there the threshold is a label that moves. What is learned
    from held-out folds, by "tuned", "shrunk", "count" and "best", comes with calibrated
    probabilities (see `CalibratedRanker`).

    Parameters
    ----------
    estimator : any learner with `decision_function`
    strategy : {"tuned", "cardinality", "fixed", "shrunk", "count", "best"}
        "tuned": the threshold that is best for `metric` on scores predicted by cross-validation;
        "cardinality": as many labels as an instance had on average; "fixed": `threshold`;
        "shrunk": a threshold per label, the nearer to the common one, the fewer relevant instances
        the label has; "count": as many labels as the calibrated probabilities of the instance
        let expect; "best": whichever of these two and the common one is best for `metric` on
        held-out scores.
    metric : str, default "f1_micro"
        What "tuned" optimises, exactly: micro_f1, macro_f1, example_f1, example_jaccard,
        subset_accuracy or hamming_loss (or f1_micro, f1_macro, f1_example, jaccard, hamming).
    threshold : float, default 0.0
    per_label : bool, default False
        "tuned": one threshold per label. The ranking then puts the set first.
    floor : float, default 0.0
        With `per_label`: a label whose best value is below this is only taken above the highest
        score seen (Yang 2001, SCutFBR.1). Some rare labels would otherwise be given to all.
    cv : int, default 3, the folds of "tuned"
    random_state : int, RandomState or None, for the folds

    Attributes
    ----------
    estimator_ : the fitted ranker
    threshold_ : float, or ndarray (K,) if per label
    cut_ : Cut or None, of "shrunk", "count" and "best"
    calibration_ : Calibration or None, from scores to probabilities
    held_out_ : dict or None, criteria of the held-out scores and their sets

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

    estimator: Any = field(metadata=a_learner(needed=True))
    _: KW_ONLY
    strategy: str = choice("tuned", "cardinality", "fixed", "shrunk", "count", "best")
    metric: str = choice("f1_micro", *METRICS, *list(criteria.ALIASES)[1:])
    threshold: float = number(0.0)
    per_label: bool = flag(False)
    floor: float = number(0.0)
    cv: int = number(3, least=2, whole=True)
    random_state: Any = seed()

    @property
    def _is_per_label(self) -> bool:
        return self.per_label and self.strategy not in ("shrunk", "count", "best")

    @property
    def _set_is_cut(self) -> bool:  # type: ignore[override]
        return not self._is_per_label

    @property
    def has_probabilities(self) -> bool:
        """Whether they were calibrated, or the ranker inside has its own."""
        learner = getattr(self, "estimator_", self.estimator)
        return super().has_probabilities or decoding.has_probabilities(learner)

    def _probabilities(self, X: Any) -> Array:
        if super().has_probabilities or not self.has_probabilities or self.target_.one_class:
            return super()._probabilities(X)
        return decoding.falling(self.estimator_.predict_proba(X), self._ranked(X, None))

    def _check_X(self, X: Any, *, reset: bool, Y: Any = "no_validation") -> Any:
        if not get_tags(self.estimator).input_tags.string:
            return super()._check_X(X, reset=reset, Y=Y)
        from labelrank.learners.compression import as_texts

        return as_texts(X)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._start()
        if self.strategy in _LEARNED:
            self._tune(X, Y)
        self.estimator_ = clone(self.estimator).fit(X, Y)

    def _start(self) -> None:
        self.threshold_: Any = float(self.threshold)
        self.cut_: Cut | None = None
        self.calibration_: Calibration | None = None
        self.held_out_: dict[str, float] | None = None

    def _tune(self, X: Any, Y: sp.csr_array) -> None:
        raw = out_of_fold(self.estimator, X, Y, cv=self.cv, random_state=self.random_state)
        if self.strategy == "tuned":
            self.threshold_ = best_threshold(
                Y, raw, self.metric, per_label=self.per_label, floor=self.floor
            )
        else:
            kinds = {"shrunk": ("per_label",), "count": ("count",)}.get(self.strategy, CUTS)
            self.cut_ = best_cut(Y, raw, self.metric, kinds=kinds)
            self.threshold_ = self.cut_.threshold
        scores, members = self._cut(raw)
        self.calibration_ = Calibration.fit(Y, scores, one_class=self.target_.one_class)
        self.held_out_ = {
            name: criterion(Y, members.astype(np.int8) if criterion.needs == "sets" else scores)
            for name, criterion in ((name, criteria.get(name)) for name in _JUDGED)
        }

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "estimator_"):
            self._start()
            self.estimator_ = clone(self.estimator)
        self.estimator_.partial_fit(X, Y, classes=np.arange(self.n_labels_))

    def _widen(self, n_before: int) -> None:
        """The ranker inside is told of new labels with the piece that brings them."""
        if np.ndim(self.threshold_) or (self.cut_ is not None and self.cut_.kind == "per_label"):
            super()._widen(n_before)

    def _cut_of(self, x: Any, label: int) -> float:
        """What the score of a label is relative to."""
        zero = np.zeros((1, self.n_labels_))
        if self.cut_ is not None and self.cut_.kind == "count":
            zero = self.estimator_.decision_function(x)
        return float((zero - self._relative(zero))[0, label])

    @available_if(lambda self: hasattr(self.estimator, "why"))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Any:
        """The ranker's reasons; against the threshold, they and -threshold sum to the score."""
        reason = self.estimator_.why(x, label, over=over)
        cut = self._cut_of(x, label) - (0.0 if over is None else self._cut_of(x, over))
        return reason._replace(margin=reason.margin - cut, constant=reason.constant - cut)

    def after_loading(self) -> None:
        for name in ("cut_", "calibration_", "held_out_"):
            setattr(self, name, getattr(self, name, None))
        of_labels = self.cut_.of_labels if self.cut_ is not None else None
        if of_labels is not None and len(of_labels) != self.n_labels_:
            raise ValueError("the cut is of other labels")
        cut = np.asarray(self.threshold_)
        shape = (self.n_labels_,) if self.per_label and self.strategy == "tuned" else ()
        if cut.dtype.kind != "f" or cut.shape not in ((), shape) or np.isnan(cut).any():
            raise ValueError("the threshold is no number, or not one per label")
        if self.estimator_.n_labels_ != self.n_labels_:
            raise ValueError("the ranker inside has other labels")

    def _scores(self, X: Any) -> Array:
        return self._relative(self._inside(X))

    def _relative(self, scores: Array) -> Array:
        """Scores relative to the cut, where there is one that keeps the ranking by score."""
        if self.strategy == "cardinality" or self._is_per_label:
            return scores
        if self.cut_ is not None:
            return scores if self.target_.one_class else scores - self.cut_.thresholds(scores)
        return scores - np.asarray(self.threshold_, scores.dtype)

    def _answer(self, X: Any) -> Answer:
        return self._cut(self._inside(X))

    def _inside(self, X: Any) -> Array:
        """Scores of the ranker inside, for instances that are checked already."""
        if isinstance(self.estimator_, LabelRanker):
            return self.estimator_._scored(X)  # noqa: SLF001
        return np.asarray(self.estimator_.decision_function(X))

    def _cut(self, scores: Array) -> Answer:
        scores = self._relative(scores)
        if self.target_.one_class:
            return Answer(scores, decoding.first(scores, 1))
        if self.strategy == "cardinality":
            return Answer(scores, decoding.first(scores, round(self.cardinality_)))
        cut = self.threshold_ if self._is_per_label else 0.0
        return Answer(scores, decoding.above(scores, cut))
