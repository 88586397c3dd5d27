"""Criteria of a ranking against the same mathematics written for reading, and scikit-learn."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelrank import metrics
from labelrank.errors import InputError
from labelrank.kernels.ranking import tie_rank
from labelrank.preferences import PRO_LOSS_KINDS, arcs


def ranked(grades, scores, tie_key):
    """Known labels, best first: by falling score, ties by rising key."""
    known = [k for k in range(len(grades)) if not math.isnan(grades[k])]
    return sorted(known, key=lambda k: (-scores[k], tie_key(k)))


def oracle(grades, scores, tie_key, worst, k):
    """Every criterion of one row, from explicit 1-based ranks."""
    order = ranked(grades, scores, tie_key)
    rank = {label: position for position, label in enumerate(order, 1)}
    relevant = [c for c in order if grades[c] > 0]
    irrelevant = [c for c in order if grades[c] == 0]
    wrong = sum(rank[c] > rank[b] for c in relevant for b in irrelevant)
    pairs = len(relevant) * len(irrelevant)
    last = max((rank[c] for c in relevant), default=0)
    found = {
        "is_error": float(wrong > 0),
        "error_set_size": float(wrong),
        "ranking_loss": wrong / pairs if pairs else 0.0,
        "margin_loss": float(max(0, last - min(map(rank.get, irrelevant)))) if pairs else 0.0,
        "one_error": float(order[0] not in relevant) if pairs else 0.0,
        "coverage": float(max(0, last - 1)),
        "average_precision_loss": 0.0,
        "precision_at_k": sum(rank[c] <= k for c in relevant) / k,
        "ndcg_at_k": ndcg(grades, rank, relevant, k),
    }
    if pairs:
        found["average_precision_loss"] = 1 - average_precision(scores, rank, relevant, worst)
    return found


def average_precision(scores, rank, relevant, worst):
    """Under "worst", tied labels share the last rank of their group."""

    def shared(c, others):
        tied = [d for d in others if scores[d] == scores[c]] if worst else [c]
        return max(rank[d] for d in tied)

    total = 0.0
    for c in relevant:
        place = shared(c, rank)
        total += sum(rank[d] <= place for d in relevant) / place
    return total / len(relevant)


def ndcg(grades, rank, relevant, k):
    if not relevant:
        return 0.0
    gain = sum(grades[c] / math.log2(1 + rank[c]) for c in relevant if rank[c] <= k)
    ideal = sorted((grades[c] for c in relevant), reverse=True)[:k]
    return gain / sum(g / math.log2(1 + r) for r, g in enumerate(ideal, 1))


def pro_oracle(Y, scores, threshold):
    """Summed errors of the explicit arcs, weighted as PRO loss weighs them."""
    losses = np.zeros(len(Y))
    extended = np.hstack([scores.astype(float), np.full((len(Y), 1), threshold)])
    for i, better, worse, weight in zip(*arcs(Y, PRO_LOSS_KINDS, "pro_loss"), strict=True):
        a, b = extended[i, better], extended[i, worse]
        losses[i] += weight * (1.0 if a < b else 0.5 if a == b else 0.0)
    return losses


def draw_problem(rng, n, n_labels, *, dtype=np.float64, grades=(0, 0, 0, 1, 2, 3, np.nan)):
    """Few distinct scores, so ties abound; graded, unknown and empty rows, and full ones."""
    Y = rng.choice(grades, size=(n, n_labels)).astype(float)
    Y[0], Y[1] = 0, 2
    if np.isnan(grades[-1]):
        Y[2] = np.nan
    return Y, rng.integers(-3, 4, size=(n, n_labels)).astype(dtype)


CRITERIA = [
    metrics.is_error, metrics.error_set_size, metrics.margin_loss, metrics.average_precision_loss,
    metrics.ranking_loss, metrics.one_error, metrics.coverage, metrics.precision_at_k,
    metrics.ndcg_at_k,
]  # fmt: skip


def options(criterion, k):
    return {"k": k} if criterion.__name__.endswith("_k") else {}


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.__name__)
@pytest.mark.parametrize(("n", "n_labels"), [(60, 1), (60, 4), (60, 9), (60, 120), (5, 1400)])
def test_worst_ties_agree_with_the_oracle(criterion, n, n_labels):
    Y, scores = draw_problem(np.random.default_rng(n_labels), n, n_labels)
    ours = criterion(Y, scores, per_instance=True, **options(criterion, 3))
    expected = [
        oracle(y, s, lambda k, y=y: y[k], True, 3)[criterion.__name__]
        for y, s in zip(Y, scores, strict=True)
    ]
    np.testing.assert_allclose(ours, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: c.__name__)
@pytest.mark.parametrize(("n", "n_labels"), [(60, 4), (60, 120), (5, 1400)])
def test_random_ties_agree_with_the_oracle(criterion, n, n_labels):
    Y, scores = draw_problem(np.random.default_rng(n_labels), n, n_labels, dtype=np.float32)
    ours = criterion(
        Y, scores, ties="random", random_state=7, per_instance=True, **options(criterion, 2)
    )
    seed = np.uint64(np.random.RandomState(7).randint(2**63 - 1, dtype=np.int64))
    expected = [
        oracle(Y[i], scores[i], lambda k, i=i: tie_rank(seed, i, k), False, 2)[criterion.__name__]
        for i in range(len(Y))
    ]
    np.testing.assert_allclose(ours, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("n_labels", [1, 5, 70])
def test_pro_loss_is_the_weighted_sum_over_all_arcs(n_labels, threshold):
    Y, scores = draw_problem(np.random.default_rng(n_labels), 30, n_labels)
    ours = metrics.pro_loss(Y, scores, threshold=threshold, per_instance=True)
    np.testing.assert_allclose(ours, pro_oracle(Y, scores, threshold), atol=1e-14)


def test_pro_loss_takes_a_threshold_for_each_instance():
    Y, scores = draw_problem(np.random.default_rng(0), 20, 5)
    thresholds = np.linspace(-2, 2, 20)
    ours = metrics.pro_loss(Y, scores, threshold=thresholds, per_instance=True)
    one_by_one = [
        metrics.pro_loss(Y[i : i + 1], scores[i : i + 1], threshold=thresholds[i])
        for i in range(20)
    ]
    np.testing.assert_array_equal(ours, one_by_one)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_worst_ties_are_those_of_scikit_learn(data):
    n, n_labels = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 7))
    Y = data.draw(hnp.arrays(np.int64, (n, n_labels), elements=st.integers(0, 1)))
    scores = data.draw(hnp.arrays(float, (n, n_labels), elements=st.integers(-2, 2)))
    w = data.draw(hnp.arrays(float, n, elements=st.floats(0.5, 4)))
    learn, close = sklearn.metrics, {"rel": 1e-12, "abs": 1e-12}
    assert metrics.ranking_loss(Y, scores, sample_weight=w) == pytest.approx(
        learn.label_ranking_loss(Y, scores, sample_weight=w), **close
    )
    assert metrics.coverage(Y, scores, zero_based=False, sample_weight=w) == pytest.approx(
        learn.coverage_error(Y, scores, sample_weight=w), **close
    )
    assert 1 - metrics.average_precision_loss(Y, scores, sample_weight=w) == pytest.approx(
        learn.label_ranking_average_precision_score(Y, scores, sample_weight=w), **close
    )


@pytest.mark.parametrize("k", [1, 3, None, 50])
def test_ndcg_without_ties_is_that_of_scikit_learn(k):
    rng = np.random.default_rng(1)
    Y, scores = rng.integers(0, 4, (40, 8)), rng.normal(size=(40, 8))
    expected = sklearn.metrics.ndcg_score(Y, scores, k=k)
    assert metrics.ndcg_at_k(Y, scores, k) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("row", [[0, 0, 0], [1, 2, 1], [np.nan, np.nan, np.nan], [1, 1, np.nan]])
def test_a_row_without_a_pair_has_no_loss(row):
    scores = [[0.0, 2.0, 1.0]]
    for criterion in CRITERIA[:6]:
        assert criterion([row], scores) == 0.0
    assert metrics.coverage([row], scores) == max(0, np.nansum(np.array(row) > 0) - 1)


def test_pro_loss_of_a_row_without_relevant_labels_is_a_quarter_of_the_false_alarms():
    assert metrics.pro_loss([[0, 0, 0, 0]], [[1.0, 2.0, 0.0, -1.0]]) == 0.25 * 2.5 / 4
    assert metrics.pro_loss([[1, 1]], [[-1.0, 1.0]]) == 0.25 * 0.5


def test_unknown_labels_take_no_part():
    Y, scores = np.array([[1, np.nan, 0, 2, 0]]), np.array([[1.0, 9.0, 2.0, 3.0, -1.0]])
    kept = [0, 2, 3, 4]
    for criterion in [*CRITERIA, metrics.pro_loss]:
        assert criterion(Y, scores) == criterion(Y[:, kept], scores[:, kept])


def test_sparse_and_dense_relevance_agree():
    Y, scores = draw_problem(np.random.default_rng(3), 50, 12)
    for criterion in [*CRITERIA, metrics.pro_loss]:
        assert criterion(sp.csr_matrix(Y), scores) == criterion(Y, scores)
        assert criterion(sp.coo_array(Y), np.asfortranarray(scores)) == criterion(Y, scores)


def test_many_rows_over_threads_are_those_of_their_pieces():
    rng = np.random.default_rng(4)
    Y = (rng.random((40_000, 16)) < 0.2).astype(np.int8)
    scores = rng.integers(0, 30, Y.shape).astype(np.float32)
    whole = metrics.ranking_loss(Y, scores, per_instance=True)
    parts = [
        metrics.ranking_loss(Y[a : a + 9999], scores[a : a + 9999], per_instance=True)
        for a in range(0, 40_000, 9999)
    ]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_lots_depend_on_the_seed_and_the_place_alone():
    Y, scores = np.tile([[1, 0]], (2000, 1)), np.zeros((2000, 2))
    first = metrics.is_error(Y, scores, ties="random", random_state=0, per_instance=True)
    again = metrics.is_error(Y, scores, ties="random", random_state=0, per_instance=True)
    other = metrics.is_error(Y, scores, ties="random", random_state=1, per_instance=True)
    head = metrics.is_error(Y[:9], scores[:9], ties="random", random_state=0, per_instance=True)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first[:9], head)
    assert (first != other).any()
    assert 0.45 < first.mean() < 0.55


def test_generators_and_no_seed_are_accepted():
    for state in (None, np.random.default_rng(0), np.random.RandomState(0)):
        value = metrics.is_error([[1, 0]], [[0, 0]], ties="random", random_state=state)
        assert value in (0.0, 1.0)


@pytest.mark.parametrize(
    ("Y", "scores", "extra"),
    [
        ([[1, 0]], [[np.nan, 1.0]], {}),
        ([[1, np.nan]], [[1.0, np.nan]], {}),
        ([[1, 0]], [[1.0, 2.0, 3.0]], {}),
        ([[1, 0]], [1.0, 2.0], {}),
        ([[1, -1]], [[1.0, 2.0]], {}),
        ([[1, 0]], [["a", "b"]], {}),
        ([[1, 0]], sp.csr_array([[1.0, 2.0]]), {}),
        (np.zeros((0, 2)), np.zeros((0, 2)), {}),
        ([[1, 0]], [[1.0, 2.0]], {"ties": "best"}),
        ([[1, 0]], [[1.0, 2.0]], {"sample_weight": [1.0, 2.0]}),
        ([[1, 0]], [[1.0, 2.0]], {"sample_weight": [0.0]}),
        ([[1, 0]], [[1.0, 2.0]], {"sample_weight": [-1.0]}),
    ],
)
def test_bad_input_is_refused_in_one_sentence(Y, scores, extra):
    with pytest.raises(InputError, match=";"):
        metrics.ranking_loss(Y, scores, **extra)


@pytest.mark.parametrize("k", [0, -1, 1.5, "3"])
def test_bad_cut_offs_are_refused(k):
    with pytest.raises(InputError, match="k="):
        metrics.precision_at_k([[1, 0]], [[1.0, 2.0]], k)


def test_the_row_of_a_nan_score_is_named():
    scores = np.zeros((50_000, 12))
    scores[40_000, 3] = scores[45_000, 0] = np.nan
    with pytest.raises(InputError, match="row 40000"):
        metrics.ranking_loss(np.eye(12)[np.zeros(50_000, int)], scores)


def test_infinite_scores_are_ordered_like_any_other():
    assert metrics.error_set_size([[1, 0, 0]], [[0.0, np.inf, -np.inf]]) == 1.0
