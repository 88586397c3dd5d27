"""`auto` for orders and grades: every label relevant, some more than others."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import AutoRanker, BinaryRelevanceLogistic, GradedClassifier, ProSVM, metrics
from labelrank.learners.auto.candidates import candidates
from labelrank.learners.auto.goal import Goal, tells_grades
from labelrank.learners.trees.forest import ForestRanker
from labelrank.metrics import criteria


def rankings(n=240, n_labels=4, seed=0, *, curved=False):
    """Every label is relevant; its grade is its place, by scores of one or two features."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    told = np.abs(X[:, :4]) if curved else X[:, :4]
    scores = told[:, :n_labels] + 0.1 * random.normal(size=(n, n_labels))
    return X, scores.argsort(axis=1).argsort(axis=1) + 1.0


def value(criterion, learner, X, Y):
    return criteria.get(criterion)(sp.csr_array(Y), learner.decision_function(X))


@pytest.mark.parametrize("criterion", ["ndcg_at_5", "pro_loss", "kendall_tau"])
def test_orders_are_learned_where_every_label_is_relevant(criterion):
    X, Y = rankings(400)
    auto = AutoRanker(criterion, random_state=0).fit(X[:240], Y[:240])
    sign = criteria.get(criterion).direction
    found = value(criterion, auto, X[240:], Y[240:])
    graded = GradedClassifier(BinaryRelevanceLogistic(C=2.0, fit_intercept=True))
    for alone in (graded, ProSVM(C=5, fit_intercept=True)):
        other = value(criterion, alone.fit(X[:240], Y[:240]), X[240:], Y[240:])
        assert sign * found >= sign * other - 0.015
    assert auto.decision_function(X).std(axis=1).min() > 0
    assert auto.predict(X[240:]).all()
    held_out = auto.held_out_
    assert sign * (held_out["chosen"] - held_out["guessing"]) > 0.03


def test_orders_that_bend_are_learned_by_forests_or_kernels():
    X, Y = rankings(500, curved=True)
    auto = AutoRanker("pro_loss", random_state=0).fit(X[:300], Y[:300])
    linear = ProSVM(C=5, fit_intercept=True).fit(X[:300], Y[:300])
    assert (
        value("pro_loss", auto, X[300:], Y[300:]) < value("pro_loss", linear, X[300:], Y[300:]) / 2
    )


def test_learners_of_grades_race_alone_where_relevance_tells_nothing():
    X, Y = rankings()
    given = sp.csr_array(Y)
    field = candidates(X, given, Goal.of("pro_loss").on(given, one_class=False))
    assert next(iter(field)) == "graded logistic"
    assert all("graded" in name or "ProSVM" in name or "near" in name for name in field)
    kinds = {one.kind for one in field.values()}
    assert kinds == {"linear", "order", "forest", "kernel", "neighbors"}
    some = sp.csr_array(np.where(Y > 2, Y, 0.0))
    with_sets = candidates(X, some, Goal.of("micro_f1").on(some, one_class=False))
    assert next(iter(with_sets)).startswith("SVM")
    assert "graded forest" in with_sets


def test_which_criteria_tell_grades_apart_is_found_by_asking_them():
    told = {name for name, one in criteria.TABLE.items() if tells_grades(one)}
    assert {"pro_loss", "ndcg_at_3", "ndcg_at_5", "kendall_tau", "spearman"} <= told
    assert told.isdisjoint({"ranking_loss", "micro_auc", "micro_f1", "exact_match", "one_error"})


def test_a_set_and_its_order_are_both_learned():
    X, Y = rankings(400)
    Y = np.where(Y > 2, Y, 0.0)
    auto = AutoRanker("pro_loss", random_state=0).fit(X[:240], Y[:240])
    scores = auto.decision_function(X[240:])
    alone = ProSVM(C=5, fit_intercept=True).fit(X[:240], Y[:240])
    assert metrics.pro_loss(Y[240:], scores) <= value("pro_loss", alone, X[240:], Y[240:]) + 0.02
    assert metrics.f1(Y[240:] > 0, auto.predict(X[240:]), average="micro") > 0.85


@pytest.mark.parametrize("rare", [False, True])
def test_the_threshold_label_stands_where_pro_loss_is_best(rare):
    random = np.random.default_rng(1)
    Y = sp.csr_array((random.random((200, 5)) < (0.1 if rare else 0.6)).astype(float))
    scores = Y.toarray() + 0.4 * random.normal(size=Y.shape) + 7.0
    judged = Goal.of("pro_loss").judge(Y, scores)
    cuts = np.linspace(6, 9, 301)
    best = min(metrics.pro_loss(Y, scores, threshold=cut) for cut in cuts)
    assert -judged.value <= best + 0.01
    assert -judged.value == pytest.approx(metrics.pro_loss(Y, scores, threshold=judged.cut))


def test_grades_of_label_distributions_become_a_few_levels():
    random = np.random.default_rng(2)
    X = random.normal(size=(120, 3))
    Y = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
    given = sp.csr_array(Y)
    levels = Goal.of("ndcg_at_5").on(given, one_class=False).levels(given)
    assert (levels.data.min(), levels.data.max()) == (pytest.approx(1 / 360), 1.0)
    assert (Goal.of("micro_f1").on(given, one_class=False).levels(given).data == 1).all()
    auto = AutoRanker("ndcg_at_5", random_state=0).fit(X, Y)
    assert metrics.ndcg_at_k(Y, auto.decision_function(X), k=5) > 0.97


def test_a_forest_learns_grades():
    X, Y = rankings()
    forest = GradedClassifier(ForestRanker(20, random_state=0)).fit(X, Y)
    assert metrics.pro_loss(Y, forest.decision_function(X)) < 0.05
