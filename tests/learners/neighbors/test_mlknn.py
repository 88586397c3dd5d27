"""ML-kNN against the paper's counts and probabilities, computed one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrank import MLkNN
from labelrank.errors import InputError
from labelrank.learners.neighbors import InvertedIndex


def neighbours_of(x, X, k, leave_out=None, metric="euclidean"):
    """The k nearest rows; equally near ones by number. Integers, so that nothing is rounded."""
    if metric == "euclidean":
        far = ((X - x) ** 2).sum(axis=1)
    else:
        lengths = (X**2).sum(axis=1)
        product = X @ x
        far = -np.sign(product) * product**2 / lengths
    order = [i for i in np.lexsort((np.arange(len(X)), far)) if i != leave_out]
    return order[:k]


def probabilities(X, Y, queries, k, s):
    """P(label | neighbours): the formulas of the paper, label by label."""
    found = np.empty((len(queries), Y.shape[1]))
    for label in range(Y.shape[1]):
        y = Y[:, label]
        known = ~np.isnan(y)
        counts = {0: np.zeros(k + 1), 1: np.zeros(k + 1)}
        for i in np.flatnonzero(known):
            near = neighbours_of(X[i], X, k, leave_out=i)
            counts[int(y[i] > 0)][int((y[near] > 0).sum())] += 1
        prior = (s + (y[known] > 0).sum()) / (2 * s + known.sum())
        for q, x in enumerate(queries):
            c = int((y[neighbours_of(x, X, k)] > 0).sum())
            with_label, without = (
                chance * (s + counts[b][c]) / (s * (k + 1) + counts[b].sum())
                for b, chance in ((1, prior), (0, 1 - prior))
            )
            found[q, label] = with_label / (with_label + without)
    return found


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n, d, K = draw(st.integers(3, 15)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    Y = (rng.random((n, K)) < 0.4).astype(float)
    if draw(st.booleans()):
        Y[rng.random((n, K)) < 0.1] = np.nan
    queries = rng.integers(-2, 3, (5, d)).astype(float)
    queries[~queries.any(axis=1)] = 1.0  # of an instance of zeros nothing may be known
    return X, Y, queries, draw(st.integers(1, n - 1)), draw(st.sampled_from([0.5, 1.0, 2.0]))


@given(problem=problems(), sparse=st.booleans())
@settings(max_examples=60, deadline=None)
def test_probabilities_are_those_of_the_paper(problem, sparse):
    X, Y, queries, k, s = problem
    learner = MLkNN(k, smoothing=s).fit(sp.csr_array(X) if sparse else X, Y)
    np.testing.assert_allclose(
        learner.predict_proba(queries), probabilities(X, Y, queries, k, s), rtol=1e-12
    )


@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_every_search_finds_the_same_neighbours(problem):
    X, Y, queries, k, _ = problem
    expected = [neighbours_of(x, X, k) for x in queries]
    for rows in (X, sp.csr_array(X)):
        assert MLkNN(k).fit(rows, Y)._nearest(queries, k).tolist() == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_index_and_all_distances_agree(form):
    rng = np.random.default_rng(5)
    X, queries = rng.normal(size=(60, 4)), rng.normal(size=(10, 4))
    Y = (rng.random((60, 3)) < 0.3).astype(int)
    expected = [neighbours_of(x, X, 5, metric="cosine") for x in queries]
    for algorithm in ("brute", "index"):
        learner = MLkNN(5, metric="cosine", algorithm=algorithm).fit(form(X), Y)
        assert learner._nearest(form(queries), 5).tolist() == expected
    unit = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    brute, index = (MLkNN(5, algorithm=a).fit(form(unit), Y) for a in ("brute", "index"))
    np.testing.assert_array_equal(brute.log_odds_, index.log_odds_)


def test_frequent_columns_go_through_the_block_and_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 30)) * (rng.random((200, 30)) < np.linspace(0.02, 0.9, 30))
    index = InvertedIndex.of(sp.csr_array(X.astype(float)), "euclidean")
    assert 0 < index.block.shape[1] < 30
    near = index.search(sp.csr_array(X.astype(float)), 7)[1]
    assert near.tolist() == [neighbours_of(x, X, 7) for x in X]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_rounding_of_the_fast_sums_never_decides(metric):
    """Rows that differ by less than single precision can tell are still put in order."""
    X = np.full((20, 50), 1.0)
    X[:, 0] += np.linspace(0, 1e-4, 20)[np.random.default_rng(1).permutation(20)]
    near = InvertedIndex.of(X, metric).search(np.full((1, 50), 1.0), 20)[1][0]
    assert (np.diff(X[near, 0]) >= 0).all()


@pytest.mark.parametrize(("size", "place"), [(1.0, 1e6), (2.0**100, 0.0), (2.0**-100, 0.0)])
def test_rows_of_any_size_and_place_have_their_nearest_neighbours(size, place):
    X = np.random.default_rng(3).integers(-2, 3, (60, 4)) * 1.0
    index = InvertedIndex.of(X * size + place, "euclidean")
    near = index.search(X[:5] * size + place, 6)[1]
    assert near.tolist() == [neighbours_of(x, X, 6) for x in X[:5]]
    out_of_range = index.search(np.full((1, 4), 1e60 * size), 6)[1]
    assert len(set(out_of_range[0])) == 6


def test_an_instance_is_no_neighbour_of_itself_even_among_its_duplicates():
    X = np.zeros((6, 1))
    Y = np.array([[1], [0], [0], [0], [0], [0]])
    learner = MLkNN(2).fit(X, Y)
    assert all(i not in near for i, near in enumerate(learner._around(X)))
    counted = MLkNN(2, count_self=True).fit(X, Y)
    assert counted._around(X).tolist() == [[0, 1]] * 6


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(2)
    X = sp.random_array((3000, 200), density=0.05, rng=rng, format="csr")
    Y = (rng.random((3000, 5)) < 0.2).astype(int)
    one, four = (MLkNN(n_jobs=n_jobs).fit(X, Y).decision_function(X) for n_jobs in (1, 4))
    np.testing.assert_array_equal(one, four)


def test_fewer_instances_than_neighbours_and_a_single_one_are_learned():
    assert MLkNN(10).fit([[0.0], [1.0], [2.0]], [[1], [1], [0]]).n_neighbors_ == 2
    alone = MLkNN(10).fit([[0.0]], [[1, 0]])
    assert alone.n_neighbors_ == 0
    assert alone.predict([[5.0]]).tolist() == [[1, 0]]


def test_zero_rows_and_zero_queries_have_neighbours():
    X = sp.csr_array(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]]))
    learner = MLkNN(1).fit(X, np.array([[1], [0], [0]]))
    assert learner._nearest(sp.csr_array((1, 2)), 3).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize(
    "wrong", [{"n_neighbors": 0}, {"smoothing": 0}, {"metric": "taxi"}, {"algorithm": "tree"}]
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        MLkNN(**wrong).fit([[1.0], [2.0]], [[1], [0]])


def test_the_index_is_refused_where_it_would_find_others():
    with pytest.raises(InputError, match="unequal length"):
        MLkNN(1, algorithm="index").fit([[1.0], [2.0]], [[1], [0]])


@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4])
def test_an_offset_in_single_precision_moves_no_neighbour(offset):
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(200, 12)) + offset).astype(np.float32)
    Y = (X[:, :3] > offset).astype(int)
    queries = (rng.normal(size=(40, 12)) + offset).astype(np.float32)
    exact = queries.astype(np.float64)[:, None, :] - X.astype(np.float64)
    expected = np.argsort((exact**2).sum(axis=2), axis=1, kind="stable")[:, :10]
    assert MLkNN(10).fit(X, Y)._nearest(queries, 10).tolist() == expected.tolist()
