"""Records: which column is which, how labels are written, batches of a stream; other text."""

import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from labelrank.datasets import formats
from labelrank.datasets.opening import Limits
from labelrank.errors import FormatError, InputError


@pytest.fixture
def read(tmp_path):
    def make(name, text, **options):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return formats.read(tmp_path / name, **options)

    return make


def rows(data):
    return [
        {name: grade for name, grade in zip(data.label_names, row) if grade != 0}
        for row in data.Y.toarray()
    ]


def test_labels_in_every_notation(read):
    expected = [{"x": 1, "y": 1}, {"y": 1}, {}]
    assert (
        rows(
            read(
                "a.jsonl",
                '{"text":"a","labels":["x","y"]}\n{"text":"b","labels":["y","y"]}\n{"text":"c"}\n',
            )
        )
        == expected
    )
    assert rows(read("a.csv", "Text,Labels\na,x|y\nb,y\nc,\n")) == expected
    assert rows(read("a.csv", 'text,labels\na,"x, y"\nb,y\nc,\n')) == expected
    assert rows(read("a.csv", 'text,tags\na,"[""x"",""y""]"\nb,"[""y""]"\nc,[]\n')) == expected
    assert rows(read("a.tsv", "text\tlabels\na\tx;y\nb\ty\nc\t\n")) == expected


def test_grades_in_every_notation(read):
    expected = [{"x": 2, "y": 0.5}, {"y": 1}]
    assert (
        rows(
            read(
                "a.jsonl",
                '{"text":"a","labels":{"x":2,"y":0.5,"z":0}}\n{"text":"b","labels":{"y":1}}\n',
            )
        )
        == expected
    )
    assert rows(read("a.csv", "text,labels\na,x:2|y:0.5\nb,y:1\n")) == expected
    assert rows(read("a.csv", "text,labels\na,x:2|y:1\n", graded=False)) == [{"x:2": 1, "y:1": 1}]
    assert rows(read("a.csv", "text,labels\na,game::board|game::2d\n")) == [
        {"game::board": 1, "game::2d": 1}
    ]
    assert rows(read("a.jsonl", '{"text":"a","labels":["y","x"]}\n', ordered=True)) == [
        {"x": 1, "y": 2}
    ]


def test_null_is_an_unknown_label(read):
    data = read("a.jsonl", '{"text":"a","labels":{"x":null,"y":1}}\n')
    np.testing.assert_array_equal(data.Y.toarray(), [[np.nan, 1]])


def test_columns_by_name_and_without_header(read):
    data = read(
        "a.tsv", 'say "hi"\t1,2\tk\n"quoted\t2\tm\n', header=False, columns=["text", "labels", "id"]
    )
    assert (data.texts, data.label_names, data.ids) == (
        ['say "hi"', '"quoted'],
        ["1", "2"],
        ["k", "m"],
    )
    data = read("a.csv", "t,l,text\na,x,b\n", text_column="t", label_column="l")
    assert (data.texts, data.label_names) == (["a"], ["x"])


def test_features_and_several_target_columns(read):
    text = "id,size,colour,cat,dog\n1,2.5,red,1,0\n2,?,blue,0,1\n"
    data = read("a.csv", text, label_column=["cat", "dog"])
    assert data.table == {"size": ["2.5", "?"], "colour": ["red", "blue"]}
    assert data.X is None
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1]])
    numbers = read("a.csv", text.replace("red", "3").replace("blue", "4"),
                   label_column=["cat", "dog"])  # fmt: skip
    assert numbers.feature_names == ["size", "colour"]
    np.testing.assert_array_equal(numbers.X, [[2.5, 3], [np.nan, 4]])


def test_the_split_column_makes_the_parts(read):
    data = read("a.csv", "text,labels,split\na,x,Train\nb,x,test\nc,y,dev\n")
    assert (data.train.texts, data.test.texts, data.n_instances) == (["a"], ["b"], 3)


def test_the_cells_of_the_file_are_kept_in_their_order(read, tmp_path):
    text = "id,size,colour,labels\n7,2.50,red,x\n8,?,blue,y|x\n"
    data = read("a.csv", text)
    assert data.columns == {
        "id": ["7", "8"], "size": ["2.50", "?"], "colour": ["red", "blue"], "labels": ["x", "y|x"],
    }  # fmt: skip
    assert data.ids == ["7", "8"]
    assert data.subset([1]).columns == {
        "id": ["8"], "size": ["?"], "colour": ["blue"], "labels": ["y|x"],
    }  # fmt: skip
    batches = list(formats.stream(tmp_path / "a.csv", 1))
    assert [batch.columns["size"] for batch in batches] == [["2.50"], ["?"]]


def test_label_names_fix_the_columns(read):
    text = '{"text":"a","labels":["b"]}\n'
    assert read("a.jsonl", text, label_names=["c", "b"]).Y.toarray().tolist() == [[0, 1]]
    with pytest.raises(FormatError, match="line 1: label 'b' is not among"):
        read("a.jsonl", text, label_names=["c"])


def test_plain_text_has_no_labels_and_keeps_blank_lines(read):
    data = read("a.txt", "one\u2028still one\r\n\r\nthree")
    assert data.texts == ["one\u2028still one", "", "three"]
    assert data.Y.shape == (3, 0)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.jsonl", '{"text":"a"}\n{"text":\n', {}, "line 2: not a JSON object"),
        ("a.jsonl", "[1]\n", {}, "line 1: got list"),
        ("a.jsonl", '{"text":"a","labels":NaN}\n', {}, "line 1.*NaN is not JSON"),
        ("a.jsonl", '{"text":"\\ud800"}\n', {}, "line 1: not a JSON object"),
        ("a.jsonl", '{"text":3}\n', {}, "line 1: got '3' in column 'text'"),
        ("a.jsonl", '{"text":"a","labels":[["x"]]}\n', {}, "line 1: got .* as a label"),
        ("a.jsonl", '{"text":"a","labels":{"x":-1}}\n', {}, "line 1: got grade '-1'"),
        ("a.jsonl", '{"text":"a","labels":{"x":1e999}}\n', {}, "line 1: got grade 'inf'"),
        ("a.jsonl", "[" * 100_000, {}, "line 1: not a JSON object"),
        ("a.jsonl", "\n\n", {}, "no record"),
        ("a.jsonl", '{"labels":["x"]}\n', {}, "no text column among 'labels'"),
        ("a.jsonl", '{"text":"a"}\n', {"text_column": "body"}, "no column 'body'; it has 'text'"),
        ("a.jsonl", '{"text":"a"}\n', {"label_column": "l"}, "no column 'l'"),
        ("a.csv", "text,labels\n", {}, "no record"),
        ("a.csv", "text,labels\na,b,c\n", {}, "line 2: got 3 values, but 2"),
        ("a.csv", "text,labels\na,b\n\"c,d\n", {}, "line 3"),
        ("a.csv", "text,text\na,b\n", {}, "'text' occurs twice"),
        ("a.csv", "text,labels\na,[x\n", {}, "line 2: got labels"),
        ("a.csv", "text,labels\na,x:1|y\n", {"graded": True}, "line 2: got 'y' where"),
        ("a.csv", "text\n" + "a" * 50 + "\n", {"limits": Limits(line=20)}, "line 2: field"),
        ("a.txt", "a\0b\n", {}, "line 1: a zero byte"),
    ],
)  # fmt: skip
def test_broken_records_are_refused_with_the_line(read, name, text, options, message):
    with pytest.raises(FormatError, match=message):
        read(name, text, **options)


def test_batches_together_are_the_file(read, tmp_path):
    lines = [f'{{"text": "t{k}", "labels": ["l{k % 3}"]}}\n' for k in range(7)]
    whole = read("a.jsonl.xz", "".join(lines))
    batches = list(formats.stream(tmp_path / "a.jsonl.xz", 2))
    assert [b.n_instances for b in batches] == [2, 2, 2, 1]
    assert [b.n_labels for b in batches] == [2, 3, 3, 3]
    assert [t for b in batches for t in b.texts] == whole.texts
    assert [row for b in batches for row in rows(b)] == rows(whole)
    fixed = list(formats.stream(tmp_path / "a.jsonl.xz", 4, label_names=["l2", "l0", "l1"]))
    assert all(b.label_names == ["l2", "l0", "l1"] for b in fixed)


def test_csv_streams_too(read, tmp_path):
    read("a.csv", 'text,labels\n"a\nb",x\nc,y\n\nd,z\n')
    batches = list(formats.stream(tmp_path / "a.csv", 2))
    assert [b.texts for b in batches] == [["a\nb", "c"], ["d"]]
    assert batches[-1].label_names == ["x", "y", "z"]


def test_a_stream_names_the_line_of_a_mistake(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text":"a"}\n{"text":"b"}\n{"text"\n')
    batches = formats.stream(tmp_path / "a.jsonl", 2)
    assert next(batches).texts == ["a", "b"]
    with pytest.raises(FormatError, match="line 3"):
        next(batches)
    with pytest.raises(FormatError, match=r"line 1.*limit"):
        list(formats.stream(tmp_path / "a.jsonl", limits=Limits(line=3)))
    for size, options in ((0, {}), (2, {"colour": 1}), (2, {"format": "npz"})):
        with pytest.raises(InputError):
            formats.stream(tmp_path / "a.jsonl", size, **options)


def test_the_format_is_told_by_content(tmp_path):
    for text, name in (
        ("% hi\n@relation r\n", "arff"),
        ("1,2 3:4 5:6\n", "libsvm"),
        (" 3:4 5:6\n", "libsvm"),
        ("1 2 3\n0 1:1\n", "extreme"),
        ("1,2,3\n", "rankings"),
        ('{"text": "a"}\n', "jsonl"),
        ("<!DOCTYPE lewis SYSTEM 'lewis.dtd'>\n", "reuters"),
    ):
        (tmp_path / "data").write_text(text)
        assert formats.sniff(formats.Source(tmp_path / "data")) == name
        (tmp_path / "data.txt").write_text(text)
        expected = "text" if name == "jsonl" else name
        assert formats.sniff(formats.Source(tmp_path / "data.txt")) == expected


def test_feature_numbers_from_one_or_zero(read):
    assert read("a.svm", "0 1:5\n").X.toarray().tolist() == [[5]]
    assert read("a.svm", "0 0:5 # comment\n\n1,1 2:1\n").X.toarray().tolist() == [
        [5, 0, 0],
        [0, 0, 1],
    ]
    assert read("a.svm", "0 1:5\n", zero_based=True).X.toarray().tolist() == [[0, 5]]
    with pytest.raises(FormatError, match="n_features=1"):
        read("a.svm", "0 2:5\n", n_features=1)
    data = read("a.svm", "2\t1:5\n1:1\n3\n", n_labels=5)
    assert data.Y.toarray().nonzero()[1].tolist() == [2, 3]
    assert data.Y.shape == (3, 5)


def test_ranks_become_grades_with_ties(read):
    data = read("a.csv", "2,1,3\n0.5,2,1,3\n0.5,1,1,?\n")
    np.testing.assert_array_equal(data.Y.toarray(), [[2, 3, 1], [3, 3, np.nan]])


SGML = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="1" NEWID="7">
<TOPICS><D>grain</D><D>wheat</D></TOPICS><PLACES><D>usa</D></PLACES>
<TEXT>&#2;<TITLE>A &lt;B&gt; rise</TITLE><BODY>Up.&#3;</BODY></TEXT></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" NEWID="8"><TOPICS><D>grain</D></TOPICS>
<TEXT TYPE="UNPROC">raw text</TEXT></REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TEST" NEWID="9"><TOPICS></TOPICS></REUTERS>
<REUTERS TOPICS="BYPASS" LEWISSPLIT="TEST" NEWID="10"><TOPICS></TOPICS></REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="NOT-USED" NEWID="11"><TOPICS><D>oil</D></TOPICS></REUTERS>
"""


def test_reuters_splits_from_file_folder_and_archive(tmp_path):
    path = tmp_path / "reut2-000.sgm"
    path.write_text(SGML, encoding="latin-1")
    with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
        archive.add(path, "deep/reut2-000.sgm")
    for place in (path, tmp_path, tmp_path / "r.tar.gz"):
        data = formats.read(place)
        assert (data.train.ids, data.test.ids) == (["7"], ["8"])
        assert data.label_names == ["grain", "wheat"]
        assert data.texts == ["A <B> rise\nUp.", "raw text"]
        assert formats.read(place, split="ModLewis").test.ids == ["8", "9"]
        assert formats.read(place, topics="both").label_names == ["grain"]
    path.write_text(SGML[:-200])
    with pytest.raises(FormatError, match="does not end"):
        formats.read(path)
    with pytest.raises(InputError, match="split="):
        formats.read(path, split="ModHayes")


@pytest.mark.data
def test_the_counts_of_reuters():
    folder = Path(os.environ["LABELRANK_DATA"])
    data = formats.read(folder / "reuters21578.tar.xz")
    assert (data.train.n_instances, data.test.n_instances, data.n_labels) == (9603, 3299, 118)
