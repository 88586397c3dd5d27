"""Rival libraries, each in a virtual environment of its own; `make bench-rivals` installs them.

They disagree about numpy and share module names, so none is a dependency of the package. A
rival that is not installed, or fails, is a line that says so.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).parent
FOLDER = HERE.parent / ".bench-venvs"
PACKAGES = {
    "omikuji": ["omikuji", "scipy"],
    "libpecos": ["libpecos", "numpy<2", "setuptools<80"],
    "napkinxc": ["napkinxc"],
    "scikit-multilearn-ng": ["scikit-multilearn-ng"],
}


def install(name: str) -> str:
    """Make the environment; returns what came of it."""
    venv = FOLDER / name
    steps = (
        [sys.executable, "-m", "venv", str(venv)],
        [str(venv / "bin" / "pip"), "install", "--quiet", *PACKAGES[name]],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            return f"does not install: {done.stderr.strip().splitlines()[-1][:200]}"
    return "installed"


def run_rival(
    name: str, X: sp.csr_array, Y: sp.csr_array, X_test: sp.csr_array, n_jobs: int = 2
) -> dict:
    """Seconds to fit and to predict, peak memory, and the five best labels of each test row."""
    python = FOLDER / name / "bin" / "python"
    if not python.exists():
        return {"name": name, "error": "not installed; run make bench-rivals"}
    with tempfile.TemporaryDirectory() as folder:
        for part, matrix in (("X", X), ("Y", Y), ("X_test", X_test)):
            sp.save_npz(Path(folder) / f"{part}.npz", sp.csr_matrix(matrix))
        script = HERE / "rival_scripts" / f"run_{name}.py"
        done = subprocess.run(
            [str(python), str(script), folder, str(n_jobs)], capture_output=True, text=True
        )
        if done.returncode:
            return {"name": name, "error": done.stderr.strip().splitlines()[-1][:200]}
        found = json.loads(done.stdout.strip().splitlines()[-1])
        return {"name": name, "top": np.load(Path(folder) / "top.npy"), **found}


def precisions(Y: sp.csr_array, top: np.ndarray, ks: tuple[int, ...] = (1, 3, 5)) -> dict:
    """Precision among the first k of the given labels."""
    hits = np.take_along_axis((Y > 0).toarray(), top, axis=1)
    return {f"P@{k}": round(float(hits[:, :k].mean()), 4) for k in ks}


if __name__ == "__main__":
    for rival in sys.argv[1:] or PACKAGES:
        print(rival, install(rival), flush=True)
