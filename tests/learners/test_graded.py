"""Graded classification against its binary problems, solved one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from labelrank import BinaryRelevancePerceptron, GradedClassifier, MulticlassMultilabelPerceptron
from labelrank.errors import InputError
from labelrank.learners.graded import places


def graded_data(seed=0, n=120, d=6, K=4, n_grades=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    raw = X @ rng.normal(size=(d, K)) + 0.3 * rng.normal(size=(n, K))
    return X, np.digitize(raw, np.linspace(0, 2, n_grades)).astype(float)


def reached_one_by_one(base, X, Y, queries):
    """P(grade >= level) by one classifier a label and level, made to fall along the levels."""
    levels = np.unique(Y[Y > 0])
    chances = np.empty((len(queries), len(levels), Y.shape[1]))
    for m, level in enumerate(levels):
        for k in range(Y.shape[1]):
            known = ~np.isnan(Y[:, k])
            target = (Y[known, k] >= level).astype(int)
            if target.min() == target.max():
                chances[:, m, k] = target[0]
            else:
                chances[:, m, k] = base().fit(X[known], target).predict_proba(queries)[:, 1]
    return np.minimum.accumulate(chances, axis=1)


@pytest.mark.parametrize("unknown", [False, True])
def test_levels_are_those_of_one_classifier_a_label_and_level(unknown):
    X, Y = graded_data()
    if unknown:
        Y[np.random.default_rng(1).random(Y.shape) < 0.1] = np.nan
    learner = GradedClassifier(GaussianNB()).fit(X, Y)
    expected = reached_one_by_one(GaussianNB, X, Y, X[:20])
    np.testing.assert_allclose(learner.predict_levels_proba(X[:20]), expected, rtol=1e-12)
    median = (expected > 0.5).sum(axis=1)
    np.testing.assert_array_equal(learner.predict_grades(X[:20]), np.array([0, 1, 2, 3.0])[median])


def test_a_label_that_no_instance_has_is_never_predicted():
    X, Y = graded_data()
    Y[:, 2] = 0
    learner = GradedClassifier(GaussianNB()).fit(X, Y)
    assert (learner.predict_grades(X)[:, 2] == 0).all()
    assert (learner.decision_function(X)[:, 2] == -0.5).all()


def test_the_default_is_logistic_regression_of_all_problems_at_once():
    X, Y = graded_data(2)
    expected = reached_one_by_one(lambda: LogisticRegression(tol=1e-8, max_iter=1000), X, Y, X)
    np.testing.assert_allclose(
        GradedClassifier().fit(X, Y).predict_levels_proba(X), expected, atol=2e-3
    )


@pytest.mark.parametrize(
    "base", [None, GaussianNB(), LinearSVC(), BinaryRelevancePerceptron(epochs=5, random_state=0)]
)
def test_the_set_is_a_prefix_of_the_ranking_and_holds_what_has_a_grade(base):
    X, Y = graded_data(3)
    learner = GradedClassifier(base).fit(X, Y)
    scores, members = learner.decision_function(X), learner.predict(X)
    np.testing.assert_array_equal(members, scores > 0)
    np.testing.assert_array_equal(members, learner.predict_grades(X) > 0)
    sorted_members = np.take_along_axis(members, learner.rank(X), axis=1)
    assert (np.diff(sorted_members, axis=1) <= 0).all()


def test_relevant_labels_are_ranked_by_their_expected_level():
    X, Y = graded_data(4)
    learner = GradedClassifier().fit(X, Y)
    expected = learner.predict_levels_proba(X).sum(axis=1)
    scores, members = learner.decision_function(X), learner.predict(X) > 0
    np.testing.assert_allclose(scores[members] + 0.5, expected[members])


def test_grades_on_a_scale_become_levels_of_equal_size():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    Y = np.exp(X)
    with pytest.raises(InputError, match=r"distinct grades.*levels='ranks' or a number"):
        GradedClassifier().fit(X, Y)
    learner = GradedClassifier(levels=3).fit(X, Y)
    counts = np.histogram(Y, bins=[*learner.levels_, np.inf])[0]
    assert counts.tolist() == [300, 300, 300]
    assert learner.grades_[1] == pytest.approx(np.sort(Y.ravel())[:300].mean())


def test_ranks_are_the_levels_of_the_pro_loss_paper():
    """The i-th relevant label is at the i-th level of max |R| + 1; irrelevant ones at the last."""
    Y = sp.csr_array([[5.0, 0.0, 7.0, 6.0], [0.0, 2.0, 0.0, 0.0], [3.0, 3.0, 0.0, 1.0]])
    assert places(Y).toarray().tolist() == [[1, 0, 3, 2], [0, 3, 0, 0], [3, 3, 0, 1]]
    unknown = Y.copy()
    unknown.data[0] = np.nan
    found = places(unknown).toarray()[0]
    assert np.isnan(found[0])
    assert found[1:].tolist() == [0, 3, 2]
    X, graded = graded_data(6)
    by_rank = GradedClassifier(levels="ranks").fit(X, graded * 10)
    assert by_rank.levels_.max() == (graded > 0).sum(axis=1).max()


def test_nothing_relevant_all_relevant_and_sparse_answers():
    X = np.arange(4.0)[:, None]
    assert not GradedClassifier().fit(X, np.zeros((4, 2))).predict(X).any()
    learner = GradedClassifier().fit(X, sp.csr_array(np.full((4, 2), 3.0)))
    assert learner.predict(X).toarray().all()
    assert (learner.predict_grades(X).toarray() == 3).all()


def test_rankers_without_a_threshold_and_wrong_levels_are_refused():
    X, Y = graded_data(7)
    with pytest.raises(InputError, match="ThresholdedRanker"):
        GradedClassifier(MulticlassMultilabelPerceptron()).fit(X, Y)
    for levels in ("scale", 0):
        with pytest.raises(InputError, match="levels"):
            GradedClassifier(levels=levels).fit(X, Y)


@pytest.mark.parametrize(
    ("levels", "advice"),
    [("grades", "'ranks' or a number"), ("ranks", "levels=a number"), (200, "a smaller number")],
)
def test_too_many_levels_come_with_advice_that_is_not_the_setting_in_use(levels, advice):
    Y = np.arange(1.0, 604.0).reshape(3, 201)[:, ::-1]
    with pytest.raises(InputError, match=advice):
        GradedClassifier(levels=levels).fit(np.eye(3), Y)
