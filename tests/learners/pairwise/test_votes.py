"""Votes, their ties, coupling and reasons, against what they are by definition."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from labelrank import BinaryRelevancePerceptron, PairwiseClassifier, PairwisePerceptron
from labelrank.errors import InputError
from labelrank.learners.pairwise import votes as voting
from labelrank.learners.pairwise.votes import hastie_tibshirani, wu_lin_weng


def problem(seed=0, n=60, d=8, K=9):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), (random.random((n, K)) < 0.3).astype(int)


def test_a_tie_break_orders_equal_votes_only():
    X, Y = problem(1)
    whole = PairwisePerceptron(tie_break=None, calibrated=False, random_state=0).fit(X, Y)
    broken = PairwisePerceptron(calibrated=False, random_state=0).fit(X, Y)
    votes, scores = whole.decision_function(X), broken.decision_function(X)
    np.testing.assert_array_equal(np.floor(scores), votes)
    sums = broken.duels(X).sum(axis=2)
    equal = (votes[:, :, None] == votes[:, None, :]) & (sums[:, :, None] > sums[:, None, :] + 1e-3)
    assert equal.any()
    assert (scores[:, :, None] > scores[:, None, :])[equal].all()


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e8, 1e30])
def test_margins_of_any_size_stay_apart(size):
    sums = np.array([[-3.0, -1.0, 0.0, 1.0, 1.001, 3.0]]) * size
    found = voting.break_ties(np.full((1, 6), 4000.0), sums)
    assert (np.diff(found) >= 0).all()
    assert (found > 4000).all()
    assert (found < 4001).all()
    if size >= 1:
        assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("tie_break", [None, "margin"])
def test_a_score_above_zero_is_a_rank_above_the_threshold(tie_break):
    X, Y = problem(2)
    learner = PairwisePerceptron(tie_break=tie_break, random_state=0).fit(X, Y)
    votes, sums = learner.scorer_.votes(_rows(X))
    key = votes if tie_break is None else votes + 1e-6 * np.sign(sums) * np.log1p(np.abs(sums))
    np.testing.assert_array_equal(learner.predict(X), key[:, :-1] > key[:, -1:])


def _rows(X):
    from labelrank.rows import as_rows

    return as_rows(X)


def test_weighted_votes_are_squashed_margins():
    X, Y = problem(3)
    learner = PairwisePerceptron(voting="weighted", calibrated=False, random_state=0).fit(X, Y)
    squashed = expit(learner.duels(X).astype(float))
    wanted = squashed.sum(axis=2) - 0.5
    np.testing.assert_allclose(learner.decision_function(X), wanted, rtol=1e-6)


@pytest.mark.parametrize("couple", [wu_lin_weng, hastie_tibshirani])
def test_coupling_recovers_the_probabilities_behind_consistent_duels(couple):
    p = np.random.default_rng(0).dirichlet(np.ones(6), size=20)
    duels = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    np.testing.assert_allclose(couple(duels), p, atol=1e-6)


def test_wu_lin_weng_minimises_its_objective():
    random = np.random.default_rng(1)
    r = np.triu(random.uniform(0.1, 0.9, (4, 4)), 1)
    r = r + np.tril(1 - r.T, -1)

    def objective(p):
        return sum((r[j, i] * p[i] - r[i, j] * p[j]) ** 2 for i in range(4) for j in range(4))

    rule = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(objective, np.full(4, 0.25), constraints=rule, tol=1e-14)
    np.testing.assert_allclose(wu_lin_weng(r[None])[0], best.x, atol=1e-5)


def test_hastie_tibshirani_matches_expected_and_given_wins():
    random = np.random.default_rng(2)
    r = np.triu(random.uniform(0.1, 0.9, (5, 5)), 1)
    r = r + np.tril(1 - r.T, -1)
    p = hastie_tibshirani(r[None])[0]
    expected = (p[:, None] / (p[:, None] + p) * (1 - np.eye(5))).sum(axis=1)
    np.testing.assert_allclose(expected, r.sum(axis=1), atol=1e-6)


@pytest.mark.parametrize("coupling", ["wu-lin-weng", "hastie-tibshirani"])
def test_certain_duels_can_be_coupled(coupling):
    X, Y = problem(4)
    learner = PairwisePerceptron(voting="coupling", coupling=coupling, epochs=30, random_state=0)
    scores = learner.fit(100 * X, Y).decision_function(100 * X)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(learner.predict(100 * X), scores > 0)


@pytest.mark.parametrize("averaging", [None, "averaged"])
@pytest.mark.parametrize("over", [None, 4])
def test_reasons_sum_to_the_margin_of_the_duel(averaging, over):
    X, Y = problem(5)
    learner = PairwisePerceptron(averaging=averaging, random_state=0).fit(X, Y)
    reason = learner.why(X[3], 2, over=over)
    assert reason.margin == pytest.approx(reason.contributions.sum(), abs=1e-12)
    wanted = learner.duels(X[[3]])[0, 2, 9 if over is None else over]
    assert reason.margin == pytest.approx(wanted, abs=1e-4)
    assert (np.diff(np.abs(reason.contributions)) <= 0).all()
    assert sorted(reason.names) == sorted(f"x{j}" for j in range(8))


def test_the_reason_of_an_uncalibrated_label_is_the_sum_of_its_duels():
    X, Y = problem(6)
    learner = PairwisePerceptron(calibrated=False, random_state=0).fit(X, Y)
    wanted = learner.duels(X[[0]])[0, 5].sum()
    assert learner.why(X[[0]], 5).margin == pytest.approx(wanted, abs=1e-3)


def test_reasons_of_labels_with_their_own_weights():
    X, Y = problem(7)
    learner = BinaryRelevancePerceptron(random_state=0).fit(X, Y)
    scores = learner.decision_function(X[[1]])[0]
    assert learner.why(X[1], 3).margin == pytest.approx(scores[3], abs=1e-4)
    assert learner.why(X[1], 3, over=0).margin == pytest.approx(scores[3] - scores[0], abs=1e-4)


@pytest.mark.parametrize(("x", "label"), [([[0] * 8] * 2, 0), ([0] * 8, 9), ([0] * 8, "grain")])
def test_a_reason_needs_one_instance_and_a_known_label(x, label):
    X, Y = problem(8)
    with pytest.raises(InputError):
        PairwisePerceptron().fit(X, Y).why(x, label)


def test_a_draw_is_a_vote_for_the_smaller_index():
    chances = np.full((1, 3, 3), 0.5)
    np.testing.assert_array_equal(voting.count_votes(chances), [[2.0, 1.0, 0.0]])


def test_couplings_go_by_their_names():
    named = {"wu-lin-weng": wu_lin_weng, "hastie-tibshirani": hastie_tibshirani}
    assert named.items() <= voting.COUPLINGS.items()


@pytest.mark.parametrize("coupling", voting.COUPLINGS)
def test_one_label_without_duels_is_certain(coupling):
    assert voting.COUPLINGS[coupling](np.full((2, 1, 1), 0.5)).tolist() == [[1.0], [1.0]]
    X, Y = np.eye(3), np.array([[1], [0], [1]])
    options = dict(calibrated=False, voting="coupling", coupling=coupling)
    for learner in (PairwisePerceptron(**options), PairwiseClassifier(**options)):
        assert learner.fit(X, Y).decision_function(X).tolist() == [[0.0]] * 3


def test_price_finds_the_probabilities_behind_consistent_duels():
    p = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    duels = p[:, :, None] / (p[:, :, None] + p[:, None, :])
    np.testing.assert_allclose(voting.price(duels), p, rtol=1e-6)
    uneven = np.array([[[0.5, 0.9, 0.6], [0.1, 0.5, 0.7], [0.4, 0.3, 0.5]]])
    raw = [1 / (1 / 0.9 + 1 / 0.6 - 1), 1 / (1 / 0.1 + 1 / 0.7 - 1), 1 / (1 / 0.4 + 1 / 0.3 - 1)]
    np.testing.assert_allclose(voting.price(uneven)[0], np.array(raw) / np.sum(raw))
