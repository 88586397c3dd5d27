"""The dual representation against perceptrons kept one by one."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.kernels.dual import BLOCK
from labelrank.learners.pairwise.mistakes import DualPairScorer
from labelrank.learners.pairwise.scorer import UpdateRule
from labelrank.persistence import checks
from labelrank.relevance import check_relevance
from labelrank.rows import as_rows
from references.pairwise import PairWeights, Reference, random_problem, votes_of


def learned(X, Y, order, *, calibrated=True, ordered=False, margin=None, **kernel):
    scorer = DualPairScorer(
        X.shape[1],
        Y.shape[1],
        calibrated=calibrated,
        ordered=ordered,
        rule=UpdateRule(margin),
        **kernel,
    )
    return scorer, scorer.course(as_rows(X), check_relevance(Y))(order)


def reference(X, Y, order, **options):
    slow = Reference(X.shape[1], Y.shape[1], **options)
    slow.learn(X, Y, order)
    return slow


def same_state(a, b):
    return all(map(np.array_equal, a.mistakes, b.mistakes))


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("margin", [None, 0, 3])
def test_votes_and_counts_equal_the_reference(epochs, calibrated, ordered, margin):
    X, Y = random_problem(epochs + 10 * ordered, graded=True, unknown=True)
    order = np.tile(np.random.default_rng(1).permutation(len(X)), epochs)
    options = {"calibrated": calibrated, "ordered": ordered, "margin": margin}
    slow = reference(X, Y, order, **options)
    scorer, lesson = learned(X, Y, order, **options)
    assert lesson == (slow.trained, slow.mistakes)
    np.testing.assert_array_equal(scorer.margins(as_rows(X)), slow.margins(X))
    votes, sums = scorer.votes(as_rows(X))
    np.testing.assert_array_equal(votes, slow.votes(X))
    np.testing.assert_array_equal(sums, slow.margins(X).sum(axis=2))


def test_weights_equal_the_reference():
    X, Y = random_problem(3)
    slow = reference(X, Y, range(len(X)), calibrated=True, ordered=False)
    scorer, _ = learned(X, Y, np.arange(len(X)))
    for u, v in itertools.combinations(range(6), 2):
        np.testing.assert_array_equal(scorer.weights(u, v), slow.weights(u, v) + np.zeros(6))
        np.testing.assert_array_equal(scorer.weights(v, u), -scorer.weights(u, v))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("poly", lambda x, z: (0.5 * (x @ z) + 1.0) ** 2),
        ("rbf", lambda x, z: np.exp(-0.5 * ((x - z) ** 2).sum())),
    ],
)
def test_kernels_equal_the_reference(name, function):
    X, Y = random_problem(4)
    order = np.tile(np.arange(len(X)), 2)
    slow = reference(X, Y, order, calibrated=True, ordered=False, kernel=function)
    scorer, lesson = learned(X, Y, order, kernel=name, gamma=0.5)
    assert lesson == (slow.trained, slow.mistakes)
    np.testing.assert_allclose(scorer.margins(as_rows(X)), slow.margins(X), rtol=1e-5, atol=1e-5)


def test_the_constant_of_a_polynomial_and_the_usual_gamma_are_used():
    X, Y = random_problem(4)
    order = np.tile(np.arange(len(X)), 2)
    options = {"calibrated": True, "ordered": False}
    slow = reference(X, Y, order, kernel=lambda x, z: (x @ z / 6 + 3.0) ** 2, **options)
    scorer, lesson = learned(X, Y, order, kernel="poly", coef0=3.0)
    assert X.shape[1] == 6
    assert lesson == (slow.trained, slow.mistakes)
    np.testing.assert_allclose(scorer.margins(as_rows(X)), slow.margins(X), rtol=1e-5, atol=1e-5)


def test_real_values_agree_to_rounding():
    rng = np.random.default_rng(5)
    X, (_, Y) = rng.normal(size=(25, 6)).astype(np.float32), random_problem(5)
    slow = reference(X.astype(float), Y, range(25), calibrated=True, ordered=False)
    scorer, lesson = learned(X, Y, np.arange(25))
    assert lesson == (slow.trained, slow.mistakes)
    np.testing.assert_allclose(scorer.margins(as_rows(X)), slow.margins(X), rtol=1e-5, atol=1e-5)


def many_labels(seed):
    """Enough labels for lists and masks, enough entries for several blocks."""
    return random_problem(seed, n=400, d=12, n_labels=70, density=0.4)


def test_blocks_of_the_index_change_nothing():
    X, Y = many_labels(6)
    scorer, lesson = learned(X, Y, np.arange(len(X)))
    assert len(scorer.mistakes.entry_label) > 3 * BLOCK
    weights = PairWeights(X, Y)
    assert lesson.mistakes == weights.mistakes
    np.testing.assert_array_equal(scorer.margins(as_rows(X[:5])), weights.margins(X[:5]))
    np.testing.assert_array_equal(scorer.votes(as_rows(X[:5]))[0], votes_of(weights.margins(X[:5])))


def test_pieces_equal_the_whole():
    X, Y = many_labels(7)
    whole, lesson = learned(X, Y, np.arange(len(X)))
    pieces = DualPairScorer(12, 70, calibrated=True, ordered=False)
    lessons = [
        pieces.course(as_rows(X[a:b]), check_relevance(Y[a:b]))(np.arange(b - a))
        for a, b in itertools.pairwise([0, 1, 7, 8, 100, 250, 399, 400])
    ]
    assert same_state(whole, pieces)
    assert np.array(lessons).sum(axis=0).tolist() == list(lesson)


def test_a_second_pass_over_the_same_rows_stores_no_document_twice():
    X, Y = random_problem(8)
    order = np.arange(len(X))
    scorer = DualPairScorer(6, 5, calibrated=True, ordered=False)
    learn = scorer.course(as_rows(X), check_relevance(Y))
    for _ in range(3):
        learn(order)
    together, _ = learned(X, Y, np.tile(order, 3))
    assert same_state(scorer, together)
    assert len(scorer.mistakes.document_visits) <= len(X)


def test_a_saved_scorer_goes_on_where_it_stopped():
    X, Y = many_labels(9)
    first, _ = learned(X[:300], Y[:300], np.arange(300))
    restored = pickle.loads(pickle.dumps(first))
    for scorer in (first, restored):
        scorer.course(as_rows(X[300:]), check_relevance(Y[300:]))(np.arange(100))
    assert same_state(first, restored)
    for ours, theirs in zip(first.votes(as_rows(X)), restored.votes(as_rows(X)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("calibrated", [True, False])
def test_labels_declared_later_start_from_zero(calibrated):
    X, Y = random_problem(10, n_labels=40)
    few = Y[:, :30]
    scorer, _ = learned(X[:15], few[:15], np.arange(15), calibrated=calibrated)
    before = scorer.margins(as_rows(X))
    wide = scorer.widened(40)
    np.testing.assert_array_equal(scorer.margins(as_rows(X)), before)
    after = wide.margins(as_rows(X))
    kept = [*range(30), *([40] if calibrated else [])]
    np.testing.assert_array_equal(after[:, kept][:, :, kept], before)
    assert not after[:, 30:40].any()
    wide.course(as_rows(X[15:]), check_relevance(Y[15:]))(np.arange(10))
    assert wide.margins(as_rows(X))[:, 30:40].any()


def test_threads_change_nothing():
    X, Y = many_labels(11)
    scorer, _ = learned(X, Y, np.arange(len(X)))
    one, two = scorer.votes(as_rows(X[:64]), n_jobs=1), scorer.votes(as_rows(X[:64]), n_jobs=2)
    for ours, theirs in zip(one, two, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_duels_of_are_rows_of_the_margins():
    X, Y = random_problem(12)
    scorer, _ = learned(X, Y, np.arange(len(X)))
    margins = scorer.margins(as_rows(X))
    instances, labels = np.array([3, 3, 0, 7]), np.array([5, 0, 2, 2])
    found = scorer.duels_of(as_rows(X), instances, labels)
    np.testing.assert_array_equal(found, margins[instances, labels])


def test_empty_rows_and_rows_without_labels_are_harmless():
    X, Y = np.zeros((3, 4)), np.array([[1.0, 0], [0, 0], [1, 1]])
    scorer, lesson = learned(X, Y, np.arange(3))
    assert lesson.trained == 7
    np.testing.assert_array_equal(scorer.votes(as_rows(X))[0], [[2, 1, 0]] * 3)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"rule": UpdateRule(step="pa")}, "step"),
        ({"rule": UpdateRule(averaging="averaged")}, "averaging"),
        ({"rule": UpdateRule(init="random")}, "init"),
        ({"kernel": "sigmoid"}, "kernel"),
    ],
)
def test_what_the_dual_cannot_hold_is_refused(options, word):
    with pytest.raises(InputError, match=word):
        DualPairScorer(3, 3, calibrated=True, ordered=False, **options)


def test_wrong_shapes_are_refused():
    X, Y = random_problem(13)
    scorer = DualPairScorer(6, 5, calibrated=True, ordered=False)
    rows = as_rows(X)
    for bad in (
        lambda: scorer.course(as_rows(X[:, :3]), check_relevance(Y)),
        lambda: scorer.course(rows, check_relevance(Y[:, :2])),
        lambda: scorer.course(rows, check_relevance(Y))(np.array([25])),
        lambda: scorer.duels_of(rows, np.array([0]), np.array([6])),
    ):
        with pytest.raises(InputError):
            bad()


def test_a_kernel_that_overflows_is_refused():
    X, Y = random_problem(14)
    with pytest.raises(InputError, match="scale the features"):
        learned(X * 1e30, Y, np.arange(25), kernel="poly", degree=9, gamma=1e10)


def test_sparse_and_dense_rows_are_the_same():
    X, Y = random_problem(15)
    dense, _ = learned(X, Y, np.arange(25))
    sparse, _ = learned(sp.csr_array(X), sp.csr_array(Y), np.arange(25))
    assert same_state(dense, sparse)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("document_indices", lambda a: a + 100),
        ("document_indptr", lambda a: a[::-1]),
        ("entry_document", lambda a: a + 1000),
        ("entry_label", lambda a: a - 1000),
        ("entry_start", lambda a: a[:-1]),
        ("words", lambda a: a | 2**31),
        ("words", lambda a: a[:-1]),
        ("document_data", lambda a: a[None]),
    ],
)
def test_a_state_that_would_mislead_the_kernels_is_refused(name, change):
    X, Y = many_labels(16)
    scorer, _ = learned(X[:50], Y[:50], np.arange(50))
    mistakes = scorer.mistakes
    scorer.mistakes = mistakes
    scorer.after_loading()
    scorer.mistakes = mistakes._replace(**{name: change(getattr(mistakes, name))})
    with pytest.raises(ValueError, match=r"do not fit|shape|pointers"):
        checks.check(scorer, {}, restore=True)
