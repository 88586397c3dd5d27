"""BR and MMP against scikit-learn's one-vs-rest perceptron, whole fit against whole fit."""

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier

from benchmarks.timing import best_of, record
from labelrank import BinaryRelevancePerceptron, MulticlassMultilabelPerceptron
from labelrank.datasets.makers import make_rcv1_like


def rcv1_like(quick: bool) -> tuple[sp.csr_array, sp.csr_array]:
    return make_rcv1_like(20_000 if quick else 100_000, 25_000, 75, 103, random_state=0)


def scikit_learn_fit(X: sp.csr_array, Y: sp.csr_array) -> OneVsRestClassifier:
    """Its fastest form: int64 CSR labels, threads."""
    one = Perceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False)
    with joblib.parallel_backend("threading"):
        return OneVsRestClassifier(one, n_jobs=2).fit(sp.csr_matrix(X), sp.csr_matrix(Y))


def run(quick: bool = False) -> list[dict]:
    X, Y = rcv1_like(quick)
    Y64 = Y.astype(np.int64)
    rival = best_of(lambda: scikit_learn_fit(X, Y64), 2)
    usual = best_of(lambda: scikit_learn_fit(X.astype(np.float64), Y64), 2)
    records = []
    for name, learner, target in (
        ("BR perceptron, 1 epoch", BinaryRelevancePerceptron(shuffle=False, n_jobs=2), ">= 10"),
        ("MMP, 1 epoch", MulticlassMultilabelPerceptron(shuffle=False), ">= 8"),
    ):
        learner.fit(X[:100], Y64[:100])
        ours = best_of(lambda learner=learner: learner.fit(X, Y64), 5)
        records.append(record(f"{name}, rival on float32", ours, rival, target))
        records.append(record(f"{name}, rival on float64", ours, usual, target))
    records.append(_agreement(X, Y64))
    return records


def _agreement(X: sp.csr_array, Y: sp.csr_array) -> dict:
    """Same mistakes, same weights: the two BR perceptrons are the same algorithm.

    scikit-learn adds x where the paper adds 2x, and counts a score of 0 as a mistake of either
    side, which is our `margin=0`.
    """
    ours = BinaryRelevancePerceptron(shuffle=False, margin=0.0, n_jobs=2).fit(X, Y).coef_ / 2
    theirs = np.vstack([one.coef_ for one in scikit_learn_fit(X, Y).estimators_])
    same = float((np.abs(ours - theirs) < 1e-3).mean())
    return {"name": "BR weights equal to scikit-learn's (share)", "value": round(same, 5)}
