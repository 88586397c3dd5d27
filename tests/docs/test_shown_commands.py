"""Every command and every piece of Python in README and how-to pages runs, and prints what it says.

`pages.py` works through a page. What cannot run here is looked up: targets of make, extras,
benchmarks and experiments.
"""

import re
import tomllib
from pathlib import Path

import pages
import pytest

from labelrank import experiments

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
HOW_TO = sorted((ROOT / "docs" / "howto").glob("*.rst"))
PAGES = [README, ROOT / "docs" / "tour.rst", *HOW_TO]
ALL = [README, *sorted((ROOT / "docs").glob("*.rst")), *HOW_TO]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_prints_what_it_shows(page, tmp_path):
    assert pages.read(page, tmp_path) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_has_no_block_that_is_not_run(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"^(?! *\.\. ).*::$", text, re.M)
    told = [line for block in pages.blocks(page) if block.language in ("sh", "toml")
            for line in block.lines if line]  # fmt: skip
    assert not [line for line in told if line.startswith("labelrank ")]


def test_every_how_to_page_is_in_the_list():
    listed = (ROOT / "docs" / "howto" / "index.rst").read_text(encoding="utf-8")
    assert len(HOW_TO) > 10
    for page in HOW_TO:
        assert page.stem == "index" or f"\n   {page.stem}\n" in listed


def test_a_wrong_word_or_number_is_noticed():
    shown = "0.61 of 3.7 found in 12 s, ... wrong\n ─────"
    assert pages.differs("0.60 of 3.7 found in 750 ms, 2 of 10 wrong\n───", shown) == ""
    assert pages.differs("0.80 of 3.7 found in 12 s, 2 of 10 wrong\n───", shown)
    assert pages.differs("0.61 of 3.7 lost in 12 s, 2 of 10 wrong\n───", shown)
    assert pages.differs("0.61 of 3.7 found in 12 s", shown)


def test_a_command_that_fails_is_noticed(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text(".. code-block:: console\n\n   $ labelrank predict nothing.labelrank x\n")
    with pytest.raises(AssertionError, match="labelrank predict"):
        pages.read(page, tmp_path)


def told(pattern):
    """What the pages name of a kind, wherever they do."""
    return {name for page in ALL for name in re.findall(pattern, page.read_text("utf-8"))}


def test_targets_of_make_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = told(r"(?m)(?:``?|^|^    )make ([a-z-]+)")
    assert {"demo", "test"} <= named <= targets


def test_extras_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = told(r"\.\[([a-z]+)\]")
    assert extras
    assert extras <= set(project["optional-dependencies"])


def test_benchmarks_exist():
    named = told(r"python -m benchmarks[ .]([a-z_]+)")
    assert len(named) > 5
    for name in named:
        assert (ROOT / "benchmarks" / f"{name}.py").is_file(), name


def test_experiments_exist():
    named = told(r"labelrank reproduce ([a-z0-9-]+)") - {"--quick", "--all"}
    assert len(named) > 3
    assert named <= {one.name for one in experiments.experiments()}
