"""The documentation names what exists, and all of it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import labelrank
from labelrank import catalog, experiments

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WHOLE_PAGES = ("catalog", "evaluation", "experiments", "distributed", "relevance", "preferences",
               "decoding", "errors")  # fmt: skip


def documented():
    """Every entry of every autosummary, with the module that `currentmodule` names before it."""
    found = set()
    for page in DOCS.glob("*.rst"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule::"):
                module = line.split("::")[1].strip() + "."
            elif re.fullmatch(r"   [A-Za-z_][\w.]*", line):
                name = line.strip()
                found.add(name if name.startswith("labelrank.") else module + name)
    return found


@pytest.mark.parametrize("module", ["labelrank", "labelrank.metrics", "labelrank.datasets",
                                    "labelrank.persistence"])  # fmt: skip
def test_every_public_name_has_its_page(module):
    holder = importlib.import_module(module)
    public = labelrank._HOME if module == "labelrank" else holder.__all__
    wanted = {f"{module}.{name}" for name in public if callable(getattr(holder, name))}
    elsewhere = {f"labelrank.{name}" for name in ("TextVectorizer",)}
    assert wanted - documented() - elsewhere == set()


def test_modules_with_one_page_have_it():
    assert {f"labelrank.{name}" for name in WHOLE_PAGES} <= documented()


def test_everything_documented_can_be_imported():
    for name in documented():
        parts = name.split(".")
        for cut in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:cut]))
            except ModuleNotFoundError:
                continue
            for part in parts[cut:]:
                found = getattr(found, part)
            break


def literals(page):
    return re.findall(r"``([^`]+)``", (DOCS / page).read_text(encoding="utf-8"))


def defined_in(path):
    """Names of the classes and functions that a file defines."""
    tree = ast.parse((ROOT / "src/labelrank" / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def test_the_map_from_papers_to_code_leads_to_the_class_or_function():
    entries = re.findall(r"``([a-z0-9_/]+\.py):(\w+)``", (DOCS / "papers.rst").read_text("utf-8"))
    assert len(entries) > 60
    for path, name in entries:
        assert name in defined_in(path), f"{path}:{name}"


def test_the_map_from_papers_to_code_names_every_learner():
    text = (DOCS / "papers.rst").read_text(encoding="utf-8")
    helpers = {"Tagger", "AutoRanker", "TextEncoder", "draw_trellis"}
    assert {name for name in labelrank._HOME if f":{name}``" not in text} <= helpers


def test_the_map_from_papers_to_code_names_tests_and_experiments_that_exist():
    known = {one.name for one in experiments.experiments()}
    for text in literals("papers.rst"):
        if re.fullmatch(r"[a-z0-9_/]*test_\w+\.py", text):
            assert (ROOT / "tests" / text).is_file(), text
        elif re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text) and text != "labelrank":
            assert text in known, text


def test_the_learners_to_choose_from_are_in_the_catalog():
    rows = re.findall(r"^     - (``.*)$", (DOCS / "choosing.rst").read_text(encoding="utf-8"), re.M)
    named = {name for row in rows for name in re.findall(r"``([^`]+)``", row) if "=" not in name}
    assert len(named) > 15
    assert named <= set(catalog.names())
