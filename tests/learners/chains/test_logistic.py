"""The logistic link against LogisticRegression, and its kernel against plain sums."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from labelrank.kernels.logistic import loss_and_residual
from labelrank.learners.chains import logistic as logistic_link
from labelrank.learners.chains.logistic import LogisticLink, Problem, SharedDesign


def slow(scores, code):
    """Loss and derivative of one link on one instance."""
    if code < 0:
        return 0.0, np.zeros_like(scores)
    full = np.array([0.0, scores[0]]) if len(scores) == 1 else scores
    proba = np.exp(full) / np.exp(full).sum()
    residual = proba - (np.arange(len(full)) == code)
    return -np.log(proba[code]), residual[1:] if len(scores) == 1 else residual


def test_the_kernel_is_the_cross_entropy_and_its_derivative():
    rng = np.random.default_rng(0)
    width, target = np.array([1, 3, 1, 4]), np.array([0, 1, 2, 3])
    first = np.array([0, 1, 4, 5])
    S = rng.normal(scale=3, size=(20, 9))
    codes = np.column_stack([rng.integers(-1, size, 20) for size in (2, 3, 2, 4)]).astype(np.int32)
    R, loss = np.empty_like(S), np.empty(4)
    loss_and_residual(S, codes, first, width, target, R, loss)
    for j in range(4):
        span = slice(first[j], first[j] + width[j])
        expected = [slow(S[i, span], codes[i, target[j]]) for i in range(20)]
        assert loss[j] == pytest.approx(sum(one for one, _ in expected))
        np.testing.assert_allclose(R[:, span], [r for _, r in expected], atol=1e-14)


def data(n, d, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 5, size=d) + rng.normal(size=d)
    score = X @ rng.normal(size=(d, n_classes)) + rng.normal(scale=2, size=(n, n_classes))
    return X, score.argmax(axis=1)


def objective(model, X, y, C):
    log = np.log(np.maximum(model.predict_proba(X)[np.arange(len(y)), y], 1e-300))
    return -C * log.sum() + 0.5 * (model.coef_**2).sum()


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize(("n", "d", "n_classes"), [(200, 5, 2), (40, 90, 2), (150, 6, 4)])
def test_the_solution_is_that_of_logistic_regression(n, d, n_classes, C):
    X, y = data(n, d, n_classes)
    ours = LogisticLink(C, tol=1e-9, max_iter=2000).fit(X, y)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=20000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4 * np.abs(theirs.coef_).max())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_at_the_usual_tolerance_the_objective_is_as_low_as_logistic_regressions(n_classes):
    X, y = data(300, 30, n_classes)
    ours, theirs = LogisticLink().fit(X, y), LogisticRegression(max_iter=1000).fit(X, y)
    assert objective(ours, X, y, 1.0) <= objective(theirs, X, y, 1.0) * (1 + 1e-4)


def test_sparse_large_and_dense_small_designs_have_one_solution(monkeypatch):
    X, y = data(120, 30, 2)
    X = np.where(np.abs(X) > 2, X, 0.0)
    rotated = LogisticLink(tol=1e-9, max_iter=5000).fit(X, y)
    monkeypatch.setattr(logistic_link, "_LARGEST_FACTOR", 10)
    for form in (sp.csr_array(X), X):
        plain = LogisticLink(tol=1e-9, max_iter=5000).fit(form, y)
        np.testing.assert_allclose(plain.coef_, rotated.coef_, atol=1e-5)
        np.testing.assert_allclose(plain.intercept_, rotated.intercept_, atol=1e-5)


def test_links_solved_together_are_those_solved_alone():
    X, y = data(150, 8, 4)
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, size=(150, 3)).astype(float)
    codes = np.column_stack([labels, y]).astype(np.int32)
    settings = LogisticLink(tol=1e-9, max_iter=3000)
    problems = [
        Problem(0, 2, np.array([1, 2])),
        Problem(3, 4, np.array([0, 2])),
        Problem(1, 2, np.array([], dtype=int)),
    ]
    together = SharedDesign(X, labels, codes, settings).solve(problems, n_jobs=2)
    for link, (target, _, features) in zip(together, problems, strict=True):
        alone = LogisticLink(tol=1e-9, max_iter=3000)
        alone.fit(np.hstack([X, labels[:, features]]), codes[:, target])
        np.testing.assert_allclose(link.coef_, alone.coef_, atol=1e-6)


def test_instances_with_unknown_label_do_not_move_their_link():
    X, y = data(100, 5, 2)
    codes = y.astype(np.int32)[:, None].copy()
    codes[::3] = -1
    settings = LogisticLink(tol=1e-9, max_iter=3000)
    link = SharedDesign(X, np.empty((100, 0)), codes, settings).solve([Problem(0, 2, np.arange(0))])
    known = codes[:, 0] >= 0
    alone = LogisticLink(tol=1e-9, max_iter=3000).fit(X[known], y[known])
    np.testing.assert_allclose(link[0].coef_, alone.coef_, atol=1e-5)
