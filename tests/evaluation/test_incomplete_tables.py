"""Tables of a comparison in which cells failed: the tests are SciPy's on what is complete."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from labelrank.evaluation.tables import OVER_ALL, summarise
from labelrank.report import comparison_page
from labelrank.report.comparison import as_csv, as_latex, as_markdown, finding

REASON = "Negative values | 5 < 6_%"
DATASETS = ("d0", "d1", "d2")
LEARNERS = ("a", "b", "c", "NB")


def frame_of(failed, criterion="micro_f1", folds=4):
    """Random values; NaN with the reason where `failed` names (data set, learner, fold)."""
    draw = np.random.default_rng(0)
    rows = [
        (d, k, fold, criterion, np.nan if (d, k, fold) in failed else value,
         REASON if (d, k, fold) in failed else None)
        for d in DATASETS for k in LEARNERS for fold in range(folds)
        for value in [draw.random()]
    ]  # fmt: skip
    columns = {"dataset": str, "learner": str, "fold": int, "criterion": str, "value": float,
               "reason": str}  # fmt: skip
    return pl.DataFrame(rows, schema=columns, orient="row")


def everywhere(datasets, learner="NB"):
    return {(d, learner, fold) for d in datasets for fold in range(4)}


def values_of(frame, dataset, learner):
    return frame.filter(dataset=dataset, learner=learner)["value"].to_numpy()


@pytest.fixture
def frame():
    return frame_of(everywhere(["d0", "d1"]))


def test_folds_are_tested_without_the_learner_that_failed_there(frame):
    table = summarise(frame, "micro_f1")
    on = {d: [test for test in table.tests if test.dataset == d] for d in DATASETS}
    assert {test.learner for test in on["d2"]} | {on["d2"][0].against} == set(LEARNERS)
    assert "NB" not in {name for test in on["d0"] for name in (test.learner, test.against)}
    means = {k: values_of(frame, "d0", k).mean() for k in "abc"}
    best = max(means, key=means.get)
    assert {test.against for test in on["d0"]} == {best}
    for test in on["d0"]:
        pair = values_of(frame, "d0", test.learner), values_of(frame, "d0", best)
        by_hand = (stats.ttest_rel if test.test == "t" else stats.wilcoxon)(*pair)
        assert test.p_value == pytest.approx(by_hand.pvalue)


def test_the_best_mean_is_marked_and_what_is_significantly_worse_is_told():
    values = {"a": [0.90, 0.91, 0.92, 0.93], "b": [0.50, 0.52, 0.51, 0.53], "c": [0.9] * 3 + [0.92]}
    rows = [("d", k, fold, "micro_f1", one) for k, folds in values.items()
            for fold, one in enumerate(folds)]  # fmt: skip
    columns = {"dataset": str, "learner": str, "fold": int, "criterion": str, "value": float}
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    table = summarise(frame, "micro_f1")
    assert table.best[:, 0].tolist() == [True, False, False]
    assert [table.is_worse(name, "d") for name in "abc"] == [False, True, False]
    as_loss = summarise(frame.with_columns(criterion=pl.lit("hamming_loss")), "hamming_loss")
    assert as_loss.best[:, 0].tolist() == [False, True, False]


def test_friedman_is_made_over_the_learners_with_a_value_everywhere(frame):
    table = summarise(frame, "micro_f1")
    means = np.array([[values_of(frame, d, k).mean() for d in DATASETS] for k in "abc"])
    by_hand = stats.friedmanchisquare(*means)
    assert table.friedman.p_value == pytest.approx(by_hand.pvalue)
    ranks = stats.rankdata(-means, axis=0).mean(axis=1)
    np.testing.assert_allclose(table.friedman.mean_ranks, ranks)
    np.testing.assert_allclose(table.ranks, [*ranks, np.nan])
    assert table.ranked == ["a", "b", "c"]
    over = [test for test in table.tests if test.dataset == OVER_ALL]
    assert len(over) == 2
    assert "NB" not in {test.learner for test in over}
    assert "left out: NB" in finding(table)
    assert "Friedman over 3 data sets" in finding(table)


def test_a_data_set_without_any_value_is_left_out_before_the_learners(frame):
    failed = {("d1", k, fold) for k in LEARNERS for fold in range(4)} | {("d2", "a", 0)}
    table = summarise(frame_of(failed), "micro_f1")
    assert table.ranked == ["b", "c", "NB"]
    assert table.friedman is not None
    assert "Friedman over 2 data sets" in finding(table)
    assert "left out: a, d1" in finding(table)


def test_where_less_than_two_are_complete_no_test_is_made_and_it_is_said():
    failed = {("d0", "a", 0), ("d1", "b", 1), ("d2", "c", 2)}
    table = summarise(frame_of(failed), "micro_f1")
    assert table.friedman is None
    assert table.ranks is None
    assert "No test over data sets" in finding(table)
    assert {test.dataset for test in table.tests} == set(DATASETS)


def test_one_failed_fold_is_a_failed_mean_with_how_many_folds_failed():
    table = summarise(frame_of({("d0", "NB", 2)}), "micro_f1")
    assert np.isnan(table.means[3, 0])
    assert table.failures == {("NB", "d0"): f"{REASON} (1 of 4 folds)"}
    assert summarise(frame_of(set()), "micro_f1").failures == {}


def test_failed_cells_are_marked_and_explained_in_every_form(frame):
    table = summarise(frame, "micro_f1")
    markdown = as_markdown([table])
    assert markdown.count("failed¹") == 2
    assert f"¹ NB on d0, d1: {REASON.replace('|', chr(92) + '|')}" in markdown
    latex = as_latex([table])
    assert latex.count("failed$^{1}$") == 2
    assert "$^{1}$ NB on d0, d1: Negative values $|$ 5 $<$ 6\\_\\%" in latex
    rows = pl.read_csv(as_csv([table]).encode())
    assert rows.filter(learner="NB")["failed"].to_list() == [REASON, REASON, None]
    assert rows.filter(learner="NB", dataset="d0")["mean"].to_list() == [None]
    page = comparison_page([table])
    assert page.count("failed¹") == 2
    assert "¹ NB on d0, d1: Negative values | 5 &lt; 6_%" in page


def test_reasons_of_their_own_have_notes_of_their_own():
    frame = frame_of(everywhere(["d0"]) | {("d1", "NB", 3), ("d0", "a", 1)})
    markdown = as_markdown([summarise(frame, "micro_f1")])
    assert [markdown.count(f"failed{mark}") for mark in "¹²³"] == [1, 1, 1]
    notes = [line for line in markdown.splitlines() if line[:1] in "¹²³" and line]
    assert [note.split(":")[0] for note in notes] == ["¹ a on d0", "² NB on d0", "³ NB on d1"]


def test_a_frame_without_reasons_has_dashes_where_values_lack(frame):
    table = summarise(frame.drop("reason"), "micro_f1")
    assert table.failures == {}
    assert as_markdown([table]).count("–") == 3
