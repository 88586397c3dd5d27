"""Precision and recall over cuts, reliability and confused pairs against plain counting."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import average_precision_score, brier_score_loss

from labelrank import metrics
from labelrank.errors import InputError


def draw(seed, n=60, n_labels=5):
    """Coarse scores (ties), a label without relevant instances, graded and unknown entries."""
    rng = np.random.default_rng(seed)
    Y = rng.choice([0, 0, 0, 1, 2], size=(n, n_labels)).astype(float)
    Y[:, 0] = 0
    Y[rng.random(Y.shape) < 0.15] = np.nan
    return Y, np.round(rng.normal(size=Y.shape) + np.nan_to_num(Y) / 2, 1)


@pytest.mark.parametrize("seed", range(5))
def test_every_point_of_the_curve_is_the_criterion_at_that_cut(seed):
    Y, scores = draw(seed)
    curve = metrics.precision_recall_curve(Y, scores, points=30)
    assert 10 < len(curve.thresholds) <= 30
    assert (np.diff(curve.thresholds) > 0).all()
    for k, threshold in enumerate(curve.thresholds):
        for name in ("precision", "recall", "f1"):
            wanted = getattr(metrics, name)(Y, scores >= threshold, average="micro")
            assert getattr(curve, name)[k] == pytest.approx(wanted)


def test_the_curve_begins_at_full_recall_and_holds_the_best_f1():
    Y, scores = draw(9, n=40)
    curve = metrics.precision_recall_curve(Y, scores, points=10_000)
    assert curve.recall[0] == 1.0
    cuts = np.unique(scores)
    best = max(metrics.f1(Y, scores >= cut, average="micro") for cut in cuts)
    assert curve.f1.max() == pytest.approx(best)


def test_without_a_relevant_label_the_curve_is_empty():
    assert [
        len(part) for part in metrics.precision_recall_curve(np.zeros((3, 2)), np.eye(3, 2))
    ] == [0] * 4
    with pytest.raises(InputError, match="points=1"):
        metrics.precision_recall_curve(np.eye(2), np.eye(2), points=1)


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_by_label_is_that_of_scikit_learn(seed):
    Y, scores = draw(seed)
    found = metrics.average_precision_by_label(sp.csr_array(Y), scores)
    assert np.isnan(found[0])
    for k in range(1, Y.shape[1]):
        known = ~np.isnan(Y[:, k])
        wanted = average_precision_score(Y[known, k] > 0, scores[known, k])
        assert found[k] == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(3))
def test_reliability_is_plain_counting(seed):
    Y, scores = draw(seed)
    chances = 1 / (1 + np.exp(-scores))
    found = metrics.reliability(Y, chances, bins=7)
    known = ~np.isnan(Y)
    p, y = chances[known], Y[known] > 0
    place = np.minimum((p * 7).astype(int), 6)
    bins = np.unique(place)
    assert found.counts.tolist() == [(place == b).sum() for b in bins]
    np.testing.assert_allclose(found.predicted, [p[place == b].mean() for b in bins])
    np.testing.assert_allclose(found.observed, [y[place == b].mean() for b in bins])
    gaps = np.abs(found.predicted - found.observed)
    wanted = np.average(gaps, weights=found.counts)
    assert found.expected_calibration_error == pytest.approx(wanted)
    assert found.brier_score == pytest.approx(brier_score_loss(y, p))


def test_a_probability_of_one_is_in_the_last_bin_and_two_is_refused():
    assert metrics.reliability([[1, 0]], [[1.0, 0.0]]).counts.tolist() == [1, 1]
    with pytest.raises(InputError, match="0 to 1"):
        metrics.reliability([[1, 0]], [[2.0, 0.0]])
    with pytest.raises(InputError, match="no known entry"):
        metrics.reliability([[np.nan]], [[0.5]])


@pytest.mark.parametrize("sparse", [False, True])
def test_confused_pairs_are_plain_counts(sparse):
    Y, scores = draw(3)
    predicted = scores > 0.3
    found = metrics.label_confusion(Y, sp.csr_array(predicted.astype(int)) if sparse else predicted)
    missed, wrong = (Y > 0) & ~predicted, (Y == 0) & predicted
    wanted = [[(missed[:, u] & wrong[:, v]).sum() for v in range(5)] for u in range(5)]
    assert found.toarray().tolist() == wanted
    assert found.diagonal().sum() == 0
