"""`auto` on data of odd shapes and values: a right answer, or one sentence."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import AutoRanker, metrics
from labelrank.errors import InputError


def data(n=120, n_labels=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 6))
    noise = 0.1 * random.normal(size=(n, n_labels))
    return X, (X[:, :n_labels] + noise > 0).astype(float)


def fitted(X, Y, **more):
    return AutoRanker(**{"random_state": 0, "effort": 0.3, **more}).fit(X, Y)


def test_columns_of_constants_change_nothing():
    X, Y = data()
    wider = np.column_stack([X, np.full(len(X), 7.0), np.zeros(len(X))])
    for given in (wider, sp.csr_array(wider)):
        auto = fitted(given, Y)
        assert metrics.f1(Y, auto.predict(given), average="micro") > 0.85
    only = np.full((60, 2), 3.0)
    constant = fitted(only, np.tile([[1, 0, 1], [1, 0, 0]], (30, 1)))
    assert (constant.predict(only)[:, :2] == [1, 0]).all()


def test_a_label_of_every_row_and_one_of_none_are_told_so():
    X, Y = data()
    Y[:, 1], Y[:, 2] = 1, 0
    auto = fitted(X, Y)
    told = auto.predict(X)
    assert told[:, 1].all()
    assert not told[:, 2].any()
    assert (told[:, 0] == Y[:, 0]).mean() > 0.9
    assert (auto.rank(X)[:, 0] != 2).all()


@pytest.mark.parametrize("criterion", ["micro_f1", "ranking_loss", "pro_loss", "kendall_tau"])
def test_three_rows_are_answered(criterion):
    X, Y = np.eye(3), np.array([[1, 0], [0, 1], [1, 0]])
    auto = fitted(X, Y, criterion=criterion)
    assert auto.decision_function(X).shape == (3, 2)
    assert auto.rank(X)[1, 0] == 1 or len(auto.trials_) == 0


def test_more_labels_than_rows():
    X, _ = data(9)
    Y = np.eye(9, 12)
    auto = fitted(X, Y)
    assert auto.predict(X).shape == (9, 12)
    assert np.isfinite(auto.decision_function(X)).all()


def test_a_hundred_thousand_columns():
    random = np.random.default_rng(0)
    X = sp.random_array((150, 100_000), density=2e-4, rng=random, format="lil")
    Y = (random.random((150, 2)) < 0.5).astype(float)
    X[:, [5, 99_999]] = Y
    X = X.tocsr()
    auto = fitted(X, Y)
    assert metrics.f1(Y, auto.predict(X), average="micro") > 0.95


@pytest.mark.parametrize("dense", [True, False])
def test_rows_that_are_all_alike_get_the_frequent_label(dense):
    X, Y = np.tile([1.0, 2.0], (80, 1)), np.zeros((80, 3))
    Y[:, 0] = 1
    Y[:10, 1] = 1
    X = X if dense else sp.csr_array(X)
    auto = fitted(X, Y)
    assert (auto.predict(X) == [1, 0, 0]).all()
    assert (auto.rank(X) == [0, 1, 2]).all()


def test_one_label_alone():
    X, Y = data()
    auto = fitted(X, Y[:, :1])
    assert (auto.predict(X) == Y[:, :1]).mean() > 0.9
    for value in (0.0, 1.0):
        assert (fitted(X, np.full((len(X), 1), value)).predict(X) == value).all()


def test_unknown_labels_state_nothing():
    X, Y = data(300)
    known = Y.copy()
    Y[np.random.default_rng(1).random(Y.shape) < 0.3] = np.nan
    auto = fitted(X, Y)
    assert (auto.predict(X) == known).mean() > 0.9
    Y[:, 2] = np.nan
    assert (fitted(X, Y).predict(X)[:, :2] == known[:, :2]).mean() > 0.9


def test_a_vector_of_one_class_is_refused_in_one_sentence():
    X, _ = data(30)
    with pytest.raises(InputError, match=r"got 1 class .* give at least two classes"):
        fitted(X, np.ones(30))
    with pytest.raises(InputError, match="NaN"):
        fitted(np.where(X > 1, np.nan, X), np.ones((30, 1)))
