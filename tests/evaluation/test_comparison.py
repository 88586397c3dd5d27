"""Comparisons against the same done by hand with scikit-learn and SciPy."""

import itertools

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, label_ranking_loss
from sklearn.multiclass import OneVsRestClassifier

from labelrank import ClassifierChain
from labelrank.datasets import Dataset
from labelrank.errors import InputError
from labelrank.evaluation import StratifiedFolds, compare
from labelrank.evaluation.cell import cuts, indicator
from labelrank.evaluation.compare import equal_candidates
from labelrank.evaluation.tables import summarise
from labelrank.evaluation.workers import PeakMemory
from labelrank.metrics import criteria, exact_match
from labelrank.report.comparison import as_csv, as_latex, as_markdown
from labelrank.report.critical_difference import cliques, draw_critical_difference


def made(name="made", n=90, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    Y = (X @ random.normal(size=(5, 4)) + random.normal(size=(n, 4)) > 0).astype(float)
    Y[Y.sum(axis=1) == 0, 0] = 1
    return Dataset(name, X, sp.csr_array(Y), label_names=list("abcd"))


def logistic(C=1.0):
    return OneVsRestClassifier(LogisticRegression(C=C))


class Probe(BaseEstimator):
    """Answers nothing, and tells what it was shown."""

    seen = []

    def __init__(self, value=0):
        self.value = value

    def fit(self, X, Y):
        Probe.seen.append(X)
        self.n_labels_ = Y.shape[1]
        return self

    def decision_function(self, X):
        Probe.seen.append(X)
        return np.full((X.shape[0], self.n_labels_), float(self.value))

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


def value_of(frame, **where):
    return frame.filter(**where)["value"].item()


def test_a_cell_is_what_scikit_learn_measures_by_hand():
    data = made()
    frame = compare(data, {"LR": logistic()}, cv=3, seed=4, criteria=["micro_f1", "ranking_loss"])
    Y = data.Y.toarray().astype(int)
    folds = StratifiedFolds(3, random_state=4).split(data.X, data.Y)
    for fold, (train, test) in enumerate(folds):
        fitted = logistic().fit(data.X[train], Y[train])
        by_hand = f1_score(Y[test], fitted.predict(data.X[test]), average="micro")
        assert value_of(frame, fold=fold, criterion="micro_f1") == pytest.approx(by_hand)
        by_hand = label_ranking_loss(Y[test], fitted.decision_function(data.X[test]))
        assert value_of(frame, fold=fold, criterion="ranking_loss") == pytest.approx(by_hand)
    assert (frame.filter(criterion="fit_seconds")["value"] > 0).all()


def test_processes_side_by_side_find_the_same_in_the_same_order():
    data = [made("one"), made("two", seed=1)]
    learners = {"weak": logistic(0.001), "strong": logistic(10.0)}
    alone = compare(data, learners, cv=2)
    beside = compare(data, learners, cv=2, jobs=2)
    quality = ~pl.col("criterion").is_in(["fit_seconds", "predict_seconds", "peak_mib"])
    assert alone.filter(quality).equals(beside.filter(quality))


def test_the_official_split_is_train_then_test():
    data = made()
    data = data.with_split({"train": np.arange(20, 90), "test": np.arange(20)})
    frame = compare(data, {"LR": logistic()}, split="official", criteria=["subset_accuracy"])
    Y = data.Y.toarray().astype(int)
    fitted = logistic().fit(data.X[20:], Y[20:])
    right = (fitted.predict(data.X[:20]) == Y[:20]).all(axis=1).mean()
    assert value_of(frame, criterion="subset_accuracy") == pytest.approx(right)
    with pytest.raises(InputError, match="no official split"):
        compare(made(), {"LR": logistic()}, split="official")


def test_terms_come_from_the_training_texts_alone():
    texts = [f"shared word{i}" for i in range(12)]
    Y = sp.csr_array(np.tile([[1.0, 0.0], [0.0, 1.0]], (6, 1)))
    data = Dataset("texts", None, Y, texts=texts, label_names=["a", "b"])
    Probe.seen.clear()
    compare(data, {"probe": Probe()}, cv=2)
    train, _ = next(StratifiedFolds(2, random_state=0).split(None, Y))
    terms = TfidfVectorizer().fit([texts[i] for i in train])
    assert {shown.shape[1] for shown in Probe.seen} == {len(terms.vocabulary_)} == {7}


def test_missing_values_become_means_of_the_training_part():
    data = made(n=20)
    data.X[3:5, 0] = np.nan
    Probe.seen.clear()
    compare(data, {"probe": Probe()}, cv=2)
    train, test = next(StratifiedFolds(2, random_state=0).split(data.X, data.Y))
    mean = np.nanmean(data.X[train, 0])
    shown = np.concatenate([X[:, 0] for X in Probe.seen])
    assert not np.isnan(shown).any()
    assert np.isclose(shown, mean).any()


def test_tuning_finds_the_setting_that_is_better_within_the_training_part():
    grids = {"probe": {"value": [-1, 1]}}
    frame = compare(made(), {"probe": Probe()}, cv=2, tune=grids, criteria=["micro_f1"])
    assert (frame.filter(criterion="micro_f1")["value"] > 0.5).all()
    without = compare(made(), {"probe": Probe(-1)}, cv=2, criteria=["micro_f1"])
    assert (without.filter(criterion="micro_f1")["value"] == 0).all()
    with pytest.raises(InputError, match="no grid for probe"):
        compare(made(), {"probe": Probe()}, cv=2, tune={})


def test_tuning_never_sees_the_test_part():
    data = made(n=60)
    data.X[:, 0] = np.arange(60)
    Probe.seen.clear()
    compare(
        data, {"probe": Probe()}, cv=2, tune={"probe": {"value": [0, 1]}}, criteria=["micro_f1"]
    )
    train, test = next(StratifiedFolds(2, random_state=0).split(data.X, data.Y))
    of_first_fold = Probe.seen[: len(Probe.seen) // 2]
    rows = [frozenset(X[:, 0].astype(int)) for X in of_first_fold]
    assert len(rows) > 2 * 2 * 3
    assert {shown for shown in rows if shown & set(test)} == {frozenset(test)}


def test_every_learner_tries_equally_many_settings():
    grids = {"a": {"x": range(9)}, "b": {"x": [1], "y": [2, 3, 4]}}
    found = equal_candidates(grids, seed=1)
    assert [len(tried) for tried in found.values()] == [3, 3]
    assert len({settings["x"] for settings in found["a"]}) == 3
    assert found == equal_candidates(
        {"a": {"x": range(9)}, "b": {"x": [1], "y": [2, 3, 4]}}, seed=1
    )


def test_targets_of_several_classes_run_with_chains_alone():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    Y = np.column_stack([np.digitize(X[:, 0], [-0.5, 0.5]), (X[:, 1] > 0).astype(int)])
    data = Dataset(
        "classes", X, Y, label_names=["p", "q"], target_classes=[list("abc"), list("de")]
    )
    frame = compare(data, {"CC": ClassifierChain()}, cv=2)
    train, test = next(StratifiedFolds(2, random_state=0).split(X, indicator(Y)))
    fitted = ClassifierChain(targets="classes").fit(X[train], Y[train])
    by_hand = exact_match(Y[test], fitted.predict(X[test]))
    assert value_of(frame, fold=0, criterion="exact_match") == pytest.approx(by_hand)
    assert by_hand > 0.6
    with pytest.raises(InputError, match="LR cannot be compared: classes has targets"):
        compare(data, {"LR": logistic()}, cv=2)
    with pytest.raises(InputError, match="use exact_match or hamming_score"):
        compare(data, {"CC": ClassifierChain()}, cv=2, criteria=["micro_f1"])


def test_exact_match_and_hamming_score_serve_labels_too():
    wanted = ["exact_match", "subset_accuracy", "hamming_score", "hamming_loss"]
    frame = compare(made(), {"LR": logistic()}, cv=2, criteria=wanted)
    values = {name: frame.filter(criterion=name)["value"].to_numpy() for name in wanted}
    np.testing.assert_array_equal(values["exact_match"], values["subset_accuracy"])
    np.testing.assert_allclose(values["hamming_score"], 1 - values["hamming_loss"])


def test_added_criteria_and_other_spellings_are_compared_and_old_cells_measured_again(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(criteria, "_added", {})
    compare(made(), {"LR": logistic()}, cv=2, criteria=["f1_micro"], out=tmp_path)
    criteria.register("set_size", lambda Y, sets: sets.mean(), direction=-1, needs="sets")
    wanted = ["f1_micro", "set_size", "average_precision"]
    frame = compare(made(), {"LR": logistic()}, cv=2, criteria=wanted, out=tmp_path)
    names = set(frame["criterion"]) - {"fit_seconds", "predict_seconds", "peak_mib"}
    assert names == {"micro_f1", "set_size", "average_precision"}
    assert frame["value"].is_not_null().all()
    assert summarise(frame, "set_size").best.any()


def test_the_threshold_stands_between_the_set_and_the_rest():
    scores = np.array([[3.0, 2.0, 1.0], [0.5, 0.2, 0.1], [5.0, 6.0, 7.0], [1.0, 2.0, 3.0]])
    members = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0]], bool)
    found = cuts(scores, members)
    assert found[0] == 1.5
    assert found[1] > 0.5
    assert found[2] < 5.0
    assert found[3] == 0.0
    assert cuts(scores, scores > 0) == 0.0


def frame_of(values, criterion="micro_f1"):
    """A frame from values[dataset][learner] = list over folds."""
    rows = [
        (dataset, learner, fold, criterion, value)
        for dataset, learners in values.items()
        for learner, folds in learners.items()
        for fold, value in enumerate(folds)
    ]
    columns = ["dataset", "learner", "fold", "criterion", "value"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.fixture
def values():
    random = np.random.default_rng(0)
    return {
        f"d{d}": {name: random.normal(loc, 0.05, 8).tolist() for name, loc in
                  (("a", 0.5), ("b", 0.7), ("c_%", 0.68))}
        for d in range(5)
    }  # fmt: skip


@pytest.mark.parametrize("criterion", ["micro_f1", "ranking_loss"])
def test_tables_hold_means_deviations_and_the_tests_of_scipy(values, criterion):
    table = summarise(frame_of(values, criterion), criterion)
    raw = np.array([[values[d][name] for d in table.datasets] for name in table.learners])
    np.testing.assert_allclose(table.means, raw.mean(axis=2))
    np.testing.assert_allclose(table.deviations, raw.std(axis=2, ddof=1))
    best = raw.mean(axis=2).argmin(0) if "loss" in criterion else raw.mean(axis=2).argmax(0)
    assert table.best.argmax(axis=0).tolist() == best.tolist()
    found = {(t.dataset, t.learner, t.test): t for t in table.tests}
    for d, name in enumerate(table.datasets):
        others = [k for k in range(3) if k != best[d]]
        t = [stats.ttest_rel(raw[k, d], raw[best[d], d]).pvalue for k in others]
        w = [stats.wilcoxon(raw[k, d], raw[best[d], d]).pvalue for k in others]
        for kind, p in (("t", t), ("Wilcoxon", w)):
            got = [found[name, table.learners[k], kind] for k in others]
            assert [one.p_value for one in got] == pytest.approx(p)
            holm = [min(1, 2 * min(p)), max(min(1, 2 * min(p)), max(p))]
            assert sorted(one.p_holm for one in got) == pytest.approx(sorted(holm))
    friedman = stats.friedmanchisquare(*raw.mean(axis=2))
    assert table.friedman.p_value == pytest.approx(friedman.pvalue)


def test_tables_are_written_for_readers_papers_and_machines(values):
    table = summarise(frame_of(values), "micro_f1")
    markdown, latex = as_markdown([table]), as_latex([table])
    best = f"{table.means[:, 0].max():.4f} ± {table.deviations[table.best[:, 0], 0][0]:.4f}"
    assert f"**{best}**" in markdown
    assert f"\\textbf{{{best.replace('±', '$' + chr(92) + 'pm$')}}}" in latex
    assert "c\\_\\%" in latex
    assert latex.count("\\\\\n") == 4
    assert "Friedman over 5 data sets" in markdown
    rows = pl.read_csv(as_csv([table]).encode())
    assert rows.filter(dataset="d0", learner="a")["mean"].item() == table.means[0, 0]
    assert rows["best"].sum() == 5
    assert rows.filter(learner="a")["worse"].to_list() == [1] * 5


def test_one_fold_or_one_data_set_or_a_missing_value_is_not_tested():
    table = summarise(frame_of({"d": {"a": [0.1], "b": [0.2]}}), "micro_f1")
    assert table.tests == []
    assert table.friedman is None
    assert "0.2000" in as_markdown([table])
    holed = {"d": {"a": [0.1, None], "b": [0.2, 0.3]}, "e": {"a": [0.1, 0.2], "b": [0.2, 0.3]}}
    table = summarise(frame_of(holed), "micro_f1")
    assert {test.dataset for test in table.tests} == {"e"}
    assert table.friedman is None
    assert "–" in as_markdown([table])
    with pytest.raises(InputError, match="was not measured"):
        summarise(frame_of(holed), "pro_loss")


def test_bars_join_the_largest_groups_within_the_critical_difference():
    random = np.random.default_rng(0)
    for _ in range(50):
        ranks = np.sort(random.uniform(1, 6, 6))
        within = [
            (i, j) for i, j in itertools.combinations(range(6), 2) if ranks[j] - ranks[i] < 1.3
        ]
        largest = [
            (i, j) for i, j in within
            if not any((a <= i and j <= b) and (a, b) != (i, j) for a, b in within)
        ]  # fmt: skip
        assert cliques(ranks.tolist(), 1.3) == largest


def test_the_diagram_names_every_learner_and_draws_every_bar(tmp_path):
    names, ranks = ["a", "b", "c", "d"], [3.9, 1.0, 1.4, 3.5]
    figure = draw_critical_difference(names, ranks, 1.0, "micro F1")
    axes = figure.axes[0]
    shown = " ".join(text.get_text() for text in axes.texts)
    assert all(f"{rank:.2f}" in shown and name in shown for name, rank in zip(names, ranks))
    bars = [line for line in axes.lines if line.get_gid() == "thick"]
    first, last = next(line for line in axes.lines if len(set(line.get_ydata())) == 1).get_xdata()
    middles = [1 + 3 * (np.mean(bar.get_xdata()) - first) / (last - first) for bar in bars]
    assert middles == pytest.approx([1.2, 3.7])
    figure.savefig(tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").stat().st_size > 1000


def test_the_peak_of_memory_is_seen_and_then_forgotten():
    with PeakMemory() as peak:
        np.ones(2**23).sum()
    with PeakMemory() as after:
        pass
    assert 50 < peak.mib < 100
    assert after.mib < 10


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"criteria": ["micro_f2"]}, "micro_f1"),
        ({"criteria": ["fit_seconds"]}, "no criterion of quality"),
        ({"jobs": 0}, "jobs=0"),
        ({"cv": 91}, "91 folds"),
        ({"split": "random"}, "split='random'"),
        ({"tune": {"LR": {"colour": [1]}}}, "LR cannot be compared"),
    ],
)
def test_what_cannot_be_compared_is_refused_at_once(change, sentence):
    with pytest.raises(InputError, match=sentence):
        compare(made(), {"LR": logistic()}, **change)


def test_two_data_sets_of_one_name_are_refused():
    with pytest.raises(InputError, match="one name"):
        compare([made(), made(seed=1)], {"LR": logistic()}, cv=2)
