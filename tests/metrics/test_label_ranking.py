"""Criteria of label ranking against their definitions, and against scipy."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from labelrank.errors import InputError
from labelrank.metrics import criteria, kendall_tau, kendall_tau_x, spearman, top_agreement_at_k


@st.composite
def problems(draw):
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, K = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    grades = random.integers(0, draw(st.integers(1, 8)), (n, K)).astype(float)
    grades[random.random((n, K)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return grades, random.integers(-2, 3, (n, K)) * 1.5


def known_pairs(grades, scores):
    for y, s in zip(grades, scores, strict=True):
        there = ~np.isnan(y)
        yield y[there], s[there]


@given(problem=problems())
@settings(max_examples=80, deadline=None)
def test_tau_b_and_spearman_are_those_of_scipy(problem):
    for criterion, of_scipy in ((kendall_tau, kendalltau), (spearman, spearmanr)):
        values = criterion(*problem, per_instance=True)
        for value, (y, s) in zip(values, known_pairs(*problem), strict=True):
            if len(set(y)) < 2:
                assert value == 1
            elif len(set(s)) < 2:
                assert value == 0
            else:
                assert value == pytest.approx(of_scipy(y, s).statistic, abs=1e-12)


@given(problem=problems())
@settings(max_examples=80, deadline=None)
def test_tau_x_is_its_sum_over_pairs(problem):
    values = kendall_tau_x(*problem, per_instance=True)
    for value, (y, s) in zip(values, known_pairs(*problem), strict=True):
        pairs = list(itertools.permutations(range(len(y)), 2))
        agreed = [(1 if y[a] >= y[b] else -1) * (1 if s[a] >= s[b] else -1) for a, b in pairs]
        assert value == pytest.approx(np.mean(agreed) if agreed else 1.0)


@given(problem=problems(), k=st.integers(1, 8))
@settings(max_examples=80, deadline=None)
def test_the_first_labels_are_right_if_fewer_than_k_are_better(problem, k):
    values = top_agreement_at_k(*problem, k, per_instance=True)
    for value, (y, s) in zip(values, known_pairs(*problem), strict=True):
        right = [sum(y > grade) < k for grade in y]
        first = sorted(range(len(y)), key=lambda a: (-s[a], right[a]))[:k]
        assert value == pytest.approx(np.mean([right[a] for a in first]) if first else 1.0)


def test_without_ties_tau_counts_wrong_pairs_and_both_taus_agree():
    random = np.random.default_rng(0)
    grades, scores = (random.random((20, 6)).argsort(axis=1) for _ in range(2))
    wrong = [
        np.mean([(y[a] - y[b]) * (s[a] - s[b]) < 0 for a, b in itertools.combinations(range(6), 2)])
        for y, s in zip(grades, scores, strict=True)
    ]
    tau = kendall_tau(grades, scores, per_instance=True)
    np.testing.assert_allclose(tau, 1 - 2 * np.array(wrong))
    np.testing.assert_allclose(kendall_tau_x(grades, scores, per_instance=True), tau)


def test_infinite_scores_are_ordered_and_missing_ones_refused():
    assert kendall_tau([[3, 2, 1]], [[np.inf, 0, -np.inf]]) == pytest.approx(1)
    assert spearman(sp.csr_array([[3, 2, 1]]), [[np.inf, 0, -np.inf]]) == pytest.approx(1)
    for criterion in (kendall_tau, kendall_tau_x, spearman, top_agreement_at_k):
        with pytest.raises(InputError, match="NaN score in row 1"):
            criterion([[2, 1], [2, 1]], [[1, 0], [np.nan, 0]])
    with pytest.raises(InputError, match="k=0"):
        top_agreement_at_k([[2, 1]], [[1, 0]], 0)


def test_they_are_criteria_of_which_larger_values_are_better():
    for name in ("kendall_tau", "kendall_tau_x", "spearman", "top_agreement_at_2"):
        criterion = criteria.get(name)
        assert (criterion.direction, criterion.needs) == (1, "scores")
        assert criterion([[3, 2, 1]], [[3, 2, 1]]) == pytest.approx(1)
