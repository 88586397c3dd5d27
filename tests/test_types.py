"""What `py.typed` promises: a type checker knows the public names and what they take."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import labelrank

pytest.importorskip("mypy")

STUB = Path(labelrank.__file__).with_name("__init__.pyi")
USE = """\
from labelrank import BinaryRelevancePerceptron, Tagger, datasets

tagger = Tagger(BinaryRelevancePerceptron(epochs=3), representation="tfidf")
texts: list[str] = ["wheat and rye", "crude oil"]
fitted: Tagger = tagger.fit(texts, [["grain"], ["oil"]])
for ranked in fitted.rank(texts, top=1):
    print(ranked[0].label, ranked[0].score + 1.0)
sample: datasets.Dataset = datasets.load("sample")
"""
WRONG = {
    "Tagger(no_such_option=1)": 'Unexpected keyword argument "no_such_option"',
    "PairwisePerceptron(epoch=3)": 'Unexpected keyword argument "epoch"',
    "Tagger().ranks([])": '"Tagger" has no attribute "ranks"',
    "NoSuchLearner": 'has no attribute "NoSuchLearner"',
    "persistence.store": 'has no attribute "store"',
}


def test_the_stub_names_what_the_package_has():
    imported = {
        alias.asname
        for node in ast.parse(STUB.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported | {"__version__"} == set(labelrank.__all__)


def test_mypy_accepts_right_use_and_refuses_wrong_use(tmp_path):
    name = tmp_path / "mine.py"
    wrong = [
        f"from labelrank import {call.split('(')[0].split('.')[0]}\n{call}\n" for call in WRONG
    ]
    name.write_text(USE + "".join(wrong), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    first = USE.count("\n")
    refused = [line for line in done.stdout.splitlines() if line.startswith("mine.py")]
    assert [int(line.split(":")[1]) > first for line in refused] == [True] * len(refused)
    for said in WRONG.values():
        assert any(said in line for line in refused), done.stdout
    assert len(refused) == len(WRONG), done.stdout
