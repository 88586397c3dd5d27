"""Hostile inputs are answered or refused; `python -m attack` tries many more."""

import pytest

from attack import watched

SIZES = {"models": 200, "files": 300, "api": 100, "commands": 8, "kills": 2}


@pytest.mark.parametrize("name", SIZES)
def test_hostile_inputs_are_answered_or_refused(name):
    counts, blamed = watched.run(name, inputs=SIZES[name], first=10**6)
    assert blamed == []
    assert counts.total() == SIZES[name]
    assert counts["answered"] > SIZES[name] // 10
