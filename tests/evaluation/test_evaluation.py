"""Folds, learning curves and tests of significance against definitions and other libraries."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV

from labelrank import BinaryRelevancePerceptron, metrics
from labelrank.errors import InputError
from labelrank.evaluation import (
    StratifiedFolds,
    friedman_nemenyi,
    paired_t_test,
    prequential,
    rank_totals,
    robustness,
    wilcoxon,
)
from labelrank.evaluation.statistics import holm


def labels(n=400, K=20, seed=0):
    random = np.random.default_rng(seed)
    return (random.random((n, K)) < np.geomspace(0.5, 0.02, K)).astype(int)


def imbalance(Y, fold, n_folds):
    """Largest deviation of a label's count in a fold from its share."""
    counts = np.array([Y[fold == f].sum(axis=0) for f in range(n_folds)])
    return np.abs(counts - Y.sum(axis=0) / n_folds).max()


def test_every_label_has_its_share_in_every_fold():
    Y = labels()
    fold = StratifiedFolds(5, random_state=0).assign(Y)
    random = np.random.default_rng(0).permutation(np.arange(len(Y)) % 5)
    assert imbalance(Y, fold, 5) <= 4 < imbalance(Y, random, 5)
    assert np.bincount(fold).min() >= 70


def test_folds_are_a_partition_and_depend_on_the_seed_alone():
    Y = labels()
    one = [test for _, test in StratifiedFolds(4, random_state=1).split(Y, sp.csr_array(Y))]
    two = [test for _, test in StratifiedFolds(4, random_state=1).split(None, Y)]
    assert sorted(np.concatenate(one)) == list(range(len(Y)))
    for a, b in zip(one, two):
        np.testing.assert_array_equal(a, b)


def test_unlabelled_instances_and_unknown_labels_find_a_fold_too():
    Y = np.zeros((9, 3))
    Y[0, 0] = np.nan
    fold = StratifiedFolds(3, random_state=0).assign(Y)
    assert np.bincount(fold).tolist() == [3, 3, 3]


def test_folds_serve_scikit_learn_searches():
    Y = labels(n=60, K=4)
    X = Y + 0.1
    search = GridSearchCV(
        BinaryRelevancePerceptron(random_state=0), {"epochs": [1, 3]}, cv=StratifiedFolds(3)
    )
    assert search.fit(X, Y).best_score_ > 0.5


@pytest.mark.parametrize("n_splits", [1, 11])
def test_impossible_numbers_of_folds_are_refused(n_splits):
    with pytest.raises(InputError, match="folds for 10"):
        StratifiedFolds(n_splits).assign(labels(n=10))


@pytest.mark.parametrize("batch", [1, 7])
def test_prequential_tests_before_it_learns(batch):
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(40, 5)), labels(n=40, K=6)
    reference, losses = BinaryRelevancePerceptron(), []
    for start in range(0, 40, batch):
        part = slice(start, start + batch)
        if start:
            scores = reference.decision_function(X[part])
            losses += list(metrics.is_error(Y[part], scores, per_instance=True))
        reference.partial_fit(X[part], Y[part])
    learner = BinaryRelevancePerceptron()
    points = list(prequential(learner, X, sp.csr_array(Y), batch=batch, every=10))
    assert points[-1].overall["is_error"] == pytest.approx(np.mean(losses))
    assert points[-1].n_seen == 40
    np.testing.assert_array_equal(learner.coef_, reference.coef_)


def test_a_broken_off_curve_keeps_what_was_learned():
    X, Y = np.random.default_rng(0).normal(size=(30, 4)), labels(n=30, K=3)
    learner = BinaryRelevancePerceptron()
    for point in prequential(learner, X, Y, every=10):
        if point.n_seen == 20:
            break
    whole = BinaryRelevancePerceptron().partial_fit(X[:20], Y[:20])
    np.testing.assert_array_equal(learner.coef_, whole.coef_)


def test_significance_agrees_with_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    table = np.random.default_rng(0).random((12, 4)) + [0.0, 0.1, 0.5, 0.9]
    found = friedman_nemenyi(table)
    expected = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
    np.testing.assert_allclose(found.pairwise_p_values, expected, atol=2e-3)
    assert found.p_value < 0.05
    # Demšar 2006, Table 5: q_0.05 of four classifiers is 2.569
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 12)), rel=1e-3)


def test_differences_in_either_direction_count():
    low, high = np.arange(8.0), np.arange(8.0) + np.arange(1, 9) / 10
    assert wilcoxon(low, high).p_value == wilcoxon(high, low).p_value == pytest.approx(2 / 2**8)
    assert paired_t_test(low, high).p_value == pytest.approx(paired_t_test(high, low).p_value)


def test_the_curve_ends_at_the_last_example_though_no_point_is_due():
    X, Y = np.random.default_rng(0).normal(size=(25, 4)), labels(n=25, K=3)
    points = prequential(BinaryRelevancePerceptron(), X, Y, every=10)
    assert [point.n_seen for point in points] == [10, 20, 25]


def test_equal_losses_are_no_difference():
    same = [0.1, 0.2, 0.3]
    assert paired_t_test(same, same).p_value == 1.0
    assert wilcoxon(same, same).p_value == 1.0
    assert holm([0.9, 0.8]).max() <= 1.0


def test_totals_share_ranks_between_ties_and_robustness_is_relative_to_the_worst():
    assert rank_totals([[0.1, 0.1, 0.5]]).tolist() == [1.5, 1.5, 3.0]
    assert robustness([[0.0, 0.0]]).tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="full table"):
        rank_totals([[np.nan, 1.0]])
