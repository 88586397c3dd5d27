"""Label codes against the dense eigendecomposition of the co-occurrence matrix."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from labelrank import BaggedRanker, EmbeddingPCAPLM, LabelCodes, Tagger
from labelrank.errors import InputError
from labelrank.learners.plm import ep_plm as module


def labels(n=400, K=150, seed=0, density=0.03):
    random = np.random.default_rng(seed)
    share = density * 2 / (1 + np.arange(K) / K * 3)
    return (random.random((n, K)) < share).astype(float)


def oracle(Y, s):
    values, vectors = np.linalg.eigh(Y.T @ Y)
    return values[::-1][:s], vectors[:, ::-1][:, :s]


@pytest.mark.parametrize(("K", "s"), [(150, 6), (20, 8), (5, 9)])
def test_codes_are_the_leading_eigenvectors(K, s):
    Y = labels(K=K, density=0.2 if K < 50 else 0.03)
    found = LabelCodes(s, scale="none").fit(Y)
    values, vectors = oracle(Y, s)
    np.testing.assert_allclose(found.eigenvalues_, values, atol=1e-8)
    agreement = np.abs((found.codes_ * vectors).sum(axis=0))
    np.testing.assert_allclose(agreement, 1.0, atol=1e-8)
    largest = np.abs(found.codes_).argmax(axis=0)
    assert (found.codes_[largest, np.arange(len(values))] > 0).all()


def test_scales_multiply_the_same_eigenvectors():
    Y = labels()
    plain = LabelCodes(4, scale="none").fit(Y)
    by_value = LabelCodes(4).fit(Y).codes_
    by_root = LabelCodes(4, scale="sqrt").fit(Y).codes_
    balanced = LabelCodes(4, scale="balanced").fit(Y).codes_
    np.testing.assert_allclose(by_value, plain.codes_ * plain.eigenvalues_)
    np.testing.assert_allclose(by_root, plain.codes_ * np.sqrt(plain.eigenvalues_))
    length = np.linalg.norm(plain.codes_, axis=1)
    np.testing.assert_allclose(np.linalg.norm(balanced, axis=1), np.sqrt(length))


@pytest.mark.parametrize("n_pieces", [2, 7, 400])
@pytest.mark.parametrize("fold", [1 << 24, 90])
def test_pieces_equal_the_whole_to_the_last_bit(n_pieces, fold, monkeypatch):
    monkeypatch.setattr(module, "FOLD", fold)
    Y = sp.csr_array(labels())
    whole = LabelCodes(6).fit(Y).codes_
    rows = np.array_split(np.arange(Y.shape[0]), n_pieces)
    np.testing.assert_array_equal(whole, LabelCodes(6).fit(Y[r] for r in rows).codes_)


def test_counts_of_folded_documents_give_the_same_codes(monkeypatch):
    Y = labels()
    plain = LabelCodes(6).fit(Y).codes_
    monkeypatch.setattr(module, "FOLD", 90)
    np.testing.assert_allclose(LabelCodes(6).fit(Y).codes_, plain, atol=1e-8 * plain.max())


def test_grades_count_once_and_unknown_labels_not_at_all():
    Y = labels()
    graded = Y * 3.0
    graded[0, np.flatnonzero(Y[0] == 0)[:5]] = np.nan
    np.testing.assert_array_equal(LabelCodes(6).fit(Y).codes_, LabelCodes(6).fit(graded).codes_)


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(module, "_SPAN", 8)
    Y = labels()
    one, two = LabelCodes(6, n_jobs=1).fit(Y), LabelCodes(6, n_jobs=2).fit(Y)
    np.testing.assert_array_equal(one.codes_, two.codes_)


def test_no_dense_matrix_of_label_pairs_is_made():
    K = 8000
    random = np.random.default_rng(0)
    Y = sp.random_array((3000, K), density=5 / K, random_state=random, format="csr")
    tracemalloc.start()
    LabelCodes(4).fit(Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < K * K * 8 / 10


def test_fit_codes_in_calls_or_pieces_gives_the_same_codes_and_fit_keeps_them():
    Y = labels(300)
    at_once = EmbeddingPCAPLM(6, epochs=1).fit_codes(Y)
    in_calls = EmbeddingPCAPLM(6, epochs=1).fit_codes(Y[:100]).fit_codes([Y[100:150], Y[150:]])
    np.testing.assert_array_equal(at_once.codes, in_calls.codes)
    X = np.random.default_rng(1).normal(size=(40, 3))
    other = labels(40, seed=9)
    codes = at_once.codes
    np.testing.assert_allclose(at_once.fit(X, other).codes_, codes, rtol=1e-6)
    from_own = EmbeddingPCAPLM(6, epochs=1).fit(X, other).codes_
    assert not np.allclose(from_own, codes)
    np.testing.assert_array_equal(
        at_once.fit_codes(other).codes, LabelCodes(6).fit(other).codes_
    )  # fmt: skip


def inner(fitted):
    """The EP-PLM within a fitted learner."""
    if hasattr(fitted, "estimators_"):
        return fitted.estimators_[0]
    return getattr(fitted, "learner_", fitted)


WRAPPERS = {
    "clone": clone,
    "bagging": lambda learner: BaggedRanker(learner, n_estimators=2, random_state=0),
    "tagger": Tagger,
}


@pytest.mark.parametrize("how", WRAPPERS)
@pytest.mark.parametrize("n_pieces", [1, 4])
def test_codes_from_other_label_data_are_kept_by_whatever_clones_the_learner(how, n_pieces):
    learner = EmbeddingPCAPLM(6, epochs=1, random_state=0).fit_codes(labels(300))
    np.testing.assert_array_equal(learner.get_params()["codes"], learner.codes)
    X, Y = np.random.default_rng(1).normal(size=(40, 3)), labels(40, seed=9)
    wrapped = WRAPPERS[how](learner)
    for rows in np.array_split(np.arange(40), n_pieces):
        wrapped = wrapped.partial_fit(X[rows], Y[rows]) if n_pieces > 1 else wrapped.fit(X, Y)
    np.testing.assert_array_equal(inner(wrapped).codes_, learner.codes.astype(np.float32))


def test_a_refused_piece_of_label_data_leaves_the_codes_as_they_were():
    learner = EmbeddingPCAPLM(6).fit_codes(labels(300))
    before = learner.codes
    with pytest.raises(InputError):
        learner.fit_codes(-labels(10))
    assert learner.codes is before


def test_codes_made_elsewhere_are_used_and_checked():
    Y = labels(60)
    X = np.random.default_rng(1).normal(size=(60, 3))
    codes = LabelCodes(5).fit(labels(300, seed=3)).codes_
    learner = EmbeddingPCAPLM(codes=codes, epochs=1).fit(X, Y)
    np.testing.assert_allclose(learner.codes_, codes, rtol=1e-6)
    with pytest.raises(InputError, match="150 labels"):
        EmbeddingPCAPLM(codes=codes[:7], epochs=1).fit(X, Y)
    with pytest.raises(InputError, match="matrix of numbers"):
        EmbeddingPCAPLM(codes="codes", epochs=1).fit(X, Y)


def test_a_refused_piece_leaves_the_others_counted():
    Y = labels()
    maker = LabelCodes(6).partial_fit(Y[:200])
    for bad in (Y[:, :3], -Y, "labels"):
        with pytest.raises(InputError):
            maker.partial_fit(bad)
    np.testing.assert_array_equal(
        maker.partial_fit(Y[200:]).finish().codes_, LabelCodes(6).fit(Y).codes_
    )


def test_no_label_data_at_all_is_refused():
    with pytest.raises(InputError, match="at least one"):
        LabelCodes(2).fit([])
