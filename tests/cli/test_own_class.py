"""A learner of your own on the command line: `-l MODULE:CLASS`."""

import os
import sys

import pytest

from labelrank import persistence

OWN = """
from labelrank.learners.rocchio import Rocchio

class Mine(Rocchio):
    pass

nothing = 3
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_learner.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_learner:Mine"
    sys.modules.pop("own_learner", None)


def test_a_class_of_your_own_is_named_on_the_command_line(run, news, tmp_path, own_module):
    path = tmp_path / "m.labelrank"
    done = run("fit", news, "-o", path, "-l", own_module, "--set", "gamma=0.5", "--seed", 3)
    assert done.exit_code == 0, done.output
    learner = persistence.load(path).learner_
    assert (type(learner).__name__, learner.gamma) == ("Mine", 0.5)
    done = run("predict", path, news, "-l", own_module, "--json")
    assert done.exit_code == 0, done.output
    done = run("tune", news, "-l", own_module, "--grid", "gamma=0,0.5", "--folds", 2, "--json")
    assert done.exit_code == 0, done.output
    assert run("learn", path, news, "-l", own_module).exit_code == 0


def test_a_class_of_your_own_is_compared(run, news, tmp_path, own_module):
    done = run(
        "compare", news, "--learners", f"BR,{own_module}", "--cv", 2, "--criteria", "micro_f1",
        "--set", f"{own_module}:gamma=0.5", "-o", tmp_path / "out", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert own_module in done.stdout


def test_a_model_of_an_unknown_class_says_what_it_needs(shell, news, tmp_path, own_module):
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    fitted = shell("fit", news, "-o", "m", "-l", own_module, **path)
    assert fitted.returncode == 0, fitted.stderr
    done = shell("predict", "m", news, **path)
    assert done.returncode == 2
    assert b"Mine" in done.stderr
    again = shell("predict", "m", news, "-l", own_module, **path)
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("no_such_module:Mine", "no_such_module"),
        ("own_learner:Yours", "Yours"),
        ("own_learner:nothing", "no class"),
        (":Mine", "MODULE:CLASS"),
    ],
)
def test_a_class_that_is_not_there_is_named(run, news, tmp_path, own_module, name, word):
    done = run("fit", news, "-o", tmp_path / "m", "-l", name)
    assert done.exit_code == 2
    assert word in done.stderr
