"""Newton steps, where coordinate descent crawls: gaps that are closed, and true."""

import warnings

import numpy as np
import pytest
from test_prosvm import listed

from labelrank import BinaryRelevanceLogistic, BinaryRelevanceSVM, ProSVM, RankSVM

COUPLED = [ProSVM(), ProSVM(approximate=True), RankSVM()]
SEPARATE = [
    BinaryRelevanceSVM(loss="hinge"), BinaryRelevanceSVM(), BinaryRelevanceLogistic(),
]  # fmt: skip


def unscaled(seed=0, n=120, d=8, K=4, unknown=0.0):
    """Features far from 0, and labels that depend on them."""
    random = np.random.default_rng(seed)
    X = random.normal(20.0, 3.0, (n, d))
    Y = ((X - 20.0) @ random.normal(size=(d, K)) / 5 + random.normal(size=(n, K)) > 0.5) * 1.0
    Y[random.random(Y.shape) < unknown] = np.nan
    return X * 1e3, Y


def losses_at(learner, X, Y, W, b):
    """The losses, not weighted by C, summed, or one per label."""
    S = X @ W.T + b
    if isinstance(learner, ProSVM | RankSVM):
        return sum(w * max(0.0, 1 - S[i, a] + S[i, k]) for i, a, k, w in listed(learner, Y))
    m = np.where(Y > 0, S, -S)
    if isinstance(learner, BinaryRelevanceLogistic):
        return np.logaddexp(0, -m).sum(axis=0)
    return (np.maximum(1 - m, 0) ** (2 if learner.loss == "squared_hinge" else 1)).sum(axis=0)


def all_weights(learner):
    W, b = learner.coef_.astype(float), learner.intercept_.astype(float)
    if not isinstance(learner, ProSVM):
        return W, b
    return np.vstack([W, learner.threshold_coef_]), np.append(b, learner.threshold_intercept_)


@pytest.mark.parametrize("learner", COUPLED + SEPARATE)
@pytest.mark.parametrize("C", [2.0**-10, 1.0, 2.0**10])
@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_unscaled_features_are_learned_to_the_tolerance(learner, C):
    X, Y = unscaled()
    learner = learner.set_params(C=C, fit_intercept=True, random_state=0).fit(X, Y)
    assert learner.dual_gap_ <= learner.tol
    assert learner.n_iter_ < learner.max_iter
    W, b = all_weights(learner)
    half = 0.5 * ((W**2).sum(axis=1) + b**2)
    half = half.sum() if isinstance(learner, ProSVM | RankSVM) else half
    objective = half + C * losses_at(learner, X.astype(np.float32).astype(float), Y, W, b)
    np.testing.assert_allclose(learner.objective_, objective, rtol=1e-4)
    at_zero = C * losses_at(learner, X, Y, 0 * W, 0 * b)
    assert np.all(objective <= at_zero * (1 + 1e-9))


@pytest.mark.parametrize("learner", COUPLED + SEPARATE)
def test_threads_change_no_bit_of_the_newton_steps(learner):
    X, Y = unscaled(1)
    one, two = (learner.set_params(C=1.0, random_state=0, n_jobs=n).fit(X, Y).coef_ for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_unknown_labels_take_no_part_in_the_newton_steps():
    X, Y = unscaled(2, unknown=0.2)
    for learner in COUPLED + SEPARATE:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learner.set_params(C=1.0, random_state=0).fit(X, Y)
        hidden = np.isnan(Y[:, 0])
        if learner in SEPARATE:
            alone = learner.set_params(tol=1e-5).fit(X[~hidden], Y[~hidden])
            again = learner.set_params(tol=1e-5).fit(X, Y)
            assert again.objective_[0] == pytest.approx(alone.objective_[0], rel=1e-4)


@pytest.mark.parametrize("learner", COUPLED + SEPARATE)
@pytest.mark.parametrize("max_iter", [1, 2, 7])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_solver_that_stops_early_is_no_worse_than_no_weights_and_its_gap_is_true(
    learner, max_iter
):
    X, Y = unscaled(3)
    learner.set_params(C=1.0, tol=1e-3, fit_intercept=False, random_state=0)
    best = learner.set_params(max_iter=1000).fit(X, Y).objective_
    early = learner.set_params(max_iter=max_iter).fit(X, Y)
    W, b = all_weights(early)
    at_zero = losses_at(early, X, Y, 0 * W, 0 * b)
    assert np.all(early.objective_ <= at_zero * (1 + 1e-6))
    half = 0.5 * (W**2).sum(axis=1)
    half = half.sum() if learner in COUPLED else half
    np.testing.assert_allclose(early.objective_, half + losses_at(early, X, Y, W, b), rtol=1e-4)
    assert np.all((1 - early.dual_gap_) * early.objective_ <= best * (1 + 1e-6))


def test_a_fit_begun_warm_after_newton_steps_claims_no_gap_it_does_not_have():
    X, Y = unscaled(4)
    learner = ProSVM(C=1.0, warm_start=True, random_state=0).fit(X, Y)
    cold = ProSVM(C=2.0, random_state=0).fit(X, Y).objective_
    warm = learner.set_params(C=2.0).fit(X, Y)
    assert warm.dual_gap_ <= 1e-3
    assert warm.objective_ == pytest.approx(cold, rel=2e-3)
