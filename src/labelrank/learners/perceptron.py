"""Perceptrons with one weight vector a label: BR and MMP (Loza Mencía & Fürnkranz 2008).

Both are the one loop of `kernels.linear`: score all labels, let a rule decide in score space how
far each label moves, add x times these steps to the weights.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.kernels.linear import MMP, SEPARATE
from labelrank.learners import label_weights
from labelrank.learners.base import Explained, IncrementalRanker
from labelrank.resources import track
from labelrank.rows import Rows, as_rows

STEPS = ("perceptron", "pa")
LOSSES = ("is_error", "error_set_size", "margin", "average_precision")
PENALTIES = ("uniform", "proportional", "max", "random")


class LinearPerceptron(Explained, IncrementalRanker):
    """What BR and MMP share: weights, passes over the data, averaging, counts of operations."""

    _together = False

    epochs: int
    shuffle: bool
    init: str
    margin: float | None
    averaging: str | None
    step: str
    C: float
    n_jobs: int | None
    random_state: Any
    verbose: int

    def _rule(self) -> label_weights.Rule:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("init", self.init, ("zeros", "random"))
        check_choice("averaging", self.averaging, (None, "averaged"))
        check_choice("step", self.step, STEPS)
        check_at_least("epochs", self.epochs, 1)
        check_at_least("margin", 0.0 if self.margin is None else self.margin, 0.0)
        if not self.C > 0:
            raise InputError(f"got C={self.C!r}; give a number above 0")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._start(X.shape[1])
        X, Y = as_rows(X), as_rows(Y, np.float64)
        random = check_random_state(self.random_state)
        order = np.arange(X.n_rows, dtype=np.int64)
        for _ in track(range(self.epochs), type(self).__name__, self.verbose):
            if self.shuffle:
                order = random.permutation(X.n_rows).astype(np.int64)
            self._pass(X, Y, order)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "_W"):
            self._start(X.shape[1])
        X = as_rows(X)
        self._pass(X, as_rows(Y, np.float64), np.arange(X.n_rows, dtype=np.int64))

    def _start(self, n_features: int) -> None:
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._W = label_weights.empty_weights(n_features, self.n_labels_, together=self._together)
        if self.init == "random":
            label_weights.fill_random(self._W, 0, self.n_labels_, self._seed)
        blocks, _, lanes = self._W.shape
        kept = n_features if self.averaging else 0
        self._U: npt.NDArray[np.floating] = np.zeros((blocks, kept, lanes))
        self._clock = 0
        self.n_operations_ = {"train": 0, "predict": 0}

    def _widen(self, n_before: int) -> None:
        self._W = label_weights.widened(self._W, self.n_labels_, together=self._together)
        self._U = label_weights.widened(self._U, self.n_labels_, together=self._together)
        if self.init == "random":
            label_weights.fill_random(self._W, n_before, self.n_labels_, self._seed)

    def forecast(self, X: Any, Y: Any) -> Any:
        """Memory and time that `fit(X, Y)` will take (a `forecast.Cost`)."""
        from labelrank.learners.pairwise.forecast import linear_cost

        values = X.nnz if sp.issparse(X) else X.shape[0] * X.shape[1]
        return linear_cost(
            X.shape[1], Y.shape[1], self.epochs * values, averaged=self.averaging is not None
        )

    def _pass(self, X: Rows, Y: Rows, order: npt.NDArray[np.int64]) -> None:
        moved = label_weights.learn_pass(
            X, Y, order, self._W, self._U, self._clock, self._rule(), self.n_jobs
        )
        self._clock += len(order)
        self.n_operations_["train"] += len(order) * self.n_labels_ + moved

    def _scores(self, X: Any) -> npt.NDArray[Any]:
        X = as_rows(X)
        self.n_operations_["predict"] += X.n_rows * self.n_labels_
        scores = label_weights.scores(X, self._W, self.n_labels_, self.n_jobs)
        if self.averaging and self._clock:
            late = label_weights.scores(X, self._U, self.n_labels_, self.n_jobs)
            scores -= (late / self._clock).astype(scores.dtype)
        return scores

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """Weights (K × d), averaged if asked for: `decision_function` is X times their rows."""
        weights = label_weights.by_label(self._W, self.n_labels_)
        if self.averaging and self._clock:
            late = label_weights.by_label(self._U, self.n_labels_) / self._clock
            weights = (weights - late).astype(weights.dtype)
        return weights

    def _label_weights(self, label: int) -> tuple[npt.NDArray[Any], float]:
        weights = label_weights.of_label(self._W, label)
        if self.averaging and self._clock:
            late = label_weights.of_label(self._U, label) / self._clock
            weights = (weights - late).astype(weights.dtype)
        return weights, 0.0


class BinaryRelevancePerceptron(LinearPerceptron):
    """One independent perceptron a label (BR): all labels at once in one pass over the data.

    Parameters
    ----------
    epochs : int, default 1
    shuffle : bool, default True
        Present the examples of each epoch in random order. `partial_fit` keeps the given order.
    init : {"zeros", "random"}
        Initial weights: zero, or small normal values.
    margin : float or None, default None
        None is the paper's rule: a mistake is sgn(x.w) != y, with sgn(0) = +1. A number m
        updates while y (x.w) <= m.
    averaging : {None, "averaged"}
        Score by the last weights, or by the mean of the weights after each example.
    step : {"perceptron", "pa"}
        Perceptron step of 2x, or the passive-aggressive step PA-I, at most `C`.
    C : float, default 1.0
    n_jobs : int or None
        Threads over blocks of labels; never changes the result.
    random_state : int, RandomState or None
    verbose : int, default 0
        Above 0: a progress bar over the epochs.

    Attributes
    ----------
    coef_ : ndarray (K, d)
    n_operations_ : dict
        "train": inner products and updates made; "predict": inner products made since fit.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevancePerceptron
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> learner = BinaryRelevancePerceptron(epochs=5, margin=0.5, random_state=0).fit(X, Y)
    >>> learner.predict(X)
    array([[1, 0],
           [0, 1],
           [1, 1]])
    """

    def __init__(
        self,
        *,
        epochs: int = 1,
        shuffle: bool = True,
        init: str = "zeros",
        margin: float | None = None,
        averaging: str | None = None,
        step: str = "perceptron",
        C: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.epochs = epochs
        self.shuffle = shuffle
        self.init = init
        self.margin = margin
        self.averaging = averaging
        self.step = step
        self.C = C
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self) -> label_weights.Rule:
        return label_weights.Rule(
            rule=SEPARATE,
            step=STEPS.index(self.step),
            margin=self.margin or 0.0,
            tie_is_right=self.margin is None,
            C=self.C,
        )


class MulticlassMultilabelPerceptron(LinearPerceptron):
    """The multiclass multilabel perceptron (MMP): labels are moved by the ranking's errors.

    All labels are scored; if the ranking has a positive `loss`, each wrongly ordered pair of a
    relevant and an irrelevant label gives its `penalty` to the one and takes it from the other,
    and the weights move by loss times these shares. It ranks, and has no threshold of its own.

    Parameters
    ----------
    loss : {"is_error", "error_set_size", "margin", "average_precision"}
        Size of a step.
    penalty : {"uniform", "proportional", "max", "random"}
        Share of a wrong pair: equal, by the difference of scores, only the worst pair, at random.
    threshold : "cardinality" or float
        How `predict` cuts the ranking: as many labels as an example had on average, or at a score.
    epochs, shuffle, init, averaging, C, n_jobs, random_state, verbose
        As in `BinaryRelevancePerceptron` (the labels are coupled: training uses one thread).
    margin : float or None
        A pair is wrong while score(relevant) - score(irrelevant) <= margin; None is 0.
    step : {"perceptron", "pa"}
        "pa" replaces the loss by the PA-I step along the same direction, for pairs within 1.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import MulticlassMultilabelPerceptron
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> learner = MulticlassMultilabelPerceptron(random_state=0).fit(X, [[1, 0, 1], [0, 1, 0]])
    >>> learner.rank(X)[:, 0].tolist()
    [0, 1]
    """

    _together = True
    _calibrated = False

    def __init__(
        self,
        *,
        loss: str = "is_error",
        penalty: str = "uniform",
        threshold: Any = "cardinality",
        epochs: int = 1,
        shuffle: bool = True,
        init: str = "zeros",
        margin: float | None = None,
        averaging: str | None = None,
        step: str = "perceptron",
        C: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.threshold = threshold
        self.epochs = epochs
        self.shuffle = shuffle
        self.init = init
        self.margin = margin
        self.averaging = averaging
        self.step = step
        self.C = C
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, LOSSES)
        check_choice("penalty", self.penalty, PENALTIES)

    def _rule(self) -> label_weights.Rule:
        return label_weights.Rule(
            rule=MMP,
            step=STEPS.index(self.step),
            margin=self.margin or 0.0,
            C=self.C,
            loss=LOSSES.index(self.loss),
            penalty=PENALTIES.index(self.penalty),
            seed=self._seed,
        )
