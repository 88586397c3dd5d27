"""Rival libraries, each in a virtual environment of its own; `make bench-rivals` installs them.

They disagree about numpy and share module names, so none is a dependency of the package. A
rival that does not install, is not installed, or fails, is a line that says so.
"""

import json
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).parent
FOLDER = HERE.parent / ".bench-venvs"
# Installed step by step: what a package forgets to ask for comes first.
PACKAGES = {
    "omikuji": [["omikuji", "scipy"]],
    "libpecos": [["torch==2.13.0", "numpy<2", "setuptools<80"], ["libpecos"]],
    "napkinxc": [["napkinxc"]],
    "liblinear-official": [["liblinear-official", "scipy"]],
    "libmultilabel": [["libmultilabel"]],
    "fasttext": [["fasttext", "scipy"]],
    "vowpalwabbit": [["vowpalwabbit", "scipy"]],
    "river": [["river"]],
    "lightgbm": [["lightgbm", "scikit-learn"]],
    "xgboost": [["xgboost", "scikit-learn"]],
    "catboost": [["catboost", "scikit-learn"]],
    "scikit-multilearn": [["scikit-multilearn", "scikit-learn", "scipy"]],
    "scikit-multilearn-ng": [["scikit-multilearn-ng"]],
}
OURSELVES = ("labelrank", "scikit-learn")
LIMIT = 100.0
# How a process ends that its alarm has stopped: seen by its parent, and through a wrapper.
OVER = (-signal.SIGALRM, 256 - signal.SIGALRM, 128 + signal.SIGALRM)


def install(name: str) -> str:
    """Make the environment; returns what came of it, which is kept beside it."""
    venv = FOLDER / name
    shutil.rmtree(venv, ignore_errors=True)
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    steps = [[sys.executable, "-m", "venv", str(venv)], *(pip + step for step in PACKAGES[name])]
    outcome = "installed"
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            outcome = f"does not install: {_reason(done.stderr)}"
            break
    _outcome_file(name).write_text(outcome, encoding="utf-8")
    return outcome


def python_of(name: str, together: bool = False) -> Path | str:
    """Its Python, or why there is none; ours, where all are installed `together`."""
    if together or name in OURSELVES:
        return Path(sys.executable)
    kept = _outcome_file(name)
    outcome = kept.read_text(encoding="utf-8") if kept.exists() else "installed"
    python = FOLDER / name / "bin" / "python"
    if outcome != "installed":
        return outcome
    return python if python.exists() else "not installed; run make bench-rivals"


def _outcome_file(name: str) -> Path:
    FOLDER.mkdir(exist_ok=True)
    return FOLDER / f"{name}.outcome"


def _reason(stderr: str) -> str:
    """The line of an output that says most: the last error, else the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower() and not line.endswith(":")]
    return " ".join((errors or lines or ["no reason given"])[-1].split())[:160]


def write_task(
    folder: Path, X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array,
    texts: tuple[list[str], list[str]] | None = None, folds: Any = (),
) -> None:  # fmt: skip
    """What the scripts read: one folder serves any number of rivals.

    Matrices are written sparse; where X is a dense array, rivals that take either get it dense.
    """
    for part, matrix in (("X", X), ("Y", (Y > 0).astype(np.float32)), ("X_test", X_test)):
        sp.save_npz(folder / f"{part}.npz", _narrow(matrix))
    for part, documents in zip(("texts", "texts_test"), texts or (), strict=False):
        (folder / f"{part}.json").write_text(json.dumps(documents), encoding="utf-8")
    np.save(folder / "folds.npy", np.asarray(folds, np.int64))
    (folder / "dense.json").write_text(json.dumps(not sp.issparse(X)), encoding="utf-8")


def _narrow(matrix: sp.csr_array) -> sp.csr_matrix:
    """With 32-bit indices: several rivals take no others."""
    csr = sp.csr_matrix(matrix)
    parts = (csr.data.astype(np.float32), csr.indices.astype(np.int32), csr.indptr.astype(np.int32))
    return sp.csr_matrix(parts, shape=csr.shape)


def run_script(
    name: str, folder: Path, method: str = "", *, n_jobs: int = 2, limit: float = LIMIT,
    wrapper: str = "", together: bool = False,
) -> dict:  # fmt: skip
    """Let a rival fit and score what is in the folder; a dict with "error" where it could not."""
    python = python_of(name, together)
    if isinstance(python, str):
        return {"error": python}
    for old in ("scores_test.npz", "scores_held.npz"):
        (folder / old).unlink(missing_ok=True)
    script = HERE / "rival_scripts" / f"run_{name}.py"
    command = [str(python), "-W", "ignore", str(script), str(folder), str(n_jobs), str(limit)]
    said, complained = folder / "stdout", folder / "stderr"
    # Files, not pipes: some rivals print much, and must never wait for a reader.
    with open(said, "w") as out, open(complained, "w") as err:
        call = [*shlex.split(wrapper), *command, method]
        done = subprocess.run(call, stdout=out, stderr=err, check=False)
    lines = [line for line in _lines(said) if line.startswith('{"fit_s"')]
    if lines:
        return json.loads(lines[-1])
    if done.returncode in OVER:
        return {"error": f"over {limit:.0f} s: stopped"}
    return {"error": _reason("\n".join(_lines(complained)))}


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def scores_of(folder: Path, part: str, Y: sp.csr_array) -> np.ndarray:
    """Scores of all labels: those a rival left out come last, by their frequency in training Y."""
    with np.load(folder / f"scores_{part}.npz") as file:
        if "dense" in file:
            return np.nan_to_num(file["dense"], nan=-1e30)
    scores = sp.csr_matrix(sp.load_npz(folder / f"scores_{part}.npz"))
    frequency = np.asarray((Y > 0).sum(axis=0)).ravel() / Y.shape[0]
    lowest = scores.data.min() if scores.nnz else 0.0
    full = np.tile((lowest - 2.0 + frequency).astype(np.float32), (scores.shape[0], 1))
    rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    full[rows, scores.indices] = scores.data
    return full


def run_rival(
    name: str, X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array, n_jobs: int = 2
) -> dict:
    """Seconds to fit and to predict, peak memory, and the five best labels of each test row."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_task(folder, X, Y, X_test)
        found = run_script(name, folder, "top 5", n_jobs=n_jobs)
        if "error" in found:
            return {"name": name, **found}
        scores = scores_of(folder, "test", Y)
        top = np.argsort(-scores, axis=1, kind="stable")[:, :5]
        found.pop("cut")
        return {"name": name, "top": top, **found}


def precisions(Y: sp.csr_array, top: np.ndarray, ks: tuple[int, ...] = (1, 3, 5)) -> dict:
    """Precision among the first k of the given labels."""
    hits = np.take_along_axis((Y > 0).toarray(), top, axis=1)
    return {f"P@{k}": round(float(hits[:, :k].mean()), 4) for k in ks}


if __name__ == "__main__":
    for rival in sys.argv[1:] or PACKAGES:
        print(rival, install(rival), flush=True)
