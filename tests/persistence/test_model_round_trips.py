"""What is saved comes back bit for bit; what cannot be saved is named."""

import os
import warnings
from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PassiveAggressiveClassifier,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier, _ConstantPredictor
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    MultiLabelBinarizer,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from sklearn.utils import get_tags

import labelrank
from labelrank import (
    BinaryRelevancePerceptron,
    ForestRanker,
    IndependentClassifiers,
    LabelCodes,
    MulticlassMultilabelPerceptron,
    RelevanceBinarizer,
    Tagger,
    TargetColumns,
    TextEncoder,
    TextVectorizer,
    persistence,
)
from labelrank.errors import ModelFileError
from labelrank.learners.base import LabelRanker
from labelrank.persistence import names

rng = np.random.default_rng(0)
X = rng.random((40, 6)).round(3)
y = np.array(["oats", "rye", "wheat"])[X[:, :3].argmax(axis=1)]
Y = (X[:, :4] > 0.5).astype(int)
TEXTS = ["wheat and rye", "crude oil", "rye harvest, größer", "oil tankers and wheat"] * 3
LISTS = [["grain", "trade"], ["oil"], ["grain"], ["oil", "trade"]] * 3

CLASSIFIERS = [
    LogisticRegression(), SGDClassifier(random_state=0), SGDClassifier(loss="log_loss"),
    SGDClassifier(average=True), Perceptron(), RidgeClassifier(), LinearSVC(),
    PassiveAggressiveClassifier(), MultinomialNB(), BernoulliNB(), ComplementNB(), GaussianNB(),
    DecisionTreeClassifier(), DecisionTreeClassifier(max_leaf_nodes=4, max_features=2),
    ExtraTreeClassifier(), RandomForestClassifier(5, random_state=np.random.RandomState(3)),
    ExtraTreesClassifier(5, max_depth=1), NearestCentroid(), DummyClassifier(),
    KNeighborsClassifier(3, algorithm="brute"), OneVsRestClassifier(LinearSVC()),
    Pipeline([("scale", StandardScaler()), ("learn", LogisticRegression())]),
    make_pipeline(PolynomialFeatures(2), MaxAbsScaler(), Normalizer(), MultinomialNB()),
    make_pipeline(MinMaxScaler(), TruncatedSVD(2), VarianceThreshold(), LogisticRegression()),
]  # fmt: skip
MULTILABEL = [
    BinaryRelevancePerceptron(random_state=0),
    BinaryRelevancePerceptron(averaging="averaged", init="random", random_state=1),
    MulticlassMultilabelPerceptron(loss="margin", penalty="random", random_state=0),
    OneVsRestClassifier(LogisticRegression()),
    OneVsRestClassifier(MultinomialNB()),
    MultiOutputClassifier(LogisticRegression()),
    RandomForestClassifier(4),
    KNeighborsClassifier(3, algorithm="brute"),
    DecisionTreeClassifier(),
]
REGRESSORS = [
    Ridge(),
    LinearRegression(),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_depth=1),
]
VECTORIZERS = [
    CountVectorizer(),
    CountVectorizer(ngram_range=(1, 2), stop_words=["and"], dtype=np.float32),
    TfidfVectorizer(sublinear_tf=True, analyzer="char_wb"),
    HashingVectorizer(n_features=64),
    make_pipeline(CountVectorizer(vocabulary=["oil", "rye"]), TfidfTransformer()),
    FeatureUnion([("bag", CountVectorizer()), ("hash", HashingVectorizer(n_features=8))]),
    TextVectorizer("tfidf", max_terms=4),
    TextVectorizer("bag"),
    TextVectorizer("set", stop_words=frozenset({"and"})),
    TextVectorizer("hashing", max_terms=32),
]
BINARIZERS = [
    (RelevanceBinarizer(ordered=True), LISTS),
    (MultiLabelBinarizer(), LISTS),
    (LabelBinarizer(), y),
    (LabelEncoder(), y),
]


def round_trip(model, folder):
    return persistence.load(persistence.save(model, folder / "model.labelrank"))


def same(found, expected):
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
        return
    assert type(found) is type(expected)
    if sp.issparse(expected):
        found, expected = found.toarray(), expected.toarray()
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def outputs(model, X):
    names = ("predict", "decision_function", "predict_proba", "transform")
    return [getattr(model, name)(X) for name in names if hasattr(model, name)]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: str(m)[:40])
def test_classifiers_answer_as_before(model, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(X, y)
    loaded = round_trip(fitted, tmp_path)
    same(outputs(loaded, X), outputs(fitted, X))
    assert str(loaded).partition("RandomState")[0] == str(fitted).partition("RandomState")[0]


@pytest.mark.parametrize("model", MULTILABEL, ids=lambda m: str(m)[:40])
def test_multilabel_learners_answer_as_before(model, tmp_path):
    fitted = clone(model).fit(X, Y)
    same(outputs(round_trip(fitted, tmp_path), X), outputs(fitted, X))


def _learners():
    """Every label ranker of the library, in whatever way it can be made with defaults."""
    for name in labelrank._HOME:
        cls = getattr(labelrank, name)
        if isinstance(cls, type) and issubclass(cls, LabelRanker):
            yield cls, signature(cls).parameters


LEARNERS = list(_learners())
BASES = {
    "BaggedRanker": BinaryRelevancePerceptron(random_state=0),
    "ThresholdedRanker": BinaryRelevancePerceptron(random_state=0),
    "CorrectedRanker": BinaryRelevancePerceptron(random_state=0),
    "TwoStageRanker": BinaryRelevancePerceptron(random_state=0),
    "CalibratedRanker": BinaryRelevancePerceptron(random_state=0),
    "LevelRanker": ForestRanker(n_estimators=5, random_state=0),
    "TargetColumns": IndependentClassifiers(),
}


@pytest.mark.parametrize(("cls", "parameters"), LEARNERS, ids=lambda v: getattr(v, "__name__", ""))
def test_every_learner_of_the_library_answers_as_before(cls, parameters, tmp_path):
    options = {"random_state": 0} if "random_state" in parameters else {}
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty:
            options[name] = BASES.get(cls.__name__, LogisticRegression())
    relevance = Y
    if cls is TargetColumns:
        options["sizes"], relevance = (
            (2, 2),
            np.column_stack([Y[:, :2], 1 - Y[:, :2]])[:, [0, 2, 1, 3]],
        )
    learner = cls(**options)
    reads_texts = get_tags(learner).input_tags.string
    documents = [str(row) for row in X.tolist()] if reads_texts else X
    fitted = learner.fit(documents, relevance)
    same(outputs(round_trip(fitted, tmp_path), documents), outputs(fitted, documents))


def test_stochastic_gradient_learners_go_on_learning(tmp_path):
    fitted = SGDClassifier(random_state=0, average=True).fit(X, y)
    loaded = round_trip(fitted, tmp_path)
    for model in (fitted, loaded):
        model.partial_fit(X[:9], y[:9])
    same(loaded.coef_, fitted.coef_)


@pytest.mark.parametrize("model", REGRESSORS, ids=str)
def test_regressors_answer_as_before(model, tmp_path):
    fitted = clone(model).fit(X, X[:, 0])
    same(outputs(round_trip(fitted, tmp_path), X), outputs(fitted, X))


@pytest.mark.parametrize("model", VECTORIZERS, ids=lambda m: str(m)[:40])
def test_vectorisers_answer_as_before(model, tmp_path):
    fitted = clone(model).fit(TEXTS)
    same(outputs(round_trip(fitted, tmp_path), TEXTS), outputs(fitted, TEXTS))


@pytest.mark.parametrize(("model", "labels"), BINARIZERS, ids=str)
def test_binarizers_answer_as_before(model, labels, tmp_path):
    fitted = clone(model).fit(labels)
    loaded = round_trip(fitted, tmp_path)
    same(outputs(loaded, labels), outputs(fitted, labels))
    assert list(loaded.classes_) == list(fitted.classes_)


def test_label_codes_go_on_counting(tmp_path):
    whole = LabelCodes(2).fit(Y)
    loaded = round_trip(LabelCodes(2).fit(Y[:10]), tmp_path)
    same(loaded.partial_fit(Y[10:]).finish().codes_, whole.codes_)


def test_every_listed_class_has_a_round_trip():
    tested = [*CLASSIFIERS, *MULTILABEL, *REGRESSORS, *VECTORIZERS, *[m for m, _ in BINARIZERS]]
    classes = {type(part) for model in tested for part in _parts(model)}
    classes |= {cls for cls, _ in LEARNERS} | {Tagger, _ConstantPredictor, LabelCodes}
    classes |= {TextEncoder}  # see tests/test_encoder.py
    listed = {names._find(name) for name in names.PLACES if name not in names._PARTS}
    listed.discard(None)
    assert listed <= classes


def _parts(model):
    yield model
    for value in model.get_params(deep=True).values():
        if isinstance(value, BaseEstimator):
            yield value


@pytest.mark.parametrize("representation", ["tfidf", "hashing"])
def test_a_tagger_comes_back_whole_and_goes_on_learning(representation, tmp_path):
    model = Tagger(representation=representation).partial_fit(TEXTS, LISTS, name="toy")
    loaded = round_trip(model, tmp_path)
    assert loaded.rank(TEXTS) == model.rank(TEXTS)
    assert (loaded.label_names_, loaded.summary_) == (model.label_names_, model.summary_)
    for tagger in (model, loaded):
        tagger.partial_fit(TEXTS[:3], LISTS[:3])
    same(loaded.decision_function(TEXTS), model.decision_function(TEXTS))


def test_label_without_examples_comes_back(tmp_path):
    empty = np.column_stack((Y, np.zeros(len(Y), int)))
    with pytest.warns(UserWarning, match="Label not"):
        fitted = OneVsRestClassifier(LogisticRegression()).fit(X, empty)
    same(outputs(round_trip(fitted, tmp_path), X), outputs(fitted, X))


class Box(BaseEstimator):
    """Anything at all, for what estimators rarely hold."""

    def __init__(self, value=None):
        self.value = value


persistence.register(Box)

ARRAYS = [
    np.arange(12.0).reshape(3, 4).T, np.arange(12).reshape(3, 4)[:, ::2], np.array(3.5),
    np.zeros((0, 3), np.int8), np.array([np.nan, -np.inf, -0.0], np.float16),
    np.array([True, False]),
    np.arange(3, dtype=">i4"), np.array([2**64 - 1], np.uint64), np.array(["wheat", "Öl", ""]),
    np.array([["a", "longer"]], dtype=object), np.empty(0, dtype=object), np.empty(0, dtype="U5"),
]  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_keep_values_types_and_order(array, tmp_path):
    found = round_trip(Box(array), tmp_path).value
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.shape == array.shape
    assert found.flags.f_contiguous == array.flags.f_contiguous
    assert found.flags.writeable


@pytest.mark.parametrize(
    "value",
    [
        None, True, -(2**200), 1.5, -0.0, float("inf"), "text \ud800 \x00", (1, (2, [3])), {1, 2},
        frozenset({"a"}), {"b": 1, "a": {3: None, (1, 2): [0.1]}}, {f"t{i}": i for i in range(99)},
        [f"word{i}" for i in range(99)], {str(i) for i in range(99)}, np.dtype("int16"),
        np.float32, int, [], {}, (), np.float32(0.1), np.str_("x"),
        {f"k{i}": 2**70 for i in range(40)},
    ],
    ids=lambda v: f"{type(v).__name__} {len(str(v))}",
)  # fmt: skip
def test_plain_values_come_back_equal(value, tmp_path):
    found = round_trip(Box(value), tmp_path).value
    assert found == value
    assert type(found) is type(value)
    assert repr(found) == repr(value) or isinstance(value, set)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
def test_sparse_matrices_come_back_in_their_form(form, tmp_path):
    same(round_trip(Box(form(np.diag([1.0, 0, 2]))), tmp_path).value, form(np.diag([1.0, 0, 2])))


@pytest.mark.parametrize(
    "random",
    [np.random.default_rng(4), np.random.RandomState(4), np.random.Generator(np.random.Philox(1))],
)
def test_random_generators_go_on_where_they_were(random, tmp_path):
    random.normal(size=3)
    found = round_trip(Box(random), tmp_path).value
    np.testing.assert_array_equal(found.normal(size=5), random.normal(size=5))


def test_an_array_held_twice_is_stored_once_and_stays_one(tmp_path):
    array = np.arange(1000.0)
    found = round_trip(Box([array, array]), tmp_path).value
    assert found[0] is found[1]
    assert (tmp_path / "model.labelrank").stat().st_size < 1.5 * array.nbytes


@pytest.mark.parametrize(
    ("model", "where"),
    [
        (CountVectorizer(tokenizer=str.split).fit(["a b"]), "CountVectorizer.tokenizer"),
        (CountVectorizer(input="filename"), "CountVectorizer.input"),
        (Box({"a": [1, lambda: None]}), r"Box.value \(values\)\[0\]\[1\] is a function"),
        (Box(np.array([object()])), "array of Python objects"),
        (Box(np.zeros(1, complex)), "array of type complex128"),
        (Box(np.ma.zeros(2)), "MaskedArray"),
        (Box(type("Own", (BaseEstimator,), {})()), "register its class"),
        (Box(10**400), "Box.value is a builtins.int"),
        (KNeighborsClassifier(1, algorithm="kd_tree").fit([[0], [1]], [0, 1]), "brute"),
    ],
)
def test_what_cannot_be_saved_is_named_with_its_place(model, where, tmp_path):
    with pytest.raises(ModelFileError, match=where):
        persistence.save(model, tmp_path / "m")
    assert not os.listdir(tmp_path)


def test_a_model_that_holds_itself_is_refused(tmp_path):
    box = Box([])
    box.value.append(box)
    with pytest.raises(ModelFileError, match="holds itself"):
        persistence.save(box, tmp_path / "m")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_mostly_zeros_take_little_room_and_lose_no_bit(dtype, order, tmp_path):
    values = np.zeros((100, 300), dtype, order=order)
    values[::7, ::11] = np.arange(1, 15 * 28 + 1).reshape(15, 28) % 100 + 1
    if dtype[0] == "f":
        values[1, 1], values[1, 2], values[1, 3] = -0.0, np.nan, np.inf
    held = StandardScaler()
    held.first_ = held.second_ = values
    path = persistence.save(held, tmp_path / "m.labelrank")
    loaded = persistence.load(path)
    assert path.stat().st_size < 10_000
    assert loaded.first_ is loaded.second_
    assert loaded.first_.dtype == values.dtype
    assert loaded.first_.flags.f_contiguous == values.flags.f_contiguous
    assert loaded.first_.tobytes() == values.tobytes()


def test_small_or_full_arrays_are_stored_as_they_are(tmp_path):
    for name, values in {"small": np.zeros(100), "full": np.ones(10_000)}.items():
        held = StandardScaler()
        held.first_ = values
        path = persistence.save(held, tmp_path / f"{name}.labelrank")
        np.testing.assert_array_equal(persistence.load(path).first_, values)
        assert path.stat().st_size > values.nbytes
