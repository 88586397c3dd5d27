"""Stratified folds of a million instances with a thousand labels, and of less against a rival.

Run by `make bench`, or alone: `python -m benchmarks folds [--quick]`. The rival,
iterative-stratification, takes dense matrices only, so that it gets a smaller one.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold

from benchmarks.timing import best_of, peak_mib, record
from labelrank.evaluation import StratifiedFolds


def make(n: int, n_labels: int, cardinality: float = 5.0) -> sp.csr_array:
    """Relevance with labels as unequal as real ones are: the k-th is drawn by 1 / (k + 10)."""
    rng = np.random.default_rng(0)
    size = 1 + rng.poisson(cardinality - 1, n)
    share = 1.0 / (np.arange(n_labels) + 10.0)
    columns = rng.choice(n_labels, size.sum(), p=share / share.sum())
    Y = sp.csr_array(
        (np.ones(size.sum()), columns, np.concatenate([[0], np.cumsum(size)])), shape=(n, n_labels)
    )
    Y.sum_duplicates()
    Y.data[:] = 1.0
    return Y


def unevenness(Y: sp.csr_array, fold: Any, n_folds: int) -> float:
    """How far a fold's share of a label is from its due at most, in instances."""
    member = sp.csr_array((np.ones(len(fold)), (fold, np.arange(len(fold)))))
    counts = (member @ Y).toarray()
    return float(np.abs(counts - counts.sum(axis=0) / n_folds).max())


def run(quick: bool = False) -> list[dict[str, Any]]:
    """Ten folds each; the same seed must give the same folds."""
    few, many = make(3_000, 60), make(100_000 if quick else 1_000_000, 1_000)
    folds = StratifiedFolds(10, random_state=0)
    folds.assign(few[:100])
    dense = few.toarray().astype(int)
    rival = MultilabelStratifiedKFold(10, shuffle=True, random_state=0)
    small = record(
        "ten folds, 3,000 x 60", best_of(lambda: folds.assign(few)),
        best_of(lambda: list(rival.split(dense, dense)), 1), "rival: iterative-stratification",
    )  # fmt: skip
    seconds = best_of(lambda: folds.assign(many), 2)
    fold = folds.assign(many)
    large = {
        "name": f"ten folds, {many.shape[0]:,} x {many.shape[1]:,}", "ours_s": seconds,
        "target": "seconds", "labels": many.nnz,
        "unevenness": unevenness(many, fold, 10),
        "deterministic": bool((fold == folds.assign(many)).all()), "peak MiB": peak_mib(),
    }  # fmt: skip
    return [small, large]
