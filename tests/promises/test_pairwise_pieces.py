"""Promises of pairwise perceptrons that learn in pieces."""

import numpy as np
import pytest

from labelrank import PairwisePerceptron
from labelrank.errors import InputError


def problem(n=70, d=9, K=21, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), (random.random((n, K)) < 0.15).astype(float)


def state(learner):
    parts = {"pairs": learner.scorer_.pairs, "thresholds": learner.scorer_.thresholds}
    return {
        f"{name}.{array}": getattr(part, array)
        for name, part in parts.items()
        for array in ("W", "U", "seen")
    }


def assert_same(a, b):
    for name, array in state(a).items():
        np.testing.assert_array_equal(array, state(b)[name])
    assert a.n_operations_["train"] == b.n_operations_["train"]


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("averaging", [None, "averaged"])
@pytest.mark.parametrize("step", ["perceptron", "pa"])
@pytest.mark.parametrize("init", ["zeros", "random"])
def test_seven_pieces_equal_the_whole(calibrated, averaging, step, init):
    X, Y = problem()
    options = dict(
        calibrated=calibrated, averaging=averaging, step=step, init=init, shuffle=False,
        random_state=2, representation="primal",
    )  # fmt: skip
    whole, pieces = PairwisePerceptron(**options).fit(X, Y), PairwisePerceptron(**options)
    for part in np.array_split(np.arange(len(X)), 7):
        pieces.partial_fit(X[part], Y[part])
    assert_same(whole, pieces)
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_change_no_bit(n_jobs):
    X, Y = problem(n=600, K=40)
    options = dict(epochs=2, averaging="averaged", random_state=1, representation="primal")
    one = PairwisePerceptron(**options).fit(X, Y)
    many = PairwisePerceptron(n_jobs=n_jobs, **options).fit(X, Y)
    assert_same(one, many)
    np.testing.assert_array_equal(one.decision_function(X), many.decision_function(X))


@pytest.mark.parametrize("init", ["zeros", "random"])
@pytest.mark.parametrize("before", [3, 4, 17])
def test_labels_declared_later_are_as_if_known_and_unmentioned_before(init, before):
    X, Y = problem(K=21)
    Y[:30, before:] = np.nan
    options = dict(init=init, averaging="averaged", random_state=0, representation="primal")
    known = PairwisePerceptron(**options).partial_fit(X, Y)
    later = PairwisePerceptron(**options).partial_fit(X[:30], Y[:30, :before])
    later.partial_fit(X[30:], Y[30:], classes=np.arange(21))
    assert_same(known, later)


def test_a_label_never_seen_is_ranked_last():
    X, Y = problem()
    X, Y = np.column_stack([X, np.ones(len(X))]), np.column_stack([Y, np.zeros(len(Y))])
    learner = PairwisePerceptron(epochs=20, averaging="averaged", random_state=0).fit(X, Y)
    assert (learner.rank(X)[:, -1] == 21).mean() > 0.9


def test_rows_without_any_known_preference_change_nothing():
    X, Y = problem()
    learner = PairwisePerceptron(representation="primal").partial_fit(X, Y)
    before = {name: array.copy() for name, array in state(learner).items()}
    learner.partial_fit(X, np.full_like(Y, np.nan))
    for name, array in state(learner).items():
        np.testing.assert_array_equal(array, before[name])


def test_prediction_changes_no_weight():
    X, Y = problem()
    learner = PairwisePerceptron(representation="primal", random_state=0).fit(X, Y)
    before = {name: array.copy() for name, array in state(learner).items()}
    first = learner.decision_function(X)
    learner.predict(X), learner.rank(X), learner.duels(X), learner.why(X[0], 0)
    np.testing.assert_array_equal(learner.decision_function(X), first)
    for name, array in state(learner).items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    "wrong",
    [
        {"voting": "loud"}, {"tie_break": "coin"}, {"step": "giant"}, {"epochs": 0}, {"C": 0},
        {"margin": -1}, {"init": "ones"}, {"averaging": "mode"}, {"inference": "quick"},
        {"kernel": "rbf", "representation": "primal"}, {"coupling": "none"},
        {"calibrated": False, "threshold": "half"}, {"representation": "cubic"},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError):
        PairwisePerceptron(**wrong).fit(*problem())
