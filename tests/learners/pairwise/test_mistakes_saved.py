"""Dual learners and shortlists in model files."""

import numpy as np
import pytest

from labelrank import PairwisePerceptron, persistence
from references.pairwise import random_problem


@pytest.mark.parametrize(
    "options",
    [
        {"representation": "dual"},
        {"representation": "dual", "kernel": "rbf", "gamma": 0.3},
        {"representation": "dual", "inference": "quick", "tie_break": None},
        {"shortlist": ("centroid", 5)},
        {"shortlist": ("knn", 5)},
        {"shortlist": ("br", 5)},
    ],
    ids=str,
)
def test_a_saved_learner_answers_and_learns_on_as_before(options, tmp_path):
    X, Y = random_problem(30, n=80, d=12, n_labels=40)
    learner = PairwisePerceptron(**options).fit(X[:60], Y[:60])
    persistence.save(learner, tmp_path / "model")
    restored = persistence.load(tmp_path / "model")
    for one in (learner, restored):
        one.partial_fit(X[60:], Y[60:])
    ours, theirs = learner.decision_function(X), restored.decision_function(X)
    np.testing.assert_array_equal(ours, theirs)
