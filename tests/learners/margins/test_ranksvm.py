"""RankSVM against a quadratic program and a slow threshold; two stages against their parts."""

import numpy as np
import pytest
from test_prosvm import listed, objective, optimum, problem

from labelrank import BaggedRanker, ProSVM, RankSVM, TwoStageRanker
from labelrank.errors import InputError
from labelrank.learners.margins.ranksvm import best_cuts


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.filterwarnings("ignore:ADMM has not converged")
def test_the_objective_is_that_of_the_quadratic_program(C):
    X, Y = problem(11, unknown=0.1)
    preferences = listed(RankSVM(), Y)
    best = optimum(X, preferences, 4, C)
    for n_blocks, allowed in ((1, 1.002), (4, 1.01)):
        learner = RankSVM(C=C, n_blocks=n_blocks, random_state=0).fit(X, Y)
        reached = objective(X, preferences, learner.coef_.astype(float), C)
        assert best * (1 - 1e-5) <= reached <= allowed * best
        assert learner.objective_ == pytest.approx(reached, rel=1e-4)


def errors_at(cut, scores, grades):
    return sum((g > 0) != (s > cut) for s, g in zip(scores, grades) if not np.isnan(g))


def test_cuts_have_the_fewest_labels_on_the_wrong_side():
    random = np.random.default_rng(0)
    scores = random.normal(size=(200, 6))
    grades = random.integers(0, 2, size=(200, 6)).astype(float)
    grades[random.random(grades.shape) < 0.2] = np.nan
    for cut, s, g in zip(best_cuts(scores, grades), scores, grades):
        candidates = np.concatenate([s - 1e-9, s + 1e-9, [-9.0, 9.0]])
        assert errors_at(cut, s, g) == min(errors_at(c, s, g) for c in candidates)


def test_cuts_lie_in_the_middle_of_the_widest_interval_or_at_distance_one():
    scores = np.array([[3.0, 1.0], [3.0, 1.0], [4.0, 3.5]])
    np.testing.assert_allclose(best_cuts(scores, np.array([[0, 0], [1, 1], [1, 0]])), [4, 0, 3.75])
    two_cuts = np.array([[4.0, 3.5, 1.0, 0.0]])
    np.testing.assert_allclose(best_cuts(two_cuts, np.array([[1, 0, 1, 0]])), [0.5])


def test_the_threshold_is_the_least_squares_fit_of_the_cuts():
    X, Y = problem(12, n=60)
    learner = RankSVM(C=10, random_state=0).fit(X, Y)
    raw = X @ learner.coef_.astype(float).T
    features = np.column_stack([raw, np.ones(len(raw))])
    target = best_cuts(raw, Y)
    fitted = np.linalg.lstsq(features, target, rcond=1e-5)[0]  # the scores sum to 0
    expected = raw - (features @ fitted)[:, None]
    np.testing.assert_allclose(learner.decision_function(X), expected, atol=1e-3)
    by_weights = X @ (learner.coef_ - learner.threshold_coef_).T - learner.threshold_intercept_
    np.testing.assert_allclose(learner.decision_function(X), by_weights, atol=1e-3)


@pytest.mark.parametrize("grade", [0.0, 1.0])
def test_all_or_no_labels_relevant_is_predicted(grade):
    X, Y = np.random.default_rng(0).random((20, 4)), np.full((20, 3), grade)
    np.testing.assert_array_equal(RankSVM(random_state=0).fit(X, Y).predict(X), Y)


def test_wrong_C_is_refused():
    X, Y = problem()
    with pytest.raises(InputError, match="got C="):
        RankSVM(C=0).fit(X, Y)


def test_duals_that_do_not_fit_name_the_smaller_learner():
    X, Y = problem(n=200, K=12)
    with pytest.raises(InputError, match=r"ProSVM\(approximate=True\)"):
        RankSVM(memory_limit=1e-5).fit(X, Y)


def test_the_first_stage_decides_the_set_and_the_second_its_order():
    X, Y = problem(13, n=60)
    learner = TwoStageRanker(RankSVM(random_state=0), ProSVM(C=10, random_state=0)).fit(X, Y)
    selector, orderer = learner.selector_, learner.orderer_
    selected = selector.predict(X).toarray().astype(bool)
    np.testing.assert_array_equal(learner.predict(X), selected)
    inside, outside = orderer.decision_function(X), selector.decision_function(X)
    for row, ranking in enumerate(learner.rank(X)):
        chosen = selected[row]
        expected = [
            *sorted(np.flatnonzero(chosen), key=lambda k: -inside[row, k]),
            *sorted(np.flatnonzero(~chosen), key=lambda k: -outside[row, k]),
        ]
        assert ranking.tolist() == expected


def seeds(learner):
    return learner.selector_.random_state, learner.orderer_.estimator.random_state


def test_one_seed_reaches_every_random_state_that_has_none():
    X, Y = problem(13, n=60)
    orderer = BaggedRanker(ProSVM(random_state=7))
    learners = [TwoStageRanker(RankSVM(), orderer, random_state=3).fit(X, Y) for _ in range(2)]
    assert seeds(learners[0]) == seeds(learners[1])
    assert seeds(learners[0])[0] is not None
    assert seeds(learners[0])[1] == 7
    assert learners[0].orderer_.random_state not in (None, seeds(learners[0])[0])
    assert learners[0].selector.random_state is None
    np.testing.assert_array_equal(learners[0].rank(X), learners[1].rank(X))
