"""What is no matrix of numbers, or no relevance, is refused in one sentence; odd forms are read."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import CompressionClassifier, NaiveBayesRanker, PairwisePerceptron, catalog
from labelrank.errors import InputError
from labelrank.testing import halved

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 3, (40, 6)).astype(float)
Y = (RANDOM.random((40, 4)) > 0.6).astype(int)
REFUSED_X = {
    "a dictionary": {"a": [1.0] * 40},
    "a set": {1.0, 2.0},
    "a generator": (row for row in X),
    "nothing": None,
    "text": "rye",
    "texts": np.array([["rye"] * 6] * 40),
    "a matrix of numpy's old kind": np.asmatrix(X),
    "complex numbers": X.astype(complex),
    "gaps behind a mask": np.ma.array(X, mask=X > 1),
    "rows of unequal length": [[1.0], [1.0, 2.0]],
    "three dimensions": X[None],
    "a sparse vector": sp.coo_array(X[0]),
}
REFUSED_Y = {
    "a measurement": RANDOM.random(40),
    "a class that is missing": np.array([1.0, np.nan] * 20),
    "classes of several types": np.array([1, None] * 20, object),
    "classes behind a mask": np.ma.array(Y[:, 0], mask=Y[:, 1] > 0),
    "labels behind a mask": np.ma.array(Y, mask=Y > 0),
    "a dictionary": {"a": [1] * 40},
    "complex numbers": Y.astype(complex),
    "a sparse vector": sp.coo_array(Y[:, 0]),
}


@pytest.mark.parametrize("form", REFUSED_X)
@pytest.mark.parametrize("name", ["BR", "CMLPC", "kNN", "NB"])
def test_what_is_no_matrix_of_numbers_is_refused(name, form):
    learner = catalog.make(name)
    with pytest.raises(InputError) as refused:
        learner.fit(REFUSED_X[form], Y)
    assert "\n" not in str(refused.value)
    with pytest.raises(InputError):
        learner.fit(X, Y).predict(REFUSED_X[form])


@pytest.mark.parametrize("form", REFUSED_Y)
@pytest.mark.parametrize("name", ["BR", "CMLPC", "kNN", "NB"])
def test_what_is_no_relevance_is_refused(name, form):
    with pytest.raises(InputError) as refused:
        catalog.make(name).fit(X, REFUSED_Y[form])
    assert "\n" not in str(refused.value)


def test_relevance_of_half_precision_is_read():
    expected = catalog.make("BR", seed=0).fit(X, Y).decision_function(X)
    found = catalog.make("BR", seed=0).fit(X, Y.astype(np.float16)).decision_function(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("event_model", ["multinomial", "bernoulli", "multinomial_length"])
def test_values_stored_twice_are_summed(event_model):
    learner, again = (NaiveBayesRanker(event_model) for _ in range(2))
    scores = again.fit(halved(X), Y).decision_function(halved(X))
    np.testing.assert_array_equal(scores, learner.fit(X, Y).decision_function(X))


def test_pointers_that_leave_a_matrix_are_refused_where_texts_are_wanted():
    broken = sp.csr_array(X)
    broken.indptr[3] = 10**8
    with pytest.raises(InputError, match="texts are wanted"):
        CompressionClassifier().fit(broken, Y)


@pytest.mark.parametrize("ranker", ["br", "centroid"])
def test_a_shortlist_follows_the_seed(ranker):
    def scores(seed):
        learner = PairwisePerceptron(shortlist=(ranker, 2), random_state=seed)
        return learner.fit(X, Y).decision_function(X).tobytes()

    assert len({scores(7) for _ in range(3)}) == 1
