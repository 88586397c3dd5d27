"""Whatever the bytes, a reader gives a data set or one of our errors."""

import io

import layouts
import numpy as np
import polars as pl
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelrank.datasets import formats, records
from labelrank.datasets.opening import Limits, Source
from labelrank.errors import LabelrankError

LIMITS = Limits(bytes=1 << 22, rows=10_000, features=10_000, labels=1000, nonzeros=100_000)


def npz_seed():
    packed = io.BytesIO()
    np.savez_compressed(packed, X=np.eye(3), Y=np.eye(3), names=np.frombuffer(b"{}", np.uint8))
    return packed.getvalue()


def mat_seed(compress):
    packed = io.BytesIO()
    values = {"features": np.eye(3), "labels": np.eye(3)}
    scipy.io.savemat(packed, values, do_compression=compress)
    return packed.getvalue()


def parquet_seed():
    packed = io.BytesIO()
    frame = pl.DataFrame({"text": ["a", "b"], "labels": [["x"], ["x", "y"]]})
    frame.write_parquet(packed)
    return packed.getvalue()


SEEDS = {
    "arff": b"@relation 'r: -C 2'\n@attribute a {0,1}\n@attribute 'b c' {x,'y z'}\n"
    b"@attribute t string\n@attribute d date yyyy-MM-dd\n@attribute n real\n@data\n"
    b"1,'y z','it\\'s',2020-01-02,3.5\n0,x,?,?,?\n",
    "meka": b"@relation 'r: -C -1'\n@attribute a numeric\n@attribute b {0,1}\n@data\n"
    b"{0 1.5,1 1}\n{}\n",
    "libsvm": b"1,2 1:0.5 3:2\n 2:1\n0 7:1e3\n",
    "extreme": b"3 4 5\n1,2 0:0.5 3:2\n 2:1\n0 1:1e3\n",
    "reuters": b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" NEWID="1"><TOPICS><D>a</D></TOPICS>'
    b"<TEXT><TITLE>t</TITLE><BODY>b &lt;</BODY></TEXT></REUTERS>",
    "jsonl": b'{"text": "a", "labels": ["x", "y"]}\n{"text": "b", "labels": {"x": 2}}\n',
    "csv": b'text,labels\n"a, b",x|y\nc,"[""x""]"\n',
    "tsv": b"text\tlabels\na\tx:1;y:2\nb\tx:3\n",
    "text": b"one\ntwo\n",
    "json": b'[{"text": "a", "labels": ["x"]}, {"text": "b", "labels": []}]',
    "xlsx": layouts.xlsx(
        [{"text": "a", "size": 1.5, "labels": "x"}, {"text": None, "size": 2, "labels": "x|y"}]
    ),
    "ods": layouts.ods(
        [{"text": "a", "size": 1.5, "labels": "x"}, {"text": None, "size": 2, "labels": "x|y"}]
    ),
    "npy": layouts.npy(np.eye(3, dtype=np.float32)),
    "npz": npz_seed(),
    "mat": mat_seed(True),
    "parquet": parquet_seed(),
    "rankings": b"2,2,3\n0.1,0.2,1,2,3\n1,?,1,1,3\n",
}
SETTINGS = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def n_rows(data):
    if data.X is not None:
        return data.X.shape[0]
    if data.texts is None and data.table is None:  # an archive of labels alone
        return data.n_instances
    return len(data.texts) if data.table is None else len(next(iter(data.table.values())))


def read_or_refuse(tmp_path, content, name):
    path = tmp_path / "data"
    path.write_bytes(content)
    try:
        data = formats.read(path, format=name, limits=LIMITS)
    except LabelrankError:
        return
    assert data.Y.shape[0] == n_rows(data)
    assert len(data.label_names) == data.n_labels


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_themselves_are_good(name, tmp_path):
    (tmp_path / "data").write_bytes(SEEDS[name])
    assert formats.read(tmp_path / "data", format=name, limits=LIMITS).n_instances >= 1


@pytest.mark.parametrize("name", SEEDS)
@SETTINGS
@given(content=st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(name, tmp_path, content):
    read_or_refuse(tmp_path, content, name)


@pytest.mark.parametrize("name", [*SEEDS, None])
@SETTINGS
@given(data=st.data())
def test_damaged_files_are_read_or_refused(name, tmp_path, data):
    content = bytearray(SEEDS[name or data.draw(st.sampled_from(sorted(SEEDS)))])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        removed = data.draw(st.integers(0, 8))
        pieces = (b"?", b"'", b"{", b"}", b"-1", b"1e20", b"nan", b"\xff", b"\n", b"99999999999")
        added = data.draw(st.one_of(st.binary(max_size=4), st.sampled_from(pieces)))
        content[place : place + removed] = added
    read_or_refuse(tmp_path, bytes(content), name)


def streamed(path, name):
    """Batches of a file; without a format they are told by the first line."""
    if name:
        return formats.stream(path, 2, format=name)
    return records.stream(Source(path, LIMITS), "", 2, {})


@SETTINGS
@given(content=st.binary(max_size=200), name=st.sampled_from(["jsonl", "csv", "tsv", "text", ""]))
def test_streams_of_any_bytes_are_read_or_refused(tmp_path, content, name):
    (tmp_path / "data").write_bytes(content)
    try:
        rows = sum(b.n_instances for b in streamed(tmp_path / "data", name))
    except LabelrankError:
        return
    assert rows <= content.count(b"\n") + content.count(b"\r") + 1


@pytest.mark.parametrize("compressed", [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"])
@SETTINGS
@given(rest=st.binary(max_size=60))
def test_any_bytes_after_a_magic_number_are_read_or_refused(compressed, tmp_path, rest):
    read_or_refuse(tmp_path, compressed + rest, "text")
