"""Batches give the criteria of the whole, and memory does not grow with them."""

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import metrics
from labelrank.metrics import batches


def problem(n=700, K=23, *, dtype=np.float64, unknown=0.05, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, K)) < rng.random(K) * 0.4).astype(float)
    Y[rng.random((n, K)) < unknown] = np.nan
    Y[:, 3], Y[7] = 0.0, 0.0
    scores = (rng.normal(size=(n, K)) + np.nan_to_num(Y)).round(1).astype(dtype)
    return sp.csr_array(Y), scores


def tallied(Y, scores, members, cuts, size):
    with batches.Tally(len(cuts)) as tally:
        for start in range(0, len(scores), size):
            rows = slice(start, start + size)
            tally.add(batches.measured(Y[rows], scores[rows], members[rows], cuts))
        assert (tally.Y != Y).nnz == np.isnan(Y.data).sum()
        return tally.criteria()


@pytest.mark.parametrize("size", [1, 64, 700])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("in_file", [False, True])
def test_batches_give_the_criteria_of_the_whole(monkeypatch, size, dtype, in_file):
    if in_file:
        monkeypatch.setattr(batches, "_IN_MEMORY", 1)
        monkeypatch.setattr(batches, "_AT_ONCE", 700 * 4 * 5)
    Y, scores = problem(dtype=dtype)
    members = scores > 0.3
    found = tallied(Y, scores, members, [None, 0.7], size)
    expected = [metrics.evaluate(Y, scores, predicted=members), metrics.evaluate(Y, scores, 0.7)]
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert value == pytest.approx(other[name], rel=1e-12, abs=1e-15, nan_ok=True), name


def test_one_batch_gives_the_same_numbers_to_the_last_bit():
    Y, scores = problem(unknown=0.0)
    found = tallied(Y, scores, scores > 0, [None], 700)[0]
    assert found == metrics.evaluate(Y, scores, predicted=scores > 0)


def test_no_batch_is_refused():
    with batches.Tally(1) as tally, pytest.raises(ValueError, match="no instance"):
        tally.criteria()


def test_scores_do_not_stay_in_memory(monkeypatch):
    import tracemalloc

    monkeypatch.setattr(batches, "_IN_MEMORY", 1 << 16)
    monkeypatch.setattr(batches, "_AT_ONCE", 1 << 18)
    Y, scores = problem(500, 100, unknown=0.0)
    few = sp.csr_array(Y.multiply(np.random.default_rng(0).random(Y.shape) < 0.01))

    def peak(n_batches):
        with batches.Tally(1) as tally:
            for _ in range(n_batches):
                tally.add(batches.measured(few, scores, scores > 1, [None]))
            tracemalloc.start()
            tally.criteria()
            _, highest = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return highest

    peak(1)
    assert peak(80) < 0.2 * 80 * scores.nbytes
