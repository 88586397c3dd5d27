"""What a pairwise learner keeps, draws and counts: nothing hidden, nothing twice."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import PairwisePerceptron, persistence
from labelrank.errors import InputError
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import quick_voting
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows
from references.pairwise import random_problem

SCORERS = [
    {"representation": "primal"},
    {"representation": "dual"},
    {"representation": "dual", "kernel": "poly", "degree": 3},
    {"shortlist": ("centroid", 4)},
    {"shortlist": ("br", 4)},
]


def problem(seed=0, n=60, n_labels=10):
    return random_problem(seed, n=n, d=12, n_labels=n_labels)


def sharing_pointers(X):
    """Two sparse matrices with the same pointers and columns but other values."""
    first = sp.csr_array(X)
    first.indptr, first.indices = first.indptr.astype(np.int64), first.indices.astype(np.int32)
    second = first.copy()
    second.data = first.data[::-1].copy()
    second.indptr = first.indptr
    return as_rows(first), as_rows(second)


def test_rows_that_share_pointers_with_earlier_ones_are_other_rows():
    X, Y = problem()
    first, second = sharing_pointers(X)
    assert first.indptr is second.indptr
    Y, order = check_relevance(Y), np.arange(len(X))
    apart = second._replace(indptr=second.indptr.copy())
    shared, fresh = (DualPairScorer(12, 10, calibrated=True, ordered=False) for _ in range(2))
    for rows in (first, second):
        shared.course(rows, Y)(order)
    for rows in (first, apart):
        fresh.course(rows, Y)(order)
    np.testing.assert_array_equal(shared.margins(second), fresh.margins(second))


@pytest.mark.parametrize("options", SCORERS, ids=str)
def test_values_changed_in_place_are_learned(options):
    X, Y = problem()
    other = sp.csr_array(X)
    other.indptr = other.indptr.astype(np.int64)
    apart = PairwisePerceptron(random_state=0, **options).partial_fit(X, Y)
    inplace = PairwisePerceptron(random_state=0, **options).partial_fit(other, Y)
    other.data *= -1
    inplace.partial_fit(other, Y)
    apart.partial_fit(-X, Y)
    np.testing.assert_array_equal(inplace.decision_function(X), apart.decision_function(X))


def test_a_seed_is_drawn_once():
    X, Y = problem()
    auto, named = (
        PairwisePerceptron(
            representation=name, init="random", epochs=2, random_state=np.random.RandomState(0)
        ).fit(X, Y)
        for name in ("auto", "primal")
    )
    np.testing.assert_array_equal(auto.duels(X), named.duels(X))


def test_the_seed_decides_the_ranker_of_a_shortlist():
    X, Y = problem(n=200)
    one, same, other = (
        PairwisePerceptron(shortlist=("br", 3), random_state=seed).fit(X, Y).decision_function(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@pytest.mark.parametrize("calibrated", [True, False])
def test_full_voting_evaluates_every_pair_once(calibrated):
    X, Y = problem()
    learner = PairwisePerceptron(calibrated=calibrated).fit(X, Y)
    width = 10 + calibrated
    assert learner.n_operations_["predict"] == width * (width - 1) // 2
    assert learner.count_operations(X) == len(X) * width * (width - 1) // 2


def test_quick_voting_and_shortlists_evaluate_fewer_pairs():
    X, Y = problem()
    quick = PairwisePerceptron(inference="quick", tie_break=None).fit(X, Y)
    looked_at = quick_voting(quick.scorer_, as_rows(X)).evaluations.sum()
    assert quick.count_operations(X) == looked_at < quick.n_operations_["predict"] * len(X)
    short = PairwisePerceptron(shortlist=("centroid", 3)).fit(X, Y)
    assert short.count_operations(X) == len(X) * 4 * 3 // 2


@pytest.mark.parametrize("options", SCORERS, ids=str)
def test_a_refused_piece_with_new_labels_leaves_no_trace(options):
    X, Y = problem(n_labels=10)
    learner = PairwisePerceptron(random_state=0, **options).partial_fit(X[:30], Y[:30, :6])
    before = persistence.digest(learner)
    scores = learner.decision_function(X)
    too_large = np.vstack([X[30:-1], X[-1:] + 1e39])
    with pytest.raises(InputError, match="scale the features"):
        learner.partial_fit(too_large, Y[30:], classes=np.arange(10))
    assert persistence.digest(learner) == before
    np.testing.assert_array_equal(learner.decision_function(X), scores)
    clean = PairwisePerceptron(random_state=0, **options).partial_fit(X[:30], Y[:30, :6])
    for one in (learner, clean):
        one.partial_fit(X[30:], Y[30:], classes=np.arange(10))
    np.testing.assert_array_equal(learner.duels(X), clean.duels(X))


def test_a_kernel_value_beyond_float_is_refused_before_anything_is_learned():
    X, Y = problem()
    options = {"kernel": "poly", "degree": 9, "gamma": 1e10, "representation": "dual"}
    learner = PairwisePerceptron(**options).partial_fit(X[:30], Y[:30])
    before = persistence.digest(learner)
    with pytest.raises(InputError, match="scale the features"):
        learner.partial_fit(X[30:] * 1e30, Y[30:])
    assert persistence.digest(learner) == before
