"""The learner, or blend of learners, and the cut that suit the data, found by held-out quality."""

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from labelrank._types import Array
from labelrank.declared import anything, array, flag, nested, number, seed, stored, threads
from labelrank.errors import InputError
from labelrank.learners.auto import blocks as of_targets
from labelrank.learners.auto.blend import Line, Member, together
from labelrank.learners.auto.goal import Goal, Judged
from labelrank.learners.auto.weighting import AS_GIVEN, Weighting, ways
from labelrank.learners.base import LabelRanker
from labelrank.learners.held_out.calibration import Calibration
from labelrank.learners.held_out.cuts import CUTS, Cut, best_cut
from labelrank.resources import bar
from labelrank.rows import by_content

if TYPE_CHECKING:  # they import all that may race: not for a model that only answers
    from labelrank.learners.auto.race import Race, Trial

_OF_FEATURES = ("features", "names", "contributions")
_MORE = 3.0


@stored(
    "AutoRanker",
    4,
    members_=nested("Member", many=True),
    threshold_=array("f8", "K"),
    count_=nested("Cut", optional=True),
    held_out_=anything(optional=True),
    calibration_=nested("Calibration", optional=True),
    trials_=anything(volatile=True),
)
@dataclass(eq=False, repr=False)
class AutoRanker(LabelRanker):
    """Tries learners on held-out instances, and fits the best, with the best cut, on all.

    A race: every candidate learns from some of the instances and is judged by others; the best go
    on with more of them. The first candidate tries several ways to weight or scale the features,
    the others go by the best of these. Then those that are better together than the best alone, by
    more than chance, become a blend: their log odds are averaged.

    How much is tried is counted in work, forecast from the size of the data: so the result depends
    on `random_state` alone, not on the machine, unless the `budget` of seconds stops the race.

    Parameters
    ----------
    criterion : str, default "micro_f1"
        What to be good at: a criterion of sets (micro_f1, macro_f1, example_f1, example_jaccard,
        subset_accuracy, hamming_loss), for which the cut is tuned, or any of rankings and scores
        (ranking_loss, precision_at_1, average_precision, pro_loss, micro_auc, ...), with a cut
        tuned for micro-F1 (for PRO loss where that is best). Where it tells grades apart, learners
        of grades take part. With `sizes` also exact_match and hamming_score.
    effort : float, default 1.0
        Work, as a multiple of the usual: ten times what scikit-learn's LinearSVC takes, or as much
        as that for more than 10,000 instances.
    fast : bool, default False
        One linear learner, and a fraction of the work.
    budget : float, default 600.0
        Seconds: a brake for slow machines. A trial that takes longer than was forecast is broken
        off; only the first one never is, nor the last fit. A warning says if it left out anything.
    sizes : sequence of int, or None
        The labels come in blocks of so many, one of each is relevant: they are the classes of
        several targets (see `BlockClassifier`). The set has the best label of each block.
    candidates : dict of str to LabelRanker, or None
        Other learners to try, in this order, on the features as given; one of them is kept.
    n_jobs : int or None, trials run at the same time, and threads of the last fit
    random_state : int, RandomState or None, for what is held out, and the candidates
    verbose : int, default 0

    Attributes
    ----------
    best_ : str, what was chosen; the names of the members if it is a blend, where members of one
        name are told apart by how they weight the features
    members_ : list of Member, the chosen learners, fitted on all instances, and their shares
    estimator_, weighting_ : the learner of the largest share, and what is done to its features
    threshold_ : ndarray (K,)
        Where the scores are cut; `decision_function` is relative to it. For a criterion of sets
        there may be a cut per label, or a lower one for rare labels (a tilt), else one for all.
    count_ : Cut or None
        After that, how many labels a row has by its probabilities, where that is best.
    held_out_ : dict or None
        What was chosen by: criterion, chosen (its held-out value), second and second_best (the
        next single learner and its value), guessing (that of ranking by frequency), n_instances
        (held out), n_parts (they are so many parts, each held out from the others).
    calibration_ : Calibration or None, from held-out scores to probabilities
    trials_ : list of dict
        What was tried: name, weighting, n_instances, score (the held-out criterion), cut, tilt,
        work, seconds; None where no work or time was left.

    Examples
    --------
    >>> from labelrank import AutoRanker, TextVectorizer, datasets
    >>> data = datasets.load("debtags-sample").train
    >>> X = TextVectorizer().fit_transform(data.texts[:600])
    >>> learner = AutoRanker("precision_at_1", random_state=0).fit(X, data.Y[:600])
    >>> learner.members_[0].name in {trial["name"] for trial in learner.trials_}
    True
    """

    criterion: str = "micro_f1"
    _: KW_ONLY
    effort: float = number(1.0, above=0)
    fast: bool = flag(False)
    budget: float = number(600.0, above=0)
    sizes: Any = None
    candidates: dict[str, Any] | None = None
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    def _check_combinations(self) -> None:
        Goal.of(self.criterion, self.sizes)
        are_named = isinstance(self.candidates, Mapping) and len(self.candidates) > 0
        if self.candidates is not None and not are_named:
            raise InputError(
                f"got candidates={self.candidates!r}; give a dict of at least one learner by its "
                "name, or None"
            )

    @property
    def estimator_(self) -> Any:
        return max(self.members_, key=lambda member: member.share).estimator

    @property
    def weighting_(self) -> Weighting:
        return max(self.members_, key=lambda member: member.share).weighting

    @property
    def best_(self) -> str:
        return " + ".join(member.name for member in self.members_)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        X = by_content(X)
        race = self._race(X, Y)
        if race.has_enough:
            with bar("trying", self.verbose, None) as advance:
                for name in race.run():
                    advance(name)
        self.threshold_ = np.zeros(self.n_labels_)
        self.count_: Cut | None = None
        self.held_out_: dict[str, Any] | None = None
        self.calibration_: Calibration | None = None
        chosen = self._choose(race)
        self.trials_ = race.told()
        if race.braked:
            warnings.warn(
                f"the budget of {self.budget:g} s was over before all candidates were tried; "
                "a larger one may choose better", stacklevel=4,
            )  # fmt: skip
        names = [name for name, *_ in chosen]
        self.members_ = [
            Member(_called(name, way, names), share, race.ways[way], line, race.last(name, way))
            for name, way, share, line in chosen
        ]

    def _race(self, X: Any, Y: sp.csr_array) -> "Race":
        from labelrank.learners.auto.candidates import candidates, given
        from labelrank.learners.auto.race import Race

        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31 - 1))
        goal = Goal.of(self.criterion, self.sizes).on(Y, one_class=self.target_.one_class)
        if self.candidates is None:
            field = candidates(X, Y, goal, fast=self.fast)
            prepared = ways(X)
        else:
            field, prepared = given(self.candidates), {AS_GIVEN: Weighting()}
        return Race(X, Y, goal, field, prepared, allowed=self._work(X, Y, goal),
                    budget=float(self.budget), random=random, seed=seed,
                    n_jobs=self.n_jobs)  # fmt: skip

    def work(self, X: Any, Y: Any) -> float:
        """Seconds of one core, forecast by the size of the data, that choosing may take."""
        X, Y = by_content(X), sp.csr_array(Y)
        goal = Goal.of(self.criterion, self.sizes).on(Y, one_class=False)
        return self._work(X, Y, goal)

    def _work(self, X: Any, Y: sp.csr_array, goal: Goal) -> float:
        # Grades and targets have kinds of learners of their own that race beside the others.
        effort = float(self.effort) * (_MORE if goal.graded or goal.blocks else 1.0)
        from labelrank.learners.auto.candidates import Size, allowance

        return allowance(Size.of(X, Y), effort, fast=self.fast)

    def _choose(self, race: "Race") -> list[tuple[str, str, float, Line | None]]:
        """The members, by what the race has found, and the cut: name, weighting, share, line."""
        ranked = race.ranked()
        if not ranked:
            return [(*race.first(), 1.0, None)]
        best, truth = ranked[0], race.Y[race.judges]
        found = None if self.fast or self.candidates else race.blend(ranked)
        if found is None:
            chosen: Any = [(best.name, best.weighting, 1.0, None)]
            judged, scores = best.judged, race.scores[best.name, best.weighting]
        else:
            blend, lines = found
            judged, scores = blend.judged, blend.scores
            chosen = [
                (ranked[k].name, ranked[k].weighting, share, lines[k])
                for k, share in blend.shares.items()
            ]
        self._cut(race.goal, judged, truth, scores)
        self.calibration_ = Calibration.fit(
            truth, self._relative(scores), one_class=self.target_.one_class
        )
        self._tell(race, judged, [t for t in ranked if t.name != best.name or found], len(scores))
        return chosen

    def _cut(self, goal: Goal, judged: Judged, truth: Any, scores: Array) -> None:
        """Where held-out scores are best cut."""
        if goal.cut is None or goal.one_class:
            self.threshold_ += judged.cut or 0.0
            return
        if judged.tilt and goal.rarity is not None:
            self.threshold_ -= judged.tilt * goal.rarity
        kinds = CUTS if goal.criterion.needs == "sets" else CUTS[:1]
        cut = best_cut(truth, self._relative(scores), goal.cut, kinds=kinds)
        if cut.kind == "count":
            self.count_ = cut
        else:
            self.threshold_ += cut.thresholds(scores)

    def _relative(self, scores: Array) -> Array:
        """Scores relative to the cut."""
        scores = scores - self.threshold_.astype(scores.dtype)
        if self.count_ is None:
            return np.asarray(scores)
        return np.asarray(scores - self.count_.thresholds(scores).astype(scores.dtype))

    def _tell(self, race: "Race", judged: Judged, others: "list[Trial]", n: int) -> None:
        sign = race.goal.criterion.direction
        second = others[0] if others else None
        tried = [trial.name for trial in race.ranked()]
        self.held_out_ = {
            "criterion": race.goal.criterion.name,
            "chosen": sign * judged.value,
            "second": second and _called(second.name, second.weighting, tried),
            "second_best": second and sign * second.judged.value,
            "guessing": sign * race.guessing().value,
            "n_instances": n,
            "n_parts": len(race.parts),
        }

    @property
    def _set_is_cut(self) -> bool:  # type: ignore[override]
        return self.sizes is None

    def _members(self, scores: Array) -> Array:
        if self.sizes is None:
            return super()._members(scores)
        return of_targets.members(scores, self.sizes)

    def link(self, scores: Array) -> Array:
        """Probabilities of scores; those of a block sum to 1."""
        chances = super().link(scores)
        return chances if self.sizes is None else of_targets.shared(chances, self.sizes)

    @property
    def has_probabilities(self) -> bool:
        """Whether held-out scores were calibrated."""
        return getattr(self, "calibration_", None) is not None

    def _scores(self, X: Any) -> Array:
        return self._relative(self._blended(X))

    def _blended(self, X: Any) -> Array:
        first, *others = (member.scores(X) for member in self.members_)
        return np.asarray(sum(others, first))

    @available_if(lambda self: all(member.explains for member in self.members_))  # type: ignore[untyped-decorator]
    def why(self, x: Any, label: Any, over: Any = None) -> Any:
        """The reasons of the chosen learners; they and the cuts sum to the score."""
        row = self._check_X(x if sp.issparse(x) else np.atleast_2d(x), reset=False)
        reason = together([member.why(row, label, over) for member in self.members_])
        if self._silent(row)[0]:
            prior = self._prior()
            margin = float(prior[label] - (0.0 if over is None else prior[over]))
            nothing = {name: getattr(reason, name)[:0] for name in _OF_FEATURES}
            return reason._replace(margin=margin, constant=margin, **nothing)
        raw = self._blended(row)
        cuts = np.ravel(raw - self._relative(raw)).astype(np.float64)
        cut = cuts[label] - (0.0 if over is None else cuts[over])
        return reason._replace(margin=reason.margin - cut, constant=reason.constant - cut)

    def after_loading(self) -> None:
        form = (self.n_labels_, self.n_features_in_)
        for member in self.members_:
            inner = member.estimator
            if (inner.n_labels_, inner.n_features_in_) != form:
                raise ValueError("the chosen learner is of other labels or features")
            if not member.weighting.fits(self.n_features_in_):
                raise ValueError("the weighting is of other features")
        if not self.members_:
            raise ValueError("nothing was chosen")
        if not hasattr(self, "count_"):
            raise ValueError("it does not say whether labels are counted")
        if self.sizes is not None:
            of_targets.check_blocks(self.sizes, self.n_labels_)


def _called(name: str, way: str, names: list[str]) -> str:
    """The name of a learner; with its weighting of the features where others have the name too."""
    return f"{name} ({way})" if names.count(name) > 1 else name
