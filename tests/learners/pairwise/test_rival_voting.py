"""Scores by the threshold label and the hardest rival, against the same written for reading."""

import numpy as np
import pytest

from labelrank import PairwisePerceptron
from labelrank.errors import InputError
from labelrank.learners.pairwise import votes as voting


def by_definition(margins):
    """One instance: its duel with Θ, and the hardest one with a label that beats Θ."""
    K = len(margins) - 1
    scores = np.empty(K)
    for k in range(K):
        rivals = [v for v in range(K) if v != k and margins[v, K] >= 0]
        hardest = min([voting.UNOPPOSED, *(margins[k, v] for v in rivals)])
        scores[k] = margins[k, K] + voting.RIVAL_WEIGHT * hardest
    return scores


@pytest.mark.parametrize(
    ("representation", "step"), [("primal", "pa"), ("primal", "perceptron"), ("dual", "perceptron")]
)
def test_scores_are_those_of_the_definition(representation, step):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(60, 8)), (random.random((60, 9)) < 0.3).astype(int)
    learner = PairwisePerceptron(
        voting="rivals", step=step, representation=representation, random_state=0
    ).fit(X, Y)
    expected = [by_definition(margins) for margins in learner.duels(X).astype(float)]
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(learner.predict(X), learner.decision_function(X) > 0)


def test_a_rival_decides_between_labels_alike_to_the_threshold_label():
    margins = np.zeros((1, 3, 3))
    margins[0, :2, 2], margins[0, 2, :2] = 0.3, -0.3
    margins[0, 0, 1], margins[0, 1, 0] = -0.2, 0.2
    scores = voting.rival_scores(margins)[0]
    assert scores[1] > scores[0] > scores[2] == 0.0


def test_labels_nobody_thinks_relevant_have_no_say():
    margins = np.zeros((1, 3, 3))
    margins[0, :2, 2], margins[0, 2, :2] = (0.3, -0.3), (-0.3, 0.3)
    lost = margins.copy()
    lost[0, 0, 1], lost[0, 1, 0] = -5.0, 5.0
    assert voting.rival_scores(margins)[0, 0] == voting.rival_scores(lost)[0, 0]


def test_rivals_need_the_threshold_label():
    with pytest.raises(InputError, match="calibrated=True"):
        PairwisePerceptron(voting="rivals", calibrated=False).fit(np.eye(2), np.eye(2))
