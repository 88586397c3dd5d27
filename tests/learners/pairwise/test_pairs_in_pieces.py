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
