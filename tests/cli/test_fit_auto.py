"""`labelrank fit --learner auto`: by what, in what time, and what was tried."""

import json

from labelrank import persistence


def test_the_trials_are_told_and_the_model_saved(run, tmp_path):
    path = tmp_path / "out.labelrank"
    done = run(
        "fit", "debtags-sample", "-o", path, "-l", "auto", "--criterion", "ranking_loss",
        "--budget", 60, "--max-terms", 500, "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    trials = json.loads(done.stdout)["trials"]
    assert all(0 <= trial["score"] <= 1 for trial in trials if trial["score"] is not None)
    auto = persistence.load(path).learner_
    assert (auto.criterion, auto.budget) == ("ranking_loss", 60)
    assert [trial["name"] for trial in trials] == [trial["name"] for trial in auto.trials_]


def test_the_trials_are_shown_in_a_table(run, tmp_path):
    done = run(
        "fit", "debtags-sample", "-o", tmp_path / "out", "-l", "auto", "--max-terms", 200,
        "--budget", 0.01,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "tried on held-out instances, by micro_f1" in done.stdout
    assert "SVM C=0.5" in done.stdout


def test_options_of_auto_are_refused_with_another_learner(run, tmp_path):
    done = run("fit", "debtags-sample", "-o", tmp_path / "out", "--budget", 3)
    assert done.exit_code != 0
    assert "got --budget with --learner BR+; it goes with --learner auto" in done.output
