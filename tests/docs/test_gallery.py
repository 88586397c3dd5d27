"""The gallery shows what its programs print: they are run, and every word and number compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
PICTURES = ROOT / "docs" / "_static" / "gallery"
NAMES = sorted(path.stem for path in EXAMPLES.glob("[a-z]*.py"))
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def needs_data(name):
    return () if name == "package_tags" else (pytest.mark.data,)


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_data(name)) for name in NAMES])
def test_an_example_prints_what_the_gallery_shows_and_draws_its_picture(name, tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")], capture_output=True, text=True,
        timeout=300, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = (EXAMPLES / "output" / f"{name}.txt").read_text(encoding="utf-8")
    assert NUMBER.sub("#", done.stdout) == NUMBER.sub("#", shown)
    printed, expected = (list(map(float, NUMBER.findall(text))) for text in (done.stdout, shown))
    assert printed == pytest.approx(expected, rel=0.05, abs=0.02)
    drawn = imread(tmp_path / f"{name}.png")
    assert drawn.shape == imread(PICTURES / f"{name}.png").shape
    assert drawn.std() > 0.05


def test_every_example_is_in_the_gallery():
    page = (ROOT / "docs" / "gallery.rst").read_text(encoding="utf-8")
    assert len(NAMES) >= 5
    for name in NAMES:
        assert f"../examples/{name}.py" in page
        assert f"../examples/output/{name}.txt" in page
        assert f"_static/gallery/{name}.png" in page
