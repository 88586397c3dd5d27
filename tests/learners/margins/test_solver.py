"""The kernel of preferences against the same sums over listed ones, and the loop until the gap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from test_prosvm import listed, problem

from labelrank import ProSVM, RankSVM
from labelrank.kernels import preference_margins as kernel
from labelrank.learners.margins.solver import (
    DualState,
    PreferenceDescent,
    PreferenceProblem,
    Visits,
    close_gap,
    kernel_weights,
    measured,
)
from labelrank.preferences import Kind, Preferences, arcs, pairs_of
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows, with_constant

LEARNERS = [
    ProSVM(),
    ProSVM(approximate=True),
    ProSVM(ordered=False),
    ProSVM(approximate=True, ordered=False),
    RankSVM(),
]


def laid_out(X, Y, learner):
    Y = check_relevance(Y)
    return PreferenceProblem.of(X, Y, learner.preferences, fit_intercept=False)


def descent(whole, C, **options):
    options = dict(tol=1e-9, random=np.random.RandomState(0)) | options
    return PreferenceDescent(whole, DualState.zeros(whole), C, **options)


def unpacked(whole, alpha, Y):
    """The dual of every listed preference, read from the layout that the kernel documents."""
    K, duals = Y.shape[1], {}
    pairs, above, below, order = whole.weights > 0
    for i, grades in enumerate(Y):
        at = int(whole.dual_ptr[i])
        span = slice(*whole.relevant.indptr[i : i + 2])
        relevant, m = whole.relevant.indices[span].tolist(), span.stop - span.start
        irrelevant = np.flatnonzero(grades == 0)
        if pairs:
            duals |= {
                (i, a, b): alpha[at + p * K + b] for p, a in enumerate(relevant) for b in irrelevant
            }
            at += m * K
        if below:
            duals |= {(i, K, b): alpha[at + b] for b in irrelevant}
            at += K
        if above:
            duals |= {(i, a, K): alpha[at + p] for p, a in enumerate(relevant)}
            at += m
        if order:
            for a, b in pairs_of(grades, Kind.CHAIN if whole.chain else Kind.GRADED):
                p, q = relevant.index(a), relevant.index(b)
                duals[i, a, b] = alpha[at + p * m + q]
    return duals


@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_are_the_sum_of_the_duals_and_duals_stay_in_their_bounds(learner):
    X, Y = problem(unknown=0.15)
    whole = laid_out(X, Y, learner)
    solver = descent(whole, 3.0)
    close_gap(solver, 1e-9, 7)
    state = solver.state
    alpha, W = unpacked(whole, state.alpha, Y), np.zeros_like(state.W, dtype=float)
    for i, a, b, weight in listed(learner, Y):
        dual = float(alpha.pop((i, a, b)))
        assert -1e-7 <= dual <= 3.0 * weight * (1 + 1e-5)
        W[:, a] += dual * X[i]
        W[:, b] -= dual * X[i]
    assert not alpha
    assert state.alpha.any()
    np.testing.assert_allclose(state.W, W, atol=1e-5)


@pytest.mark.parametrize("learner", LEARNERS)
def test_objective_and_gap_are_those_of_the_listed_preferences(learner):
    X, Y = problem(1, unknown=0.15)
    solver = descent(laid_out(X, Y, learner), 2.0)
    gap, epochs = close_gap(solver, 1e-9, 2)
    W = solver.state.W.astype(float)
    S, half = X @ W, 0.5 * float((W**2).sum())
    losses = sum(w * max(0.0, 1 - S[i, a] + S[i, b]) for i, a, b, w in listed(learner, Y))
    primal, dual = half + 2.0 * losses, float(solver.state.alpha.sum()) - half
    assert epochs == 2
    assert solver.objective == pytest.approx(primal, rel=1e-5)
    assert gap == pytest.approx((primal - dual) / primal, rel=1e-3)


GRADES = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0, 2.5, np.nan]), min_size=4, max_size=4),
    min_size=1,
    max_size=5,
)


@given(grades=GRADES, which=st.integers(0, len(LEARNERS) - 1), seed=st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_the_loss_of_every_instance_is_that_of_its_declared_preferences(grades, which, seed):
    """Grades, ties, unknown labels, nothing or everything relevant."""
    Y, learner, random = np.array(grades), LEARNERS[which], np.random.default_rng(seed)
    X = random.normal(size=(len(Y), 3)).astype(np.float32)
    whole = laid_out(X, Y, learner)
    state = DualState.zeros(whole)
    state.W[:, :5] = random.normal(size=(3, 5))
    loss, slack = measured(whole, state, 1.0)
    S, expected = X.astype(float) @ state.W.astype(float), np.zeros(len(Y))
    for i, a, b, weight in listed(learner, Y):
        expected[i] += weight * max(0.0, 1 - S[i, a] + S[i, b])
    np.testing.assert_allclose(loss, expected, rtol=1e-4, atol=1e-5)
    assert not slack.any()


def test_each_kind_may_weigh_something_else():
    X, Y = problem(3, unknown=0.1)
    weights = dict(zip(Kind, (0.1, 0.2, 0.3, 0.4)))
    declared = Preferences(weights)
    assert kernel_weights(declared)[0].tolist() == [0.1, 0.2, 0.3, 0.4]
    whole = PreferenceProblem.of(X, check_relevance(Y), declared, fit_intercept=False)
    loss, _ = measured(whole, DualState.zeros(whole), 1.0)
    expected = np.bincount(arcs(Y, declared).instance, arcs(Y, declared).weight, len(Y))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


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


@pytest.mark.parametrize("kind", [Kind.CHAIN, Kind.GRADED])
def test_order_weights_equal_the_reference(kind):
    for grades in ([3, 2, 1], [3, 3, 1], [2, 1, 1, 1], [4, 4, 2, 2, 1], [1, 1]):
        grades = np.array(grades, float)
        m, pairs = len(grades), kernel.ordered_pairs(grades)
        assert pairs == sum(a > b for a in grades for b in grades)
        _, better, worse, weight = arcs(grades[None], Preferences.shared(kind))
        expected = dict(zip(zip(better.tolist(), worse.tolist()), weight))
        for p in range(m):
            for q in range(p + 1, m):
                weight = kernel._order_weight(grades, m, kind is Kind.CHAIN, p, q, pairs)
                assert (weight if pairs else 0.0) == pytest.approx(expected.get((p, q), 0.0))


def test_solved_instances_are_visited_ever_more_rarely():
    X, Y = problem(2, unknown=0.15)
    solver = descent(laid_out(X, Y, ProSVM()), 0.1, tol=1e-6)
    close_gap(solver, 1e-6, 300)
    n, visits = len(X), []
    solver.tol, solver.visits = np.inf, Visits.of(0, n, n)._replace(skip_below=1e9)
    for _ in range(20):
        visits.append(int((solver.visits.skip_left == 0).sum()))
        solver.epoch()
    assert visits[:2] == [n, 0]
    assert sum(visits) == n * 4  # at epochs 0, 2, 6 and 14


class Scripted:
    """A solver whose guesses and measurements are given."""

    promising = 0.5

    def __init__(self, guesses, gaps):
        self.guesses, self.gaps = iter(guesses), iter(gaps)

    def epoch(self):
        return next(self.guesses)

    def gap(self):
        return next(self.gaps)


def test_the_loop_measures_promising_guesses_and_the_last_epoch_only():
    seen = []
    assert close_gap(Scripted([9, 0.4, 0.8, 0.3], [2, 1]), 1, 9, seen.append) == (1, 4)
    assert seen == [9, 2, 0.8, 1]
    assert close_gap(Scripted([9, 8], [7]), 1, 2) == (7, 2)


def test_a_constant_is_the_last_feature_of_every_row():
    X = np.array([[0.0, 2.0], [0.0, 0.0], [3.0, 4.0]])
    wider = with_constant(as_rows(X))
    expected = as_rows(np.column_stack([X, np.ones(3)]))
    for ours, theirs in zip(wider, expected):
        np.testing.assert_array_equal(ours, theirs)
