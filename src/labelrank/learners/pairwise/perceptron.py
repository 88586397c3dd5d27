"""Pairwise perceptrons: one for each pair of labels (Loza Mencía & Fürnkranz 2008)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array, Int64
from labelrank.declared import choice, cut, flag, nested, number, seed, stored, threads, value
from labelrank.errors import InputError
from labelrank.learners.base import Explained, FromArcs, IncrementalRanker
from labelrank.learners.pairwise import votes
from labelrank.learners.pairwise.forecast import Forecast, ProblemSize, choose, forecast
from labelrank.learners.pairwise.mistakes import KERNELS, DualPairScorer
from labelrank.learners.pairwise.scorer import Course, PairScorer, UpdateRule, quick_voting
from labelrank.learners.pairwise.shortlist import ShortlistScorer, check_shortlist, make_ranker
from labelrank.learners.pairwise.weights import LearnedPairs, PairBlock, PrimalPairScorer
from labelrank.preferences import Arcs, Kind, Preferences
from labelrank.relevance import check_relevance
from labelrank.resources import require, track
from labelrank.rows import Rows, as_rows, with_constant

MOST_EPOCHS = 10_000


@stored(
    "PairwisePerceptron", 2,
    scorer_=nested("PrimalPairScorer", "DualPairScorer", "ShortlistScorer"),
    n_trained=value(int, least=0, attribute="_n_trained"),
    n_epochs_=value(int, least=0, optional=True, volatile=True),
    n_mistakes_=value(int, least=0, volatile=True),
)  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class PairwisePerceptron(FromArcs, Explained, IncrementalRanker):
    """One perceptron for each pair of labels: MLPP, and with the threshold label calibrated MLPP.

    Parameters
    ----------
    calibrated : bool, default True
        Learn the threshold label too: scores are then relative to it, and the set is `scores > 0`.
    ordered : bool, default False
        Grades state preferences among relevant labels, which train their pairs too.
    voting : {"votes", "weighted", "coupling", "rivals"}
        One vote per perceptron; its margin squashed to [0, 1]; pairwise coupling; or, if
        calibrated, the margin over the threshold label and a share of the hardest duel with a
        label that beats it too (see `votes.rival_scores`): scores that also order instances.
    tie_break : {"margin", None}
        Order equal votes by summed margins, or leave whole votes.
    coupling : {"wu-lin-weng", "hastie-tibshirani"}
    inference : {"full", "quick"}
        `predict` evaluates all duels, or only those that the set needs (with `tie_break=None`);
        scores and rankings always need all.
    representation : {"auto", "primal", "dual"}
        Hold weights, or the mistakes they are made of, which suits thousands of labels.
    kernel : {"linear", "poly", "rbf"}
        Other kernels than the linear one need the dual representation.
    gamma, coef0, degree : of the kernel
    shortlist : (ranker, k) or None
        For thousands of labels: a cheap ranker ("br", "centroid", "knn", or any label ranker)
        proposes k labels, and only their duels are learned and evaluated, in the dual form.
    threshold : "cardinality" or float
        How `predict` cuts the ranking if not calibrated.
    epochs : int, default 1
    fit_intercept : bool, default False
        Learn a constant per pair too, as the weight of a feature that is always 1.
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
    n_jobs : int or None, threads; never changes the result
    random_state : int, RandomState or None
    verbose : int, default 0, above 0: a progress bar over the epochs

    Attributes
    ----------
    n_operations_ : dict
        "train": inner products and updates made; "predict": inner products per instance of full
        voting. `count_operations` says what given instances cost.
    n_epochs_ : int, epochs of the last `fit`
    n_mistakes_ : int, updates of its last epoch, or of the last piece

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import PairwisePerceptron
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1]])
    >>> learner = PairwisePerceptron(until_no_error=True, random_state=0).fit(X, Y)
    >>> learner.predict(X).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """

    calibrated: bool = flag(True)
    ordered: bool = flag(False)
    voting: str = choice(*votes.VOTINGS, "rivals")
    tie_break: str | None = choice(*votes.TIE_BREAKS)
    coupling: str = choice(*votes.COUPLINGS)
    inference: str = choice("full", "quick")
    representation: str = choice("auto", "primal", "dual")
    kernel: str = choice(*KERNELS)
    gamma: float | None = number(None, least=0, or_none=True)
    coef0: float = number(1.0)
    degree: int = number(2, least=1, whole=True)
    shortlist: Any = None
    threshold: Any = cut()
    epochs: int = number(1, least=1, whole=True)
    fit_intercept: bool = flag(False)
    until_no_error: bool = flag(False)
    shuffle: bool = flag(True)
    init: str = choice("zeros", "random")
    margin: float | None = number(None, least=0, or_none=True)
    averaging: str | None = choice(None, "averaged")
    step: str = choice("perceptron", "pa")
    C: float = number(1.0, above=0)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    @property
    def _calibrated(self) -> bool:  # type: ignore[override]
        return bool(self.calibrated)

    @property
    def _learns_silence(self) -> bool:  # type: ignore[override]
        return bool(self.kernel != "linear")

    def _check_combinations(self) -> None:
        if self.shortlist is not None:
            check_shortlist(self.shortlist)
            other = self.representation == "primal" or self.inference == "quick"
            if other or self.voting != "votes":
                raise InputError(
                    "got a shortlist, which votes in the dual representation; use "
                    "representation='dual' or 'auto', voting='votes' and inference='full'"
                )
        if self.voting == "rivals" and not self.calibrated:
            raise InputError(
                "got voting='rivals' with calibrated=False, but rivals are the labels that beat "
                "the threshold label; use calibrated=True or another voting"
            )
        if self.fit_intercept and (self.shortlist is not None or self.kernel != "linear"):
            which = "a shortlist" if self.kernel == "linear" else f"kernel={self.kernel!r}"
            raise InputError(
                f"got fit_intercept=True with {which}, where a constant feature would count among "
                "the others; use fit_intercept=False"
            )
        if self.kernel != "linear" and self.representation == "primal":
            raise InputError(
                f"got kernel={self.kernel!r} with representation='primal', whose weights are "
                "linear; use representation='dual' or 'auto'"
            )
        refusals = (
            ("calibrated", self.calibrated, True, "quick voting stops at the threshold label"),
            ("voting", self.voting, "votes", "it counts whole votes"),
            ("tie_break", self.tie_break, None, "it does not know the margins of all duels"),
        )
        for name, got, wanted, reason in refusals if self.inference == "quick" else ():
            if got != wanted:
                raise InputError(
                    f"got inference='quick' with {name}={got!r}, but {reason}; "
                    f"use {name}={wanted!r}, or inference='full'"
                )

    @property
    def preferences(self) -> Preferences:
        """The kinds of preference that train; every one counts the same."""
        kinds = [Kind.RELEVANT_IRRELEVANT]
        if self.calibrated:
            kinds += [Kind.RELEVANT_THRESHOLD, Kind.THRESHOLD_IRRELEVANT]
        if self.ordered:
            kinds += [Kind.GRADED]
        return Preferences.each(*kinds)

    def _size(self, drawn: int) -> dict[str, Any]:
        """What any scorer is made of."""
        return {
            "n_features": self.n_features_in_ + bool(self.fit_intercept),
            "n_labels": self.n_labels_, "rule": self._rule(drawn),
            "calibrated": bool(self.calibrated), "ordered": bool(self.ordered),
        }  # fmt: skip

    def _start(self, X: Any, Y: sp.csr_array, *, in_pieces: bool) -> None:
        drawn = int(check_random_state(self.random_state).randint(2**31 - 1))
        what = self._size(drawn)
        how: dict[str, Any] = {
            "kernel": self.kernel, "gamma": self.gamma, "coef0": self.coef0, "degree": self.degree,
        }  # fmt: skip
        chosen = self.representation
        if self.shortlist is None and chosen != "primal":
            chosen = choose(chosen, self.forecast(X, Y), in_pieces=in_pieces)
        if self.shortlist is not None:
            ranker, size = self.shortlist
            self.scorer_: PairScorer = ShortlistScorer(
                **what, **how, ranker=make_ranker(ranker, drawn), size=size
            )
        elif chosen == "primal":
            self.scorer_ = PrimalPairScorer(**what)
        else:
            self.scorer_ = DualPairScorer(**what, **how)
        self._n_trained = self.n_mistakes_ = 0

    def separate_blocks(self) -> list[PairBlock]:
        """The blocks of pairs of a learner of noted instances, by their weights."""
        drawn = int(check_random_state(self.random_state).randint(2**31 - 1))
        scorer = PrimalPairScorer(**self._size(drawn))
        self.scorer_, self.n_epochs_ = scorer, self.epochs
        return scorer.blocks(self.n_seen_, has_constant=bool(self.fit_intercept))

    def take_blocks(self, learned: list[LearnedPairs], n_learned: int) -> None:
        """Be made of these blocks, each of which has learned so many instances in all."""
        scorer: Any = self.scorer_
        for one in learned:
            scorer.take(one)
        self._n_trained = sum(one.shown + one.moved for one in learned)
        self.n_mistakes_ = sum(one.recent for one in learned)

    def forecast(self, X: Any, Y: Any) -> Forecast:
        """What training would cost in either representation, without training."""
        size = ProblemSize.of(X, check_relevance(Y))
        return forecast(
            size.with_constant() if self.fit_intercept else size,
            calibrated=self.calibrated, epochs=self.epochs, rule=self._rule(), kernel=self.kernel,
        )  # fmt: skip

    def _widen(self, n_before: int) -> None:
        self.scorer_ = self.scorer_.widened(self.n_labels_)

    def _rule(self, drawn: int = 0) -> UpdateRule:
        return UpdateRule(self.margin, self.step, self.C, self.averaging, self.init, drawn)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._start(X, Y, in_pieces=False)
        rows, order = self._rows(X), np.arange(X.shape[0])
        learn = self.scorer_.course(rows, Y, self.n_jobs, until_no_error=self.until_no_error)
        random = check_random_state(self.random_state)
        epochs = range(MOST_EPOCHS if self.until_no_error else self.epochs)
        for epoch in track(epochs, type(self).__name__, self.verbose):
            if self.shuffle:
                order = random.permutation(rows.n_rows)
            self._pass(learn, order)
            self.n_epochs_ = epoch + 1
            if self.until_no_error and self.n_mistakes_ == 0:
                break

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "scorer_"):
            self._start(X, Y, in_pieces=True)
        self._pass(self.scorer_.course(self._rows(X), Y, self.n_jobs), np.arange(X.shape[0]))

    @property
    def _reads_threshold(self) -> bool:  # type: ignore[override]
        return bool(self.calibrated)

    @available_if(lambda self: self.shortlist is None)  # type: ignore[untyped-decorator]
    def learn_arcs(self, X: Any, arcs: Arcs) -> Self:
        """Learn preferences alone, in their order: each by the perceptron of its pair."""
        return super().learn_arcs(X, arcs)

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        lesson = self.scorer_.learn_arcs(self._rows, X, arcs, self.n_jobs)
        self._n_trained += lesson.trained + lesson.mistakes
        self.n_mistakes_ = lesson.mistakes

    @property
    def _has_constant(self) -> bool:
        return self.scorer_.n_features > self.n_features_in_

    def _rows(self, X: Any) -> Rows:
        """Instances as the perceptrons take them, with the constant feature if they have one."""
        return with_constant(as_rows(X)) if self._has_constant else as_rows(X)

    def _pass(self, learn: Course, order: Int64) -> None:
        lesson = learn(order)
        self._n_trained += lesson.trained + lesson.mistakes
        self.n_mistakes_ = lesson.mistakes

    def after_loading(self) -> None:
        scorer = self.scorer_
        ours = self.n_features_in_ + self._has_constant, self.n_labels_, bool(self.calibrated)
        if (scorer.n_features, scorer.n_labels, scorer.calibrated) != ours:
            raise ValueError("the perceptrons are not those of these features and labels")

    def _scores(self, X: Any) -> Array:
        rows = self._rows(X)
        if self.voting == "votes":
            return self.scorer_.scores(rows, self.tie_break, self.n_jobs)

        def soft(first: int, last: int) -> Array:
            margins = self.scorer_.margins(rows.slice(first, last))
            if self.voting == "rivals":
                return votes.rival_scores(margins)
            return votes.soft_scores(expit(margins.astype(np.float64)), self.voting, self.coupling)

        scores = votes.in_row_blocks(rows.n_rows, self.scorer_.width, soft)
        return votes.relative_to_threshold(scores, self.calibrated)

    def _sets(self, X: Any) -> Array:
        if self.inference != "quick":
            return super()._sets(X)
        bounds = quick_voting(self.scorer_, self._rows(X), self.n_jobs).scores
        return self._members(self._completed(X, bounds))

    @property
    def n_operations_(self) -> dict[str, int]:
        """Inner products and updates of training, inner products per instance of full voting."""
        return {"train": self._n_trained, "predict": self.scorer_.duels_each}

    def count_operations(self, X: Any) -> int:
        """Inner products that `predict(X)` takes: the duels that are looked at."""
        check_is_fitted(self)
        rows = self._rows(self._check_X(X, reset=False))
        if self.inference == "quick":
            return int(quick_voting(self.scorer_, rows, self.n_jobs).evaluations.sum())
        return rows.n_rows * self.scorer_.duels_each

    def duels(self, X: Any) -> Array:
        """Margins n × K × K (K + 1 with Θ, the last): `[i, u, v] > 0`: u beat v, at 0 the first."""
        check_is_fitted(self)
        rows, width = self._rows(self._check_X(X, reset=False)), self.scorer_.width
        require(
            4 * rows.n_rows * width * width,
            f"margins of {rows.n_rows} instances x {width} x {width} labels",
            "ask for fewer instances at a time",
        )
        return self.scorer_.margins(rows)

    def reason_weights(self, label: int, over: int | None) -> tuple[Array, float]:
        if over is None and self.calibrated:
            over = self.n_labels_
        others = range(self.n_labels_) if over is None else [over]
        total = np.zeros(self.scorer_.n_features)
        for v in others:
            total += self.scorer_.weights(label, v)
        constant = float(total[-1]) if self._has_constant else 0.0
        return total[: self.n_features_in_], constant
