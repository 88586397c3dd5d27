"""What `evaluate` says first."""

import json

import numpy as np
import pytest

from labelrank import datasets, metrics, persistence
from labelrank.evaluation.verdict import CHIEF
from labelrank.report import words


def test_one_sentence_comes_first_then_five_criteria_beside_a_guess(run, model, news):
    done = run("evaluate", model, news)
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    assert told.startswith("1.50 of 1.50 labels found per document, 0 of 100 suggestions wrong;")
    assert "guessing by frequency would find 1.50 of 1.50, 5 of 10 wrong." in told
    assert all(words(name) in told for name in CHIEF)
    assert "hamming" not in told
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_all_criteria_are_shown_on_request(run, model, news):
    assert "hamming loss" in run("evaluate", model, news, "--all").stdout


def test_programs_get_all_criteria_as_before(run, model, news):
    found = json.loads(run("evaluate", model, news, "--json").stdout)
    assert found["hamming_loss"] == 0.0
    assert all(isinstance(value, float | None) for value in found.values())


def test_several_models_are_weighed_in_one_table(run, model, news):
    done = run("evaluate", model, news, "--threshold", 9)
    assert "cut at 9" in done.stdout
    assert "guessing" in done.stdout
    assert "1.0000 *" in done.stdout


@pytest.mark.parametrize("command", ["evaluate", "demo"])
def test_a_person_reads_it_at_eighty_columns(run, model, news, tmp_path, command):
    arguments = {"evaluate": [model, news], "demo": ["-o", tmp_path / "out", "-q"]}
    lines = run(command, *arguments[command]).stdout.splitlines()
    assert [line for line in lines if len(line) > 80 and str(tmp_path) not in line] == []


def many(tmp_path, n=5000, name="many.jsonl"):
    """Labelled texts, more than one batch of them."""
    rng = np.random.default_rng(0)
    words = ["rye", "oil", "wheat", "crude", "harvest", "sea"]
    lines = []
    for k in range(n):
        text = " ".join(rng.choice(words, 3))
        labels = [name for name in ("grain", "oil", "trade") if rng.random() < 0.4]
        lines.append(json.dumps({"id": k, "text": text, "labels": labels}))
    path = tmp_path / name
    path.write_text("\n".join(lines))
    return path


def judged(run, model, data, *options):
    done = run("evaluate", model, data, "--json", "--unlabelled", "none", *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_batches_and_jobs_give_the_criteria_of_the_whole(run, model, tmp_path):
    data = many(tmp_path)
    options = ("--threshold", 0.25, "--beside", model)
    found = judged(run, model, data, *options)
    assert judged(run, model, data, *options, "--jobs", 2) == found
    whole = judged(run, model, data, *options, "--report", tmp_path / "r.html", "--examples", 0)
    assert list(found) == list(whole) == ["news", "cut at 0.25", str(model)]
    for name, values in whole.items():
        assert found[name] == pytest.approx(values, rel=1e-12)
    tagger, dataset = persistence.load(model), datasets.load(data)
    Y = dataset.Y[:, [dataset.label_names.index(name) for name in tagger.label_names_]]
    expected = metrics.evaluate(Y, tagger.decision_function(dataset.texts), 0.25)
    assert found["cut at 0.25"] == pytest.approx(expected, rel=1e-12)


def test_labels_that_only_some_batches_have_are_told_once(run, model, tmp_path):
    data = many(tmp_path, 2500)
    with data.open("a") as file:
        file.write('\n{"text": "rye", "labels": ["bread"]}')
    with pytest.warns(UserWarning, match=r"1 label\(s\) .* bread") as heard:
        judged(run, model, data)
    assert len(heard) == 1


def test_a_split_column_leaves_the_test_rows(run, model, tmp_path):
    path = tmp_path / "parts.jsonl"
    rows = [("train", "rye", "oil"), ("test", "rye", "grain"), ("test", "oil", "oil")]
    path.write_text(
        "\n".join(json.dumps({"split": s, "text": t, "labels": [x]}) for s, t, x in rows)
    )
    assert judged(run, model, path)["micro_f1"] == 1.0
    assert judged(run, model, path, "--part", "all")["micro_f1"] < 1.0
    done = run("predict", model, path, "--json")
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    "content", ["", '{"text": "rye"}\n', '{"text": "rye", "labels": ["bread"]}']
)
def test_data_that_say_nothing_are_refused(run, model, tmp_path, content):
    path = tmp_path / "in.jsonl"
    path.write_text(content)
    done = run("evaluate", model, path)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "in" in done.stderr
