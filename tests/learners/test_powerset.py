"""Label powerset against the lecture's example, any base, and pruning by hand."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelrank import LabelPowerset
from labelrank.errors import InputError

# The lecture's four examples: {1, 4}, {3, 4}, {1}, {2, 3, 4}.
LECTURE = np.array([[1, 0, 0, 1], [0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 1, 1]])


def test_every_label_set_of_the_lecture_is_a_class():
    learner = LabelPowerset(DecisionTreeClassifier(random_state=0)).fit(np.eye(4), LECTURE)
    assert sorted(map(tuple, learner.sets_.toarray().astype(int).tolist())) == [
        (0, 0, 1, 1), (0, 1, 1, 1), (1, 0, 0, 0), (1, 0, 0, 1),
    ]  # fmt: skip
    np.testing.assert_array_equal(learner.predict(np.eye(4)), LECTURE)


def problem(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.poisson(1.0, (n, 8)).astype(float)
    return X, (X[:, :4] + random.normal(size=(n, 4)) > 1.5).astype(int)


def test_it_is_the_base_learner_on_sets_as_classes():
    X, Y = problem()
    codes = Y @ [8, 4, 2, 1]
    theirs = MultinomialNB().fit(X, codes)
    ours = LabelPowerset(MultinomialNB()).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X) @ [8, 4, 2, 1], theirs.predict(X))
    holds = (theirs.classes_[:, None] & [8, 4, 2, 1]) > 0
    ours.set_params(decode="labels")  # the most probable set may contradict the sums
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X) @ holds)


@pytest.mark.parametrize(
    "base", [None, LinearSVC(), NearestCentroid(), DecisionTreeClassifier(random_state=0)]
)
@pytest.mark.parametrize("decode", ["set", "labels"])
def test_any_base_gives_sets_that_start_the_ranking(base, decode):
    X, Y = problem()
    learner = LabelPowerset(base, decode=decode).fit(X, Y)
    predicted, ranking = learner.predict(X), learner.rank(X)
    for row, order in zip(predicted, ranking, strict=True):
        assert set(order[: row.sum()]) == set(np.flatnonzero(row))
    if decode == "set":
        met = set(map(tuple, Y.tolist()))
        assert all(tuple(row) in met for row in predicted.tolist())


def test_labels_can_be_combined_as_never_met():
    """Of {0, 1}, {0, 2} and {1, 2}, equally probable, every label is in two."""

    class Base(MultinomialNB):
        def predict_proba(self, X):
            return np.full((X.shape[0], 3), 1 / 3)

    learner = LabelPowerset(Base(), decode="labels").fit(
        np.eye(3), [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    )
    np.testing.assert_allclose(learner.predict_proba(np.eye(3)), 2 / 3)
    assert learner.predict(np.eye(3)[:1]).tolist() == [[1, 1, 1]]
    assert learner.set_params(decode="set").predict(np.eye(3)[:1]).tolist() == [[1, 1, 0]]


def test_rare_sets_come_back_as_the_frequent_sets_in_them():
    rows = [(0,)] * 3 + [(1, 2)] * 3 + [(2,)] * 4 + [(0, 1, 2)] + [(3,)]
    Y = np.zeros((len(rows), 4))
    for i, labels in enumerate(rows):
        Y[i, list(labels)] = 1
    seen = {}

    class Base(MultinomialNB):
        def fit(self, X, y):
            seen["rows"], seen["classes"] = X.argmax(axis=1).tolist(), y.tolist()
            return super().fit(X, y)

    learner = LabelPowerset(Base(), prune=1, n_subsets=2).fit(np.eye(12), Y)
    sets = [tuple(np.flatnonzero(s)) for s in learner.sets_.toarray()]
    assert sets == [(0,), (1, 2), (2,)]
    stands_for = {r: [] for r in seen["rows"]}
    for row, k in zip(seen["rows"], seen["classes"], strict=True):
        stands_for[row].append(sets[k])
    assert stands_for[10] == [(1, 2), (2,)]
    assert 11 not in stands_for
    assert stands_for[0] == [(0,)]


def test_one_set_alone_is_always_predicted():
    learner = LabelPowerset().fit(np.eye(3), [[1, 0], [1, 0], [1, 0]])
    assert learner.predict(np.eye(3)).tolist() == [[1, 0]] * 3


def test_instances_with_unknown_labels_are_left_out():
    X, Y = problem()
    unknown = Y.astype(float)
    unknown[:20, 0] = np.nan
    ours = LabelPowerset().fit(X, unknown).decision_function(X)
    np.testing.assert_allclose(ours, LabelPowerset().fit(X[20:], Y[20:]).decision_function(X))
    with pytest.raises(InputError, match="needs whole sets"):
        LabelPowerset().fit(X[:20], unknown[:20])


def test_pruning_everything_is_refused():
    with pytest.raises(InputError, match="give a smaller number"):
        LabelPowerset(prune=5).fit(np.eye(4), LECTURE)


def test_decision_values_of_a_base_become_probabilities_by_the_softmax():
    X, Y = problem()
    learner = LabelPowerset(LinearSVC(random_state=0), decode="labels").fit(X, Y)
    chances = softmax(learner.estimator_.decision_function(X), axis=1)
    np.testing.assert_allclose(learner.predict_proba(X), chances @ learner.sets_.toarray())
