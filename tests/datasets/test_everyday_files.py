"""Files as they come from offices: read rightly, or refused in a sentence that says what to do."""

import io
import re
import zipfile

import layouts as made
import numpy as np
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
from labelrank.cli.survey import check_labels
from labelrank.datasets import formats
from labelrank.datasets.targets import as_labels
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
        check_labels(loaded(tmp_path, BARE))


def wide(folder, *columns, **options):
    """The last columns as labels beside one number."""
    names = [f"y{k}" for k, _ in enumerate(columns, 1)]
    rows = [{"size": k / 2, **dict(zip(names, cells))} for k, cells in enumerate(zip(*columns))]
    return loaded(folder, rows, n_labels=len(columns), **options)


def test_label_columns_of_ones_and_twos_are_refused_unless_they_are_graded(tmp_path):
    with pytest.raises(FormatError, match="'y1', 'y2' hold 1 and 2 but no 0, so every row would"):
        wide(tmp_path, [1, 2, 1, 2], [2, 2, 1, 1])
    with pytest.raises(FormatError, match="label column 'y2' holds 1 and 2"):
        wide(tmp_path, [1, 0, 1, 0], ["2", "", "1", "1"])
    assert wide(tmp_path, [1, 2, 1], [2, 2, 1], graded=True).Y.toarray().max() == 2
    for further in ([0, 2, 1], [1, 2, 3]):  # which tell that 2 is a grade
        assert wide(tmp_path, [1, 2, 1], further).n_labels == 2
    known = wide(tmp_path, [0, 1, 2]).reading
    assert wide(tmp_path, [1, 2, 2], reading=known).Y.toarray().ravel().tolist() == [1, 2, 2]


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["10:30;12:45", "10:30"], ["10:30", "12:45"]),
        (["floor:1;floor:2", "room:1"], ["floor:1", "floor:2", "room:1"]),
        (["ISO:9001;DIN:4102", "ISO:9001"], ["DIN:4102", "ISO:9001"]),
        ([f"case:{k}" for k in range(30)], sorted(f"case:{k}" for k in range(30))),
    ],
)
def test_names_with_a_colon_and_a_number_are_no_grades(cells, names, tmp_path):
    rows = [{"text": f"t {k}", "labels": cell} for k, cell in enumerate(cells)]
    data = loaded(tmp_path, rows)
    assert data.label_names == names
    first = cells[0].split(";")[0]
    assert f"{first!r} is one name; if its number is a grade, give --graded." in data.remarks
    assert loaded(tmp_path, rows, graded=True).label_names == sorted(
        {n.split(":")[0] for n in names}
    )


def test_grades_in_cells_are_told_with_the_way_to_overrule(tmp_path):
    rows = [{"text": "t", "labels": cell} for cell in ("sea:2;farm:1", "sea:1", "farm:3")]
    data = loaded(tmp_path, rows)
    assert (data.label_names, data.Y.toarray().tolist()[0]) == (["farm", "sea"], [1, 2])
    assert "'sea:2' is label 'sea' of grade 2; if it is all name, give --no-graded." in data.remarks
    assert loaded(tmp_path, rows, graded=False).n_labels == 4


def test_values_that_two_columns_share_are_named_with_their_column(tmp_path):
    for second in (["low", "low", "high"], ["low", "high", "low"]):
        data = wide(tmp_path, ["high", "low", "high"], second)
        assert as_labels(data).label_names == ["y1=high", "y1=low", "y2=high", "y2=low"]
        assert "Each value of 'y1', 'y2' is a label, such as 'y1=high'." in data.remarks


def test_columns_of_one_label_each_are_pooled_though_few_rows_repeat_one(tmp_path):
    tags = [["sea", "farm", "trade"][k % 3] for k in range(300)]
    others = [["", "sea", "farm"][k % 3] for k in range(300)]
    assert wide(tmp_path, tags, others).label_names == ["farm", "sea", "trade"]
    others[5] = tags[5]
    assert wide(tmp_path, tags, others).label_names == ["farm", "sea", "trade"]


def prices(folder, name, cells, reading=None, mark=","):
    rows = [{"price": cell, "kind": "ab"[k % 2], "labels": "xy"[k % 2]}
            for k, cell in enumerate(cells)]  # fmt: skip
    return datasets.load(put(folder, name, delimited(rows, mark)), reading=reading)


@pytest.mark.parametrize(
    ("learned", "new", "values"),
    [
        (["1.234,5", "2,5"], ["1.234", "2.500"], [1234, 2500]),
        (["1,5", "2,5"], ["1,500", "2,250"], [1.5, 2.25]),
        (["1,234", "2,345.5"], ["1,234", "3"], [1234, 3]),
        (["0.5", "1.5"], ["1,234", "3"], [1234, 3]),
    ],
)
def test_the_decimal_mark_of_a_column_is_remembered(learned, new, values, tmp_path, recwarn):
    reading = prices(tmp_path, "a.csv", learned).reading
    data = prices(tmp_path, "n.csv", new, reading)
    assert list(map(float, data.table["price"])) == values
    batches = formats.stream(tmp_path / "n.csv", 1, reading=reading)
    assert [float(batch.table["price"][0]) for batch in batches] == values
    assert not recwarn.list


def test_numbers_written_otherwise_than_they_were_learned_are_told(tmp_path):
    points = prices(tmp_path, "a.csv", ["0.5", "1.5"]).reading
    with pytest.warns(
        UserWarning, match=r"'price' are read as written 1.234,5, though .* '\.' bef"
    ):
        assert list(prices(tmp_path, "n.csv", ["1,5", "3"], points).table["price"]) == [1.5, 3]
    commas = prices(tmp_path, "a.csv", ["1,5", "2,5"], mark=";").reading
    with pytest.warns(UserWarning, match="'price' are read as written 1234.5, though"):
        assert prices(tmp_path, "n.csv", ["1.234"], commas).table["price"] == ["1.234"]


def test_objects_of_python_and_gaps_in_a_matrix_are_refused_with_what_to_do(tmp_path):
    names = np.array(["a", "b"], dtype=object)
    path = put(tmp_path, "a.npz", made.npz(X=np.eye(2), Y=np.eye(2), label_names=names))
    with pytest.raises(FormatError, match=r"'label_names\.npy' holds Python objects, .*dtype=str"):
        datasets.load(path)
    with pytest.raises(FormatError, match=r"a\.npy holds Python objects"):
        datasets.load(put(tmp_path, "a.npy", made.npy(names)))
    with pytest.raises(FormatError, match=r"v\.npy: got nan in row 2, column 3, where a number"):
        datasets.load(put(tmp_path, "v.npy", made.npy(np.array([[1, 2, 3], [4, 5, np.nan]]))))


def test_answers_of_predict_are_no_features(tmp_path):
    rows = [{"size": k, "labels": "ab"[k % 2], "ranked": "a|b", "scores": f"{k}|0"}
            for k in range(5)]  # fmt: skip
    data = loaded(tmp_path, rows)
    assert (list(data.table), data.label_names) == (["size"], ["a", "b"])
    assert "Left out: 'ranked' (an answer of predict)." in data.remarks
    answers = ("labels", "ranked", "scores", "probabilities")
    predicted = {f"predicted_{name}": "b|a" for name in answers}
    renamed = [{"labels": "a", "size": k, **predicted} for k in range(5)]
    assert list(loaded(tmp_path, renamed).table) == ["size"]


@pytest.mark.parametrize(
    ("cells", "mark", "read", "other", "decimal"),
    [(["1,234", "2,345"], ",", 1234, 1.234, ","), (["1,234", "2"], ";", 1.234, 1234, ".")],
)
def test_commas_that_may_be_either_mark_are_told_and_overruled(
    cells, mark, read, other, decimal, tmp_path
):
    data = prices(tmp_path, "a.csv", cells, mark=mark)
    told = f"'1,234' in column 'price' is read as {read}; if it is {other}, give --decimal"
    assert [one for one in data.remarks if one.startswith(told)]
    assert data.table["price"][0] == read
    assert datasets.load(tmp_path / "a.csv", decimal=decimal).table["price"][0] == other
    assert not [
        one for one in prices(tmp_path, "b.csv", ["1,234.5", "2"]).remarks if "is read" in one
    ]
    with pytest.raises(InputError, match="got decimal='x'"):
        datasets.load(tmp_path / "a.csv", decimal="x")


LONG = "id,note,size,tag\n" + "".join(
    f"{row['id']},{row['note'].replace(',', '')},{row['size']},{name}\n"
    for row in TRAIN for name in ("large" if row["size"] > 5 else "small", row["colour"])
)  # fmt: skip


def test_rows_that_differ_in_their_label_alone_are_one_document(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(LONG)
    data = datasets.load(path, label_column="tag")
    assert data.n_instances == len(TRAIN)
    assert data.Y.sum(axis=1).tolist() == [2.0] * len(TRAIN)
    assert data.ids == [row["id"] for row in TRAIN]
    told = f"{2 * len(TRAIN)} rows, one per label, are {len(TRAIN)} documents"
    assert any(told in remark for remark in data.remarks)
    apart = datasets.load(path, label_column="tag", joined=False)
    assert (apart.n_instances, apart.Y.nnz) == (2 * len(TRAIN), 2 * len(TRAIN))
    few = tmp_path / "few.csv"
    few.write_text("\n".join(LONG.splitlines()[:3]) + "\nr9,barn,2,blau\n")
    assert datasets.load(few, reading=data.reading).Y.sum(axis=1).tolist() == [2.0, 1.0]


def test_few_rows_that_differ_in_their_label_alone_stay_and_are_told(tmp_path):
    path = tmp_path / "tickets.csv"
    rows = [f"ticket {k} of the day,{'red' if k % 2 else 'blue'}" for k in range(40)]
    path.write_text("\n".join(["text,label", *rows, "ticket 3 of the day,blue"]))
    data = datasets.load(path)
    assert data.n_instances == 41
    assert "1 row differs from another in the label alone; --join-rows makes them one." in (
        data.remarks
    )
    assert datasets.load(path, joined=True).n_instances == 40


def test_rows_of_a_table_that_are_alike_by_chance_are_not_joined(tmp_path):
    path = tmp_path / "passengers.csv"
    rows = [f"{k % 3},{'mf'[k % 2]},{'yes' if k % 5 else 'no'}" for k in range(60)]
    path.write_text("\n".join(["class,sex,label", *rows]))
    assert datasets.load(path).n_instances == 60
    assert datasets.load(path, joined=True).n_instances == 6


@pytest.mark.parametrize("cells", [["a|b", "c", "a"], ["a:2", "b:1", "a:1"], [["a"], ["b", "c"]]])
def test_rows_with_several_labels_or_grades_are_not_joined(tmp_path, cells):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(as_json([{"text": "the same", "labels": cell} for cell in cells], lines=True))
    assert datasets.load(path).n_instances == len(cells)
