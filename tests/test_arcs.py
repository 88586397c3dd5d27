"""Preferences as input: their form, and what relevance states."""

import numpy as np
import pytest

from labelrank.errors import InputError
from labelrank.preferences import Arcs


def listed(arcs):
    pairs = list(zip(arcs.better.tolist(), arcs.worse.tolist(), strict=True))
    return [pairs[a:b] for a, b in zip(arcs.ptr[:-1], arcs.ptr[1:], strict=True)]


def test_rows_keep_the_order_of_their_arcs():
    arcs = Arcs.of([(1, 2, None), (0, 0, 1), (1, 0, 2), (1, None, 1)], n_rows=3, n_labels=3)
    assert listed(arcs) == [[(0, 1)], [(2, 3), (0, 2), (3, 1)], []]


def test_relevance_states_the_cut_then_grades_then_rivals():
    arcs = Arcs.of_relevance([[2, 0, 1, np.nan, 0]], np.array([[0, 1, 0, 9, 2]]), rivals=1)
    assert listed(arcs) == [[(0, 5), (2, 5), (5, 1), (5, 4), (0, 2), (0, 4), (2, 4)]]


def test_without_the_threshold_relevant_are_over_all_irrelevant():
    assert listed(Arcs.of_relevance([[0, 1, 0]], rivals=1, threshold=False)) == [[(1, 0), (1, 2)]]


@pytest.mark.parametrize(("triples", "words"), [
    ([(0, 1, 1)], "label 1 over itself in row 0"),
    ([(0, 1, 2), (0, 2, 1)], "both"),
    ([(0, 1, 4)], "outside 0 to 2; the threshold is 3"),
    ([(0, -1, 1)], "outside 0"),
    ([(2, 0, 1)], "a row outside 0 to 1"),
    ([(0, "rye", 1)], "whole numbers"),
    ([(0, 1)], "no .row, better, worse."),
])  # fmt: skip
def test_bad_arcs_are_refused_in_one_sentence(triples, words):
    with pytest.raises(InputError, match=words):
        Arcs.of(triples, n_rows=2, n_labels=3)


def test_the_same_labels_may_change_places_in_another_row():
    assert len(Arcs.of([(0, 1, 2), (1, 2, 1)], n_rows=2, n_labels=3).better) == 2


@pytest.mark.parametrize("ptr", [[], [1, 1], [0, 2, 1], [0, 5]])
def test_row_pointers_that_do_not_fit_are_refused(ptr):
    with pytest.raises(InputError, match="ptr"):
        Arcs(np.array(ptr, np.int64), np.array([0]), np.array([1]), 2)
