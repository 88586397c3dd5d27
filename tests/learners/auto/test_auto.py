"""What `auto` promises: a choice by held-out criterion, in time, told, safe to save."""

import math
import time
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelrank import (
    AutoRanker,
    BinaryRelevanceSVM,
    NaiveBayesRanker,
    ProSVM,
    catalog,
    datasets,
    metrics,
    persistence,
)
from labelrank.errors import InputError, OutOfTimeError
from labelrank.learners.auto.blend import Line, best_blend
from labelrank.learners.auto.candidates import Candidate, candidates, given, svm_cost
from labelrank.learners.auto.goal import Goal
from labelrank.learners.auto.race import Race
from labelrank.learners.auto.weighting import Weighting, ways
from labelrank.learners.base import LabelRanker
from labelrank.persistence.decode import OLDER, Contents
from labelrank.resources import run_jobs, track, until
from labelrank.text import TextVectorizer

AS_GIVEN = {"as given": Weighting()}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [AutoRanker(random_state=0), AutoRanker("ranking_loss", random_state=0)],
    expected_failed_checks=lambda _: {
        "check_supervised_y_2d": "one column is a relevance matrix",
        "check_classifier_multioutput": "the cut is where sets are best, not at probability 1/2",
    },
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


class Guess(LabelRanker):
    """Ranks labels by their frequency, or, if `wrong`, by its opposite; may take its time."""

    def __init__(self, wrong=False, seconds=0.0):
        self.wrong = wrong
        self.seconds = seconds

    def _learn(self, X, Y):
        time.sleep(self.seconds * X.shape[0])
        self._frequency = np.asarray((Y > 0).mean(axis=0)).ravel()

    def _scores(self, X):
        return np.tile((-1 if self.wrong else 1) * self._frequency, (X.shape[0], 1))


def data(n=3000, n_labels=6, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, 40), density=0.2, rng=rng, format="csr")
    scores = X @ rng.normal(size=(40, n_labels)) - np.linspace(0.2, 0.6, n_labels)
    return X, sp.csr_array((scores > 0).astype(float))


def a_race(X, Y, learners, criterion="micro_f1"):
    goal = Goal.of(criterion).on(Y, one_class=False)
    return Race(X, Y, goal, given(learners), AS_GIVEN, allowed=100.0, budget=100.0,
                random=np.random.RandomState(0))  # fmt: skip


@pytest.fixture(scope="module")
def packages():
    found = datasets.load("debtags-sample")
    terms = TextVectorizer(max_terms=2000)
    X, X_test = terms.fit_transform(found.train.texts), terms.transform(found.test.texts)
    return X, found.train.Y, X_test, found.test.Y


@pytest.mark.parametrize("criterion", ["ranking_loss", "precision_at_1", "micro_f1", "pro_loss"])
def test_the_better_learner_wins(criterion):
    X, Y = data()
    tried = {"wrong": Guess(wrong=True), "right": Guess()}
    assert AutoRanker(criterion, candidates=tried, random_state=0).fit(X, Y).best_ == "right"


def test_it_is_as_good_as_each_candidate_alone(packages):
    X, Y, X_test, Y_test = packages
    auto = AutoRanker("ranking_loss", random_state=0).fit(X, Y)
    found = metrics.ranking_loss(Y_test, auto.decision_function(X_test))
    for other in (NaiveBayesRanker(), BinaryRelevanceSVM(tol=0.1, random_state=0)):
        scores = other.fit(X, Y).decision_function(X_test)
        assert found <= metrics.ranking_loss(Y_test, scores) + 0.002


def test_the_cut_is_tuned(packages):
    X, Y, X_test, Y_test = packages
    auto = AutoRanker("micro_f1", random_state=0).fit(X, Y)
    scores = auto.decision_function(X_test)
    cut = metrics.f1(Y_test, auto.predict(X_test), average="micro")
    own = metrics.f1(Y_test, sp.csr_array(scores + auto.threshold_ > 0), average="micro")
    assert (auto.threshold_ != 0).all()
    assert cut > own + 0.02
    assert (auto.predict(X_test).toarray() == (scores > 0)).all()


def test_the_winner_has_learned_all_the_data():
    X, Y = data(600)
    auto = AutoRanker(candidates={"only": BinaryRelevanceSVM(C=3.0)}, random_state=0).fit(X, Y)
    alone = BinaryRelevanceSVM(C=3.0, random_state=auto.estimator_.random_state).fit(X, Y)
    expected = alone.decision_function(X) - auto.threshold_
    np.testing.assert_allclose(auto.decision_function(X), expected, rtol=1e-5, atol=1e-5)


def test_same_seed_same_choice_whatever_the_threads():
    X, Y = data()
    one, two = (AutoRanker(random_state=3, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    untimed = [[{**trial, "seconds": 0} for trial in auto.trials_] for auto in (one, two)]
    assert untimed[0] == untimed[1]
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


class Refuses(Guess):
    """Takes no data."""

    def _learn(self, X, Y):
        raise InputError("got too much; give less")


def test_a_learner_that_takes_no_such_data_is_left_out():
    X, Y = data(600)
    auto = AutoRanker(candidates={"no": Refuses(), "yes": Guess()}, random_state=0).fit(X, Y)
    assert auto.best_ == "yes"
    assert [t["score"] for t in auto.trials_ if t["name"] == "no"] == [None]
    with pytest.raises(InputError, match="got too much"):
        AutoRanker(candidates={"no": Refuses()}, random_state=0).fit(X, Y)


def test_what_was_tried_is_told():
    X, Y = data(4500)
    auto = AutoRanker("ranking_loss", candidates={"a": Guess(), "b": Guess(True)}, random_state=0)
    trials = auto.fit(X, Y).trials_
    assert [(trial["name"], trial["n_instances"]) for trial in trials] == [
        ("a", 3000), ("b", 3000), ("a", 3600), ("b", 3600),
    ]  # fmt: skip
    assert trials[0]["score"] < trials[1]["score"] <= 1
    assert all(trial["seconds"] > 0 for trial in trials)


def test_a_trial_that_would_exceed_the_budget_is_not_begun_and_that_is_said():
    X, Y = data(4500)
    slow = {"first": Guess(seconds=2e-4), "better": Guess(), "third": Guess()}
    with pytest.warns(UserWarning, match="the budget of 0.3 s was over before all candidates"):
        auto = AutoRanker(candidates=slow, budget=0.3, random_state=0).fit(X, Y)
    assert auto.best_ == "first"
    assert [trial["name"] for trial in auto.trials_ if trial["score"] is not None] == ["first"]
    assert {trial["name"] for trial in auto.trials_[1:]} == {"first", "better", "third"}


class Compiled(Guess):
    """Slow the first time."""

    times: ClassVar[list[int]] = []

    def _learn(self, X, Y):
        time.sleep(0.0 if self.times else 6.0)
        self.times.append(1)
        super()._learn(X, Y)


def test_a_first_trial_that_compiles_stops_no_other(recwarn):
    X, Y = data(4500)
    Compiled.times.clear()
    learners = {"first": Compiled(), **{name: Guess() for name in "abcd"}}
    auto = AutoRanker(candidates=learners, budget=18, random_state=0).fit(X, Y)
    assert all(trial["score"] is not None for trial in auto.trials_)
    assert not [one for one in recwarn if "budget" in str(one.message)]


class Crawling(Guess):
    """Takes a minute, step by step; tells the steps it took."""

    steps: ClassVar[list[int]] = []

    def _learn(self, X, Y):
        for step in track(range(600), "crawling", 0):
            time.sleep(0.1)
            self.steps.append(step)
        super()._learn(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_trial_that_is_slower_than_forecast_is_broken_off_within_the_budget(n_jobs):
    X, Y = data(4500)
    Crawling.steps.clear()
    slow = {"first": Guess(), "second": Guess(True), "crawling": Crawling()}
    with pytest.warns(UserWarning, match="the budget of 2 s was over before all candidates"):
        auto = AutoRanker(candidates=slow, budget=2, n_jobs=n_jobs, random_state=0).fit(X, Y)
    assert len(Crawling.steps) < 600
    assert auto.best_ == "first"
    assert "crawling" in {trial["name"] for trial in auto.trials_ if trial["score"] is None}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_and_steps_end_with_the_time(n_jobs):
    for work in (lambda: run_jobs([bool, bool], n_jobs), lambda: list(track([1], "", 0))):
        assert len(work()) > 0
        with until(time.perf_counter() - 1), pytest.raises(OutOfTimeError), until(math.inf):
            work()
        assert len(work()) > 0


def test_the_same_model_comes_from_a_slower_machine(monkeypatch):
    X, Y = data(400)
    swift = AutoRanker(random_state=0, n_jobs=2).fit(X, Y)
    learn = BinaryRelevanceSVM._learn

    def late(self, *data):
        time.sleep(0.05)
        learn(self, *data)

    monkeypatch.setattr(BinaryRelevanceSVM, "_learn", late)
    slow = AutoRanker(random_state=0, n_jobs=1).set_params(n_jobs=2).fit(X, Y)
    assert sum(trial["seconds"] for trial in slow.trials_) > 1
    assert persistence.digest(slow) == persistence.digest(swift)


def test_more_effort_tries_more():
    X, Y = data(4500)
    tried = [
        sum(t["score"] is not None for t in AutoRanker(effort=e, random_state=0).fit(X, Y).trials_)
        for e in (0.0001, 0.02, 1.0)
    ]
    assert tried[0] < tried[1] < tried[2]


def test_only_the_best_go_on_with_more_instances():
    X, Y = data(20_000)
    learners = {name: Guess(wrong=name in "cdef") for name in "abcdef"}
    for criterion in ("ranking_loss", "micro_f1", "precision_at_1"):
        race = a_race(X, Y, learners, criterion)
        assert len(list(race.run())) == 6 + 2 + 4
        assert race.sizes == [3000, 16_000]
        assert race.ranked()[0].name in "ab"


def test_a_round_nearly_as_large_as_the_last_is_left_out():
    for n, sizes in ((4000, [3200]), (4500, [3000, 3600]), (600, [480])):
        X, Y = data(n)
        race = a_race(X, Y, {"only": Guess()})
        assert race.sizes == sizes


def test_where_few_can_judge_several_parts_do():
    for n, n_parts in ((333, 5), (2000, 3), (6000, 1)):
        X, Y = data(n)
        race = a_race(X, Y, {"only": Guess()})
        assert len(race.parts) == n_parts
        assert len(np.unique(race.judges)) == len(race.judges) == n_parts * (n // 5)
        assert all(sorted([*held, *rest]) == list(range(n)) for held, rest in race.parts)
        assert len(list(race.run())) == len(race.sizes)


def test_a_sample_is_learned_with_the_strength_that_suits_it():
    svm = Candidate(BinaryRelevanceSVM(C=2.0), "linear", svm_cost)
    assert pytest.approx(4.0) == svm.made(0.25).C
    own = given({"own": BinaryRelevanceSVM(C=2.0)})["own"]
    assert own.made(0.25).C == 2.0


@pytest.mark.parametrize("unit", [False, True])
def test_features_are_weighted_as_their_definition_says(unit):
    X = np.array([[4.0, 0.0, 3.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    X = sp.csr_array(X if unit else X / np.array([5.0, 2.0, 1.0, 1.0])[:, None])
    rarity = np.log(5 / (np.array([2, 1, 1]) + 1)) + 1
    for name, (power, favour) in {
        "damped": (0.75, 0.0),
        "damped, rare favoured": (0.75, 0.5),
        "damped, common favoured": (0.75, -0.5),
        "common favoured": (1.0, -0.5),
    }.items():
        expected = X.toarray() ** power * rarity**favour
        length = np.linalg.norm(expected, axis=1, keepdims=True)
        expected /= np.where(length > 0, length, 1)
        way = ways(X)[name]._replace(scale=1.0)
        np.testing.assert_allclose(way(X).toarray(), expected, atol=1e-12)
        np.testing.assert_allclose(way(X.toarray()).toarray(), expected, atol=1e-12)
        np.testing.assert_allclose(way(-X).toarray(), -expected, atol=1e-12)


def test_rows_keep_the_length_that_all_have_and_get_mean_square_one():
    X = sp.csr_array(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 5.0]]))
    way = ways(X)["damped"]
    np.testing.assert_allclose(np.linalg.norm(way(X).toarray(), axis=1), [1.0, 1.0])
    np.testing.assert_allclose(np.linalg.norm(way(2 * X).toarray(), axis=1), [2.0, 2.0])
    assert "rows of length 1" not in ways(X)


def test_numbers_are_standardised_and_constants_have_no_weight():
    X = np.array([[1.0, 7.0, 1000.0], [2.0, 7.0, 5000.0], [6.0, 7.0, 0.0]])
    Z = (X - X.mean(axis=0)) / [X[:, 0].std(), 1.0, X[:, 2].std()]
    found = ways(X)
    np.testing.assert_allclose(found["standardised"](X), Z / 2**0.5)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    np.testing.assert_allclose(found["standardised, rows of length 1"](X), Z / length)
    damped = np.sign(Z) * np.abs(Z) ** 0.5
    damped /= np.square(damped).sum(axis=1).mean() ** 0.5
    np.testing.assert_allclose(found["standardised, damped"](X), damped)
    np.testing.assert_allclose(found["standardised"](sp.csr_array(X)), Z / 2**0.5)
    assert "as given" not in found  # of such different scales
    assert "as given" in ways(Z[:, [0, 2]])


def test_signed_values_are_no_counts():
    X, Y = data(400)
    X = sp.csr_array(sp.hstack([X - 2.0 * (X > 0.9), sp.csr_array((400, 60))]))  # few are not 0
    assert list(ways(X)) == ["as given", "rows of length 1"]
    auto = AutoRanker(random_state=0).fit(X, Y)
    assert {trial["weighting"] for trial in auto.trials_} <= set(ways(X))


def test_the_weighting_that_helps_is_found():
    """Labels follow common features, but rare ones have values a hundred times as large."""
    rng = np.random.default_rng(0)
    signal = (rng.random((4000, 10)) < 0.3).astype(float)
    noise = 100.0 * (rng.random((4000, 200)) < 0.01)
    X, Y = sp.csr_array(np.hstack([signal, noise])), sp.csr_array(signal[:, :5] * signal[:, 5:])
    auto = AutoRanker("ranking_loss", random_state=0).fit(X, Y)
    tried = {t["weighting"]: t["score"] for t in auto.trials_[: len(ways(X))]}
    assert min(tried, key=tried.get) != "as given"
    assert auto.weighting_.factors is not None


@pytest.mark.parametrize("criterion", ["micro_f1", "ranking_loss"])
def test_saved_and_loaded_it_answers_alike(criterion, tmp_path):
    X, Y = data(300)
    auto = AutoRanker(criterion, random_state=0).fit(X, Y)
    loaded = persistence.load(persistence.save(auto, tmp_path / "auto.labelrank"))
    np.testing.assert_array_equal(loaded.decision_function(X), auto.decision_function(X))
    assert loaded.trials_ == auto.trials_


def test_features_of_any_scale_meet_the_same_candidates():
    X, Y = data(400)
    plain, large = (
        AutoRanker("ranking_loss", random_state=0).fit(scale * X, Y) for scale in (1.0, 1024.0)
    )
    found = [[trial["score"] for trial in auto.trials_[:3]] for auto in (plain, large)]
    assert found[0] == pytest.approx(found[1], abs=1e-9)


def test_unknown_labels_and_a_handful_of_instances_are_no_obstacle():
    X, Y = data(60)
    unknown = Y.toarray()
    unknown[::5, 0] = np.nan
    assert AutoRanker(random_state=0).fit(X, unknown).predict(X).shape == Y.shape
    few = AutoRanker(random_state=0).fit(X[:4], Y[:4])
    assert few.trials_ == []


@pytest.mark.parametrize("seed", range(3))
def test_it_explains_itself_as_its_choice_does(seed):
    X, Y = data(400)
    auto = AutoRanker(random_state=seed).fit(X, Y)
    scores = auto.decision_function(X[:1])[0]
    assert auto.why(X[:1], 2).margin == pytest.approx(scores[2], abs=1e-4)
    assert auto.why(X[:1], 2, over=0).margin == pytest.approx(scores[2] - scores[0], abs=1e-4)


def test_rare_labels_are_cut_lower_where_that_helps(packages):
    X, Y, _, _ = packages
    auto = AutoRanker("macro_f1", random_state=0).fit(X, Y)
    counts = np.asarray((Y > 0).sum(axis=0)).ravel()
    assert max(trial["tilt"] or 0 for trial in auto.trials_) > 0
    assert auto.threshold_[counts.argmin()] < auto.threshold_[counts.argmax()]
    one_for_all = AutoRanker("ranking_loss", random_state=0).fit(X, Y).threshold_
    assert (one_for_all == one_for_all[0]).all()


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"criterion": "micro_recall"}, InputError, "no cut can be tuned; use one of micro_f1"),
        ({"criterion": "macro_auc_left_out"}, InputError, "no cut can be tuned"),
        ({"criterion": "beauty"}, InputError, "got criterion 'beauty', which is not known"),
        ({"budget": 0}, InputError, "budget"),
        ({"candidates": {}}, InputError, "at least one"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(wrong, error, says):
    X, Y = data(60)
    with pytest.raises(error, match=says):
        AutoRanker(**wrong).fit(X, Y)


def test_the_catalog_has_it():
    assert isinstance(catalog.make("auto", criterion="ranking_loss", budget=5), AutoRanker)


def test_large_label_sets_are_ranked_by_fewer_preferences():
    X, Y = data(60)
    assert "ProSVM C=20" in candidates(X, Y, Goal.of("micro_f1"))
    rows, columns = np.repeat(np.arange(20_000), 3), np.tile([0, 1, 2], 20_000)
    wide = sp.csr_array((np.ones(60_000), (rows, columns)), shape=(20_000, 4000))
    found = candidates(X, wide, Goal.of("micro_f1"))["ProSVM-A C=20"].learner
    assert isinstance(found, ProSVM)
    assert found.approximate


def curved(n=400, seed=0):
    """Labels that no linear learner can tell, nearest neighbours can."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, (X**2).sum(axis=1) < 2, X[:, 2] > 0.3])
    return X, Y.astype(float)


def test_dense_features_of_any_scale_are_learned_as_well():
    X, Y = curved()
    factors, shifts = np.array([1e-4, 1.0, 1e5]), np.array([0.0, 50.0, 1e6])
    plain, scaled = (AutoRanker(random_state=0).fit(Z, Y) for Z in (X, X * factors + shifts))
    agree = plain.predict(X) == scaled.predict(X * factors + shifts)
    assert agree.mean() > 0.99


def test_a_blend_is_kept_where_it_gains_more_than_chance():
    X, Y = curved(600)
    X_test, Y_test = curved(2000, seed=1)
    blend = AutoRanker("average_precision", random_state=0).fit(X, Y)
    one = AutoRanker("average_precision", random_state=0, fast=True).fit(X, Y)
    assert len(one.members_) == 1
    assert sum(member.share for member in blend.members_) == pytest.approx(1.0)
    found, alone = (m.decision_function(X_test) for m in (blend, one))
    loss = metrics.average_precision_loss
    assert loss(Y_test, found) < loss(Y_test, alone) - 0.02


def test_chance_makes_no_blend():
    rng = np.random.default_rng(0)
    Y = sp.csr_array((rng.random((500, 4)) < 0.4).astype(float))
    scores = [rng.normal(size=Y.shape) for _ in range(3)]
    goal = Goal.of("average_precision").on(Y, one_class=False)
    scores.sort(key=lambda one: -goal.judge(Y, one).value)
    assert best_blend(goal, Y, scores, [1.0, 1.0, 1.0], 10.0) is None


def test_members_are_added_only_as_far_as_work_is_left():
    rng = np.random.default_rng(0)
    truth = (rng.random((500, 4)) < 0.4).astype(float)
    Y = sp.csr_array(truth)
    scores = [truth + rng.normal(size=Y.shape) for _ in range(3)]
    goal = Goal.of("average_precision").on(Y, one_class=False)
    scores.sort(key=lambda one: -goal.judge(Y, one).value)
    for affordable, most in ((10.0, 3), (2.5, 2), (1.0, 1)):
        found = best_blend(goal, Y, scores, [1.0, 1.0, 1.0], affordable)
        assert (1 if found is None else len(found.shares)) == most


def test_scores_become_log_odds():
    rng = np.random.default_rng(0)
    odds = rng.normal(-1.0, 2.0, size=(20_000, 2))
    Y = sp.csr_array((rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float))
    line = Line.of(Y, 3.0 * odds + 5.0)
    assert (line.slope, line.offset) == pytest.approx((1 / 3, -5 / 3), rel=0.05)
    line = Line.of(Y, 1 / (1 + np.exp(-odds)), shares=True)
    assert (line.slope, line.offset) == pytest.approx((1.0, 0.0), abs=0.05)


@pytest.mark.parametrize("criterion", ["micro_f1", "ranking_loss"])
def test_hostile_shapes_get_an_answer(criterion):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 5)), (rng.random((40, 3)) < 0.4).astype(float)
    X[:, 2] = 7.0
    Y[:, 0], Y[:, 1] = 1.0, 0.0
    wide = sp.random_array((40, 100_000), density=1e-4, rng=rng, format="csr")
    labels = (rng.random((40, 300)) < 0.01).astype(float)
    for features, relevance in (
        (X, Y), (X, Y[:, 2:]), (X[:3], Y[:3]), (X, labels), (wide, Y), (0 * X, Y), (X, 0 * Y),
    ):  # fmt: skip
        auto = AutoRanker(criterion, random_state=0).fit(features, relevance)
        assert np.isfinite(auto.decision_function(features)).all()
        assert auto.predict(features).shape == relevance.shape


def test_a_model_of_the_version_before_is_read():
    svm = BinaryRelevanceSVM(random_state=0).fit(*data(60))
    parts = {"best_": "SVM", "weighting_": Weighting(), "estimator_": svm, "threshold_": [0.1]}
    new = OLDER["AutoRanker", 1](Contents({"budget": 5.0}, parts))
    assert new.parts["members_"][0].estimator is svm
    assert new.parts.keys() == {"members_", "threshold_", "held_out_"}
    old = Contents({}, {"power": 0.75, "factors": np.ones(3)})
    assert Weighting(**OLDER["Weighting", 1](old).parts).fits(3)


def bent(n=700, seed=0):
    """Labels that no linear learner can tell, one that it can, and one that is always there."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2], np.sin(3 * X[:, 3]), np.ones(n)])
    return X, (Y + 0.2 * random.normal(size=(n, 4)) > 0).astype(int)


@pytest.mark.parametrize("criterion", ["micro_f1", "average_precision"])
def test_what_is_not_linear_is_learned(criterion):
    X, Y = bent()
    auto = AutoRanker(criterion, random_state=0).fit(X[:500], Y[:500])
    linear = AutoRanker(criterion, fast=True, random_state=0).fit(X[:500], Y[:500])
    assert auto.held_out_["chosen"] > linear.held_out_["chosen"] + 0.02
    assert auto.score(X[500:], Y[500:]) > linear.score(X[500:], Y[500:]) + 0.02


@pytest.mark.parametrize("criterion", ["micro_f1", "example_f1", "average_precision"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_reasons_of_whatever_was_chosen_sum_to_the_margin(criterion, form):
    X, Y = bent(300)
    X = form(X * (np.abs(X) > 0.3))
    auto = AutoRanker(criterion, random_state=0).fit(X, Y)
    scores = auto.decision_function(X[[5]])[0]
    for label, over in ((0, None), (2, None), (0, 1), (3, 2)):
        reason = auto.why(X[[5]], label, over)
        margin = scores[label] - (0.0 if over is None else scores[over])
        assert reason.margin == pytest.approx(margin, abs=1e-4)
        total = reason.contributions.sum() + reason.constant
        assert total == pytest.approx(reason.margin, abs=1e-9)


def test_rows_may_get_a_number_of_labels_of_their_own():
    random = np.random.default_rng(0)
    many = random.random(900) < 0.5
    X = np.column_stack([many, random.normal(size=(900, 8))]).astype(float)
    order = np.argsort(np.argsort(-X[:, 1:], axis=1), axis=1)
    Y = (order < np.where(many, 6, 1)[:, None]).astype(int)
    auto = AutoRanker("example_f1", random_state=0).fit(X[:600], Y[:600])
    sizes = auto.predict(X[600:]).sum(axis=1)
    assert sizes[many[600:]].mean() > sizes[~many[600:]].mean() + 3
    assert (auto.predict(X) == (auto.decision_function(X) > 0)).all()


def test_all_kinds_begin_before_a_kind_has_its_second_turn():
    X, Y = bent(300)
    field = candidates(X, sp.csr_array(Y), Goal.of("micro_f1"))
    kinds = [one.kind for one in field.values()]
    n_kinds = len(set(kinds))
    assert {"linear", "order", "forest", "kernel", "boosting"} <= set(kinds)
    assert len(set(kinds[:n_kinds])) == n_kinds


def test_a_row_without_a_feature_gets_the_frequencies_as_its_reason(packages):
    X, Y, _, _ = packages
    auto = AutoRanker(random_state=0).fit(X, Y)
    nothing = sp.csr_array((1, X.shape[1]))
    scores, counts = auto.decision_function(nothing)[0], np.asarray((Y > 0).sum(axis=0)).ravel()
    assert (np.diff(counts[auto.rank(nothing)[0]]) <= 0).all()
    for label, over in ((3, None), (3, 5)):
        reason = auto.why(nothing, label, over)
        assert len(reason.features) == len(reason.contributions) == 0
        margin = scores[label] - (0 if over is None else scores[over])
        assert reason.margin == reason.constant == pytest.approx(margin)


def test_one_large_column_does_not_hide_rare_features():
    random = np.random.default_rng(0)
    words = (random.random((500, 80)) < 0.04).astype(float)
    Y = np.column_stack([words[:, :3].any(axis=1), words[:, 3:9].any(axis=1)]).astype(int)
    codes = random.integers(1, 900, (500, 1)).astype(float)
    X = sp.csr_array(np.hstack([codes, words]))
    auto = AutoRanker(fast=True, random_state=0).fit(X[:400], Y[:400])
    assert auto.weighting_.unit
    assert metrics.f1(Y[400:], auto.predict(X[400:]), average="micro") > 0.9
