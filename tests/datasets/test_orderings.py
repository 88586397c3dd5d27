"""Synthetic orders: the recipe followed by hand, and what it must leave alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

from labelrank import BinaryRelevancePerceptron, MLkNN, Rocchio
from labelrank.datasets import synthesize_order
from labelrank.datasets.orderings import _default_scorers
from labelrank.errors import InputError


def plain_data(seed=0, n=60, d=8, K=5):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), (rng.random((n, K)) < 0.5).astype(float)


def test_grades_follow_the_summed_scaled_scores_of_models_that_did_not_see_the_instance():
    X, Y = plain_data()
    scorers = {"kNN": MLkNN(3), "BR": BinaryRelevancePerceptron(shuffle=False)}
    total = np.zeros(Y.shape)
    for train, test in KFold(4, shuffle=True, random_state=7).split(X):
        for one in (MLkNN(3), BinaryRelevancePerceptron(shuffle=False)):
            scores = one.fit(X[train], Y[train]).decision_function(X[test]).astype(float)
            for i, row in zip(test, scores, strict=True):
                total[i] += (row - row.mean()) / (row.std() or 1.0)
    made = synthesize_order(X, Y, scorers, n_folds=4, random_state=7)
    assert made.scorers == ("kNN", "BR")
    for i, grades in enumerate(made.Y.toarray()):
        relevant = np.flatnonzero(Y[i])
        ranked = sorted(relevant, key=lambda k: (-round(total[i, k], 12), k))
        assert [grades[k] for k in ranked] == list(range(len(relevant), 0, -1))


def test_what_is_relevant_irrelevant_and_unknown_stays_so():
    X, Y = plain_data(1)
    Y[0, 0], Y[3, 2] = np.nan, np.nan
    made = synthesize_order(X, Y).Y.toarray()
    np.testing.assert_array_equal(np.isnan(made), np.isnan(Y))
    np.testing.assert_array_equal(made > 0, Y > 0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_default_rankers_are_named_and_repeatable(form):
    X, Y = plain_data(2)
    X = form(np.abs(X) * (np.abs(X) > 1))
    first, second = (synthesize_order(X, Y, random_state=3) for _ in range(2))
    assert (first.Y != second.Y).nnz == 0
    kind = "Bernoulli" if sp.issparse(X) else "Gaussian"
    assert first.scorers == ("MMP", "Rocchio", f"{kind} naive Bayes")


def test_naive_bayes_of_sparse_features_is_that_of_words_present():
    names = _default_scorers(sp.csr_array(np.eye(3)))
    assert names["Bernoulli naive Bayes"].event_model == "bernoulli"
    assert "Bernoulli naive Bayes" not in _default_scorers(np.eye(3))


def test_the_order_can_be_learned_from_x():
    """The first label of two is the one whose prototype is nearer."""
    rng = np.random.default_rng(3)
    X = np.abs(rng.normal(size=(200, 2)))
    Y = np.column_stack([np.ones(200), X[:, 0] < 5, rng.random(200) < 0.01])
    Y[:100, 0] = X[:100, 0] > X[:100, 1]
    made = synthesize_order(X, Y, {"Rocchio": Rocchio(gamma=0)}).Y.toarray()
    both = (made[:, 0] > 0) & (made[:, 1] > 0)
    leads = made[both, 0] > made[both, 1]
    towards = X[both, 0] / X[both, 1]
    assert np.median(towards[leads]) > np.median(towards[~leads])


def test_wrong_arguments_are_refused():
    X, Y = plain_data(4, n=6)
    with pytest.raises(InputError, match="rows"):
        synthesize_order(X[:5], Y)
    with pytest.raises(InputError, match="n_folds=7"):
        synthesize_order(X, Y, n_folds=7)
    with pytest.raises(InputError, match="no scorer"):
        synthesize_order(X, Y, {})
