"""Large margins: one-vs-rest SVM and ProSVM against LIBLINEAR, whole fit against whole fit.

Needs the data folder (LABELRANK_DATA). Rival: scikit-learn's LinearSVC in its fastest form
(float64 CSR features, int64 CSR labels, the faster of threads and processes).
"""

import warnings

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.timing import best_of, peak_mib, record
from labelrank import BinaryRelevanceSVM, ProSVM
from labelrank.datasets import load
from labelrank.metrics import average_precision_loss, f1, precision_at_k, ranking_loss
from labelrank.text import make_vectorizer

SMALL = ("yeast", "scene", "enron", "yahoo-arts")


def parts(name: str, quick: bool, **options: object) -> tuple:
    """X, Y, X_test, Y_test: the official split, or a seeded 80/20 one; texts as TF-IDF."""
    data = load(name, **options)
    if data.train is not None:
        train, test = data.train, data.test
        X, X_test = (train.X, test.X) if data.X is not None else (train.texts, test.texts)
        Y, Y_test = train.Y, test.Y
    else:
        order = np.random.default_rng(0).permutation(data.Y.shape[0])
        first, last = np.split(order, [int(0.8 * len(order))])
        X, X_test = ([data.texts[i] for i in rows] for rows in (first, last))
        Y, Y_test = data.Y[first], data.Y[last]
    if isinstance(X, list):
        vectorizer = make_vectorizer()
        X, X_test = vectorizer.fit_transform(X), vectorizer.transform(X_test)
    X, Y, X_test, Y_test = (sp.csr_array(part) for part in (X, Y, X_test, Y_test))
    rows = slice(2000 if quick else None)
    seen = np.flatnonzero((Y[rows] > 0).sum(axis=0))
    return (
        X[rows],
        (Y[rows][:, seen] > 0).astype(float),
        X_test,
        (Y_test[:, seen] > 0).astype(float),
    )


def rival_fit(X: sp.csr_array, Y: sp.csr_array, backend: str, **options: object):
    one = LinearSVC(fit_intercept=False, dual=True, random_state=0, **options)
    with joblib.parallel_backend(backend):
        return OneVsRestClassifier(one, n_jobs=2).fit(narrow(X, np.float64), narrow(Y, np.int64))


def narrow(matrix: sp.csr_array, dtype: type) -> sp.csr_matrix:
    """With 32-bit indices: scikit-learn's SVM takes no others."""
    parts = (
        matrix.data.astype(dtype),
        matrix.indices.astype(np.int32),
        matrix.indptr.astype(np.int32),
    )
    return sp.csr_matrix(parts, shape=matrix.shape)


def rival_time(X: sp.csr_array, Y: sp.csr_array, repeats: int, **options: object) -> float:
    backends = ("threading", "loky")
    return min(best_of(lambda b=b: rival_fit(X, Y, b, **options), repeats) for b in backends)


def svm_objective(X: sp.csr_array, Y: sp.csr_array, W: np.ndarray) -> float:
    """Squared hinge, C = 1, summed over the labels."""
    total = 0.5 * float((W.astype(np.float64) ** 2).sum())
    for first in range(0, X.shape[0], 2000):
        rows = slice(first, first + 2000)
        y = 2.0 * Y[rows].toarray() - 1.0
        total += float((np.maximum(0.0, 1.0 - y * (X[rows] @ W.T)) ** 2).sum())
    return total


def one_vs_rest(name: str, quick: bool, repeats: int, **options: object) -> dict:
    X, Y, X_test, Y_test = parts(name, quick, **options)
    learner = BinaryRelevanceSVM(n_jobs=2, random_state=0)
    learner.fit(X[:100], Y[:100])
    ours = best_of(lambda: learner.fit(X, Y), repeats)
    rival = rival_time(X, Y, 1 if quick else 2)
    W = np.vstack([one.coef_ for one in rival_fit(X, Y, "threading").estimators_])
    excess = svm_objective(X, Y, learner.coef_) / svm_objective(X, Y, W) - 1.0
    return record(
        f"BinaryRelevanceSVM, {name}, {Y.shape[1]} labels", ours, rival, ">= 6, excess <= 0.001",
        objective_excess=excess,
        micro_f1=float(f1(Y_test, learner.predict(X_test), average="micro")),
        rival_micro_f1=float(f1(Y_test, sp.csr_array(X_test @ W.T > 0), average="micro")),
    )  # fmt: skip


def with_constant(X: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(sp.hstack([X, np.ones((X.shape[0], 1))]))


def small_sets(quick: bool, repeats: int) -> list[dict]:
    """ProSVM to a gap of 0.01 against LIBLINEAR's hinge at LIBLINEAR's default tolerance, 0.1."""
    records = []
    for name in SMALL[:2] if quick else SMALL:
        X, Y, X_test, Y_test = parts(name, False)
        learner = ProSVM(tol=1e-2, fit_intercept=True, random_state=0)
        learner.fit(X[:50], Y[:50])
        ours = best_of(lambda: learner.fit(X, Y), repeats)  # noqa: B023
        rival = rival_time(with_constant(X), Y, repeats, loss="hinge", tol=0.1)
        loss = float(ranking_loss(Y_test, learner.decision_function(X_test)))
        line = record(f"ProSVM, {name}, gap 0.01", ours, rival, ">= 1", gap=learner.dual_gap_)
        records.append(line | {"ranking_loss": loss})
    return records


def debtags_ranking(quick: bool, repeats: int) -> list[dict]:
    X, Y, X_test, Y_test = parts("debtags", quick, min_count=30)
    records = []
    for name, learner in (
        ("ProSVM", ProSVM(C=50, max_iter=3, n_jobs=2, random_state=0)),
        ("ProSVM-A", ProSVM(C=25, max_iter=3, approximate=True, n_jobs=2, random_state=0)),
    ):
        learner.fit(X[:50], Y[:50])
        seconds = best_of(lambda learner=learner: learner.fit(X, Y), repeats)
        scores = learner.decision_function(X_test)
        records.append({
            "name": f"{name}, debtags, 3 epochs", "ours_s": seconds,
            "target": "< 1 s, ranking loss < .0125" if name == "ProSVM" else "below ProSVM",
            "ranking_loss": float(ranking_loss(Y_test, scores)),
            "lrap": 1.0 - float(average_precision_loss(Y_test, scores)),
            "peak_mib": round(peak_mib()),
        })  # fmt: skip
    return records


def titles(quick: bool) -> dict:
    """EUR-Lex titles, chronological split; PECOS and omikuji are measured in their own place."""
    X, Y, X_test, Y_test = parts("eurlex-titles", quick)
    learner = BinaryRelevanceSVM(tol=0.1, n_jobs=2, random_state=0)
    seconds = best_of(lambda: learner.fit(X, Y), 1 if quick else 2)
    scores = learner.decision_function(X_test)
    predict = best_of(lambda: learner.decision_function(X_test), 1)
    found = {f"p@{k}": float(precision_at_k(Y_test, scores, k=k)) for k in (1, 3, 5)}
    name = f"BinaryRelevanceSVM, EUR-Lex titles, {Y.shape[1]} labels"
    return {"name": name, "ours_s": seconds, "predict_s": predict, **found}


def run(quick: bool = False) -> list[dict]:
    repeats = 1 if quick else 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            one_vs_rest("debtags", quick, repeats, min_count=30),
            one_vs_rest("reuters21578", quick, repeats),
            *small_sets(quick, repeats),
            *debtags_ranking(quick, repeats),
            titles(quick),
        ]
