"""Embedding learners in pieces."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import BaggedRanker, EmbeddingCodingPLM, EmbeddingPCAPLM, LabelCodes
from labelrank.datasets import MeshStream


def problem(n=700, d=30, K=25, seed=0):
    random = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.2, random_state=random, format="csr")
    return X, sp.csr_array((random.random((n, K)) < 0.1).astype(float))


_, LABELS = problem()
CODES = LabelCodes(6).fit(LABELS).codes_
LEARNERS = {
    "EP": lambda: EmbeddingPCAPLM(codes=CODES, preferences_per_epoch=300, random_state=1),
    "EP instance": lambda: EmbeddingPCAPLM(codes=CODES, arcs="instance", random_state=1),
    "EP adagrad": lambda: EmbeddingPCAPLM(codes=CODES, update="adagrad", random_state=1),
    "EC": lambda: EmbeddingCodingPLM(6, preferences_per_epoch=300, random_state=1),
    "EC adagrad": lambda: EmbeddingCodingPLM(6, update="adagrad", random_state=1),
}


def test_new_labels_start_with_codes_of_their_own_and_change_no_other():
    X, Y = problem()
    learner = EmbeddingCodingPLM(6, random_state=1).partial_fit(X[:100], Y[:100, :20])
    known = learner.codes_
    learner.partial_fit(X[:1] * 0, Y[:1], classes=np.arange(25))
    np.testing.assert_allclose(learner.codes_[:20], known, rtol=1e-5)
    at_once = EmbeddingCodingPLM(6, random_state=1).partial_fit(X[:1] * 0, Y[:1])
    ratio = learner.codes_[20:] / at_once.codes_[20:]
    np.testing.assert_allclose(ratio, np.sqrt(25 / 20), rtol=1e-5)
    fixed = learner._fixed_codes
    assert np.linalg.norm(fixed) == pytest.approx(1.0, rel=1e-5)
    np.testing.assert_allclose(fixed / fixed[0, 0], learner.codes_ / learner.codes_[0, 0], 1e-4)
    learner.partial_fit(X[100:], Y[100:])
    assert learner.codes_.shape == (25, 6)
    assert learner.decision_function(X[:5]).shape == (5, 25)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_stream_teaches_what_the_words_say(name):
    stream = MeshStream(40, 400, random_state=3)
    codes = LabelCodes(20, scale="none").fit(stream.label_batches(3000)).codes_
    learner = LEARNERS[name]().set_params(n_components=20)
    if "codes" in learner.get_params():
        learner.set_params(codes=codes)
    for X, Y in stream.batches(6000, batch_size=500):
        learner.partial_fit(X, Y)
    X, Y = next(stream.batches(500, start=6000))
    hits = np.take_along_axis(Y.toarray(), learner.rank(X, top=1), axis=1)
    popular = np.asarray(Y.sum(axis=0)).max() / 500
    assert hits.mean() > popular + 0.05


def test_bagged_pieces_equal_the_bagged_whole():
    X, Y = problem()
    make = lambda: BaggedRanker(LEARNERS["EC"](), n_estimators=3, random_state=0)  # noqa: E731
    whole, pieces = make().partial_fit(X, Y), make()
    for rows in np.array_split(np.arange(X.shape[0]), 5):
        pieces.partial_fit(X[rows], Y[rows])
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))
