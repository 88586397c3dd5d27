"""`predict_proba` of rankers, of what is around them, and of Tagger."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

from labelrank import (
    AutoRanker,
    BinaryRelevanceLogistic,
    BinaryRelevancePerceptron,
    BinaryRelevanceSVM,
    CalibratedRanker,
    MulticlassMultilabelPerceptron,
    NaiveBayesRanker,
    ProbabilisticClassifierChain,
    Tagger,
    ThresholdedRanker,
    persistence,
)
from labelrank.decoding import falling, guessed, has_probabilities
from labelrank.errors import InputError
from labelrank.metrics import reliability


def problem(n=900, d=12, n_labels=8, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    odds = 1.5 * X @ random.normal(size=(d, n_labels)) / np.sqrt(d) * 2 - 1.5
    return X, (random.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(int)


X, Y = problem()
TRAIN, TEST = slice(600), slice(600, None)


def error(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = reliability(Y[TEST], learner.fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST]))
    return found.expected_calibration_error


@pytest.mark.parametrize(
    "learner",
    [
        CalibratedRanker(BinaryRelevanceSVM(random_state=0), random_state=0),
        CalibratedRanker(MulticlassMultilabelPerceptron(random_state=0), random_state=0),
        ThresholdedRanker(BinaryRelevancePerceptron(random_state=0), random_state=0),
        ThresholdedRanker(
            BinaryRelevancePerceptron(random_state=0), strategy="best", random_state=0
        ),
        AutoRanker(candidates={"svm": BinaryRelevanceSVM(random_state=0)}, random_state=0),
    ],
    ids=["SVM", "MMP", "tuned", "best cut", "auto"],
)
def test_calibrated_probabilities_are_near_the_truth_on_new_instances(learner):
    assert error(learner) < 0.04
    assert learner.has_probabilities


def test_calibration_is_better_than_a_guess():
    svm = BinaryRelevanceSVM(random_state=0)
    assert error(CalibratedRanker(svm, random_state=0)) < 0.6 * error(svm)


@pytest.mark.parametrize("one_class", [False, True])
def test_a_calibrated_ranker_scores_ranks_and_answers_as_the_ranker(one_class):
    target = Y.argmax(axis=1) if one_class else Y
    for plain in (BinaryRelevanceSVM(random_state=0), ProbabilisticClassifierChain()):
        if one_class and isinstance(plain, ProbabilisticClassifierChain):
            continue
        alone = plain.fit(X[:200], target[:200])
        around = CalibratedRanker(plain, random_state=0).fit(X[:200], target[:200])
        np.testing.assert_array_equal(around.decision_function(X), alone.decision_function(X))
        np.testing.assert_array_equal(around.rank(X), alone.rank(X))
        np.testing.assert_array_equal(around.predict(X), alone.predict(X))


def test_probabilities_of_classes_sum_to_1_and_the_largest_is_predicted():
    y = np.array(["a", "b", "c"])[(X[:, :3] + 0.3 * Y[:, :3]).argmax(axis=1)]
    for learner in (CalibratedRanker(BinaryRelevanceSVM(random_state=0), random_state=0),
                    BinaryRelevanceSVM(random_state=0)):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares = learner.fit(X, y).predict_proba(X)
        assert shares.shape == (len(X), 3)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        np.testing.assert_array_equal(learner.classes_[shares.argmax(axis=1)], learner.predict(X))


def test_a_raw_ranker_says_that_it_guesses_and_what_to_do():
    learner = BinaryRelevanceSVM(random_state=0).fit(X, Y)
    assert not learner.has_probabilities
    with pytest.warns(UserWarning, match="BinaryRelevanceSVM are a guess.*CalibratedRanker"):
        shares = learner.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), learner.cardinality_, atol=1e-6)


def test_learners_that_know_probabilities_keep_them_without_a_word():
    counts = np.abs(X).round()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learner in (BinaryRelevanceLogistic(random_state=0), NaiveBayesRanker()):
            learner.fit(counts, Y).predict_proba(counts)
            assert has_probabilities(learner)
        cut = ThresholdedRanker(BinaryRelevanceLogistic(random_state=0), strategy="fixed")
        shares = cut.fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(shares, cut.estimator_.predict_proba(X))


def test_only_fit_calibrates():
    pieces = CalibratedRanker(BinaryRelevancePerceptron(), random_state=0).partial_fit(X, Y)
    assert not pieces.has_probabilities
    learner = CalibratedRanker(BinaryRelevancePerceptron(), random_state=0).fit(X, Y)
    before = learner.calibration_
    assert learner.partial_fit(X, Y).calibration_ is before
    fixed = ThresholdedRanker(BinaryRelevancePerceptron(), random_state=0).fit(X, Y)
    assert fixed.has_probabilities
    assert not fixed.set_params(strategy="cardinality").fit(X, Y).has_probabilities


def test_a_calibrated_ranker_takes_rankers_only_and_enough_instances():
    with pytest.raises(InputError, match="CalibratedClassifierCV"):
        CalibratedRanker(LinearSVC()).fit(X, Y)
    with pytest.raises(InputError, match="too few to tune a threshold or probabilities"):
        CalibratedRanker(BinaryRelevanceSVM()).fit(X[:2], Y[:2])


def test_held_out_criteria_are_kept_and_near_those_of_new_instances():
    learner = ThresholdedRanker(BinaryRelevanceSVM(random_state=0), random_state=0)
    told = learner.fit(X[TRAIN], Y[TRAIN]).held_out_
    assert set(told) >= {"micro_f1", "average_precision", "precision_at_1"}
    assert abs(told["average_precision"] - learner.score(X[TEST], Y[TEST])) < 0.05


def test_a_model_file_keeps_the_calibration(tmp_path):
    learner = CalibratedRanker(BinaryRelevanceSVM(random_state=0), random_state=0).fit(X, Y)
    loaded = persistence.load(persistence.save(learner, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(X), learner.predict_proba(X))


def test_falling_is_the_nearest_row_that_agrees_with_the_order():
    values = np.array([[0.9, 0.1, 0.5], [0.2, 0.8, 0.4]])
    order = np.array([[0, 2, 1], [0, 1, 2]])
    np.testing.assert_allclose(
        falling(values, order), [[0.9, 0.1, 0.5], [0.5, 0.5, 0.4]], atol=1e-12
    )


@pytest.mark.parametrize("expected", [0.0, 0.4, 2.0, 5.0, 9.0])
def test_guesses_sum_to_what_is_expected_whatever_the_scale(expected):
    scores = np.random.default_rng(1).normal(size=(20, 5))
    shares = guessed(scores, expected)
    np.testing.assert_allclose(shares.sum(axis=1), np.clip(expected, 1e-3, 5 - 1e-3), atol=1e-6)
    np.testing.assert_allclose(guessed(1e4 * scores + 9, expected), shares, atol=1e-6)
    np.testing.assert_allclose(guessed(np.ones((1, 5)), 2.0), 0.4, atol=1e-6)


def test_one_label_is_guessed_by_its_own_score():
    assert guessed(np.array([[-1.0], [0.0], [2.0]]), 0.3).ravel().tolist() == pytest.approx(
        [0.2689, 0.5, 0.8808], abs=1e-4
    )


class TestTagger:
    def test_its_columns_are_the_label_names(self):
        texts = ["rye and wheat", "oil and gas", "rye", "gas"] * 5
        tagger = Tagger(NaiveBayesRanker(scores="log_odds")).fit(texts, [["grain"], ["oil"]] * 10)
        shares = tagger.predict_proba(["wheat", "oil"])
        assert shares.shape == (2, 2)
        assert [tagger.label_names_[k] for k in shares.argmax(axis=1)] == ["grain", "oil"]

    def test_lists_of_scikit_learn_become_a_matrix_that_agrees_with_the_ranking(self):
        forest = RandomForestClassifier(10, random_state=0)
        tagger = Tagger(forest).fit(X[TRAIN], sp.csr_array(Y[TRAIN]))
        shares = tagger.predict_proba(X[TEST])
        assert shares.shape == Y[TEST].shape
        for row, ranked in zip(shares, tagger.rank(X[TEST]), strict=True):
            along = [row[tagger.label_names_.index(place.label)] for place in ranked]
            assert (np.diff(along) <= 0).all()

    def test_a_classifier_without_them_is_refused_in_one_sentence(self):
        from sklearn.multiclass import OneVsRestClassifier

        tagger = Tagger(OneVsRestClassifier(LinearSVC())).fit(X[:100], Y[:100])
        with pytest.raises(InputError, match="CalibratedClassifierCV"):
            tagger.predict_proba(X)

    def test_no_documents_have_no_probabilities(self):
        tagger = Tagger(BinaryRelevanceLogistic()).fit(X[:100], Y[:100])
        assert tagger.predict_proba(X[:0]).shape == (0, 8)
