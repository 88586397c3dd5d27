"""Files that are cut, huge, in the wrong encoding or not there: one clear error, little memory."""

import bz2
import gzip
import io
import lzma
import os
import resource
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from labelrank._zstd import zstd
from labelrank.datasets import formats
from labelrank.datasets.opening import Limits
from labelrank.errors import FormatError, InputError, LabelrankError, MissingError

ARFF = "@relation 'r: -C 1'\n@attribute é {0,1}\n@attribute b numeric\n@data\n1,2\n"
PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


@pytest.mark.parametrize("kind", PACK)
def test_compressed_files_are_read_whatever_their_name(tmp_path, kind):
    for name in (f"d.arff.{kind}", "d.arff"):
        (tmp_path / name).write_bytes(PACK[kind](ARFF.encode()))
        assert formats.read(tmp_path / name).label_names == ["é"]


@pytest.mark.parametrize("kind", PACK)
def test_cut_off_compressed_files_are_refused(tmp_path, kind):
    whole = PACK[kind](ARFF.encode() + os.urandom(3000).hex().encode())
    for keep in (len(whole) // 2, len(whole) - 1):
        (tmp_path / "d.arff").write_bytes(whole[:keep])
        with pytest.raises(FormatError, match="cut short"):
            formats.read(tmp_path / "d.arff")


@pytest.mark.parametrize("kind", PACK)
def test_frames_one_after_the_other_are_one_file(tmp_path, kind):
    (tmp_path / "d.txt").write_bytes(PACK[kind](b"one\n") + PACK[kind](b"two\n"))
    assert formats.read(tmp_path / "d.txt").texts == ["one", "two"]


@pytest.mark.parametrize("kind", PACK)
def test_decompression_bombs_stop_at_the_limit(tmp_path, kind):
    (tmp_path / "d.txt").write_bytes(PACK[kind](b"\n" * (1 << 25)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FormatError, match=r"limit|decompressed"):
        formats.read(tmp_path / "d.txt", limits=Limits(bytes=1 << 20))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200_000


def test_a_file_that_becomes_more_than_the_free_memory_is_refused(tmp_path, monkeypatch):
    (tmp_path / "d.csv").write_bytes(b"text\n" + b"a\n" * (1 << 26))
    monkeypatch.setattr("labelrank.datasets.opening.available_bytes", lambda: 1 << 26)
    with pytest.raises(FormatError, match="more than 64 MiB once decompressed, too much"):
        formats.read(tmp_path / "d.csv")


@pytest.mark.parametrize(
    ("name", "line"), [("d.csv", b"1,a\n"), ("d.jsonl", b'{"text": "a", "labels": ["x"]}\n')]
)
def test_lines_that_become_more_than_the_free_memory_are_refused(tmp_path, monkeypatch, name, line):
    (tmp_path / name).write_bytes((b"text,labels\n" if name == "d.csv" else b"") + line * 5000)
    assert formats.read(tmp_path / name).n_instances == 5000
    monkeypatch.setattr("labelrank.datasets.opening.available_bytes", lambda: 1_500_000)
    with pytest.raises(FormatError, match="lines, which become more than the free memory"):
        formats.read(tmp_path / name)


def test_a_small_compressed_file_does_not_become_a_large_table(tmp_path):
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"text,labels\n" + b"a,x\n" * (1 << 25)))
    with pytest.raises(FormatError, match="bytes once decompressed; decompress it first"):
        formats.read(tmp_path / "d.csv.gz")


def test_expansion_beyond_the_usual_is_a_bomb():
    assert Limits().bytes_from(1 << 20, text=True) == 200 << 20
    assert Limits().bytes_from(1000) == 64 << 20
    assert Limits().bytes_from(1 << 20) == 2000 << 20
    assert Limits().bytes_from(1 << 40) == Limits().bytes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_arff_in_any_usual_encoding(tmp_path, encoding):
    (tmp_path / "d.arff").write_bytes(ARFF.encode(encoding))
    assert formats.read(tmp_path / "d.arff").label_names == ["é"]


def test_json_lines_in_another_encoding_say_so(tmp_path):
    path = tmp_path / "d.jsonl"
    line = '{"text": "é", "labels": []}\n'
    path.write_bytes(('{"text": "a"}\n' + line).encode("latin-1"))
    with pytest.raises(FormatError, match="line 2: not utf-8"):
        formats.read(path)
    assert formats.read(path, encoding="latin-1").texts == ["a", "é"]
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(line.encode(encoding))
        assert formats.read(path).texts == ["é"]
    with pytest.raises(FormatError, match="encoding 'klingon'"):
        formats.read(path, encoding="klingon")


@pytest.mark.parametrize("name", formats.FORMATS)
def test_nothing_to_read(tmp_path, name):
    with pytest.raises(MissingError, match="cannot be read"):
        formats.read(tmp_path / "missing", format=name)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(LabelrankError):
        formats.read(tmp_path / "empty", format=name)
    with pytest.raises(LabelrankError):
        formats.read(tmp_path, format=name)


def test_files_without_permission_are_named(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("text\na\n")
    path.chmod(0)
    if os.access(path, os.R_OK):

        def refuse(*_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(MissingError, match="Permission denied"):
        formats.read(path)


def test_unknown_formats_and_options_are_named(tmp_path):
    (tmp_path / "d").write_bytes(b"\x01\x02\x03")
    with pytest.raises(FormatError, match="give format="):
        formats.read(tmp_path / "d")
    with pytest.raises(MissingError, match="'xls' is not known"):
        formats.read(tmp_path / "d", format="xls")
    with pytest.raises(InputError, match="got option 'colour' for the text format"):
        formats.read(tmp_path / "d", format="text", colour=1)
    with pytest.raises(FormatError, match=r"folder without \.sgm"):
        formats.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("1 3000000000:1\n", "libsvm", "line 1: got feature index 3000000000"),
        ("1 2147483647:1\n", "libsvm", "line 1: got feature index 2147483647"),
        ("1 1:1\n100000000000000000000 1:1\n", "libsvm", "line 2: got label 1"),
        ("1e20 1:1\n", "libsvm", "line 1: got label 1e"),
        ("1.5 1:1\n", "libsvm", "line 1: got label 1.5"),
        ("-1 1:1\n", "libsvm", "line 1: got label -1"),
        ("1 1:1\n1 1:nan\n", "libsvm", "line 2: got a value NaN"),
        ("1 1:inf\n", "libsvm", "line 1: got an infinite"),
        ("1 1:1 1:2\n", "libsvm", "line 1: got an index twice"),
        ("1 1:1:1 2\n", "libsvm", "line 1: got something else"),
        ("1 qid:3 1:1\n", "libsvm", "line 1: got something"),
        ("nan 1:1\n", "libsvm", "line 1: got label nan"),
        ("1 2 3\n", "libsvm", "line 1: got something else"),
        ("9 2147483648 9\n", "extreme", "got 2147483648 features"),
        ("99999999999 2 2\n0 0:1\n", "extreme", "rows, but the limit"),
        ("9999999999999999999999 2 2\n", "extreme", "18 digits"),
        ("2 2 2\n0 0:1\n", "extreme", "says 2 instances, but 1 follow"),
        ("1 2 2\n0 2:1\n", "extreme", "feature index 2, but line 1 says 2"),
        ("1 2 2\n2 1:1\n", "extreme", "line 2: got label 2"),
        ("1 2 0\n 1:1\n", "extreme", "0 labels"),
        ("a b c\n", "extreme", "line 1: 'instances features labels'"),
        ("1,1,2\n0.5,1,3\n", "rankings", "line 2: got a rank outside"),
        ("1,1,2\n0.5,1\n", "rankings", "line 2: got 2 values"),
        ("2,1,2\n0.5,1,2\n", "rankings", "says 2 instances"),
        ("1,1,2\nx,1,2\n", "rankings", "line 2: got something that is not"),
        ("1,99999999999,2\nx,1,2\n", "rankings", "features, but the limit"),
    ],
)
def test_broken_numbers_are_refused_with_the_line(tmp_path, content, name, message):
    (tmp_path / "d").write_text(content)
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / "d", format=name)


def test_limits_are_checked(tmp_path):
    (tmp_path / "d.svm").write_text("1 1:1 2:1\n0 3:1\n")
    for limits, what in (
        (Limits(rows=1), "2 rows"),
        (Limits(features=2), "feature index 3"),
        (Limits(labels=1), "label 1"),
        (Limits(nonzeros=2), "3 nonzeros"),
        (Limits(line=5), "line"),
        (Limits(bytes=5), "bytes"),
    ):
        with pytest.raises(FormatError, match=what):
            formats.read(tmp_path / "d.svm", limits=limits)


def test_small_files_cannot_imply_large_tables(tmp_path):
    many = range(1000)
    strings = "".join(f"@attribute s{k} string\n" for k in many)
    turned = "".join(f"@attribute t{k} {{1,0}}\n" for k in many)
    spread = "".join(f"@attribute u{k} {{a,b,c}}\n" for k in many)
    head = "@relation 'r: -C 1'\n@attribute l {0,1}\n"
    limits = Limits(cells=100_000)
    for attributes in (strings, turned, spread):
        (tmp_path / "d.arff").write_text(head + attributes + "@data\n" + "{}\n" * 1000)
        options = {"nominal": "onehot"} if attributes is spread else {}
        with pytest.raises(FormatError, match="1000000 cells, but the limit"):
            formats.read(tmp_path / "d.arff", limits=limits, **options)
    (tmp_path / "d.jsonl").write_text("".join(f'{{"k{k}": 1}}\n' for k in many))
    with pytest.raises(FormatError, match="1000000 cells, but the limit"):
        formats.read(tmp_path / "d.jsonl", limits=limits)


def npz(**members):
    packed = io.BytesIO()
    np.savez_compressed(packed, **members)
    return packed.getvalue()


CLASSES = np.frombuffer(b'{"target_classes": [["x"], ["y", "z"]]}', np.uint8)


def lying_npz():
    """A header that promises 8 TB."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        body = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            body, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
        )
        archive.writestr("Y.npy", body.getvalue())
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npz(Z=np.eye(2)), "no X and no Y"),
        (npz(Y=np.eye(2), label_names=np.array([["a", "b"]])), "label_names is no list"),
        (npz(Y=np.eye(2), label_names=np.array(["a"])), "1 label names"),
        (npz(Y=np.array([[object()]])), "holds Python objects"),
        (npz(X=np.eye(3), Y=np.eye(2)), "3 rows of X, but 2"),
        (npz(Y=-np.eye(2)), "negative"),
        (npz(Y=np.ones(3)), "not a matrix"),
        (npz(Y=np.eye(2), names=np.frombuffer(b"{", np.uint8)), "not JSON"),
        (npz(Y=np.eye(2), names=np.frombuffer(b'{"ids": [1]}', np.uint8)), "list of texts"),
        (npz(Y=np.eye(2), label_names=np.array(["a", "a"])), "two labels have the same name"),
        (npz(Y=np.eye(2), names=CLASSES), "none of its 1 classes"),
        (npz(Y=np.full((2, 2), np.inf), names=CLASSES), "Y has infinite values"),
        (npz(Y=np.eye(2), X=[[np.inf], [0]]), "X has infinite values"),
        (npz(Y_data=[1.0], Y_indices=[0.5], Y_indptr=[0, 1], Y_shape=[1, 2]), "whole indices"),
        (npz(Y_data=["1"], Y_indices=[0], Y_indptr=[0, 1], Y_shape=[1, 2]), "matrix of numbers"),
        (npz(Y=np.eye(2), names=np.frombuffer(b'{"ids": ["a"]}', np.uint8)), "1 ids"),
        (npz(Y_data=[1.0], Y_indices=[7], Y_indptr=[0, 1], Y_shape=[1, 2]), "not a CSR"),
        (npz(Y_data=[1.0], Y_indices=[0], Y_indptr=[0, 9], Y_shape=[1, 2]), "not a CSR"),
        (npz(Y_data=[1.0], Y_indices=[0], Y_indptr=[0, 1], Y_shape=[1, 10**12]), "limit"),
        (npz(Y=np.eye(2), X_data=np.ones(0), X_indices=np.zeros(0, int), X_indptr=[0, 10**9, 0],
             X_shape=[2, 2]), "X is not a CSR"),
        (npz(Y_data=[1.0], Y_indices=np.array([1 << 24], ">i4"), Y_indptr=[0, 1], Y_shape=[1, 2]),
         "not a CSR"),
        (lying_npz(), "not as long as its header"),
        (npz(Y=np.eye(2))[:-30], "not a numpy archive"),
        (npz(Y=np.zeros((4000, 4000))), "limit|decompressed"),
    ],
)  # fmt: skip
def test_bad_archives_are_refused(tmp_path, content, message):
    (tmp_path / "d.npz").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / "d.npz", format="npz", limits=Limits(bytes=1 << 26))


@pytest.mark.parametrize("order", ["<", ">"])
def test_sound_archives_of_any_order_are_read(tmp_path, order):
    parts = {"data": [1.0, 2.0, 3.0], "indices": [1, 0, 0], "indptr": [0, 2, 3], "shape": [2, 2]}
    parts = {f"X_{key}": np.array(value) for key, value in parts.items()}
    parts = {key: part.astype(f"{order}{part.dtype.str[1:]}") for key, part in parts.items()}
    (tmp_path / "d.npz").write_bytes(npz(Y=np.eye(2, dtype=f"{order}i4"), **parts))
    found = formats.read(tmp_path / "d.npz")
    np.testing.assert_array_equal(found.X.toarray(), [[2.0, 1.0], [3.0, 0.0]])
    np.testing.assert_array_equal(found.Y.toarray(), np.eye(2))


@pytest.mark.parametrize("header", ["{", "{'descr': '<f8'}", "{'descr': '|O', 'fortran_order': "
                         "False, 'shape': (1,)}", "__import__('os')"])  # fmt: skip
def test_bad_headers_of_arrays_are_refused(tmp_path, header):
    text = header.encode().ljust(117) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(8)
    (tmp_path / "d.npy").write_bytes(content)
    with pytest.raises(FormatError, match=r"not an array of numpy|holds Python objects"):
        formats.read(tmp_path / "d.npy")


def mat(**members):
    packed = io.BytesIO()
    scipy.io.savemat(packed, members, do_compression=True)
    return packed.getvalue()


def broken_mat(old, new):
    """Sparse features in rows 3 and 5 whose row indices or column pointers were changed."""
    features = sp.csc_array(([1.0, 1.0], ([3, 5], [0, 1])), shape=(7, 2))
    packed = io.BytesIO()
    scipy.io.savemat(packed, {"features": features, "labels": np.eye(7)})
    old, new = (np.array(numbers, "<i4").tobytes() for numbers in (old, new))
    assert packed.getvalue().count(old) == 1
    return packed.getvalue().replace(old, new)


def mat_of_type(number):
    """Labels whose numbers are of a type that is none; scipy dies of it."""
    content = broken_mat([0, 1, 2], [0, 1, 2])
    place = content.index(b"labels") + 8
    return content[:place] + bytes([number]) + content[place + 1 :]


def mat_bomb():
    bomb = zlib.compress(b"\0" * (1 << 25))
    return mat(features=np.eye(2))[:128] + np.array([15, len(bomb)], "<u4").tobytes() + bomb


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (mat(features=np.eye(2)), "no matrix 'labels'"),
        (mat(features=np.eye(3), labels=np.eye(2)), "3 rows of features, 2 of labels"),
        (mat(features=np.eye(2), labels="text"), "not a matrix of numbers"),
        (mat(features={"a": 1}, labels=np.eye(2)), "something else than matrices"),
        (mat(features=np.eye(2), labels=-np.eye(2)), "negative"),
        (mat(features=np.eye(2), labels=np.eye(2))[:-9], "cut short"),
        (b"MATLAB 7.3 MAT-file" + b" " * 200, "save it again"),
        (b"hello", "not a MATLAB 5"),
        (broken_mat([3, 5], [3, 10**9]), "features is not a CSR"),
        (broken_mat([3, 5], [-3, 5]), "features is not a CSR"),
        (broken_mat([0, 1, 2], [0, 10**9, 2]), "features is not a CSR"),
        (mat_of_type(85), "numbers of type 85"),
        (mat_of_type(1), "damaged"),
        (mat(features=np.eye(2) * 1j, labels=np.eye(2)), "features is not a matrix of numbers"),
        (mat(features=np.ones((2, 2, 2)), labels=np.eye(2)), "features is not a matrix"),
        (mat_bomb(), "too many bytes|something else"),
    ],
)
def test_bad_matlab_files_are_refused(tmp_path, content, message):
    (tmp_path / "d.mat").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        formats.read(tmp_path / "d.mat", format="mat", limits=Limits(bytes=1 << 20))


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "features",
    [np.arange(6.0).reshape(3, 2), np.arange(6, dtype=np.int16).reshape(3, 2), np.eye(3) > 0,
     sp.csc_array(np.diag([1.0, 0.5, 300.0])), sp.csc_array((3, 4)), np.array([[1], [2], [3]])],
)  # fmt: skip
def test_matlab_files_are_read_as_scipy_reads_them(tmp_path, features, packed):
    members = {"x": features, "other": "text", "y": np.eye(3, dtype=np.uint8)}
    scipy.io.savemat(tmp_path / "d.mat", members, do_compression=packed)
    found = formats.read(tmp_path / "d.mat", features="x", labels="y")
    wanted = scipy.io.loadmat(tmp_path / "d.mat")["x"]
    assert sp.issparse(found.X) == sp.issparse(wanted)
    X, wanted = (one.toarray() if sp.issparse(one) else one for one in (found.X, wanted))
    np.testing.assert_array_equal(X, wanted)
    np.testing.assert_array_equal(found.Y.toarray(), np.eye(3))


def test_a_small_parquet_file_of_many_rows_stops_at_the_limit(tmp_path):
    path = tmp_path / "d.parquet"
    pl.DataFrame({"text": ["a" * 100]}).select(
        pl.col("text").repeat_by(300_000).explode()
    ).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(FormatError, match="rows, but the limit"):
        formats.read(path, limits=Limits(rows=1000))
    with pytest.raises(FormatError, match="bytes, but the limit"):
        formats.read(path, limits=Limits(bytes=1 << 20))


def test_standard_input_is_read_by_content(tmp_path):
    code = "from labelrank.datasets import formats; print(formats.read('-').label_names)"
    for content in (ARFF.encode(), lzma.compress(ARFF.encode())):
        done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True)
        assert done.stdout.decode().strip() == "['é']", done.stderr
