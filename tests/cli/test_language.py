"""One language: an option means the same in every command, and is explained in plain words."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import labelrank
from labelrank import decoding
from labelrank.cli import COMMANDS, app, usage
from labelrank.cli.errors import _ADVICE, as_typed
from labelrank.cli.help import HIDDEN, Command

GROUP = typer.main.get_command(app)
MADE = {name: GROUP.get_command(None, name) for name in COMMANDS}
SHARED = {
    "--text-column", "--label-column", "--labels", "--labels-first", "--labels-file",
    "--label-separator", "--id-column", "--column", "--separator", "--encoding", "--input-format",
    "--criterion", "--seed", "--json", "--quiet", "--unlabelled", "--merge-spellings", "--ordered",
    "--part", "--data", "--jobs",
}  # fmt: skip


def options():
    for command, made in MADE.items():
        for one in made.params:
            if one.param_type_name == "option" and one.name != "help":
                yield command, one


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_no_types_of_python(run, command):
    done = run(command, "--help")
    assert done.exit_code == 0, done.output
    assert isinstance(MADE[command], Command)
    assert f"For example:\n  labelrank {command}" in done.stdout
    assert not any(word in done.stdout for word in ("<", "list[", "[default", "None", "x>=", "['"))
    assert not any(old in done.stdout for old in HIDDEN - {"--format"})


def test_every_option_says_what_it_is_and_names_what_it_takes():
    for command, one in options():
        assert one.help, (command, one.name)
        assert one.help.endswith("."), (command, one.help)
        assert one.is_flag or one.metavar, (command, one.name)


def test_an_option_means_the_same_in_every_command():
    said = {}
    for command, one in options():
        for name in SHARED & set(one.opts):
            told = one.help, one.metavar, one.multiple
            assert said.setdefault(name, told) == told, (command, name)
    assert set(said) == SHARED


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_can_be_typed(command):
    for line in MADE[command].epilog.splitlines():
        program, name, *arguments = shlex.split(line)
        assert (program, name) == ("labelrank", command)
        assert MADE[command].make_context(name, arguments)


def test_what_matters_stands_on_the_first_screen(run):
    first = {name: run(name, "--help").stdout.splitlines()[:24] for name in COMMANDS}
    for name, option in (("fit", "--out"), ("predict", "--out"), ("evaluate", "--report")):
        assert any(option in line for line in first[name])


def test_old_spellings_are_understood_and_not_shown(run, news, tmp_path):
    (tmp_path / "t.csv").write_text("text,labels\nrye bread,grain+food\noil,oil\n")
    old = ["--format", "csv", "--label-delimiter", "+", "-o", tmp_path / "m"]
    assert run("fit", tmp_path / "t.csv", *old).exit_code == 0
    for command, option in (("tune", "--scorer"), ("compare", "--criteria"), ("fit", "--format")):
        assert any(option in one.opts for one in MADE[command].params)
        assert f"{option} " not in run(command, "--help").stdout


def test_criteria_are_repeated_or_listed_with_commas(run, news, tmp_path):
    arguments = ["compare", news, "--learners", "NB", "--cv", 2, "-o", tmp_path, "-q", "--json"]
    done = run(*arguments, "--criterion", "micro_f1, ranking_loss", "--criterion", "one_error")
    assert done.exit_code == 0, done.output
    shown = [table["criterion"] for table in json.loads(done.stdout)]
    assert shown[:3] == ["micro_f1", "ranking_loss", "one_error"]
    done = run("tune", news, "--criterion", "micro_f1,one_error")
    assert done.exit_code == 2
    assert "here it takes one" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "near", "how"),
    [
        (["fit", "NEWS", "-l", "BRX"], "BR+", "labelrank learners"),
        (["tune", "NEWS", "--criterion", "micro_f"], "micro_f1", "labelrank criteria"),
        (["compare", "NEWS", "--learners", "NB", "--criterion", "rankingloss"], "ranking_loss",
         "labelrank criteria"),
        (["fit", "NEWS", "--part", "trian"], "train", "validation"),
        (["fit", "NEWS", "--column", "text=txt"], "text", "category"),
        (["datasets", "debtags-sampel"], "debtags-sample", "labelrank datasets"),
        (["reproduce", "mlp-yeast"], "mlpp-yeast", "labelrank reproduce"),
    ],
)  # fmt: skip
def test_what_is_not_known_gets_near_names_and_the_way_to_all(run, news, arguments, near, how):
    done = run(*(str(news) if one == "NEWS" else one for one in arguments))
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert near in done.stderr
    assert how in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["fit", "no.csv"], ["tune", "no.csv", "-l", "BR"], ["learn", "m", "no.csv", "-l", "BR"],
     ["compare", "no.csv", "--learners", "NB"], ["demo"]],
)  # fmt: skip
def test_no_jobs_at_all_are_refused_before_any_work(run, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments, "--jobs", 0)
    assert done.exit_code == 2
    assert done.stderr.startswith("labelrank: got --jobs 0; give a whole number of ")
    assert "-1 for all cores" in done.stderr


def test_errors_speak_of_options_as_they_are_typed(run, tmp_path):
    (tmp_path / "t.soup").write_text("a")
    assert "give --input-format" in run("datasets", tmp_path / "t.soup").stderr


@pytest.mark.parametrize("command", ["reproduce", "fit", "compare"])
def test_missing_data_end_every_command_with_two(run, tmp_path, monkeypatch, command):
    monkeypatch.setenv("LABELRANK_DATA", "")
    monkeypatch.setenv("LABELRANK_CACHE", str(tmp_path))
    arguments = {"reproduce": ["mlpp-yeast", "-q"], "fit": ["yeast"],
                 "compare": ["yeast", "scene", "--learners", "BR"]}  # fmt: skip
    done = run(command, *arguments[command])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "LABELRANK_DATA" in done.stderr
    assert "--fetch" in done.stderr


def test_a_reader_that_has_gone_is_no_failure_of_ours():
    reader, writer = os.pipe()
    os.close(reader)
    code = "from labelrank.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "learners"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_terminal_and_speaks_plainly(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERMINAL_WIDTH", str(width))
    done = run(command, "--help")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Usage: ")
    assert max(map(len, lines)) <= width
    assert f"labelrank {command}" in done.stdout
    assert not re.search(r"<list|list\[|Optional\[|\bstr\b|\bNone\b|kwargs|DataFrame", done.stdout)
    about = lines[2].strip()
    assert about
    assert about[0].isupper()


def test_no_option_means_an_input_in_one_command_and_an_output_in_another():
    formats = {}
    for command, one in options():
        for name in one.opts:
            if "format" in name:
                formats.setdefault(name, set()).add(command)
    shown = {name for name in formats if name not in HIDDEN}
    assert "--format" in HIDDEN
    assert "--input-format" in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("explain m d --row X4", "got --row X4; give a whole number from 1 (which document"),
        ("explain m d --row=0", "got --row 0; give a whole number from 1 (which document"),
        ("predict m d --threshold abc", "got --threshold abc; give a number (cut here"),
        ("evaluate m d --threshold 1 --threshold x", "got --threshold x; give a number"),
        ("fit d --budget 0", "got --budget 0; give a number from 0.001 (most time"),
        ("fit d --fast=3", "got --fast with a value; it takes none"),
        ("predict m d --jobs", "got --jobs without a value; write --jobs N"),
        ("predict m d --jbos 2", "which labelrank predict does not take; did you mean --jobs?"),
        ("predict m", "got no DATA; write labelrank predict MODEL DATA"),
        ("compare d", "got no --learners; write labelrank compare DATA --learners A,B,C"),
        ("fit d e", "(e); write labelrank fit DATA"),
        ("predic m d", "got predic, which is no command; did you mean predict?"),
        ("--colour", "got --colour, which labelrank does not take; labelrank --help"),
    ],
)
def test_what_is_typed_wrongly_is_one_sentence_that_says_what_to_type(run, typed, told):
    done = run(*typed.split())
    assert done.exit_code == 2
    assert done.stderr.startswith("labelrank: got ")
    assert done.stderr.count("\n") == 1
    assert told in done.stderr


def test_every_option_of_numbers_is_known_as_one():
    for command, one in options():
        kind = getattr(getattr(one, "type_descriptor", None), "annotation", None)
        words = str(kind or one.type)
        if "int" in words.lower() or "float" in words.lower():
            assert one.metavar in usage._NUMBERS, (command, one.name)


def test_the_list_of_commands_tells_each_in_a_whole_sentence(run):
    lines = run("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(lines) == len(COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


@pytest.mark.parametrize(
    ("sentence", "typed"),
    [
        (decoding._GUESSED, "learn with --threshold tuned"),
        ("'labelrank learners' and catalog.names() list all", "'labelrank learners' lists all"),
        ("name their column by text_column=...", "name their column by --text-column ..."),
    ],
)
def test_advice_for_programs_becomes_advice_for_people_who_type(sentence, typed):
    assert typed in as_typed(sentence)


def test_advice_that_is_translated_is_given_somewhere():
    sources = [
        path.read_text(encoding="utf-8") for path in Path(labelrank.__file__).parent.rglob("*.py")
    ]
    code = re.sub(r'"\s*f?"', "", "".join(sources))
    for advice in _ADVICE:
        assert code.count(advice) > 1, advice
