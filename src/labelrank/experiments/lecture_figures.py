"""Lecture 003: sizes of categories and topics, and a recall/precision curve."""

from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment, figures, published

_CATEGORY = "interest"
_LEARNERS = {
    "linear SVM": ("BSVM+", "tfidf", {}),
    "decision tree": ("trees", "tfidf", {"estimator__min_samples_leaf": 5}),
    "naive Bayes, binary": ("NB-Bernoulli", "set", {}),
    "nearest neighbours": ("kNN", "tfidf", {"n_neighbors": 15}),
}
_RECALLS = (0.25, 0.5, 0.75, 0.9)
_LARGEST = 20


@experiment(
    name="reuters-sizes", paper="003", table="category sizes", data=("reuters21578",),
    settings="ModApte; the test documents of acq are printed as 179, most likely for 719",
    minutes=0.1, tolerance=0.005,
)  # fmt: skip
def reuters_sizes(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Documents and common categories of Reuters-21578."""
    from labelrank import datasets

    data = datasets.load("reuters21578")
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
    minutes=0.1, tolerance=0.05,
)  # fmt: skip
def rcv1_topics(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """The largest topics of RCV1."""
    import numpy as np

    from labelrank import datasets

    data = datasets.load("rcv1v2")
    shares = 100 * np.asarray((data.Y > 0).sum(axis=0)).ravel() / data.n_instances
    largest = np.argsort(-shares, kind="stable")[:_LARGEST]
    names = [data.label_names[k] for k in largest]
    path = figures.save(_bars(names, shares[largest]), "rcv1-topics")
    for name, share in zip(names, shares[largest].tolist(), strict=True):
        yield Record(name, "per cent of documents", None, share, str(path or ""))


def _bars(names: list[str], shares: Any) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    axes.bar(range(len(names)), shares)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=8)
    axes.set(ylabel="per cent of documents")
    return figure


@experiment(
    name="reuters-curve", paper="003", table="recall/precision curve", data=("reuters21578",),
    settings=f"ModApte, 90 topics, category '{_CATEGORY}'; all terms by TF-IDF, naive Bayes by "
    "presence; the lecture's curves have no printed numbers",
    minutes=0.2, tolerance=0.05,
)  # fmt: skip
def reuters_curve(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Precision at several recalls of four learners on one category of Reuters-21578."""
    from sklearn.metrics import precision_recall_curve

    from labelrank import datasets

    data = datasets.load("reuters21578", common_topics=True)
    column = data.label_names.index(_CATEGORY)
    truth = (data.test.Y[:, [column]] > 0).toarray().ravel()
    curves = {}
    for title in _LEARNERS:
        scores = _scores(title, data, column, seed, jobs)
        curves[title] = precision_recall_curve(truth, scores)[:2]
    path = figures.save(_draw(curves), "reuters-curve")
    for title, (precision, recall) in curves.items():
        for wanted in _RECALLS:
            best = float(precision[recall >= wanted].max())
            yield Record(f"recall {wanted:.2f}", title, None, best, str(path or ""))


def _scores(title: str, data: Any, column: int, seed: int, jobs: int | None) -> Any:
    """Scores of the test documents for the category; trees learn that category alone."""
    from labelrank import catalog
    from labelrank.text import make_vectorizer

    name, representation, settings = _LEARNERS[title]
    terms = make_vectorizer(representation)
    X, X_test = terms.fit_transform(data.train.texts), terms.transform(data.test.texts)
    learner = catalog.make(name, **settings)
    given = {"random_state": seed, "estimator__random_state": seed, "n_jobs": jobs}
    learner.set_params(**{k: v for k, v in given.items() if k in learner.get_params()})
    if name == "trees":
        wanted = (data.train.Y[:, [column]] > 0).toarray().astype(int)
        return learner.fit(X, wanted).predict_proba(X_test)[:, -1]
    return learner.fit(X, data.train.Y).decision_function(X_test)[:, column]


def _draw(curves: dict[str, Any]) -> Any:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for title, (precision, recall) in curves.items():
        axes.plot(recall, precision, label=title)
    axes.set(xlabel="recall", ylabel="precision", title=_CATEGORY)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure
