"""A small labelled file, a model trained on it, and two ways to run a command."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from labelrank.cli import app

LINES = """\
{"id": "a", "text": "wheat and rye prices rise", "labels": ["grain", "trade"]}
{"id": "b", "text": "crude oil prices fall", "labels": ["oil", "trade"]}
{"id": "c", "text": "rye harvest near Łódź", "labels": ["grain"]}
{"id": "d", "text": "oil tankers at sea", "labels": ["oil"]}
"""


@pytest.fixture
def run():
    """Run a command in this process."""

    def invoke(*arguments, stdin=None):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return invoke


@pytest.fixture
def shell(tmp_path):
    """Run a command as a user does: another process, its own folder."""

    def call(*arguments, stdin="", **environment):
        program = [sys.executable, "-c", "from labelrank.cli import main; main()"]
        return subprocess.run(
            [*program, *map(str, arguments)], input=stdin.encode(), capture_output=True,
            cwd=tmp_path, env={**os.environ, **environment}, timeout=120, check=False,
        )  # fmt: skip

    return call


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    data, path = folder / "news.jsonl", folder / "news.labelrank"
    data.write_text(LINES, encoding="utf-8")
    done = CliRunner().invoke(app, ["fit", str(data), "--out", str(path), "--quiet", "-l", "BR+"])
    assert done.exit_code == 0, done.output
    return path
