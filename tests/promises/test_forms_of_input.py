"""What is no matrix of numbers, or no relevance, is refused in one sentence; odd forms are read."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from labelrank import (
    BaggedRanker,
    CompressionClassifier,
    NaiveBayesRanker,
    PairwisePerceptron,
    RelevanceBinarizer,
    Tagger,
    ViterbiClassifierChain,
    catalog,
    decoding,
)
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
    with pytest.raises(InputError, match="list of texts is wanted"):
        CompressionClassifier().fit(broken, Y)


@pytest.mark.parametrize("ranker", ["br", "centroid"])
def test_a_shortlist_follows_the_seed(ranker):
    def scores(seed):
        learner = PairwisePerceptron(shortlist=(ranker, 2), random_state=seed)
        return learner.fit(X, Y).decision_function(X).tobytes()

    assert len({scores(7) for _ in range(3)}) == 1


@pytest.mark.parametrize("top", [0, -1, 1.5, "2", True, [2]])
def test_a_top_that_is_no_whole_number_is_refused(top):
    with pytest.raises(InputError, match="top="):
        catalog.make("BR").fit(X, Y).rank(X, top)


@pytest.mark.parametrize("label", [None, 1.5, b"x", [0], 4, "x"])
def test_a_label_that_is_none_has_no_reasons(label):
    with pytest.raises(InputError, match="got label"):
        catalog.make("BR").fit(X, Y).why(X[:1], label)


@pytest.mark.parametrize(
    "lists", [None, 3, int, sp.csr_array(Y), [[["a"]]], [[object(), object()]]]
)
def test_what_is_no_label_lists_is_refused(lists):
    with pytest.raises(InputError):
        RelevanceBinarizer().fit(lists)


def test_a_tuple_is_one_label():
    Z = RelevanceBinarizer(sparse_output=False).fit_transform([[("a", 1)], [("b", 2)]])
    assert Z.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("value", ["BR", 3, BaggedRanker, None])
def test_a_base_that_cannot_learn_is_refused(value):
    with pytest.raises(InputError, match="give an estimator"):
        BaggedRanker(value).fit(X, Y)


def test_scores_that_are_no_matrix_are_not_ranked():
    for scores in ([[1.0], [1.0, 2.0]], [1.0], [["a"]], {1.0}):
        with pytest.raises(InputError, match="scores"):
            decoding.rank(scores)


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_a_tagger_follows_no_index_out_of_a_matrix(part):
    broken = sp.csc_array(X)
    getattr(broken, part)[1] = 10**8
    with pytest.raises(InputError, match="broken sparse matrix"):
        Tagger(OneVsRestClassifier(SGDClassifier())).fit(broken, [["a"], ["b"]] * 20)
    tagger = Tagger(catalog.make("BR")).fit(X, [["a"], ["b"]] * 20)
    for answer in (tagger.predict, tagger.rank, tagger.decision_function):
        with pytest.raises(InputError, match="broken sparse matrix"):
            answer(broken)


@pytest.mark.parametrize("kind", ["f2", "U3", "O", "c16"])
def test_a_sparse_matrix_of_what_is_no_number_is_refused(kind):
    strange = sp.csr_array(X)
    strange.data = strange.data.astype(kind)
    with pytest.raises(InputError, match="got a sparse matrix of"):
        catalog.make("BR").fit(strange, Y)
    strange = sp.csr_array(Y)
    strange.data = strange.data.astype(kind)
    with pytest.raises(InputError, match="got a sparse matrix of"):
        catalog.make("BR").fit(X, strange)


@pytest.mark.parametrize("kind", [">i4", ">f8", "<i2"])
def test_relevance_of_any_order_of_bytes_is_read(kind):
    sparse = sp.csr_array(Y)
    sparse.data = sparse.data.astype(kind)
    wanted = catalog.make("BR", seed=0).fit(X, Y).decision_function(X)
    for form in (Y.astype(kind), sparse):
        found = catalog.make("BR", seed=0).fit(X, form).decision_function(X)
        assert (found == wanted).all()


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "category", "object", "float16"])
def test_relevance_in_every_type_of_pandas_is_read(kind):
    import pandas

    numbers = Y.astype(bool) if kind == "boolean" else Y
    form = Y.astype(np.float16) if kind == "float16" else pandas.DataFrame(numbers).astype(kind)
    expected = catalog.make("BR", seed=0).fit(X, Y).decision_function(X)
    found = catalog.make("BR", seed=0).fit(X, form).decision_function(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["Int64", "object"])
def test_what_is_missing_in_relevance_is_unknown(kind):
    import pandas

    form = pandas.DataFrame(Y).astype(kind)
    form.iloc[3, 0] = pandas.NA if kind == "Int64" else None
    gaps = Y.astype(float)
    gaps[3, 0] = np.nan
    expected = catalog.make("BR", seed=0).fit(X, gaps).decision_function(X)
    np.testing.assert_array_equal(
        catalog.make("BR", seed=0).fit(X, form).decision_function(X), expected
    )


@pytest.mark.parametrize("kind", ["lists", "object", "category", "string"])
def test_a_chain_takes_names_of_classes_in_every_form(kind):
    import pandas

    names = np.array(["no", "yes"])[Y[:, :2]]
    forms = {"lists": names.tolist, "object": lambda: names.astype(object)}
    form = forms.get(kind, lambda: pandas.DataFrame(names).astype(kind))()
    expected = ViterbiClassifierChain(random_state=0).fit(X, names)
    found = ViterbiClassifierChain(random_state=0).fit(X, form)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.score(X, form) == expected.score(X, names)


def test_a_chain_takes_columns_of_numbers_and_of_names_with_gaps():
    import pandas

    frame = pandas.DataFrame({"sky": np.array(["blue", "grey", None])[X[:, 0].argsort() % 3]})
    frame["rain"] = pandas.array(Y[:, 0] + 2, "Int64")
    frame.loc[0, "rain"] = pandas.NA
    chain = ViterbiClassifierChain(random_state=0).fit(X, frame)
    answers = chain.predict(X)
    assert [classes.tolist() for classes in chain.column_classes_] == [["blue", "grey"], [2, 3]]
    assert {type(value) for value in answers[:, 0]} <= {str}
    assert set(answers[:, 1]) <= {2, 3}
    with pytest.raises(InputError, match="texts for one of numbers"):
        chain.score(X, frame[["rain", "sky"]])


@pytest.mark.data
def test_features_of_data_sets_have_the_indices_that_scikit_learn_takes():
    from labelrank.datasets import load

    assert load("enron").X.indices.dtype == np.int32
