"""What `fit` says of the data it has read, and which rows it learns."""

import json

import numpy as np
import pytest

from labelrank import LabelCodes, persistence

ROWS = [
    ("wheat prices rise", "Grain;trade"),
    ("rye harvest", "grain"),
    ("rye harvest", "grain"),
    ("oil wells", "oil"),
    ("", "oil"),
    ("oil prices", "oil;trade"),
    ("nothing known", ""),
    ("nothing known either", ""),
    ("tin", "metal"),
]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text("text,labels\n" + "".join(f"{text},{labels}\n" for text, labels in ROWS))
    return path


def read(run, *arguments):
    done = run("fit", *arguments, "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["read"]


def test_fit_tells_programs_what_it_has_read(run, table):
    found = read(run, table)
    assert (found["rows"], found["labels"], found["unlabelled_rows"]) == (9, 5, 2)
    assert found["labels_per_row"] == pytest.approx(9 / 7)
    assert found["spelled_alike"] == [["Grain", "grain"]]
    assert (found["labels_met_once"], found["empty_texts"], found["repeated_rows"]) == (2, 1, 1)
    assert found["labels_name_rows"] is False


def test_fit_tells_people_what_it_has_read_and_how_to_mend_it(run, table, tmp_path):
    done = run("fit", table, "-o", tmp_path / "m")
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    assert "9 rows, 5 labels, 1.29 labels per labelled row" in told
    assert "1 label like another but for case or spaces, such as 'Grain' and 'grain'" in told
    for option in ("--merge-spellings", "--unlabelled"):
        assert option in told
    assert "1 text empty" in told
    assert "1 row the same as an earlier one" in told
    assert "2 labels met in one row only" in told
    assert [x for x in done.stdout.splitlines() if len(x) > 80 and str(tmp_path) not in x] == []


def test_a_label_column_that_names_the_rows_is_told(run, tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("text,number\n" + "".join(f"word {k} and,N{k}\n" for k in range(30)))
    done = run("fit", path, "--label-column", "number", "--dry-run")
    told = " ".join(done.stdout.split())
    assert "warning: 30 labels in 30 rows: the label column seems to name the rows" in told
    assert "--label-column" in told


@pytest.mark.parametrize(("way", "learned"), [("skip", 7), ("none", 9)])
def test_rows_without_labels_are_learned_as_asked(run, table, tmp_path, way, learned):
    done = run("fit", table, "--unlabelled", way, "-o", tmp_path / "m", "-q")
    assert done.exit_code == 0, done.output
    assert persistence.load(tmp_path / "m").summary_["n_documents"] == learned


def test_a_way_to_take_unlabelled_rows_is_one_of_two(run, table):
    done = run("fit", table, "--unlabelled", "drop")
    assert done.exit_code == 2
    assert "skip or none" in done.stderr


def test_every_command_leaves_rows_without_labels_out_alike(run, table, model, tmp_path):
    given = ["--unlabelled", "skip"]
    with pytest.warns(UserWarning, match="Grain, metal"):
        told = run("evaluate", model, table, *given).stdout
    assert "7 documents" in told
    done = run("learn", tmp_path / "m", table, *given, "-l", "BR", "--batch", 1)
    assert "learned 7 examples" in done.stdout


def test_a_quiet_fit_says_nothing(run, table, tmp_path):
    assert run("fit", table, "-o", tmp_path / "m", "-q").stdout == ""


def test_codes_come_from_other_label_data(run, tmp_path):
    news, more = tmp_path / "news.csv", tmp_path / "more.jsonl"
    news.write_text("text,labels\nrye and oats,grain\noil,fuel;energy\nrye,grain\ncoal,energy\n")
    # Other documents, with labels of which one is not in the news, in another order.
    lists = [["energy", "fuel"], ["grain", "bread"], ["fuel"], ["energy", "grain"]] * 3
    lines = [{"text": f"text {i}", "labels": labels} for i, labels in enumerate(lists)]
    more.write_text("\n".join(map(json.dumps, lines)))
    for name, at in (("EP-PLM", ""), ("bagged EP-PLM", "estimator__")):
        options = (f"{at}n_components=2", f'{at}code_scale="none"', f"{at}epochs=2")
        sets = [word for option in options for word in ("--set", option)]
        done = run("fit", news, "-l", name, *sets, "--codes-from", more, "-o", tmp_path / "m", "-q")
        assert done.exit_code == 0, done.stderr
        learner = persistence.load(tmp_path / "m").learner_
        assert persistence.load(tmp_path / "m").label_names_ == ["energy", "fuel", "grain"]
        Y = [[int(name in labels) for name in ("energy", "fuel", "grain")] for labels in lists]
        inner = learner.estimators_[0] if at else learner
        np.testing.assert_allclose(inner.codes_, LabelCodes(2, scale="none").fit(Y).codes_)
    refused = run("fit", news, "-l", "BR", "--codes-from", more)
    assert refused.exit_code != 0
    assert "EP-PLM" in refused.stderr


@pytest.mark.parametrize("name", ["SVM-poly", "SVM-rbf"])
def test_machines_with_kernels_are_fitted_saved_and_used(run, table, tmp_path, name):
    model = tmp_path / "news.labelrank"
    assert run("fit", table, "-l", name, "-o", model, "-q").exit_code == 0
    done = run("predict", model, table, "-o", tmp_path / "out.jsonl")
    assert done.exit_code == 0, done.stderr
    rye = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[1])
    assert rye["ranked"][0]["label"] == "grain"
