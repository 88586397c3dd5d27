"""Odd arguments are refused in a sentence, before work is done."""

import numpy as np
import pytest

import labelrank
from labelrank import metrics
from labelrank.errors import InputError


@pytest.mark.parametrize(("make", "message"), [
    (lambda: labelrank.AutoRanker(candidates=int), "got candidates=.* give a dict of at least"),
    (lambda: labelrank.AutoRanker(np.bool_(True)), "got criterion .*; give the name of one"),
    (lambda: labelrank.ClassifierChain(order=3), "got order=3; give each of the columns"),
    (lambda: labelrank.ClassifierChain(order=[0, "1", 2]), "give each of the columns 0..2 once"),
    (lambda: labelrank.ClassifierChain(cv="two"), "got cv='two'; give a whole number of folds"),
])  # fmt: skip
def test_odd_settings_are_refused_in_a_sentence(make, message):
    X, Y = np.eye(6), np.tile(np.eye(3, dtype=int), (2, 1))
    with pytest.raises(InputError, match=message):
        make().fit(X, Y)


@pytest.mark.parametrize("top", ["5", {}, int, 1.5, True])
def test_an_odd_number_of_labels_to_rank_is_refused(top):
    X, Y = np.eye(6), np.tile(np.eye(3, dtype=int), (2, 1))
    for learner in (labelrank.EmbeddingPCAPLM(random_state=0), labelrank.BinaryRelevanceSVM()):
        with pytest.raises(InputError, match="got top="):
            learner.fit(X, Y).rank(X, top)


def test_rows_of_different_lengths_are_no_answers():
    for judge in (metrics.ranking_loss, metrics.f1):
        with pytest.raises(InputError, match="with rows of different lengths; give a matrix"):
            judge([[1, 0], [0, 1]], [[1, 0], [1]])
