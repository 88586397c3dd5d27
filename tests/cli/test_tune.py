"""`labelrank tune` finds the setting that is best on held-out documents."""

import json
from dataclasses import replace

import numpy as np
import pytest

from labelrank import persistence
from labelrank.catalog import tables
from labelrank.cli.models import grid
from labelrank.cli.tune import _least


def lines(done):
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def noisy(tmp_path):
    """Texts of one topic word each among noise; one in five labels is wrong: one neighbour errs."""
    random = np.random.default_rng(0)
    path = tmp_path / "noisy.jsonl"
    topics = ["grain", "oil", "trade"]
    with path.open("w") as file:
        for i in range(240):
            topic = topics[i % 3]
            label = topic if random.random() < 0.8 else topics[(i + 1) % 3]
            noise = " ".join(f"word{j}" for j in random.integers(0, 30, 6))
            file.write(json.dumps({"text": f"{topic} {topic} {noise}", "labels": [label]}) + "\n")
    return path


def test_more_neighbours_win_on_noisy_labels(run, noisy):
    grid = "n_neighbors=1,2,25"
    told = lines(run("tune", noisy, "-l", "kNN", "--grid", grid, "--json", "-q"))
    assert told["best"] == {"n_neighbors": 25}
    first = {t["settings"]["n_neighbors"]: t["score"] for t in told["tried"] if t["round"] == 0}
    assert first[25] > first[1]


def test_rounds_halve_the_settings_and_grow_the_documents(run, noisy):
    told = lines(run("tune", noisy, "-l", "kNN", "--folds", 2, "--factor", 2, "--json", "-q"))
    rounds = {}
    for tried in told["tried"]:
        rounds.setdefault(tried["round"], []).append(tried["documents"])
    assert [len(rounds[r]) for r in sorted(rounds)] == [8, 4, 2, 1]
    assert [rounds[r][0] for r in sorted(rounds)] == [30, 60, 120, 240]


def test_the_best_model_is_saved(run, noisy, tmp_path):
    path = tmp_path / "best.labelrank"
    told = lines(
        run("tune", noisy, "-l", "NB", "--grid", "alpha=0.01,1", "-o", path, "--json", "-q")
    )
    model = persistence.load(path)
    assert model.learner_.alpha == told["best"]["alpha"]
    assert model.predict(["oil oil"]) == [["oil"]]


@pytest.mark.parametrize("learner", ["compress", "trees", "LP"])
def test_texts_and_learners_of_scikit_learn_can_be_tuned(run, noisy, learner):
    done = run("tune", noisy, "-l", learner, "--scorer", "micro_f1", "-q")
    assert done.exit_code == 0, done.output
    assert "best" in done.stdout


def test_wrong_grids_are_explained(run, noisy):
    for given, sentence in (
        ("alpha", "write --grid NAME=V1,V2"),
        ("beta=1,2", "no parameter 'beta'"),
    ):
        done = run("tune", noisy, "-l", "NB", "--grid", given)
        assert done.exit_code == 2
        assert sentence in done.stderr


def test_a_learner_without_a_grid_asks_for_one(run, noisy, monkeypatch):
    without_grid = tuple(replace(entry, grid={}) for entry in tables.ENTRIES)
    monkeypatch.setattr(tables, "ENTRIES", without_grid)
    done = run("tune", noisy, "-l", "IC")
    assert done.exit_code == 2
    assert "no grid of its own" in done.stderr


def test_values_of_a_grid_are_typed():
    assert grid("kNN", ["n_neighbors=1,5", "weights=uniform"]) == {
        "n_neighbors": [1, 5],
        "weights": ["uniform"],
    }


def test_the_last_round_has_all_documents():
    assert _least(900, {"a": [1] * 9}, 3, 3, None) == 100
    assert _least(900, {"a": [1]}, 3, 3, None) == 900
    assert _least(20, {"a": [1] * 9}, 3, 3, None) == 12
    assert _least(900, {"a": [1] * 9}, 3, 3, 50) == 50
