"""The frame of experiments: what is registered, how numbers are judged, what was published."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from labelrank import experiments
from labelrank.errors import MissingError
from labelrank.experiments import Experiment, Record, judge, published, to_json
from labelrank.experiments.verdicts import claim

TABLES = [
    "cmlpc_rcv1", "mlpp_operations", "mlpp_rcv1", "mlpp_small", "plm_times", "pro_loss_msra",
    "pro_loss_synthetic_order", "reuters_dumais", "reuters_joachims",
    "reuters_kernels", "reuters_sizes",
    "reuters_yang_liu", "vcc_jaccard",
]  # fmt: skip


def verdicts(records, **tolerance):
    return [record.verdict for record in judge(records, **tolerance)]


def test_a_value_near_the_published_one_is_within_tolerance():
    assert verdicts([Record("a", "b", 10.0, 10.9)], tolerance=0.1) == ["within tolerance"]
    assert verdicts([Record("a", "b", 10.0, 11.1)], tolerance=0.1) == ["outside"]


def line(*ours):
    """Three rivals, published as 7, 2 and 4."""
    names = ("BR", "MMP", "NB")
    return [
        Record("loss", name, published, value)
        for name, published, value in zip(names, (7.0, 2.0, 4.0), ours, strict=True)
    ]


def test_order_holds_when_the_rivals_of_a_line_compare_as_published():
    assert verdicts(line(14.0, 3.0, 5.0), tolerance=0.1) == ["order holds"] * 3
    assert verdicts(line(3.0, 14.0, 5.0), tolerance=0.1) == ["outside"] * 3
    assert verdicts(line(14.0, 5.0, 3.0), tolerance=0.1) == ["order holds", "outside", "outside"]


def test_one_pair_is_no_order():
    """Whatever two values are measured, one of two orders comes out."""
    assert verdicts(line(14.0, 3.0, None), tolerance=0.1)[:2] == ["outside"] * 2
    assert verdicts(line(14.0, 3.0, 5.0)[:2], tolerance=0.1) == ["outside"] * 2


def test_rivals_may_stand_in_a_column():
    table = [replace(one, row=one.column, column="loss") for one in line(14.0, 3.0, 5.0)]
    assert verdicts(table, tolerance=0.1, along="column") == ["order holds"] * 3
    assert verdicts(table, tolerance=0.1, along="row") == ["outside"] * 3


@pytest.mark.parametrize(
    ("value", "bounds", "verdict"),
    [
        (0.1, {}, "claim holds"),
        (0.0, {}, "claim fails"),
        (-0.1, {}, "claim fails"),
        (0.1, {"below": 0.05}, "claim fails"),
        (0.04, {"above": None, "below": 0.05}, "claim holds"),
        (float("nan"), {}, "not available"),
    ],
)
def test_a_sentence_holds_where_its_number_lies_between_its_bounds(value, bounds, verdict):
    record = claim("A is ahead of B", "yeast", value, **bounds)
    assert verdicts([record], tolerance=0.1) == [verdict]
    if verdict.startswith("claim"):
        shown = json.loads(to_json(record))
        assert (shown["above"], shown["below"]) == (bounds.get("above", 0.0), bounds.get("below"))


def test_claims_are_judged_by_what_was_measured():
    def measure(*, seed, jobs):
        yield Record("loss", "A", None, 1.0 + seed)
        yield Record("loss", "B", None, 2.0)

    def claims(found):
        yield claim("A is ahead of B", "loss", found["loss", "B"] - found["loss", "A"])

    chosen = replace(experiments.find("mlpp-rcv1"), measure=measure, claims=claims)
    for seed, verdict in ((0, "claim holds"), (3, "claim fails")):
        *_, last = experiments.run(chosen, seed=seed)
        assert verdicts([last], tolerance=0.1) == [verdict]


def test_a_value_without_published_one_is_only_measured_and_one_without_data_not_available():
    assert verdicts([Record("a", "b", None, 1.0)], tolerance=0.1) == ["measured"]
    assert verdicts([Record("a", "b", 1.0, None)], tolerance=0.1) == ["not available"]


def test_a_value_that_is_no_number_is_not_available_and_null_in_json():
    record = Record("a", "b", 1.0, float("nan"))
    assert verdicts([record], tolerance=0.1) == ["not available"]
    assert json.loads(to_json(record), parse_constant=pytest.fail)["ours"] is None


def test_missing_data_ends_an_experiment_with_a_record_that_says_so():
    def measure(*, seed, jobs):
        yield Record("a", "b", 1.0, 1.0)
        raise MissingError("the data set is not there")

    chosen = Experiment(
        name="x", paper="000", table="Table", summary="", data=(), settings="", minutes=1,
        tolerance=0.1, measure=measure,
    )  # fmt: skip
    first, last = experiments.run(chosen)
    assert first.ours == 1.0
    assert last.note == "the data set is not there"
    assert verdicts([last], tolerance=0.1) == ["not available"]


def test_a_record_is_one_line_of_json():
    line = to_json(Record("r", "c", 1.0, 1.5, verdict="outside"), experiment="x", seed=3)
    assert json.loads(line) == {
        "experiment": "x", "seed": 3, "row": "r", "column": "c", "published": 1.0, "ours": 1.5,
        "difference": 0.5, "verdict": "outside", "note": "",
    }  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_published_table_reads_as_rows_with_numbers(name):
    rows = published(name)
    assert rows
    assert any(isinstance(cell, float) for row in rows for cell in row.values())


def test_published_numbers_are_those_printed():
    assert published("mlpp_rcv1")[3] == {
        "loss": "AvgP x100", "MMP": 92.82, "MLPP": 93.67, "BR": 90.0, "NB": 82.26,
    }  # fmt: skip
    assert published("cmlpc_rcv1")[1]["HamLoss %"] is None


def test_an_unknown_table_or_experiment_names_the_known_ones():
    with pytest.raises(MissingError, match="mlpp_small"):
        published("mlpp_tiny")
    with pytest.raises(MissingError, match="mlpp-rcv1"):
        experiments.find("mlpp-rcv2")


def test_every_experiment_declares_itself():
    found = experiments.experiments()
    assert {"mlpp-rcv1", "cmlpc-rcv1", "mlpp-small"} <= {e.name for e in found}
    for e in found:
        assert e.summary, e.name
        assert e.settings, e.name
        assert e.data or "synthetic" in e.summary, e.name
        assert e.along in ("row", "column")
        assert e.minutes > 0


def test_listing_imports_nothing_heavy():
    code = (
        "import sys, labelrank.experiments as e; e.experiments(); "
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.data
def test_binary_relevance_on_rcv1_is_worse_than_mmp_as_published(measured):
    ours = {(record.row, record.column): record.ours for record in measured("mlpp-rcv1")}
    assert ours["ErrSetSize", "BR"] > ours["ErrSetSize", "MMP"]
    assert ours["AvgP x100", "BR"] < ours["AvgP x100", "MMP"]
