"""The learner of the page on learners of your own is a package that works."""

import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "own-learner.rst"


def _block(language, number=0):
    """The lines of a code block: they are indented, and the text below them is not."""
    parts = GUIDE.read_text("utf-8").split(f".. code-block:: {language}\n")[1:]
    lines = parts[number].splitlines()
    end = next((k for k, line in enumerate(lines) if line and line[0] != " "), len(lines))
    body = [line for line in lines[:end] if not line.startswith("   :")]
    return textwrap.dedent("\n".join(body)).strip() + "\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package of the guide, as pip would install it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "my_package.py").write_text(_block("python"))
    project = tomllib.loads(_block("toml"))["project"]
    told = folder / "my_package-0.1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, offers in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in offers.items())]
    (told / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def _python(installed, *arguments):
    path = os.pathsep.join([str(installed), *sys.path])
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, cwd=installed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_learner_of_the_guide_keeps_every_promise(installed):
    _python(installed, "-c", _block("python", 1))


def test_the_learner_of_the_guide_is_known_to_the_commands_and_its_models_load(installed):
    listed = _python(installed, "-m", "labelrank", "learners")
    assert "common-labels" in listed
    (installed / "news.csv").write_text("text,labels\nrye and oats,grain\noil,fuel\nrye,grain\n")
    options = ("fit", "news.csv", "-l", "common-labels", "-o", "news.labelrank", "-q")
    _python(installed, "-m", "labelrank", *options)
    answer = _python(installed, "-m", "labelrank", "predict", "news.labelrank", "news.csv")
    assert "grain" in answer
