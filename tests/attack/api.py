"""Odd arguments of every learner and of the criteria: answered as the plain ones, or refused.

A form that holds the same numbers must give the same answer; what is no input, no parameter or no
label must be an error of labelrank, in one sentence.
"""

import copy
import inspect

import numpy as np
import pandas
import polars as pl
import scipy.sparse as sp
from sklearn.utils import get_tags

from attack.models import QUICKER
from labelrank import RelevanceBinarizer, Tagger, catalog, decoding, metrics, testing
from labelrank.errors import LabelrankError

FOREIGN = ("one-vs-all", "round-robin", "trees", "SVM-linear")
METHODS = (
    *("fit", "partial_fit", "decision_function", "predict", "rank", "score", "answer", "why"),
    *("predict_proba", "parameter", "tagger", "criterion", "binarizer", "decoding"),
)
ODD = [
    None, True, -1, 0, 1, 2, 10**6, 0.5, -0.5, float("nan"), float("inf"), 1e-320, "", "x",
    "all", [], {}, (), set(), [0], ["x"], [[1]], (1, 2), b"x", object(), int, np.float32(0.3),
    np.int64(3), np.bool_(True), np.array([1.0]), np.array(2), 1j, "nan", "1", np.float64("nan"),
    range(3),
]  # fmt: skip


def same(X):
    """Other forms of the same numbers."""
    X = np.asarray(X, float)
    wide, unsorted = sp.csr_array(X), sp.csr_array(X[:, ::-1])
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    backwards = (unsorted.data, X.shape[1] - 1 - unsorted.indices, unsorted.indptr)
    names = [f"f{j}" for j in range(X.shape[1])]
    read_only = X.copy()
    read_only.setflags(write=False)
    zeros = sp.csr_array(X + 1)
    zeros.data -= 1
    return [
        X, X.tolist(), np.asfortranarray(X), X.astype(np.float32), X.astype(">f8"), read_only,
        X.astype(np.longdouble), X.astype(object), np.repeat(X, 2, axis=0)[::2],
        pandas.DataFrame(X, columns=names), pl.DataFrame(X, schema=names), sp.csr_array(X),
        sp.csr_matrix(X), sp.csc_array(X), sp.coo_array(X), sp.lil_array(X), sp.dok_array(X),
        sp.dia_array(X), sp.bsr_array(X), wide, zeros, testing.halved(X),
        sp.csr_array(backwards, shape=X.shape), np.ma.array(X),
    ]  # fmt: skip


def spoiled(X, random):
    """Forms that hold no, or other, numbers."""
    X = np.asarray(X, float)
    broken = sp.csr_array(X) if random.random() < 0.5 else sp.csc_array(X)
    part = ["indptr", "indices", "data"][random.integers(3)]
    array = getattr(broken, part).copy()
    if random.random() < 0.7 and array.size:
        odd = [10**8, -1, 2**31 - 1, np.nan if part == "data" else 10**9]
        array[random.integers(len(array))] = odd[random.integers(len(odd))]
    else:
        array = array[:-1] if random.random() < 0.5 else array.astype(random.choice(["f2", "c16"]))
    setattr(broken, part, array)
    forms = [
        None, 3.0, "text", b"x", {}, {"a": [1.0]}, {1.0}, (x for x in X), X[0], X[None], X[:0],
        X[:, :0], X[:, :1], np.hstack([X, X]), X * np.nan, X * 1e308 * 1e308, X.astype(complex),
        np.asmatrix(X), np.ma.array(X, mask=X > 0), X.astype(str), X.astype("M8[s]"),
        np.array([object()] * len(X)), [[1.0], [1.0, 2.0]], [[]], [],
        pandas.DataFrame({"a": ["x"]}), pandas.DataFrame(X).astype("category"),
        pl.DataFrame({"a": [[1], [2]]}), sp.csr_array(X[:0]), sp.coo_array(X[0]),
        np.zeros(len(X), [("a", "f8")]), X > 0.5, (X * 9).astype(np.int8), X * 1e300, X * 1e-320,
        -X, X.astype(np.float16), np.full(X.shape, "1"), iter([1]), lambda: X, type, Ellipsis,
        np.array(["a", "b"] * (len(X) // 2)), np.arange(len(X)), np.arange(len(X)) / 7,
        memoryview(X),
    ]  # fmt: skip
    return broken if random.random() < 0.25 else forms[random.integers(len(forms))]


def prepare():
    """Nothing, as each worker fits what it needs; criteria are compiled once, for all workers."""
    metrics.evaluate(np.eye(3), np.eye(3))
    testing.case(catalog.make("LP")).fitted.score(np.eye(7), np.eye(7)[:, :4])
    return {}


def attempt(number, cases, _):
    random = np.random.default_rng(number)
    names = [name for name in catalog.names() if name not in FOREIGN]
    name = names[random.integers(len(names))]
    if name not in cases:
        cases[name] = testing.case(catalog.make(name, **QUICKER.get(name, {})))
    case, method = cases[name], METHODS[random.integers(len(METHODS))]
    try:
        return TRIES.get(method, called)(case, random, method)
    except LabelrankError as error:
        return "refused" if "\n" not in str(error) else f"wrong: several lines {name} {method}"
    except Exception as error:
        error.args = (f"{name}.{method}: {error}",)
        raise


def called(case, random, method):
    """A method of a learner on one odd argument, or on another form of the plain one."""
    reads_texts = get_tags(case.learner).input_tags.string
    learner = case.made() if method in ("fit", "partial_fit") else case.fitted
    if not hasattr(learner, method):
        return "answered"
    X, Y = case.X, case.Y
    is_same = random.random() < 0.4 and not reads_texts and method != "why"
    if is_same:
        forms = same(X)
        X = forms[random.integers(len(forms))]
    elif random.random() < 0.5:
        X = spoiled(X if not reads_texts else Y, random)
    else:
        Y = spoiled(Y, random)
    if method == "why":
        label = ODD[random.integers(len(ODD))]
        arguments = (case.X[:1], label) if random.random() < 0.7 else (X, 0, label)
    elif method == "rank" and not is_same and random.random() < 0.5:
        arguments = (case.X, ODD[random.integers(len(ODD))])
    else:
        arguments = (X, Y) if method in ("fit", "partial_fit", "score") else (X,)
    getattr(learner, method)(*arguments)
    if is_same and "Boost" not in type(learner).__name__:
        return compared(case, learner, X)
    return "answered"


def compared(case, learner, X):
    """Whether the form X gives the scores of the plain X."""
    scores, wanted = learner.decision_function(X), case.fitted.decision_function(case.X)
    close = np.allclose(scores, wanted, 1e-3, 1e-4)
    return (
        "answered" if close else f"wrong: another answer to {type(X).__name__} by {case.learner!r}"
    )


def parameter(case, random, _):
    """A learner with one odd parameter."""
    names = [name for name in inspect.signature(type(case.learner)).parameters if name != "args"]
    if not names:
        return "answered"
    value = ODD[random.integers(len(ODD))]
    if type(value) is int and value > 1000:
        value = 1000
    learner = case.made()
    setattr(learner, names[random.integers(len(names))], copy.deepcopy(value))
    scores = learner.fit(case.X, case.Y).decision_function(case.X)
    return "wrong: scores that are not numbers" if np.isnan(scores).any() else "answered"


def tagger(case, random, _):
    """A tagger that is given odd documents or labels."""
    learner = case.made()
    documents = case.X.ravel().tolist() if get_tags(learner).input_tags.string else case.X
    lists = [[f"L{k}" for k in np.flatnonzero(row)] for row in case.Y]
    fitted = Tagger(learner)
    odd_lists = [
        None, [], [[]], [None] * 48, "x", [["a"]] * 3, [[1]] * 48, [["a", None]] * 48, {}, lists[0],
        [["a", ["b"]]] * 48, [{"a": -1.0}] * 48, [{"a": "x"}] * 48, [[""]] * 48, [["\ud800"]] * 48,
        [[float("nan")]] * 48, np.array(lists, object), spoiled(case.Y, random), [[("a",)]] * 48,
    ]  # fmt: skip
    if random.random() < 0.5:
        fitted.fit(documents, odd_lists[random.integers(len(odd_lists))])
        fitted.predict(documents)
        return "answered"
    fitted.fit(documents, lists)
    for name in ("predict", "rank", "decision_function"):
        getattr(fitted, name)(spoiled(case.Y, random))
    return "answered"


def criterion(case, random, _):
    """A criterion of odd relevance, scores or sets."""
    functions = [
        metrics.evaluate,
        metrics.evaluate_ranking,
        *(
            getattr(metrics, n)
            for n in (
                "ranking_loss",
                "average_precision_loss",
                "f1",
                "hamming_loss",
                "precision_at_k",
                "auc",
                "ndcg_at_k",
                "one_error",
                "coverage",
                "is_error",
                "pro_loss",
                "subset_accuracy",
                "jaccard",
            )
        ),
    ]
    function = functions[random.integers(len(functions))]
    arguments = [case.Y, random.random(case.Y.shape)]
    if function.__name__ in ("f1", "hamming_loss", "subset_accuracy", "jaccard"):
        arguments[1] = case.Y
    arguments[random.integers(2)] = spoiled(case.Y, random)
    function(*arguments)
    return "answered"


def binarizer(case, random, _):
    """Label lists to relevance and back, with odd ones."""
    lists = [["a", "b"], ["b"]]
    made = RelevanceBinarizer().fit(lists)
    way = random.integers(3)
    if way == 0:
        RelevanceBinarizer().fit(spoiled(case.Y, random))
    elif way == 1:
        made.transform(spoiled(case.Y, random))
    else:
        made.inverse_transform(spoiled(case.Y, random))
    return "answered"


def rank_and_cut(case, random, _):
    """Scores to rankings and sets, with odd ones."""
    decoding.rank(spoiled(case.Y, random), ODD[random.integers(len(ODD))])
    return "answered"


TRIES = {
    "parameter": parameter, "tagger": tagger, "criterion": criterion, "binarizer": binarizer,
    "decoding": rank_and_cut,
}  # fmt: skip
