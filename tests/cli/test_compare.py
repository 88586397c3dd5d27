"""`labelrank compare` runs learners on folds and leaves cells, tables, tests and diagrams."""

import json
from dataclasses import replace

import polars as pl
import pytest

from labelrank.catalog import tables

TOPICS = ("grain", "oil", "trade")


@pytest.fixture
def texts(tmp_path):
    """Two files of texts that name their topics."""

    def document(i):
        topics = [TOPICS[i % 3]] + ([TOPICS[(i + 1) % 3]] if i % 2 else [])
        return " ".join(topics) + f" number{i % 5}", topics

    paths = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    for path, numbers in zip(paths, (range(24), range(30, 60))):
        found = ({"text": text, "labels": topics} for text, topics in map(document, numbers))
        path.write_text("".join(json.dumps(one) + "\n" for one in found))
    return paths


def finished(done):
    assert done.exit_code == 0, done.output
    return done


def refused(done, *words):
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("labelrank: ")
    assert done.stderr.count("\n") == 1
    assert all(word in done.stderr for word in words), done.stderr


def test_a_comparison_prints_tables_and_leaves_files(run, texts, tmp_path):
    out = tmp_path / "results"
    arguments = ["compare", *texts, "--learners", "nb,Rocchio", "--cv", 3, "--out", out, "-q"]
    done = finished(run(*arguments, "--criteria", "micro_f1,ranking_loss"))
    assert "micro F1 ↑" in done.stdout
    assert "Friedman over 2 data sets" in done.stdout
    assert "peak MiB ↓" in done.stdout
    cells = [json.loads(line) for line in (out / "cells.jsonl").read_text().splitlines()]
    assert len(cells) == 2 * 2 * 3
    assert {cell["learner"] for cell in cells} == {"NB", "Rocchio"}
    assert all(cell["fit_seconds"] > 0 for cell in cells)
    frame = pl.read_csv(out / "results.csv")
    assert frame.height == 12 * 5
    means = pl.read_csv(out / "tables.csv").filter(criterion="micro_f1", dataset="first")
    by_hand = frame.filter(criterion="micro_f1", dataset="first", learner="NB")["value"].mean()
    assert means.filter(learner="NB")["mean"].item() == pytest.approx(by_hand)
    assert pl.read_csv(out / "tests.csv")["test"].unique().sort().to_list() == ["Wilcoxon", "t"]
    assert "\\begin{tabular}" in (out / "tables.tex").read_text()
    assert (out / "tables.md").read_text().count("## ") == 5
    assert (out / "critical_difference_micro_f1.png").read_bytes()[1:4] == b"PNG"
    assert "<svg" in (out / "critical_difference_ranking_loss.svg").read_text()
    again = finished(run(*arguments, "--criteria", "one_error", "--json"))
    assert (out / "cells.jsonl").read_text().count("\n") == 12
    assert json.loads(again.stdout)[0]["criterion"] == "one_error"
    again = finished(run(*arguments[:-1], "--criteria", "one_error"))
    assert "12 of 12 cells are there already" in again.stderr
    drawn = sorted(path.name for path in out.glob("critical_difference_*"))
    assert drawn == ["critical_difference_one_error.png", "critical_difference_one_error.svg"]


@pytest.mark.parametrize(
    ("format", "mark"), [("markdown", "| learner |"), ("latex", "\\hline"), ("csv", "criterion,")]
)
def test_tables_are_printed_as_asked(run, texts, tmp_path, format, mark):
    arguments = ["compare", texts[0], "--learners", "NB", "--cv", 2, "-o", tmp_path / "out", "-q"]
    assert mark in finished(run(*arguments, "--format", format)).stdout


def test_learners_are_tuned_with_equal_budgets(run, texts, tmp_path):
    out = tmp_path / "out"
    finished(
        run("compare", texts[0], "--learners", "NB,Rocchio", "--cv", 2, "-o", out, "-q", "--tune",
            "--grid", "NB:alpha=0.01,1", "--set", "Rocchio:gamma=0.5")
    )  # fmt: skip
    cells = [json.loads(line) for line in (out / "cells.jsonl").read_text().splitlines()]
    chosen = {cell["learner"]: set(cell["settings"]) for cell in cells}
    assert chosen == {"NB": {"alpha"}, "Rocchio": {"gamma"}}
    assert all(cell["tune_seconds"] > 0 for cell in cells)


def test_a_learner_that_reads_texts_and_one_of_scikit_learn_take_part(run, texts, tmp_path):
    done = finished(
        run("compare", texts[0], "--learners", "compress,trees", "--cv", 2, "-o", tmp_path / "out",
            "-q", "--json")
    )  # fmt: skip
    assert json.loads(done.stdout)[0]["learners"] == ["compress", "trees"]


def test_one_data_set_shows_all_criteria_side_by_side(run, texts, tmp_path):
    arguments = ["compare", texts[0], "--learners", "NB,Rocchio", "--cv", 2, "-o", tmp_path / "out"]
    done = finished(run(*arguments, "-q", "--criteria", "micro_f1,one_error"))
    heading = next(line for line in done.stdout.splitlines() if line.lstrip().startswith("learner"))
    assert all(name in heading for name in ("micro F1 ↑", "one error ↓", "fit seconds ↓"))
    assert sum(line.lstrip().startswith("NB ") for line in done.stdout.splitlines()) == 1


def test_files_of_other_shapes_are_read_as_told(run, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("body,topics\n" + "wheat rye,grain;food\ncrude oil,oil\n" * 8)
    done = finished(
        run("compare", path, "--learners", "NB", "--cv", 2, "-o", tmp_path / "out", "--json", "-q",
            "--text-column", "body", "--label-column", "topics", "--label-delimiter", ";",
            "--criteria", "ranking_loss")
    )  # fmt: skip
    assert json.loads(done.stdout)[0]["mean"] == [[0.0]]


@pytest.mark.data
@pytest.mark.parametrize("name", ["solar-flare", "bridges"])
def test_targets_of_several_classes_are_compared_by_exact_match(run, tmp_path, name):
    done = finished(
        run("compare", name, "--learners", "IC,VCC", "--cv", 2, "-o", tmp_path, "--json", "-q")
    )
    tables = {table["criterion"]: table for table in json.loads(done.stdout)}
    assert list(tables)[:2] == ["exact_match", "hamming_score"]
    assert all(0.1 < mean < 1 for (mean,) in tables["exact_match"]["mean"])
    refused(run("compare", name, "--learners", "IC,BR", "-o", tmp_path), "BR", "chains")


@pytest.mark.data
def test_a_learner_that_refuses_a_data_set_is_marked_and_the_others_are_compared(run, tmp_path):
    out = tmp_path / "out"
    arguments = ["compare", "emotions", "scene", "--learners", "BR,MMP,NB", "--cv", 2, "-o", out]
    arguments += ["--criteria", "micro_f1"]
    done = run(*arguments)
    assert done.exit_code == 1, done.output
    last = done.stderr.splitlines()[-1]
    assert last.startswith("labelrank: 2 of 12 cells failed, first NB on emotions: Negative values")
    assert "--retry" in last
    assert "¹ NB on emotions: Negative values in data" in done.stdout
    assert "left out: NB" in done.stdout
    for name in ("tables.md", "tables.tex", "report.html"):
        assert (out / name).read_text().count("failed") >= 1, name
    rows = pl.read_csv(out / "tables.csv").filter(criterion="micro_f1", learner="NB")
    assert rows["failed"].str.contains("Negative").to_list() == [True, None]
    assert pl.read_csv(out / "results.csv")["reason"].drop_nulls().len() == 2 * 4
    assert (out / "critical_difference_micro_f1.svg").exists()
    stored = (out / "cells.jsonl").read_text()
    again = run(*arguments, "--json")
    assert again.exit_code == 1
    assert (out / "cells.jsonl").read_text() == stored
    first = json.loads(again.stdout)[0]
    assert first["mean"][2][0] is None
    assert first["failures"][0]["learner"] == "NB"
    assert first["ranked"] == ["BR", "MMP"]
    assert run(*arguments, "--retry", "-q").exit_code == 1
    assert (out / "cells.jsonl").read_text().count("\n") == 14


@pytest.mark.data
def test_the_official_split_has_one_cell_a_learner(run, tmp_path):
    arguments = ["compare", "--learners", "Rocchio", "-o", tmp_path, "--split", "official", "-q"]
    finished(run(*arguments, "emotions"))
    assert (tmp_path / "cells.jsonl").read_text().count("\n") == 1
    refused(run(*arguments, "solar-flare"), "solar-flare", "no official split")


def test_wrong_options_are_explained(run, texts, tmp_path, monkeypatch):
    without_grid = tuple(
        replace(entry, grid={}) if entry.name == "IC" else entry for entry in tables.ENTRIES
    )
    monkeypatch.setattr(tables, "ENTRIES", without_grid)
    start = ["compare", texts[0], "-o", tmp_path / "out"]
    for options, words in (
        (["--learners", "NB,NBB"], ["NBB", "did you mean"]),
        (["--learners", "NB,nb"], ["each once"]),
        (["--learners", "NB", "--criteria", "f2"], ["f2"]),
        (["--learners", "NB", "--cv", 3, "--split", "official"], ["one of them"]),
        (["--learners", "NB", "--format", "html"], ["markdown, latex, csv"]),
        (["--learners", "NB", "--set", "alpha=1"], ["LEARNER:NAME=VALUE"]),
        (["--learners", "NB", "--set", "BR:alpha=1"], ["LEARNER:NAME=VALUE"]),
        (["--learners", "NB,IC", "--tune"], ["IC has no grid of its own"]),
        (["--learners", "NB", "--representation", "soup", "--cv", 2], ["soup"]),
    ):
        refused(run(*start, *options), *words)


def test_a_place_that_cannot_be_written_is_named(run, texts):
    refused(
        run("compare", texts[0], "--learners", "NB", "-o", texts[1] / "out"), "second.jsonl/out"
    )
