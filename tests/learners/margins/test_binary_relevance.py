"""One-vs-rest SVMs against LIBLINEAR, label by label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from labelrank import BinaryRelevanceSVM
from labelrank.errors import InputError


def problem(seed=0, n=120, d=10, K=6):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    Y = (X @ random.normal(size=(d, K)) + random.normal(size=(n, K)) > 0.5).astype(int)
    return X, Y


def objective(X, y, w, C, loss):
    h = np.maximum(0.0, 1.0 - np.where(y > 0, 1, -1) * (X @ w))
    return 0.5 * w @ w + C * (h**2 if loss == "squared_hinge" else h).sum()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_label_gets_the_solution_of_liblinear(loss, C, intercept):
    X, Y = problem()
    learner = BinaryRelevanceSVM(C=C, loss=loss, fit_intercept=intercept, tol=5e-5, random_state=0)
    learner.set_params(max_iter=20_000).fit(X, Y)
    wide = np.column_stack([X, np.ones(len(X))]) if intercept else X
    ours = np.column_stack([learner.coef_, learner.intercept_]) if intercept else learner.coef_
    for k in range(Y.shape[1]):
        rival = LinearSVC(C=C, loss=loss, fit_intercept=False, dual=True, tol=1e-7,
                          max_iter=100_000, random_state=0).fit(wide, Y[:, k])  # fmt: skip
        best = objective(wide, Y[:, k], rival.coef_[0], C, loss)
        reached = objective(wide, Y[:, k], ours[k].astype(float), C, loss)
        assert reached == pytest.approx(best, rel=1e-4)
        assert learner.objective_[k] == pytest.approx(reached, rel=1e-4)
        if loss == "squared_hinge":  # the hinge problem is flat near its optimum
            np.testing.assert_allclose(ours[k], rival.coef_[0], atol=0.02)


def test_labels_of_many_blocks_are_learned_as_alone():
    X, Y = problem(1, K=400)
    together = BinaryRelevanceSVM(random_state=0, tol=1e-5).fit(X, Y).coef_
    for k in (0, 159, 160, 399):
        alone = BinaryRelevanceSVM(random_state=0, tol=1e-5).fit(X, Y[:, [k]]).coef_[0]
        np.testing.assert_allclose(together[k], alone, atol=0.01)


def test_unknown_labels_are_left_out():
    X, Y = problem(2)
    partly = Y.astype(float)
    partly[:40, 0] = np.nan
    learner = BinaryRelevanceSVM(random_state=0, tol=1e-5).fit(X, partly)
    without = BinaryRelevanceSVM(random_state=0, tol=1e-5).fit(X[40:], Y[40:])
    assert learner.objective_[0] == pytest.approx(without.objective_[0], rel=1e-4)


def test_threads_and_sparse_input_do_not_change_the_bits():
    X, Y = problem(3, K=40)
    one = BinaryRelevanceSVM(random_state=0).fit(X, Y)
    two = BinaryRelevanceSVM(random_state=0, n_jobs=2).fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_the_gap_is_closed_for_every_label():
    X, Y = problem(4)
    for loss in ("hinge", "squared_hinge"):
        learner = BinaryRelevanceSVM(loss=loss, C=5, random_state=0, tol=1e-4).fit(X, Y)
        assert learner.dual_gap_ <= 1e-4


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_constant_labels_zero_rows_and_one_instance_are_solved(loss):
    X, Y = problem(5)
    X[3], Y[:, 0], Y[:, 1] = 0.0, 1, 0
    learner = BinaryRelevanceSVM(loss=loss, random_state=0).fit(X, Y)
    assert np.isfinite(learner.coef_).all()
    assert learner.dual_gap_ <= 1e-3
    single = BinaryRelevanceSVM(loss=loss, C=10).fit([[1.0, 2.0]], [[1, 0]])
    np.testing.assert_array_equal(single.predict([[1.0, 2.0]]), [[1, 0]])


@pytest.mark.parametrize("wrong", [{"C": 0}, {"loss": "log"}, {"tol": -1}, {"max_iter": 0}])
def test_wrong_parameters_are_refused(wrong):
    X, Y = problem()
    with pytest.raises(InputError, match=f"got {next(iter(wrong))}="):
        BinaryRelevanceSVM(**wrong).fit(X, Y)


def test_stopping_early_warns_with_the_gap():
    X, Y = problem()
    with pytest.warns(ConvergenceWarning, match="gap of a label"):
        BinaryRelevanceSVM(C=100, max_iter=1).fit(X, Y)
