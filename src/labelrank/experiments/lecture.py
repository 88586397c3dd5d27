"""Text classification, the lecture: sizes, event models, kernels, curves, capacity control."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import labelrank
from labelrank.experiments import claims, figures
from labelrank.experiments.protocol import hold_out, learner, with_known
from labelrank.experiments.registry import experiment, published
from labelrank.experiments.reuters import METHODS, documents, made, parts
from labelrank.experiments.verdicts import Record

_CATEGORY = "interest"
_ON_CURVE = {
    "linear SVM": ("BSVM+", "tfidf", {}),
    "decision tree": ("trees", "tfidf", {"estimator__min_samples_leaf": 5}),
    "naive Bayes, binary": ("NB-Bernoulli", "set", {}),
    "nearest neighbours": ("kNN", "tfidf", {"n_neighbors": 15}),
}
_RECALLS = (0.25, 0.5, 0.75, 0.9)
_LARGEST = 20
_TITLES = 500
_CAPACITY = {
    "C": ("linear SVM", (0.01, 0.1, 1.0, 10.0, 100.0)),
    "n_neighbors": ("kNN", (1, 3, 10, 30, 100, 300)),
    "alpha": ("NB", (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)),
}


@experiment(
    name="reuters-sizes", paper="003", table="category sizes", data=("reuters21578",),
    settings="ModApte; the test documents of acq are printed as 179, most likely for 719",
    minutes=0.1, tolerance=0.005, quick=True,
)  # fmt: skip
def reuters_sizes(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Documents and common categories of Reuters-21578."""
    data = labelrank.datasets.load("reuters21578")
    for row in published("reuters_sizes"):
        for part in ("train", "test"):
            chosen = getattr(data, part)
            ours: int = chosen.n_instances
            if row["category"] != "all documents":
                column = data.label_names.index(row["category"])
                ours = int((chosen.Y[:, [column]] > 0).sum())
            yield Record(row["category"], part, row[part], float(ours))


@experiment(
    name="rcv1-topics", paper="003", table="RCV1 topics", data=("rcv1v2",),
    settings="per cent of the documents that have a topic; the lecture prints bars, no numbers",
    minutes=0.1, tolerance=0.05, quick=True,
)  # fmt: skip
def rcv1_topics(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """The largest topics of RCV1."""
    import numpy as np

    data = labelrank.datasets.load("rcv1v2")
    shares = 100 * np.asarray((data.Y > 0).sum(axis=0)).ravel() / data.n_instances
    largest = np.argsort(-shares, kind="stable")[:_LARGEST]
    bars = {data.label_names[k]: float(shares[k]) for k in largest}
    path = figures.bars("rcv1-topics", {"per cent of documents": bars})
    for name, share in bars.items():
        yield Record(name, "per cent of documents", None, share, path)


@experiment(
    name="reuters-curve", paper="003", table="recall/precision curve", data=("reuters21578",),
    settings=f"ModApte, 90 topics, category '{_CATEGORY}'; all terms by TF-IDF, naive Bayes by "
    "presence; the lecture's curves have no printed numbers",
    minutes=0.2, tolerance=0.05, quick=True,
)  # fmt: skip
def reuters_curve(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Precision at several recalls of four learners on one category of Reuters-21578."""
    from sklearn.metrics import precision_recall_curve

    train, test = parts(labelled=False)
    column = train.label_names.index(_CATEGORY)
    truth = (test.Y[:, [column]] > 0).toarray().ravel()
    curves = {}
    for title in _ON_CURVE:
        scores = _scores(title, train, test.texts, column, seed, jobs)
        precision, recall, _ = precision_recall_curve(truth, scores)
        curves[title] = recall, precision
    path = figures.curves("reuters-curve", {"precision": curves}, xlabel="recall", title=_CATEGORY)
    for title, (recall, precision) in curves.items():
        for wanted in _RECALLS:
            best = float(precision[recall >= wanted].max())
            yield Record(f"recall {wanted:.2f}", title, None, best, path)


def _scores(
    title: str, train: Any, texts: list[str], column: int, seed: int, jobs: int | None
) -> Any:
    """Scores of the test documents for the category; trees learn that category alone."""
    name, representation, settings = _ON_CURVE[title]
    terms = labelrank.text.make_vectorizer(representation)
    X, X_test = terms.fit_transform(train.texts), terms.transform(texts)
    chosen = with_known(learner(name, seed, jobs, **settings), estimator__random_state=seed)
    if name == "trees":
        wanted = (train.Y[:, [column]] > 0).toarray().astype(int)
        return chosen.fit(X, wanted).predict_proba(X_test)[:, -1]
    return chosen.fit(X, train.Y).decision_function(X_test)[:, column]


@experiment(
    name="event-models", paper="003", table="Figures 1 to 4", data=("reuters21578", "debtags"),
    settings="naive Bayes by posteriors; vocabulary by document frequency; accuracy: the best "
    "label is relevant; Reuters: ModApte, debtags: a random third of the packages held out",
    minutes=0.5, tolerance=0.05, along="column", quick=True, claims=claims.of_event_models,
)  # fmt: skip
def event_models(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Accuracy of multinomial and Bernoulli naive Bayes over the size of the vocabulary."""
    for name in ("reuters21578", "debtags"):
        records = list(event_model_curves(name, seed))
        curves: dict[str, Any] = {}
        for record in records:
            sizes, accuracies = curves.setdefault(record.column, ([], []))
            sizes.append(int(record.row.split()[-2].replace(",", "")))
            accuracies.append(record.ours)
        path = figures.curves(
            f"event-models-{name}", {"accuracy (per cent)": curves}, marker="o", title=name,
            xscale="log", xlabel="vocabulary size",
        )  # fmt: skip
        yield replace(records[0], note=f"drawn in {path}" if path else "")
        yield from records[1:]


def event_model_curves(name: str, seed: int, most: int = 2**17) -> Iterator[Record]:
    """One record per vocabulary size and event model; the last size is the whole vocabulary."""
    import numpy as np

    split = parts(labelled=True) if name == "reuters21578" else None
    train, test = split or hold_out(labelrank.datasets.load(name), 3, seed)
    vectorizer = labelrank.text.make_vectorizer("bag")
    counts, counts_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    order = np.argsort(-frequency, kind="stable")  # terms of most training documents first
    counts, counts_test = counts[:, order], counts_test[:, order]
    sizes = [size for size in (2**p for p in range(4, 18)) if size < min(counts.shape[1], most)]
    for size in [*sizes, min(counts.shape[1], most)]:
        for title, model in (("multinomial", "NB"), ("Bernoulli", "NB-Bernoulli")):
            fitted = learner(model, seed, None).fit(counts[:, :size], train.Y)
            scores = fitted.decision_function(counts_test[:, :size])
            wrong = labelrank.metrics.one_error(test.Y, scores)
            yield Record(f"{name} {size:,} terms", title, None, 100 * (1 - float(wrong)))


@experiment(
    name="capacity", paper="003", table="capacity control", data=("reuters21578",),
    settings="ModApte, documents with a topic; error is 1 - micro-F1, kNN and naive Bayes cut at "
    "the mean number of topics",
    minutes=3, tolerance=0.05, claims=claims.of_capacity,
)  # fmt: skip
def capacity(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Training and test error along C, k and alpha: over-fitting made visible."""
    for parameter, (title, values) in _CAPACITY.items():
        data = documents(METHODS[title].terms, labelled=True)
        chosen = with_known(made(METHODS[title], seed, jobs), threshold="cardinality")
        train, test = (data.X, data.Y), (data.X_test, data.Y_test)
        curve = labelrank.evaluation.capacity_curve(chosen, parameter, values, train, test)
        for point in curve:
            row = f"{title} {parameter} = {point.value:g}"
            yield Record(row, "training error", None, point.training_error)
            yield Record(row, "test error", None, point.test_error)


@experiment(
    name="reuters-kernels", paper="003", table="Joachims, kernels", data=("reuters21578",),
    settings="ModApte, all 9,603 training documents, TF-IDF with logarithmic counts, C = 1; "
    "polynomials (x·y + 1)^d, radial exp(-γ|x - y|²); break-even points in per cent",
    minutes=3, tolerance=0.05, claims=claims.of_kernels,
)  # fmt: skip
def reuters_kernels(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Break-even points of the ten largest categories by nine kernels."""
    data = documents("all", labelled=False)
    products = (data.X @ data.X.T).toarray(), (data.X_test @ data.X.T).toarray()
    rows = published("reuters_kernels")
    for kernel in [name for name in rows[0] if name != "category"]:
        between = tuple(kernel_of(kernel, one) for one in products)
        for row in rows:
            column = [data.names.index(row["category"])]
            ours = _break_even(between, data.Y[:, column], data.Y_test[:, column])
            yield Record(row["category"], kernel, row[kernel], ours)


def kernel_of(name: str, products: Any) -> Any:
    """Values of a kernel ("poly 2", "rbf 1.0") from inner products of vectors of length 1."""
    import numpy as np

    kind, value = name.split()
    exact = np.asarray(products, dtype=np.float64)
    return (exact + 1) ** int(value) if kind == "poly" else np.exp(2 * float(value) * (exact - 1))


def _break_even(between: tuple[Any, ...], Y: Any, Y_test: Any) -> float:
    from sklearn.svm import SVC

    machine = SVC(kernel="precomputed", cache_size=1000)
    machine.fit(between[0], (Y > 0).toarray().ravel().astype(int))
    scores = machine.decision_function(between[1])[:, None]
    points: Any = labelrank.metrics.break_even_point(Y_test, scores, None)
    return 100 * float(points[0])


@experiment(
    name="eurlex-pairwise", paper="003", table="EuroVOC classification of EC legal texts",
    data=("eurlex-titles",), minutes=2, tolerance=0.05, claims=claims.of_eurlex,
    settings=f"titles alone, TF-IDF, one epoch in chronological order from zero weights, "
    f"{_TITLES} of the test documents; the lecture's texts are whole documents",
)  # fmt: skip
def eurlex_pairwise(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Average precision of pairwise perceptrons, BR and MMP with more than 4,000 labels."""
    import numpy as np

    data = labelrank.datasets.load("eurlex-titles")
    terms = labelrank.text.make_vectorizer("tfidf")
    X = terms.fit_transform(data.train.texts)
    chosen = np.random.default_rng(seed).choice(data.test.n_instances, _TITLES, replace=False)
    test = data.test.subset(np.sort(chosen))
    X_test = terms.transform(test.texts)
    for name in ("BR", "MMP", "MLPP"):
        fresh = with_known(learner(name, seed, jobs, init="zeros"), representation="dual")
        scores = fresh.fit(X, data.train.Y).decision_function(X_test)
        precision = 1 - labelrank.metrics.average_precision_loss(test.Y, scores)
        yield Record("average precision, per cent", name, None, 100 * float(precision))
        coverage = 1 + float(labelrank.metrics.coverage(test.Y, scores))
        yield Record("labels down to the last relevant one", name, None, coverage)
