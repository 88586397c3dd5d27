"""Promises of learners that learn in pieces."""

import numpy as np
import pytest

from labelrank import BinaryRelevancePerceptron, MulticlassMultilabelPerceptron
from labelrank.errors import InputError
from labelrank.persistence import digest

LEARNERS = [BinaryRelevancePerceptron, MulticlassMultilabelPerceptron]


def problem(n=70, d=9, K=80, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), (random.random((n, K)) < 0.05).astype(int)


def test_random_penalties_do_not_depend_on_the_pieces():
    X, Y = problem()
    options = dict(penalty="random", random_state=1, shuffle=False)
    whole = MulticlassMultilabelPerceptron(**options).fit(X, Y)
    pieces = MulticlassMultilabelPerceptron(**options)
    for i in range(len(X)):
        pieces.partial_fit(X[[i]], Y[[i]])
    np.testing.assert_array_equal(whole.coef_, pieces.coef_)


@pytest.mark.parametrize("make", LEARNERS)
def test_predicting_changes_nothing_and_its_operations_are_counted_when_asked_for(make):
    X, Y = problem()
    learner = make(random_state=0).fit(X, Y)
    before = digest(learner)
    learner.predict(X), learner.rank(X), learner.decision_function(X)
    assert learner.count_operations(X) == len(X) * Y.shape[1]
    assert digest(learner) == before


def test_new_labels_join_as_if_unknown_before():
    X, Y = problem(K=70)
    unknown = Y.astype(float)
    unknown[:40, 60:] = np.nan
    reference = BinaryRelevancePerceptron(shuffle=False).fit(X, unknown)
    learner = BinaryRelevancePerceptron().partial_fit(X[:40], Y[:40, :60])
    learner.partial_fit(X[40:], Y[40:], classes=np.arange(70))
    np.testing.assert_array_equal(reference.coef_, learner.coef_)


@pytest.mark.parametrize("make", LEARNERS)
def test_new_labels_get_the_initial_weights_they_would_have_had(make):
    X, Y = problem(n=4, K=100)
    options = dict(init="random", random_state=2)
    at_once = make(**options).partial_fit(X[: 0 + 1] * 0, Y[:1])
    later = make(**options).partial_fit(X[:1] * 0, Y[:1, :10])
    later.partial_fit(X[:1] * 0, Y[:1], classes=np.arange(100))
    np.testing.assert_array_equal(at_once.coef_, later.coef_)


def test_known_labels_may_not_be_renamed_later():
    X, Y = problem(K=3)
    learner = BinaryRelevancePerceptron().partial_fit(X, Y, classes=["a", "b", "c"])
    with pytest.raises(InputError, match="same order"):
        learner.partial_fit(X, Y, classes=["b", "a", "c", "d"])


def test_a_class_vector_may_be_learned_in_pieces():
    X, _ = problem()
    y = np.where(X[:, 0] > 0, "up", "down")
    learner = BinaryRelevancePerceptron(averaging="averaged")
    for _ in range(5):
        learner.partial_fit(X[:35], y[:35], classes=["down", "up"])
        learner.partial_fit(X[35:], y[35:])
    assert (learner.predict(X) == y).mean() > 0.9
