"""Cuts that are learned from held-out scores: per label, by expected numbers, and the best."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BinaryRelevancePerceptron, InvertedIndexKNN, ThresholdedRanker, metrics
from labelrank.learners.held_out.cuts import CUTS, Cut, best_cut


def shifted(n=3000, n_labels=6, seed=2):
    """Scores whose right cut differs from label to label."""
    random = np.random.default_rng(seed)
    at = np.linspace(-2, 2, n_labels)
    scores = random.normal(size=(n, n_labels)) + at
    truth = (scores + 0.4 * random.normal(size=scores.shape) > at + 1).astype(float)
    return truth, scores


def crowded(n=3000, n_labels=10):
    """Rows with more and with fewer relevant labels, the best of each."""
    random = np.random.default_rng(3)
    size = random.integers(1, 5, n)
    scores = random.normal(size=(n, n_labels))
    order = np.argsort(np.argsort(-scores, axis=1), axis=1)
    return (order < size[:, None]).astype(float), scores


def worth(metric, truth, cut, scores):
    members = (scores > cut.thresholds(scores)).astype(int)
    criterion = metrics.criteria.get(metric)
    return criterion.direction * criterion(truth, members)


@pytest.mark.parametrize("metric", ["micro_f1", "macro_f1", "hamming_loss", "subset_accuracy"])
def test_labels_with_other_cuts_get_them(metric):
    truth, scores = shifted()
    cut = best_cut(truth, scores, metric, kinds=("one", "per_label"))
    assert cut.kind == "per_label"
    new = shifted(seed=4)
    one = best_cut(truth, scores, metric, kinds=("one",))
    assert worth(metric, new[0], cut, new[1]) > worth(metric, new[0], one, new[1]) + 0.02


def test_rare_labels_stay_near_the_common_cut():
    truth, scores = shifted(400, 3)
    truth[:, 0] = 0.0
    truth[np.argmax(scores[:, 0]), 0] = 1.0  # one relevant instance only
    cut = best_cut(truth, scores, "micro_f1", kinds=("per_label",))
    own = best_cut(truth[:, :1], scores[:, :1], "micro_f1", kinds=("one",))
    assert abs(cut.of_labels[0] - cut.threshold) < 0.4 * abs(own.threshold - cut.threshold)


def test_a_label_that_is_never_relevant_has_the_common_cut():
    truth, scores = shifted(200, 3)
    truth[:, 1] = 0.0
    cut = best_cut(truth, scores, "macro_f1", kinds=("per_label",))
    assert cut.of_labels[1] == cut.threshold


def test_the_number_of_labels_is_the_one_expected():
    truth, scores = crowded()
    scores = scores + 3.0 * truth  # the sum of probabilities tells how many there are
    cut = best_cut(truth, scores, "subset_accuracy", kinds=("count",))
    members = scores > cut.thresholds(scores)
    assert np.corrcoef(members.sum(axis=1), truth.sum(axis=1))[0, 1] > 0.7


def test_nothing_but_one_cut_is_taken_where_nothing_else_is_better():
    random = np.random.default_rng(5)
    scores = random.normal(size=(500, 5))
    truth = (scores + 0.5 * random.normal(size=scores.shape) > 1.0).astype(float)
    assert best_cut(truth, scores, "micro_f1").kind == "one"


def test_one_cut_is_the_best_on_all_rows():
    truth, scores = shifted(300)
    cut = best_cut(sp.csr_array(truth), scores, "f1_micro", kinds=("one",))
    every = np.concatenate([np.unique(scores), [-9.0]])
    best = max(worth("micro_f1", truth, Cut("one", float(t)), scores) for t in every)
    assert worth("micro_f1", truth, cut, scores) == pytest.approx(best)


@pytest.mark.parametrize("kind", CUTS)
def test_unknown_relevance_does_not_move_a_cut(kind):
    truth, scores = shifted(300)
    strange = np.vstack([scores, np.full((50, 6), 9.0)])
    unknown = np.vstack([truth, np.full((50, 6), np.nan)])
    cut = best_cut(unknown, strange, "micro_f1", kinds=(kind,))
    found = worth("micro_f1", truth, cut, scores)
    assert found > worth("micro_f1", truth, Cut("one", 8.0), scores) + 0.3


@pytest.mark.parametrize("strategy", ["shrunk", "count", "best"])
def test_a_ranker_with_such_a_cut_keeps_the_house_rules(strategy):
    X = np.random.default_rng(6).normal(size=(120, 6))
    Y = (X[:, :4] + X[:, 1:5] > [0.0, 1.0, 1.5, 0.5]).astype(int)
    learner = ThresholdedRanker(
        BinaryRelevancePerceptron(epochs=5, averaging="averaged"), strategy=strategy, random_state=0
    ).fit(X, Y)
    np.testing.assert_array_equal(learner.predict(X), learner.decision_function(X) > 0)
    reason = learner.why(X[:1], 2)
    assert reason.margin == pytest.approx(learner.decision_function(X[:1])[0, 2])
    against = learner.why(X[:1], 2, over=1)
    scores = learner.decision_function(X[:1])[0]
    assert against.margin == pytest.approx(scores[2] - scores[1], rel=1e-5)
    assert metrics.f1(Y, learner.predict(X), average="micro") > 0.6


def test_classes_are_not_cut():
    X = np.repeat(np.eye(3), 10, axis=0)
    y = np.repeat(["a", "b", "c"], 10)
    learner = ThresholdedRanker(InvertedIndexKNN(3), strategy="best", random_state=0).fit(X, y)
    assert learner.predict(np.eye(3)).tolist() == ["a", "b", "c"]


def test_a_cut_without_its_parts_is_refused():
    for wrong in (
        Cut("per_label", 0.0),
        Cut("count", 0.0),
        Cut("magic", 0.0),
        Cut("one", 0.0, np.zeros(3)),
    ):
        with pytest.raises(ValueError, match="cut of an unknown kind"):
            wrong.after_loading()
