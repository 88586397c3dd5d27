"""Learning from folders of Parquet by one and two processes: seconds, bytes sent, memory.

    python -m benchmarks.scale --documents 20000 200000 --learners NB BR --workers 1 2

The documents are made: a label draws words of its own, so that who learns the words knows it.
`--simulate` draws what the measured constants foretell for more workers and documents; that is a
simulation, and says so.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from labelrank import catalog, datasets
from labelrank.distributed import engine
from labelrank.distributed.forecast import forecast
from labelrank.text import make_vectorizer

LABELS, OWN_WORDS, VOCABULARY = 500, 40, 50_000
WORDS, MOST_LABELS, OWN_SHARE = 100, 4, 0.4
LEARNERS = ("NB", "BR", "BSVM", "ProSVM-A", "EP-PLM")
TERMS = 20_000
_PART = 50_000


def write(folder: Path, n_documents: int, seed: int = 0, part: int = _PART) -> None:
    """Documents in files of at most `part` rows; each file depends on the seed and its number."""
    folder.mkdir(parents=True)
    part = min(part, max(n_documents // 4, 1))
    for k, first in enumerate(range(0, n_documents, part)):
        frames = list(batches(min(part, n_documents - first), seed * 1_000_003 + k))
        pl.concat(frames).write_parquet(folder / f"{k:05}.parquet")


def batches(n_documents: int, seed: int, at_once: int = 5_000) -> Iterator[pl.DataFrame]:
    """Documents some thousands at a time, so that memory stays bounded."""
    random = np.random.default_rng(seed)
    words = np.array([f"w{k:05}" for k in range(VOCABULARY)], object)
    # Which words a label draws depends on no seed: all files tell of the same labels.
    own = np.random.default_rng(0).integers(VOCABULARY, size=(LABELS, OWN_WORDS))
    for first in range(0, n_documents, at_once):
        n = min(at_once, n_documents - first)
        counts = random.integers(1, MOST_LABELS + 1, n)
        labels = (LABELS ** random.random((n, MOST_LABELS))).astype(int) - 1  # about Zipf
        drawn = (VOCABULARY ** random.random((n, WORDS))).astype(int) - 1
        whose = labels[
            np.arange(n)[:, None], (random.random((n, WORDS)) * counts[:, None]).astype(int)
        ]
        theirs = own[whose, random.integers(OWN_WORDS, size=(n, WORDS))]
        chosen = words[np.where(random.random((n, WORDS)) < OWN_SHARE, theirs, drawn)]
        yield pl.DataFrame({
            "text": [" ".join(row) for row in chosen.tolist()],
            "labels": [sorted({f"label {k}" for k in row[:count]})
                       for row, count in zip(labels.tolist(), counts.tolist())],
        })  # fmt: skip


def measure(folder: Path, test: Path, learner: str, workers: int, memory: str) -> dict:
    """One run of the commands in processes of their own."""
    model = folder.parent / f"{learner}.labelrank"
    more = ["--set", "tol=0.05", "--set", "n_blocks=2"] if learner == "ProSVM-A" else []
    place = ["-o", str(model), "--cluster", f"local:{workers}", "--memory", memory]
    told = command(
        "fit", f"{folder}/*.parquet", "-l", learner, "--max-terms", str(TERMS), *place, *more
    )
    judged = command("evaluate", str(model), str(test))
    mib = {key: round(told[key] / 2**20) for key in ("sent_bytes", "peak_bytes", "client_bytes")}
    return {
        "learner": learner, "documents": told["n_documents"], "workers": workers,
        "seconds": told["seconds"], "sent MiB": mib["sent_bytes"],
        "worker MiB": mib["peak_bytes"], "client MiB": mib["client_bytes"],
        "micro_f1": judged["micro_f1"],
    }  # fmt: skip


def command(*arguments: str) -> dict:
    """What a command tells as JSON."""
    program = [sys.executable, "-c", "from labelrank.cli import main; main()"]
    done = subprocess.run(
        [*program, *arguments, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def simulated(folder: Path, learners: list[str], bandwidth: float = 1.25e8) -> list[dict]:
    """SIMULATION, no measurement: seconds on many workers, by the model of `fit --dry-run`.

    Its constants are measured on the first rows of the folder, in this process. The network carries
    `bandwidth` bytes per second and worker. More workers pay while ten times as many are at least
    twice as fast.
    """
    parts = datasets.open_parts(f"{folder}/*.parquet")
    found = []
    for name in learners:
        with engine.here() as one:
            words = make_vectorizer("tfidf", max_terms=TERMS)
            known = forecast(catalog.make(name, seed=0), words, parts, one, 1)
        for rows in (10**6, 10**7, 10**8, 10**9):
            before = math.inf
            for workers in (1, 10, 100, 1000):
                there = known.at(rows, workers)
                seconds = there.seconds + there.load.sent_bytes / bandwidth / workers
                found.append({
                    "SIMULATION": name, "documents": rows, "workers": workers,
                    "seconds": round(seconds), "pays": seconds < before / 2,
                    "GiB in each worker": there.told()["GiB in each worker"],
                })  # fmt: skip
                before = seconds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[20_000])
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--write", metavar="FOLDER", help="make the documents there, and no more")
    chosen = parser.parse_args()
    if chosen.write:
        write(Path(chosen.write), chosen.documents[0])
        return
    with tempfile.TemporaryDirectory() as place:
        test = Path(place, "test")
        write(test, 2_000, seed=1)
        for n_documents in chosen.documents:
            folder = Path(place, str(n_documents))
            write(folder, n_documents)
            for learner in chosen.learners:
                for workers in chosen.workers:
                    record = measure(folder, test, learner, workers, chosen.memory)
                    print(json.dumps(record), flush=True)
        if chosen.simulate:
            for record in simulated(folder, chosen.learners):
                print(json.dumps(record))


def run(quick: bool = False) -> list[dict]:
    """For `python -m benchmarks`: a small folder, by two processes."""
    with tempfile.TemporaryDirectory() as place:
        test, folder = Path(place, "test"), Path(place, "train")
        write(test, 500, seed=1)
        write(folder, 2_000 if quick else 20_000)
        return [
            {"name": f"{learner} of a folder, 2 processes"}
            | measure(folder, test, learner, 2, "2GiB")
            for learner in ("NB", "BR")
        ]


if __name__ == "__main__":
    main()
