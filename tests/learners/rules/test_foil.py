"""Rules by separate and conquer, against FOIL's gain computed by hand."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import RuleRanker, Tagger

random = np.random.default_rng(0)
X = (random.random((200, 8)) < 0.4).astype(float)
# Both of 0 and 1, or 2 without help.
Y = ((X[:, 0] * X[:, 1] + X[:, 2]) > 0).astype(int)[:, None]


def gain(rows, feature, positive):
    P, N = positive[rows].sum(), (~positive[rows]).sum()
    with_it = rows & (X[:, feature] > 0)
    p, n = positive[with_it].sum(), (~positive[with_it]).sum()
    return p * (math.log2(p / (p + n)) - math.log2(P / (P + N))) if p else 0.0


def test_each_feature_of_a_rule_is_that_of_the_largest_gain():
    learner = RuleRanker(max_rules=1).fit(X, Y)
    ((label, features, precision),) = learner.rules_
    rows, positive, chosen = np.ones(200, bool), Y[:, 0] > 0, []
    while (~positive[rows]).any():
        gains = [gain(rows, j, positive) if j not in chosen else 0.0 for j in range(8)]
        chosen.append(int(np.argmax(gains)))
        rows &= X[:, chosen[-1]] > 0
    assert (label, features) == (0, tuple(sorted(chosen)))
    assert precision == (positive[rows].sum() + 1) / (rows.sum() + 2)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_disjunction_of_conjunctions_is_found(form):
    learner = RuleRanker().fit(form(X), Y)
    assert {features for _, features, _ in learner.rules_} == {(2,), (0, 1)}
    np.testing.assert_array_equal(learner.predict(form(X)), Y)


def test_the_chance_of_what_no_rule_covers_is_that_of_the_rest():
    noisy = Y.copy()
    noisy[(X[:, 2] == 0) & (X[:, 0] * X[:, 1] == 0)] = 0
    learner = RuleRanker(max_rules=1).fit(X, noisy)
    held = X[:, list(learner.rules_[0][1])].all(axis=1)
    rest = noisy[~held, 0]
    found = learner.predict_proba(X)[~held][:, 0]
    np.testing.assert_allclose(found, (rest.sum() + 0.5) / (len(rest) + 1))


def test_unknown_labels_are_neither_for_nor_against_a_rule():
    grades = np.column_stack([Y, Y]).astype(float)
    grades[:100, 1] = np.nan
    both = RuleRanker().fit(X, grades).decision_function(X)[:, 1]
    alone = RuleRanker().fit(X[100:], Y[100:]).decision_function(X)[:, 0]
    np.testing.assert_allclose(both, alone)


def test_a_tagger_learns_rules_of_words():
    texts = ["rye harvest", "rye prices", "oil prices", "oil wells"] * 3
    tagger = Tagger(RuleRanker()).fit(texts, [["grain"], ["grain"], ["oil"], ["oil"]] * 3)
    assert tagger.predict(["rye bread", "crude oil"]) == [["grain"], ["oil"]]
