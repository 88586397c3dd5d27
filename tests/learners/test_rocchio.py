"""Rocchio against scikit-learn's nearest centroid and against its formula."""

import numpy as np
import pytest
from sklearn.neighbors import NearestCentroid

from labelrank import Rocchio
from labelrank.errors import InputError


def problem(n=120, d=9, K=5, seed=0):
    random = np.random.default_rng(seed)
    return random.poisson(1.0, (n, d)).astype(float), (random.random((n, K)) < 0.3).astype(float)


def unit(X):
    lengths = np.linalg.norm(X, axis=-1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)


def test_without_the_others_it_is_the_nearest_centroid():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 6)), random.choice(["a", "b", "c"], 200)
    ours = Rocchio(gamma=0.0, metric="euclidean", normalize=False).fit(X, y)
    theirs = NearestCentroid().fit(X, y)
    np.testing.assert_allclose(ours.prototypes_, theirs.centroids_)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
def test_prototypes_follow_the_formula(gamma):
    X, Y = problem()
    queries = np.random.default_rng(1).random((5, 9))
    learner = Rocchio(alpha=0.5, beta=2.0, gamma=gamma, queries=queries).fit(X, Y)
    for k in range(5):
        has = Y[:, k] > 0
        mean = 2.0 * unit(X)[has].mean(axis=0) - gamma * unit(X)[~has].mean(axis=0)
        np.testing.assert_allclose(learner.prototypes_[k], mean + 0.5 * unit(queries[k]))
    cosines = unit(X) @ unit(learner.prototypes_).T
    np.testing.assert_allclose(learner.decision_function(X), cosines)


def test_unknown_labels_belong_to_neither_mean():
    X, Y = problem()
    Y[::3, 2] = np.nan
    known = ~np.isnan(Y[:, 2])
    learner = Rocchio().fit(X, Y)
    alone = Rocchio().fit(X[known], Y[known])
    np.testing.assert_allclose(learner.prototypes_[2], alone.prototypes_[2])


def test_new_labels_join_as_if_unknown_before():
    X, Y = problem()
    late = Rocchio().partial_fit(X[:50], Y[:50, :3]).partial_fit(X[50:], Y[50:], np.arange(5))
    Y[:50, 3:] = np.nan
    np.testing.assert_allclose(late.prototypes_, Rocchio().fit(X, Y).prototypes_, atol=1e-15)


def test_labels_without_documents_score_zero():
    X, Y = problem()
    Y[:, 0] = 0
    learner = Rocchio(gamma=0.0).fit(X, Y)
    assert (learner.decision_function(X)[:, 0] == 0).all()


def test_queries_of_another_shape_are_refused():
    X, Y = problem()
    with pytest.raises(InputError, match="one row per label"):
        Rocchio(queries=np.ones((2, 9))).fit(X, Y)


def test_euclidean_scores_are_distances_without_their_sign():
    X, Y = problem()
    learner = Rocchio(metric="euclidean", normalize=False).fit(X, Y)
    distances = np.linalg.norm(X[:, None] - learner.prototypes_, axis=2)
    np.testing.assert_allclose(learner.decision_function(X), -distances)


def test_the_mean_number_of_labels_is_rounded_not_cut_off():
    X, Y = problem()
    Y[:] = 0
    Y[:, 0], Y[: int(0.7 * len(Y)), 1] = 1, 1
    learner = Rocchio(threshold="cardinality").fit(X, Y)
    assert learner.cardinality_ == pytest.approx(1.7)
    assert set(learner.predict(X).sum(axis=1)) == {2}
