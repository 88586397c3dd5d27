"""Scores to probabilities: the link is rising, the same for all labels, and as good as promised."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from labelrank.learners.held_out.calibration import LINKS, Calibration, Groups
from labelrank.metrics import reliability

RANDOM = np.random.default_rng(5)


def drawn(true_link, n=4000, n_labels=5):
    scores = RANDOM.normal(-1.0, 2.0, (n, n_labels))
    return (RANDOM.random(scores.shape) < true_link(scores)).astype(float), scores


@pytest.mark.parametrize(
    "true_link",
    [
        lambda s: expit(1.5 * s - 1.0),
        lambda s: expit(np.where(s < 0, 0.4, 3.0) * s),
        lambda s: np.select([s < -2, s < 1], [0.02, 0.3], 0.7),
    ],
    ids=["sigmoid", "two slopes", "steps"],
)
def test_the_probabilities_are_the_true_ones(true_link):
    calibration = Calibration.fit(*drawn(true_link))
    Y, scores = drawn(true_link)
    found = reliability(Y, calibration.probabilities(scores))
    assert found.expected_calibration_error < 0.015
    assert np.abs(calibration.probabilities(scores) - true_link(scores)).mean() < 0.03


def test_the_kind_is_the_one_with_the_least_held_out_loss():
    steps = drawn(lambda s: np.where(s < 0.5, 0.1, 0.9), n=6000)
    assert Calibration.fit(*steps).kind == "isotonic"
    assert Calibration.fit(*drawn(lambda s: expit(2.0 * s), n=60)).kind != "isotonic"


def test_platt_is_the_logistic_regression_of_smoothed_targets():
    Y, scores = drawn(expit, n=300)
    n_hits, n_misses = Y.sum(), (1 - Y).sum()
    high, low = (n_hits + 1) / (n_hits + 2), 1 / (n_misses + 2)
    target = np.where(Y > 0, high, low).ravel()
    twice = np.tile(scores.ravel(), 2)[:, None], np.repeat([1, 0], target.size)
    weights = np.concatenate([target, 1 - target])
    oracle = LogisticRegression(C=1e6, tol=1e-10, max_iter=1000).fit(*twice, weights)
    found = LINKS["platt"](Groups.of(Y, scores)).probabilities(scores)
    assert np.abs(found.ravel() - oracle.predict_proba(scores.reshape(-1, 1))[:, 1]).max() < 1e-3


def test_isotonic_is_that_of_scikit_learn_at_the_scores_it_learned():
    Y, scores = drawn(expit, n=200)
    found = LINKS["isotonic"](Groups.of(Y, scores)).probabilities(scores).ravel()
    oracle = IsotonicRegression().fit_transform(scores.ravel(), Y.ravel())
    assert np.abs(found - oracle).max() < 0.01  # smoothed targets: never quite 0 or 1
    assert 0 < found.min() < found.max() < 1


def test_beta_is_at_least_as_good_as_platt_on_what_it_learned():
    groups = Groups.of(*drawn(lambda s: expit(np.where(s < 0, 0.3, 4.0) * s)))
    assert groups.log_loss(LINKS["beta"](groups)) < 0.995 * groups.log_loss(LINKS["platt"](groups))


def test_unknown_relevance_is_ignored():
    Y, scores = drawn(expit, n=400)
    unknown = RANDOM.random(Y.shape) < 0.5
    strange = np.where(unknown, -50.0, scores)  # at which a relevant entry would matter much
    with_gaps = Calibration.fit(np.where(unknown, np.nan, Y), strange)
    assert with_gaps.scores[0] > -20
    sparse = Calibration.fit(sp.csr_array(np.where(unknown, np.nan, Y)), strange)
    assert np.array_equal(sparse.shares, with_gaps.shares)


def test_grades_count_as_relevant():
    Y, scores = drawn(expit, n=100)
    assert np.array_equal(
        Calibration.fit(Y, scores).shares, Calibration.fit(3.5 * Y, scores).shares
    )


finite = st.floats(-1e6, 1e6, width=64)


@settings(deadline=None, max_examples=60)
@given(
    scores=arrays(np.float64, (12, 3), elements=finite),
    Y=arrays(np.float64, (12, 3), elements=st.sampled_from([0.0, 1.0, np.nan])),
    asked=arrays(np.float64, (6, 3), elements=finite),
)
def test_every_link_rises_and_stays_within_0_and_1(scores, Y, asked):
    groups = Groups.of(Y, scores)
    near = np.concatenate([asked.ravel(), scores.ravel(), np.nextafter(scores.ravel(), np.inf)])
    for fit in LINKS.values():
        link = fit(groups)
        link.after_loading()
        found = link.probabilities(np.sort(near)[None])
        assert (np.diff(found) >= 0).all()
        assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("Y", [np.zeros((6, 3)), np.ones((6, 3)), np.full((6, 3), np.nan)])
def test_without_two_kinds_of_entries_there_is_one_probability(Y):
    found = Calibration.fit(Y, RANDOM.normal(size=Y.shape)).probabilities([[-9.0, 9.0]])
    expected = {0.0: 1 / 20, 1.0: 19 / 20}.get(Y[0, 0], 0.5)
    assert np.allclose(found, expected)


@pytest.mark.parametrize("scores", [np.ones((5, 4)), np.zeros((5, 4)), np.full((5, 4), -np.inf)])
def test_scores_that_tell_nothing_give_the_share_of_relevant_entries(scores):
    Y = np.zeros((5, 4))
    Y[:, 0] = 1
    found = Calibration.fit(Y, scores).probabilities(scores)
    assert np.allclose(found, 6 / 22, atol=0.03)


def test_scores_against_the_truth_are_not_turned_round():
    Y, scores = drawn(lambda s: expit(-2 * s), n=500)
    found = Calibration.fit(Y, scores).probabilities(np.array([[-3.0, 0.0, 3.0]]))
    assert np.ptp(found) < 0.02


def test_the_order_of_rows_and_the_number_of_calls_change_nothing():
    Y, scores = drawn(expit, n=800)
    first, second = Calibration.fit(Y, scores), Calibration.fit(Y.copy(), np.asfortranarray(scores))
    assert first.kind == second.kind
    assert np.array_equal(first.shares, second.shares)


def test_of_many_scores_some_are_drawn_and_the_link_is_nearly_that_of_all():
    Y, scores = drawn(lambda s: expit(2 * s), n=30_000, n_labels=100)
    calibration = Calibration.fit(Y, scores)
    asked = np.linspace(-6, 6, 50)[None]
    assert np.abs(calibration.probabilities(asked) - expit(2 * asked)).max() < 0.01


def test_probabilities_of_classes_sum_to_1_and_follow_the_true_ones():
    scores = RANDOM.normal(size=(5000, 4))
    chances = np.exp(1.7 * scores)
    chances /= chances.sum(axis=1, keepdims=True)
    drawn_classes = (chances.cumsum(axis=1) < RANDOM.random((5000, 1))).sum(axis=1)
    calibration = Calibration.fit(np.eye(4)[drawn_classes], scores, one_class=True)
    found = calibration.probabilities(scores)
    assert calibration.slope == pytest.approx(1.7, abs=0.1)
    assert np.allclose(found.sum(axis=1), 1)


def test_classes_that_are_told_apart_perfectly_are_not_given_with_certainty():
    scores = 5 * np.eye(3)[RANDOM.integers(3, size=90)]
    found = Calibration.fit(scores > 0, scores, one_class=True).probabilities(scores)
    assert 0.9 < found.max() < 0.999


def test_knots_that_do_not_rise_are_refused():
    good = Calibration("platt", np.array([0.0, 1.0]), np.array([0.2, 0.3]))
    good.after_loading()
    for wrong in (
        good._replace(kind="magic"),
        good._replace(kind="softmax"),
        good._replace(scores=np.array([1.0, 1.0])),
        good._replace(shares=np.array([0.3, 0.2])),
        good._replace(shares=np.array([0.3, 1.2])),
        good._replace(scores=np.zeros(0), shares=np.zeros(0)),
    ):
        with pytest.raises(ValueError, match="calibration"):
            wrong.after_loading()
