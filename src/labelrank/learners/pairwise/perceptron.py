"""Pairwise perceptrons: one for each pair of labels (Loza Mencía & Fürnkranz 2008).

An instance trains the perceptrons of exactly those pairs of which it prefers one label; every
perceptron has one vote in a prediction. With the threshold label Θ as one more label the ranking
also says where the relevant labels end (calibrated label ranking).
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank import resources as memory
from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.base import Explained, IncrementalRanker
from labelrank.learners.pairwise import votes as voting
from labelrank.learners.pairwise.coupling import COUPLINGS
from labelrank.learners.pairwise.forecast import Forecast, Problem, choose, forecast
from labelrank.learners.pairwise.mistakes import KERNELS, DualPairScorer
from labelrank.learners.pairwise.quick_voting import check_quick, quick_voting
from labelrank.learners.pairwise.scorer import PairScorer, Rule, n_pairs
from labelrank.learners.pairwise.shortlist import ShortlistScorer, check_shortlist, make_ranker
from labelrank.learners.pairwise.weights import PrimalPairScorer
from labelrank.relevance import check_relevance
from labelrank.resources import track
from labelrank.rows import Rows, as_rows

MOST_EPOCHS = 10_000


class PairwisePerceptron(Explained, IncrementalRanker):
    """One perceptron for each pair of labels: MLPP, and with the threshold label calibrated MLPP.

    Parameters
    ----------
    calibrated : bool, default True
        Learn the threshold label too: scores are then relative to it, and the set is `scores > 0`.
    ordered : bool, default False
        Grades state preferences among relevant labels, which train their pairs too.
    voting : {"votes", "weighted", "coupling", "rivals"}
        One vote a perceptron; its margin squashed to [0, 1]; pairwise coupling; or, if calibrated,
        the margin over the threshold label and a share of the hardest duel with a label that beats
        it too (see `voting.rival_scores`): scores that also order instances.
    tie_break : {"margin", None}
        Order equal votes by summed margins, or leave whole votes.
    coupling : {"wu-lin-weng", "hastie-tibshirani"}
    inference : {"full", "quick"}
        Evaluate all duels, or only those that the predicted set needs (with `tie_break=None`).
    representation : {"auto", "primal", "dual"}
        Hold weights, or the mistakes they are made of, which suits thousands of labels.
    kernel : {"linear", "poly", "rbf"}
        Other kernels than the linear one need the dual representation.
    gamma, coef0, degree
        Of the kernel.
    shortlist : (ranker, k) or None
        For thousands of labels: a cheap ranker ("br", "centroid", "knn", or any label ranker)
        proposes k labels, and only their duels are learned and evaluated, in the dual form.
    threshold : "cardinality" or float
        How `predict` cuts the ranking if not calibrated.
    epochs : int, default 1
    until_no_error : bool, default False
        Go on until an epoch makes no mistake (at most 10,000), instead of `epochs`.
    shuffle : bool, default True
        Present the examples of each epoch in random order. `partial_fit` keeps the given order.
    init : {"zeros", "random"}
    margin : float or None, default None
        None is the paper's rule: a mistake is sgn(x.w) != y, with sgn(0) = +1. A number m
        updates while y (x.w) <= m.
    averaging : {None, "averaged"}
        Predict by the last weights, or by the mean of the weights after each example of a pair.
    step : {"perceptron", "pa"}
        Perceptron step of 2x, or the passive-aggressive step PA-I, at most `C`.
    C : float, default 1.0
    n_jobs : int or None
        Threads; never changes the result.
    random_state : int, RandomState or None
    verbose : int, default 0
        Above 0: a progress bar over the epochs.

    Attributes
    ----------
    n_operations_ : dict
        "train": inner products and updates made; "predict": inner products made since fit.
    n_epochs_ : int
        Epochs of the last `fit`.
    n_mistakes_ : int
        Updates of its last epoch, or of the last piece.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import PairwisePerceptron
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> learner = PairwisePerceptron(until_no_error=True, random_state=0).fit(X, Y)
    >>> learner.predict(X)
    array([[1, 0],
           [0, 1],
           [1, 1]])
    """

    def __init__(
        self,
        *,
        calibrated: bool = True,
        ordered: bool = False,
        voting: str = "votes",
        tie_break: str | None = "margin",
        coupling: str = "wu-lin-weng",
        inference: str = "full",
        representation: str = "auto",
        kernel: str = "linear",
        gamma: float | None = None,
        coef0: float = 1.0,
        degree: int = 2,
        shortlist: Any = None,
        threshold: Any = "cardinality",
        epochs: int = 1,
        until_no_error: bool = False,
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
        self.calibrated = calibrated
        self.ordered = ordered
        self.voting = voting
        self.tie_break = tie_break
        self.coupling = coupling
        self.inference = inference
        self.representation = representation
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.shortlist = shortlist
        self.threshold = threshold
        self.epochs = epochs
        self.until_no_error = until_no_error
        self.shuffle = shuffle
        self.init = init
        self.margin = margin
        self.averaging = averaging
        self.step = step
        self.C = C
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return bool(self.calibrated)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, (*voting.VOTINGS, "rivals"))
        check_choice("tie_break", self.tie_break, voting.TIE_BREAKS)
        check_choice("coupling", self.coupling, tuple(COUPLINGS))
        check_choice("inference", self.inference, ("full", "quick"))
        check_choice("representation", self.representation, ("auto", "primal", "dual"))
        check_choice("kernel", self.kernel, tuple(KERNELS))
        check_choice("init", self.init, ("zeros", "random"))
        check_choice("averaging", self.averaging, (None, "averaged"))
        check_choice("step", self.step, ("perceptron", "pa"))
        check_at_least("epochs", self.epochs, 1)
        check_at_least("margin", 0.0 if self.margin is None else self.margin, 0.0)
        if not self.C > 0:
            raise InputError(f"got C={self.C!r}; give a number above 0")
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.shortlist is not None:
            check_shortlist(self.shortlist)
            if (
                self.representation == "primal"
                or self.inference == "quick"
                or self.voting != "votes"
            ):
                raise InputError(
                    "got a shortlist, which votes in the dual representation; use "
                    "representation='dual' or 'auto', voting='votes' and inference='full'"
                )
        if self.voting == "rivals" and not self.calibrated:
            raise InputError(
                "got voting='rivals' with calibrated=False, but rivals are the labels that beat "
                "the threshold label; use calibrated=True or another voting"
            )
        if self.kernel != "linear" and self.representation == "primal":
            raise InputError(
                f"got kernel={self.kernel!r} with representation='primal', whose weights are "
                "linear; use representation='dual' or 'auto'"
            )
        if self.inference == "quick":
            check_quick(calibrated=self.calibrated, voting=self.voting, tie_break=self.tie_break)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._start(X, Y)
        rows = as_rows(X)
        random = check_random_state(self.random_state)
        order = np.arange(rows.n_rows, dtype=np.int64)
        epochs = range(MOST_EPOCHS if self.until_no_error else self.epochs)
        # Averages count every example shown, so that no perceptron may rest.
        settled: set[Any] | None = set() if self.until_no_error and not self.averaging else None
        for epoch in track(epochs, type(self).__name__, self.verbose):
            if self.shuffle:
                order = random.permutation(rows.n_rows).astype(np.int64)
            self._pass(rows, Y, order, settled)
            self.n_epochs_ = epoch + 1
            if self.until_no_error and self.n_mistakes_ == 0:
                break

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "scorer_"):
            self._start(X, Y)
        rows = as_rows(X)
        self._pass(rows, Y, np.arange(rows.n_rows, dtype=np.int64))

    def _start(self, X: Any, Y: sp.csr_array) -> None:
        self.scorer_ = self._new_scorer(X, Y)
        self.n_operations_ = {"train": 0, "predict": 0}

    def _new_scorer(self, X: Any, Y: sp.csr_array) -> PairScorer:
        what: dict[str, Any] = {
            "n_features": X.shape[1], "n_labels": self.n_labels_, "rule": self._rule(),
            "calibrated": self.calibrated, "ordered": self.ordered,
        }  # fmt: skip
        how = {name: getattr(self, name) for name in ("kernel", "gamma", "coef0", "degree")}
        if self.shortlist is not None:
            ranker, size = self.shortlist
            return ShortlistScorer(DualPairScorer(**what, **how), make_ranker(ranker), size)
        if (
            self.representation == "primal"
            or choose(self.representation, self.forecast(X, Y)) == "primal"
        ):
            return PrimalPairScorer(**what)
        return DualPairScorer(**what, **how)

    def _rule(self) -> Rule:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return Rule(self.margin, self.step, self.C, self.averaging, self.init, seed)

    def forecast(self, X: Any, Y: Any) -> Forecast:
        """What training would cost in either representation, without training."""
        return forecast(
            Problem.of(X, check_relevance(Y)), calibrated=self.calibrated, epochs=self.epochs,
            rule=self._rule(), kernel=self.kernel,
        )  # fmt: skip

    def _widen(self, n_before: int) -> None:
        self.scorer_.widen(self.n_labels_)

    def _pass(
        self, X: Rows, Y: sp.csr_array, order: Array, settled: set[Any] | None = None
    ) -> None:
        if isinstance(self.scorer_, PrimalPairScorer):
            lesson = self.scorer_.learn(X, Y, order, self.n_jobs, settled)
        else:
            lesson = self.scorer_.learn(X, Y, order, self.n_jobs)
        self.n_operations_["train"] += lesson.trained + lesson.mistakes
        self.n_mistakes_ = lesson.mistakes

    def _scores(self, X: Any) -> Array:
        rows = as_rows(X)
        if self.inference == "quick":
            quick = quick_voting(self.scorer_, rows, self.n_jobs)
            self.n_operations_["predict"] += int(quick.evaluations.sum())
            return quick.scores
        if isinstance(self.scorer_, ShortlistScorer):
            self.n_operations_["predict"] += self.scorer_.n_duels(rows.n_rows)
            return self.scorer_.scores(rows, self.tie_break, self.n_jobs)
        self.n_operations_["predict"] += rows.n_rows * n_pairs(self.n_labels_, self.calibrated)
        return voting.relative_to_threshold(self._all_scores(rows), self.calibrated)

    def _all_scores(self, X: Rows) -> Array:
        """Scores of the labels and of Θ."""
        if self.voting != "votes":
            width = self.n_labels_ + int(self.calibrated)
            return voting.in_row_blocks(X.n_rows, width, lambda *span: self._soft(X, *span))
        votes, sums = self.scorer_.votes(X, self.n_jobs)
        return votes if self.tie_break is None else voting.break_ties(votes, sums)

    def _soft(self, X: Rows, first: int, last: int) -> Array:
        margins = self.scorer_.margins(_slice(X, first, last))
        if self.voting == "rivals":
            return voting.rival_scores(margins)
        return voting.soft_votes(margins, self.voting, self.coupling)

    def duels(self, X: Any) -> Array:
        """Margins of all duels, n × K × K (K + 1 with Θ, the last): `[i, u, v] > 0`: u beat v.

        A margin of 0 is decided for the smaller index.
        """
        check_is_fitted(self)
        rows = as_rows(self._check_X(X, reset=False))
        width = self.n_labels_ + int(self.calibrated)
        memory.require(
            4 * rows.n_rows * width * width,
            f"margins of {rows.n_rows} instances x {width} x {width} labels",
            "ask for fewer instances at a time",
        )
        return self.scorer_.margins(rows)

    def _reason(self, label: int, over: int | None) -> tuple[Array, float]:
        if over is not None:
            return self.scorer_.weights(label, over), 0.0
        if self.calibrated:
            return self.scorer_.weights(label, self.n_labels_), 0.0
        others = (v for v in range(self.n_labels_) if v != label)
        total = np.zeros(self.n_features_in_)
        for v in others:
            total += self.scorer_.weights(label, v)
        return total, 0.0


def _slice(X: Rows, first: int, last: int) -> Rows:
    start, stop = X.indptr[first], X.indptr[last]
    pointers = X.indptr[first : last + 1] - start
    return Rows(pointers, X.indices[start:stop], X.data[start:stop], X.n_columns)
