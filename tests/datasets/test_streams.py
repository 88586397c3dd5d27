"""Streams: batches as they come, in bounded memory, all read as the first one is."""

import io
import os
import subprocess
import sys

import polars as pl
import pytest

from labelrank.datasets import formats
from labelrank.errors import FormatError


def test_a_batch_is_given_as_soon_as_its_rows_are_there(monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(os.fdopen(reading, "rb")))
    batches = formats.stream("-", 1, format="csv")
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        pipe.write(b"text,labels\n")
        for text in ("a", "b", "a third one"):
            pipe.write(f"{text},x\n".encode())
            assert next(batches).texts == [text]  # while the pipe is open
    assert next(batches, None) is None


CODE = """
import resource, sys
from labelrank.datasets import formats
n = sum(batch.n_instances for batch in formats.stream(sys.argv[1], 1000))
print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak(path):
    done = subprocess.run([sys.executable, "-c", CODE, path], capture_output=True, check=True)
    return map(int, done.stdout.split())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_many_rows_take_no_more_memory_than_few(tmp_path, ending):
    few, many = tmp_path / f"few.{ending}", tmp_path / f"many.{ending}"
    for path, n in ((few, 2_000), (many, 200_000)):
        row = pl.DataFrame({"size": [1.5], "note": ["word " * 40], "labels": ["x|y"]})
        table = row.select(pl.all().repeat_by(n).explode())
        getattr(table, f"write_{ending}")(path)
    (n_few, least), (n_many, most) = peak(few), peak(many)
    assert (n_few, n_many) == (2_000, 200_000)
    assert most - least < 150  # MiB; all rows at once take more


def test_batches_of_parquet_are_the_rows_in_order(tmp_path):
    table = pl.DataFrame(
        {"id": range(25), "size": [k / 2 for k in range(25)], "labels": ["x"] * 25}
    )
    table.write_parquet(tmp_path / "a.parquet", row_group_size=10)
    batches = list(formats.stream(tmp_path / "a.parquet", 4))
    assert [batch.n_instances for batch in batches] == [4] * 6 + [1]
    assert [name for batch in batches for name in batch.ids] == [str(k) for k in range(25)]
    assert [v for batch in batches for v in batch.table["size"]] == table["size"].to_list()


def test_a_stream_is_read_as_its_first_batch(tmp_path):
    rows = "1,5;red;a, b|c\n2,5;blue;c\n" * 10 + "1.234;3;c\n"
    (tmp_path / "a.csv").write_text("size;colour;labels\n" + rows)
    batches = list(formats.stream(tmp_path / "a.csv", 7))
    assert batches[0].label_names == ["a, b", "c"]
    assert batches[-1].table["colour"][-1] == "3"
    assert {type(batch.table["colour"][0]) for batch in batches} == {str}


def test_encodings_of_streams_are_told_line_by_line(tmp_path):
    (tmp_path / "a.csv").write_bytes("text,labels\nplain,x\ncafé noir,y\nthé,x\n".encode("latin-1"))
    texts = [batch.texts[0] for batch in formats.stream(tmp_path / "a.csv", 1)]
    assert texts == ["plain", "café noir", "thé"]
    (tmp_path / "b.csv").write_bytes("text,labels\nthé vert,x\n".encode() + b"caf\xe9 noir,y\n")
    with pytest.raises(FormatError, match="line 3: not utf-8"):
        list(formats.stream(tmp_path / "b.csv", 1))
