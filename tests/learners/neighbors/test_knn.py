"""Neighbours over the inverted index against brute force, and the votes against counting."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.neighbors import KNeighborsClassifier

from labelrank import InvertedIndexKNN
from labelrank.errors import InputError
from labelrank.learners.neighbors import InvertedIndex, kernels


def brute_force(X, Q, k):
    """All cosines; equal ones by the smaller index."""

    def unit(A):
        lengths = np.linalg.norm(A, axis=1, keepdims=True)
        return A / np.where(lengths > 0, lengths, 1.0)

    cosines = unit(Q) @ unit(X).T
    near = np.argsort(-np.round(cosines, 12), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(cosines, near, axis=1), near


def zipf_documents(n, d=400, seed=0):
    """Counts with common and rare words, as the pruning of the search expects them."""
    random = np.random.default_rng(seed)
    rates = 3.0 / np.arange(1, d + 1) ** 0.8
    return random.poisson(rates * random.gamma(0.5, 2.0, size=(n, d)))


def tfidf(counts):
    idf = np.log((1 + len(counts)) / (1 + (counts > 0).sum(axis=0))) + 1
    return counts * idf


@pytest.mark.parametrize("k", [1, 7, 30])
@pytest.mark.parametrize("signed", [False, True])
def test_neighbours_are_those_of_brute_force(k, signed):
    X = tfidf(zipf_documents(1500)).astype(float)
    if signed:
        X *= np.random.default_rng(1).choice([-1.0, 1.0], X.shape)
    cosines, near = InvertedIndex.of(X[:1400]).search(X[1400:], k)
    expected, expected_near = brute_force(X[:1400], X[1400:], k)
    np.testing.assert_allclose(cosines, expected, atol=1e-12)
    np.testing.assert_array_equal(near, expected_near)


def test_few_rows_are_compared_exactly(monkeypatch):
    """Sums in single precision leave most rows out: otherwise all would be compared exactly."""
    compared = []
    nearest = kernels.nearest
    monkeypatch.setattr(kernels, "nearest", lambda *given: compared.append(nearest(*given)))
    X = tfidf(zipf_documents(3000)).astype(float)
    InvertedIndex.of(X).search(X[:50], 5)
    assert 50 * 5 <= sum(compared) < 50 * 10


values = st.one_of(st.just(0.0), st.sampled_from([1.0, 2.0, -1.0, 0.5, 1e30, 1e-30]))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_small_matrix_gives_the_neighbours_of_brute_force(data):
    n, d = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 5))
    X = data.draw(hnp.arrays(float, (n, d), elements=values))
    Q = data.draw(hnp.arrays(float, (3, d), elements=values))
    k = data.draw(st.integers(1, n))
    cosines, near = InvertedIndex.of(sp.csr_array(X)).search(Q, k)
    expected, expected_near = brute_force(X, Q, k)
    np.testing.assert_allclose(cosines, expected, atol=1e-12)
    assert all(len(set(row)) == k for row in near.tolist())
    exact = brute_force(X, Q, n)[0]
    clear = np.abs(np.diff(np.sort(exact, axis=1))).min(initial=1.0) > 1e-9
    if clear:
        np.testing.assert_array_equal(near, expected_near)


def test_equal_documents_are_ordered_by_index():
    X = np.repeat(np.eye(3), 4, axis=0)
    _, near = InvertedIndex.of(X).search(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]), 6)
    assert near.tolist() == [[4, 5, 6, 7, 0, 1], [0, 1, 2, 3, 4, 5]]


def test_all_documents_are_found_in_order_if_asked_for():
    X = tfidf(zipf_documents(300)).astype(float)
    _, near = InvertedIndex.of(X).search(X[:9], 300)
    np.testing.assert_array_equal(near, brute_force(X, X[:9], 300)[1])


def test_threads_change_no_bit():
    X = tfidf(zipf_documents(900)).astype(float)
    Y = (zipf_documents(900, 12, seed=3) > 1).astype(int)
    one = InvertedIndexKNN(10).fit(X, Y).decision_function(X)
    two = InvertedIndexKNN(10, n_jobs=2).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(one, two)


def test_majority_is_that_of_scikit_learn():
    X = tfidf(zipf_documents(400)).astype(float)
    Y = (zipf_documents(400, 6, seed=3) > 1).astype(int)
    theirs = KNeighborsClassifier(7, metric="cosine", algorithm="brute").fit(X[:300], Y[:300])
    ours = InvertedIndexKNN(7, weights="uniform").fit(X[:300], Y[:300])
    np.testing.assert_array_equal(ours.predict(X[300:]), theirs.predict(X[300:]))


def test_similar_neighbours_weigh_more():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    learner = InvertedIndexKNN(3).fit(X, [[1, 0], [0, 1], [0, 1]])
    query = np.array([[4.0, 1.0]])
    np.testing.assert_allclose(learner.decision_function(query), [[4 / 6, 2 / 6]])
    assert learner.predict(query).tolist() == [[1, 0]]
    learner.set_params(weights="uniform")
    assert learner.predict(query).tolist() == [[0, 1]]


def test_unknown_labels_have_no_vote():
    X = np.ones((3, 1))
    Y = np.array([[1.0, 1.0], [np.nan, 0.0], [0.0, np.nan]])
    learner = InvertedIndexKNN(3, weights="uniform").fit(X, Y)
    np.testing.assert_array_equal(learner.decision_function([[2.0]]), [[0.5, 0.5]])


def test_pieces_equal_the_whole_and_new_labels_are_unknown_before():
    X = tfidf(zipf_documents(200)).astype(float)
    Y = (zipf_documents(200, 6, seed=3) > 1).astype(float)
    whole = InvertedIndexKNN(5).fit(X, Y)
    pieces = InvertedIndexKNN(5)
    for rows in np.array_split(np.arange(200), 7):
        pieces.partial_fit(X[rows], Y[rows])
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))
    late = InvertedIndexKNN(5).partial_fit(X[:100], Y[:100, :4])
    late.partial_fit(X[100:], Y[100:], classes=np.arange(6))
    Y[:100, 4:] = np.nan
    expected = InvertedIndexKNN(5).fit(X, Y)
    np.testing.assert_array_equal(expected.decision_function(X), late.decision_function(X))


def test_wrong_searches_are_refused():
    index = InvertedIndex.of(np.eye(3))
    with pytest.raises(InputError, match="ask for 1 to 3"):
        index.search(np.eye(3), 4)
    with pytest.raises(InputError, match="index has 3"):
        index.search(np.eye(2), 1)
    with pytest.raises(InputError, match="n_neighbors=0"):
        InvertedIndexKNN(0).fit(np.eye(2), np.eye(2))


def test_neighbours_vote_alike_where_all_point_the_other_way():
    X, Y = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), np.array([[1, 0], [1, 0], [0, 1]])
    learner = InvertedIndexKNN(3, weights="similarity").fit(X, Y)
    np.testing.assert_allclose(learner.decision_function([[-1.0, 0.0]]), [[2 / 3, 1 / 3]])


def test_neighbours_vote_alike_where_none_is_similar():
    X, Y = np.eye(4)[:3], np.array([[1, 0], [1, 0], [0, 1]])
    scores = InvertedIndexKNN(3).fit(X, Y).decision_function([[0.0, 0.0, 0.0, 1.0]])
    np.testing.assert_allclose(scores, [[2 / 3, 1 / 3]])
