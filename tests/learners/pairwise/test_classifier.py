"""Round robin with any classifier, against its pairs built by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from labelrank import PairwiseClassifier
from labelrank.errors import InputError


def problem(seed=0, n=80, d=5, K=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, K)) + random.normal(size=(n, K)) > 0.7) * 1.0
    return X, Y * random.integers(1, 3, (n, K))


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("calibrated", [True, False])
def test_each_pair_learns_from_the_instances_that_prefer_one(ordered, calibrated):
    X, Y = problem()
    Y[3:6, 1] = np.nan
    learner = PairwiseClassifier(GaussianNB(), ordered=ordered, calibrated=calibrated).fit(X, Y)
    levels = Y if ordered else np.where(np.isnan(Y), np.nan, (Y > 0) * 1.0)
    levels = np.column_stack([levels, np.full(len(Y), 0.5)])
    duels = learner.duels(X)
    assert len(learner.pairs_) == (10 if calibrated else 6)
    for u, v in learner.pairs_:
        side = levels[:, u] - levels[:, v]
        used = (side > 0) | (side < 0)
        alone = GaussianNB().fit(X[used], side[used] > 0)
        np.testing.assert_allclose((duels[:, u, v] + 1) / 2, alone.predict_proba(X)[:, 1])
        np.testing.assert_allclose(duels[:, v, u], -duels[:, u, v])


def test_classes_agree_with_one_vs_one():
    X, y = load_iris(return_X_y=True)
    base = LogisticRegression(max_iter=1000)
    ours = PairwiseClassifier(base, calibrated=False).fit(X, y)
    theirs = OneVsOneClassifier(base).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("coupling", ["wu-lin-weng", "hastie-tibshirani"])
@pytest.mark.parametrize("calibrated", [True, False])
def test_probabilities_of_classes_sum_to_one_and_agree_with_the_choice(coupling, calibrated):
    X, y = load_iris(return_X_y=True)
    learner = PairwiseClassifier(
        GaussianNB(), voting="coupling", coupling=coupling, calibrated=calibrated
    ).fit(X, y)
    probabilities = learner.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), learner.predict(X))
    assert learner.score(X, y) > 0.94


def test_probabilities_of_labels_above_one_half_are_the_set():
    X, Y = problem(1)
    learner = PairwiseClassifier(GaussianNB(), voting="coupling").fit(X, Y)
    np.testing.assert_array_equal(learner.predict_proba(X) > 0.5, learner.predict(X))


def test_probabilities_of_votes_are_only_guessed():
    X, Y = problem(1)
    for learner in (
        PairwiseClassifier(GaussianNB()),
        PairwiseClassifier(LinearSVC(), voting="coupling"),
    ):
        with pytest.warns(UserWarning, match="guess from the scores.*CalibratedRanker"):
            shares = learner.fit(X, Y).predict_proba(X)
        assert np.allclose(shares.sum(axis=1), learner.cardinality_, atol=1e-4)


@pytest.mark.parametrize("base", [LinearSVC(), Perceptron(), LogisticRegression(), None])
@pytest.mark.parametrize("voting", ["votes", "weighted", "coupling"])
def test_any_base_learns_sparse_rows(base, voting):
    X, Y = problem(2)
    learner = PairwiseClassifier(base, voting=voting).fit(sp.csr_array(X), sp.csr_array(Y))
    found = learner.predict(sp.csr_array(X))
    assert sp.issparse(found)
    assert (found.toarray() == (Y > 0)).mean() > 0.75


def test_a_pair_always_decided_one_way_needs_no_classifier():
    X, Y = np.eye(4), np.array([[1, 0], [1, 0], [1, 0], [1, 0]])
    learner = PairwiseClassifier(calibrated=False).fit(X, Y)
    assert learner.estimators_ == [1.0]
    np.testing.assert_array_equal(learner.rank(X), [[0, 1]] * 4)


def test_side_by_side_changes_nothing():
    X, Y = problem(3)
    one = PairwiseClassifier(GaussianNB()).fit(X, Y).decision_function(X)
    two = PairwiseClassifier(GaussianNB(), n_jobs=2).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("wrong", [{"voting": "loud"}, {"coupling": "x"}, {"tie_break": 1}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        PairwiseClassifier(**wrong).fit(*problem())


def test_decision_values_of_a_base_become_chances_by_the_logistic_function():
    X, Y = problem(4)
    learner = PairwiseClassifier(LinearSVC(), voting="weighted").fit(X, Y)
    for (u, v), one in zip(learner.pairs_, learner.estimators_, strict=True):
        chance = (learner.duels(X)[:, u, v] + 1) / 2
        np.testing.assert_allclose(chance, expit(one.decision_function(X)))
