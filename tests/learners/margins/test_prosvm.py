"""ProSVM against a slow quadratic program over listed preferences, and against its promises."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from labelrank import ProSVM
from labelrank.errors import InputError
from labelrank.persistence import load, save
from labelrank.preferences import PRO_LOSS, Kind, Preferences, arcs

C_VALUES = [0.1, 1.0, 10.0]


def problem(seed=0, n=24, d=5, K=4, unknown=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = random.integers(0, 4, size=(n, K)) * (random.random((n, K)) < 0.7) * 1.0
    Y[random.random(Y.shape) < unknown] = np.nan
    return X.astype(np.float32).astype(float), Y


def optimum(X, preferences, n_blocks_of_weights, C):
    """The value of the dual quadratic program, by a general bounded solver."""
    A = np.zeros((len(preferences), n_blocks_of_weights, X.shape[1]))
    for row, (i, better, worse, _) in enumerate(preferences):
        A[row, better] += X[i]
        A[row, worse] -= X[i]
    A = A.reshape(len(preferences), -1)
    bounds = [(0.0, C * weight) for *_, weight in preferences]

    def negative_dual(alpha):
        w = alpha @ A
        return 0.5 * w @ w - alpha.sum(), A @ w - 1.0

    options = dict(maxiter=20_000, maxfun=100_000, ftol=1e-15, gtol=1e-8, maxcor=30)
    start = np.zeros(len(preferences))
    found = minimize(negative_dual, start, jac=True, bounds=bounds, options=options)
    return -found.fun


def objective(X, preferences, W, C):
    S = X @ W.T
    losses = sum(w * max(0.0, 1.0 - S[i, a] + S[i, b]) for i, a, b, w in preferences)
    return 0.5 * (W**2).sum() + C * losses


def weights(learner):
    return np.vstack([learner.coef_, learner.threshold_coef_]).astype(float)


def listed(learner, Y):
    """(instance, better, worse, weight) of every preference that the learner declares."""
    return list(zip(*arcs(Y, learner.preferences)))


@pytest.mark.parametrize("C", C_VALUES)
@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.filterwarnings("ignore:ADMM has not converged")
def test_the_objective_is_that_of_the_quadratic_program(C, approximate, ordered):
    X, Y = problem(unknown=0.1)
    preferences = listed(ProSVM(approximate=approximate, ordered=ordered), Y)
    best = optimum(X, preferences, 5, C)
    options = dict(C=C, approximate=approximate, ordered=ordered, random_state=0)
    for n_blocks, allowed in ((1, 1.002), (4, 1.01)):
        learner = ProSVM(n_blocks=n_blocks, **options).fit(X, Y)
        reached = objective(X, preferences, weights(learner), C)
        assert best * (1 - 1e-5) <= reached <= allowed * best
        assert learner.objective_ == pytest.approx(reached, rel=1e-4)
        assert (1 - learner.dual_gap_) * learner.objective_ <= best * (1 + 1e-4)


@pytest.mark.parametrize("C", C_VALUES)
def test_any_number_of_blocks_reaches_the_same_objective(C):
    X, Y = problem(3, n=40)
    reached = [
        ProSVM(C=C, n_blocks=Z, random_state=0, max_rounds=300).fit(X, Y).objective_
        for Z in (1, 2, 8)
    ]
    assert max(reached) <= 1.0015 * min(reached)


def test_prosvm_learns_the_preferences_of_pro_loss_and_the_bound_those_of_eq_9():
    assert ProSVM().preferences == PRO_LOSS
    grades = np.array([[5.0, 4.0, 3.0, 2.0, 0.0]])
    weight = {(a, b): w for _, a, b, w in listed(ProSVM(approximate=True), grades)}
    ends = {(k, 5): 0.5 / 4 for k in range(4)} | {(5, 4): 0.5}
    chain = {(i - 1, i): i * (4 - i) / (2 * 4 * 3) for i in (1, 2, 3)}
    assert weight == pytest.approx(ends | chain)


@given(grades=st.lists(st.integers(1, 3), min_size=2, max_size=6), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_chain_bounds_all_ordered_pairs(grades, seed):
    """Mean error over ordered pairs <= weighted errors of the chain, ties included."""
    scores = np.random.default_rng(seed).normal(size=len(grades))
    whole, bound = (
        sum(w * (scores[a] <= scores[b]) for _, a, b, w in zip(*arcs([grades], declared)))
        for declared in (Preferences.shared(Kind.GRADED), Preferences.shared(Kind.CHAIN))
    )
    assert whole <= bound + 1e-12


def test_scores_are_relative_to_the_threshold_label():
    X, Y = problem(1)
    for intercept in (False, True):
        learner = ProSVM(C=5, fit_intercept=intercept, random_state=0).fit(X, Y)
        W = learner.coef_ - learner.threshold_coef_
        shift = learner.intercept_ - learner.threshold_intercept_
        np.testing.assert_allclose(learner.decision_function(X), X @ W.T + shift, atol=1e-4)
        reason = learner.why(X[0], 2)
        assert reason.margin == pytest.approx(learner.decision_function(X[:1])[0, 2], abs=1e-4)


def test_the_intercept_is_the_weight_of_a_constant_feature():
    X, Y = problem(2)
    learner = ProSVM(fit_intercept=True, random_state=0, tol=1e-5).fit(X, Y)
    wider = ProSVM(random_state=0, tol=1e-5).fit(np.column_stack([X, np.ones(len(X))]), Y)
    np.testing.assert_allclose(learner.intercept_, wider.coef_[:, -1], rtol=1e-6)
    assert learner.objective_ == pytest.approx(wider.objective_, rel=1e-6)


def test_a_path_of_C_finds_what_separate_fits_find():
    X, Y = problem(4, n=60)
    options = dict(random_state=0, tol=1e-4)
    found = ProSVM(**options).path(X, Y, C_VALUES)
    for learner, C in zip(found, C_VALUES):
        alone = ProSVM(C=C, **options).fit(X, Y)
        assert learner.C == C
        assert learner.objective_ == pytest.approx(alone.objective_, rel=2e-4)
        assert learner.rank(X).shape == Y.shape


def test_warm_start_needs_fewer_epochs():
    X, Y = problem(5, n=200)
    learner = ProSVM(C=10, warm_start=True, random_state=0, tol=1e-4).fit(X, Y)
    cold = learner.n_iter_
    assert learner.fit(X, Y).n_iter_ < cold / 2


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_duals_of_another_c_are_scaled_to_it(C):
    """Those of a larger C are not allowed at a smaller one; scaled, they are near the answer."""
    X, Y = problem(5, n=200)
    options = dict(random_state=0, tol=1e-4)
    warm = ProSVM(C=10, warm_start=True, **options).fit(X, Y).set_params(C=C).fit(X, Y)
    assert warm.duals_.alpha.max() <= 1.001 * C
    alone = ProSVM(C=C, **options).fit(X, Y)
    assert warm.objective_ == pytest.approx(alone.objective_, rel=2e-4)
    assert warm.dual_gap_ <= 1e-4


def test_a_path_keeps_the_parameters_it_was_asked_for_and_no_duals():
    X, Y = problem(5)
    learner = ProSVM(n_blocks=3, random_state=0)
    for C, fitted in zip(C_VALUES, learner.path(X, Y, C_VALUES)):
        assert fitted.get_params() == learner.get_params() | {"C": C}
        assert fitted.duals_ is None


@pytest.mark.parametrize("changed", ["X", "Y", "intercept"])
def test_warm_start_on_other_data_of_the_same_size_begins_anew(changed):
    X, Y = problem(5)
    options = dict(C=3.0, warm_start=True, random_state=0, tol=1e-4)
    learner = ProSVM(**options).fit(X, Y)
    if changed == "X":
        X = X + 1.0
    elif changed == "Y":
        Y = Y[:, ::-1]
    else:
        options["fit_intercept"] = True
    alone = ProSVM(**options).fit(X, Y)
    np.testing.assert_array_equal(learner.set_params(**options).fit(X, Y).coef_, alone.coef_)
    assert learner.dual_gap_ == alone.dual_gap_


def test_a_saved_learner_starts_as_warm_as_the_original(tmp_path):
    X, Y = problem(5)
    learner = ProSVM(C=3.0, warm_start=True, random_state=0).fit(X, Y)
    save(learner, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.fit(X, Y).coef_, learner.fit(X, Y).coef_)


def test_sparse_dense_and_threads_give_the_same_bits():
    X, Y = problem(6, n=50)
    one = ProSVM(random_state=0, n_blocks=3, n_jobs=1).fit(X, Y)
    two = ProSVM(random_state=0, n_blocks=3, n_jobs=2).fit(sp.csr_array(X), sp.csr_array(Y))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_tied_grades_state_no_preference():
    X, Y = problem(7)
    tied = (Y > 0).astype(float)
    ordered = ProSVM(random_state=0).fit(X, tied)
    unordered = ProSVM(random_state=0, ordered=False).fit(X, tied)
    np.testing.assert_array_equal(ordered.coef_, unordered.coef_)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("grade", [0.0, 1.0])
def test_all_or_no_labels_relevant_is_learned(grade, approximate):
    X = np.random.default_rng(0).random((20, 4)) + 0.1
    Y = np.full((20, 3), grade)
    learner = ProSVM(C=10, approximate=approximate, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(learner.predict(X), Y)


def test_one_instance_constant_features_and_zero_rows_are_solved():
    learner = ProSVM(C=100, random_state=0).fit([[1.0, 1.0]], [[2, 1, 0]])
    assert learner.rank([[1.0, 1.0]]).tolist() == [[0, 1, 2]]
    X, Y = problem(8)
    X[:, 2], X[5] = 1.0, 0.0
    learner = ProSVM(C=10, random_state=0).fit(X, Y)
    assert np.isfinite(learner.coef_).all()
    assert learner.dual_gap_ <= 1e-3
    nothing = ProSVM(random_state=0).fit(np.zeros_like(X), Y)
    assert not nothing.coef_.any()
    assert nothing.dual_gap_ <= 1e-6


@pytest.mark.parametrize("wrong", [{"C": 0}, {"C": -1}, {"C": "1"}, {"tol": 0}, {"n_blocks": 0},
                                   {"eta": -0.1}, {"max_rounds": 0}, {"approximate": "yes"},
                                   {"C": float("nan")}, {"C": float("inf")}])  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    X, Y = problem()
    with pytest.raises(InputError, match=f"got {next(iter(wrong))}="):
        ProSVM(**wrong).fit(X, Y)


def test_duals_that_do_not_fit_are_refused_with_figures_before_starting():
    X, Y = problem(n=200, K=12)
    with pytest.raises(InputError, match=r"duals of [\d,]+ preferences need .* approximate=True"):
        ProSVM(memory_limit=1e-5).fit(X, Y)


def test_stopping_early_warns_with_the_gap():
    X, Y = problem(n=100)
    with pytest.warns(ConvergenceWarning, match="gap is"):
        ProSVM(C=100, max_iter=1, tol=1e-6).fit(X, Y)


def test_admm_that_does_not_converge_warns_with_its_residuals():
    X, Y = problem(n=60)
    with pytest.warns(ConvergenceWarning, match=r"primal residual .*dual residual"):
        ProSVM(C=10, n_blocks=6, max_rounds=2).fit(X, Y)


def test_more_blocks_than_instances_is_solved():
    X, Y = problem(n=3)
    learner = ProSVM(n_blocks=10, random_state=0).fit(X, Y)
    assert learner.objective_ == pytest.approx(
        ProSVM(random_state=0).fit(X, Y).objective_, rel=2e-3
    )


def test_progress_shows_the_gap(capfd):
    X, Y = problem()
    ProSVM(verbose=1, random_state=0).fit(X, Y)
    ProSVM(verbose=1, random_state=0, n_blocks=2).fit(X, Y)
    assert capfd.readouterr().err.count("gap") >= 2


def test_renaming_labels_renames_the_model():
    X, Y = problem(9, n=40)
    name = np.array([2, 0, 3, 1])
    options = dict(C=3.0, tol=1e-5, max_iter=20_000, random_state=0)
    plain, renamed = ProSVM(**options).fit(X, Y), ProSVM(**options).fit(X, Y[:, name])
    assert renamed.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    np.testing.assert_allclose(renamed.coef_, plain.coef_[name], atol=0.02)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("Y", [np.array([[1], [0]] * 6), np.full((12, 3), np.nan)])
def test_one_label_or_only_unknown_labels_are_learned(Y, approximate):
    X = np.random.default_rng(0).normal(size=(12, 3))
    learner = ProSVM(approximate=approximate, random_state=0).fit(X, Y)
    assert learner.decision_function(X).shape == Y.shape
    assert learner.coef_.any() == (Y.shape[1] == 1)
    assert learner.dual_gap_ <= 1e-3
