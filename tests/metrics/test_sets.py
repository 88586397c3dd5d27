"""Criteria of label sets against readable Python, scikit-learn and the lecture's example."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics

from labelrank import metrics
from labelrank.errors import InputError

RATIOS = {
    metrics.precision: sklearn.metrics.precision_score,
    metrics.recall: sklearn.metrics.recall_score,
    metrics.f1: sklearn.metrics.f1_score,
    metrics.jaccard: sklearn.metrics.jaccard_score,
}


def draw(seed, *, unknown=False, n=40, n_labels=6):
    rng = np.random.default_rng(seed)
    Y = rng.choice([0, 0, 0, 1, 2], size=(n, n_labels)).astype(float)
    predicted = (rng.random(Y.shape) < 0.3).astype(int)
    Y[0], predicted[0], Y[1], predicted[2], Y[:, 0] = 0, 0, 0, 0, 0
    predicted[:, 0] = 0
    if unknown:
        Y[rng.random(Y.shape) < 0.2] = np.nan
        Y[3] = np.nan
    return Y, predicted, rng.uniform(0.1, 3, n)


def ratio(name, relevant, predicted, empty):
    """One value from two sets."""
    hits = len(relevant & predicted)
    top, bottom = {
        "precision": (hits, len(predicted)),
        "recall": (hits, len(relevant)),
        "f1": (2 * hits, len(relevant) + len(predicted)),
        "jaccard": (hits, len(relevant | predicted)),
    }[name]
    return top / bottom if bottom else empty


def sets_by(axis, Y, predicted):
    """Relevant and predicted sets of the rows (axis 0) or the columns (axis 1)."""
    Y, predicted = (Y, predicted) if axis == 0 else (Y.T, predicted.T)
    for y, p in zip(Y, predicted, strict=True):
        known = {j for j in range(len(y)) if not np.isnan(y[j])}
        yield {j for j in known if y[j] > 0}, {j for j in known if p[j]}


@pytest.mark.parametrize("criterion", RATIOS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("empty", [0.0, 1.0])
def test_ratios_agree_with_sets_of_python(criterion, empty):
    Y, predicted, _ = draw(0, unknown=True)
    rows = [ratio(criterion.__name__, *pair, empty) for pair in sets_by(0, Y, predicted)]
    columns = [ratio(criterion.__name__, *pair, empty) for pair in sets_by(1, Y, predicted)]
    options = {"zero_division": empty}
    found = criterion(Y, predicted, per_instance=True, **options)
    np.testing.assert_allclose(found, rows, atol=1e-15)
    assert criterion(Y, predicted, **options) == pytest.approx(np.mean(rows))
    np.testing.assert_allclose(criterion(Y, predicted, None, **options), columns, atol=1e-15)
    assert criterion(Y, predicted, "macro", **options) == pytest.approx(np.mean(columns))
    cells = [
        {(i, j) for i, members in enumerate(part) for j in members}
        for part in zip(*sets_by(0, Y, predicted), strict=True)
    ]
    assert criterion(Y, predicted, "micro") == ratio(criterion.__name__, *cells, 0.0)


# scikit-learn's jaccard_score does not know nan.
RATIOS_AND_EMPTY = [
    (criterion, empty)
    for criterion in RATIOS
    for empty in ((0.0, 1.0) if criterion is metrics.jaccard else (0.0, 1.0, np.nan))
]


@pytest.mark.parametrize(("criterion", "zero_division"), RATIOS_AND_EMPTY)
@pytest.mark.parametrize("average", ["example", "micro", "macro", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_ratios_are_those_of_scikit_learn(criterion, average, zero_division, weighted):
    Y, predicted, weight = draw(1)
    options = {"zero_division": zero_division, "sample_weight": weight if weighted else None}
    theirs = RATIOS[criterion](
        (Y > 0).astype(int), predicted, average={"example": "samples"}.get(average, average),
        **options,
    )  # fmt: skip
    ours = criterion(Y, predicted, average, **options)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_those_of_scikit_learn(weighted):
    Y, predicted, weight = draw(2)
    truth, weight = (Y > 0).astype(int), weight if weighted else None
    assert metrics.hamming_loss(Y, predicted, sample_weight=weight) == pytest.approx(
        sklearn.metrics.hamming_loss(truth, predicted, sample_weight=weight)
    )
    assert metrics.subset_accuracy(Y, predicted, sample_weight=weight) == pytest.approx(
        sklearn.metrics.accuracy_score(truth, predicted, sample_weight=weight)
    )
    theirs = sklearn.metrics.multilabel_confusion_matrix(truth, predicted, sample_weight=weight)
    ours = metrics.contingency_tables(Y, predicted, sample_weight=weight)
    np.testing.assert_allclose(ours, theirs[:, ::-1, ::-1], atol=1e-12)


def test_losses_leave_unknown_labels_out():
    Y, predicted, _ = draw(3, unknown=True)
    known = ~np.isnan(Y)
    wrong = ((Y > 0) != (predicted > 0)) & known
    expected = wrong.sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    np.testing.assert_allclose(metrics.hamming_loss(Y, predicted, per_instance=True), expected)
    exact = ~wrong.any(axis=1)
    np.testing.assert_array_equal(metrics.subset_accuracy(Y, predicted, per_instance=True), exact)
    tables = metrics.contingency_tables(Y, predicted)
    np.testing.assert_array_equal(tables.sum(axis=(1, 2)), known.sum(axis=0))
    assert tables.dtype.kind == "i"


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_predictions_give_the_same_numbers(form):
    Y, predicted, weight = draw(4, unknown=True)
    dense = metrics.evaluate_sets(Y, predicted, sample_weight=weight)
    sparse = metrics.evaluate_sets(form(Y), form(predicted), sample_weight=weight)
    assert sparse == pytest.approx(dense, rel=1e-13)
    boolean = metrics.evaluate_sets(Y, predicted.astype(bool), sample_weight=weight)
    assert boolean == dense


def test_a_sparse_prediction_of_a_huge_matrix_is_never_made_dense():
    n = 1_000_000
    Y = sp.csr_array((np.ones(3), ([0, 5, 9], [7, n - 1, 3])), shape=(1000, n))
    predicted = sp.csr_array((np.ones(2), ([0, 9], [7, 4])), shape=(1000, n))
    assert metrics.f1(Y, predicted, "micro") == 2 / 5
    assert metrics.hamming_loss(Y, predicted) == pytest.approx(3 / (1000 * n))


def test_the_given_arrays_are_left_as_they_were():
    Y, predicted, _ = draw(5, unknown=True)
    sparse_Y, sparse_predicted = sp.csr_array(Y), sp.csr_array(predicted)
    metrics.evaluate_sets(sparse_Y, sparse_predicted)
    np.testing.assert_array_equal(sparse_Y.toarray(), Y)
    np.testing.assert_array_equal(sparse_predicted.toarray(), predicted)


def lecture_example():
    """Three classes of 100 documents each with the printed tables of paper 003."""
    cells = {"C1": (15, 5, 10, 70), "C2": (20, 10, 12, 58), "C3": (45, 5, 5, 45)}
    truth, predicted = np.zeros((100, 3), int), np.zeros((100, 3), int)
    for k, (hits, misses, alarms, _) in enumerate(cells.values()):
        truth[: hits + misses, k] = 1
        predicted[:hits, k] = 1
        predicted[hits + misses : hits + misses + alarms, k] = 1
    return truth, predicted, cells


def test_the_lecture_s_worked_example_of_averaging():
    truth, predicted, cells = lecture_example()
    tables = metrics.contingency_tables(truth, predicted)
    assert [tuple(table.ravel()) for table in tables] == list(cells.values())
    assert tables.sum(axis=0).tolist() == [[80, 20], [27, 173]]
    printed = {("precision", "macro"): 0.708, ("recall", "macro"): 0.772,
               ("precision", "micro"): 0.748, ("recall", "micro"): 0.800}  # fmt: skip
    for (name, average), value in printed.items():
        assert round(getattr(metrics, name)(truth, predicted, average), 3) == value


def test_nothing_relevant_and_nothing_predicted_is_worth_zero_division_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for criterion in RATIOS:
            assert criterion([[0, 0]], [[0, 0]]) == 0.0
            assert criterion([[0, 0]], [[0, 0]], zero_division=1) == 1.0
            assert np.isnan(criterion([[0, 0]], [[0, 0]], "macro", zero_division=np.nan))
    assert metrics.subset_accuracy([[0, 0]], [[0, 0]]) == 1.0
    assert metrics.hamming_loss([[0, 0]], [[0, 0]]) == 0.0


@pytest.mark.parametrize("bad", [[[0.5, 1]], [[2, 0]], [[np.nan, 0]], [[1]], [1, 0], [["a", "b"]]])
def test_predictions_that_are_not_sets_are_refused(bad):
    with pytest.raises(InputError, match=";"):
        metrics.f1([[1, 0]], bad)


def test_sparse_predictions_that_are_not_sets_are_refused():
    with pytest.raises(InputError, match="0 and 1"):
        metrics.f1([[1, 0]], sp.csr_array([[0.5, 0]]))


@pytest.mark.parametrize(
    "options",
    [{"average": "samples"}, {"average": "micro", "per_instance": True}, {"zero_division": 2}],
)
def test_bad_options_are_refused(options):
    with pytest.raises(InputError, match="got"):
        metrics.f1([[1, 0]], [[1, 0]], **options)


def test_multi_dimensional_targets_are_compared_code_by_code():
    rng = np.random.default_rng(6)
    Y, predicted = rng.integers(0, 3, (50, 4)), rng.integers(0, 3, (50, 4))
    predicted[:10] = Y[:10]
    weight = rng.uniform(1, 2, 50)
    exact = [all(a == b) for a, b in zip(Y, predicted, strict=True)]
    share = [sum(a == b) / 4 for a, b in zip(Y, predicted, strict=True)]
    np.testing.assert_array_equal(metrics.exact_match(Y, predicted, per_instance=True), exact)
    np.testing.assert_array_equal(metrics.hamming_score(Y, predicted, per_instance=True), share)
    value = metrics.hamming_score(Y, predicted, sample_weight=weight)
    assert value == pytest.approx(np.average(share, weights=weight))


def test_unknown_targets_are_left_out():
    Y, predicted = [[1, np.nan], [np.nan, np.nan]], [[1, 5], [0, 0]]
    assert metrics.exact_match(Y, predicted) == 1.0
    assert metrics.hamming_score(Y, predicted) == 1.0
    assert metrics.hamming_score([[1, np.nan, 2]], [[1, 0, 0]]) == 0.5


def test_on_binary_targets_they_are_the_set_criteria():
    Y, predicted, _ = draw(7)
    Y = (Y > 0).astype(int)
    assert metrics.exact_match(Y, predicted) == metrics.subset_accuracy(Y, predicted)
    score = metrics.hamming_score(sp.csr_array(Y), sp.csr_array(predicted))
    assert score == pytest.approx(1 - metrics.hamming_loss(Y, predicted))


def test_targets_of_other_shapes_are_refused():
    with pytest.raises(InputError, match="one column per target"):
        metrics.exact_match([1, 2], [1, 2])


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_predictions_with_broken_pointers_are_refused_and_not_followed(form):
    broken = form(np.eye(4))
    broken.indptr[2] = 10**8
    with pytest.raises(InputError, match="broken sparse matrix"):
        metrics.f1(np.eye(4), broken)
