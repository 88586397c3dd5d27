"""Every command does its work and says it in the form asked for."""

import json
import re

import numpy as np
import pytest

from labelrank import catalog, datasets, persistence
from labelrank.cli import COMMANDS


def lines(done):
    assert done.exit_code == 0, done.output
    return [json.loads(line, parse_constant=pytest.fail) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run, command):
    done = run(command, "--help")
    assert done.exit_code == 0
    assert "Usage:" in done.stdout
    assert command in run("--help").stdout


def test_learners_lists_the_catalog(run):
    done = run("learners")
    assert done.exit_code == 0
    assert all(name in done.stdout for name in catalog.names())
    assert [entry["name"] for entry in lines(run("learners", "--json"))[0]] == catalog.names()


def test_learners_describes_one_with_its_parameters(run):
    found = lines(run("learners", "br+", "--json"))[0]
    assert found["improves"] == "BR"
    assert found["parameters"]["averaging"] == "averaged"
    assert "'averaged'" in run("learners", "br+").stdout


def test_fit_saves_a_model_that_tags(run, news, tmp_path):
    path = tmp_path / "out.labelrank"
    told = lines(run("fit", news, "--out", path, "--json"))[0]
    assert told["n_documents"] == 4
    assert told["model"] == str(path)
    assert persistence.load(path).predict(["rye"]) == [["grain"]]


def test_fit_names_the_model_after_the_data(run, news, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("fit", news).exit_code == 0
    assert (tmp_path / "news.labelrank").is_file()


def test_fit_takes_learner_settings_and_terms(run, news, tmp_path):
    path = tmp_path / "out.labelrank"
    done = run(
        "fit", news, "-o", path, "-l", "br", "--set", "epochs=3", "--set", "init=zeros",
        "--representation", "set", "--max-terms", 5, "--seed", 7, "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    learner = persistence.load(path).learner_
    assert (learner.epochs, learner.init, learner.random_state) == (3, "zeros", 7)
    assert learner.n_features_in_ == 5


@pytest.mark.parametrize("threshold", ["0.5", "cardinality"])
def test_fit_cuts_the_ranking_as_asked(run, news, tmp_path, threshold):
    path = tmp_path / "out.labelrank"
    done = run("fit", news, "-o", path, "--threshold", threshold)
    assert done.exit_code == 0, done.output
    sizes = [len(labels) for labels in persistence.load(path).predict(["rye", "oil prices"])]
    assert sizes == [2, 2] if threshold == "cardinality" else max(sizes) <= 3


@pytest.mark.parametrize(
    ("learner", "threshold", "made"),
    [
        ("MMP", "0.5", "MulticlassMultilabelPerceptron"),
        ("MMP", "tuned", "ThresholdedRanker"),
        ("BR", "0.5", "ThresholdedRanker"),
    ],
)
def test_a_learner_with_a_threshold_of_its_own_keeps_it(
    run, news, tmp_path, learner, threshold, made
):
    told = lines(
        run("fit", news, "-o", tmp_path / "m", "-l", learner, "--threshold", threshold, "--json")
    )
    assert told[0]["learner"] == made


def test_options_say_where_labels_stand(run, tmp_path):
    table, arff, latin = (tmp_path / name for name in ("t.csv", "t.arff", "latin.csv"))
    table.write_text("x,y,rye,oats\n1,0,1,0\n0,1,0,1\n1,1,1,1\n")
    told = lines(
        run(
            "fit",
            table,
            "--label-column",
            "rye",
            "--label-column",
            "oats",
            "-o",
            tmp_path / "m",
            "--json",
        )
    )
    assert (told[0]["n_features"], told[0]["n_labels"]) == (2, 2)
    arff.write_text(
        "@relation t\n@attribute rye {0,1}\n@attribute x numeric\n@attribute y numeric\n"
        "@data\n1,1,0\n0,0,1\n"
    )
    told = lines(run("fit", arff, "--labels", 1, "--labels-first", "-o", tmp_path / "m", "--json"))
    assert (told[0]["n_features"], told[0]["n_labels"]) == (2, 1)
    latin.write_bytes("body;themen\nStraße;weg, ort\n".replace(";", "\t").encode("latin-1"))
    done = run(
        "convert", latin, tmp_path / "out.jsonl", "--format", "tsv", "--encoding", "latin-1",
        "--text-column", "body", "--label-column", "themen", "--label-delimiter", ", ", "--ordered",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    found = datasets.load(tmp_path / "out.jsonl")
    assert found.texts == ["Straße"]
    assert found.Y.toarray().tolist() == [[1.0, 2.0]]


def test_fit_reads_standard_input(run, news, tmp_path):
    path = tmp_path / "out.labelrank"
    done = run("fit", "-", "--format", "jsonl", "-o", path, stdin=news.read_bytes())
    assert done.exit_code == 0, done.output
    assert persistence.load(path).label_names_ == ["grain", "oil", "trade"]


def test_predict_prints_the_ranking_with_its_cut(run, model, tmp_path):
    (tmp_path / "new.txt").write_text("rye bread\n")
    done = run("predict", model, tmp_path / "new.txt")
    assert done.exit_code == 0, done.output
    assert "rye bread" in done.stdout
    ranked = next(line for line in done.stdout.splitlines() if "rye bread" in line)
    assert ranked.index("grain") < ranked.index("|") < ranked.index("oil")


def test_predict_gives_json_lines(run, model, news):
    found = lines(run("predict", model, news, "--json", "--top", 1))
    assert [line["id"] for line in found] == ["a", "b", "c", "d"]
    assert found[2]["labels"] == ["grain"]
    assert found[0]["labels"] == [place["label"] for place in found[0]["ranked"]]


def test_predict_reads_texts_from_standard_input(run, model):
    found = lines(run("predict", model, "-", "--format", "text", "--json", stdin="rye\noil\n"))
    assert [line["labels"] for line in found] == [["grain"], ["oil"]]


def test_predict_writes_a_file(run, model, news, tmp_path):
    out = tmp_path / "tags.jsonl"
    done = run("predict", model, news, "-o", out)
    assert done.exit_code == 0
    assert done.stdout == ""
    assert len(out.read_text(encoding="utf-8").splitlines()) == 4


def test_evaluate_gives_all_criteria(run, model, news):
    found = lines(run("evaluate", model, news, "--json"))[0]
    assert found["ranking_loss"] == 0.0
    assert found["micro_f1"] == 1.0
    assert "ranking loss" in run("evaluate", model, news).stdout


def test_evaluate_matches_labels_by_name_and_leaves_out_strange_ones(run, model, tmp_path):
    path = tmp_path / "few.jsonl"
    path.write_text('{"text": "rye", "labels": ["grain", "bread"]}\n')
    with pytest.warns(UserWarning, match="bread"):
        found = lines(run("evaluate", model, path, "--json"))[0]
    assert found["subset_accuracy"] == 1.0
    assert found["macro_auc"] is None


def test_evaluate_writes_a_page(run, model, news, tmp_path):
    page = tmp_path / "page.html"
    assert run("evaluate", model, news, "--report", page).exit_code == 0
    text = re.sub(r"</?mark>", "", page.read_text(encoding="utf-8"))
    assert "rye harvest near Łódź" in text


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl.gz"])
def test_convert_keeps_texts_and_labels(run, news, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    done = run("convert", news, out)
    assert done.exit_code == 0, done.output
    before, after = datasets.load(news), datasets.load(out)
    assert after.texts == before.texts
    assert after.label_names == before.label_names
    np.testing.assert_array_equal(after.Y.toarray(), before.Y.toarray())


@pytest.mark.parametrize("ending", ["svm", "npz", "arff"])
def test_matrices_are_fitted_and_tagged_in_every_format(run, tmp_path, ending):
    source, data, path = (tmp_path / name for name in ("in.svm", f"data.{ending}", "m.labelrank"))
    source.write_text("0,1 1:1 3:0.5\n1 2:1\n0 1:1\n")
    assert lines(run("convert", source, data, "--json"))[0]["labels"] == 2
    done = run("fit", data, "-o", path)
    assert done.exit_code == 0, done.output
    assert len(lines(run("predict", path, data, "--json"))) == 3


def test_a_test_file_with_fewer_features_is_widened(run, tmp_path):
    train, test, path = (tmp_path / name for name in ("a.svm", "b.svm", "m.labelrank"))
    train.write_text("0 1:1 9:1\n1 2:1\n")
    test.write_text("0 1:1\n")
    assert run("fit", train, "-o", path).exit_code == 0
    assert lines(run("predict", path, test, "--json"))[0]["labels"] == ["0"]


def test_datasets_lists_names_and_says_which_are_here(run):
    found = {each["name"]: each for each in lines(run("datasets", "--json"))[0]}
    assert set(found) == set(datasets.names())
    assert found["debtags-sample"]["available"] is True


def test_datasets_describes_names_and_files(run, news):
    assert lines(run("datasets", "debtags-sample", "--json"))[0]["instances"] == 5000
    assert lines(run("datasets", news, "--json"))[0]["cardinality"] == 1.5
    assert "cardinality" in run("datasets", news).stdout


def test_named_sets_are_missing_without_their_folder(run, tmp_path, monkeypatch):
    monkeypatch.setenv("LABELRANK_DATA", str(tmp_path))
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path))
    found = {each["name"]: each for each in lines(run("datasets", "--json"))[0]}
    assert found["yeast"]["available"] is False
    states = {each["name"]: each["available"] for each in lines(run("reproduce", "--json"))[0]}
    assert states["mlpp-rcv1"] is False


@pytest.mark.data
def test_fit_learns_the_training_part_and_evaluate_uses_the_test_part(run, tmp_path):
    path = tmp_path / "yeast.labelrank"
    assert lines(run("fit", "yeast", "-o", path, "--json"))[0]["n_documents"] == 1500
    assert len(lines(run("predict", path, "yeast", "--json"))) == 917
    assert len(lines(run("predict", path, "yeast", "--json", "--part", "all"))) == 2417


def test_reproduce_lists_experiments(run):
    done = run("reproduce")
    assert done.exit_code == 0
    assert "mlpp-rcv1" in done.stdout
    assert "Table II" in done.stdout


def test_reproduce_says_what_it_lacks(run, tmp_path, monkeypatch):
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path))
    monkeypatch.setenv("LABELRANK_DATA", "")
    out = tmp_path / "records.jsonl"
    done = run("reproduce", "mlpp-rcv1", "--data", tmp_path, "--json", "-q", "-o", out)
    assert done.exit_code == 2
    assert "mlpp-rcv1 was not measured" in done.stderr
    record = json.loads(done.stdout)
    assert record["verdict"] == "not available"
    assert "rcv1v2" in record["note"]
    assert out.read_text() == done.stdout


@pytest.mark.data
def test_reproduce_prints_published_and_ours(run):
    found = lines(run("reproduce", "cmlpc-rcv1", "--json", "-q"))
    ours = {(record["row"], record["column"]): record for record in found}
    assert ours["BR", "AvgPrec %"]["published"] == 88.23
    assert 70 < ours["BR", "AvgPrec %"]["ours"] < 95
    table = run("reproduce", "cmlpc-rcv1", "-q").stdout
    assert "published" in table
    assert "88.23" in table


def test_demo_leaves_a_model_and_a_page(run, tmp_path):
    done = run("demo", "--out", tmp_path / "out", "--json", "-q")
    found = lines(done)[0]
    assert found["criteria"]["micro_f1"] > 0.55
    page = (tmp_path / "out" / "results.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert not re.search(r"src=|href=\"[^#]|url\(|@import|fetch\(", page)
    tagger = persistence.load(found["model"])
    assert "use::gameplaying" in tagger.predict(["A strategy game with war and armies"])[0]


def test_demo_shows_ranked_labels_of_three_documents(run, tmp_path):
    done = run("demo", "-o", tmp_path / "out", "-q")
    assert done.exit_code == 0, done.output
    assert done.stdout.count(" | ") >= 3
    assert "ranking loss" in done.stdout
    assert "results.html" in done.stdout


@pytest.mark.parametrize(("learner", "kinds"), [("CMLPC", ["primal", "dual"]), ("BR", ["linear"])])
def test_a_dry_run_forecasts_and_writes_nothing(run, tmp_path, learner, kinds):
    target = tmp_path / "m.labelrank"
    done = run("fit", "debtags-sample", "--dry-run", "--json", "-l", learner, "-o", target)
    assert done.exit_code == 0, done.output
    found = json.loads(done.output.splitlines()[-1])
    assert found["labels"] == 95
    assert all("GiB" in found[kind] for kind in kinds)
    assert not target.exists()
