"""Preferences in JSON lines: read beside labels or in place of them."""

import subprocess
import sys

import pytest

from labelrank import datasets
from labelrank.datasets.stated import apart
from labelrank.errors import FormatError, InputError

ROWS = """\
{"text": "rye harvest", "prefer": [["rye", "trade"], ["rye", null]]}
{"text": "oil wells", "labels": ["oil"]}
{"text": "rye exports", "labels": ["Rye", "trade"], "prefer": [["Rye", "trade"]]}
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="a.jsonl"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_rows_state_preferences_and_these_are_no_feature(written):
    data = datasets.load(written(ROWS))
    assert data.prefer == [[("rye", "trade"), ("rye", None)], [], [("Rye", "trade")]]
    assert data.documents == ["rye harvest", "oil wells", "rye exports"]
    labelled, stated = apart(data)
    assert labelled.texts == ["oil wells", "rye exports"]
    assert stated.texts == ["rye harvest", "rye exports"]
    assert stated.prefer == [data.prefer[0], data.prefer[2]]


def test_batches_may_have_them_or_not(written):
    parts = list(datasets.formats.stream(written(ROWS), 1))
    assert [part.prefer for part in parts] == [
        [[("rye", "trade"), ("rye", None)]], None, [[("Rye", "trade")]]
    ]  # fmt: skip


def test_they_follow_merged_spellings_and_survive_saving(written, tmp_path):
    data = datasets.load(written(ROWS), merge_spellings=True)
    assert data.prefer[0] == [("Rye", "trade"), ("Rye", None)]
    datasets.save(data, tmp_path / "b.jsonl")
    assert datasets.load(tmp_path / "b.jsonl").prefer == data.prefer
    with pytest.raises(InputError, match="preferences, which csv does not hold; write jsonl"):
        datasets.save(data, tmp_path / "b.csv")


def test_a_column_of_that_name_without_lists_is_a_feature(written):
    data = datasets.load(written("age,prefer,labels\n1,tea,x\n2,milk,y\n", "a.csv"))
    assert data.prefer is None
    assert list(data.table) == ["age", "prefer"]


@pytest.mark.parametrize(("cell", "words"), [
    ('[["a", "a"]]', "got 'a' over itself; leave it out"),
    ('[[null, null]]', "got the threshold over itself"),
    ('[["a", "b"], ["b", "a"]]', "contradict"),
    ('[["a", "b"], ["b", null], [null, "a"]]', "contradict: .* over .* over .* over"),
    ('[["a"]]', "give a list of pairs"),
    ('["ab"]', "give a list of pairs"),
    ('[["a", ["b"]]]', "give a list of pairs"),
    ('[["a", true]]', "give its name, or null for the threshold"),
    ('[["b", "c"]]', "b over c, but the labels of the row say otherwise"),
    ('[["b", null]]', "b over the threshold, but the labels"),
    ('[[null, "c"]]', "the threshold over c, but the labels"),
])  # fmt: skip
def test_what_says_nothing_is_refused_with_its_line(written, cell, words):
    rows = '{"text": "x", "prefer": [["a", "b"]]}\n' + (
        f'{{"text": "y", "labels": ["c"], "prefer": {cell}}}\n'
    )
    with pytest.raises(FormatError, match="line 2: .*" + words):
        datasets.load(written(rows))


def test_other_kinds_of_cells_beside_lists_are_refused(written):
    with pytest.raises(FormatError, match="line 2: got 'b' as preferences"):
        datasets.load(
            written('{"text": "x", "prefer": [["a", "b"]]}\n{"text": "y", "prefer": "b"}\n')
        )


@pytest.mark.parametrize("module", ["stated", "choice", "labelling", "records"])
def test_each_module_of_the_reader_is_imported_alone(module):
    code = f"import labelrank.datasets.{module}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
