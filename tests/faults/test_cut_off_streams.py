"""Streams that bring bad pieces, or end in the middle."""

import contextlib

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import EmbeddingCodingPLM, EmbeddingPCAPLM, persistence
from labelrank.datasets import MeshStream
from labelrank.errors import InputError

LEARNERS = [
    lambda: EmbeddingPCAPLM(8, random_state=0),
    lambda: EmbeddingPCAPLM(8, update="adagrad", random_state=0),
    lambda: EmbeddingCodingPLM(8, preferences_per_epoch=500, random_state=0),
]
STREAM = MeshStream(50, 300, random_state=2)


def spoiled(X, Y):
    nan = X.copy()
    nan.data[3] = np.nan
    negative = Y.copy()
    negative.data[0] = -1
    return {
        "too few features": (X[:, :100], Y),
        "too many labels": (X, sp.hstack([Y, Y], format="csr")),
        "not a number": (nan, Y),
        "infinite": (X * np.inf, Y),
        "empty": (X[:0], Y[:0]),
        "rows that do not match": (X, Y[:-1]),
        "negative relevance": (X, negative),
        "no labels": (X, None),
    }


@pytest.mark.parametrize("make", LEARNERS)
def test_bad_pieces_are_refused_and_hurt_nothing(make):
    pieces = list(STREAM.batches(600, batch_size=200))
    clean, visited = make(), make()
    for number, (X, Y) in enumerate(pieces):
        clean.partial_fit(X, Y)
        for bad_X, bad_Y in spoiled(X, Y).values() if number else ():
            with pytest.raises(InputError):
                visited.partial_fit(bad_X, bad_Y)
        visited.partial_fit(X, Y)
    np.testing.assert_array_equal(clean.embedding_, visited.embedding_)
    np.testing.assert_array_equal(clean.codes_, visited.codes_)
    assert clean.cardinality_ == visited.cardinality_


OF_ANOTHER_SHAPE = {"too few features", "too many labels"}  # a first piece may have any


@pytest.mark.parametrize("kind", sorted(set(spoiled(*next(STREAM.batches(5)))) - OF_ANOTHER_SHAPE))
def test_a_bad_first_piece_fixes_no_shape(kind):
    X, Y = next(STREAM.batches(200))
    learner = LEARNERS[2]()
    with pytest.raises(InputError):
        learner.partial_fit(*spoiled(X, Y)[kind])
    assert learner.partial_fit(X[:, :150], Y[:, :20]).embedding_.shape[1] == 150


@pytest.mark.parametrize("kind", sorted(OF_ANOTHER_SHAPE))
def test_a_first_piece_of_another_shape_fixes_that_shape(kind):
    X, Y = next(STREAM.batches(200))
    first_X, first_Y = spoiled(X, Y)[kind]
    learner = LEARNERS[2]().partial_fit(first_X, first_Y)
    assert learner.embedding_.shape[1] == first_X.shape[1]
    assert learner.codes_.shape[0] == first_Y.shape[1]
    with pytest.raises(InputError):
        learner.partial_fit(X, Y)
    assert learner.decision_function(first_X).shape == first_Y.shape


@pytest.mark.parametrize("make", LEARNERS)
def test_a_stream_cut_off_leaves_a_usable_saved_model(make, tmp_path):
    def cut_off():
        yield from STREAM.batches(400, batch_size=100)
        raise ConnectionResetError("the stream ended")

    learner, path = make(), tmp_path / "stream.labelrank"
    with contextlib.suppress(ConnectionResetError):
        for X, Y in cut_off():
            learner.partial_fit(X, Y)
            persistence.save(learner, path)
    loaded = persistence.load(path)
    X, Y = next(STREAM.batches(100, start=400))
    np.testing.assert_array_equal(loaded.rank(X, top=5), learner.rank(X, top=5))
    loaded.partial_fit(X, Y), learner.partial_fit(X, Y)
    np.testing.assert_array_equal(loaded.embedding_, learner.embedding_)


@pytest.mark.parametrize("size", [1, 64, 1000])
def test_a_document_does_not_depend_on_its_batch(size):
    whole_X, whole_Y = next(STREAM.batches(100, batch_size=1000))
    found = list(STREAM.batches(100, batch_size=size))
    assert (abs(sp.vstack([X for X, _ in found]) - whole_X)).nnz == 0
    assert (sp.vstack([Y for _, Y in found]) != whole_Y).nnz == 0
    later = next(STREAM.batches(10, start=50))[0]
    assert (abs(later - whole_X[50:60])).nnz == 0


def test_labels_alone_are_the_labels_of_the_documents():
    whole = next(STREAM.batches(50))[1]
    assert (next(STREAM.label_batches(50)) != whole).nnz == 0
    assert STREAM.parents.shape == (50,)
    assert (STREAM.parents < np.arange(50)).all()


def test_wrong_sizes_of_a_stream_are_refused():
    with pytest.raises(InputError, match="at least 32"):
        MeshStream(3, 300)
    with pytest.raises(InputError, match="batch_size=0"):
        next(STREAM.batches(10, batch_size=0))
    with pytest.raises(InputError, match="weighting"):
        MeshStream(weighting="tf")
