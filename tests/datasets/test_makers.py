"""Synthetic data: the right answer is the right answer, and a seed fixes everything."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import label_ranking_average_precision_score

from labelrank.datasets.makers import make_chain, make_linear_preferences, make_rcv1_like
from labelrank.errors import InputError

MAKERS = [
    lambda seed: make_linear_preferences(60, grades=3, noise=0.2, unknown=0.1, random_state=seed),
    lambda seed: make_chain(60, random_state=seed),
    lambda seed: make_rcv1_like(300, 400, 15, 8, cardinality=2, random_state=seed),
]


def dense(part):
    return part.toarray() if sp.issparse(part) else part


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_fixes_every_part(make):
    for one, two in zip(make(3), make(3), strict=True):
        np.testing.assert_array_equal(dense(one), dense(two))
    assert not np.array_equal(dense(make(3)[0]), dense(make(4)[0]))


def test_the_true_weights_rank_and_cut_without_error():
    X, Y, coef = make_linear_preferences(300, 8, 12, cardinality=3, random_state=0)
    np.testing.assert_array_equal(X @ coef.T > 0, Y.toarray() > 0)
    assert Y.nnz / 300 == pytest.approx(3, abs=0.01)


def test_grades_rise_with_the_true_score():
    X, Y, coef = make_linear_preferences(200, grades=4, random_state=1)
    grades, scores = Y.toarray(), X @ coef.T
    assert set(np.unique(grades)) == {0, 1, 2, 3, 4}
    order = np.argsort(scores, axis=None)
    assert (np.diff(grades.ravel()[order]) >= 0).all()


def test_noise_makes_errors_and_unknown_hides_its_share():
    X, Y, coef = make_linear_preferences(500, noise=1.0, unknown=0.2, random_state=2)
    grades = Y.toarray()
    known = ~np.isnan(grades)
    assert 1 - known.mean() == pytest.approx(0.2, abs=0.02)
    assert 0.05 < ((X @ coef.T > 0) != (grades > 0))[known].mean() < 0.5


def log_joint(scores, path, coupling):
    signs = 2 * np.array(path) - 1
    links = scores + coupling * np.concatenate(([0], signs[:-1]))
    return -np.logaddexp(0, -signs * links).sum()


def test_the_mode_of_a_chain_is_the_best_of_all_paths():
    X, _, coef, mode = make_chain(30, n_labels=5, coupling=1.5, random_state=0)
    paths = list(itertools.product((0, 1), repeat=5))
    for scores, found in zip(X @ coef.T, mode.toarray(), strict=True):
        best = max(paths, key=lambda path: log_joint(scores, path, 1.5))
        assert tuple(found) == best


def test_without_coupling_the_mode_is_the_sign():
    X, _, coef, mode = make_chain(100, coupling=0.0, random_state=0)
    np.testing.assert_array_equal(mode.toarray() > 0, X @ coef.T > 0)


def test_coupled_labels_follow_each_other():
    loose, tight = (make_chain(2000, coupling=c, random_state=0).Y.toarray() for c in (0.0, 3.0))
    agreement = [(Y[:, 1:] == Y[:, :-1]).mean() for Y in (loose, tight)]
    assert agreement[0] < 0.6 < 0.9 < agreement[1]


def test_the_archive_has_the_asked_shape():
    X, Y = make_rcv1_like(5000, 2000, 40, 50, cardinality=3.2, random_state=0)
    assert X.shape == (5000, 2000)
    assert Y.shape == (5000, 50)
    assert X.nnz / 5000 == pytest.approx(40, rel=0.05)
    assert Y.nnz / 5000 == pytest.approx(3.2, rel=0.03)
    assert (X.dtype, X.indices.dtype, Y.dtype) == (np.float32, np.int32, np.int64)
    assert X.has_canonical_format
    np.testing.assert_allclose(sp.linalg.norm(X, axis=1), 1, rtol=1e-5)
    assert set(Y.data) == {1}
    assert np.diff(Y.indptr).min() >= 1


def test_words_of_the_archive_are_long_tailed():
    X, _ = make_rcv1_like(5000, 2000, 40, 50, random_state=0)
    frequency = np.sort(np.bincount(X.indices, minlength=2000))
    assert frequency[-20:].sum() > 0.1 * X.nnz
    assert np.median(frequency) < frequency.mean() / 1.3


def test_topics_of_the_archive_can_be_learned_from_its_words():
    X, Y = make_rcv1_like(4000, 2000, 40, 20, cardinality=2, random_state=0)
    train, test = slice(0, 3000), slice(3000, 4000)
    centroids = (Y[train].T @ X[train]).toarray() / Y[train].sum(axis=0)[:, None]
    centred = X[test] @ (centroids - centroids.mean(axis=0)).T
    frequency = np.tile(Y[train].sum(axis=0), (1000, 1))
    truth = Y[test].toarray()
    learned = label_ranking_average_precision_score(truth, centred)
    assert learned > 0.8 > 0.4 > label_ranking_average_precision_score(truth, frequency)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: make_linear_preferences(0),
        lambda: make_linear_preferences(unknown=1.5),
        lambda: make_linear_preferences(n_labels=3, cardinality=4),
        lambda: make_chain(n_labels=0),
        lambda: make_rcv1_like(10, 100, 90, 5, cardinality=2),
        lambda: make_rcv1_like(10, 100, 9, 5, cardinality=0.5),
    ],
)
def test_impossible_wishes_are_refused(wrong):
    with pytest.raises(InputError, match="got"):
        wrong()
