"""Text classification, the lecture: its three tables on Reuters-21578, from three papers.
Dumais et al. and Joachims train on all documents, Yang & Liu on those with one of the 90 topics.
Terms, models and cuts are learned from training documents alone (see docs/experiments.rst)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import labelrank
from labelrank.experiments import claims
from labelrank.experiments.protocol import learner, with_known
from labelrank.experiments.registry import experiment, published
from labelrank.experiments.verdicts import Record

TOP_TEN = (
    "earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn",
)  # fmt: skip


class Method(NamedTuple):
    """A learner of the catalog, how documents are shown to it, and its column in each table."""

    name: str
    terms: str
    settings: dict[str, Any]
    cut: str = "tuned"
    dumais: str = ""
    joachims: str = ""
    yang_liu: str = ""


_SVM = {"C": 1.0, "fit_intercept": True}
_PAIRWISE = {"epochs": 10, "averaging": "averaged", "step": "pa", "voting": "rivals"}

METHODS = {
    "kNN": Method("kNN", "2000", {"n_neighbors": 15}, joachims="kNN", yang_liu="KNN"),
    "Rocchio": Method("Rocchio", "content", {"gamma": 1.0}, dumais="Rocchio", joachims="Rocchio"),
    "NB": Method("NB", "2000", {"alpha": 0.01}, dumais="NBayes", joachims="Bayes", yang_liu="NB"),
    "trees": Method(
        "trees", "1000", {"estimator__min_samples_leaf": 5}, "own", dumais="Trees", joachims="C4.5"
    ),
    "linear SVM": Method(
        "BSVM+", "all", _SVM, dumais="LinearSVM", joachims="SVM_linear", yang_liu="SVM"
    ),
    "one-vs-all perceptrons": Method("BR+", "all and constant", {"epochs": 10}),
    "calibrated pairwise perceptrons": Method("CMLPC", "all and constant", _PAIRWISE),
    "label powerset": Method("LP-pruned", "all", {}, "own"),
    "compression": Method("compress", "text", {}, "own"),
}
RULES = {"one cut": False, "cuts by topic": True}

_REACHED = "at or above the printed value"
_TREES = (
    "not the trees of the source: those of Gini or entropy, on binary or weighted terms, 100 to "
    "1,000 of them, pruned or not, lie within 1.6 points of each other on held-out documents"
)
# Why a value may miss the printed one under either rule, by what is measured.
_WHY = {
    "miR": "the cut trades it for precision: F1 is what is tuned",
    "miP": "the cut trades it for recall: F1 is what is tuned",
}


@experiment(
    name="reuters", paper="003", table="three Reuters tables", data=("reuters21578",),
    settings="ModApte, 90 topics; TF-IDF with logarithmic counts; trees on 1,000, kNN "
    "and naive Bayes on 2,000 terms by chi-square; Rocchio without stop words; perceptrons with a "
    "constant feature; break-even points in per cent",
    minutes=8, tolerance=0.05, claims=claims.of_reuters,
)  # fmt: skip
def reuters(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Break-even points and F1 on Reuters-21578 of nine kinds of text classifiers."""
    for title, method in METHODS.items():
        points = break_even_points(method, seed, jobs)
        yield from _beside(title, method.dumais, "reuters_dumais", "Dumais", points)
        yield from _beside(title, method.joachims, "reuters_joachims", "Joachims", points)
        yield from _yang_liu(title, method, seed, jobs)


class Documents(NamedTuple):
    """Both parts of the ModApte split as a method sees them."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any
    names: list[str]


@lru_cache(maxsize=4)
def documents(terms: str, *, labelled: bool) -> Documents:
    """Both parts of the ModApte split; terms come from the training part only."""
    import numpy as np

    train, test = parts(labelled)
    if terms == "text":
        X, X_test = np.array(train.texts, object), np.array(test.texts, object)
    else:
        vectorizer = _vectorizer(terms)
        X = vectorizer.fit_transform(train.texts, (train.Y > 0).toarray().astype(int))
        X_test = vectorizer.transform(test.texts)
    return Documents(X, train.Y, X_test, test.Y, list(train.label_names))


@lru_cache(maxsize=1)
def _collection() -> Any:
    return labelrank.datasets.load("reuters21578", common_topics=True)


def parts(labelled: bool) -> tuple[Any, Any]:
    """Training and test documents; if `labelled`, only those with one of the 90 topics."""
    data = _collection()
    if not labelled:
        return data.train, data.test
    train, test = (part.subset((part.Y > 0).sum(axis=1) > 0) for part in (data.train, data.test))
    return train, test


def _vectorizer(terms: str) -> Any:
    """All terms (and a constant); all but stop words; the given number that tell most."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, Normalizer

    if terms in ("all", "all and constant"):
        every = labelrank.text.make_vectorizer("tfidf", sublinear_tf=True)
        constant = FunctionTransformer(with_constant, accept_sparse=True)
        return every if terms == "all" else make_pipeline(every, constant)
    chosen: dict[str, Any] = {"stop_words": "english", "min_df": 3}
    content = labelrank.text.make_vectorizer("tfidf", sublinear_tf=True, **chosen)
    if terms == "content":
        return content
    return make_pipeline(content, SelectKBest(largest_chi_square, k=int(terms)), Normalizer())


def with_constant(X: Any, value: float = 0.3) -> Any:
    """One more column: perceptrons have no intercept of their own."""
    import numpy as np
    import scipy.sparse as sp

    X = sp.csr_array(X, dtype=np.float32)
    constant = np.full((X.shape[0], 1), value, np.float32)
    return sp.csr_array(sp.hstack([X, constant], format="csr"))


def largest_chi_square(X: Any, Y: Any) -> Any:
    """Of each term the largest chi-square statistic of its presence with a label."""
    import numpy as np
    import scipy.sparse as sp

    present = sp.csr_array(sp.csr_array(X) > 0, dtype=float)
    has_label = np.asarray(np.asarray(Y) > 0, float)
    n, with_term = present.shape[0], np.asarray(present.sum(axis=0)).ravel()
    together = (present.T @ has_label).T
    with_label = has_label.sum(axis=0)[:, None]
    spread = with_label * (n - with_label) * with_term * (n - with_term)
    statistic = n * (n * together - with_label * with_term) ** 2 / np.maximum(spread, 1)
    return statistic.max(axis=0)


def made(method: Method, seed: int, jobs: int | None) -> Any:
    """The learner of a method, its trees seeded too."""
    chosen = learner(method.name, seed, jobs, **method.settings)
    return with_known(chosen, estimator__random_state=seed)


def _fitted(method: Method, data: Documents, seed: int, jobs: int | None) -> Any:
    """scikit-learn's one-vs-rest wants a 0/1 matrix of integers."""
    Y = (data.Y > 0).astype(int) if method.name == "trees" else data.Y
    return made(method, seed, jobs).fit(data.X, Y)


def break_even_points(method: Method, seed: int, jobs: int | None) -> dict[str, float]:
    """Of the ten largest categories and on average, in per cent."""
    import numpy as np

    data = documents(method.terms, labelled=False)
    fitted = _fitted(method, data, seed, jobs)
    answer = getattr(fitted, "decision_function", None) or fitted.predict_proba
    points: Any = 100 * labelrank.metrics.break_even_point(data.Y_test, answer(data.X_test), None)
    sizes = np.asarray((data.Y_test > 0).sum(axis=0)).ravel()
    ten = [data.names.index(name) for name in TOP_TEN]
    average = {
        name: float(points[chosen] @ sizes[chosen] / sizes[chosen].sum())
        for name, chosen in (("avg top 10", ten), ("avg all", slice(None)))
    }
    by_category = {name: float(points[k]) for name, k in zip(TOP_TEN, ten, strict=True)}
    return {**by_category, **average, "microavg": average["avg all"]}


def _beside(
    title: str, column: str, table: str, source: str, points: dict[str, float]
) -> Iterator[Record]:
    for row in published(table):
        name, printed = row["category"], row[column] if column else None
        if column or source == "Joachims":
            note = _break_even_note(title, name, printed, points[name])
            yield Record(f"{source} {name}", title, printed, points[name], note)


def _break_even_note(title: str, category: str, printed: float | None, ours: float) -> str:
    if printed is None:
        return ""
    if ours >= printed:
        return _REACHED
    test = parts(labelled=False)[1]
    names = {"avg top 10": TOP_TEN, "avg all": test.label_names, "microavg": test.label_names}
    columns = [list(test.label_names).index(one) for one in names.get(category, (category,))]
    n = int((test.Y[:, columns] > 0).sum())
    error = (ours * (100 - ours) / n) ** 0.5
    short = f"{printed - ours:.1f} below; standard error {error:.1f} with {n:,} positive documents"
    return f"{short}; {_TREES}" if title == "trees" else short


def _yang_liu(title: str, method: Method, seed: int, jobs: int | None) -> Iterator[Record]:
    printed = {row["method"]: row for row in published("reuters_yang_liu")}
    by_rule = set_criteria(method, seed, jobs)
    for rule, values in by_rule.items():
        for measure, ours in values.items():
            theirs = printed[method.yang_liu][measure] if method.yang_liu else None
            others = {other: by_rule[other][measure] for other in by_rule if other != rule}
            note = _set_note(measure, theirs, ours, others)
            yield Record(f"Yang & Liu {measure}, {rule}", title, theirs, ours, note)


def _set_note(what: str, printed: float | None, ours: float, others: Mapping[str, float]) -> str:
    if printed is None:
        return ""
    if _reaches(what, printed, ours):
        return "at or below the printed value" if what == "error" else _REACHED
    for rule, value in others.items():
        if _reaches(what, printed, value):
            return f"missed; {value:.4f} with {rule}"
    return f"missed: {_WHY.get(what, 'terms and settings are the same for all topics')}"


def _reaches(what: str, printed: float, ours: float) -> bool:
    return ours <= printed if what == "error" else ours >= printed


def set_criteria(method: Method, seed: int, jobs: int | None) -> dict[str, dict[str, float]]:
    """By rule of cutting: recall, precision and F1, macro F1, and the share of wrong decisions."""
    from labelrank.learners.thresholded import best_threshold

    data = documents(method.terms, labelled=True)
    fitted = _fitted(method, data, seed, jobs)
    if method.cut == "own":
        return {"own cut": _criteria(data.Y_test, fitted.predict(data.X_test))}
    scores, held_out = fitted.decision_function(data.X_test), _held_out_scores(fitted, data)
    cuts = {
        rule: best_threshold(data.Y, held_out, "micro_f1", per_label=per_label, floor=0.1)
        for rule, per_label in RULES.items()
    }
    return {rule: _criteria(data.Y_test, (scores > cut) * 1) for rule, cut in cuts.items()}


def _held_out_scores(fitted: Any, data: Documents) -> Any:
    """Scores of each training document by a model of the other two thirds."""
    import numpy as np
    from sklearn.base import clone

    X, Y = data.X, data.Y
    scores = np.empty(Y.shape)
    for train, test in labelrank.evaluation.StratifiedFolds(3, random_state=0).split(X, Y):
        scores[test] = clone(fitted).fit(X[train], Y[train]).decision_function(X[test])
    return scores


def _criteria(truth: Any, predicted: Any) -> dict[str, float]:
    return {
        "miR": float(labelrank.metrics.recall(truth, predicted, "micro")),
        "miP": float(labelrank.metrics.precision(truth, predicted, "micro")),
        "miF1": float(labelrank.metrics.f1(truth, predicted, "micro")),
        "maF1": float(labelrank.metrics.f1(truth, predicted, "macro")),
        "error": float(labelrank.metrics.hamming_loss(truth, predicted)),
    }
