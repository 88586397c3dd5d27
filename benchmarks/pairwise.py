"""Pairwise perceptrons against scikit-learn's one-vs-rest and its parts, and scipy's products."""

import time

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron

from benchmarks.perceptrons import rcv1_like, scikit_learn_fit
from benchmarks.timing import best_in_turn, best_of, record
from labelrank import PairwisePerceptron
from labelrank.rows import as_rows

N_JOBS = 2
_PAIRS_BUILT = 100
_ROWS_VOTED = 50_000
_PAIRS_MULTIPLIED = 512


def run(quick: bool = False) -> list[dict]:
    X, Y = rcv1_like(quick)
    Y = Y.astype(np.int64)
    memory = _memory(X, Y)
    plain = _learner(calibrated=False)
    plain.fit(X[:200], Y[:200]).predict(X[:200])
    calibrated = _learner(calibrated=True).fit(X[:200], Y[:200])
    rival = best_of(lambda: scikit_learn_fit(X, Y), 3)
    usual = best_of(lambda: scikit_learn_fit(X.astype(np.float64), Y), 2)
    ours, with_threshold = best_in_turn(
        lambda: plain.fit(X, Y), lambda: calibrated.fit(X, Y), repeats=6
    )
    return [
        record("MLPP fit against one-vs-rest perceptrons on float32", ours, rival, ">= 1"),
        record("MLPP fit against one-vs-rest perceptrons on float64", ours, usual, ">= 1"),
        record("MLPP fit against its pairs from parts", ours, _from_parts(X, Y), ">= 15"),
        record("calibrated fit against uncalibrated", with_threshold, ours, ">= 0.91"),
        _voting(plain, X[:_ROWS_VOTED]),
        memory,
        _roofline(plain, X),
    ]


def _learner(calibrated: bool) -> PairwisePerceptron:
    return PairwisePerceptron(
        calibrated=calibrated, shuffle=False, representation="primal", n_jobs=N_JOBS
    )


def _from_parts(X: sp.csr_array, Y: sp.csr_array) -> float:
    """Seconds for all pairs with scikit-learn's perceptron, from a sample of them, two threads."""
    n_labels = Y.shape[1]
    pairs = [(u, v) for u in range(n_labels) for v in range(u + 1, n_labels)]
    chosen = np.random.default_rng(0).choice(len(pairs), _PAIRS_BUILT, replace=False)
    columns = Y.tocsc()

    def one(u: int, v: int) -> None:
        y = columns[:, [u]].toarray().ravel() - columns[:, [v]].toarray().ravel()
        rows = np.flatnonzero(y)
        if len(np.unique(y[rows])) == 2:
            model = Perceptron(max_iter=1, tol=None, shuffle=False, fit_intercept=False)
            model.fit(X[rows], y[rows])

    def sample() -> None:
        joblib.Parallel(n_jobs=N_JOBS, backend="threading")(
            joblib.delayed(one)(*pairs[c]) for c in chosen
        )

    return best_of(sample, 2) * len(pairs) / _PAIRS_BUILT


def _voting(learner: PairwisePerceptron, X: sp.csr_array) -> dict:
    """Votes and summed margins against scipy's scores alone, on as many pairs as fit in memory."""
    rows = as_rows(X)
    ours = best_of(lambda: learner.scorer_.votes(rows, N_JOBS), 3)
    n_pairs = learner.n_labels_ * (learner.n_labels_ - 1) // 2
    dense = np.random.default_rng(0).normal(size=(X.shape[1], _PAIRS_MULTIPLIED))
    dense = dense.astype(np.float32)

    def multiply() -> None:
        joblib.Parallel(n_jobs=N_JOBS, backend="threading")(
            joblib.delayed(X[part].__matmul__)(dense)
            for part in np.array_split(np.arange(X.shape[0]), N_JOBS)
        )

    one_thread = best_of(lambda: X @ dense, 2) * n_pairs / _PAIRS_MULTIPLIED
    two_threads = best_of(multiply, 2) * n_pairs / _PAIRS_MULTIPLIED
    return record(
        f"votes of {X.shape[0]} rows against csr @ dense", ours, one_thread, ">= 6",
        split_over_threads_s=two_threads,
    )  # fmt: skip


def _memory(X: sp.csr_array, Y: sp.csr_array) -> dict:
    """The peak of a fit above what was held before it, over pairs x features x 4 bytes."""
    learner = _learner(calibrated=False)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = _status_mib("VmRSS")
    learner.fit(X, Y)
    peak = _status_mib("VmHWM") - before
    n_labels = Y.shape[1]
    weights = n_labels * (n_labels - 1) // 2 * X.shape[1] * 4 / 2**20
    return {
        "name": "MLPP peak memory over its weights", "value": round(peak / weights, 3),
        "target": "<= 1.3", "weights_mib": round(weights), "peak_mib": round(peak),
    }  # fmt: skip


def _status_mib(name: str) -> float:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 1024


def _roofline(learner: PairwisePerceptron, X: sp.csr_array) -> dict:
    """Bytes of weights the votes read a second, beside what this machine's memory gives."""
    block = np.ones(2**26, np.float32)
    stream = block.nbytes / best_of(lambda: block.sum(), 5) / 1e9
    small = np.ones(2**17, np.float32)

    def again() -> None:
        for _ in range(200):
            small.sum()

    cache = 200 * small.nbytes / best_of(again, 5) / 1e9
    rows = as_rows(X[:10_000])
    start = time.perf_counter()
    learner.scorer_.votes(rows, N_JOBS)
    read = len(rows.data) * len(learner.scorer_.pairs.W) * 64
    reached = read / (time.perf_counter() - start) / 1e9
    return {
        "name": "roofline, GB/s", "votes": round(reached, 1),
        "one_core_from_memory": round(stream, 1), "one_core_from_cache": round(cache, 1),
    }  # fmt: skip
