"""What every criterion promises, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labelrank import metrics

GRADES = st.sampled_from([0.0, 0.0, 1.0, 2.0, np.nan])


@st.composite
def problems(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    Y = draw(hnp.arrays(float, shape, elements=GRADES))
    scores = draw(hnp.arrays(float, shape, elements=st.integers(-3, 3).map(float)))
    return Y, scores


def close(left, right):
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(problem=problems(), data=st.data())
def test_renaming_labels_and_reordering_instances_changes_nothing(problem, data):
    Y, scores = problem
    columns = data.draw(st.permutations(range(Y.shape[1])))
    rows = data.draw(st.permutations(range(Y.shape[0])))
    close(
        metrics.evaluate(Y[rows][:, columns], scores[rows][:, columns]),
        metrics.evaluate(Y, scores),
    )


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_doubling_every_instance_is_doubling_its_weight(problem):
    Y, scores = problem
    whole = metrics.evaluate(Y, scores)
    close(metrics.evaluate(np.repeat(Y, 2, axis=0), np.repeat(scores, 2, axis=0)), whole)
    close(metrics.evaluate(Y, scores, sample_weight=np.full(len(Y), 2.0)), whole)


@settings(max_examples=60, deadline=None)
@given(problem=problems(), data=st.data())
def test_whole_weights_repeat_instances(problem, data):
    Y, scores = problem
    counts = data.draw(hnp.arrays(np.int64, len(Y), elements=st.integers(0, 3)))
    counts[0] += 1
    repeated = metrics.evaluate(np.repeat(Y, counts, axis=0), np.repeat(scores, counts, axis=0))
    close(metrics.evaluate(Y, scores, sample_weight=counts), repeated)


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_an_increasing_map_of_the_scores_changes_no_ranking(problem):
    Y, scores = problem
    mapped = np.exp(scores).astype(np.float32)
    close(metrics.evaluate(Y, mapped, threshold=1.0), metrics.evaluate(Y, scores))


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_the_true_grades_as_scores_make_no_error(problem):
    Y, _ = problem
    found = metrics.evaluate(Y, np.where(np.isnan(Y), 5.0, Y - 0.5))
    for name in ("is_error", "error_set_size", "margin_loss", "average_precision_loss",
                 "ranking_loss", "one_error", "pro_loss", "hamming_loss"):  # fmt: skip
        assert found[name] == 0, name
    assert found["subset_accuracy"] == 1


@settings(max_examples=60, deadline=None)
@given(problem=problems(), seed=st.integers(0, 2**31 - 1))
def test_lots_are_never_worse_than_the_worst_order(problem, seed):
    Y, scores = problem
    # Average precision is not among them: scikit-learn's shared rank is not an order.
    for name in ("is_error", "error_set_size", "margin_loss", "ranking_loss", "one_error",
                 "coverage"):  # fmt: skip
        criterion = getattr(metrics, name)
        drawn = criterion(Y, scores, ties="random", random_state=seed, per_instance=True)
        assert (drawn <= criterion(Y, scores, per_instance=True) + 1e-12).all(), name


@settings(max_examples=60, deadline=None)
@given(problem=problems())
def test_shares_stay_between_nought_and_one(problem):
    Y, scores = problem
    counts = {"error_set_size", "margin_loss", "coverage", "coverage_error", "macro_auc_left_out"}
    correlations = {"kendall_tau", "kendall_tau_x", "spearman"}
    for name, value in metrics.evaluate(Y, scores).items():
        least = -1 - 1e-12 if name in correlations else 0
        assert np.isnan(value) or least <= value <= (np.inf if name in counts else 1 + 1e-12), name
