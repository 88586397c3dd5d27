"""Targets of several classes each: a chain learns, answers, is judged and drawn by commands."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from labelrank import TargetColumns, ViterbiClassifierChain, catalog, metrics, persistence
from labelrank.datasets import load
from labelrank.datasets.targets import as_labels
from labelrank.errors import InputError

MEKA = """@relation 'weather: -C 2'
@attribute sky {blue,grey}
@attribute wind {none,some,much}
@attribute pressure numeric
@attribute heat numeric
@data
"""


@pytest.fixture
def weather(tmp_path):
    random = np.random.default_rng(0)
    lines = []
    for _ in range(60):
        pressure, heat = random.normal(size=2).round(3)
        wind = ("none", "some", "much")[int(np.clip(round(heat + 1), 0, 2))]
        lines.append(f"{'blue' if pressure > 0 else 'grey'},{wind},{pressure},{heat}")
    path = tmp_path / "weather.arff"
    path.write_text(MEKA + "\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(run, weather, tmp_path):
    path = tmp_path / "weather.labelrank"
    done = run("fit", weather, "-l", "VCC", "-o", path, "-q")
    assert done.exit_code == 0, done.output
    return path


def test_targets_become_labels_and_keep_what_is_unknown(weather):
    data = as_labels(load(weather))
    assert data.label_names == ["sky=blue", "sky=grey", "wind=none", "wind=some", "wind=much"]
    assert data.target_classes is None
    assert (np.add.reduceat(data.Y.toarray(), [0, 2], axis=1) == 1).all()
    assert as_labels(data) is data


def test_a_chain_of_targets_answers_as_in_python_and_is_judged_alike(run, weather, model, tmp_path):
    data = load(weather)
    learner = catalog.make("VCC", seed=0, targets="classes").fit(data.X, np.asarray(data.Y))
    path = learner.predict(data.X)
    done = run("predict", model, weather, "-o", tmp_path / "out.jsonl")
    assert done.exit_code == 0, done.output
    for line, codes in zip((tmp_path / "out.jsonl").read_text().splitlines(), path, strict=True):
        named = {
            f"{target}={classes[int(code)]}"
            for target, classes, code in zip(data.label_names, data.target_classes, codes)
        }
        assert set(json.loads(line)["labels"]) == named
    done = run("evaluate", model, weather, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["exact_match"] == pytest.approx(metrics.exact_match(data.Y, path))
    assert found["hamming_score"] == pytest.approx(metrics.hamming_score(data.Y, path))


def test_the_trellis_is_drawn_with_the_names_of_targets_and_classes(run, weather, model, tmp_path):
    picture = tmp_path / "paths.svg"
    done = run("explain", model, weather, "--row", 2, "--trellis", picture)
    assert done.exit_code == 0, done.output
    ET.parse(picture)
    for name in ("sky", "wind", "blue", "much"):
        assert f"<!-- {name} -->" in picture.read_text()
    refused = run("explain", model, weather, "--trellis", tmp_path / "paths.doc")
    assert "ends in .svg" in refused.stderr


def test_what_is_no_chain_cannot_learn_targets(run, weather, tmp_path):
    done = run("fit", weather, "-l", "BR", "-o", tmp_path / "m")
    assert done.exit_code != 0
    assert "use a chain" in done.stderr
    plain = tmp_path / "news.csv"
    plain.write_text("text,labels\nrye,grain\noil,fuel\n")
    assert run("fit", plain, "-l", "BR", "-o", tmp_path / "m", "-q").exit_code == 0
    done = run("explain", tmp_path / "m", plain, "--trellis", tmp_path / "t.svg")
    assert "has no paths" in done.stderr


def test_columns_of_targets_are_kept_by_a_model_file(tmp_path):
    random = np.random.default_rng(1)
    X = random.normal(size=(40, 3))
    Y = np.column_stack([X[:, :1] > 0, X[:, :1] <= 0, np.eye(3)[X[:, 1:].argmax(axis=1)]])
    Y[:3, 2:] = np.nan
    learner = TargetColumns(ViterbiClassifierChain(random_state=0), sizes=(2, 3)).fit(X, Y)
    loaded = persistence.load(persistence.save(learner, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict(X), learner.predict(X))
    np.testing.assert_array_equal(loaded.rank(X), learner.rank(X))
    assert (learner.predict(X)[:, :2].sum(axis=1) == 1).all()
    with pytest.raises(InputError, match="sum to the columns"):
        TargetColumns(ViterbiClassifierChain(), sizes=(2, 2)).fit(X, Y)


def test_fit_without_options_learns_targets_and_answers_one_class_of_each(run, weather, tmp_path):
    model = tmp_path / "auto.labelrank"
    done = run("fit", weather, "-o", model)
    assert done.exit_code == 0, done.output
    assert "hamming score" in " ".join(done.stdout.split())
    answered = run("predict", model, weather, "-o", tmp_path / "out.jsonl")
    assert answered.exit_code == 0, answered.output
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        told = json.loads(line)["labels"]
        assert sorted(label.partition("=")[0] for label in told) == ["sky", "wind"]
    told = run("evaluate", model, weather).stdout
    assert "exact match" in told
    found = json.loads(run("evaluate", model, weather, "--json").stdout)
    assert found["hamming_score"] > 0.9
    assert 0.8 < found["exact_match"] <= found["hamming_score"]


def test_unknown_targets_are_left_out_of_exact_match_and_hamming_score(run, weather, tmp_path):
    lines = weather.read_text().splitlines()
    start = lines.index("@data") + 1
    for k in range(start, len(lines), 2):
        sky, _, rest = lines[k].split(",", 2)
        lines[k] = f"{sky},?,{rest}"
    weather.write_text("\n".join(lines) + "\n")
    model = tmp_path / "gaps.labelrank"
    assert run("fit", weather, "-l", "IC", "-o", model, "-q").exit_code == 0
    data = load(weather)
    path = catalog.make("IC", seed=0, targets="classes").fit(data.X, data.Y).predict(data.X)
    found = json.loads(run("evaluate", model, weather, "--json").stdout)
    assert found["exact_match"] == pytest.approx(metrics.exact_match(data.Y, path))
    assert found["hamming_score"] == pytest.approx(metrics.hamming_score(data.Y, path))


def test_a_criterion_of_targets_asks_for_such_data(run, weather, tmp_path):
    plain = tmp_path / "news.csv"
    plain.write_text("text,labels\nrye,grain\noil,fuel\n")
    done = run("fit", plain, "--criterion", "exact_match", "-o", tmp_path / "m")
    assert done.exit_code != 0
    assert "use subset_accuracy" in " ".join(done.stderr.split())
    lone = ("fit", weather, "--criterion", "exact_match", "--fast", "-o", tmp_path / "m", "--json")
    assert json.loads(run(*lone).stdout)["held_out"]["criterion"] == "exact_match"


def test_missing_features_of_targets_are_filled_in(weather):
    lines = weather.read_text().splitlines()
    cells = lines[-1].split(",")
    lines[-1] = ",".join([*cells[:2], "?", cells[3]])
    weather.write_text("\n".join(lines) + "\n")
    table = as_labels(load(weather)).table
    assert list(table) == ["pressure", "heat"]
    assert np.isnan(table["pressure"]).sum() == 1


def learned_more(run, tmp_path, header, rows, *options):
    """A model is fitted on the rows, evaluated on them and taught them once more."""
    data, model = tmp_path / "rows.csv", tmp_path / "rows.labelrank"
    data.write_text("\n".join([header, *rows]) + "\n")
    names, learner = options[:-1], options[-1]
    assert run("fit", data, *names, "--learner", learner, "-o", model, "-q").exit_code == 0
    for options in ((), names):
        done = run("evaluate", model, data, "--json", *options)
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["subset_accuracy"] == 1.0
        more = tmp_path / "more.labelrank"
        done = run("learn", model, data, "-o", more, *options)
        assert done.exit_code == 0, done.output
        assert persistence.load(more).label_names_ == persistence.load(model).label_names_


def test_columns_of_classes_are_learned_and_judged_again(run, tmp_path):
    rows = ["red apple here,high,high", "blue sky there,low,high", "red apple now,high,low",
            "blue sea now,low,low"] * 5  # fmt: skip
    learned_more(run, tmp_path, "text,y1,y2", rows, "--labels", 2, "IC")


def test_pooled_columns_are_learned_and_judged_again(run, tmp_path):
    rows = ["red apple pie,food,", "blue sea ship,water,travel", "hot soup bowl,food,travel"] * 8
    learned_more(run, tmp_path, "text,label1,label2", rows, "--label-column", "label*", "BSVM")
