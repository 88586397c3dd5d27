"""Tables as people have them: `labelrank fit FILE.csv` without options beside scikit-learn on
columns prepared by hand.

A table becomes two CSV files with a number and a date beside its columns, and labels in one cell.
By hand: categories one-hot, gaps by the median (for extra trees) or as they are (for boosting), the
number and the date left out. Both are judged by micro-F1 of their own sets on the second file.
"""

import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import arff
import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.multioutput import MultiOutputClassifier

from labelrank.datasets import load
from labelrank.metrics import f1

# Sets with columns of several kinds, by the numbers of their label columns, and sets of numbers.
MIXED = {
    "meka/thyroid-L7": range(7), "mulan/foodtruck": range(-12, 0),
    "multitarget/wq": range(-14, 0),
}  # fmt: skip
PLAIN = ("emotions", "scene", "yeast", "music")
MOST = 4000


class Problem(NamedTuple):
    """Columns by name (None is a gap), which of them are categories, and the label sets of rows."""

    columns: dict[str, list]
    categories: set[str]
    labels: list[set[str]]
    is_test: np.ndarray


def mixed(name: str) -> Problem:
    """A table from its ARFF file, every fifth row for the test."""
    path = Path(os.environ["LABELRANK_DATA"]) / f"{name}.arff.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        found = arff.load(lines)
    names = [one for one, _ in found["attributes"]]
    rows = found["data"][:MOST]
    targets = [names[k] for k in MIXED[name]]
    kinds = dict(found["attributes"])
    columns = {one: [row[k] for row in rows] for k, one in enumerate(names) if one not in targets}
    categories = {one for one in columns if isinstance(kinds[one], list)}
    labels = [
        {one if row[names.index(one)] in ("1", 1.0) else f"{one}={row[names.index(one)]}"
         for one in targets if row[names.index(one)] not in ("0", 0.0, "NEG", None)}
        for row in rows
    ]  # fmt: skip
    return Problem(columns, categories, labels, np.arange(len(rows)) % 5 == 0)


def plain(name: str) -> Problem:
    """A table of numbers, in its official parts where there are some."""
    data = load(name)
    parts = (data.train, data.test) if data.test is not None else (data,)
    X = np.vstack([np.asarray(part.X) for part in parts])
    labels = []
    for part in parts:
        Y = csr_array(part.Y)
        labels += [{str(data.label_names[k]) for k in Y[[i]].indices} for i in range(Y.shape[0])]
    official = np.arange(len(X)) >= parts[0].n_instances
    is_test = official if len(parts) == 2 else np.arange(len(X)) % 5 == 0
    columns = {str(one): X[:, j].tolist() for j, one in enumerate(data.feature_names)}
    return Problem(columns, set(), labels, is_test)


def write(given: Problem, rows: np.ndarray, path: Path) -> None:
    days = np.datetime64("2024-01-01") + (rows * 37) % 600
    frame = pl.DataFrame({
        "record": [f"R{row:06}" for row in rows],
        "entered": [str(day) for day in days],
        **{name: [cells[row] for row in rows] for name, cells in given.columns.items()},
        "labels": [";".join(sorted(given.labels[row])) for row in rows],
    })  # fmt: skip
    frame.write_csv(path)


def by_hand(given: Problem) -> np.ndarray:
    """Numbers as they are, categories one-hot; a gap is NaN, or no category."""
    made = []
    for name, cells in given.columns.items():
        if name in given.categories:
            known = sorted({cell for cell in cells if cell is not None})
            made += [[float(cell == one) for cell in cells] for one in known]
        else:
            made.append([np.nan if cell is None else float(cell) for cell in cells])
    return np.array(made).T


def rivals(given: Problem) -> dict[str, tuple[float, float]]:
    """Micro-F1 and seconds of both."""
    names = sorted(set.union(*given.labels))
    Y = np.array([[one in labels for one in names] for labels in given.labels]).astype(int)
    X, test = by_hand(given), given.is_test
    median = np.nan_to_num(np.nanmedian(X[~test], axis=0))
    known = Y[~test].any(axis=0) & ~Y[~test].all(axis=0)
    found = {}
    for name, model, Z in (
        ("extra trees", ExtraTreesClassifier(random_state=0, n_jobs=2),
         np.where(np.isnan(X), median, X)),
        ("HistGradientBoosting",
         MultiOutputClassifier(HistGradientBoostingClassifier(random_state=0)), X),
    ):  # fmt: skip
        began = time.perf_counter()
        model.fit(Z[~test], Y[~test][:, known])
        seconds = time.perf_counter() - began
        answer = np.zeros_like(Y[test])
        answer[:, known] = model.predict(Z[test])
        found[name] = (float(f1(Y[test], answer, average="micro")), seconds)
    return found


def ours(given: Problem, folder: Path) -> tuple[float, float, str]:
    """Micro-F1 of what the command line makes of the files, its seconds, and what it chose."""
    for name, part in (("train", ~given.is_test), ("test", given.is_test)):
        write(given, np.flatnonzero(part), folder / f"{name}.csv")
    said = _run(folder, "fit", "train.csv", "-o", "model")
    judged = _run(folder, "evaluate", "model", "test.csv")
    return judged["micro_f1"], said["seconds"], said["chosen"]


def _run(folder: Path, *words: str) -> dict:
    command = [sys.executable, "-m", "labelrank", *words, "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def run(quick: bool = False) -> list[dict]:
    records = []
    for name in ("mulan/foodtruck", "emotions") if quick else (*MIXED, *PLAIN):
        given = mixed(name) if name in MIXED else plain(name)
        with tempfile.TemporaryDirectory() as folder:
            value, seconds, chosen = ours(given, Path(folder))
        others = rivals(given)
        best = max(others, key=lambda one: others[one][0])
        records.append({
            "name": name, "ours_s": seconds, "rival_s": others[best][1],
            "ratio": value - others[best][0], "target": "-.01: micro-F1 less that of the best",
            "micro-F1": value, "chosen": chosen, **{one: f for one, (f, _) in others.items()},
        })  # fmt: skip
    return records
