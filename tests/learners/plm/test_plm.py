"""The preference learning machine against the same mathematics written for reading."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import PreferenceLearningMachine, preferences

GRAPHS = ["all", "per_label", "per_pair"]


def integers(n=30, d=6, K=5, seed=0):
    """Small integers: sums are exact in any precision and order."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n, d)).astype(float)
    Y = (random.random((n, K)) < 0.4).astype(float)
    Y[random.random(Y.shape) < 0.1] = np.nan
    return X, Y


def graphs_of(Y, graph):
    """The preference graphs of each instance: its arcs, as the learner declares them, grouped."""
    listed = preferences.arcs(Y, PreferenceLearningMachine.preferences)
    assert (listed.weight == 1).all()
    for i in range(len(Y)):
        arcs = [(a, b) for row, a, b, _ in zip(*listed) if row == i]
        key = {"all": lambda arc: 0, "per_label": lambda arc: arc[0], "per_pair": None}[graph]
        yield [list(group) for _, group in itertools.groupby(arcs, key)]


def oracle(X, Y, graph, epochs):
    """Last weights, and their mean after each graph."""
    W, past = np.zeros((Y.shape[1], X.shape[1])), []
    for _ in range(epochs):
        for x, graphs in zip(X, graphs_of(Y, graph)):
            for arcs in graphs:
                s = W @ x
                a, b = min(arcs, key=lambda arc: (s[arc[0]] - s[arc[1]], arc))
                if s[a] - s[b] <= 0:
                    W = W.copy()
                    W[a] += x
                    W[b] -= x
                past.append(W)
    return W, np.mean(past, axis=0), len(past)


@pytest.mark.parametrize("graph", GRAPHS)
def test_linear_weights_equal_the_oracle(graph):
    X, Y = integers()
    last, mean, graphs = oracle(X, Y, graph, 3)
    learner = PreferenceLearningMachine(graph, epochs=3, shuffle=False, averaging=None).fit(X, Y)
    np.testing.assert_array_equal(learner.coef_, last)
    assert learner.n_graphs_ == graphs
    learner.set_params(averaging="averaged").fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(learner.coef_, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(learner.decision_function(X), X @ mean.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("averaging", [None, "averaged"])
def test_the_linear_kernel_gives_the_scores_of_the_weights(graph, averaging):
    X, Y = integers()
    options = dict(epochs=2, averaging=averaging, random_state=3)
    primal = PreferenceLearningMachine(graph, **options).fit(X, Y)
    dual = PreferenceLearningMachine(graph, kernel="linear", **options).fit(X, Y)
    np.testing.assert_allclose(
        dual.decision_function(X), primal.decision_function(X), rtol=1e-4, atol=1e-4
    )
    assert dual.n_violated_ == primal.n_violated_
    assert 0 < dual.n_support_ <= len(X)


def test_kernels_separate_what_no_line_can():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    Y = np.column_stack([y, 1 - y])
    right = {
        kernel: (
            PreferenceLearningMachine(kernel=kernel, gamma=1.0, random_state=0)
            .fit(X, Y)
            .rank(X, top=1)[:, 0]
            == 1 - y
        ).mean()
        for kernel in (None, "poly", "rbf")
    }
    assert right["rbf"] > 0.9
    assert right["poly"] > 0.9
    assert right[None] < 0.8


@pytest.mark.parametrize("kernel", [None, "linear", "poly", "rbf"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_pieces_equal_the_whole(kernel, graph):
    X, Y = integers(60)
    options = dict(kernel=kernel, epochs=1, shuffle=False)
    whole = PreferenceLearningMachine(graph, **options).fit(X, Y)
    pieces = PreferenceLearningMachine(graph, **options)
    for rows in np.array_split(np.arange(60), 7):
        pieces.partial_fit(X[rows], Y[rows])
    np.testing.assert_allclose(
        pieces.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9
    )
    assert pieces.n_support_ == whole.n_support_


def test_sparse_and_dense_instances_give_the_same_scores_with_a_kernel():
    X, Y = integers()
    dense = PreferenceLearningMachine(kernel="rbf", random_state=0).fit(X, Y)
    sparse = PreferenceLearningMachine(kernel="rbf", random_state=0).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-10)


def test_labels_declared_later_join_with_weights_of_zero():
    X, Y = integers()
    learner = PreferenceLearningMachine().partial_fit(X[:10], Y[:10, :3])
    before = learner.coef_
    learner.partial_fit(X[10:11] * 0, Y[10:11], classes=np.arange(5))
    assert learner.coef_.shape == (5, 6)
    assert (learner.coef_[3:] == 0).all()
    assert np.abs(before).max() > 0
