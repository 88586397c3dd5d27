"""BR and MMP against the same mathematics written for reading, not speed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrank import BinaryRelevancePerceptron, MulticlassMultilabelPerceptron
from labelrank.kernels.random import uniform
from labelrank.preferences import arcs

EXACT = dict(rtol=0, atol=0)


def binary_step(y, score, x, margin, step, C):
    """How far one binary learner moves along x."""
    if step == "pa":
        loss, gain = 1.0 - y * score, float(x @ x)
        return y * min(C, loss / gain) if loss > 0 and gain > 0 else 0.0
    if margin is None:
        prediction = 1 if score >= 0 else -1
        return float(y - prediction)
    return 2.0 * y if y * score <= margin else 0.0


def br_oracle(X, Y, epochs, margin=None, step="perceptron", C=1.0):
    """Last weights, mean of the weights after each example, operations."""
    W, mean, seen, operations = np.zeros((Y.shape[1], X.shape[1])), 0.0, 0, 0
    for _ in range(epochs):
        for x, y in zip(X, Y):
            for k, grade in enumerate(y):
                operations += 1
                if np.isnan(grade):
                    continue
                move = binary_step(1 if grade > 0 else -1, float(W[k] @ x), x, margin, step, C)
                operations += move != 0
                W[k] += move * x
            mean = mean + W
            seen += 1
    return W, mean / seen, operations


def integers(seed, n=30, d=6, K=5, unknown=0.0):
    """Small integers: sums are exact in any precision and order."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n, d)).astype(float)
    Y = random.integers(0, 3, size=(n, K)) * (random.random((n, K)) < 0.5)
    Y = Y.astype(float)
    Y[random.random(Y.shape) < unknown] = np.nan
    return X, Y


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("margin", [None, 0.0, 2.5])
@pytest.mark.parametrize("unknown", [0.0, 0.3])
def test_br_equals_the_oracle_to_the_last_bit(epochs, margin, unknown):
    X, Y = integers(epochs, unknown=unknown)
    learner = BinaryRelevancePerceptron(epochs=epochs, margin=margin, shuffle=False).fit(X, Y)
    W, _, operations = br_oracle(X, Y, epochs, margin)
    np.testing.assert_allclose(learner.coef_, W, **EXACT)
    assert learner.n_operations_["train"] == operations


def test_averaged_weights_are_the_mean_of_all_intermediate_ones():
    X, Y = integers(1, unknown=0.1)
    learner = BinaryRelevancePerceptron(epochs=3, averaging="averaged", shuffle=False).fit(X, Y)
    _, mean, _ = br_oracle(X, Y, 3)
    np.testing.assert_allclose(learner.coef_, mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(learner.decision_function(X), X @ mean.T, rtol=1e-5, atol=1e-5)


def test_passive_aggressive_steps_equal_the_oracle():
    random = np.random.default_rng(3)
    X, Y = random.normal(size=(40, 5)), random.integers(0, 2, size=(40, 4))
    learner = BinaryRelevancePerceptron(step="pa", C=0.5, epochs=2, shuffle=False).fit(X, Y)
    W, _, _ = br_oracle(X, Y, 2, step="pa", C=0.5)
    np.testing.assert_allclose(learner.coef_, W, rtol=1e-4, atol=1e-5)


def test_labels_beyond_one_block_are_learned_as_alone():
    X, Y = integers(5, n=60, K=150)
    together = BinaryRelevancePerceptron(shuffle=False).fit(X, Y).coef_
    alone = [
        BinaryRelevancePerceptron(shuffle=False).fit(X, Y[:, [k]]).coef_[0] for k in range(150)
    ]
    np.testing.assert_array_equal(together, alone)


def wrong_pairs(grades, scores, margin):
    return [
        (c, d)
        for c in np.flatnonzero(grades > 0)
        for d in np.flatnonzero(grades == 0)
        if scores[c] <= scores[d] + margin
    ]


def loss_of(name, grades, scores, margin):
    relevant, irrelevant = np.flatnonzero(grades > 0), np.flatnonzero(grades == 0)
    value = {k: scores[k] + (margin if grades[k] == 0 else 0.0) for k in [*relevant, *irrelevant]}
    order = sorted(value, key=lambda k: (-value[k], grades[k] > 0))
    rank = {k: r for r, k in enumerate(order, start=1)}
    if name == "is_error":
        return 1.0
    if name == "error_set_size":
        return float(len(wrong_pairs(grades, scores, margin)))
    if name == "margin":
        return float(max(rank[k] for k in relevant) - min(rank[k] for k in irrelevant))
    hits = [
        sum(value[a] >= value[c] for a in relevant) / sum(value[a] >= value[c] for a in value)
        for c in relevant
    ]
    return 1.0 - float(np.mean(hits))


def penalty_of(name, pairs, scores, margin, seed, clock, K):
    if name == "max":
        lowest = min((c for c, _ in pairs), key=lambda c: (scores[c], c))
        highest = min((d for _, d in pairs), key=lambda d: (-scores[d], d))
        return {(lowest, highest): 1.0}
    if name == "random":
        return {(c, d): uniform(seed, clock, c * K + d) for c, d in pairs}
    given = {(c, d): scores[d] + margin - scores[c] for c, d in pairs}
    if name == "uniform" or not any(given.values()):
        return dict.fromkeys(pairs, 1.0)
    return given


def mmp_oracle(X, Y, epochs, loss, penalty, margin=0.0, seed=0):
    W, clock, operations = np.zeros((Y.shape[1], X.shape[1])), 0, 0
    for _ in range(epochs):
        for x, grades in zip(X, Y):
            scores = W @ x
            operations += len(scores)
            pairs = wrong_pairs(grades, scores, margin)
            if pairs:
                given = penalty_of(penalty, pairs, scores, margin, seed, clock, len(scores))
                tau = np.zeros(len(scores))
                for (c, d), p in given.items():
                    tau[c] += p
                    tau[d] -= p
                delta = loss_of(loss, grades, scores, margin)
                W += np.outer(delta * tau / sum(given.values()), x)
                operations += np.count_nonzero(tau)
            clock += 1
    return W, operations


@pytest.mark.parametrize("loss", ["is_error", "error_set_size", "margin", "average_precision"])
@pytest.mark.parametrize("penalty", ["uniform", "proportional", "max", "random"])
@pytest.mark.parametrize("margin", [0.0, 1.5])
def test_mmp_equals_the_oracle(loss, penalty, margin):
    random = np.random.default_rng(7)
    X = random.normal(size=(25, 8))
    _, Y = integers(11, n=25, K=6, unknown=0.1)
    learner = MulticlassMultilabelPerceptron(
        loss=loss, penalty=penalty, margin=margin, epochs=2, shuffle=False, random_state=0
    ).fit(X, Y)
    W, operations = mmp_oracle(X, Y, 2, loss, penalty, margin, seed=learner._seed)
    np.testing.assert_allclose(learner.coef_, W, rtol=2e-3, atol=2e-3)
    assert learner.n_operations_["train"] == operations


@given(seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_first_mmp_step_treats_ties_as_errors(seed):
    X, Y = integers(seed, n=1, K=7)
    learner = MulticlassMultilabelPerceptron(shuffle=False).fit(X, Y)
    W, operations = mmp_oracle(X, Y, 1, "is_error", "uniform")
    np.testing.assert_allclose(learner.coef_, W, rtol=1e-6)
    assert learner.n_operations_["train"] == operations


PERCEPTRONS = [BinaryRelevancePerceptron, MulticlassMultilabelPerceptron]


@given(st.integers(0, 10_000), st.sampled_from(PERCEPTRONS), st.sampled_from(["zeros", "random"]))
@settings(max_examples=80, deadline=None)
def test_a_step_moves_the_labels_of_violated_declared_preferences(seed, make, init):
    """Grades, ties and unknown labels among them; from zero, all scores are ties."""
    X, Y = integers(seed, n=1, unknown=0.2)
    learner = make(margin=0.0, init=init, random_state=0).fit(0 * X, Y)
    before, listed = learner.coef_, arcs(Y, learner.preferences)
    scores, c = np.append(before @ X[0], 0.0), np.zeros(6)
    violated = scores[listed.better] <= scores[listed.worse]
    np.add.at(c, listed.better[violated], 1.0)
    np.add.at(c, listed.worse[violated], -1.0)
    size = 2.0 if make is BinaryRelevancePerceptron else 1.0 / max(violated.sum(), 1)
    expected = before + np.outer(size * c[:5], X[0])  # the threshold stays where it is
    np.testing.assert_allclose(learner.partial_fit(X, Y).coef_, expected, rtol=1e-5, atol=1e-6)


def test_mmp_passive_aggressive_step_repairs_one_pair_exactly():
    x = np.array([[3.0, 4.0]])
    learner = MulticlassMultilabelPerceptron(step="pa", C=10.0, shuffle=False).fit(x, [[1, 0]])
    scores = learner.decision_function(x)[0]
    assert scores[0] - scores[1] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("make", [BinaryRelevancePerceptron, MulticlassMultilabelPerceptron])
def test_sparse_and_dense_input_give_the_same_bits(make):
    X, Y = integers(2, n=40)
    dense = make(random_state=0).fit(X, Y)
    sparse = make(random_state=0).fit(sp.csr_array(X.astype(np.float32)), sp.csr_array(Y))
    np.testing.assert_array_equal(dense.coef_, sparse.coef_)
    assert sp.issparse(sparse.predict(X))
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)).toarray(), dense.predict(X))


def test_random_initial_weights_depend_on_feature_and_label_alone():
    X, Y = np.zeros((1, 3)), np.zeros((1, 130))
    options = dict(init="random", random_state=4)
    wide = BinaryRelevancePerceptron(**options).fit(X, Y).coef_
    narrow = BinaryRelevancePerceptron(**options).fit(X, Y[:, :5]).coef_
    coupled = MulticlassMultilabelPerceptron(**options).fit(X, Y).coef_
    np.testing.assert_array_equal(wide[:5], narrow)
    np.testing.assert_array_equal(wide, coupled)
    assert 0.005 < wide.std() < 0.02
    assert len(np.unique(wide)) == wide.size


def mmp_passive_aggressive(X, Y, penalty, C, seed):
    """Crammer et al. 2006 along the direction of the penalties, for pairs within margin 1."""
    W = np.zeros((Y.shape[1], X.shape[1]))
    for clock, (x, grades) in enumerate(zip(X, Y)):
        scores = W @ x
        pairs = wrong_pairs(grades, scores, 1.0)
        if not pairs:
            continue
        given = penalty_of(penalty, pairs, scores, 1.0, seed, clock, len(scores))
        direction = np.zeros(len(scores))
        for (c, d), p in given.items():
            direction[c] += p / sum(given.values())
            direction[d] -= p / sum(given.values())
        hinge = 1.0 - direction @ scores
        W += min(C, hinge / (x @ x * (direction @ direction))) * np.outer(direction, x)
    return W


@pytest.mark.parametrize("penalty", ["uniform", "proportional", "max", "random"])
@pytest.mark.parametrize("C", [0.05, 10.0])
def test_mmp_passive_aggressive_steps_equal_the_oracle(penalty, C):
    X = np.random.default_rng(8).normal(size=(25, 8))
    _, Y = integers(12, n=25, K=6, unknown=0.1)
    learner = MulticlassMultilabelPerceptron(
        step="pa", penalty=penalty, C=C, shuffle=False, random_state=0
    ).fit(X, Y)
    W = mmp_passive_aggressive(X, Y, penalty, C, learner._seed)
    np.testing.assert_allclose(learner.coef_, W, rtol=2e-3, atol=2e-3)


def test_averaged_mmp_is_the_mean_of_all_intermediate_weights():
    X, Y = integers(13, n=20)
    steps, weights = MulticlassMultilabelPerceptron(), []
    for x, y in zip(X, Y):
        weights.append(steps.partial_fit([x], [y]).coef_)
    averaged = MulticlassMultilabelPerceptron(averaging="averaged", shuffle=False).fit(X, Y)
    np.testing.assert_allclose(averaged.coef_, np.mean(weights, axis=0), rtol=1e-5, atol=1e-6)
    assert not np.allclose(averaged.coef_, weights[-1])


def test_predicting_takes_one_inner_product_per_instance_and_label():
    X, Y = integers(14)
    for make in PERCEPTRONS:
        assert make(random_state=0).fit(X, Y).count_operations(X[:7]) == 7 * Y.shape[1]
