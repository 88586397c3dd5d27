"""Files are opened, or refused at once."""

import os
import threading

import pytest

from labelrank import datasets
from labelrank.datasets import opening
from labelrank.errors import MissingError


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    monkeypatch.setattr(opening, "_PATIENCE", 0.2)
    os.mkfifo(tmp_path / "pipe.jsonl")
    return tmp_path / "pipe.jsonl"


def test_a_pipe_that_nobody_writes_to_is_refused(pipe):
    before = threading.active_count()
    with pytest.raises(MissingError, match="nobody has written"):
        datasets.load(pipe)
    assert threading.active_count() == before


def test_a_pipe_is_read_as_a_file_is(pipe):
    line = '{"text": "rye", "labels": ["grain"]}\n'
    writer = threading.Thread(target=pipe.write_text, args=(line,))
    writer.start()
    found = datasets.load(pipe)
    writer.join()
    assert found.texts == ["rye"]
