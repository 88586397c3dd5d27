"""Ctrl-C waits for the end of a piece, so that what is taught is taught whole."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from labelrank import Tagger, catalog, persistence
from labelrank.interrupts import TerminatedError, held_back, raise_when_terminated
from labelrank.kernels import _compile

RANDOM = np.random.default_rng(0)
X = RANDOM.random((40, 6))
LISTS = [[f"L{one}", f"L{other}"] for one, other in RANDOM.integers(0, 5, (40, 2))]
TAUGHT = ["CMLPC", "bagged EC-PLM", "NB-length", "kNN", "BR"]


def interrupt_at(line):
    """A trace function that sends SIGINT at a line of labelrank that is run."""
    left = iter(range(line, -1, -1))

    def within(_frame, event, _argument):
        if event == "line" and next(left, None) == 0:
            signal.raise_signal(signal.SIGINT)
        return within

    return lambda frame, *_: within if "labelrank/" in frame.f_code.co_filename else None


@pytest.mark.parametrize("name", TAUGHT)
def test_an_interrupted_piece_is_learned_whole_or_not_at_all(name):
    def started():
        tagger = Tagger(catalog.make(name, seed=0), new_labels="add")
        return tagger.partial_fit(X[:20], [row[:1] for row in LISTS[:20]])

    before = persistence.digest(started())
    after = persistence.digest(started().partial_fit(X[20:], LISTS[20:]))
    for line in range(3, 900, 60):
        tagger = started()
        sys.settrace(interrupt_at(line))
        try:
            with pytest.raises(KeyboardInterrupt):
                tagger.partial_fit(X[20:], LISTS[20:])
        finally:
            sys.settrace(None)
        assert persistence.digest(tagger) in (before, after)


def interrupt_in(done, signals, *, through=False, error=None):
    """Send signals in a block that holds them back, and note how far it came."""
    with held_back() as held:
        for number in signals:
            signal.raise_signal(number)
        done.append("held")
        if through:
            with held.let_through():
                done.append("let through")
        if error is not None:
            raise error


def test_an_interrupt_waits_and_a_second_one_does_not():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupt_in(done, [signal.SIGINT])
    assert done == ["held"]
    with pytest.raises(KeyboardInterrupt):
        interrupt_in(done, [signal.SIGINT] * 2)
    assert done == ["held"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_is_not_lost_where_the_block_fails():
    with pytest.raises(KeyboardInterrupt):
        interrupt_in([], [signal.SIGINT], error=ValueError("of the block"))


def test_interrupts_come_through_where_they_may():
    done = []
    interrupt_in(done, [], through=True)
    assert done == ["held", "let through"]
    done.clear()
    with pytest.raises(KeyboardInterrupt):
        interrupt_in(done, [signal.SIGINT], through=True)
    assert done == ["held"]
    with held_back() as held, held.let_through(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_other_threads_hold_nothing_back():
    found = []

    def work():
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def test_a_handler_of_the_users_own_is_asked_afterwards():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with held_back():
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_asked_to_end_is_as_interrupted():
    before, done = signal.getsignal(signal.SIGTERM), []
    try:
        raise_when_terminated()
        with pytest.raises(TerminatedError):
            interrupt_in(done, [signal.SIGTERM])
        assert done == ["held"]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_interrupt_waits_for_llvm_which_would_swallow_it(monkeypatch):
    def one_more(number):
        return number + 1

    def trace(frame, *_):
        if frame.f_code.co_name == "_object_compiled_hook":
            signal.raise_signal(signal.SIGINT)
            sys.settrace(None)

    monkeypatch.setattr(_compile, "_cache_folder", lambda _: None)
    compiled = _compile.kernel(one_more)
    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt):
            compiled(1)
    finally:
        sys.settrace(None)
    assert compiled(1) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking it")
def test_a_command_that_is_asked_to_end_saves_what_it_learned(tmp_path):
    code = "from labelrank.cli import main; main()"
    model, curve = tmp_path / "m.labelrank", tmp_path / "curve.jsonl"
    command = [sys.executable, "-c", code, "learn", model, "-", "-l", "BR", "--every", "100"]
    command += ["--format", "jsonl", "--curve", curve]
    line = json.dumps({"text": "rye " * 1000, "labels": ["grain"]}) + "\n"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*map(str, command)], **pipes) as process:
        process.stdin.write(line.encode() * 600)
        process.stdin.flush()
        patience = time.monotonic() + 60
        while not (curve.exists() and curve.stat().st_size):
            assert time.monotonic() < patience
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 143
    assert errors == b"labelrank: asked to end\n"
    assert b"learned" in output
    assert persistence.load(model).predict(["rye"]) == [["grain"]]
