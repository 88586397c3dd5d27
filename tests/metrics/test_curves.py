"""AUC and break-even point against readable Python and scikit-learn; `evaluate`; scorers."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from labelrank import metrics
from labelrank.errors import InputError


def draw(seed, *, unknown=True, n=60, n_labels=5, dtype=np.float64):
    """Coarse scores (ties), a label never and one always relevant, graded and unknown entries."""
    rng = np.random.default_rng(seed)
    Y = rng.choice([0, 0, 0, 1, 2], size=(n, n_labels)).astype(float)
    Y[:, 0], Y[:, 1] = 0, 1
    if unknown:
        Y[rng.random(Y.shape) < 0.15] = np.nan
    scores = np.round(rng.normal(size=Y.shape) + np.nan_to_num(Y) / 2, 1).astype(dtype)
    return Y, scores, rng.uniform(0.1, 3, n)


def area(entries):
    """Share of the weighted pairs that are rightly ordered; entries are (grade, score, weight)."""
    relevant = [(s, w) for y, s, w in entries if y > 0]
    irrelevant = [(s, w) for y, s, w in entries if y == 0]
    right = sum(w * v * ((s > t) + 0.5 * (s == t)) for s, w in relevant for t, v in irrelevant)
    total = sum(w * v for _, w in relevant for _, v in irrelevant)
    return right / total if total else np.nan


def break_even(entries):
    """Walk down the ranking until as much is taken as is relevant; ties are taken in part."""
    entries = [(y > 0, s, w) for y, s, w in entries if not np.isnan(y)]
    wanted = sum(w for y, _, w in entries if y)
    if wanted == 0:
        return np.nan
    taken = hits = 0.0
    for score in sorted({s for _, s, _ in entries}, reverse=True):
        group = [(y, w) for y, s, w in entries if s == score]
        weight = sum(w for _, w in group)
        share = min(1.0, (wanted - taken) / weight)
        hits += share * sum(w for y, w in group if y)
        taken += share * weight
        if share < 1:
            break
    return hits / wanted


def entries_of(Y, scores, weight):
    """The entries of each label, and of all together."""
    labels = [list(zip(Y[:, k], scores[:, k], weight, strict=True)) for k in range(Y.shape[1])]
    return labels, [entry for label in labels for entry in label]


@pytest.mark.parametrize(
    ("criterion", "oracle"), [(metrics.auc, area), (metrics.break_even_point, break_even)]
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_curves_agree_with_the_oracle(criterion, oracle, weighted, dtype):
    Y, scores, weight = draw(0, dtype=dtype)
    weight = weight if weighted else None
    labels, everything = entries_of(Y, scores, np.ones(len(Y)) if weight is None else weight)
    by_label = [oracle(label) for label in labels]
    found = criterion(Y, scores, None, sample_weight=weight)
    np.testing.assert_allclose(found, by_label, rtol=1e-12)
    macro = criterion(sp.csr_array(Y), scores, "macro", sample_weight=weight)
    assert macro == pytest.approx(np.nanmean(by_label), rel=1e-12)
    micro = criterion(Y, scores, "micro", sample_weight=weight)
    assert micro == pytest.approx(oracle(everything), rel=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("weighted", [False, True])
def test_auc_is_that_of_scikit_learn(average, weighted):
    Y, scores, weight = draw(1, unknown=False)
    Y, scores = (Y[:, 2:] > 0).astype(int), scores[:, 2:]
    weight = weight if weighted else None
    theirs = roc_auc_score(Y, scores, average=average, sample_weight=weight)
    assert metrics.auc(Y, scores, average, sample_weight=weight) == pytest.approx(theirs, rel=1e-12)


def test_labels_with_one_class_are_left_out_and_counted():
    Y, scores, _ = draw(2, unknown=False)
    by_label = metrics.auc(Y, scores, average=None)
    assert np.isnan(by_label).tolist() == [True, True, False, False, False]
    assert metrics.auc(Y, scores) == pytest.approx(by_label[2:].mean())
    assert metrics.evaluate(Y, scores)["macro_auc_left_out"] == 2


def test_nothing_to_compare_has_no_area_and_no_break_even_point():
    assert np.isnan(metrics.auc([[0], [0]], [[1.0], [2.0]]))
    assert np.isnan(metrics.auc([[0], [0]], [[1.0], [2.0]], "micro"))
    assert np.isnan(metrics.break_even_point([[0], [0]], [[1.0], [2.0]]))
    assert np.isnan(metrics.break_even_point([[0], [0]], [[1.0], [2.0]], "macro"))


def test_float32_scores_next_to_each_other_are_told_apart():
    one = np.float32(1)
    scores = np.array([[np.nextafter(one, np.float32(2))], [one]], dtype=np.float32)
    assert metrics.auc([[1], [0]], scores) == 1.0
    assert metrics.auc([[0], [1]], scores) == 0.0


def test_instances_without_weight_do_not_count():
    Y, scores = [[1], [1], [0], [0]], [[9.0], [2.0], [3.0], [1.0]]
    weight = [0.0, 1.0, 1.0, 1.0]
    for criterion in (metrics.auc, metrics.break_even_point):
        with_zero = criterion(Y, scores, sample_weight=weight)
        assert with_zero == criterion(Y[1:], scores[1:])


def test_many_rows_over_threads_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    Y = (rng.random((100_000, 6)) < 0.05).astype(int)
    scores = rng.normal(size=Y.shape).astype(np.float32) + Y.astype(np.float32)
    for average in ("micro", "macro"):
        expected = roc_auc_score(Y, scores, average=average)
        assert metrics.auc(Y, scores, average) == pytest.approx(expected, rel=1e-10)
    flat = np.argsort(-scores.ravel(), kind="stable")[: Y.sum()]
    expected = Y.ravel()[flat].mean()
    assert metrics.break_even_point(Y, scores) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("criterion", [metrics.auc, metrics.break_even_point])
def test_bad_input_is_refused(criterion):
    with pytest.raises(InputError, match="row 1"):
        criterion([[1], [0]], [[1.0], [np.nan]])
    with pytest.raises(InputError, match="average"):
        criterion([[1], [0]], [[1.0], [2.0]], "example")


def test_evaluate_gives_what_each_criterion_gives_alone():
    Y, scores, weight = draw(4)
    found = metrics.evaluate(Y, scores, 0.5, sample_weight=weight, k=(2,))
    predicted, options = scores > 0.5, {"sample_weight": weight}
    for name in ("is_error", "error_set_size", "margin_loss", "average_precision_loss",
                 "ranking_loss", "one_error", "coverage"):  # fmt: skip
        assert found.pop(name) == getattr(metrics, name)(Y, scores, **options)
    assert found.pop("coverage_error") == metrics.coverage(Y, scores, zero_based=False, **options)
    assert found.pop("pro_loss") == metrics.pro_loss(Y, scores, threshold=0.5, **options)
    assert found.pop("precision_at_2") == metrics.precision_at_k(Y, scores, 2, **options)
    assert found.pop("ndcg_at_2") == metrics.ndcg_at_k(Y, scores, 2, **options)
    for name in ("kendall_tau", "kendall_tau_x", "spearman"):
        assert found.pop(name) == getattr(metrics, name)(Y, scores, **options)
    for k in (1, 3):
        alone = metrics.top_agreement_at_k(Y, scores, k, **options)
        assert found.pop(f"top_agreement_at_{k}") == alone
    for name in ("hamming_loss", "subset_accuracy"):
        assert found.pop(name) == getattr(metrics, name)(Y, predicted, **options)
    for name in ("precision", "recall", "f1", "jaccard"):
        for average in ("example", "micro", "macro"):
            alone = getattr(metrics, name)(Y, predicted, average, **options)
            assert found.pop(f"{average}_{name}") == alone
    for name in ("auc", "break_even_point"):
        for average in ("micro", "macro"):
            alone = getattr(metrics, name)(Y, scores, average, **options)
            assert found.pop(f"{average}_{name}") == alone
    assert found.pop("macro_auc_left_out") == 2
    assert not found


def test_evaluate_takes_sets_of_its_own_and_a_threshold_for_each_row():
    Y, scores, _ = draw(5)
    predicted = sp.csr_array((scores > 1).astype(int))
    assert metrics.evaluate(Y, scores, predicted=predicted)["micro_f1"] == metrics.f1(
        Y, predicted, "micro"
    )
    thresholds = np.linspace(-1, 1, len(Y))
    found = metrics.evaluate(Y, scores, thresholds)
    assert found["micro_f1"] == metrics.f1(Y, scores > thresholds[:, None], "micro")
    assert found["pro_loss"] == metrics.pro_loss(Y, scores, threshold=thresholds)


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 6))
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(120, 4)) > 0.5).astype(int)
    return OneVsRestClassifier(LogisticRegression()).fit(X, Y), X, Y


def test_every_scorer_scores_and_losses_are_negated(trained):
    learner, X, Y = trained
    scores, predicted = learner.decision_function(X), learner.predict(X)
    for name, scorer in metrics.scorers.items():
        value = scorer(learner, X, Y)
        assert (value <= 0) == name.startswith("neg_"), name
    assert metrics.scorers["neg_ranking_loss"](learner, X, Y) == -metrics.ranking_loss(Y, scores)
    assert metrics.scorers["micro_f1"](learner, X, Y) == metrics.f1(Y, predicted, "micro")
    assert metrics.scorers["precision_at_3"](learner, X, Y) == metrics.precision_at_k(Y, scores, 3)


def test_scorers_work_in_searches_and_survive_a_process_boundary(trained):
    learner, X, Y = trained
    grid = {"estimator__C": [0.01, 1.0]}
    scoring = {name: metrics.get_scorer(name) for name in ("ranking_loss", "macro_auc")}
    search = GridSearchCV(learner, grid, scoring=scoring, refit="ranking_loss", cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_macro_auc"]).all()
    copied = pickle.loads(pickle.dumps(metrics.get_scorer("pro_loss")))
    assert np.isfinite(cross_val_score(learner, X, Y, scoring=copied, cv=3)).all()


def test_scorers_take_probabilities_where_there_is_no_decision_function(trained):
    _, X, Y = trained
    by_label = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    proba = np.column_stack([label[:, 1] for label in by_label.predict_proba(X)])
    value = metrics.get_scorer("average_precision")(by_label, X, Y)
    assert value == 1 - metrics.average_precision_loss(Y, proba)


def test_scikit_learn_s_names_are_known_and_others_refused():
    assert repr(metrics.get_scorer("accuracy")) == repr(get_scorer("accuracy"))
    with pytest.raises(InputError, match="did you mean ranking_loss"):
        metrics.get_scorer("rankingloss")
