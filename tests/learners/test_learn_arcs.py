"""Single preferences, learned by each learner that can read them, against slow plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from labelrank import (
    BinaryRelevancePerceptron,
    BinaryRelevanceSVM,
    EmbeddingCodingPLM,
    EmbeddingPCAPLM,
    MulticlassMultilabelPerceptron,
    PairwisePerceptron,
    PreferenceLearningMachine,
    ProSVM,
    RankSVM,
    persistence,
)
from labelrank.errors import InputError
from labelrank.preferences import Arcs
from labelrank.testing import snapshot

RANDOM = np.random.default_rng(3)
X = np.round(RANDOM.random((25, 7)) * (RANDOM.random((25, 7)) < 0.7), 2).astype(np.float32)
X[:, 0] += 0.25
Y = (X[:, :5] + 0.3 * RANDOM.random((25, 5)) > 0.5).astype(int)
K = 5
AMONG = [(0, 3, 1), (0, 2, 4), (1, 0, 4), (2, 1, 3), (2, 1, 0), (5, 4, 2), (9, 3, 0)]
WITH_THRESHOLD = [(0, 3, 1), (0, 3, None), (1, None, 2), (1, 0, 4), (2, None, 1), (4, 4, None)]
MOST = dict(n_rows=10, n_labels=K)


def pairs(arcs):
    rows = np.repeat(np.arange(arcs.n_rows), np.diff(arcs.ptr))
    return list(zip(rows.tolist(), arcs.better.tolist(), arcs.worse.tolist(), strict=True))


def both_forms(make):
    return [make(form(X[:10])) for form in (np.asarray, sp.csr_array)]


def slow_perceptron(learner, W, arcs, size, tie_is_wrong):
    """One weight vector per label and 0 for Θ; the mean over what was learned before too."""
    W = np.hstack([W, np.zeros((len(W), 1))])  # Θ
    margin = learner.margin or 0.0
    for i, a, b in arcs:
        s = X[i] @ (W[:, a] - W[:, b])
        moving = [k for k in (a, b) if k < K]
        if learner.step == "pa":
            by = min(learner.C, max(0.0, 1 - s) / (len(moving) * (X[i] @ X[i])))
        else:
            by = size * 2 / len(moving) * (s < margin or (tie_is_wrong and s == margin))
        for k, sign in ((a, 1), (b, -1)):
            if k < K:
                W[:, k] += sign * by * X[i]
    return W[:, :K]


@pytest.mark.parametrize("options", [{}, {"margin": 0.4}, {"step": "pa", "C": 0.3}])
def test_binary_relevance_moves_the_labels_of_an_arc(options):
    arcs = Arcs.of(WITH_THRESHOLD + AMONG, **MOST)
    learner = BinaryRelevancePerceptron(random_state=0, **options).fit(X, Y)
    expected = slow_perceptron(
        learner, learner.coef_.T.astype(float), pairs(arcs), 1.0, learner.margin is not None
    )
    learner.learn_arcs(X[:10], arcs)
    np.testing.assert_allclose(learner.coef_.T, expected, atol=1e-4)


@pytest.mark.parametrize("averaging", [None, "averaged"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_arcs_with_the_threshold_are_examples_of_one_known_label(averaging, fit_intercept):
    options = {"averaging": averaging, "fit_intercept": fit_intercept, "random_state": 0}
    stated, shown = (BinaryRelevancePerceptron(**options).fit(X, Y) for _ in range(2))
    stated.learn_arcs(X[:3], Arcs.of([(0, 3, None), (1, None, 2), (2, None, 3)], n_rows=3,
                                     n_labels=K))  # fmt: skip
    known = np.full((3, K), np.nan)
    known[0, 3], known[1, 2], known[2, 3] = 1, 0, 0
    shown.partial_fit(X[:3], known)
    np.testing.assert_allclose(stated.coef_, shown.coef_, atol=1e-5)
    np.testing.assert_allclose(stated.intercept_, shown.intercept_, atol=1e-5)


@pytest.mark.parametrize("options", [
    {}, {"loss": "average_precision"}, {"penalty": "max", "loss": "margin"}, {"step": "pa"},
    {"penalty": "random"}, {"averaging": "averaged"}, {"margin": 0.3}, {"loss": "error_set_size"},
], ids=repr)  # fmt: skip
def test_mmp_takes_an_arc_for_an_example_of_two_known_labels(options):
    stated, shown = (
        MulticlassMultilabelPerceptron(random_state=0, **options).fit(X, Y) for _ in range(2)
    )
    arcs = Arcs.of(AMONG, **MOST)
    stated.learn_arcs(X[:10], arcs)
    known = np.full((len(AMONG), K), np.nan)
    for t, (_, a, b) in enumerate(pairs(arcs)):
        known[t, a], known[t, b] = 1, 0
    shown.partial_fit(X[[i for i, _, _ in pairs(arcs)]], known)
    np.testing.assert_allclose(stated.coef_, shown.coef_, atol=1e-4)


@pytest.mark.parametrize("averaging", [None, "averaged"])
def test_plm_adds_violated_arcs(averaging):
    learner = PreferenceLearningMachine(averaging=averaging, random_state=0, epochs=2).fit(X, Y)
    W, U, n = learner._W.astype(float), learner._U.copy(), learner.n_graphs_
    arcs = Arcs.of(AMONG, **MOST)
    learner.learn_arcs(X[:10], arcs)
    for i, a, b in pairs(arcs):
        if X[i] @ (W[:, a] - W[:, b]) <= 0:
            for k, sign in ((a, 1), (b, -1)):
                W[:, k] += sign * X[i]
                U[:, k] += sign * n * X[i]
        n += 1
    expected = W - U / n if averaging else W
    np.testing.assert_allclose(learner.coef_.T, expected, atol=1e-4)
    assert learner.n_graphs_ == n


def test_plm_with_a_kernel_gives_the_same_scores():
    arcs = Arcs.of(AMONG, **MOST)
    plain, dual = (
        PreferenceLearningMachine(kernel=kernel, random_state=0, epochs=2).fit(X, Y)
        for kernel in (None, "linear")
    )
    for one in (plain, dual):
        one.learn_arcs(X[:10], arcs)
    np.testing.assert_allclose(plain.decision_function(X), dual.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("make", [EmbeddingPCAPLM, EmbeddingCodingPLM])
@pytest.mark.parametrize("update", ["perceptron", "adagrad"])
def test_embeddings_learn_arcs_within_an_instance(make, update):
    learner = make(3, epochs=2, preferences_per_epoch=40, update=update, random_state=0).fit(X, Y)
    again = persistence.digest(learner)
    arcs = Arcs.of([(0, 3, 1)] * 30, n_rows=1, n_labels=K)
    before = learner.decision_function(X[:1])[0]
    learner.learn_arcs(X[:1], arcs)
    after = learner.decision_function(X[:1])[0]
    assert persistence.digest(learner) != again
    if before[3] < before[1]:
        assert after[3] - after[1] > before[3] - before[1]


def test_ep_plm_adds_the_outer_product_of_code_difference_and_instance():
    learner = EmbeddingPCAPLM(3, epochs=1, preferences_per_epoch=20, random_state=0).fit(X, Y)
    W = learner._W.values.astype(float) * learner._W.state[0]
    M = learner._fixed_codes.astype(float)
    sums, time = W * 0, 0
    mean, steps = learner.embedding_.T.astype(float), learner._clock
    arcs = Arcs.of(AMONG, **MOST)
    learner.learn_arcs(X[:10], arcs)
    for i, a, b in pairs(arcs):
        if X[i] @ W @ (M[a] - M[b]) <= 0:
            W += np.outer(X[i], M[a] - M[b])
        sums += W
        time += 1
    expected = (mean * steps + sums) / (steps + time)
    np.testing.assert_allclose(learner.embedding_.T, expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("representation", ["primal", "dual"])
@pytest.mark.parametrize("margin", [None, 0.5])
def test_pairs_learn_their_own_arcs(calibrated, representation, margin):
    arcs = Arcs.of((WITH_THRESHOLD if calibrated else []) + AMONG, **MOST)
    for instances in (X[:10], sp.csr_array(X[:10])):
        learner = PairwisePerceptron(
            calibrated=calibrated, representation=representation, margin=margin, random_state=0
        ).fit(X, Y)
        width = K + calibrated
        w = {(u, v): learner.scorer_.weights(u, v).astype(float)
             for u in range(width) for v in range(u + 1, width)}  # fmt: skip
        learner.learn_arcs(instances, arcs)
        for i, a, b in pairs(arcs):
            u, v, y = (a, b, 1) if a < b else (b, a, -1)
            s = X[i] @ w[u, v]
            wrong = (s >= 0) != (y > 0) if margin is None else y * s <= margin
            w[u, v] += 2 * y * wrong * X[i]
        for (u, v), expected in w.items():
            np.testing.assert_allclose(learner.scorer_.weights(u, v), expected, atol=1e-4)


def slow_svm(W, arcs, C):
    """The dual by L-BFGS-B: max Σα(1 - W₀·z) - ½‖Σαz‖², 0 ≤ α ≤ C."""
    d, width = W.shape
    Z = np.zeros((len(arcs), d, width))
    for t, (i, a, b) in enumerate(arcs):
        Z[t, :, a], Z[t, :, b] = X[i], -X[i]
    Z = Z.reshape(len(arcs), -1)
    linear, Q = 1 - Z @ W.ravel(), Z @ Z.T
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - linear @ a, np.zeros(len(arcs)), jac=lambda a: Q @ a - linear,
        bounds=[(0, C)] * len(arcs), method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-10},
    )  # fmt: skip
    return W + (found.x @ Z).reshape(d, width)


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_prosvm_stays_near_what_it_was(C):
    learner = ProSVM(C=C, tol=1e-6, random_state=0).fit(X, Y)
    before = np.column_stack([learner.coef_.T, learner.threshold_coef_]).astype(float)
    arcs = Arcs.of(WITH_THRESHOLD + AMONG, **MOST)
    expected = slow_svm(before, pairs(arcs), C)
    for form in (np.asarray, sp.csr_array):
        learner = ProSVM(C=C, tol=1e-6, random_state=0).fit(X, Y).learn_arcs(form(X[:10]), arcs)
        found = np.column_stack([learner.coef_.T, learner.threshold_coef_])
        np.testing.assert_allclose(found, expected, atol=2e-3)


def test_ranksvm_stays_near_what_it_was_and_keeps_its_cut_of_scores():
    learner = RankSVM(tol=1e-6, random_state=0).fit(X, Y)
    before = np.column_stack([learner.coef_.T, np.zeros(7)]).astype(float)
    arcs = Arcs.of(AMONG, **MOST)
    learner.learn_arcs(X[:10], arcs)
    np.testing.assert_allclose(learner.coef_.T, slow_svm(before, pairs(arcs), 1.0)[:, :K],
                               atol=2e-3)  # fmt: skip
    reason = learner.why(X[0], 2)
    assert reason.margin == pytest.approx(float(learner.decision_function(X[:1])[0, 2]), abs=1e-5)


ALL = [
    BinaryRelevancePerceptron(random_state=0), MulticlassMultilabelPerceptron(random_state=0),
    PairwisePerceptron(random_state=0), PairwisePerceptron(calibrated=False, random_state=0),
    PreferenceLearningMachine(random_state=0), EmbeddingPCAPLM(3, epochs=1, random_state=0),
    EmbeddingCodingPLM(3, epochs=1, random_state=0), ProSVM(random_state=0),
    RankSVM(random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_what_is_no_preference_is_refused_and_leaves_no_trace(learner):
    learner.fit(X, Y)
    before = snapshot(vars(learner))
    circle = Arcs.of([(0, 0, 1), (0, 1, 2), (0, 2, 0)], n_rows=1, n_labels=K)
    for rows, arcs, words in (
        (X[:1], circle, "contradict: "),
        (X[:2], Arcs.of(AMONG, **MOST), "a row each"),
        (X[:1], Arcs.of([(0, 5, 1)], n_rows=1, n_labels=6), "a row each"),
        (X[:1], [(0, 1, 2)], "preferences.Arcs"),
        (X[:1] * np.nan, Arcs.of([(0, 0, 1)], n_rows=1, n_labels=K), "NaN"),
    ):
        with pytest.raises(InputError, match=words):
            learner.learn_arcs(rows, arcs)
    if not learner._reads_threshold:
        with pytest.raises(InputError, match="ranks without one"):
            learner.learn_arcs(X[:1], Arcs.of([(0, 0, None)], n_rows=1, n_labels=K))
    assert snapshot(vars(learner)) == before


@pytest.mark.parametrize("learner", ALL, ids=repr)
def test_a_saved_learner_learns_on(learner, tmp_path):
    arcs = Arcs.of(AMONG, **MOST)
    learner.fit(X, Y)
    loaded = persistence.load(persistence.save(learner, tmp_path / "m"))
    for one in (learner, loaded):
        one.learn_arcs(X[:10], arcs)
    np.testing.assert_array_equal(learner.decision_function(X), loaded.decision_function(X))


def test_who_cannot_read_them_has_no_such_method():
    assert not hasattr(BinaryRelevanceSVM(), "learn_arcs")
    assert not hasattr(PairwisePerceptron(shortlist=("br", 3)), "learn_arcs")
