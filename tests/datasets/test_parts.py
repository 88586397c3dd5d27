"""Data sets in pieces: files described by their first bytes, what is wrong named by its path."""

import json
import os

import polars as pl
import pytest

from labelrank.datasets import load, open_parts
from labelrank.errors import FormatError, MissingError

ROWS = [("wheat and rye", ["grain"]), ("crude oil", ["oil", "trade"]), ("rye", ["grain"])]


def parquet(path, rows, **more):
    texts, labels = [text for text, _ in rows], [names for _, names in rows]
    schema = {"text": pl.String, "labels": pl.List(pl.String)}
    table = pl.DataFrame({"text": texts, "labels": labels}, schema=schema)
    table.with_columns(**{name: pl.lit(value) for name, value in more.items()}).write_parquet(path)


def jsonl(path, rows):
    lines = (json.dumps({"text": text, "labels": names}) + "\n" for text, names in rows)
    path.write_text("".join(lines))


def csv(path, rows):
    lines = (f"{text},{'|'.join(names)}\n" for text, names in rows)
    path.write_text("text,labels\n" + "".join(lines))


WRITERS = {"parquet": parquet, "jsonl": jsonl, "csv": csv}


@pytest.mark.parametrize("ending", WRITERS)
def test_the_rows_of_all_parts_are_those_of_the_whole(tmp_path, ending):
    write = WRITERS[ending]
    for k, rows in enumerate([ROWS[:1], [], ROWS[1:]]):
        write(tmp_path / f"part-{k}.{ending}", rows)
    write(tmp_path / f"whole-{ending}.{ending}", ROWS)
    parts = open_parts(tmp_path / f"part-*.{ending}")
    whole = load(tmp_path / f"whole-{ending}.{ending}")
    read = [part.read() for part in parts]
    assert [text for one in read for text in one.texts] == whole.texts
    assert [one.n_instances for one in read] == [1, 0, 2]
    assert parts.empty == [str(tmp_path / f"part-1.{ending}")]
    names = [[whole.label_names[k] for k in row.indices] for row in whole.Y]
    found = [[one.label_names[k] for k in row.indices] for one in read for row in one.Y]
    assert found == names
    batches = [text for part in parts for batch in part.batches(1) for text in batch.texts]
    assert batches == whole.texts


def test_footers_tell_rows_and_types_and_nothing_is_read(tmp_path):
    parquet(tmp_path / "a.parquet", ROWS)
    parquet(tmp_path / "b.parquet", [])
    (tmp_path / "_SUCCESS").touch()
    parts = open_parts(tmp_path)
    assert (len(parts), parts.n_rows) == (2, 3)
    assert parts.columns == {"text": "String", "labels": "List(String)"}


def test_extreme_text_is_described_by_its_first_line(tmp_path):
    (tmp_path / "a.txt").write_text("2 3 4\n0,1 0:1 2:.5\n3 1:1\n")
    (tmp_path / "b.txt").write_text("0 3 4\n")
    parts = open_parts(tmp_path / "*.txt")
    assert (parts.n_rows, parts.empty) == (2, [str(tmp_path / "b.txt")])
    assert [part.read().X.shape for part in parts] == [(2, 3), (0, 3)]
    assert [part.read().Y.shape for part in parts] == [(2, 4), (0, 4)]
    (tmp_path / "c.txt").write_text("1 3 5\n0 0:1\n")
    with pytest.raises(FormatError, match=r"c\.txt: column 'labels' is 5, but 4 in .*a\.txt"):
        open_parts(tmp_path / "*.txt")


def damage(path):
    path.write_bytes(path.read_bytes()[:-20])


def other_column(path):
    parquet(path, ROWS, extra=1)


def other_type(path):
    rows = {"text": ["a"], "labels": [[1, 2]]}
    pl.DataFrame(rows).write_parquet(path)


def no_labels(path):
    pl.DataFrame({"text": ["a"]}).write_parquet(path)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (damage, "not a Parquet file, or damaged"),
        (other_column, "a column 'extra', unlike .*a.parquet"),
        (other_type, "column 'labels' is List.Int64., but List.String. in .*a.parquet"),
        (no_labels, "no column 'labels', unlike"),
    ],
)
def test_a_bad_part_is_named_before_anything_is_read(tmp_path, harm, message):
    for name in "abc":
        parquet(tmp_path / f"{name}.parquet", ROWS)
    harm(tmp_path / "b.parquet")
    with pytest.raises(FormatError, match=rf"b\.parquet: {message}"):
        open_parts(tmp_path)


def test_lines_of_other_columns_or_types_are_named(tmp_path):
    jsonl(tmp_path / "a.jsonl", ROWS)
    (tmp_path / "b.jsonl").write_text('{"text": "a", "labels": "grain"}\n')
    with pytest.raises(FormatError, match=r"b\.jsonl: column 'labels' is str, but list in .*a\."):
        open_parts(tmp_path)
    (tmp_path / "b.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(FormatError, match=r"b\.jsonl: no column 'labels', unlike"):
        open_parts(tmp_path)
    (tmp_path / "b.jsonl").write_text("no json\n")
    with pytest.raises(FormatError, match=r"b\.jsonl, line 1: not a JSON object"):
        open_parts(tmp_path)
    os.remove(tmp_path / "b.jsonl")
    csv(tmp_path / "b.csv", ROWS)
    with pytest.raises(FormatError, match=r"b\.csv: is csv, but .*a\.jsonl is jsonl"):
        open_parts(tmp_path)


def test_a_mark_between_labels_that_only_one_part_has(tmp_path):
    csv(tmp_path / "a.csv", [("wheat", ["grain"])])
    csv(tmp_path / "b.csv", ROWS)
    parts = open_parts(tmp_path)
    assert parts[1].read().label_names == ["grain", "oil", "trade"]
    (tmp_path / "c.csv").write_text("text,labels\nwheat,grain;trade\n")
    with pytest.raises(FormatError, match=r"c\.csv: labels are separated by ';', but by '\|'"):
        open_parts(tmp_path)


def test_a_mark_met_only_behind_the_first_rows_is_refused_not_taken_for_a_name(tmp_path):
    csv(tmp_path / "a.csv", [("wheat", ["grain"])] * 300 + [("oil", ["oil", "trade"])])
    parts = open_parts(tmp_path / "*.csv")
    with pytest.raises(FormatError, match=r"a\.csv: labels are separated by '\|', but by nothing"):
        parts[0].read()
    parts = open_parts(tmp_path / "*.csv", label_delimiter="|")
    assert parts[0].read().label_names == ["grain", "oil", "trade"]


def test_what_is_no_data_in_pieces(tmp_path):
    with pytest.raises(MissingError, match=r"\*\.parquet fits no file"):
        open_parts(tmp_path / "*.parquet")
    with pytest.raises(MissingError, match="has no file"):
        open_parts(tmp_path)
    parquet(tmp_path / "a.parquet", [])
    with pytest.raises(FormatError, match=r"none of 1 file.s. has a row"):
        open_parts(tmp_path)
    (tmp_path / "b.xlsx").touch()
    with pytest.raises(FormatError, match=r"b\.xlsx: the xlsx format is not one of parquet"):
        open_parts(tmp_path)


def test_rows_of_one_document_are_not_joined_over_files_but_refused(tmp_path):
    rows = [(text, [label]) for text in ("wheat", "oil", "rye") for label in ("one", "two")]
    jsonl(tmp_path / "a.jsonl", [(text, names[0]) for text, names in rows])
    parts = open_parts(tmp_path)
    with pytest.raises(FormatError, match=r"a\.jsonl: rows differ in their label alone"):
        parts[0].read()
    assert open_parts(tmp_path, joined=False)[0].read().n_instances == 6
