"""A comparison that is interrupted, starved or misled loses at most the cell in progress."""

import errno
import importlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import FitFailedWarning

from labelrank.datasets import Dataset
from labelrank.errors import MissingError
from labelrank.evaluation import compare
from labelrank.evaluation.store import CellStore

MODULE = '''
import os, time
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from labelrank.datasets import Dataset
from labelrank.evaluation import compare

class Slow(BaseEstimator):
    """Takes its time, and leaves a line for every fit that counts (warm-ups are smaller)."""

    def __init__(self, log="", seconds=0.0):
        self.log, self.seconds = log, seconds

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        if X.shape[0] > 40:
            with open(self.log, "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(self.seconds)
        return self

    def decision_function(self, X):
        return np.ones((X.shape[0], self.n_labels_))

    def predict(self, X):
        return np.ones((X.shape[0], self.n_labels_), int)

def run(folder, jobs):
    Y = sp.csr_array(np.tile([[1.0, 0.0], [0.0, 1.0]], (30, 1)))
    data = Dataset("made", np.arange(60.0)[:, None], Y, label_names=["a", "b"])
    slow = Slow(os.path.join(folder, "fits"), 0.4)
    compare(data, {"slow": slow}, cv=6, jobs=jobs, out=os.path.join(folder, "out"))
'''


class Constant(BaseEstimator):
    """Gives every label to everything; breaks on demand."""

    def __init__(self, breaks=None, shift=0.0):
        self.breaks = breaks
        self.shift = shift

    def fit(self, X, Y):
        self.n_labels_ = Y.shape[1]
        if self.breaks == "process":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.breaks == "time":
            time.sleep(600)
        if self.breaks == "error":
            raise ValueError("this learner never works")
        return self

    def decision_function(self, X):
        return np.full((X.shape[0], self.n_labels_), 1.0 + self.shift)

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


@pytest.fixture
def data():
    Y = sp.csr_array(np.tile([[1.0, 0.0], [0.0, 1.0]], (10, 1)))
    return Dataset("made", np.arange(20.0)[:, None], Y, label_names=["a", "b"])


def lines_of(folder):
    path = folder / "cells.jsonl"
    return path.read_text().splitlines() if path.exists() else []


def wait_until(true, seconds=120):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
@pytest.mark.parametrize("jobs", [1, 2])
def test_kill_loses_at_most_the_cells_in_progress(tmp_path, monkeypatch, jobs):
    (tmp_path / "slow_learner.py").write_text(MODULE)
    code = f"from slow_learner import run; run({str(tmp_path)!r}, {jobs})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    out, log = tmp_path / "out", tmp_path / "fits"
    with subprocess.Popen([sys.executable, "-c", code], env=environment) as process:
        wait_until(lambda: len(lines_of(out)) >= 2)
        process.kill()
    # A worker may begin one more cell before it sees that it is alone.
    wait_until(lambda: not any(is_alive(int(worker)) for worker in log.read_text().split()))
    fits = log.read_text().split()
    kept = len(lines_of(out))
    assert 2 <= kept < 6
    assert len(fits) - kept <= jobs
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("slow_learner").run(tmp_path, 1)
    monkeypatch.delitem(sys.modules, "slow_learner")
    assert len(log.read_text().split()) - len(fits) == 6 - kept
    found = [json.loads(line)["fold"] for line in lines_of(out)]
    assert sorted(found) == list(range(6))


def test_a_line_cut_short_is_taken_away_and_its_cell_measured_again(data, tmp_path):
    compare(data, {"all": Constant()}, cv=2, out=tmp_path)
    path = tmp_path / "cells.jsonl"
    whole = path.read_bytes()
    for length in (1, len(whole.splitlines()[1]) // 2, len(whole.splitlines()[1])):
        path.write_bytes(whole[: len(whole.splitlines(keepends=True)[0]) + length])
        compare(data, {"all": Constant()}, cv=2, out=tmp_path)
        assert [json.loads(line)["fold"] for line in lines_of(tmp_path)] == [0, 1]
        assert path.read_bytes().startswith(whole.splitlines(keepends=True)[0])


def test_damaged_lines_are_told_and_their_cells_measured_again(data, tmp_path):
    before = compare(data, {"all": Constant()}, cv=2, out=tmp_path)
    path = tmp_path / "cells.jsonl"
    _, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"\x00\x00\x00\n" + second)
    with pytest.warns(UserWarning, match="line 1 of .* is damaged"):
        again = compare(data, {"all": Constant()}, cv=2, out=tmp_path)
    assert len(lines_of(tmp_path)) == 3
    assert again["value"][:5].equals(before["value"][:5])


def test_finished_cells_are_not_measured_again(data, tmp_path):
    compare(data, {"all": Constant()}, cv=2, out=tmp_path)
    told = []
    compare(data, {"all": Constant()}, cv=2, out=tmp_path, progress=lambda *n: told.append(n))
    assert told == [(2, 2)]
    compare(data, {"all": Constant(), "other": Constant(shift=1.0)}, cv=2, out=tmp_path)
    assert len(lines_of(tmp_path)) == 4


@pytest.mark.parametrize("what", ["learner", "data", "seed", "folds", "tuning"])
def test_cells_of_other_settings_are_not_mixed_in(data, tmp_path, what):
    compare(data, {"all": Constant()}, cv=2, out=tmp_path)
    learner = Constant(shift=-5.0) if what == "learner" else Constant()
    if what == "data":
        data.X[0] = 99.0
    others = {
        "seed": {"seed": 1, "cv": 2},
        "folds": {"cv": 4},
        "tuning": {"tune": {"all": {"shift": [-5.0]}}, "cv": 2},
    }
    frame = compare(data, {"all": learner}, out=tmp_path, **others.get(what, {"cv": 2}))
    assert len(lines_of(tmp_path)) == 2 + frame["fold"].n_unique()
    precision = frame.filter(criterion="micro_f1")["value"]
    assert (precision == 0).all() == (what in ("learner", "tuning"))


def test_an_unwritable_folder_is_one_sentence_before_anything_is_measured(data, tmp_path):
    (tmp_path / "file").write_text("here already")
    with pytest.raises(MissingError, match=r"file/results/cells\.jsonl: cannot be written"):
        compare(data, {"all": Constant("error")}, cv=2, out=tmp_path / "file" / "results")
    (tmp_path / "taken" / "cells.jsonl").mkdir(parents=True)
    with pytest.raises(MissingError, match=r"cells\.jsonl"):
        compare(data, {"all": Constant()}, cv=2, out=tmp_path / "taken")


def test_a_full_disk_is_one_sentence_and_keeps_what_was_done(data, tmp_path, monkeypatch):
    write, room = os.write, [1]

    def until_full(file, content):
        if room and b"fingerprint" in content:
            room.pop()
            return write(file, content)
        write(file, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("labelrank.evaluation.store.os.write", until_full)
    with pytest.raises(MissingError, match=r"No space left on device\); 1 result.* make room"):
        compare(data, {"all": Constant()}, cv=3, out=tmp_path)
    assert len(lines_of(tmp_path)) == 1
    monkeypatch.undo()
    compare(data, {"all": Constant()}, cv=3, out=tmp_path)
    assert [json.loads(line)["fold"] for line in lines_of(tmp_path)] == [0, 1, 2]


def test_a_limit_of_the_system_is_one_sentence_too(tmp_path):
    code = (
        "import resource, sys\n"
        "from labelrank.evaluation.store import CellStore\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
        "with CellStore(sys.argv[1]) as store:\n"
        "    for k in range(9):\n"
        "        store.add({'fingerprint': str(k), 'filler': 'x' * 100})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, timeout=60, check=False
    )
    assert b"MissingError" in done.stderr
    assert b"2 result(s) are kept" in done.stderr
    assert [json.loads(line)["fingerprint"] for line in lines_of(tmp_path)] == ["0", "1"]


def test_tables_that_cannot_be_written_are_one_sentence_and_cells_stay(tmp_path):
    from typer.testing import CliRunner

    from labelrank.cli import app

    path, out = tmp_path / "news.jsonl", tmp_path / "out"
    path.write_text(
        '{"text": "rye", "labels": ["grain"]}\n{"text": "oil", "labels": ["oil"]}\n' * 4
    )
    (out / "tables.md").mkdir(parents=True)
    arguments = ["compare", str(path), "--learners", "NB", "--cv", "2", "-o", str(out), "-q"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "tables.md is a folder" in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(lines_of(out)) == 2


def test_two_runs_do_not_share_a_folder(tmp_path):
    with CellStore(tmp_path), pytest.raises(MissingError, match="in use by another"):
        CellStore(tmp_path).__enter__()
    with CellStore(tmp_path) as free:
        assert free.done == {}


def test_a_process_that_dies_takes_only_its_cell_along_and_is_tried_again(data, tmp_path):
    learners = {"bad": Constant("process"), "good": Constant()}
    data = data.with_split({"train": range(10), "test": range(10, 20)})
    for _ in range(2):
        with pytest.warns(FitFailedWarning, match=r"1 of 2 cells failed, first bad .* outside"):
            frame = compare(data, learners, split="official", memory=True, out=tmp_path)
        assert frame["value"].is_nan().sum() == frame.filter(learner="bad").height > 0
        assert [json.loads(line)["learner"] for line in lines_of(tmp_path)] == ["good"]


def test_an_interrupt_does_not_wait_for_cells_in_progress(data):
    def interrupt(done, total):
        if done:
            raise KeyboardInterrupt

    start = time.monotonic()
    learners = {"endless": Constant("time"), "quick": Constant()}
    with pytest.raises(KeyboardInterrupt):
        compare(data, learners, cv=2, jobs=2, progress=interrupt)
    assert time.monotonic() - start < 300
