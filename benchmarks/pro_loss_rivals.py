"""ML-kNN against scikit-multilearn-ng's, and a thousand rounds of AdaBoost.MH, on Reuters-21578.

The rival runs in a virtual environment of its own, `.bench-venvs/scikit-multilearn-ng`:
`python -m venv` it, then `pip install scikit-multilearn-ng` into it.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import best_of, record
from labelrank import AdaBoostMH, MLkNN, datasets, metrics
from labelrank.text import TextVectorizer

RIVAL = Path(__file__).parents[1] / ".bench-venvs" / "scikit-multilearn-ng" / "bin" / "python"
RIVAL_CODE = """
import json, sys, time
import numpy as np, scipy.sparse as sp
from skmultilearn.adapt import MLkNN
X, Y, X_test = (sp.csr_matrix(sp.load_npz(f"{sys.argv[1]}/{name}.npz")) for name in ("X", "Y", "T"))
Y = sp.lil_matrix(Y.astype(int))
start = time.perf_counter()
learner = MLkNN(k=10, s=1.0, n_jobs=2).fit(X, Y)
fitted = time.perf_counter()
predicted = learner.predict(X_test)
done = time.perf_counter()
sp.save_npz(f"{sys.argv[1]}/P.npz", sp.csr_matrix(predicted))
print(json.dumps([fitted - start, done - fitted]))
"""


def reuters(quick: bool) -> tuple:
    """TF-IDF of the ModApte split with all its topics."""
    data = datasets.load("reuters21578")
    train, test = data.train, data.test
    if quick:
        train, test = train.subset(np.arange(2000)), test.subset(np.arange(500))
    terms = TextVectorizer("tfidf", min_df=3)
    return terms.fit_transform(train.texts), train.Y, terms.transform(test.texts), test.Y


def run_rival(X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array) -> tuple | None:
    """Its seconds to fit and to predict, and its predictions; None where it is not installed."""
    if not RIVAL.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in (
            ("X", X.astype(np.float64)),
            ("Y", Y),
            ("T", X_test.astype(np.float64)),
        ):
            sp.save_npz(f"{folder}/{name}.npz", sp.csr_matrix(matrix))
        command = [str(RIVAL), "-W", "ignore", "-c", RIVAL_CODE, folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        fit, predict = json.loads(done.stdout)
        return fit, predict, sp.load_npz(f"{folder}/P.npz").toarray()


def neighbours(X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array) -> list[dict]:
    """Fit and predict; `count_self` is what the rival does in training."""
    ours = MLkNN(count_self=True, n_jobs=2).fit(X[:100], Y[:100])
    fit = best_of(lambda: ours.fit(X, Y), 3)
    predict = best_of(lambda: ours.predict(X_test), 3)
    rival = run_rival(X, Y, X_test)
    about = f"ML-kNN, Reuters {X.shape[0]} x {Y.shape[1]}"
    if rival is None:
        missing = "scikit-multilearn-ng not installed in .bench-venvs"
        return [{"name": about, "ours_s": fit + predict, "rival_s": missing, "target": ">= 50"}]
    seconds, asking, predicted = rival
    equal = float((ours.predict(X_test).toarray() == predicted).mean())
    return [
        record(f"{about}: fit and predict", fit + predict, seconds + asking, ">= 50",
               equal_predictions=equal),
        record(f"{about}: fit", fit, seconds),
        record(f"{about}: predict", predict, asking),
    ]  # fmt: skip


def boosting(X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array, Y_test: sp.csr_array,
             rounds: int) -> list[dict]:  # fmt: skip
    """A thousand rounds on all training documents."""
    AdaBoostMH(2, n_jobs=2).fit(X[:100], Y[:100])
    found = []
    for weak in ("real", "discrete"):
        learner = AdaBoostMH(rounds, weak=weak, n_jobs=2)
        ours = best_of(lambda learner=learner: learner.fit(X, Y), 1)
        f1 = metrics.f1(Y_test, learner.predict(X_test), average="micro")
        name = f"AdaBoost.MH ({weak}), {rounds} rounds, Reuters {X.shape[0]} x {Y.shape[1]}"
        found.append({"name": name, "ours_s": ours, "target": "<= 120 s", "micro_F1": f1})
    return found


def run(quick: bool = False) -> list[dict]:
    X, Y, X_test, Y_test = reuters(quick)
    rounds = 100 if quick else 1000
    return [*neighbours(X, Y, X_test), *boosting(X, Y, X_test, Y_test, rounds)]
