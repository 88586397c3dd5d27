"""Ours and the peers on the same data in one run: time, memory, quality; table and plot.

`python -m benchmarks.peers` (part of `make bench`) measures every cell in a process of its own and
writes docs/peers/cells.jsonl, docs/peers/*.rst and docs/_static/peers.png; cells already measured
are kept unless `--again` is given. `--wrapper CMD` puts a command (nice, taskset, ...) before each
process that is timed.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmarks import peer_pages
from benchmarks.rivals import LIMIT, run_script, scores_of, write_task
from labelrank.datasets import load
from labelrank.learners.thresholded import best_threshold
from labelrank.metrics import evaluate_ranking, evaluate_sets
from labelrank.text import make_vectorizer

PAGES = Path(__file__).parents[1] / "docs" / "peers"
DATA: dict[str, dict[str, Any]] = {
    "debtags": {"min_count": 30},
    "reuters21578": {},
    "rcv1v2": {},
    "bibtex": {},
    "eurlex-titles": {},
    "affective-text": {},
}
ROWS = (
    ("labelrank", "auto (precision_at_1)"),
    ("labelrank", "auto (micro_f1)"),
    ("labelrank", "auto (ranking_loss)"),
    ("labelrank", "BSVM+"),
    ("labelrank", "ProSVM-A+"),
    ("labelrank", "BR+"),
    ("scikit-learn", "LinearSVC"),
    ("scikit-learn", "SGD"),
    ("liblinear-official", "SVM"),
    ("liblinear-official", "logistic regression"),
    ("libmultilabel", "1vsrest"),
    ("libmultilabel", "thresholding"),
    ("libmultilabel", "tree"),
    ("omikuji", "default"),
    ("napkinxc", "PLT"),
    ("libpecos", "XR-Linear"),
    ("fasttext", "supervised"),
    ("vowpalwabbit", "multilabel_oaa"),
    ("scikit-multilearn", "ML-kNN"),
    ("scikit-multilearn-ng", "ML-kNN"),
    ("river", "logistic regression"),
)


class Problem(NamedTuple):
    """Training and test part; features are rows of length 1, labels those met in training."""

    X: sp.csr_array
    Y: sp.csr_array
    X_test: sp.csr_array
    Y_test: sp.csr_array
    texts: tuple[list[str], list[str]] | None
    held_out: np.ndarray


def problem(name: str) -> Problem:
    """The official split, or a seeded one of 80 : 20; texts as TF-IDF."""
    data = load(name, **DATA[name])
    random = np.random.default_rng(0)
    if data.train is not None:
        train, test = data.train, data.test
    else:
        order = random.permutation(data.n_instances)
        train, test = map(data.subset, np.split(order, [int(0.8 * len(order))]))
    texts = None if train.texts is None else (list(train.texts), list(test.texts))
    if texts is None:
        X, X_test = (sp.csr_array(normalize(part.X)) for part in (train, test))
    else:
        terms = make_vectorizer()
        X, X_test = terms.fit_transform(texts[0]), terms.transform(texts[1])
    Y, Y_test = sp.csr_array(train.Y), sp.csr_array(test.Y)
    met = np.flatnonzero((Y > 0).sum(axis=0))
    held = np.sort(random.permutation(X.shape[0])[: X.shape[0] // 5])
    return Problem(X, Y[:, met], X_test, Y_test[:, met], texts, held)


def cell(folder: Path, given: Problem, package: str, method: str, options: Any) -> dict:
    """One learner on one data set."""
    found = run_script(package, folder, method, limit=options.limit, wrapper=options.wrapper)
    if "error" in found:
        return found
    return found | quality(folder, given, found.pop("cut"))


def quality(folder: Path, given: Problem, own: float | None) -> dict:
    """Criteria of the test part; sets by the learner's own cut, and by one tuned on held-out rows.

    A learner that has tuned its cut itself has no held-out scores.
    """
    scores = scores_of(folder, "test", given.Y)
    cuts = {} if own is None else {"own": own}
    if (folder / "scores_held.npz").exists():
        truth = (given.Y[given.held_out] > 0).astype(float)
        held = scores_of(folder, "held", given.Y)
        cuts["tuned"] = best_threshold(truth, held, "micro_f1")
    cut = cuts.get("tuned", cuts.get("own", 0.0))
    found = evaluate_ranking(given.Y_test, scores, cut)
    for name, value in cuts.items():
        sets = evaluate_sets(given.Y_test, sp.csr_array(scores > value))
        found |= {f"{key}_{name}": sets[key] for key in ("micro_f1", "macro_f1")}
    if not _is_graded(given.Y_test):
        found.pop("pro_loss")
    return {key: value for key, value in found.items() if key in peer_pages.KEPT}


def _is_graded(Y: sp.csr_array) -> bool:
    return len(np.unique(Y.data[Y.data > 0])) > 1


def measure(options: Any) -> list[dict]:
    """All cells asked for, each written the moment it is done."""
    path = options.cells
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = read(path)
    for data in options.data or DATA:
        rows = [row for row in ROWS if not options.learners or " ".join(row) in options.learners]
        todo = [row for row in rows if options.again or (data, *row) not in cells]
        if not todo:
            continue
        given = problem(data)
        with tempfile.TemporaryDirectory() as folder:
            folds = np.full(given.X.shape[0], -1)
            folds[given.held_out] = 0
            write_task(Path(folder), given.X, given.Y, given.X_test, given.texts, folds)
            for package, method in todo:
                found = cell(Path(folder), given, package, method, options)
                cells[data, package, method] = found
                peer_pages.say(data, package, method, found)
                write(path, cells)
    return [_line(key, found) for key, found in cells.items()]


def _line(key: tuple[str, ...], found: dict) -> dict:
    return dict(zip(("data", "package", "method"), key, strict=True)) | found


def read(path: Path) -> dict[tuple[str, ...], dict]:
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(one.pop("data"), one.pop("package"), one.pop("method")): one for one in lines}


def write(path: Path, cells: dict[tuple[str, ...], dict]) -> None:
    """In the order of the tables."""
    places = {(data, *row): (d, r) for d, data in enumerate(DATA) for r, row in enumerate(ROWS)}
    keys = sorted((key for key in cells if key in places), key=places.__getitem__)
    lines = [json.dumps(_line(key, cells[key])) for key in keys]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("data", nargs="*", help=f"which: {', '.join(DATA)} (default: all)")
    parser.add_argument("--learners", nargs="*", help="'PACKAGE METHOD', as in the table")
    parser.add_argument("--again", action="store_true", help="measure known cells anew")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a cell may take")
    parser.add_argument("--wrapper", default="", help="command put before each timed process")
    parser.add_argument("--cells", type=Path, default=PAGES / "cells.jsonl")
    options = parser.parse_args()
    cells = measure(options)
    if options.cells.parent == PAGES:
        peer_pages.write(cells, list(DATA), PAGES)


if __name__ == "__main__":
    main()
