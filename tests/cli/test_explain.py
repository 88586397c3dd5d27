"""Reasons on the command line sum to the score."""

import json

import pytest

from labelrank import persistence

LINES = """\
{"text": "wheat and rye prices", "labels": ["grain", "trade"]}
{"text": "crude oil prices", "labels": ["oil", "trade"]}
{"text": "rye harvest", "labels": ["grain"]}
{"text": "oil tankers", "labels": ["oil"]}
{"text": "wheat fields", "labels": ["grain"]}
{"text": "oil wells", "labels": ["oil"]}
"""


@pytest.fixture(params=["BR+", "BR", "CMLPC"])
def model(request, run, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_text(LINES, encoding="utf-8")
    path = tmp_path / "m.labelrank"
    done = run("fit", lines, "-o", path, "-q", "--learner", request.param)
    assert done.exit_code == 0, done.output
    return path


def explained(run, model, *options):
    done = run(
        "explain", model, "-", "--format", "text", "--json", *options, stdin="rye and oil prices\n"
    )
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.output.splitlines()]


def test_contributions_sum_to_the_margin(run, model):
    for found in explained(run, model, "--label", "oil", "--label", "grain"):
        total = sum(one["contribution"] for one in found["features"]) + found["constant"]
        assert total == pytest.approx(found["margin"], abs=1e-5)


def test_a_label_over_another_is_the_opposite_of_the_other_over_it(run, model):
    one = explained(run, model, "--label", "oil", "--over", "grain")[0]
    other = explained(run, model, "--label", "grain", "--over", "oil")[0]
    assert one["margin"] == pytest.approx(-other["margin"])
    assert {f["feature"] for f in one["features"]} <= {"rye", "and", "oil", "prices"}


def test_the_margin_of_a_tuned_linear_model_is_its_score(run, tmp_path):
    lines, path = tmp_path / "lines.jsonl", tmp_path / "m.labelrank"
    lines.write_text(LINES, encoding="utf-8")
    assert run("fit", lines, "-o", path, "-q", "--threshold", "tuned").exit_code == 0
    found = explained(run, path, "--label", "oil")[0]
    tagger = persistence.load(path)
    score = tagger.decision_function(["rye and oil prices"])[0, tagger.label_names_.index("oil")]
    assert found["margin"] == pytest.approx(score, abs=1e-5)


def test_a_person_sees_a_table(run, model):
    done = run("explain", model, "-", "--format", "text", "--label", "oil", stdin="oil\n")
    assert done.exit_code == 0, done.output
    assert "sum" in done.output


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--label", "gold"], "label 'gold', which the model does not know; it knows grain, oil"),
     (["--label", "grian"], "did you mean grain?"), (["--over", "oli"], "did you mean oil?"),
     (["--row", "9"], "--row 9")],
)  # fmt: skip
def test_what_is_not_there_is_named(run, model, options, message):
    done = run("explain", model, "-", "--format", "text", *options, stdin="oil\n")
    assert done.exit_code == 2
    assert message in done.output


def fitted(run, tmp_path, *options):
    data, path = tmp_path / "t.csv", tmp_path / "t.labelrank"
    rows = ["colour,size,title,labels"]
    for k in range(40):
        warm = k % 2
        rows.append(f"{'red' if warm else 'blue'},{k % 7},a {'sun' if warm else 'sea'} picture,"
                    + ("warm" if warm else "cold;wet"))  # fmt: skip
    data.write_text("\n".join(rows))
    learner = [] if "--learner" in options else ["-l", "BR+"]
    done = run("fit", data, "-o", path, "-q", *learner, *options)
    assert done.exit_code == 0, done.output
    return data, path


def test_reasons_of_a_table_are_in_its_own_columns(run, tmp_path):
    data, path = fitted(run, tmp_path, "--column", "title=ignore")
    done = run("explain", path, data, "--row", 2, "--label", "warm", "--json")
    assert done.exit_code == 0, done.output
    names = {one["feature"] for one in json.loads(done.output)["features"]}
    assert "colour = red" in names
    assert names <= {"colour = red", "colour = blue", "size"}
    assert "colour = red" in run("explain", path, data, "--row", 2, "--label", "warm").output


def test_reasons_of_several_texts_name_the_column(run, tmp_path):
    data, path = fitted(run, tmp_path, "--column", "title=text", "--column", "colour=text")
    done = run("explain", path, data, "--row", 2, "--label", "warm", "--json")
    assert done.exit_code == 0, done.output
    names = {one["feature"] for one in json.loads(done.output)["features"]}
    assert {"title: sun", "colour: red"} <= names


def test_a_model_without_reasons_says_which_has_some(run, tmp_path):
    data, path = fitted(run, tmp_path, "--learner", "MLkNN")
    done = run("explain", path, data, "--row", 2)
    assert done.exit_code == 2
    assert "gives no reasons; learn one that does by labelrank fit --fast" in done.stderr
