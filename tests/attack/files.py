"""Data files changed at random, in every format and compression: read soundly, or refused.

What is read must be sound: rows, names and matrices that fit, no index outside its matrix. A
compressed file or an archive that was cut short may never be taken for a whole one.
"""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import polars as pl
import scipy.io
import scipy.sparse as sp

from labelrank import relevance, rows
from labelrank._zstd import zstd
from labelrank.datasets import dataset, formats
from labelrank.datasets.opening import Limits
from labelrank.errors import LabelrankError

LIMITS = Limits(bytes=1 << 26, rows=100_000, features=100_000, labels=10_000, nonzeros=1_000_000)
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}
STREAMED = ("jsonl", "csv", "tsv", "text")
# Cut short, they are not what they were: each tells its own length.
WHOLE_OR_NOTHING = ("npz", "parquet")
PIECES = [
    b"?", b"'", b'"', b"{", b"}", b"[", b",", b"\t", b";", b":", b"|", b"-1", b"0", b"1e20",
    b"1e999", b"nan", b"inf", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r", b"\r\n", b"\0", b"=1+1",
    b"99999999999", b"2147483648", b"&#xFFFF;", b"<!ENTITY a 'b'>", b"true", b"null", b"@data\n",
    b"\xed\xa0\x80",
]  # fmt: skip
TEXTS = {
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
    "rankings": b"2,2,3\n0.1,0.2,1,2,3\n1,?,1,1,3\n",
}


def numbers():
    """CSV of features and label columns, with dates, categories and gaps."""
    lines = ["age,town,when,price,rye,oil"]
    lines += [
        f"{k},{'ABC'[k % 3]},2024-01-{k + 1:02d},{k / 7:.3f},{k % 2},{k % 3 // 2}"
        for k in range(20)
    ]
    return "\n".join([*lines, "5,,2024-02-01,,1,0"]).encode()


def npz():
    packed = io.BytesIO()
    X, Y = sp.csr_array(np.eye(4)), sp.csr_array(np.eye(4)[:, :3])
    members = {"names": np.frombuffer(b'{"label_names": ["a", "b", "c"]}', np.uint8)}
    for key, matrix in (("X", X), ("Y", Y)):
        members |= {
            f"{key}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr")
        }
        members[f"{key}_shape"] = np.array(matrix.shape)
    np.savez_compressed(packed, **members)
    return packed.getvalue()


def mat(compress):
    packed, features = io.BytesIO(), sp.csc_array(np.diag([1.0, 2.0, 3.0]))
    values = {"features": features, "labels": np.eye(3)}
    scipy.io.savemat(packed, values, do_compression=compress)
    return packed.getvalue()


def parquet():
    packed = io.BytesIO()
    frame = pl.DataFrame({"text": ["a", "b"] * 9, "labels": [["x"], ["x", "y"]] * 9})
    frame.write_parquet(packed)
    return packed.getvalue()


def prepare():
    """Good files: name, format and content."""
    made = [(name, name, content) for name, content in TEXTS.items()]
    made += [("table", "csv", numbers()), ("npz", "npz", npz()), ("parquet", "parquet", parquet())]
    return [*made, ("mat", "mat", mat(False)), ("mat packed", "mat", mat(True))]


def attempt(number, seeds, folder):
    random = np.random.default_rng(number)
    label, name, content = seeds[random.integers(len(seeds))]
    way, packing = random.integers(10), ""
    changed = (
        changed_array(content, random)
        if name == "npz" and way < 6
        else changed_bytes(content, random)
    )
    if way == 8:
        packing = list(PACK)[random.integers(len(PACK))]
        changed = PACK[packing](changed)
        changed = changed_bytes(changed, random) if random.random() < 0.5 else changed
    elif way == 9:
        return cut(name, content, random, folder)
    path = folder / f"data{formats.KNOWN[name].endings[0] if formats.KNOWN[name].endings else ''}"
    path.write_bytes(changed)
    if label == "table":
        return read(path, name, label_column=["rye", "oil"])
    return read(path, name if random.random() < 0.8 else None)


def cut(name, content, random, folder):
    """A file that was cut short must be refused where it can be known."""
    packing = list(PACK)[random.integers(len(PACK))]
    content = (
        content
        if name in WHOLE_OR_NOTHING
        else PACK[packing](content * (1 if name == "mat" else 40))
    )
    path = folder / "data"
    path.write_bytes(content[: random.integers(1, len(content))])
    said = read(path, name)
    return said if said.startswith("refused") else f"wrong: a {name} file cut short was read"


def changed_bytes(content, random):
    """Some bytes put in the place of others."""
    content = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        place = random.integers(len(content) + 1)
        way = random.integers(4)
        if way == 0:
            content[place : place + random.integers(9)] = PIECES[random.integers(len(PIECES))]
        elif way == 1:
            content[place : place + 1] = random.bytes(1)
        elif way == 2:
            start = random.integers(len(content) + 1)
            content[place:place] = content[start : start + random.integers(40)]
        else:
            del content[place : place + random.integers(20)]
    return bytes(content)


def changed_array(content, random):
    """A numpy archive in which one array has other values, another type or another shape."""
    with np.load(io.BytesIO(content)) as archive:
        members = dict(archive)
    name = list(members)[random.integers(len(members))]
    array = members[name].copy()
    way = random.integers(6)
    if way == 0:
        array = array[: random.integers(len(array) + 1)]
    elif way == 1:
        array = array.astype(
            random.choice(["i1", "u1", "i8", ">i4", "f2", "f8", "c16", "U3", "b1", "u8"])
        )
    elif way == 2:
        members[list(members)[random.integers(len(members))]] = array
    elif way == 3:
        array = array.reshape(-1, 1)
    elif array.size:
        special = [0, -1, 2**31 - 1, -(2**31), 10**9, 255, 1, 3]
        with np.errstate(all="ignore"):
            value = np.array(special[random.integers(len(special))]).astype(array.dtype)
        array[random.integers(len(array))] = (
            np.nan if array.dtype.kind == "f" and way == 5 else value
        )
    members[name] = array
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for key, value in members.items():
            inner = io.BytesIO()
            np.save(inner, value)
            archive.writestr(f"{key}.npy", inner.getvalue())
    return packed.getvalue()


def read(path, name, **options):
    """Read the file, whole and in pieces; what came of it."""
    try:
        said = flaw(formats.read(path, format=name, limits=LIMITS, **options)) or "answered"
    except LabelrankError as error:
        said = "refused" if "\n" not in str(error) else "wrong: a refusal of several lines"
    if name in STREAMED:
        try:
            n_rows = sum(
                part.n_instances for part in formats.stream(path, 2, format=name, **options)
            )
        except LabelrankError:
            return said
        if (
            n_rows > path.read_bytes().count(b"\n") + path.read_bytes().count(b"\r") + 1
            and path.stat().st_size < 200
        ):
            return "wrong: more rows in pieces than lines"
    return said


def flaw(data):
    """What is not sound about a data set, or nothing."""
    X, Y = data.X, data.Y
    n, wanted = data.n_instances, {"texts": data.texts, "ids": data.ids}
    lengths = {key: len(value) for key, value in wanted.items() if value is not None}
    if X is not None and not isinstance(X, dataset.Dataset) and hasattr(X, "shape"):
        lengths["X"] = X.shape[0]
    if any(length != n for length in lengths.values()):
        return f"wrong: {n} rows, but {lengths}"
    if len(data.label_names) != data.n_labels or len(set(data.label_names)) != data.n_labels:
        return "wrong: names that do not fit the labels"
    if sp.issparse(X):
        rows.check_sparse(X)
        if not np.isfinite(X.sum()) and np.isinf(X.data).any():
            return "wrong: infinite features"
    if not data.n_labels:
        return None
    if data.target_classes is None:
        rows.check_sparse(Y)
        relevance.check_relevance(Y)
        if not Y.has_canonical_format:
            return "wrong: relevance stored twice"
    else:
        for column, classes in zip(np.asarray(Y).T, data.target_classes, strict=True):
            known = column[~np.isnan(np.asarray(column, float))]
            if (
                (known < 0).any()
                or (known >= len(classes)).any()
                or (known != np.floor(known)).any()
            ):
                return "wrong: codes without a class"
    return None
