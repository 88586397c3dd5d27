"""The bundled sample is what its script cuts out of the whole."""

import importlib.util
import json
import lzma
import os
from pathlib import Path

import pytest

from labelrank.datasets import load

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_sample.py"


@pytest.mark.data
def test_the_script_makes_the_bundled_sample_again(tmp_path):
    spec = importlib.util.spec_from_file_location("make_sample", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tool.main(Path(os.environ["LABELRANK_DATA"]) / "debtags.jsonl.xz", tmp_path)
    with lzma.open(tmp_path / "debtags-sample.jsonl.xz", "rt", encoding="utf-8") as lines:
        made = [json.loads(line) for line in lines]
    sample = load("debtags-sample")
    assert [record["id"] for record in made] == sample.ids
    assert [record["text"] for record in made] == sample.texts
    assert {r["id"] for r in made if r["split"] == "test"} == set(sample.test.ids)


@pytest.mark.data
def test_texts_and_tags_of_the_sample_are_those_of_the_whole():
    sample, whole = load("debtags-sample"), load("debtags")
    row = {package: i for i, package in enumerate(whole.ids)}
    rows = [row[package] for package in sample.ids]
    column = {tag: k for k, tag in enumerate(whole.label_names)}
    columns = [column[tag] for tag in sample.label_names]
    assert (whole.Y[rows][:, columns] != sample.Y).nnz == 0
    assert [whole.texts[i] for i in rows] == sample.texts
