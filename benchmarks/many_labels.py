"""Thousands of labels: EUR-Lex titles, chronological split, perceptrons after one and three epochs.

Each learner runs in a process of its own, so that its peak of memory is its own. Needs the data
folder (LABELRANK_DATA). Settings were chosen by average precision on held-out training titles. On
300 titles of 2015, one epoch: BR with margin none .539, 0 .539, 1 .632; MMP none .587, 0 .587, 1
.523; MLPP none .553, 0.3 .664, 1 .670. On 400 of the last 1,500 training titles, one and three
epochs: BR with margin 0.3 .611, .628, with 1 .654, .667; MMP .619, .657, with margin 0.3 .607,
.685, with loss "average_precision" .633, .686; MLPP with margin 1 .686, .717.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import peak_mib, record
from labelrank import (
    BinaryRelevancePerceptron,
    MulticlassMultilabelPerceptron,
    PairwisePerceptron,
    TextVectorizer,
)
from labelrank.datasets import load
from labelrank.learners.pairwise.scorer import quick_voting
from labelrank.metrics import average_precision_loss, precision_at_k
from labelrank.rows import as_rows

PARTS = ("X", "Y", "X_test", "Y_test")
DUAL = {"representation": "dual", "shuffle": False, "n_jobs": 2}
LEARNERS = {
    "BR": lambda: BinaryRelevancePerceptron(shuffle=False, n_jobs=2),
    "BR with margin 1": lambda: BinaryRelevancePerceptron(margin=1.0, shuffle=False, n_jobs=2),
    "MMP": lambda: MulticlassMultilabelPerceptron(shuffle=False),
    "MLPP, dual": lambda: PairwisePerceptron(calibrated=False, **DUAL),
    "MLPP with margin 1, dual": lambda: PairwisePerceptron(calibrated=False, margin=1.0, **DUAL),
    "BR with margin 1, 3 epochs": lambda: BinaryRelevancePerceptron(
        margin=1.0, epochs=3, shuffle=False, n_jobs=2
    ),
    "MMP by average precision, 3 epochs": lambda: MulticlassMultilabelPerceptron(
        loss="average_precision", epochs=3, shuffle=False
    ),
    "MLPP with margin 1, 3 epochs, dual": lambda: PairwisePerceptron(
        calibrated=False, margin=1.0, epochs=3, **DUAL
    ),
    "calibrated MLPP, dual": lambda: PairwisePerceptron(**DUAL),
    "shortlist of 20 by centroids": lambda: PairwisePerceptron(shortlist=("centroid", 20), **DUAL),
    "shortlist of 20 by neighbours": lambda: PairwisePerceptron(shortlist=("knn", 20), **DUAL),
}
RIVALS = ("BR", "BR with margin 1", "MMP")
LONG_RIVALS = ("BR with margin 1, 3 epochs", "MMP by average precision, 3 epochs")
TARGETS = {
    "MLPP, dual": "fit <= 25 s, peak <= 1024 MiB",
    "calibrated MLPP, dual": "fit <= 25 s, peak <= 1024 MiB",
    "shortlist of 20 by centroids": "about 1 ms a document",
    "shortlist of 20 by neighbours": "about 1 ms a document",
}


def prepare(folder: Path, n_train: int | None, n_test: int) -> None:
    """TF-IDF of the titles, by the training part alone; the test part is a fixed sample."""
    titles = load("eurlex-titles")
    train, test = titles.train, titles.test
    vectorizer = TextVectorizer().fit(train.texts)
    chosen = np.sort(np.random.default_rng(0).choice(len(test.texts), n_test, replace=False))
    first = slice(-n_train if n_train else None, None)
    found = (
        vectorizer.transform(train.texts)[first], sp.csr_array(train.Y)[first],
        vectorizer.transform([test.texts[i] for i in chosen]), sp.csr_array(test.Y)[chosen],
    )  # fmt: skip
    for name, matrix in zip(PARTS, found, strict=True):
        sp.save_npz(folder / f"{name}.npz", sp.csr_array(matrix))


def measure(name: str, folder: Path) -> list[dict]:
    """Fit and predict once, after a few rows to compile."""
    X, Y, X_test, Y_test = (sp.csr_array(sp.load_npz(folder / f"{part}.npz")) for part in PARTS)
    warm = LEARNERS[name]().fit(X[:50], Y[:50])
    warm.decision_function(X_test[:2])
    del warm
    learner = LEARNERS[name]()
    start = time.perf_counter()
    learner.fit(X, Y)
    fitted, peak = time.perf_counter() - start, peak_mib()
    start = time.perf_counter()
    scores = learner.decision_function(X_test)
    answered = time.perf_counter() - start
    line = {
        "name": name,
        "target": TARGETS.get(name, ""),
        "fit_s": fitted,
        "peak_mib_fit": round(peak),
        "peak_mib": round(peak_mib()),
        "ms_per_document": 1e3 * answered / X_test.shape[0],
        "average_precision": 1.0 - float(average_precision_loss(Y_test, scores)),
    }
    for k in (1, 3, 5):
        line[f"P@{k}"] = float(precision_at_k(Y_test, scores, k=k))
    lines = [line]
    if name == "calibrated MLPP, dual":
        lines += quick_against_full(learner, X_test[:200])
    return lines


def quick_against_full(learner: PairwisePerceptron, X: sp.csr_array) -> list[dict]:
    """The same sets, by fewer duels, in less time; one thread each."""
    rows, scorer = as_rows(X), learner.scorer_
    quick_voting(scorer, as_rows(X[:2]))
    start = time.perf_counter()
    votes, _ = scorer.votes(rows)
    full = time.perf_counter() - start
    start = time.perf_counter()
    quick = quick_voting(scorer, rows)
    ours = time.perf_counter() - start
    wanted = votes[:, :-1] - votes[:, -1:]
    same = (wanted > 0) == (quick.scores > 0)
    exact = (wanted == quick.scores) | (wanted <= 0)
    share = quick.evaluations.mean() / (votes.shape[1] * (votes.shape[1] - 1) / 2)
    return [
        record(
            "quick voting against full voting", ours, full, ">= 5, evaluations <= 0.1",
            same_sets=bool(same.all()), same_order=bool(exact.all()), evaluations=float(share),
        )
    ]  # fmt: skip


def run(quick: bool = False) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), 3000 if quick else None, 100 if quick else 1000)
        lines = []
        for name in LEARNERS:
            command = [sys.executable, "-m", "benchmarks.many_labels", name, folder]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            lines += json.loads(done.stdout)
    best = {line["name"]: line["average_precision"] for line in lines if "fit_s" in line}
    return lines + _ahead(best)


def _ahead(best: dict[str, float]) -> list[dict]:
    """How far the pairwise learners are ahead of the better of BR and MMP after as many epochs."""
    rivals = {long: max(best[name] for name in (RIVALS, LONG_RIVALS)[long]) for long in (0, 1)}
    return [
        {
            "name": f"average precision ahead of BR and MMP: {name}",
            "value": found - rivals["3 epochs" in name],
        }
        for name, found in best.items()
        if name not in RIVALS + LONG_RIVALS
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
