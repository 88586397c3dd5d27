"""What is recorded in the package is what experiments measure: those that take seconds, all of them
by every run of the tests; the rest of the quick book by `make test-all`."""

import math

import pytest

from labelrank import experiments
from labelrank.experiments import registry, verdicts

IN_SECONDS = (
    "reuters-sizes", "rcv1-topics", "chains-trellis", "mlpp-operations", "mlpp-rcv1", "cmlpc-rcv1",
)  # fmt: skip
QUICK = [one.name for one in registry.planned(experiments.experiments(), quick=True)]
IN_MINUTES = [
    pytest.param(name, marks=pytest.mark.slow) for name in QUICK if name not in IN_SECONDS
]


@pytest.mark.data
@pytest.mark.parametrize("name", [*IN_SECONDS, *IN_MINUTES])
def test_verdicts_and_values_are_those_recorded(measured, name):
    now = verdicts.verdicts_of(name, measured(name))
    recorded = verdicts.read(verdicts.recorded_file())
    mine = {cell for cell in recorded if cell.experiment == name}
    assert mine == set(now)
    assert [str(one) for one in verdicts.got_worse(now, recorded)] == []
    assert all(recorded[cell].value is not None for cell in mine if now[cell].value is not None)


def test_those_in_seconds_are_in_the_quick_book():
    assert set(IN_SECONDS) <= set(QUICK)


def test_most_recorded_verdicts_hold_a_value_and_a_tolerance():
    """Without: claims, what was timed, and long experiments recorded before values were kept."""
    recorded = verdicts.read(verdicts.recorded_file())
    without = {
        cell.experiment for cell, one in recorded.items()
        if one.value is None and not one.verdict.startswith("claim")
    }  # fmt: skip
    for cell, one in recorded.items():
        if one.value is not None:
            assert one.tolerance <= 0.0055 * abs(one.value), cell
            assert math.isfinite(one.value), cell
    assert not without & set(IN_SECONDS)
