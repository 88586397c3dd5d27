"""What `auto` promises: a choice by held-out criterion, in time, told, safe to save."""

import time

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
from labelrank.errors import InputError
from labelrank.learners.auto.race import (
    Goal,
    Race,
    Weighting,
    candidates,
    for_share,
    weightings,
)
from labelrank.learners.base import LabelRanker
from labelrank.text import TextVectorizer

AS_GIVEN = {"as given": Weighting()}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [AutoRanker(random_state=0), AutoRanker("ranking_loss", random_state=0)],
    expected_failed_checks=lambda _: {"check_supervised_y_2d": "one column is a relevance matrix"},
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


def test_what_was_tried_is_told():
    X, Y = data(4500)
    auto = AutoRanker("ranking_loss", candidates={"a": Guess(), "b": Guess(True)}, random_state=0)
    trials = auto.fit(X, Y).trials_
    assert [(trial["name"], trial["n_instances"]) for trial in trials] == [
        ("a", 1500), ("b", 1500), ("a", 3600), ("b", 3600),
    ]  # fmt: skip
    assert trials[0]["score"] < trials[1]["score"] <= 1
    assert all(trial["seconds"] > 0 for trial in trials)


def test_a_trial_that_would_exceed_the_budget_is_not_begun():
    X, Y = data(4500)
    slow = {"first": Guess(seconds=2e-4), "better": Guess(), "third": Guess()}
    auto = AutoRanker(candidates=slow, budget=0.3, random_state=0).fit(X, Y)
    assert auto.best_ == "first"
    assert [trial["name"] for trial in auto.trials_ if trial["score"] is not None] == ["first"]
    assert {trial["name"] for trial in auto.trials_[1:]} == {"first", "better", "third"}


class Compiled(Guess):
    """Remembers how many instances each fit had."""

    fits: list[int] = []

    def _learn(self, X, Y):
        super()._learn(X, Y)
        Compiled.fits.append(X.shape[0])


def test_compiling_is_not_taken_for_learning():
    X, Y = data(4500)
    tried = {"a": Compiled(), "b": Compiled(wrong=True)}
    trials = AutoRanker(candidates=tried, random_state=0).fit(X, Y).trials_
    assert Compiled.fits == [50, *(trial["n_instances"] for trial in trials), 4500]


def test_only_the_best_go_on_with_more_instances():
    X, Y = data(20_000)
    learners = {name: Guess(wrong=name in "cdef") for name in "abcdef"}
    for criterion, sizes in (
        ("ranking_loss", [1500, 6000]),
        ("micro_f1", [3000, 16_000]),
        ("precision_at_1", [3000, 16_000]),
    ):
        race = Race(X, Y, Goal.of(criterion), learners, AS_GIVEN, budget=100.0,
                    random=np.random.RandomState(0))  # fmt: skip
        assert len(list(race.run())) == 6 + 2
        assert race.sizes == sizes
        assert race.best().name in "ab"


def test_a_round_nearly_as_large_as_the_last_is_left_out():
    for n, sizes in ((4000, [3200]), (4500, [3000, 3600]), (600, [480])):
        X, Y = data(n)
        race = Race(X, Y, Goal.of("micro_f1"), {"only": Guess()}, AS_GIVEN, budget=100.0,
                    random=np.random.RandomState(0))  # fmt: skip
        assert race.sizes == sizes


def test_where_few_can_judge_several_parts_do():
    for n, n_parts in ((333, 5), (2000, 3), (6000, 1)):
        X, Y = data(n)
        race = Race(X, Y, Goal.of("micro_f1"), {"only": Guess()}, AS_GIVEN, budget=100.0,
                    random=np.random.RandomState(0))  # fmt: skip
        assert len(race.parts) == n_parts
        assert len(np.unique(race.judges)) == len(race.judges) == n_parts * (n // 5)
        assert all(sorted([*held, *rest]) == list(range(n)) for held, rest in race.parts)
        assert len(list(race.run())) == len(race.sizes)


def test_a_sample_is_learned_with_the_strength_that_suits_it():
    strength = for_share(BinaryRelevanceSVM(C=2.0), 0.25).C
    assert strength == pytest.approx(4.0)
    assert for_share(guess := Guess(), 0.25) is guess


def test_features_are_weighted_as_their_definition_says():
    X = sp.csr_array([[4.0, 0.0, 3.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    rarity = np.log(5 / (np.array([2, 1, 1]) + 1)) + 1
    for name, (power, favour) in {
        "damped": (0.75, 0.0),
        "damped, rare favoured": (0.75, 0.5),
        "damped, common favoured": (0.75, -0.5),
        "common favoured": (1.0, -0.5),
    }.items():
        dense = X.toarray() ** power * rarity**favour
        lengths = [np.linalg.norm(rows, axis=1, keepdims=True) for rows in (X.toarray(), dense)]
        expected = dense * lengths[0] / np.where(lengths[1] > 0, lengths[1], 1)
        way = weightings(X)[name]
        np.testing.assert_allclose(way(X).toarray(), expected, atol=1e-12)
        np.testing.assert_allclose(way(X.toarray()).toarray(), expected, atol=1e-12)
        np.testing.assert_allclose(way(-X).toarray(), -expected, atol=1e-12)


def test_features_too_large_to_square_are_refused_in_one_sentence():
    X, Y = data(60)
    with pytest.raises(InputError, match=r"as large as 1e\+200, whose squares overflow; scale"):
        AutoRanker(random_state=0).fit(1e200 * (X > 0), Y)


@pytest.mark.parametrize("kind", ["dense", "negative"])
def test_what_is_no_count_stays_as_given(kind):
    X, Y = data(400)
    X = X.toarray() if kind == "dense" else X - 2.0 * (X > 0.9)
    assert list(weightings(X)) == ["as given"]
    auto = AutoRanker(random_state=0).fit(X, Y)
    assert {trial["weighting"] for trial in auto.trials_} == {"as given"}


def test_the_weighting_that_helps_is_found():
    """Labels follow common features, but rare ones have values a hundred times as large."""
    rng = np.random.default_rng(0)
    signal = (rng.random((4000, 10)) < 0.3).astype(float)
    noise = 100.0 * (rng.random((4000, 200)) < 0.01)
    X, Y = sp.csr_array(np.hstack([signal, noise])), sp.csr_array(signal[:, :5] * signal[:, 5:])
    auto = AutoRanker("ranking_loss", random_state=0).fit(X, Y)
    tried = {t["weighting"]: t["score"] for t in auto.trials_[: len(weightings(X))]}
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


def test_it_explains_itself_as_its_choice_does():
    X, Y = data(400)
    auto = AutoRanker(random_state=0).fit(X, Y)
    scores = auto.decision_function(X[:1])[0]
    assert auto.why(X[:1], 2).margin == pytest.approx(scores[2], abs=1e-4)
    assert auto.why(X[:1], 2, over=0).margin == pytest.approx(scores[2] - scores[0], abs=1e-4)


def test_rare_labels_are_cut_lower_where_that_helps(packages):
    X, Y, _, _ = packages
    auto = AutoRanker("macro_f1", random_state=0).fit(X, Y)
    counts = np.asarray((Y > 0).sum(axis=0)).ravel()
    assert auto.trials_[-1]["tilt"] > 0
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
    assert "ProSVM C=20" in candidates("order", X, Y)
    rows, columns = np.repeat(np.arange(20_000), 3), np.tile([0, 1, 2], 20_000)
    wide = sp.csr_array((np.ones(60_000), (rows, columns)), shape=(20_000, 4000))
    found = candidates("order", X, wide)
    assert isinstance(found["ProSVM-A C=20"], ProSVM)
    assert found["ProSVM-A C=20"].approximate
