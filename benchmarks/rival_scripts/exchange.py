"""How a benchmark and a peer's own Python talk: matrices in a folder, scores and a JSON line back.

A script is run as `run_PACKAGE.py FOLDER N_JOBS LIMIT_S METHOD` and calls `measure`. The time of a
fit and of scoring the test part is taken once; an alarm ends the process at the limit. Further
fits, each without the rows of one fold, are there for a cut that is tuned by them, and timed apart.
"""

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp


class Task(NamedTuple):
    """What a peer learns from; `texts` is None where the data has none."""

    X: sp.csr_matrix
    Y: sp.csr_matrix
    texts: list[str] | None
    folder: Path
    n_jobs: int
    limit: float
    method: str
    dense: bool


def measure(
    fit: Callable[[Task], Any],
    score: Callable[[Any, sp.csr_matrix, list[str] | None], Any],
    cut: float | None = None,
    prepare: Callable[[Task], Task] = lambda task: task,
    tunes_itself: bool = False,
) -> None:
    """Fit, score the test part, then for each fold fit without its rows and score those.

    `score` gives a dense matrix, or CSR with the labels it has scored; `cut` is the score above
    which the peer itself takes a label, None where it leaves that open. What only changes the
    form of the data (text files to read) belongs to `prepare`, which is not timed. A learner that
    tunes its cut itself needs no further fit; one whose further fits would take longer than the
    limit gets none.
    """
    task, X_test, texts_test, folds = _read()
    ready = prepare(task)
    signal.alarm(int(task.limit))
    start = time.perf_counter()
    model = fit(ready)
    fitted = time.perf_counter() - start
    start = time.perf_counter()
    scores = score(model, X_test, texts_test)
    predicted = time.perf_counter() - start
    signal.alarm(0)
    _save(task.folder / "scores_test.npz", scores)
    found = {"fit_s": fitted, "predict_s": predicted, "peak_mib": round(peak_mib()), "cut": cut}
    found |= getattr(model, "told", {})
    print(json.dumps(found), flush=True)
    n_folds = int(folds.max(initial=-1)) + 1
    if n_folds and not tunes_itself and n_folds * (fitted + predicted) < task.limit:
        signal.alarm(2 * int(task.limit))
        parts, places, found["tune_s"] = [], [], 0.0
        for fold in range(n_folds):
            rest, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            ready = prepare(_part(task, rest))
            start = time.perf_counter()
            parts.append(score(fit(ready), task.X[held], _some(task.texts, held)))
            found["tune_s"] += time.perf_counter() - start
            places.append(held)
        signal.alarm(0)
        _save(task.folder / "scores_held.npz", _in_order(parts, np.concatenate(places)))
        print(json.dumps(found), flush=True)


def _in_order(parts: list[Any], places: Any) -> Any:
    """The scores of all folds by the place of their rows."""
    order = np.argsort(places)
    if sp.issparse(parts[0]):
        return sp.csr_matrix(sp.vstack(parts))[order]
    return np.vstack(parts)[order]


def _read() -> tuple[Task, sp.csr_matrix, list[str] | None, Any]:
    folder = Path(sys.argv[1])
    X, Y, X_test = (
        sp.csr_matrix(sp.load_npz(folder / f"{part}.npz")) for part in ("X", "Y", "X_test")
    )
    texts, texts_test = (_texts(folder / f"{part}.json") for part in ("texts", "texts_test"))
    dense = json.loads((folder / "dense.json").read_text(encoding="utf-8"))
    given = int(sys.argv[2]), float(sys.argv[3]), sys.argv[4], dense
    return Task(X, Y, texts, folder, *given), X_test, texts_test, np.load(folder / "folds.npy")


def _texts(path: Path) -> list[str] | None:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _part(task: Task, rows: Any) -> Task:
    return task._replace(X=task.X[rows], Y=task.Y[rows], texts=_some(task.texts, rows))


def _some(texts: list[str] | None, rows: Any) -> list[str] | None:
    return None if texts is None else [texts[i] for i in rows]


def _save(path: Path, scores: Any) -> None:
    if sp.issparse(scores):
        sp.save_npz(path, sp.csr_matrix(scores), compressed=False)
    else:
        np.savez(path, dense=np.asarray(scores, np.float32))


def as_given(task: Task, X: sp.csr_matrix, dtype: Any = np.float64) -> Any:
    """Dense where the data are."""
    return X.toarray().astype(dtype) if task.dense else X.astype(dtype)


def n_wanted(task: Task, most: int) -> int:
    """How many labels to answer with: the method "top 5" asks for five, else as many as it can."""
    return min(5, task.Y.shape[1]) if task.method == "top 5" else min(most, task.Y.shape[1])


def scored(rows: list[list[tuple[int, float]]], n_labels: int) -> sp.csr_matrix:
    """CSR of (label, score) lists; a score of 0 stays stored: it is a score."""
    indptr = np.cumsum([0, *map(len, rows)])
    pairs = np.array([pair for row in rows for pair in row], dtype=np.float64).reshape(-1, 2)
    parts = (pairs[:, 1], pairs[:, 0].astype(np.int32), indptr)
    return sp.csr_matrix(parts, shape=(len(rows), n_labels))


def label_lists(Y: sp.csr_matrix) -> list[list[int]]:
    """The labels of each row."""
    return [Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist() for i in range(Y.shape[0])]


def pairs_of(X: sp.csr_matrix, i: int) -> Any:
    """The (feature, value) pairs of a row."""
    row = slice(X.indptr[i], X.indptr[i + 1])
    return zip(X.indices[row].tolist(), X.data[row].tolist(), strict=True)


def peak_mib() -> float:
    """Largest resident size of this process so far."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
