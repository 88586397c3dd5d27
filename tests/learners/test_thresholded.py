"""The tuned threshold against trying every cut."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, f1_score, hamming_loss, jaccard_score

from labelrank import (
    BinaryRelevancePerceptron,
    CompressionClassifier,
    MulticlassMultilabelPerceptron,
    ThresholdedRanker,
)
from labelrank.errors import InputError
from labelrank.learners.thresholded import METRICS, best_threshold

REFERENCE = {
    "micro_f1": lambda t, p: f1_score(t, p, average="micro", zero_division=1),
    "macro_f1": lambda t, p: f1_score(t, p, average="macro", zero_division=1),
    "example_f1": lambda t, p: f1_score(t, p, average="samples", zero_division=1),
    "example_jaccard": lambda t, p: jaccard_score(t, p, average="samples", zero_division=1),
    "subset_accuracy": accuracy_score,
    "hamming_loss": lambda t, p: 1 - hamming_loss(t, p),
}


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_other_cut_is_better(metric, ties, seed):
    random = np.random.default_rng(seed)
    truth = (random.random((12, 5)) < 0.3).astype(int)
    scores = random.normal(size=truth.shape) + truth
    scores = np.round(scores) if ties else scores
    value = REFERENCE[metric]
    threshold = best_threshold(sp.csr_array(truth), scores, metric)
    every_cut = np.concatenate((np.unique(scores), [scores.min() - 1]))
    best = max(value(truth, (scores > cut).astype(int)) for cut in every_cut)
    assert value(truth, (scores > threshold).astype(int)) == pytest.approx(best)


def test_unknown_labels_do_not_vote_on_the_threshold():
    truth = np.array([[1.0, np.nan, 0.0]])
    scores = np.array([[3.0, 2.5, 2.0]])
    assert best_threshold(sp.csr_array(truth), scores, "f1_micro") == 2.5


def problem(seed=0, n=120, d=8, K=6):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, K)) > 1.5).astype(int)


@pytest.mark.parametrize("strategy", ["tuned", "cardinality", "fixed"])
@pytest.mark.parametrize("per_label", [False, True])
def test_the_set_is_a_prefix_of_the_ranking(strategy, per_label):
    X, Y = problem()
    ranker = MulticlassMultilabelPerceptron(epochs=3, random_state=0)
    learner = ThresholdedRanker(
        ranker, strategy=strategy, per_label=per_label and strategy == "tuned", random_state=0
    ).fit(X, Y)
    predicted, ranking = learner.predict(X), learner.rank(X)
    for i in range(len(X)):
        size = predicted[i].sum()
        assert set(ranking[i, :size]) == set(np.flatnonzero(predicted[i]))


def test_tuning_beats_cutting_at_zero_where_the_ranker_has_no_zero():
    X, Y = problem(n=300)
    ranker = MulticlassMultilabelPerceptron(epochs=5, averaging="averaged", random_state=0)
    tuned = ThresholdedRanker(ranker, random_state=0).fit(X[:200], Y[:200])
    fixed = ThresholdedRanker(ranker, strategy="fixed", threshold=0.0).fit(X[:200], Y[:200])
    value = REFERENCE["micro_f1"]
    assert value(Y[200:], tuned.predict(X[200:])) > value(Y[200:], fixed.predict(X[200:]))


def test_the_ranker_inside_goes_on_learning():
    X, Y = problem()
    learner = ThresholdedRanker(BinaryRelevancePerceptron(), strategy="cardinality").fit(X, Y)
    before = learner.estimator_.coef_.copy()
    learner.partial_fit(X, Y)
    assert not np.array_equal(before, learner.estimator_.coef_)


def test_too_few_instances_to_tune_are_refused_in_one_sentence():
    with pytest.raises(InputError, match="too few to tune"):
        ThresholdedRanker(BinaryRelevancePerceptron()).fit(np.eye(2), np.eye(2))


def test_a_label_that_cannot_be_told_apart_is_not_given_to_everything():
    truth = sp.csr_array(np.eye(1, 200, dtype=float).T)
    scores = np.zeros((200, 1))
    scores[1] = 1.0
    assert best_threshold(truth, scores, "f1_micro", per_label=True) < 0.0
    assert best_threshold(truth, scores, "f1_micro", per_label=True, floor=0.1) == 1.0
    assert best_threshold(truth, -truth.toarray(), "f1_micro", per_label=True, floor=0.1) == 0.0


def test_scores_and_sets_are_answered_at_once():
    X, Y = problem()
    for per_label in (False, True):
        learner = ThresholdedRanker(
            MulticlassMultilabelPerceptron(random_state=0), per_label=per_label, random_state=0
        ).fit(X, Y)
        answer = learner.answer(X)
        np.testing.assert_array_equal(answer.scores, learner.decision_function(X))
        np.testing.assert_array_equal(answer.members, learner.predict(X) > 0)


def test_learning_more_leaves_the_cut_where_it_was():
    X, Y = problem()
    learner = ThresholdedRanker(BinaryRelevancePerceptron(), random_state=0).fit(X, Y)
    cut = learner.threshold_
    assert learner.partial_fit(X, 1 - Y).threshold_ == cut


def test_texts_are_cut_too():
    texts, Y = ["rye and oats", "oats", "stars and moons", "moons"] * 3, [[1, 0]] * 2 + [[0, 1]] * 2
    learner = ThresholdedRanker(CompressionClassifier(), random_state=0).fit(texts, Y * 3)
    assert learner.predict(["moons and stars"]).shape == (1, 2)
