"""Readers that other packages add by entry points."""

import pytest

from labelrank import datasets
from labelrank.datasets import Limits, formats
from labelrank.errors import FormatError, InputError, MissingError

READER = """
from labelrank.datasets import Dataset
from labelrank.relevance import check_relevance

about = "one label per line"
endings = (".tried",)

def read(source, *, shout=False):
    names = source.lines()
    names = [name.upper() for name in names] if shout else names
    return Dataset(source.stem, None, check_relevance([[1] * len(names)]), ["text"], names)
"""
POINTS = """[labelrank.readers]
tried = tried_reader
csv = tried_reader
broken = tried_missing
empty = tried_empty
other = tried_empty:Other
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package as pip would leave it on the path, and a file for its reader."""
    site = tmp_path / "site"
    about = site / "tried_readers-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tried-readers\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    (site / "tried_reader.py").write_text(READER)
    (site / "tried_empty.py").write_text("class Other:\n    def read(source):\n        return 3\n")
    monkeypatch.syspath_prepend(str(site))
    (tmp_path / "one.tried").write_text("grain\nwheat\n")
    return tmp_path / "one.tried"


def test_a_reader_is_used_by_its_name(package):
    assert datasets.load(package, format="tried").label_names == ["grain", "wheat"]
    assert datasets.load(package, format="tried", shout=True).label_names == ["GRAIN", "WHEAT"]
    with pytest.raises(InputError, match="got option 'colour' for the tried format; it has shout"):
        datasets.load(package, format="tried", colour=1)


def test_a_reader_is_used_by_its_ending_and_broken_ones_are_named(package):
    with pytest.warns(UserWarning, match=r"tried-readers 1\.0 offers") as warned:
        data = datasets.load(package)
    assert data.label_names == ["grain", "wheat"]
    assert any("'broken'" in str(one.message) for one in warned)
    with pytest.warns(UserWarning, match="offers"):
        known = formats.known()
    assert known["tried"].about == "one label per line"
    assert known["csv"] == formats.KNOWN["csv"]


def test_own_endings_import_no_reader_of_others(package, tmp_path):
    (tmp_path / "d.txt").write_text("one\n")
    assert datasets.load(tmp_path / "d.txt").texts == ["one"]


def test_the_limits_hold_for_other_readers_too(package):
    with pytest.raises(FormatError, match="2 labels, but the limit is 1"):
        datasets.load(package, format="tried", limits=Limits(labels=1))


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("broken", MissingError, "tried_missing cannot be loaded"),
        ("empty", MissingError, "has no function read"),
        ("other", FormatError, "returned int, not a Dataset"),
        ("unheard", MissingError, "'unheard' is not known; use one of .*tried"),
    ],
)
def test_readers_that_do_not_work_are_named(package, name, error, message):
    with pytest.raises(error, match=message):
        datasets.load(package, format=name)


def test_a_format_of_another_package_is_not_written(package, tmp_path):
    data = datasets.load(package, format="tried")
    with pytest.raises(InputError, match="read only"):
        formats.write(data, tmp_path / "two", format="tried")
