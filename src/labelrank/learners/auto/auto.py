"""The learner and the cut that suit the data, found within a time budget."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from labelrank._types import Array
from labelrank.declared import anything, array, nested, number, seed, stored, threads, value
from labelrank.errors import InputError
from labelrank.learners.auto.race import (
    HELD,
    Goal,
    Race,
    Weighting,
    candidates,
    fitted,
    rarity,
    weightings,
)
from labelrank.learners.base import LabelRanker, seeded
from labelrank.resources import track


@stored(
    "AutoRanker",
    1,
    estimator_=nested(),
    best_=value(str),
    weighting_=nested("Weighting"),
    threshold_=array("f8", "K"),
    trials_=anything(volatile=True),
)
@dataclass(eq=False, repr=False)
class AutoRanker(LabelRanker):
    """Tries learners on held-out instances, and fits the best, with the best cut, on all.

    A race: every candidate learns from some of the instances and is judged by others; the best go
    on with more of them. The first candidate tries several weights of the features (if sparse and
    not negative: counts, TF-IDF), the others go by the best of these. A trial that would not end
    within `budget` is not begun. With time enough the result depends on `random_state` alone.

    Parameters
    ----------
    criterion : str, default "micro_f1"
        What to be good at: a criterion of sets (micro_f1, macro_f1, example_f1, example_jaccard,
        subset_accuracy, hamming_loss), for which the cut is tuned, or any of rankings and scores
        (ranking_loss, precision_at_1, average_precision, pro_loss, micro_auc, ...), with a cut
        tuned for micro-F1 (for PRO loss the learner's own threshold).
    budget : float, default 60.0
        Seconds for the race and the last fit; at least one candidate is fitted in any case.
    candidates : dict of str to LabelRanker, or None
        Other learners to try, in this order, on the features as given.
    n_jobs : int or None, trials run at the same time, and threads of the last fit
    random_state : int, RandomState or None, for what is held out, and the candidates
    verbose : int, default 0

    Attributes
    ----------
    estimator_, best_ : the best candidate, fitted on all instances, and its name
    weighting_ : what is done to the features first
    threshold_ : ndarray (K,)
        Where its scores are cut; `decision_function` is relative to it. For a criterion of sets
        the cut may be lower for rare labels (a tilt), elsewhere it is one for all.
    trials_ : list of dict
        What was tried: name, weighting, n_instances, score (the held-out criterion), cut (of the
        best alone, or of all for criteria of sets), tilt, seconds; None where there was no time.

    Examples
    --------
    >>> from labelrank import AutoRanker, TextVectorizer, datasets
    >>> data = datasets.load("debtags-sample").train
    >>> X = TextVectorizer().fit_transform(data.texts[:600])
    >>> learner = AutoRanker("precision_at_1", random_state=0).fit(X, data.Y[:600])
    >>> learner.best_ in {trial["name"] for trial in learner.trials_}
    True
    """

    criterion: str = "micro_f1"
    _: KW_ONLY
    budget: float = number(60.0, above=0)
    candidates: dict[str, Any] | None = None
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    def _check_combinations(self) -> None:
        Goal.of(self.criterion)
        if self.candidates is not None and not self.candidates:
            raise InputError("got no candidates; name at least one learner, or give None")

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        random = check_random_state(self.random_state)
        goal = Goal.of(self.criterion)
        learners = self._learners(goal, X, Y, int(random.randint(2**31 - 1)))
        ways = weightings(X) if self.candidates is None else {"as given": Weighting()}
        race = Race(X, Y, goal, learners, ways, budget=float(self.budget), random=random,
                    n_jobs=self.n_jobs)  # fmt: skip
        if X.shape[0] >= 2 * HELD:
            for _ in track(race.run(), "racing", self.verbose):
                pass
        best = race.best()
        self.best_ = best.name if best else next(iter(learners))
        self.weighting_ = ways[best.weighting if best else "as given"]
        self.threshold_ = np.full(self.n_labels_, (best.cut if best else None) or 0.0)
        if best and best.tilt and not self.target_.one_class:
            self.threshold_ -= best.tilt * rarity(Y)
        self.trials_ = race.told()
        self.estimator_ = fitted(learners[self.best_], self.weighting_(X), Y)

    def _learners(self, goal: Goal, X: Any, Y: sp.csr_array, seed: int) -> dict[str, Any]:
        """The candidates, with the seed and the threads they were not given themselves."""
        chosen = candidates(goal.kind, X, Y) if self.candidates is None else self.candidates
        learners = {}
        for name, learner in chosen.items():
            learners[name] = seeded(clone(learner), seed)
            if learner.get_params(deep=False).get("n_jobs", 0) is None:
                learners[name].set_params(n_jobs=self.n_jobs)
        return learners

    def _scores(self, X: Any) -> Array:
        scores = self.estimator_.decision_function(self.weighting_(X))
        return scores - self.threshold_.astype(scores.dtype)

    @available_if(lambda self: hasattr(self.estimator_, "why"))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Any:
        """The reasons of the chosen learner; they and the cuts sum to the score."""
        row = self._check_X(x if sp.issparse(x) else np.atleast_2d(x), reset=False)
        reason = self.estimator_.why(self.weighting_(row), label, over=over)
        cut = self.threshold_[label] - (0.0 if over is None else self.threshold_[over])
        return reason._replace(margin=reason.margin - cut, constant=reason.constant - cut)

    def after_loading(self) -> None:
        factors = self.weighting_.factors
        if factors is not None and len(factors) != self.n_features_in_:
            raise ValueError("the weighting is of other features")
        inner = self.estimator_
        if inner.n_labels_ != self.n_labels_ or inner.n_features_in_ != self.n_features_in_:
            raise ValueError("the chosen learner is of other labels or features")
