"""Reasons of trees and of kernels: they sum to the margin, and name what decided."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BoostedTrees, ForestRanker, KernelRanker, MLkNN

LEARNERS = [
    ForestRanker(n_estimators=30, random_state=0),
    ForestRanker(n_estimators=30, min_samples_leaf=5, random_state=0),
    BoostedTrees(n_rounds=20, min_samples_leaf=5),
    KernelRanker(random_state=0),
    KernelRanker(n_components=40, gamma=0.05, random_state=0),
]


def data(n=240, d=5, seed=0):
    """Label 0 needs two features together, label 1 one, label 2 none."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.7)
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 2] > 0.2, random.random(n) < 0.5])
    return X, Y.astype(int)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_reasons_sum_to_the_score_and_to_differences_of_scores(learner, form):
    X, Y = data()
    learner.fit(form(X), Y)
    for i in range(8):
        scores = learner.decision_function(form(X[[i]]))[0]
        for label, over in ((0, None), (1, None), (0, 1), (2, 0)):
            reason = learner.why(form(X[[i]]), label, over)
            margin = scores[label] - (0 if over is None else scores[over])
            assert reason.margin == pytest.approx(margin, abs=1e-4)  # kernel features are float32
            total = reason.contributions.sum() + reason.constant
            assert total == pytest.approx(reason.margin, abs=1e-10)
            assert (np.diff(np.abs(reason.contributions)) <= 0).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_feature_that_decides_is_named_first(learner):
    X, Y = data()
    learner.fit(X, Y)
    clear = np.flatnonzero(np.abs(X[:, 2]) > 1)[:20]
    first = [int(learner.why(X[i], 1).features[0]) for i in clear]
    assert np.mean(np.array(first) == 2) > 0.8


def test_a_single_tree_owes_each_step_to_the_feature_asked_for():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    Y = (X[:, [0]] * X[:, [1]]).astype(int)
    tree = ForestRanker(n_estimators=1, max_features=1.0, random_state=0).fit(X, Y)
    reason = tree.why([1.0, 1.0], 0)
    # π = 1/4; the leaves are 0 (of two instances), 0 and 1: the mean of the three is 1/3.
    assert reason.constant == pytest.approx((1 / 4 + 1 / 3) / 2)
    by_feature = dict(zip(reason.features.tolist(), reason.contributions, strict=True))
    assert sorted(by_feature.values()) == pytest.approx([(1 / 2 - 1 / 3) / 2, (1 - 1 / 2) / 2])


def test_the_reasons_of_a_kernel_follow_its_slope():
    X, Y = data()
    learner = KernelRanker(gamma=0.1, random_state=0).fit(X, Y)
    x = X[3]
    steps = (np.arange(4000) + 0.5) / 4000
    way = np.vstack([t * x for t in steps])
    slopes = []
    for j in range(len(x)):
        nudge = np.zeros(len(x))
        nudge[j] = 1e-3
        rise = learner.decision_function(way + nudge) - learner.decision_function(way - nudge)
        slopes.append(rise[:, 0].mean() / 2e-3 * x[j])
    reason = learner.why(x, 0)
    found = dict(zip(reason.features.tolist(), reason.contributions, strict=True))
    np.testing.assert_allclose([found.get(j, 0.0) for j in range(len(x))], slopes, atol=5e-3)


def test_a_kernel_in_front_of_a_learner_without_reasons_has_none():
    X, Y = data()
    assert not hasattr(KernelRanker(MLkNN(n_neighbors=3), random_state=0).fit(X, Y), "why")
