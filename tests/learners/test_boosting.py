"""AdaBoost.MH against rounds computed by hand and against the paper's formulas, written slowly."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrank import AdaBoostMH
from labelrank.errors import InputError
from labelrank.learners.boosting import find_cuts
from labelrank.rows import as_rows

WEAK = ("real", "discrete", "abstaining")


def answers_of(side, signs, D, weak, epsilon):
    """c for one side (a boolean vector), and W+ and W- by label."""
    plus = (D * (signs > 0))[side].sum(axis=0)
    minus = (D * (signs < 0))[side].sum(axis=0)
    if weak == "discrete":
        return np.sign(plus - minus), plus, minus
    return 0.5 * np.log((plus + epsilon) / (minus + epsilon)), plus, minus


def criterion(inside, signs, D, weak):
    """What is minimised: Z without smoothing (for discrete stumps, minus the edge)."""
    (_, p, n), (_, q, m) = (answers_of(s, signs, D, weak, 1.0) for s in (inside, ~inside))
    if weak == "real":
        return 2 * (np.sqrt(p * n) + np.sqrt(q * m)).sum()
    if weak == "discrete":
        return -(np.abs(p - n) + np.abs(q - m)).sum()
    return (2 * np.sqrt(p * n) + q + m).sum()


def all_insides(X):
    """Every cut of every feature; inside is the side away from 0, the one that never abstains."""
    for x in X.T:
        for cut in np.unique(np.append(x, 0.0)):
            inside = x > cut if cut >= 0 else x <= cut
            if inside.any() and not inside.all():
                yield inside


def apply_round(inside, signs, D, weak, epsilon, given):
    """The answers (outside, inside), Z, and the weights after the round.

    Where as much weight is for a label as against it, but for rounding, the sign is that `given`.
    """
    c, plus, minus = (
        np.array(part)
        for part in zip(*(answers_of(s, signs, D, weak, epsilon) for s in (~inside, inside)))
    )
    if weak == "discrete":
        c = np.where(np.abs(plus - minus) < 1e-6, np.sign(given), c)
        edge = -criterion(inside, signs, D, weak)
        c *= 0.5 * np.log((1 + edge + epsilon) / (1 - edge + epsilon))
    if weak == "abstaining":
        c[0] = 0.0
    D = D * np.exp(-signs * c[inside.astype(int)])
    return c, D.sum(), D / D.sum()


def check_against_oracle(X, Y, weak, rounds):
    known = ~np.isnan(Y)
    signs = np.where(known, np.where(Y > 0, 1.0, -1.0), 0.0)
    D = known / known.sum()
    learner = AdaBoostMH(rounds, weak=weak, stumps="threshold", max_thresholds=10**6).fit(X, Y)
    for t in range(learner.n_rounds_):
        value = learner.signs_[t] * X[:, learner.features_[t]]
        inside = value > learner.thresholds_[t]
        best = min((criterion(i, signs, D, weak) for i in all_insides(X)), default=np.inf)
        assert criterion(inside, signs, D, weak) <= best + 1e-4
        given = np.array([learner.outside_[t], learner.inside_[t]])
        c, Z, D = apply_round(inside, signs, D, weak, 1 / Y.size, given)
        np.testing.assert_allclose(learner.inside_[t], c[1], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(learner.outside_[t], c[0], rtol=1e-3, atol=1e-4)
        assert learner.losses_[t] == pytest.approx(Z, rel=1e-4, abs=1e-5)
    return learner


@st.composite
def problems(draw):
    n, d, K = draw(st.integers(2, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    Y = (rng.random((n, K)) < 0.4).astype(float)
    if draw(st.booleans()):
        Y[rng.random((n, K)) < 0.1] = np.nan
    return X, Y


@pytest.mark.parametrize("weak", WEAK)
@given(problem=problems())
@settings(max_examples=25, deadline=None)
def test_every_round_takes_the_best_stump_and_answers_as_the_paper_says(weak, problem):
    check_against_oracle(*problem, weak, rounds=5)


def test_the_first_two_real_rounds_are_those_computed_by_hand():
    """Four documents, words a and b, one label; the word b is in documents 0 and 1.

    Round 1, D = 1/4: cut b has W+ = 2/4, W- = 0 inside and W+ = 1/4, W- = 1/4 outside, so
    Z = 2 sqrt(1/16) = 1/2; cut a (documents 0 and 3) has 1/4, 1/4 and 2/4, 0: as good, but later.
    With epsilon 1/4 the answers are log(3)/2 inside and 0 outside.
    Round 2: documents 0 and 1 weigh 1/4/sqrt(3) each, 2 and 3 1/4: cut a wins.
    """
    words = sp.csr_array(np.array([[1, 1], [1, 0], [0, 0], [0, 1]]))
    relevant = np.array([[1], [1], [1], [0]])
    learner = AdaBoostMH(2).fit(words, relevant)
    assert learner.stumps_ == "presence"
    assert learner.features_.tolist() == [0, 1]
    assert learner.inside_[0, 0] == pytest.approx(np.log(3) / 2)
    assert learner.outside_[0, 0] == pytest.approx(0.0)
    left = 0.5 / np.sqrt(3) + 0.5
    assert learner.losses_[0] == pytest.approx(left)
    light, heavy = 0.25 / np.sqrt(3) / left, 0.25 / left
    assert learner.inside_[1, 0] == pytest.approx(np.log((light + 0.25) / (heavy + 0.25)) / 2)
    assert learner.outside_[1, 0] == pytest.approx(np.log((light + heavy + 0.25) / 0.25) / 2)


def test_a_discrete_round_is_that_computed_by_hand():
    """The edge of the only word is 3/4 - 1/4 = 1/2; alpha = log((1.5 + eps) / (0.5 + eps)) / 2."""
    learner = AdaBoostMH(1, weak="discrete").fit(
        sp.csr_array([[1], [1], [0], [0]]), np.array([[1], [1], [0], [1]])
    )
    assert learner.inside_[0, 0] == pytest.approx(np.log(1.75 / 0.75) / 2)
    assert learner.outside_[0, 0] == 0.0


def test_scores_are_the_sum_of_the_stumps_answers():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(80, 6)), (rng.random((80, 3)) < 0.3).astype(int)
    learner = AdaBoostMH(30).fit(X, Y)
    fresh = rng.normal(size=(20, 6)).astype(np.float32)
    inside = learner.signs_ * fresh[:, learner.features_] > learner.thresholds_
    expected = np.where(inside[:, :, None], learner.inside_, learner.outside_).sum(axis=1)
    np.testing.assert_allclose(learner.decision_function(fresh), expected, atol=1e-9)


@pytest.mark.parametrize("weak", WEAK)
def test_the_product_of_the_losses_bounds_the_training_hamming_loss(weak):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 5))
    Y = (X @ rng.normal(size=(5, 4)) > 0.5).astype(int)
    learner = AdaBoostMH(60, weak=weak).fit(X, Y)
    wrong = (learner.predict(X) != Y).mean()
    assert wrong <= learner.losses_.prod() + 1e-6
    assert learner.losses_.prod() < 0.9


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(3)
    X = sp.random_array((400, 300), density=0.05, rng=rng, format="csr")
    Y = (rng.random((400, 40)) < 0.1).astype(int)
    one, four = (AdaBoostMH(10, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 4))
    np.testing.assert_array_equal(one.features_, four.features_)
    np.testing.assert_array_equal(one.inside_, four.inside_)


def test_dense_and_sparse_forms_of_the_same_data_give_the_same_stumps():
    rng = np.random.default_rng(4)
    X = rng.integers(-2, 3, (50, 6)).astype(float)
    Y = (rng.random((50, 3)) < 0.4).astype(int)
    for stumps in ("presence", "threshold"):
        dense = AdaBoostMH(10, stumps=stumps).fit(X, Y)
        sparse = AdaBoostMH(10, stumps=stumps).fit(sp.csr_array(X), Y)
        np.testing.assert_array_equal(dense.decision_function(X), sparse.decision_function(X))


def test_cuts_stand_between_distinct_values_and_leave_someone_outside():
    cuts = find_cuts(as_rows(np.array([[3.0], [1.0], [-2.0], [3.0], [0.0]])), most=10)
    found = {(float(s), float(t)) for s, t in zip(cuts.sign, cuts.threshold, strict=True)}
    assert found == {(1.0, 2.0), (1.0, 0.5), (-1.0, 1.0)}
    assert len(find_cuts(as_rows(np.array([[1.0], [2.0]])), most=10).runs.end) == 1
    assert len(find_cuts(as_rows(np.array([[1.0], [1.0]])), most=10).runs.end) == 0


def test_many_thresholds_are_thinned_to_equal_shares():
    values = np.arange(1.0, 1001.0)[:, None]
    cuts = find_cuts(as_rows(values), most=10)
    assert len(cuts.runs.end) in (9, 10)
    assert np.diff(cuts.runs.end).max() <= 110


def test_features_without_any_cut_leave_the_shares_of_the_labels():
    learner = AdaBoostMH(5).fit(np.ones((4, 2)), np.array([[1, 0], [1, 0], [1, 1], [0, 0]]))
    assert (learner.thresholds_ == np.inf).all()
    scores = learner.decision_function([[7.0, 7.0]])[0]
    assert scores[0] > 0 > scores[1]


def test_all_relevant_none_relevant_and_one_instance_are_learned():
    for Y in (np.ones((3, 2), int), np.zeros((3, 2), int)):
        learner = AdaBoostMH(3).fit(np.array([[0.0], [1.0], [2.0]]), Y)
        assert (learner.predict([[1.0]]) == Y[0]).all()
    assert AdaBoostMH(3).fit([[1.0]], [[1, 0]]).predict([[1.0]]).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    "wrong", [{"n_rounds": 0}, {"weak": "strong"}, {"stumps": "trees"}, {"smoothing": 0.0}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        AdaBoostMH(**wrong).fit([[1.0], [2.0]], [[1], [0]])


@pytest.mark.parametrize("most", [1, 2, 255])
def test_positive_features_are_cut_however_few_thresholds_are_asked_for(most):
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    learner = AdaBoostMH(n_rounds=3, max_thresholds=most).fit(X, [[0], [0], [1], [1]])
    assert learner.thresholds_[0] == 2.5
    assert learner.predict(X).ravel().tolist() == [0, 0, 1, 1]
