"""Areas by histograms: within the error they tell of the exact ones, however the rows are split."""

import numpy as np
import pytest

from labelrank.errors import InputError
from labelrank.metrics import auc
from labelrank.metrics.histograms import Histograms


def problem(seed, kind):
    random = np.random.default_rng(seed)
    Y = (random.random((400, 7)) < 0.2).astype(float)
    Y[:, 5], Y[:, 6] = 0, 1
    Y[random.random(Y.shape) < 0.05] = np.nan
    scores = random.normal(size=Y.shape) + np.nan_to_num(Y)
    if kind == "ties":
        scores = scores.round(1)
    if kind == "far":
        scores = np.sign(scores) * 10.0 ** (8 * scores)
        scores[random.random(Y.shape) < 0.1] = -np.inf
    return Y, scores.astype(np.float32 if seed % 2 else np.float64)


@pytest.mark.parametrize("kind", ["usual", "ties", "far"])
@pytest.mark.parametrize("seed", range(4))
def test_areas_are_within_the_error_that_is_told(seed, kind):
    Y, scores = problem(seed, kind)
    pieces = np.split(np.arange(len(Y)), [1, 90, 300])
    first, *others = (Histograms.of(Y[rows], scores[rows]) for rows in pieces)
    for other in others:
        first = first.merged(other)
    found = first.criteria()
    whole = Histograms.of(Y, scores).criteria()
    assert found == pytest.approx(whole, rel=1e-12)
    assert found["auc_error"] < 0.02
    for average in ("micro", "macro"):
        area = auc(Y, scores, average)
        assert abs(found[f"{average}_auc"] - area) <= found["auc_error"] + 1e-12
    assert found["macro_auc_left_out"] == 2


def test_zeros_of_either_sign_are_tied_and_nothing_is_not_a_number():
    Y = [[1], [0]]
    assert Histograms.of(Y, [[-0.0], [0.0]]).criteria()["micro_auc"] == 0.5
    with pytest.raises(InputError, match="NaN score in row 1"):
        Histograms.of(Y, [[0.0], [np.nan]])
