"""EC-PLM and EP-PLM against the same mathematics written for reading, not speed."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import EmbeddingCodingPLM, EmbeddingPCAPLM, decoding, preferences
from labelrank.kernels.random import uniform
from labelrank.learners.plm import embedding as drawing
from labelrank.learners.plm.embedding import arcs_in_turn, positive_nodes
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows


def problem(n=40, d=12, K=9, seed=0, unknown=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    Y = (random.random((n, K)) < 0.25).astype(float)
    Y[random.random(Y.shape) < unknown] = np.nan
    return X.astype(np.float32).astype(float), Y


def rows_of(Y):
    return as_rows(check_relevance(Y), np.float64)


def random_arcs(Y, *rest):
    return drawing.random_arcs(Y, positive_nodes(Y), *rest)


def voted(z_of, start, arcs):
    """A perceptron over the arcs: its last matrix and all matrices after each arc."""
    W, past = start.copy(), []
    for arc in arcs:
        z = z_of(arc)
        if arc[0] >= 0 and (W * z).sum() <= 0:
            W = W + z
        past.append(W)
    return W, past


def embedding_direction(X, M):
    return lambda a: np.outer(M[a[1]], X[a[0]]) - np.outer(M[a[3]], X[a[2]])


def code_direction(X, W, K):
    def z(a):
        found = np.zeros((K, len(W)))
        found[a[1]] += W @ X[a[0]]
        found[a[3]] -= W @ X[a[2]]
        return found

    return z


@pytest.mark.parametrize("arcs", ["any", "instance"])
def test_ep_plm_equals_the_reference_arc_by_arc(arcs):
    X, Y = problem()
    learner = EmbeddingPCAPLM(
        4, epochs=3, preferences_per_epoch=50, arcs=arcs, code_scale="none", random_state=1
    ).fit(X, Y)
    M = learner.codes_.astype(float)
    drawn = random_arcs(rows_of(Y), 150, learner._seed, 0, arcs == "instance")
    _, past = voted(embedding_direction(X, M), np.zeros((4, 12)), drawn)
    np.testing.assert_allclose(learner.embedding_, np.mean(past, axis=0), rtol=1e-4, atol=1e-5)
    changes = sum(not np.array_equal(a, b) for a, b in zip([0 * past[0], *past], past))
    assert learner.n_violated_ == changes > 10


def of_norm_one(matrix):
    return matrix / np.linalg.norm(matrix)


def test_ec_plm_stays_bounded_with_long_documents():
    X, Y = problem(n=200, d=60, K=20)
    learner = EmbeddingCodingPLM(6, preferences_per_epoch=500, random_state=0).fit(300 * X, Y)
    assert np.linalg.norm(learner.codes_) < 1e3
    assert np.isfinite(learner.decision_function(300 * X)).all()


@pytest.mark.parametrize("arcs", ["any", "instance"])
def test_ec_plm_equals_the_reference_turn_by_turn(arcs):
    X, Y = problem()
    size = 40
    learner = EmbeddingCodingPLM(
        4, epochs=3, preferences_per_epoch=size, arcs=arcs, random_state=1
    ).fit(X, Y)
    M = EmbeddingCodingPLM(4, random_state=1)
    M._seed, M.target_ = learner._seed, learner.target_
    M = M._random_codes(0).astype(np.float32).astype(float)
    W, code_table, W_past, M_past = np.zeros((4, 12)), M, [], []
    for step in range(6):
        drawn = random_arcs(rows_of(Y), size, learner._seed, step * size, arcs == "instance")
        if step % 2 == 0:
            W, past = voted(embedding_direction(X, code_table), W, drawn)
            W, W_past = W / np.linalg.norm(W), W_past + past
        else:
            M, past = voted(code_direction(X, of_norm_one(np.mean(W_past, axis=0)), 9), M, drawn)
            M, M_past = M / np.linalg.norm(M), M_past + past
            code_table = of_norm_one(np.mean(M_past, axis=0))
    W, M = np.mean(W_past, axis=0), np.mean(M_past, axis=0)
    norms = np.linalg.norm(W) * np.linalg.norm(M)
    np.testing.assert_allclose(norms * learner.embedding_, W, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(learner.codes_, M, rtol=2e-3, atol=1e-4)


def instance_reference(X, Y, order, M, seed, negatives, rate, joint):
    d, s, K = X.shape[1], M.shape[1], len(M)
    W, G, H = np.zeros((d, s)), np.zeros(d), np.zeros(K)
    M, W_past, M_past = M.copy(), [], []
    for turn, i in enumerate(order):
        h, g = X[i] @ W, np.zeros(s)
        stored = np.flatnonzero(Y[i] != 0)
        for place, j in enumerate(stored):
            if not Y[i, j] > 0:
                continue
            draws = [
                int(uniform(seed, turn, 1 + place * negatives + c) * K) for c in range(negatives)
            ]
            draws = [q for q in draws if q not in stored]
            if not draws:
                continue
            q = max(draws, key=lambda q: M[q] @ h)
            if (M[j] - M[q]) @ h > 1.0:
                continue
            g += M[j] - M[q]
            if joint:
                for label, sign in ((j, 1), (q, -1)):
                    H[label] += h @ h / s
                    if H[label] > 0:
                        M[label] += sign * rate / np.sqrt(H[label]) * h
        G += X[i] ** 2 * (g @ g / s)
        step = np.divide(rate * X[i], np.sqrt(G), out=np.zeros(d), where=G > 0)
        W = W + np.outer(step, g)
        W_past.append(W)
        M_past.append(M.copy())
    return np.mean(W_past, axis=0), np.mean(M_past, axis=0) if joint else M


@pytest.mark.parametrize("make", [EmbeddingPCAPLM, EmbeddingCodingPLM])
def test_adagrad_steps_equal_the_reference(make):
    X, Y = problem(unknown=0.1)
    settings = dict(init="random") if make is EmbeddingCodingPLM else dict(code_scale="none")
    learner = make(
        4, epochs=2, preferences_per_epoch=40, update="adagrad", negatives=3, random_state=2,
        **settings,
    )  # fmt: skip
    learner.fit(X, Y)
    Y_rows = rows_of(Y)
    labelled = np.unique(positive_nodes(Y_rows).rows)
    draws = [drawing.random_rows(labelled, 40, learner._seed, t) for t in (0, 40)]
    order = np.concatenate(draws)
    fresh = make(4, random_state=2, **settings)
    fresh._seed, fresh.target_ = learner._seed, learner.target_
    start = fresh._first_codes(check_relevance(Y)).astype(np.float32).astype(float)
    joint = make is EmbeddingCodingPLM
    W, M = instance_reference(X, Y, order, start, learner._seed, 3, 0.1, joint)
    np.testing.assert_allclose(learner.embedding_.T, W, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(learner.codes_, M, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("same", [True, False])
def test_arcs_join_relevant_to_known_irrelevant_labels(same):
    _, Y = problem(unknown=0.2)
    arcs = random_arcs(rows_of(Y), 3000, 5, 0, same)
    i, j, k, q = arcs[arcs[:, 0] >= 0].T
    assert (Y[i, j] > 0).all()
    assert (Y[k, q] == 0).all()
    assert (i == k).all() == same
    assert len(np.unique(i * 9 + j)) == (Y > 0).sum()


@pytest.mark.parametrize("make", [EmbeddingPCAPLM, EmbeddingCodingPLM])
def test_arcs_of_one_instance_are_the_preferences_that_the_learner_declares(make):
    _, Y = problem(unknown=0.2)
    listed = preferences.arcs(Y, make.preferences)
    drawn = random_arcs(rows_of(Y), 20_000, 5, 0, True)
    i, j, _, q = drawn[drawn[:, 0] >= 0].T
    assert set(zip(i, j, q)) == set(zip(listed.instance, listed.better, listed.worse))
    assert (listed.weight == 1).all()


def test_arcs_in_turn_visit_each_relevant_label_once_and_look_back_only():
    _, Y = problem()
    i, j, k, _ = arcs_in_turn(rows_of(Y), 10, 5, 3, 0, False).T
    np.testing.assert_array_equal(np.column_stack([i, j]), np.argwhere(Y[10:] > 0) + [10, 0])
    assert (k <= i).all()
    assert (k >= i - 5).all()


def test_an_instance_with_every_label_has_no_arc_of_its_own():
    arcs = random_arcs(rows_of(np.ones((2, 3))), 5, 0, 0, True)
    assert (arcs[:, 0] == -1).all()
    learner = EmbeddingPCAPLM(2, epochs=1, arcs="instance").fit(np.eye(2), np.ones((2, 3)))
    assert learner.n_violated_ == 0


LEARNERS = [
    EmbeddingPCAPLM(5, epochs=2, preferences_per_epoch=300, random_state=0),
    EmbeddingPCAPLM(5, epochs=2, update="adagrad", code_scale="balanced", random_state=0),
    EmbeddingCodingPLM(7, epochs=2, preferences_per_epoch=300, random_state=0),
    EmbeddingCodingPLM(4, epochs=2, init="pca", update="adagrad", random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_scores_are_the_product_of_instances_embedding_and_codes(learner):
    X, Y = problem(K=30)
    scores = learner.fit(sp.csr_array(X), sp.csr_array(Y)).decision_function(X)
    product = X @ learner.embedding_.T @ learner.codes_.T
    np.testing.assert_allclose(scores, product, rtol=1e-4, atol=1e-5 * np.abs(product).max())
    assert learner.embedding_.shape[1] == 12
    assert learner.codes_.shape[0] == 30


@pytest.mark.parametrize(("n", "K"), [(1, 3), (7, 1023), (9, 1024), (6, 2500)])
def test_the_top_equals_the_start_of_the_whole_ranking(n, K):
    X, Y = problem(n=60, K=K)
    learner = EmbeddingPCAPLM(5, epochs=1, random_state=0).fit(X, Y)
    X[0] = 0.0
    for top in (1, 3, 10, 250):
        whole = decoding.rank(learner.decision_function(X[:n]))
        np.testing.assert_array_equal(learner.rank(X[:n], top), whole[:, :top])


def test_the_top_is_found_without_all_scores():
    K, n = 20_000, 1500
    random = np.random.default_rng(0)
    Y = sp.random_array((n, K), density=5 / K, random_state=random, format="csr")
    X = sp.random_array((n, 50), density=0.1, random_state=random, format="csr")
    learner = EmbeddingCodingPLM(4, epochs=1, random_state=0).fit(X, Y)
    tracemalloc.start()
    learner.rank(X, top=10)
    predicted = learner.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert predicted.sum() == n * round(learner.cardinality_)
    assert peak < n * K  # bytes: a quarter of a float32 array of all scores


def test_a_fixed_threshold_and_the_cardinality_cut_the_ranking():
    X, Y = problem()
    learner = EmbeddingPCAPLM(4, epochs=2, random_state=0).fit(X, Y)
    scores = learner.decision_function(X)
    size = round(learner.cardinality_)
    np.testing.assert_array_equal(learner.predict(X) > 0, decoding.first(scores, size))
    cut = float(np.median(scores))
    learner.set_params(threshold=cut)
    np.testing.assert_array_equal(learner.predict(X) > 0, scores > cut)


def test_no_relevant_label_at_all_leaves_all_scores_equal():
    X, _ = problem()
    scores = EmbeddingCodingPLM(3, epochs=1).fit(X, np.zeros((40, 4))).decision_function(X)
    assert (scores == 0).all()
