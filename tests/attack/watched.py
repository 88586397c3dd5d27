"""Inputs are tried in a worker process that is watched: who dies or stays silent is to blame.

A campaign is a module with `prepare()`, which makes what all inputs are made from (it is pickled),
and `attempt(number, prepared, folder)`, which makes the input of a number, tries it and says what
came of it: "refused", "answered", "wrong ...", "lost ...". What it raises is foreign.
"""

import faulthandler
import importlib
import json
import os
import pickle
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parents[1]
SILENCE, START, MEMORY = 60.0, 120.0, 8 * 2**30
FAULTS = ("crash", "hang", "lost", "foreign", "wrong")


def work(name, folder, first, last):
    """The worker: announce each input, try it, say what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell's & ignores
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    campaign = importlib.import_module(f"attack.{name}")
    prepared = pickle.loads((Path(folder) / "prepared").read_bytes())
    say = os.fdopen(os.dup(1), "w")
    for number in range(first, last):
        print(f"begin {number}", file=say, flush=True)
        print(
            f"end {number} {tried(campaign, number, prepared, Path(folder))}", file=say, flush=True
        )


def tried(campaign, number, prepared, folder):
    """What came of an input, in one line."""
    try:
        said = campaign.attempt(number, prepared, folder)
    except Exception:
        lines = traceback.format_exc().strip().splitlines()
        ours = [text.strip() for text in lines if "labelrank/" in text][-1:]
        said = "foreign " + json.dumps([lines[-1][:200], *ours])
    return " ".join(said.split())


def run(name, *, inputs=None, seconds=None, first=0, silence=None):
    """Counts of what came of the inputs of a campaign, and those that were to blame.

    It ends after so many inputs, or so many seconds once all is prepared.
    """
    campaign = importlib.import_module(f"attack.{name}")
    silence = silence or getattr(campaign, "SILENCE", SILENCE)
    counts, blamed = Counter(), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (Path(folder) / "prepared").write_bytes(pickle.dumps(campaign.prepare()))
        number, last = first, first + (10**9 if inputs is None else inputs)
        until = time.monotonic() + (10**9 if seconds is None else seconds)
        while number < last and time.monotonic() < until:
            watch = Watch(name, folder, number, last, until, silence)
            number = watch.follow(counts, blamed)
            watch.stop()
    return counts, blamed


class Watch:
    """One worker, followed as far as it goes."""

    def __init__(self, name, folder, first, last, until, silence):
        command = [sys.executable, "-m", "attack", "--work", name, folder, str(first), str(last)]
        self.worker = subprocess.Popen(
            command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=TESTS,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.number, self.began, self.until, self.silence = first, None, until, silence
        self.patience = time.monotonic() + START + silence
        self.text = b""

    def follow(self, counts, blamed):
        """Count until the worker ends or is to blame; the number to go on with."""

        def blame(said):
            number = self.number if self.began is None else self.began
            counts[said.split()[0]] += 1
            blamed.append((number, said))
            return number + 1

        while time.monotonic() < self.until or self.began is None:
            lines = self._lines()
            if lines is None:
                code = self.worker.wait()
                return self.number if self.began is None and code == 0 else blame(f"crash {code}")
            for line in lines:
                self.patience = time.monotonic() + self.silence
                kind, number, *said = line.split(" ", 2)
                self.began = int(number) if kind == "begin" else None
                if kind == "end":
                    self.number = int(number) + 1
                    counts[said[0] if said[0].startswith("refused") else said[0].split()[0]] += 1
                    if said[0].split()[0] in FAULTS:
                        blamed.append((int(number), said[0]))
            if time.monotonic() > self.patience:
                return blame("hang")
        return self.number

    def _lines(self):
        """What the worker has said since; None when it has ended."""
        ready, _, _ = select.select([self.worker.stdout], [], [], 0.5)
        if not ready:
            return []
        chunk = os.read(self.worker.stdout.fileno(), 65536)
        *lines, self.text = (self.text + chunk).split(b"\n")
        return [line.decode() for line in lines] if chunk else None

    def stop(self):
        self.worker.kill()
        self.worker.wait()
        self.worker.stdout.close()


def only(name, number):
    """Try one input here, and keep what it leaves."""
    campaign = importlib.import_module(f"attack.{name}")
    folder = Path(tempfile.gettempdir()) / "attack"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    faulthandler.enable()
    faulthandler.dump_traceback_later(SILENCE, exit=True)
    print(folder, tried(campaign, number, campaign.prepare(), folder))
