"""What the pairwise perceptron paper (000) found, on the data we have."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from labelrank import PairwisePerceptron, catalog, metrics
from labelrank.datasets.dataset import Dataset
from labelrank.experiments import figures, perceptrons


def values(records, row):
    return {record.column: record.ours for record in records if record.row == row}


@pytest.mark.data
def test_pairwise_beats_mmp_beats_binary_relevance_on_rcv1(measured):
    """Table II: the order of the three holds for every loss."""
    records = measured("mlpp-rcv1")
    for loss in ("IsErr x100", "ErrSetSize", "Margin"):
        found = values(records, loss)
        assert found["MLPP"] < found["MMP"] < found["BR"]
    precision = values(records, "AvgP x100")
    assert precision["MLPP"] > precision["MMP"] > precision["BR"]
    assert precision["MLPP"] > 87


@pytest.mark.data
def test_operations_stand_in_the_ratios_of_table_four(measured):
    """Training about L times as many as BR, prediction exactly (K - 1) / 2 times as many."""
    records = [one for one in measured("mlpp-operations") if one.published is not None]
    assert values(records, "prediction")["MLPP / BR"] == 50.0
    assert 2.5 < values(records, "training")["MLPP / BR"] < 3.3
    assert {record.verdict for record in records} == {"within tolerance"}


@pytest.mark.data
@pytest.mark.slow
def test_yeast_is_within_the_tolerance_of_table_three(measured):
    """1.5 points for IsErr and AvgP, 3 % for the others; ties are broken by lot, as in the paper.

    The IsErr of MLPP alone is further away: it is up to two points better than printed.
    """
    for record in measured("mlpp-yeast"):
        if record.published is None:
            continue
        points = "IsErr" in record.row or "AvgP" in record.row
        if (record.row, record.column) == ("yeast IsErr x100", "MLPP"):
            assert -2.0 < record.difference < -1.4
        else:
            assert abs(record.difference) <= (1.5 if points else 0.03 * record.published), record


def made_up(n=60, seed=0):
    """Integers with two of five labels each."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, (n, 6)).astype(float)
    Y = np.zeros((n, 5))
    np.put_along_axis(Y, np.argsort(-X[:, :5], axis=1)[:, :2], 1.0, axis=1)
    return Dataset("made", X, sp.csr_array(Y), label_names=list("abcde"))


def counted(name, data):
    """Operations per example of one epoch, and those of the formula of Table I."""
    X, Y = data.X, data.Y
    fitted = perceptrons.learner(name, 0, None).fit(X, Y)
    errors = perceptrons._errors(perceptrons.learner(name, 0, None), X, Y)
    expected = perceptrons._expected(name, Y.shape[1], perceptrons._labels_each(Y), errors)
    return fitted, fitted.n_operations_["train"] / len(X), expected


@pytest.mark.parametrize("name", ["BR", "MMP", "MLPP"])
def test_table_one_compares_what_learners_count_with_errors_found_by_asking_them(name):
    """Every example here has two labels, so that counts are those of the formula, exactly."""
    data = made_up()
    fitted, ours, expected = counted(name, data)
    assert ours == pytest.approx(expected)
    assert ours > {"BR": 5, "MMP": 5, "MLPP": 2 * 3}[name]
    K = data.Y.shape[1]
    assert perceptrons._answers(fitted, data.X) == len(data.X) * (10 if name == "MLPP" else K)


def test_table_one_differs_from_counts_where_the_number_of_labels_varies():
    data = made_up()
    data.Y = sp.csr_array(np.where(np.arange(60)[:, None] < 30, data.Y.toarray(), 0.0))
    _, ours, expected = counted("MLPP", data)
    assert expected == pytest.approx(1.0 * (5 - 1.0) * ours / 3, rel=1e-6)


def test_formulas_of_table_one():
    assert perceptrons._expected("MLPP", 103, 3.0, 0.5) == 3 * 100 * 1.5
    assert perceptrons._expected("BR", 103, 3.0, 0.5) == 103 * 1.5
    assert perceptrons._expected("MMP", 103, 3.0, 2.6) == pytest.approx(105.6)


@pytest.mark.parametrize("name", ["BR", "MMP", "MLPP", "CMLPC"])
def test_rcv1_is_learned_as_the_settings_say(name):
    made = perceptrons._as_in_paper(name, 0, None)
    assert (made.epochs, made.shuffle, made.init) == (1, False, "random")


def test_p_is_one_sided_and_knows_that_more_precision_is_better():
    low, high = [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.5, 5.0, 6.5, 8.0]
    assert perceptrons._p_ahead("IsErr x100", low, high) == pytest.approx(1 / 32)
    assert perceptrons._p_ahead("IsErr x100", high, low) == 1.0
    assert perceptrons._p_ahead("AvgP x100", high, low) == pytest.approx(1 / 32)


def test_mlpc_is_the_pairwise_perceptron_without_threshold():
    made = catalog.make(perceptrons._ON_RCV1["MLPC"])
    assert isinstance(made, PairwisePerceptron)
    assert not made.calibrated
    assert catalog.make(perceptrons._ON_RCV1["CMLPC"]).calibrated
    assert catalog.make("CMLPC").epochs == 1


def test_figure_seven_measures_training_and_test_documents_apart(tmp_path):
    data = replace(made_up(), train=made_up(), test=made_up(40, seed=9))
    token = figures.folder.set(tmp_path)
    try:
        records = list(perceptrons._by_epoch(data, 0, None))
    finally:
        figures.folder.reset(token)
    found = {(record.row, record.column): record.ours for record in records}
    learner = catalog.make("MMP", seed=0).partial_fit(data.train.X, data.train.Y)
    for part in (data.train, data.test):
        scores = learner.decision_function(part.X)
        error = metrics.is_error(part.Y, scores, ties="random", random_state=0)
        name = "train" if part is data.train else "test"
        assert found[f"Figure 7, is_error on {name}, epoch 1", "MMP"] == pytest.approx(error)
