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
    assert len(done.stdout.splitlines()) == 3  # all rows are answered


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


@pytest.mark.parametrize("kind", ["texts", "table", "matrix"])
def test_rows_that_were_learned_are_told_from_others_of_the_source(run, tmp_path, kind):
    random = np.random.default_rng(0)
    head, rows = written(kind, random, 300)
    learned, ending = rows[:200], ".svm" if kind == "matrix" else ".csv"
    shuffled = random.permutation(learned).tolist()
    files = {"train": learned, "shuffled": shuffled, "some": shuffled[:40], "new": rows[200:]}
    for name, lines in files.items():
        (tmp_path / f"{name}{ending}").write_text("\n".join([*head, *lines]) + "\n")
    model = tmp_path / "m"
    done = run("fit", tmp_path / f"train{ending}", "-o", model, "-q", "-l", "BR+")
    assert done.exit_code == 0, done.output
    for name in files:
        done = run("evaluate", model, tmp_path / f"{name}{ending}", "--json", "-q")
        assert done.exit_code == 0, done.output
        assert ("most of these rows are ones that m learned from" in done.stderr) == (name != "new")
        assert json.loads(done.stdout)


def written(kind, random, n):
    """Lines of labelled rows, with the heading they have."""
    sign = random.random(n) < 0.5
    if kind == "matrix":
        rows = random.normal(size=(n, 4)) + sign[:, None]
        cells = (" ".join(f"{j + 1}:{x:.4f}" for j, x in enumerate(row)) for row in rows)
        return [], [f"{int(s)} {line}" for s, line in zip(sign, cells)]
    if kind == "table":
        sizes = random.normal(size=(n, 2)) + sign[:, None]
        colours = random.choice(["red", "blue"], n)
        return ["width,height,colour,labels"], [
            f"{a:.3f},{b:.3f},{c},{'rose' if s else 'tulip'}"
            for (a, b), c, s in zip(sizes, colours, sign)
        ]
    words = [" ".join(f"w{k}" for k in random.integers(0, 60, 8)) for _ in range(n)]
    return ["text,labels"], [f"{w},{'rose' if s else 'tulip'}" for w, s in zip(words, sign)]


def test_a_report_on_rows_that_were_learned_says_so_too(run, model, news, tmp_path):
    done = run("evaluate", model, news, "--report", tmp_path / "r.html", "--beside", model)
    assert done.exit_code == 0, done.output
    told = "most of these rows are ones that news and"
    assert told in done.stderr
    assert told in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", ["", "text,labels\n"])
@pytest.mark.parametrize("options", [[], ["--report", "r.html"]])
def test_a_file_without_rows_is_refused_in_one_sentence(
    run, model, tmp_path, monkeypatch, content, options
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.csv").write_text(content)
    done = run("evaluate", model, "none.csv", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith("labelrank: none.csv: ")
    assert done.stderr.count("\n") == 1
    assert "no labelled row" in done.stderr or "no record" in done.stderr or "empty" in done.stderr
