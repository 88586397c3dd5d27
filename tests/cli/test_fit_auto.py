"""`labelrank fit --learner auto`: by what, in what time, and what was tried."""

import json
import re

import numpy as np
import pytest

from labelrank import AutoRanker, persistence
from labelrank.cli import fit
from labelrank.learners.auto.blend import Line


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
        "fit", "debtags-sample", "-o", tmp_path / "out", "--max-terms", 200, "--budget", 0.01,
        "--trials",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "tried on held-out instances, by micro_f1" in done.stdout
    assert "SVM C=0.5" in done.stdout


def test_options_of_auto_are_refused_with_another_learner(run, tmp_path):
    done = run("fit", "debtags-sample", "-o", tmp_path / "out", "-l", "BR+", "--budget", 3)
    assert done.exit_code != 0
    assert "got --budget with --learner BR+; it goes with auto alone" in done.output


def flowers(path, *, told=True, n=120):
    """A table whose label follows from two columns together, or from none."""
    random = np.random.default_rng(0)
    height, width = random.normal(size=(2, n))
    kind = (height * width > 0) if told else random.random(n) < 0.5
    lines = ["height,width,label", *(
        f"{a:.3f},{b:.3f},{'rose' if k else 'tulip'}" for a, b, k in zip(height, width, kind)
    )]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    return path


def test_without_a_learner_the_best_for_the_data_is_found_and_told_in_one_line(run, tmp_path):
    done = run("fit", flowers(tmp_path / "flowers.csv"), "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    found = re.search(r"auto chose (.+): micro F1 ([\d.]+) on 120 rows, each held out once, in 5 "
                      r"parts; next best: "
                      r"(.+), ([\d.]+); guessing by frequency: ([\d.]+)", told)  # fmt: skip
    assert found, told
    assert "forest" in found[1] or "trees" in found[1] or "kernel" in found[1]
    assert float(found[2]) > float(found[5]) + 0.2
    assert "candidate" not in told


def test_a_model_no_better_than_guessing_is_warned_of(run, tmp_path):
    path = flowers(tmp_path / "dice.csv", told=False)
    done = run("fit", path, "-o", tmp_path / "out", "--criterion", "ranking_loss", "--fast")
    learner = persistence.load(tmp_path / "out").learner_
    warned = "no better than guessing by frequency" in " ".join(done.output.split())
    assert warned == (learner.held_out_["chosen"] >= learner.held_out_["guessing"])


def test_a_named_learner_is_told_by_rows_held_out_too(run, tmp_path):
    path = flowers(tmp_path / "flowers.csv")
    for learner, better in (("forest", True), ("BSVM+", False)):
        done = run("fit", path, "-o", tmp_path / learner, "-l", learner)
        told = " ".join(done.stdout.split())
        found = re.search(r"micro F1 ([\d.]+) on 24 rows held out; guessing by frequency: ([\d.]+)",
                          told)  # fmt: skip
        assert found, told
        assert (float(found[1]) > float(found[2]) + 0.1) == better
    held = json.loads(run("fit", path, "-o", tmp_path / "m", "-l", "BSVM+", "--json").stdout)
    assert set(held["held_out"]) == {"criterion", "chosen", "guessing", "n_instances"}
    assert "held out" not in run("fit", path, "-o", tmp_path / "m", "-l", "BSVM+", "-q").output


def test_the_same_model_whatever_the_jobs_and_wherever_it_is_told(run, tmp_path):
    path = flowers(tmp_path / "flowers.csv")
    for name, options in (("a", ["--jobs", 1]), ("b", ["--jobs", 2, "-q"]), ("c", ["--json"])):
        assert run("fit", path, "-o", tmp_path / name, *options).exit_code == 0
    digests = {persistence.digest(persistence.load(tmp_path / name)) for name in "abc"}
    assert len(digests) == 1


def test_a_tuned_cut_is_what_auto_has_anyway(run, tmp_path):
    path = flowers(tmp_path / "flowers.csv")
    for name, options in (("a", []), ("b", ["--threshold", "tuned"])):
        assert run("fit", path, "-o", tmp_path / name, *options).exit_code == 0
    one, two = (persistence.load(tmp_path / name) for name in "ab")
    assert persistence.digest(one) == persistence.digest(two)


def test_a_dry_run_tells_how_long_choosing_may_take(run):
    done = run("fit", "debtags-sample", "--dry-run", "--max-terms", 200, "--budget", 30)
    assert re.search(r"time to choose +about \d+ s on one core, at most 30 s", done.stdout)
    assert "time to choose" not in run("fit", "debtags-sample", "--dry-run", "-l", "NB").stdout


def test_members_of_a_blend_that_share_a_name_are_told_apart_by_their_weighting(
    run, tmp_path, monkeypatch
):
    def twice(self, race):
        self.held_out_ = None
        ways = ("standardised", "standardised, damped", "as given")
        names = ("SVM C=0.5", "SVM C=0.5", "forest")
        return [(name, way, 1 / 3, Line()) for name, way in zip(names, ways)]

    monkeypatch.setattr(AutoRanker, "_choose", twice)
    done = run("fit", flowers(tmp_path / "flowers.csv"), "-o", tmp_path / "m", "--json")
    assert json.loads(done.stdout)["chosen"] == (
        "SVM C=0.5 (standardised) + SVM C=0.5 (standardised, damped) + forest"
    )


@pytest.mark.parametrize("learner", [[], ["-l", "BR+"]])
def test_too_few_rows_to_judge_are_told(run, tmp_path, learner):
    (tmp_path / "few.csv").write_text("text,labels\nrye bread,rye\noil,oil\nwheat,rye\n")
    done = run("fit", tmp_path / "few.csv", "-o", tmp_path / "m", *learner)
    assert done.exit_code == 0, done.output
    assert "too few rows to say how good it is" in done.stdout
    assert "too few" not in run("fit", tmp_path / "few.csv", "-o", tmp_path / "m", "-q").output


def test_a_model_that_is_not_judged_says_how_to_do_it(run, tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "_SOON", 0.0)
    done = run("fit", flowers(tmp_path / "flowers.csv"), "-o", tmp_path / "m", "-l", "BR+")
    assert f"labelrank evaluate {tmp_path / 'm'} DATA" in " ".join(done.stdout.split())
