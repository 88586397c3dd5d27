"""Workers that are killed in the middle, workers that run out of memory, schedulers that go."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from labelrank import (
    BinaryRelevancePerceptron,
    BinaryRelevanceSVM,
    EmbeddingPCAPLM,
    NaiveBayesRanker,
    ProSVM,
    Tagger,
    datasets,
    distributed,
    persistence,
)
from labelrank.distributed.engine import Cluster, connected
from labelrank.distributed.fitting import fit_parts
from labelrank.errors import InputError, MissingError

LEARNERS = {
    "NB": NaiveBayesRanker(),
    "BR": BinaryRelevancePerceptron(shuffle=False, random_state=0),
    "BSVM": BinaryRelevanceSVM(random_state=0),
    "ProSVM-A": ProSVM(approximate=True, n_blocks=2, tol=0.05, random_state=0),
    "EP-PLM": EmbeddingPCAPLM(n_components=4, epochs=2, preferences_per_epoch=20, random_state=0),
}


class Killing(Cluster):
    """Kills a worker, drawn at random, when so many steps have been handed out."""

    def __init__(self, client, at, seed):
        super().__init__(client)
        self.left, self.random, self.killed = at, random.Random(seed), 0

    def call(self, step, *arguments):
        self.left -= 1
        if self.left == 0:
            pids = self.client.run(os.getpid, on_error="ignore")
            os.kill(self.random.choice(sorted(pids.values())), signal.SIGKILL)
            self.killed += 1
        return super().call(step, *arguments)


def killed_once(folder, name, at, seed):
    """On a cluster of its own: a nanny may lose a worker that is killed while it starts anew."""
    parts = datasets.open_parts(folder / "in")
    with connected("local:2") as client:
        engine = Killing(client, at, seed)
        return fit_parts(Tagger(LEARNERS[name]), parts, engine), engine.killed


def digest(tagger):
    return persistence.digest(tagger.vectorizer_), persistence.digest(tagger.learner_)


@pytest.mark.parametrize(("name", "at"), [("NB", 30), ("BR", 45)])
def test_a_worker_killed_in_the_middle_changes_no_bit(folder, name, at):
    expected = distributed.fit(LEARNERS[name], datasets.open_parts(folder / "in"))
    tagger, n_killed = killed_once(folder, name, at, seed=at)
    assert n_killed == 1
    assert digest(tagger) == digest(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_twenty_kills_at_random_moments_change_no_bit(folder, name):
    expected = distributed.fit(LEARNERS[name], datasets.open_parts(folder / "in"))
    drawn, total = random.Random(0), 0
    for seed in range(20):
        tagger, n_killed = killed_once(folder, name, drawn.randrange(2, 60), seed)
        total += n_killed
        assert digest(tagger) == digest(expected)
    assert total > 10


def too_much(_):
    return float(np.ones(1 << 28).sum())  # 2 GiB


def test_a_worker_out_of_memory_is_one_sentence():
    with connected("local:1", memory=400 << 20) as client:
        engine = Cluster(client)
        lost = engine.call(too_much, 0)
        with pytest.raises(InputError, match=r"out of memory; give them .*\(max_terms\)"):
            engine.get(lost)


def test_addresses_that_lead_nowhere():
    for address, message in (
        ("local:0", "write local:N"), ("local:many", "write local:N"), ("here", "tcp://host:port"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message), connected(address):
            pass


def test_a_scheduler_that_is_not_there(monkeypatch):
    from labelrank.distributed import engine

    monkeypatch.setattr(engine, "_PATIENCE", 1)
    message = r"no scheduler answers at tcp://127.0.0.1:9"
    with pytest.raises(MissingError, match=message), connected("tcp://127.0.0.1:9"):
        pass


@pytest.fixture
def apart(tmp_path):
    """The address of a scheduler with one worker, in processes of their own, and the scheduler."""
    note = tmp_path / "scheduler.json"
    here = ["--no-dashboard", "--scheduler-file", str(note)]
    own = ["--host", "127.0.0.1", "--port", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    program = [sys.executable, "-m", "dask"]
    scheduler = subprocess.Popen([*program, "scheduler", *own, *here], **quiet)
    worker = subprocess.Popen([*program, "worker", "--nthreads", "1", "--no-nanny", *here], **quiet)
    for _ in range(300):
        if note.exists() and note.stat().st_size:
            break
        time.sleep(0.1)
    yield json.loads(note.read_text())["address"], scheduler
    for process in (scheduler, worker):
        process.kill()
        process.wait()


def test_a_scheduler_that_is_lost_is_one_sentence(apart, capfd):
    address, scheduler = apart
    message = rf"the scheduler at {address} is lost; files that are complete are kept: start it"
    with connected(address) as client:
        client.wait_for_workers(1)
        engine = Cluster(client)
        step = engine.call(time.sleep, 60)
        time.sleep(1)
        scheduler.kill()
        with pytest.raises(MissingError, match=message):
            engine.get(step)
    assert "Traceback" not in capfd.readouterr().err
