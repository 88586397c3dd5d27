"""Experiments that several tests look at run once."""

from functools import cache

import pytest

from labelrank import experiments


@cache
def judged(name):
    chosen = experiments.find(name)
    found = list(experiments.run(chosen, seed=0, jobs=2))
    return tuple(experiments.judge(found, chosen.tolerance, chosen.along))


@pytest.fixture
def measured():
    """The judged records of an experiment by its name."""
    return judged
