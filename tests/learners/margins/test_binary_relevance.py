"""Linear classifiers of one label each, against LIBLINEAR, label by label."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from labelrank import BinaryRelevanceLogistic, BinaryRelevanceSVM
from labelrank.errors import InputError
from labelrank.kernels.one_vs_rest import HINGE, LOGISTIC, SQUARED, learn_pass
from labelrank.learners.margins.binary_relevance import Costs, Problem
from labelrank.learners.margins.solver import Visits
from labelrank.rows import as_rows, squared_norms

LOSSES = ("hinge", "squared_hinge", "logistic")


def problem(seed=0, n=120, d=10, K=6):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    Y = (X @ random.normal(size=(d, K)) + random.normal(size=(n, K)) > 0.5).astype(int)
    return X, Y


def objective(X, y, w, C, loss):
    margins = np.where(y > 0, 1, -1) * (X @ w)
    h = np.maximum(0.0, 1.0 - margins)
    losses = {"hinge": h, "squared_hinge": h**2, "logistic": np.logaddexp(0.0, -margins)}
    return 0.5 * w @ w + (C * losses[loss]).sum()


def learner_of(loss, **options):
    made = BinaryRelevanceLogistic() if loss == "logistic" else BinaryRelevanceSVM(loss=loss)
    return made.set_params(random_state=0, **options)


def rival_of(loss, **options):
    options |= dict(tol=1e-8, max_iter=100_000, random_state=0)
    if loss == "logistic":
        return LogisticRegression(solver="liblinear", **options)
    return LinearSVC(loss=loss, dual=True, **options)


def stacked(learner):
    return np.column_stack([learner.coef_, learner.intercept_]).astype(float)


def slow_pass(X, Y, W, alpha, C, kind):
    """One pass of dual coordinate descent, a label and an instance at a time, in float64."""
    for i, x in enumerate(X):
        norm = x @ x
        for k in range(Y.shape[1]):
            if np.isnan(Y[i, k]):
                continue
            y, c = (1.0, C[1, k]) if Y[i, k] > 0 else (-1.0, C[0, k])
            score, a = y * (x @ W[:, k]), alpha[i, k]
            if kind == LOGISTIC:
                before = c * expit(a)
                equation = lambda z: z + norm * (c * expit(z) - before) + score  # noqa: B023, E731
                low, high = sorted((a, -score))
                alpha[i, k] = brentq(equation, low - 1e-9, high + 1e-9, xtol=1e-13)
                step = c * expit(alpha[i, k]) - before
            else:
                D, U = (0.5 / c, np.inf) if kind == SQUARED else (0.0, c)
                alpha[i, k] = np.clip(a + (1.0 - score - D * a) / (norm + D), 0.0, U)
                step = alpha[i, k] - a
            W[:, k] += y * step * x


@pytest.mark.parametrize("kind", [HINGE, SQUARED, LOGISTIC])
@pytest.mark.parametrize("scale", [0.2, 1.0, 30.0])
def test_a_pass_of_the_kernel_is_that_of_the_formulas(kind, scale):
    X, Y = problem(7, n=30)
    X, Y = (scale * X).astype(np.float32), Y.astype(float)
    Y[np.random.default_rng(0).random(Y.shape) < 0.1] = np.nan
    costs = Costs.of(sp.csr_array(Y), 2.0, balanced=True)
    W, alpha = np.zeros((10, 16), np.float32), np.zeros((30, 16), np.float32)
    slow_W, slow_alpha = np.zeros((10, 6)), np.zeros((30, 6))
    if kind == LOGISTIC:
        alpha[:], slow_alpha[:] = -3.0, -3.0
    weight, none = np.ones(16, np.float32), np.zeros(16)
    labels = (0, 6, weight, costs.for_kernel(kind, 16))
    rows = as_rows(X)
    problem_ = Problem(rows, squared_norms(rows), as_rows(sp.csr_array(Y)), kind)
    for _ in range(2):
        learn_pass(problem_, labels, Visits.of(0, 30, 30), True, W, alpha, none, none.copy())
        slow_pass(X.astype(float), Y, slow_W, slow_alpha, costs.C, kind)
    known = ~np.isnan(Y)
    np.testing.assert_allclose(alpha[:, :6][known], slow_alpha[known], rtol=0.02, atol=0.02)
    np.testing.assert_allclose(W[:, :6], slow_W, rtol=0.02, atol=0.01 * np.abs(slow_W).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("scaling", [None, 1.0, 3.0])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_every_label_gets_the_solution_of_liblinear(loss, C, scaling, class_weight):
    X, Y = problem()
    learner = learner_of(loss, C=C, class_weight=class_weight, tol=5e-5, max_iter=20_000)
    learner.set_params(fit_intercept=scaling is not None, intercept_scaling=scaling or 1.0)
    learner.fit(X, Y)
    constant = np.full(len(X), scaling or 0.0)
    wide, ours = np.column_stack([X, constant]), stacked(learner) / [*[1.0] * 10, scaling or 1.0]
    for k in range(Y.shape[1]):
        rival = rival_of(loss, C=C, class_weight=class_weight, fit_intercept=False)
        rival.fit(wide, Y[:, k])
        weight = np.ones(len(Y))
        if class_weight:
            weight = len(Y) / (2.0 * np.bincount(Y[:, k])[Y[:, k]])
        best = objective(wide, Y[:, k], rival.coef_[0], C * weight, loss)
        reached = objective(wide, Y[:, k], ours[k], C * weight, loss)
        assert reached <= best * (1 + 1e-4)
        assert reached * (1 - learner.dual_gap_) <= best * (1 + 1e-5)
        assert learner.objective_[k] == pytest.approx(reached, rel=1e-4)
        if loss != "hinge":  # the hinge problem is flat near its optimum
            np.testing.assert_allclose(ours[k], rival.coef_[0], atol=0.02)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_nearly_free_intercept_is_found_on_short_rows(loss):
    """Rows of length 0.1: an appended 1 that weighs like a feature would be far from enough."""
    X, Y = problem(6, n=300)
    X = 0.1 * X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9) + 0.05
    learner = learner_of(loss, fit_intercept=True, intercept_scaling=100.0, tol=1e-4).fit(X, Y)
    assert learner.dual_gap_ <= 1e-4
    for k in range(Y.shape[1]):
        rival = rival_of(loss, intercept_scaling=100.0).fit(X, Y[:, k])
        wide = np.column_stack([X, np.full(len(X), 100.0)])
        theirs = np.append(rival.coef_[0], rival.intercept_ / 100.0)
        best = objective(wide, Y[:, k], theirs, 1.0, loss)
        assert learner.objective_[k] <= best * (1 + 1e-4)


def test_probabilities_are_the_sigmoids_of_the_scores():
    X, Y = problem()
    learner = BinaryRelevanceLogistic(random_state=0).fit(X, Y)
    shares = learner.predict_proba(X)
    np.testing.assert_allclose(shares, expit(learner.decision_function(X)), rtol=1e-6)
    np.testing.assert_array_equal(shares > 0.5, learner.predict(X))
    classes = BinaryRelevanceLogistic(random_state=0).fit(X, Y[:, 0] + Y[:, 1]).predict_proba(X)
    np.testing.assert_allclose(classes.sum(axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scaling", [1.0, 10.0])
def test_the_gap_bounds_how_far_the_objective_is_from_the_best(loss, scaling):
    X, Y = problem(8)
    options = dict(fit_intercept=True, intercept_scaling=scaling)
    best = learner_of(loss, tol=1e-6, max_iter=50_000, **options).fit(X, Y).objective_
    for tol in (0.3, 0.03):
        learner = learner_of(loss, tol=tol, **options).fit(X, Y)
        assert learner.dual_gap_ <= tol
        assert (learner.objective_ * (1 - learner.dual_gap_) <= best * (1 + 1e-5)).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_balanced_labels_of_one_kind_keep_their_C(loss):
    X, Y = problem(9)
    Y[:, 0], Y[:, 1] = 1, 0
    plain, balanced = (learner_of(loss, class_weight=w, tol=1e-5).fit(X, Y)
                       for w in (None, "balanced"))  # fmt: skip
    np.testing.assert_allclose(balanced.coef_[:2], plain.coef_[:2], atol=0.01)
    assert np.abs(balanced.coef_[2:] - plain.coef_[2:]).max() > 0.1


def test_labels_of_many_blocks_are_learned_as_alone():
    X, Y = problem(1, K=400)
    together = BinaryRelevanceSVM(random_state=0, tol=1e-5).fit(X, Y).coef_
    for k in (0, 159, 160, 399):
        alone = BinaryRelevanceSVM(random_state=0, tol=1e-5).fit(X, Y[:, [k]]).coef_[0]
        np.testing.assert_allclose(together[k], alone, atol=0.01)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_unknown_labels_are_left_out(loss, class_weight):
    X, Y = problem(2)
    partly = Y.astype(float)
    partly[:40, 0] = np.nan
    learner = learner_of(loss, tol=1e-5, class_weight=class_weight).fit(X, partly)
    without = learner_of(loss, tol=1e-5, class_weight=class_weight).fit(X[40:], Y[40:])
    assert learner.objective_[0] == pytest.approx(without.objective_[0], rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_and_sparse_input_do_not_change_the_bits(loss):
    X, Y = problem(3, K=40)
    options = dict(fit_intercept=True, intercept_scaling=10.0)
    one = learner_of(loss, **options).fit(X, Y)
    two = learner_of(loss, n_jobs=2, **options).fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_the_gap_is_closed_for_every_label():
    X, Y = problem(4)
    for loss in LOSSES:
        learner = learner_of(loss, C=5, tol=1e-4).fit(X, Y)
        assert learner.dual_gap_ <= 1e-4


@pytest.mark.parametrize("loss", LOSSES)
def test_constant_labels_zero_rows_and_one_instance_are_solved(loss):
    X, Y = problem(5)
    X[3], Y[:, 0], Y[:, 1] = 0.0, 1, 0
    learner = learner_of(loss).fit(X, Y)
    assert np.isfinite(learner.coef_).all()
    assert learner.dual_gap_ <= 1e-3
    single = learner_of(loss, C=10).fit([[1.0, 2.0]], [[1, 0]])
    np.testing.assert_array_equal(single.predict([[1.0, 2.0]]), [[1, 0]])


@pytest.mark.parametrize("wrong", [{"C": 0}, {"loss": "log"}, {"tol": -1}, {"max_iter": 0},
                                   {"class_weight": "even"}, {"intercept_scaling": 0}])  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    X, Y = problem()
    with pytest.raises(InputError, match=f"got {next(iter(wrong))}="):
        BinaryRelevanceSVM(**wrong).fit(X, Y)


def test_stopping_early_warns_with_the_gap():
    X, Y = problem()
    with pytest.warns(ConvergenceWarning, match="gap of a label"):
        BinaryRelevanceSVM(C=100, max_iter=1).fit(X, Y)
