"""Quick voting against counting all votes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrank import PairwisePerceptron
from labelrank.errors import InputError
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import PairScorer, UpdateRule, quick_voting
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows
from references.pairwise import random_problem, sets_of, votes_of


class Table:
    """A scorer whose margins are given: instance i has margins[i]."""

    def __init__(self, margins):
        self.all, self.n_labels, self.asked = margins, margins.shape[1] - 1, 0

    def duels_of(self, X, instances, labels):
        self.asked += len(labels)
        return self.all[instances, labels].astype(np.float32)

    quick_losses = PairScorer.quick_losses


def found_sets(scores):
    return [[k for k in np.argsort(-row, kind="stable").tolist() if row[k] > 0] for row in scores]


def antisymmetric(seed, n, width, values):
    upper = np.triu(np.random.default_rng(seed).choice(values, (n, width, width)), 1)
    return upper - upper.transpose(0, 2, 1)


@given(seed=st.integers(0, 10**6), width=st.integers(2, 9), ties=st.booleans())
@settings(max_examples=200, deadline=None)
def test_sets_and_their_order_are_those_of_full_voting(seed, width, ties):
    margins = antisymmetric(seed, 20, width, [-1, 0, 1] if ties else [-1, 1])
    votes = votes_of(margins)
    found = quick_voting(Table(margins), as_rows(np.zeros((20, 1))))
    assert found_sets(found.scores) == sets_of(votes)
    inside = votes[:, :-1] > votes[:, -1:]
    exact = (votes[:, :-1] - votes[:, -1:])[inside]
    np.testing.assert_array_equal(found.scores[inside], exact)
    assert (found.evaluations <= width * (width - 1) // 2).all()


def test_transitive_duels_need_few_evaluations():
    strength = np.random.default_rng(0).permutation(101)
    strength = np.where(strength == 101 - 3, 50, strength)
    strength[-1] = 97.5
    margins = np.subtract.outer(strength, strength)[None].astype(float)
    table = Table(margins)
    found = quick_voting(table, as_rows(np.zeros((1, 1))))
    assert found_sets(found.scores) == sets_of(votes_of(margins))
    assert found.evaluations[0] < 101 * 100 / 2 / 10
    # Each label that is asked meets all others, but those that were asked before have met it.
    assert found.evaluations[0] == sum(100 - before for before in range(table.asked))


@pytest.mark.parametrize("calibrated_epochs", [1, 3])
def test_the_dual_gives_the_sets_of_its_full_votes(calibrated_epochs):
    X, Y = random_problem(20, n=120, d=12, n_labels=40)
    scorer = DualPairScorer(12, 40, calibrated=True, ordered=False, rule=UpdateRule())
    scorer.course(as_rows(X), check_relevance(Y))(np.tile(np.arange(120), calibrated_epochs))
    votes, _ = scorer.votes(as_rows(X))
    for n_jobs in (1, 2):
        found = quick_voting(scorer, as_rows(X), n_jobs)
        assert found_sets(found.scores) == sets_of(votes)
    by_rounds = quick_voting(Table(scorer.margins(as_rows(X))), as_rows(X))
    np.testing.assert_array_equal(found.scores, by_rounds.scores)
    np.testing.assert_array_equal(found.evaluations, by_rounds.evaluations)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"tie_break": "margin"}, "tie_break"),
        ({"calibrated": False}, "calibrated"),
        ({"voting": "weighted"}, "voting"),
    ],
)
def test_what_quick_voting_cannot_give_is_refused(wrong, word):
    right = {"inference": "quick", "calibrated": True, "voting": "votes", "tie_break": None}
    X, Y = np.eye(3), np.eye(3, dtype=int)
    PairwisePerceptron(**right).fit(X, Y)
    with pytest.raises(InputError, match=word):
        PairwisePerceptron(**(right | wrong)).fit(X, Y)
