"""The laboratory: ours and the peers on all bundled data sets, by six criteria.

    python -m benchmarks suite --part development

measures every cell (a learner on a data set) in a process of its own, appends it to a file of JSON
lines the moment it is done, leaves out cells that are there already, and prints mean ranks with the
critical difference, tests, regrets, times and wins. The sets are divided once and for all, by a
hash of their names, into those that may be looked at while `auto` changes (`development`) and those
that confirm (`confirmation`).
"""

import argparse
import json
import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import suite_data, suite_tables
from benchmarks.rivals import run_script, scores_of, write_task
from labelrank.learners.thresholded import best_threshold
from labelrank.metrics import evaluate_ranking, evaluate_sets

CRITERIA = suite_tables.CRITERIA
ROWS = (
    *(("labelrank", f"auto ({name})") for name in CRITERIA),
    *(("labelrank", name) for name in ("BSVM+", "logistic", "forest", "boosted-trees")),
    *(("scikit-learn", f"{name}{scaled}")
      for name in ("LinearSVC", "LinearSVC balanced", "LogisticRegression")
      for scaled in ("", ", scaled")),
    *(("scikit-learn", name)
      for name in ("random forest", "extra trees", "HistGradientBoosting", "MLP, scaled")),
    ("lightgbm", "default"),
    ("xgboost", "default"),
    ("catboost", "default"),
    ("napkinxc", "PLT"),
    ("napkinxc", "BR"),
    ("omikuji", "default"),
    ("libpecos", "XR-Linear"),
    ("libmultilabel", "1vsrest"),
    ("fasttext", "supervised"),
    ("scikit-multilearn-ng", "ML-kNN"),
)  # fmt: skip
LINKED = (
    "X.npz",
    "Y.npz",
    "X_test.npz",
    "folds.npy",
    "dense.json",
    "texts.json",
    "texts_test.json",
)


class Cells:
    """A file of JSON lines that grows by whole lines; one that is torn is left out."""

    def __init__(self, path: Path) -> None:
        self.path, self.lock = path, threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lines = list(_lines(path))

    def append(self, line: dict) -> None:
        text = json.dumps(line) + "\n"
        with self.lock:
            self.lines.append(line)
            whole = not self.path.exists() or self.path.read_bytes()[-1:] in (b"", b"\n")
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(text if whole else "\n" + text)
                file.flush()
                os.fsync(file.fileno())

    def known(self) -> set[tuple[str, str, str]]:
        return {(one["data"], one["package"], one["method"]) for one in self.lines}


def _lines(path: Path) -> Any:
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def quality(folder: Path, given: suite_data.Problem, own: float | None) -> dict[str, float]:
    """The six criteria; sets by the learner's own cut (`_own`) and by the tuned one (`_tuned`)."""
    scores = scores_of(folder, "test", given.Y)
    ranked = evaluate_ranking(given.Y_test, scores, 0.0)
    found = {name: float(ranked[name]) for name in CRITERIA if name in ranked}
    cuts = {} if own is None else {("micro_f1", "own"): own, ("macro_f1", "own"): own}
    if (folder / "scores_held.npz").exists():
        rows = np.flatnonzero(given.folds >= 0)
        held = scores_of(folder, "held", given.Y)
        for name in ("micro_f1", "macro_f1"):
            cuts[name, "tuned"] = float(best_threshold(given.Y[rows], held, name))
    for (name, kind), cut in cuts.items():
        sets = evaluate_sets(given.Y_test, sp.csr_array(scores > cut))
        found[f"{name}_{kind}"] = float(sets[name])
    return found


def measure(name: str, given: suite_data.Problem, row: tuple, task: Path, options: Any) -> dict:
    """One cell, in a folder of its own."""
    line = {"data": name, "package": row[0], "method": row[1], "rows": given.X.shape[0]}
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        for part in LINKED:
            if (task / part).exists():
                (folder / part).symlink_to(task / part)
        found = run_script(
            row[0], folder, row[1], n_jobs=options.jobs, limit=options.limit,
            together=options.together,
        )  # fmt: skip
        if "error" in found:
            return line | found
        try:
            return line | found | quality(folder, given, found.pop("cut"))
        except ValueError as error:
            return line | {"error": f"scores that cannot be judged: {error}"[:160]}


def run_cells(cells: Cells, options: Any) -> None:
    """All cells that are missing, `--workers` side by side."""
    ends = time.monotonic() + options.until
    with tempfile.TemporaryDirectory() as path, ThreadPoolExecutor(options.workers) as pool:
        tasks, known, waiting = {}, cells.known(), []
        for name in options.data:
            todo = [row for row in options.rows if (name, *row) not in known]
            if todo:
                tasks[name] = _task(name, Path(path) / name, options)
                waiting += [(name, row) for row in todo]
        # Short ones first: what time is left out then are single cells, not whole learners.
        waiting.sort(key=lambda one: (_is_warm(one[1]), tasks[one[0]][0].Y.nnz))

        def work(name: str, row: tuple) -> None:
            if time.monotonic() < ends:
                given, task = tasks[name]
                cells.append(measure(name, given, row, task, options))
                _say(cells.lines[-1])

        list(pool.map(lambda one: work(*one), waiting))


def _is_warm(row: tuple) -> bool:
    return row[0] == "labelrank"


def _task(name: str, folder: Path, options: Any) -> tuple[suite_data.Problem, Path]:
    ready = options.tasks / f"{name}.npz" if options.tasks else None
    most = options.most
    given = suite_data.read(ready) if ready else suite_data.problem(name, most)
    folder.mkdir()
    write_task(folder, given.X, given.Y, given.X_test, given.texts, given.folds)
    return given, folder


def _say(line: dict) -> None:
    what = line.get("error") or " ".join(
        f"{key} {line[key]:.4g}" for key in ("fit_s", *CRITERIA, "micro_f1_own") if key in line
    )
    print(f"{line['data']}: {line['package']} {line['method']}: {what}", flush=True)


def options_of(arguments: list[str] | None) -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks suite", description=__doc__)
    parser.add_argument("data", nargs="*", help="data sets (default: all of the part)")
    parser.add_argument("--part", choices=("development", "confirmation"))
    parser.add_argument("--learners", nargs="*", help="'PACKAGE METHOD', or a PACKAGE")
    parser.add_argument("--cells", type=Path, default=Path("results/suite.jsonl"))
    parser.add_argument("--most", type=int, help="most rows of either part of a set")
    parser.add_argument("--limit", type=float, default=100.0, help="seconds of a fit")
    parser.add_argument("--until", type=float, default=1e9, help="seconds; then no cell is begun")
    parser.add_argument("--workers", type=int, default=1, help="cells measured side by side")
    parser.add_argument("--jobs", type=int, default=2, help="threads of a cell")
    parser.add_argument("--together", action="store_true", help="all peers in this environment")
    parser.add_argument("--tasks", type=Path, help="folder of problems that --prepare wrote")
    parser.add_argument("--prepare", type=Path, help="only write the problems there")
    parser.add_argument("--tables", action="store_true", help="measure nothing, print the tables")
    options = parser.parse_args(arguments)
    options.data = options.data or suite_data.names(options.part)
    wanted = options.learners
    options.rows = [
        row for row in ROWS if not wanted or row[0] in wanted or " ".join(row) in wanted
    ]
    return options


def main(arguments: list[str] | None = None) -> None:
    options = options_of(arguments)
    if options.prepare:
        options.prepare.mkdir(parents=True, exist_ok=True)
        for name in options.data:
            suite_data.save(options.prepare / f"{name}.npz", suite_data.problem(name, options.most))
        return
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(options.jobs)
    cells = Cells(options.cells)
    if not options.tables:
        run_cells(cells, options)
    chosen = [one for one in cells.lines if one["data"] in options.data]
    print(suite_tables.text(chosen))


if __name__ == "__main__":
    main()
