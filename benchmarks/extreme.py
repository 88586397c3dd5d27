"""EUR-Lex titles: one-vs-rest SVM of all labels at once against tree-based classifiers.

C, loss and intercept were chosen among twelve settings on the titles of 2015, held out of training;
the default settings (C = 1, no intercept) are the faster line.
"""

import time

import numpy as np
import scipy.sparse as sp

from benchmarks.rivals import precisions, run_rival
from labelrank import BinaryRelevanceSVM, TextVectorizer
from labelrank.datasets import load

RIVALS = ("omikuji", "libpecos", "napkinxc")
OURS = {
    "BinaryRelevanceSVM": {"C": 0.3, "fit_intercept": True},
    "BinaryRelevanceSVM, default": {},
}


def eurlex(quick: bool) -> tuple[sp.csr_array, ...]:
    """TF-IDF of titles, chronological split."""
    titles = load("eurlex-titles")
    train, test = titles.train, titles.test
    vectorizer = TextVectorizer().fit(train.texts)
    found = (vectorizer.transform(train.texts), sp.csr_array(train.Y),
             vectorizer.transform(test.texts), sp.csr_array(test.Y))  # fmt: skip
    n = 3000 if quick else train.n_instances
    return tuple(sp.csr_array(part[:n]) for part in found)


def run(quick: bool = False) -> list[dict]:
    X, Y, X_test, Y_test = eurlex(quick)
    lines = []
    for name, settings in OURS.items():
        ours = _ours(X, Y, X_test, **settings)
        lines.append({"name": name, **ours, **precisions(Y_test, ours["top"])})
    ours = lines[0]
    for rival in RIVALS:
        found = run_rival(rival, X, Y, X_test)
        if "error" not in found:
            found |= precisions(Y_test, found["top"])
            found["ratio"] = found["fit_s"] / ours["fit_s"]
            found["predict_ratio"] = found["predict_s"] / ours["predict_s"]
        lines.append(found)
    return [{key: value for key, value in line.items() if key != "top"} for line in lines]


def _ours(X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array, **settings: object) -> dict:
    settings |= {"tol": 0.1, "n_jobs": 2, "random_state": 0}
    BinaryRelevanceSVM(**settings).fit(X[:200], Y[:200]).rank(X_test[:10], top=5)
    fits = []
    for _ in range(2):
        start = time.perf_counter()
        learner = BinaryRelevanceSVM(**settings).fit(X, Y)
        fits.append(time.perf_counter() - start)
    start = time.perf_counter()
    top = np.asarray(learner.rank(X_test, top=5))
    return {"fit_s": min(fits), "predict_s": time.perf_counter() - start, "top": top}
