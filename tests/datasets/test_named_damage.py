"""Files of named sets with damaged bytes: one of our errors or a data set, never a traceback."""

import lzma
import os
from pathlib import Path

import numpy as np
import pytest

from labelrank.datasets import load
from labelrank.datasets.opening import Limits
from labelrank.errors import FormatError, LabelrankError

pytestmark = pytest.mark.data

SMALL = {
    "yahoo-business": ("yahoo/yahoo_business.npz", {}),
    "bridges": ("multitarget/bridges.data.version2.csv", {}),
    "solar-flare": ("meka/solar_flare.arff", {}),
    "edm": ("multitarget/edm.arff", {}),
    "foodtruck": ("mulan/foodtruck.arff", {}),
    "sjaffe": ("ldl/SJAFFE.mat", {}),
    "affective-text": ("affectivetext_semeval2007.tar", {}),
    "hallmarks": ("hallmarks_of_cancer.jsonl", {"graded": True}),
    "pubmed-mesh": ("pubmed_mesh_sample.jsonl", {}),
}


def original(file):
    folder = Path(os.environ["LABELRANK_DATA"])
    packed = folder / f"{file}.xz"
    return (
        lzma.decompress(packed.read_bytes()) if packed.is_file() else (folder / file).read_bytes()
    )


def damaged(content, rng):
    """Some bytes changed, most of them near the start, or the end cut off."""
    broken = bytearray(content)
    for _ in range(rng.integers(1, 20)):
        reach = len(broken) if rng.random() < 0.5 else min(len(broken), 3000)
        broken[rng.integers(reach)] = rng.integers(256)
    return bytes(broken[: rng.integers(len(broken))]) if rng.random() < 0.3 else bytes(broken)


@pytest.mark.parametrize("name", SMALL)
def test_damaged_bytes_are_an_error_of_ours_or_a_data_set(name, tmp_path):
    file, options = SMALL[name]
    content, rng = original(file), np.random.default_rng(0)
    target = tmp_path / file
    target.parent.mkdir(parents=True, exist_ok=True)
    if name == "foodtruck":
        (target.parent / "foodtruck.xml").write_bytes(original("mulan/foodtruck.xml"))
    for _ in range(12):
        target.write_bytes(damaged(content, rng))
        try:
            dataset = load(name, data=tmp_path, **options)
        except LabelrankError:
            continue
        assert dataset.Y.shape == (dataset.n_instances, len(dataset.label_names))


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("goemotions", Limits(rows=1000)),
        ("hallmarks", Limits(rows=1000)),
        ("pubmed-mesh", Limits(labels=100)),
        ("yahoo-business", Limits(features=100)),
        ("yahoo-business", Limits(bytes=1000)),
        ("affective-text", Limits(bytes=1000)),
        ("lr-vowel", Limits(rows=100)),
        ("sjaffe", Limits(features=10)),
    ],
)
def test_limits_hold_for_every_kind_of_set(name, limits):
    with pytest.raises(FormatError, match=r"limit|bytes"):
        load(name, limits=limits)
