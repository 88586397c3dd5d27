"""The list of named mutants follows the code, and the tool makes mutants that are Python."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("mutants", ROOT / "tools/mutants.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)


def _there(test):
    """Whether a folder or file of tests is there, and the test that `::` names in it."""
    path, _, name = test.partition("::")
    text = (ROOT / path).read_text(encoding="utf-8") if name else ""
    return (ROOT / path).exists() and f"def {name}" * bool(name) in text


def test_every_named_mutant_still_finds_its_line():
    listed = list(mutants.named())
    assert len({one.name for one in listed}) == len(listed) > 30
    for one in listed:
        ast.parse(one.content)
        assert all(_there(test) for test in one.tests), one.name


@pytest.mark.parametrize("area", mutants.AREAS)
def test_a_drawn_mutant_differs_in_one_place_and_has_tests(area):
    for one in mutants.sampled(area, 25, seed=1):
        before = ast.unparse(ast.parse((ROOT / one.file).read_text())).splitlines()
        after = one.content.splitlines()
        assert sum(a != b for a, b in zip(before, after, strict=True)) == 1, one.name
        assert all((ROOT / test).exists() for test in one.tests), one.name
