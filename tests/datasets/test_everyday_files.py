"""Files as they come from offices: read rightly, or refused in a sentence that says what to do."""

import io
import re
import zipfile

import layouts as made
import pytest
from layouts import (
    ANSWERS,
    NEW,
    TRAIN,
    as_json,
    delimited,
    joined,
    parquet,
    spread,
    without,
    xlsx,
    zipped,
)

from labelrank import Tagger, datasets
from labelrank.cli import models
from labelrank.datasets import formats
from labelrank.errors import FormatError, InputError
from labelrank.learners.margins.binary_relevance import BinaryRelevanceSVM

PIPED, BARE = [joined(row, "|") for row in TRAIN], [without(row, "labels") for row in NEW]
CODES = {"red": "01067", "grün": "10115", "blau": "99084"}
EMPTY = f'<worksheet xmlns="{made.MAIN}"><sheetData/></worksheet>'


def ended(records, end):
    return delimited(records).replace(b"\n", end)


def at_the_end_of_rows(content, mark):
    return content.replace(b"\n", mark + b"\n").replace(mark + b"\n", b"\n", 1)


def members(workbook):
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def titled(records):
    """A sheet in which a title and a blank row stand above the header."""
    names = list(records[0])
    title = dict.fromkeys(names) | {names[0]: "Customers of 2024"}
    files = members(xlsx([title, dict.fromkeys(names), dict(zip(names, names)), *records]))
    sheet = files["xl/worksheets/sheet1.xml"]
    files["xl/worksheets/sheet1.xml"] = re.sub(r'<row r="1">.*?</row>', "", sheet, count=1)
    return zipped(**files)


def with_a_cover(records):
    """A workbook whose first sheet is empty."""
    files = members(xlsx(records, ("Cover", "Data")))
    return zipped(**files | {"xl/worksheets/sheet1.xml": EMPTY})


def nested(row):
    """Colour and note within objects."""
    inner = {"of": {"colour": row["colour"]}, "note": row["note"]}
    return without(row, "colour", "note") | {"data": inner}


def coded(row):
    return {**row, "colour": CODES[row["colour"]]}


FILES = {
    "carriage returns alone": ("a.csv", ended(PIPED, b"\r"), "n.csv", ended(BARE, b"\r")),
    "a separator at the end of each row but the header": (
        "a.csv", at_the_end_of_rows(delimited(PIPED), b","), "n.csv",
        at_the_end_of_rows(delimited(BARE), b",,"),
    ),
    "a separator at the end of the header": (
        "a.csv", delimited(PIPED).replace(b"\n", b",\n", 1), "n.csv",
        delimited(BARE).replace(b"\n", b",\n", 1),
    ),
    "a title": (
        "a.csv", b"Customers of 2024\n\n" + delimited(PIPED), "n.csv",
        b"New ones,,,,\n" + delimited(BARE),
    ),
    "a comment, and semicolons": (
        "a.csv", b"# exported on Monday, by hand\n" + delimited(PIPED, ";", decimal=","), "n.csv",
        b"# exported on Tuesday\n" + delimited(BARE, ";", decimal=","),
    ),
    "a sheet with a title": ("a.xlsx", titled(PIPED), "n.csv", delimited(BARE)),
    "a second sheet": ("a.xlsx", with_a_cover(PIPED), "n.csv", delimited(BARE)),
    "objects within objects": (
        "a.json", as_json(list(map(nested, TRAIN))), "n.jsonl",
        as_json(list(map(nested, BARE)), lines=True),
    ),
    "structs in Parquet": (
        "a.parquet", parquet(list(map(nested, TRAIN))), "n.json", as_json(list(map(nested, BARE))),
    ),
    "postal codes": (
        "a.csv", delimited(list(map(coded, PIPED))), "n.csv", delimited(list(map(coded, BARE))),
    ),
    "labels on lines of their own": (
        "a.csv", delimited([joined(row, "\n") for row in TRAIN]), "n.csv", delimited(BARE),
    ),
}  # fmt: skip


def put(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


def answers(tagger, data):
    return [sorted(found) for found in tagger.predict(models.documents_of(data, tagger))]


@pytest.mark.parametrize("name", FILES)
def test_an_everyday_file_is_answered_rightly_whole_and_in_batches(name, tmp_path):
    file, content, new_file, new_content = FILES[name]
    data = datasets.load(put(tmp_path, file, content))
    tagger = models.teach(Tagger(BinaryRelevanceSVM(C=100.0)), data)
    path = put(tmp_path, new_file, new_content)
    assert answers(tagger, datasets.load(path, reading=data.reading)) == ANSWERS
    if new_file.endswith(("csv", "jsonl")):
        batches = formats.stream(path, 3, reading=data.reading)
        assert [row for batch in batches for row in answers(tagger, batch)] == ANSWERS


@pytest.mark.parametrize(
    ("yes", "no"),
    [("ja", "nein"), ("J", "N"), ("oui", "non"), ("sí", "no"), ("wahr", "falsch"), ("on", "off"),
     ("да", "нет"), ("+", "-")],
)  # fmt: skip
def test_yes_and_no_are_read_in_many_languages(yes, no, tmp_path):
    path = put(tmp_path, "a.csv", delimited([spread(row, yes, no) for row in TRAIN]))
    data = datasets.load(path, n_labels=4)
    assert data.target_classes is None
    assert [sorted(data.label_names[k] for k in row.nonzero()[0]) for row in data.Y.toarray()] == [
        row["labels"] for row in TRAIN
    ]


def loaded(folder, records, **options):
    return datasets.load(put(folder, "a.csv", delimited(records)), **options)


def test_rows_above_the_header_are_said(tmp_path):
    assert (
        "1 row above the header is left out."
        in datasets.load(put(tmp_path, "a.xlsx", titled(PIPED))).remarks
    )
    texts = put(tmp_path, "b.csv", b"text\nwell, this\nand, that\n")
    with pytest.raises(FormatError, match="line 2: got 2 values, but 1 columns"):
        datasets.load(texts)


def test_what_says_that_there_is_nothing_is_no_label(tmp_path):
    rows = [{"text": f"t {k}", "labels": cell} for k, cell in enumerate(["a|b", "N/A", "-", "a"])]
    data = loaded(tmp_path, rows)
    assert data.label_names == ["a", "b"]
    assert "'-' and 'N/A': taken as no label." in data.remarks
    both = loaded(tmp_path, [*rows, {"text": "t", "labels": "NA|b"}, {"text": "u", "labels": "NA"}])
    assert both.label_names == ["NA", "a", "b"]


@pytest.mark.parametrize(("mark", "told"), [(" / ", "/"), (" & ", "&"), (" ", " ")])
def test_what_may_be_several_labels_is_asked(mark, told, tmp_path):
    rows = [joined({**row, "labels": [name.split(",")[0] for name in row["labels"]]}, mark)
            for row in TRAIN]  # fmt: skip
    said = loaded(tmp_path, rows).remarks
    assert any(f"give --label-separator {told!r}" in remark for remark in said)
    assert loaded(tmp_path, rows, label_delimiter=told).n_labels < 7


def test_names_of_two_words_are_not_asked_for(tmp_path):
    names = ["New York", "New Jersey", "North Carolina", "South Carolina", "Ohio", "Utah"]
    data = loaded(tmp_path, [{"text": "t", "labels": name} for name in names])
    assert not [remark for remark in data.remarks if "label-separator" in remark]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("a.csv", b"id,text,labels\n", "no record in it; give a header and at least one row"),
        (
            "a.csv",
            b'"id","text"\n"1","a \\"b\\" c"\n',
            "line 2: .*quote within a quoted cell twice",
        ),
        ("a.csv", b'id,text\n1,"a\nb\n', "line 3: .*close every quote"),
        ("a.zip", zipped(**{"a.csv": "id,text"}), "a zip archive of 'a.csv'; unpack it"),
        ("a.xlsx", xlsx([{"a": None}]), "no record in the sheet 'Data'; give a header"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_do(file, content, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        datasets.load(put(tmp_path, file, content))


def test_labels_that_are_not_there_are_asked_for_by_the_columns(tmp_path):
    with pytest.raises(InputError, match=r"name their column by --label-column \(it has 'id', "):
        models.check_labels(loaded(tmp_path, BARE))
