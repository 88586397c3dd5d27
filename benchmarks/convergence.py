"""Do large margins reach their duality gap, on every data set and for every C of the papers' grids?

One line per data set, learner and C: epochs, seconds, the gap, and the objective as a share of
that of no weights at all (never above 1). Each fit runs in a process of its own for at most
`LIMIT` seconds; one that does not end in time says so. Beside the one-vs-rest machines stands
LIBLINEAR, which solves the same problem, to the same objective. Needs LABELRANK_DATA.

CONVERGENCE_SETS=emotions,scene and CONVERGENCE_LIMIT=60 in the environment choose other sets and
another limit.
"""

import multiprocessing
import os
import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from labelrank import BinaryRelevanceSVM, ProSVM, RankSVM
from labelrank.datasets import load
from labelrank.errors import LabelrankError
from labelrank.learners.margins import solver
from labelrank.learners.margins.prosvm import PreferenceSVM
from labelrank.relevance import check_relevance

SETS = (
    "emotions", "foodtruck", "music", "scene", "yeast", "genbase", "medical", "enron", "slashdot",
    "yahoo-arts", "ohsumed", "tmc2007-500", "bibtex", "corel5k",
)  # fmt: skip
STRENGTHS = 2.0 ** np.arange(-10, 11, 4)
LEARNERS: dict[str, Any] = {
    "ProSVM": ProSVM(fit_intercept=True),
    "ProSVM-A": ProSVM(fit_intercept=True, approximate=True),
    "RankSVM": RankSVM(fit_intercept=True),
    "BSVM": BinaryRelevanceSVM(fit_intercept=True, loss="hinge"),
    "BSVM+": BinaryRelevanceSVM(fit_intercept=True),
}
LIMIT = 60.0


def training_part(name: str) -> tuple[Any, Any]:
    """The training part, or all, as its file has it: nothing is scaled."""
    data = load(name)
    part = data.train or data
    if part.X is None:
        raise LabelrankError(f"{name} is text")
    return part.X, check_relevance(part.Y)


def of_no_weights(learner: Any, X: Any, Y: sp.csr_array) -> Any:
    """The objective at W = 0 (per label for machines of one label each)."""
    if not isinstance(learner, PreferenceSVM):
        n_unknown = np.bincount(Y.indices[np.isnan(Y.data)], minlength=Y.shape[1])
        return learner.C * (Y.shape[0] - n_unknown)
    problem = solver.PreferenceProblem.of(X, Y, learner.preferences, fit_intercept=True)
    return solver.measured(problem, solver.DualState.zeros(problem), learner.C)[0].sum()


def liblinear(X: Any, Y: sp.csr_array, learner: Any) -> tuple[float, float]:
    """Seconds of LIBLINEAR, and the share of its objective that ours is of."""
    rows = sp.csr_matrix(X, dtype=np.float64)
    dense, begun, total = Y.toarray() > 0, time.perf_counter(), 0.0
    for column in dense.T:
        y = np.where(column, 1.0, -1.0)
        if abs(y.sum()) == len(y):
            continue
        one = LinearSVC(C=learner.C, loss=learner.loss, dual=True, random_state=0)
        one.fit(rows, y)
        slack = np.maximum(1 - y * one.decision_function(rows), 0)
        slack = slack if learner.loss == "hinge" else slack**2
        weights = (one.coef_**2).sum() + one.intercept_[0] ** 2
        total += 0.5 * weights + learner.C * slack.sum()
    both = dense.any(axis=0) & ~dense.all(axis=0)
    return time.perf_counter() - begun, float(learner.objective_[both].sum() / total)


def cell(name: str, learner_name: str, C: float) -> dict[str, Any]:
    """One fit, and LIBLINEAR's where it solves the same problem."""
    warnings.simplefilter("ignore")
    X, Y = training_part(name)
    learner = LEARNERS[learner_name].set_params(C=float(C), random_state=0)
    begun = time.perf_counter()
    learner.fit(X, Y)
    seconds = time.perf_counter() - begun
    share = np.max(np.asarray(learner.objective_) / np.maximum(of_no_weights(learner, X, Y), 1e-9))
    found = {
        "epochs": learner.n_iter_, "ours_s": seconds, "gap": learner.dual_gap_,
        "reached": bool(learner.dual_gap_ <= learner.tol), "of no weights": float(share),
    }  # fmt: skip
    if learner_name.startswith("BSVM"):
        found["rival_s"], found["of LIBLINEAR's objective"] = liblinear(X, Y, learner)
    return found


def within(limit: float, *asked: Any) -> dict[str, Any]:
    """The cell from a process of its own, or that it did not end in time."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(cell, asked).get(limit)
        except multiprocessing.TimeoutError:
            return {"ours_s": limit, "reached": "not in time"}
        except LabelrankError as error:
            return {"reached": str(error)}


def run(quick: bool = False) -> list[dict[str, Any]]:
    """All cells; `quick` has two data sets and three strengths."""
    asked = os.environ.get("CONVERGENCE_SETS")
    sets = asked.split(",") if asked else SETS[:2] if quick else SETS
    limit = float(os.environ.get("CONVERGENCE_LIMIT", LIMIT))
    records = []
    for name in sets:
        for learner in LEARNERS:
            for C in STRENGTHS[::2] if quick else STRENGTHS:
                record = {"name": f"{name} {learner} C=2^{int(np.log2(C))}"}
                records.append(record | within(limit, name, learner, C))
                print(records[-1], flush=True)
    return records
