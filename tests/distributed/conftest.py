"""One small cluster for all tests, and data in parts of many sizes."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from labelrank import datasets


@pytest.fixture(scope="session")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def records():
    """Texts of the sample; the last one has a label that no other has."""
    data = datasets.load("debtags-sample")
    part = data.subset(range(240))
    rows = [
        (text, [part.label_names[k] for k in row.indices])
        for text, row in zip(part.texts, part.Y, strict=True)
    ]
    counts = Counter(name for _, names in rows for name in names)
    usual = {name for name, count in counts.items() if count > 12}
    kept = [(text, [name for name in names if name in usual]) for text, names in rows]
    kept[7] = ("", kept[7][1])
    return [*kept, ("a text of its own", ["only here"])]


# An empty part first, in the middle, at the end; parts of one row; the rest uneven.
BOUNDS = (0, 0, 1, 2, 90, 90, 100, 240, 241, 241)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, records):
    """The records whole, and in uneven parts."""
    path = tmp_path_factory.mktemp("parts")
    (path / "in").mkdir()
    write(path / "whole.jsonl", records)
    for k, (first, last) in enumerate(pairwise(BOUNDS)):
        write(path / "in" / f"{k}.jsonl", records[first:last])
    return path


def write(path, records):
    lines = (json.dumps({"text": text, "labels": names}) + "\n" for text, names in records)
    path.write_text("".join(lines), encoding="utf-8")
