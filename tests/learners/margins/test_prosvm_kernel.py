"""The kernel of arcs against the same sums over listed preferences."""

import numpy as np
import pytest
from scipy.optimize import minimize
from test_prosvm import chain_weight, listed, problem

from labelrank.kernels import arcs as kernel
from labelrank.learners.margins import solver as arc_solver
from labelrank.learners.margins.problem import Shares, make_problem, with_constant
from labelrank.preferences import Kind, arcs, pairs_of
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows

FULL = Shares(0.25, 0.25, 0.25)
APPROXIMATE = Shares(0.0, 0.5, 0.25, chain=True)
RANK = Shares(1.0, 0.0, 0.0)


def laid_out(shares, seed=0, **options):
    X, Y = problem(seed, unknown=0.15, **options)
    return X, Y, make_problem(X, check_relevance(Y), shares, fit_intercept=False)


def unpacked(whole, alpha, Y):
    """The dual of every listed preference, read from the layout that the kernel documents."""
    K, shares, found = Y.shape[1], whole.shares, {}
    for i, grades in enumerate(Y):
        at = int(whole.dptr[i])
        relevant = whole.relevant[whole.rptr[i] : whole.rptr[i + 1]].tolist()
        irrelevant = np.flatnonzero(grades == 0)
        m = len(relevant)
        if shares.pairs:
            found |= {
                (i, a, b): alpha[at + p * K + b] for p, a in enumerate(relevant) for b in irrelevant
            }
            at += m * K
        if shares.threshold:
            found |= {(i, K, b): alpha[at + b] for b in irrelevant}
            found |= {(i, a, K): alpha[at + K + p] for p, a in enumerate(relevant)}
            at += K + m
        kind = Kind.CHAIN if shares.chain else Kind.GRADED
        if shares.order:
            for a, b in pairs_of(grades, kind):
                p, q = relevant.index(a), relevant.index(b)
                found[i, a, b] = alpha[at + p * m + q]
    return found


def preferences_of(Y, shares):
    if shares is RANK:
        return list(zip(*arcs(Y, (Kind.RELEVANT_IRRELEVANT,), "mean")))
    return listed(Y, approximate=shares.chain, ordered=True)


@pytest.mark.parametrize("shares", [FULL, APPROXIMATE, RANK])
def test_weights_are_the_sum_of_the_duals_and_duals_stay_in_their_bounds(shares):
    X, Y, whole = laid_out(shares)
    state = arc_solver.start(whole)
    arc_solver.descend(whole, state, 3.0, tol=1e-9, max_iter=7, random=np.random.RandomState(0))
    alpha, W = unpacked(whole, state.alpha, Y), np.zeros_like(state.W, dtype=float)
    for i, a, b, weight in preferences_of(Y, shares):
        dual = float(alpha.pop((i, a, b)))
        assert -1e-7 <= dual <= 3.0 * weight * (1 + 1e-5)
        W[:, a] += dual * X[i]
        W[:, b] -= dual * X[i]
    assert not alpha
    assert state.alpha.any()
    np.testing.assert_allclose(state.W, W, atol=1e-5)


@pytest.mark.parametrize("shares", [FULL, APPROXIMATE, RANK])
def test_objective_and_gap_are_those_of_the_listed_preferences(shares):
    X, Y, whole = laid_out(shares, seed=1)
    state = arc_solver.start(whole)
    arc_solver.descend(whole, state, 2.0, tol=1e-9, max_iter=2, random=np.random.RandomState(0))
    found = arc_solver.evaluate(whole, state, 2.0)
    S = X @ state.W.astype(float)
    half = 0.5 * float((state.W.astype(float) ** 2).sum())
    losses = sum(w * max(0.0, 1 - S[i, a] + S[i, b]) for i, a, b, w in preferences_of(Y, shares))
    primal, dual = half + 2.0 * losses, float(state.alpha.sum()) - half
    assert found.objective == pytest.approx(primal, rel=1e-5)
    assert found.gap == pytest.approx((primal - dual) / primal, rel=1e-3)


def test_a_row_of_preferences_is_solved_exactly():
    random = np.random.default_rng(0)
    for _ in range(50):
        K, gain, U = 9, float(random.uniform(0.2, 3)), float(random.uniform(0.05, 0.5))
        v = random.normal(size=K).astype(np.float32) + np.float32(0.5)
        alpha = random.choice([0.0, U, U / 3], size=K).astype(np.float32)
        top, before = np.float32(random.normal()), alpha.copy()
        v0, c, z = v.copy(), np.zeros(K, np.float32), np.empty(K, np.float32)

        def negative_gain(new, v0=v0, before=before, top=top, gain=gain):
            step = new - before
            value = (v0 - top) @ step - 0.5 * gain * (step.sum() ** 2 + step @ step)
            return -value, -(v0 - top) + gain * (step.sum() + step)

        total = kernel._walk_row(v, alpha, 0, top, np.float32(U), np.float32(gain), c, z)
        best = minimize(negative_gain, before, jac=True, bounds=[(0, U)] * K,
                        options=dict(ftol=1e-14, gtol=1e-10))  # fmt: skip
        np.testing.assert_allclose(alpha, best.x, atol=2e-4)
        assert total == pytest.approx((alpha - before).sum(), abs=1e-5)
        np.testing.assert_allclose(c, before - alpha, atol=1e-6)
        np.testing.assert_allclose(v, v0 - gain * (alpha - before), atol=1e-5)


@pytest.mark.parametrize("chain", [False, True])
def test_order_weights_equal_the_reference(chain):
    for grades in ([3, 2, 1], [3, 3, 1], [2, 1, 1, 1], [4, 4, 2, 2, 1], [1, 1]):
        grades = np.array(grades, float)
        m, pairs = len(grades), kernel.ordered_pairs(grades)
        assert pairs == sum(a > b for a in grades for b in grades)
        allowed = set(pairs_of(grades, Kind.CHAIN if chain else Kind.GRADED))
        for p in range(m):
            for q in range(p + 1, m):
                weight = 0.25 * kernel._order_weight(grades, m, chain, p, q, pairs) if pairs else 0
                expected = 0.0
                if (p, q) in allowed:
                    expected = chain_weight(grades, p, q) if chain else 0.25 / pairs
                assert weight == pytest.approx(expected)


def test_calm_instances_are_visited_ever_more_rarely():
    X, Y, whole = laid_out(FULL, seed=2)
    n, state = len(X), arc_solver.start(whole)
    arc_solver.descend(whole, state, 0.1, tol=1e-6, max_iter=300, random=np.random.RandomState(0))
    rest, pause = np.zeros(n, np.int16), np.zeros(n, np.int16)
    loss, slack, visits = np.zeros(n), np.zeros(n), []
    for _ in range(20):
        visits.append(int((rest == 0).sum()))
        arc_solver._pass(whole, state, 0.1, np.arange(n), 1e9, 1, loss, slack, rest, pause)
    assert visits[0] == n
    assert visits[1] == 0
    assert sum(visits) == n * 4  # at epochs 0, 2, 6 and 14


def test_a_constant_is_the_last_feature_of_every_row():
    X = np.array([[0.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    wider = with_constant(as_rows(X))
    expected = as_rows(np.column_stack([X, np.ones(3)]))
    for ours, theirs in zip(wider, expected):
        np.testing.assert_array_equal(ours, theirs)
