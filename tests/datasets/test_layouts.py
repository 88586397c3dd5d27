"""Files as people have them: the right answer, or one sentence; never a wrong answer."""

import json
import subprocess
import sys

import layouts as made
import numpy as np
import pytest
from layouts import NEW, TRAIN, as_json, delimited, joined, ods, parquet, spread, without, xlsx

from labelrank import Tagger, datasets
from labelrank.cli import models
from labelrank.datasets import formats
from labelrank.errors import LabelrankError
from labelrank.learners.margins.binary_relevance import BinaryRelevanceSVM


def bare(records=NEW, *names):
    """Rows without labels (and without further columns), in another order of columns."""
    return [dict(reversed(without(row, "labels", *names).items())) for row in records]


def listed(row):
    return {**row, "labels": str(row["labels"])}


def with_gaps(records, gap=""):
    """Some numbers are missing: those of rows whose label does not depend on them."""
    return [
        {**row, "weight": gap if k % 5 == 0 else float(k % 7) + 0.5, "size": row["size"]}
        for k, row in enumerate(records)
    ]


def vectors(records):
    """Three numbers per row that tell its labels, in place of the columns."""
    return [
        [float(row["colour"] == "red"), (row["size"] > 5) + row["size"] / 100,
         float("ships" in row["note"])]
        for row in records
    ]  # fmt: skip


def printed(vector):
    return str(np.array(vector))


def wrapped(vector):
    return str([np.float64(number) for number in vector])


def embedded(records, write=list):
    return [
        {"id": row["id"], "vector": write(vector), "labels": row["labels"]}
        for row, vector in zip(records, vectors(records))
    ]


def numbers(records):
    return [
        dict(zip(("a", "b", "c"), vector)) | spread({"labels": row["labels"]})
        for row, vector in zip(records, vectors(records))
    ]


def tagged(row):
    """Labels in columns of which each has one or none."""
    names = [*row["labels"], None, None, None][:3]
    return without(row, "labels") | {f"label{k}": name for k, name in enumerate(names, 1)}


PIPED, SEMI, NEW_CSV = [joined(r, "|") for r in TRAIN], [joined(r, ";") for r in TRAIN], bare()
LAYOUTS = {
    "commas and pipes": ("a.csv", delimited(PIPED), {}, "n.csv", delimited(NEW_CSV)),
    "semicolons and decimal commas": (
        "a.csv", delimited(PIPED, ";", decimal=","), {}, "n.csv",
        delimited(NEW_CSV, ";", decimal=","),
    ),
    "decimal commas learned, points met": (
        "a.csv", delimited(PIPED, ";", decimal=","), {}, "n.csv", delimited(NEW_CSV),
    ),
    "points learned, decimal commas met": (
        "a.csv", delimited(PIPED), {}, "n.csv",
        delimited(NEW_CSV, ";", decimal=","),
    ),
    "tabs under .csv": ("a.csv", delimited(PIPED, "\t"), {}, "n.tsv", delimited(NEW_CSV, "\t")),
    "tabs": ("a.tsv", delimited(SEMI, "\t"), {}, "n.csv", delimited(NEW_CSV)),
    "pipes between cells": ("a.csv", delimited(SEMI, "|"), {}, "n.csv", delimited(NEW_CSV, "|")),
    "a separator that is told": (
        "a.csv", delimited(PIPED, ":"), {"separator": ":"}, "n.csv", delimited(NEW_CSV),
    ),
    "sep= in the first line": (
        "a.csv", b"sep=;\n" + delimited(PIPED, ";"), {}, "n.csv", delimited(NEW_CSV),
    ),
    "utf-8 with a mark": ("a.csv", delimited(PIPED, encoding="utf-8-sig"), {}, "n.csv",
                          delimited(NEW_CSV, encoding="utf-8-sig")),
    "utf-16": ("a.csv", delimited(PIPED, encoding="utf-16"), {}, "n.csv",
               delimited(NEW_CSV, encoding="utf-16-le")),
    "windows-1252 learned, utf-8 met": (
        "a.csv", delimited(PIPED, ";", "windows-1252"), {}, "n.csv", delimited(NEW_CSV),
    ),
    "utf-8 learned, latin-1 met": (
        "a.csv", delimited(PIPED), {}, "n.csv", delimited(NEW_CSV, "\t", "latin-1"),
    ),
    "an encoding that is told": (
        "a.csv", delimited(PIPED, encoding="cp437"), {"encoding": "cp437"}, "n.csv",
        delimited(NEW_CSV),
    ),
    "lists of Python as labels": ("a.csv", delimited(list(map(listed, TRAIN))), {}, "n.csv",
                                  delimited(NEW_CSV)),
    "lists of JSON as labels": (
        "a.csv", delimited([{**r, "labels": json.dumps(r["labels"])} for r in TRAIN]), {}, "n.csv",
        delimited(NEW_CSV),
    ),
    "label columns of 0 and 1, the last": (
        "a.csv", delimited([spread(r) for r in TRAIN]), {"n_labels": 4}, "n.csv",
        delimited(NEW_CSV),
    ),
    "label columns of yes and no, by pattern": (
        "a.csv", delimited([spread(r, "yes", "no", "is_{}") for r in TRAIN]),
        {"label_column": "is_*"}, "n.csv", delimited(NEW_CSV),
    ),
    "label columns of true and false, by name": (
        "a.csv", delimited([spread(r, True, False) for r in TRAIN]),
        {"label_column": made.NAMES}, "n.csv", delimited(NEW_CSV),
    ),
    "label columns of crosses, the first": (
        "a.csv", delimited([dict(reversed(spread(r, "x", "").items())) for r in TRAIN]),
        {"n_labels": 4, "labels_at": "first"}, "n.csv", delimited(NEW_CSV),
    ),
    "several columns of names": (
        "a.csv", delimited([tagged(r) for r in TRAIN]), {"label_column": "label*"}, "n.csv",
        delimited(NEW_CSV),
    ),
    "labels in another column": (
        "a.csv", delimited([without(r, "labels") | {"Marks": r["labels"]} for r in PIPED]),
        {"label_column": "Marks"}, "n.csv", delimited(NEW_CSV),
    ),
    "gaps among numbers": ("a.csv", delimited(with_gaps(PIPED)), {}, "n.csv",
                           delimited(bare(with_gaps(NEW)))),
    "gaps written NA": ("a.csv", delimited(with_gaps(PIPED, "NA")), {}, "n.jsonl",
                        as_json(bare(with_gaps(NEW, None)), lines=True)),
    "further columns in the new file": (
        "a.csv", delimited(PIPED), {}, "n.csv",
        delimited([{"x": 1, **row, "y": "new"} for row in NEW_CSV]),
    ),
    "JSON lines": ("a.jsonl", as_json(TRAIN, lines=True), {}, "n.csv", delimited(NEW_CSV)),
    "a JSON array": ("a.json", as_json(TRAIN), {}, "n.jsonl", as_json(NEW_CSV, lines=True)),
    "JSON lines under .json": ("a.json", as_json(TRAIN, lines=True), {}, "n.json",
                               as_json(NEW_CSV, lines=True)),
    "an array in a JSON object": (
        "a.json", b'{"count": 72, "data": ' + as_json(TRAIN) + b"}", {}, "n.json", as_json(NEW_CSV),
    ),
    "Parquet": ("a.parquet", parquet(TRAIN), {}, "n.parquet", parquet(NEW_CSV)),
    "Parquet learned, CSV met": ("a.parquet", parquet(TRAIN), {}, "n.csv", delimited(NEW_CSV)),
    "a workbook": ("a.xlsx", xlsx(PIPED), {}, "n.xlsx", xlsx(NEW_CSV)),
    "a workbook learned, CSV met": ("a.xlsx", xlsx(PIPED), {}, "n.csv", delimited(NEW_CSV, ";")),
    "a sheet by its name": (
        "a.xlsx", xlsx(PIPED, sheets=("Notes", "Data")), {"sheet": "Data"}, "n.ods", ods(NEW_CSV),
    ),
    "an OpenDocument sheet": ("a.ods", ods(PIPED), {}, "n.csv", delimited(NEW_CSV)),
    "vectors in Parquet": ("a.parquet", parquet(embedded(TRAIN)), {}, "n.parquet",
                           parquet(bare(embedded(NEW)))),
    "vectors in JSON lines": ("a.jsonl", as_json(embedded(TRAIN), lines=True), {}, "n.csv",
                              delimited(bare(embedded(NEW, str)))),
    "vectors as numpy prints them": (
        "a.csv", delimited([joined(r, "|") for r in embedded(TRAIN, printed)]), {}, "n.csv",
        delimited(bare(embedded(NEW, str))),
    ),
    "vectors as lists of numpy's numbers": (
        "a.csv", delimited([joined(r, "|") for r in embedded(TRAIN, wrapped)]), {}, "n.jsonl",
        as_json(bare(embedded(NEW)), lines=True),
    ),
    "vectors in CSV": (
        "a.csv", delimited([joined(r, "|") for r in embedded(TRAIN, str)]), {}, "n.parquet",
        parquet(bare(embedded(NEW))),
    ),
    "numbers alone": ("a.csv", delimited(numbers(TRAIN)), {"n_labels": 4}, "n.csv",
                      delimited([without(r, *made.NAMES) for r in numbers(NEW)])),
    "a matrix of numpy and a file of labels": (
        "a.npy", made.npy(np.array(vectors(TRAIN), np.float32)), {"labels_file": "labels.txt"},
        "n.npy", made.npy(np.array(vectors(NEW), np.float64)),
    ),
    "half precision, labels as a matrix": (
        "a.npy", made.npy(np.array(vectors(TRAIN), np.float16)), {"labels_file": "labels.npy"},
        "n.npy", made.npy(np.array(vectors(NEW), np.float16)),
    ),
    "an archive of numpy with names": (
        "a.npz", made.npz(X=np.array(vectors(TRAIN)), label_names=np.array(made.NAMES), Y=np.array(
            [[name in row["labels"] for name in made.NAMES] for row in TRAIN]) * 1),
        {}, "n.npz", made.npz(X=np.array(vectors(NEW))),
    ),
}  # fmt: skip


def put(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


@pytest.fixture
def folder(tmp_path):
    """A folder with the labels of the rows in files of their own."""
    lines = "".join("|".join(row["labels"]) + "\n" for row in TRAIN)
    put(tmp_path, "labels.txt", lines.encode())
    ones = [[name in row["labels"] for name in made.NAMES] for row in TRAIN]
    put(tmp_path, "labels.npy", made.npy(np.array(ones, np.int8)))
    return tmp_path


def learned(data):
    tagger = Tagger(BinaryRelevanceSVM(C=100.0))
    return models.teach(tagger, data)


def answers(tagger, data):
    return [sorted(found) for found in tagger.predict(models.documents_of(data, tagger))]


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_answered_rightly(name, folder):
    file, content, options, new_file, new_content = LAYOUTS[name]
    options = {k: folder / v if k == "labels_file" else v for k, v in options.items()}
    data = datasets.load(put(folder, file, content), **options)
    tagger = learned(data)
    expected = [[label_name(name, one) for one in row] for row in made.ANSWERS]
    new = datasets.load(put(folder, new_file, new_content), reading=data.reading)
    assert new.n_labels == 0
    assert answers(tagger, new) == [sorted(row) for row in expected]


def label_name(layout, name):
    """Labels are called as their columns are; a matrix has numbers for names."""
    if layout == "half precision, labels as a matrix":
        return str(made.NAMES.index(name))
    return f"is_{name}" if "pattern" in layout else name


def test_there_are_thirty_layouts_at_least():
    assert len(LAYOUTS) >= 30


@pytest.mark.parametrize("name", [
    name for name, (_, _, _, file, _) in LAYOUTS.items()
    if file.endswith(("csv", "tsv", "jsonl", "parquet"))
])  # fmt: skip
def test_every_layout_is_answered_alike_row_by_row(name, folder):
    file, content, options, new_file, new_content = LAYOUTS[name]
    data = datasets.load(put(folder, file, content), **options)
    tagger = learned(data)
    path = put(folder, new_file, new_content)
    whole = answers(tagger, datasets.load(path, reading=data.reading))
    batches = list(formats.stream(path, 1, reading=data.reading))
    assert [row for batch in batches for row in answers(tagger, batch)] == whole


REFUSED = {
    "a column that the model has learned is missing": (
        "n.csv", delimited(bare(NEW, "colour")), {},
        "no column 'colour', which the model has learned; .*it has 'day', 'size', 'note', 'id'",
    ),
    "a cell that is no number": (
        "n.csv", delimited([{**row, "size": "1O"} for row in NEW_CSV]), {},
        "got '1O' in row 1 of column 'size', which holds numbers",
    ),
    "an infinite number": (
        "n.csv", delimited([{**row, "size": "1e999"} for row in NEW_CSV]), {},
        "got '1e999' in row 1 of column 'size', which holds numbers",
    ),
    "a number of five thousand digits": (
        "n.csv", delimited([{**row, "size": "7" * 5000} for row in NEW_CSV]), {},
        "in row 1 of column 'size', which holds numbers",
    ),
    "a row that is too long": (
        "n.csv", delimited(NEW_CSV) + b"1,2,3,4,5,6\n", {}, "line 6: got 6 values, but 5 columns",
    ),
    "damaged UTF-8": (
        "n.csv", delimited(NEW_CSV) + "x,1,é,é,".encode() + b"\xe9\n", {}, "line 6: not utf-8",
    ),
    "Cyrillic in one byte per letter": (
        "n.csv", delimited(NEW_CSV) + "день,1,море,лес,к\n".encode("cp1251"), {},
        "line 6: not utf-8 text, nor of Western Europe; give its encoding",
    ),
    "an old workbook": ("n.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), {},
                        "an old Excel workbook; save it as .xlsx"),
    "a sheet that is not there": ("n.xlsx", xlsx(NEW_CSV), {"sheet": "Dato"},
                                  "no sheet 'Dato'; did you mean Data"),
    "JSON that is no array of objects": ("n.json", b'{"a": [1], "b": [2]}', {},
                                         "an array of JSON objects is wanted"),
    "a separator of two signs": ("n.csv", delimited(NEW_CSV), {"separator": "::"},
                                 "got separator '::'; give one character"),
    "labels of other rows": ("n.csv", delimited(NEW_CSV), {"labels_file": "labels.txt"},
                             "got labels of 72 rows for the 4 rows of n"),
    "no text of that name": ("n.csv", delimited(NEW_CSV), {"text_column": "nota"},
                             "no column 'nota'; did you mean note"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered_is_refused_in_one_sentence(name, folder):
    file, content, options, message = REFUSED[name]
    options = {k: folder / v if k == "labels_file" else v for k, v in options.items()}
    data = datasets.load(put(folder, "a.csv", delimited(PIPED)))
    tagger = learned(data)
    with pytest.raises(LabelrankError, match=message) as refused:
        answers(tagger, datasets.load(put(folder, file, content), reading=data.reading, **options))
    assert "\n" not in str(refused.value)


TRAPS = {
    "a label column of which nothing fits": ({"label_column": "tag_*"}, "no column 'tag_\\*'"),
    "as many labels as columns": ({"n_labels": 6}, "got 6 label columns, but it has 6 columns"),
    "two ways to name the labels": ({"n_labels": 2, "label_column": "labels"}, "give one of them"),
    "a role of no column": ({"roles": {"color": "category"}}, "no column 'color'; did you mean"),
    "text and labels in one": (
        {"text_column": "labels", "label_column": "labels"},
        "'labels' as text and as label column",
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_options_that_contradict_the_file_are_refused(name, folder):
    options, message = TRAPS[name]
    with pytest.raises(LabelrankError, match=message):
        datasets.load(put(folder, "a.csv", delimited(PIPED)), **options)


def test_what_was_guessed_is_said(folder):
    data = datasets.load(put(folder, "a.csv", delimited(PIPED, ";", "latin-1", ",")))
    assert data.remarks == [
        "The text is not UTF-8; it was read as windows-1252.",
        "Cells are separated by semicolons.",
        "Labels are in column 'labels', separated by '|'.",
        "Numbers have decimal commas.",
    ]
    said = datasets.load(folder / "a.csv", separator=";", encoding="latin-1")
    assert "Cells are separated by semicolons." not in said.remarks


def test_a_category_never_met_is_read_and_a_file_of_one_row_too(folder):
    data = datasets.load(put(folder, "a.csv", delimited(PIPED)))
    tagger = learned(data)
    for row, expected in zip(NEW_CSV, made.ANSWERS):
        path = put(folder, "n.csv", delimited([row]))
        assert answers(tagger, datasets.load(path, reading=data.reading)) == [expected]
    strange = put(folder, "n.csv", delimited([{**NEW_CSV[0], "colour": "purple"}]))
    assert len(answers(tagger, datasets.load(strange, reading=data.reading))) == 1


def test_spellings_are_merged_alike_in_every_file(folder):
    shouted = [
        {**r, "labels": r["labels"].replace("warm", " WARM ") if k % 5 == 0 else r["labels"]}
        for k, r in enumerate(PIPED)
    ]
    path = put(folder, "a.csv", delimited(shouted))
    assert datasets.load(path).n_labels == 5
    data = datasets.load(path, merge_spellings=True)
    assert data.label_names == made.NAMES
    assert "Labels that are another spelling of one were merged: 1." in data.remarks
    new = [{**r, "labels": [name.upper() for name in r["labels"]]} for r in NEW]
    for name, content in (("n.jsonl", as_json(new, lines=True)), ("n.json", as_json(new))):
        path = put(folder, name, content)
        found = datasets.load(path, reading=data.reading)
        assert [sorted(row) for row in names_of(found)] == made.ANSWERS
    batches = formats.stream(folder / "n.jsonl", 1, reading=data.reading)
    assert [sorted(row) for batch in batches for row in names_of(batch)] == made.ANSWERS


def names_of(data):
    return [[data.label_names[k] for k in np.flatnonzero(row)] for row in data.Y.toarray()]


def test_evaluation_reads_labels_as_they_were_learned(folder):
    data = datasets.load(put(folder, "a.csv", delimited([spread(r) for r in TRAIN])), n_labels=4)
    rows = [dict(reversed(spread(r).items())) for r in NEW]
    new = datasets.load(put(folder, "n.csv", delimited(rows, ";")), reading=data.reading)
    assert [sorted(row) for row in names_of(new)] == made.ANSWERS
    some = [without(row, "large") for row in rows]
    with pytest.raises(LabelrankError, match="no column 'large', of labels that the model has"):
        datasets.load(put(folder, "n.csv", delimited(some)), reading=data.reading)


def test_points_between_thousands_are_told_from_decimal_points(folder):
    lines = "".join(f"{k},5;{n};{'big' if k > 5 else 'small'}\n"
                    for k, n in zip(range(10), ["999", "1.234"] * 5))  # fmt: skip
    data = datasets.load(put(folder, "a.csv", f"size;price;labels\n{lines}".encode()))
    assert data.table["price"].tolist() == [999.0, 1234.0] * 5
    one = put(folder, "n.csv", b"price;size\n2.500;3\n")
    assert datasets.load(one, reading=data.reading).table["price"].tolist() == [2500.0]
    points = put(folder, "n.csv", b"price,size\n2.5,3.5\n")
    table = datasets.load(points, reading=data.reading).table
    assert (table["price"], table["size"]) == (["2.5"], ["3.5"])


@pytest.mark.parametrize(("cell", "names"), [
    ("['a', 'b']", ["a", "b"]), ('["a", "b"]', ["a", "b"]), ("{'b', 'a'}", ["a", "b"]),
    ("('a',)", ["a"]), ("set()", []), ("[]", []), ("[a; b]", ["a", "b"]), ("a|b", ["a", "b"]),
    ("['it\\'s', \"b\"]", ["b", "it's"]), ("{'a': 1}", None), ("['a', open('x')]", None),
    ("[[1]]", None), ("[" * 9000, None),
])  # fmt: skip
def test_lists_in_cells_are_read_in_every_notation(folder, cell, names):
    path = put(folder, "a.csv", delimited([{"text": "t", "labels": cell}]))
    if names is None:
        with pytest.raises(LabelrankError, match=r"line 2: got .* as a label|line 2: got labels"):
            datasets.load(path)
    else:
        assert datasets.load(path).label_names == names


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "shift-jis", "gbk", "cp1253"])
def test_text_that_is_not_western_is_refused_where_its_encoding_is_open(folder, encoding):
    text = {"shift-jis": "こんにちは世界", "gbk": "你好世界你好", "cp1253": "γειά σου κόσμε"}
    row = {"text": text.get(encoding, "привет большой мир"), "labels": "x"}
    path = put(folder, "a.csv", delimited([row] * 3, encoding=encoding))
    with pytest.raises(LabelrankError, match="line 2: not utf-8 text, nor of Western Europe"):
        datasets.load(path)
    assert datasets.load(path, encoding=encoding).texts == [row["text"]] * 3


@pytest.mark.parametrize("module", ["choice", "labelling", "stated", "records"])
def test_readers_can_be_imported_in_any_order(module):
    code = f"import labelrank.datasets.{module}"
    subprocess.run([sys.executable, "-c", code], check=True)
