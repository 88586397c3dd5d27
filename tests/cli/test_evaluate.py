"""What `evaluate` says first."""

import json

import pytest

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
