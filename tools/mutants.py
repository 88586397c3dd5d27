"""Do the tests notice a wrong line? Change the code, one place at a time, and run the tests of it.

    python tools/mutants.py                   # all named mutants, then a sample of each area
    python tools/mutants.py --named           # the named ones alone
    python tools/mutants.py --area metrics --sample 40 --seed 1

A mutant that no test kills survives; the exit code is 1 if a named one does. Named mutants stand in
tools/mutants.toml: a line of the code, what is put in its place, and the tests that must fail.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/labelrank")
# The tests of each part of the package; the first that fits counts.
TESTS = {
    "kernels/ranking.py": "tests/metrics",
    "kernels/folds.py": "tests/evaluation",
    "kernels/label_perceptrons.py": "tests/learners/test_perceptron.py",
    "kernels/pairwise.py": "tests/learners/pairwise",
    "kernels/dual": "tests/learners/pairwise",
    "kernels/plm.py": "tests/learners/plm",
    "kernels/embedding.py": "tests/learners/plm",
    "kernels/inverted.py": "tests/learners/neighbors",
    "kernels/boosting.py": "tests/learners/test_boosting.py",
    "kernels/logistic.py": "tests/learners/chains",
    "kernels/": "tests/learners/margins",
    "learners/auto": "tests/learners/auto",
    "learners/chains": "tests/learners/chains",
    "learners/margins": "tests/learners/margins",
    "learners/neighbors": "tests/learners/neighbors",
    "learners/pairwise": "tests/learners/pairwise",
    "learners/plm": "tests/learners/plm",
    "learners/label_sums.py": "tests/learners/test_naive_bayes.py tests/learners/test_rocchio.py",
    "learners/base.py": "tests/promises",
    "learners/": "tests/learners/test_{stem}.py",
    "metrics/": "tests/metrics",
}
AREAS = ("kernels", "learners", "metrics")
_SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}


class Mutant(NamedTuple):
    """A changed file, what was changed in it, and the tests that should notice."""

    name: str
    file: Path
    content: str
    tests: list[str]


def named() -> Iterator[Mutant]:
    """The mutants of the list; ValueError where a line is no longer there, or there twice."""
    listed = tomllib.loads((ROOT / "tools/mutants.toml").read_text())["mutant"]
    for one in listed:
        path = PACKAGE / one["file"]
        before = (ROOT / path).read_text()
        if before.count(one["old"]) != 1:
            n = before.count(one["old"])
            raise ValueError(f"{one['name']}: {one['old']!r} stands {n} times in {path}; mend it")
        yield Mutant(one["name"], path, before.replace(one["old"], one["new"]), one["tests"])


def sampled(area: str, n: int, seed: int) -> list[Mutant]:
    """Some changes of one operator or number each, drawn from all in the files of the area."""
    places = []
    for path in sorted((ROOT / PACKAGE / area).rglob("*.py")):
        tree = ast.parse(path.read_text())
        places += [(path, place, way) for place, way in _changes(tree)]
    chosen = random.Random(seed).sample(places, min(n, len(places)))  # noqa: S311
    return [_mutant(path.relative_to(ROOT), place, way) for path, place, way in chosen]


def _changes(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """The number of each node that can be changed, and in how many ways."""
    left_out = set(_not_computed(tree))
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in left_out:
            yield from ((place, way) for way in range(_ways(node)))


def _not_computed(tree: ast.AST) -> Iterator[int]:
    """Annotations, decorators and the declared fields of classes: no formula stands there."""
    for node in ast.walk(tree):
        parts: list[Any] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        parts += getattr(node, "decorator_list", [])
        if isinstance(node, ast.ClassDef):
            parts += [one for one in node.body if isinstance(one, ast.AnnAssign)]
        for part in filter(None, parts):
            yield from map(id, ast.walk(part))


def _ways(node: ast.AST) -> int:
    if isinstance(node, ast.Compare):
        return sum(type(op) in _SWAPS for op in node.ops)
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        return int(type(node.op) in _SWAPS)
    if isinstance(node, ast.UnaryOp):
        return int(isinstance(node.op, ast.Not | ast.USub))
    if isinstance(node, ast.Call):
        return int(_called(node) in _CALLS)
    return int(isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float))


def _called(node: ast.Call) -> str:
    return str(getattr(node.func, "id", getattr(node.func, "attr", "")))


def _mutant(path: Path, place: int, way: int) -> Mutant:
    tree = ast.parse((ROOT / path).read_text())
    node: Any = list(ast.walk(tree))[place]
    before = ast.unparse(copy.deepcopy(node))
    if isinstance(node, ast.Compare):
        node.ops[way] = _SWAPS[type(node.ops[way])]()
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        node.op = _SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = _other(node.value)
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.Not):
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        else:
            node.op = ast.UAdd()
    else:
        name = "id" if isinstance(node.func, ast.Name) else "attr"
        setattr(node.func, name, _CALLS[_called(node)])
    where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
    title = f"{where}: {before} -> {ast.unparse(node)}"
    return Mutant(title, path, ast.unparse(ast.fix_missing_locations(tree)), tests_of(path))


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2.0 * value or 1.0


def tests_of(path: Path) -> list[str]:
    """The tests of a file of the package."""
    inside = path.relative_to(PACKAGE).as_posix()
    found = next(tests for part, tests in TESTS.items() if inside.startswith(part))
    tests = found.format(stem=path.stem).split()
    return [one if (ROOT / one).exists() else "tests/learners" for one in tests]


class Trees:
    """Copies of the project, one per worker, in which mutants are tried."""

    def __init__(self, folder: Path, n: int) -> None:
        self.free: SimpleQueue[Path] = SimpleQueue()
        for k in range(n):
            tree = folder / str(k)
            compiled = shutil.ignore_patterns("__pycache__")
            for part in ("src", "tests", "tools"):
                shutil.copytree(ROOT / part, tree / part, ignore=compiled)
            for part in ("pyproject.toml", "CONTRIBUTING.md"):
                shutil.copy(ROOT / part, tree / part)
            self.free.put(tree)

    def run(self, mutant: Mutant | None, tests: list[str], limit: float) -> tuple[str, float]:
        """ "killed", "survived" or "stopped" (over the limit), and the seconds it took."""
        tree = self.free.get()
        before = None if mutant is None else (tree / mutant.file).read_text()
        try:
            if mutant is not None:
                (tree / mutant.file).write_text(mutant.content)
            changes_kernels = mutant is not None and "kernels" in mutant.file.parts
            return _tested(tree, tests, limit, changes_kernels)
        finally:
            if mutant is not None and before is not None:
                (tree / mutant.file).write_text(before)
            self.free.put(tree)


def _tested(tree: Path, tests: list[str], limit: float, changes_kernels: bool) -> tuple[str, float]:
    places = {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if changes_kernels:  # their cache goes with the copy, that of the true kernels stays
        places["LABELRANK_CACHE_DIR"] = str(tree / "cache")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    began = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603
            [*command, *tests], cwd=tree, env=os.environ | places, capture_output=True,
            timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "stopped", limit
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"pytest {' '.join(tests)} ended with {done.returncode}")
    return ("killed" if done.returncode else "survived"), time.perf_counter() - began


def try_all(mutants: list[Mutant], jobs: int, folder: Path) -> list[Mutant]:
    """Try the mutants, print what becomes of each, and return those that survive."""
    trees = Trees(folder, jobs)
    usual = {}
    for tests in {tuple(mutant.tests) for mutant in mutants}:
        outcome, usual[tests] = trees.run(None, list(tests), 3600)
        if outcome != "survived":
            raise RuntimeError(f"the tests fail without any change: {' '.join(tests)}")

    def tried(mutant: Mutant) -> tuple[Mutant, str]:
        return mutant, trees.run(mutant, mutant.tests, 5 * usual[tuple(mutant.tests)] + 120)[0]

    survivors = []
    with ThreadPoolExecutor(jobs) as pool:
        for mutant, outcome in pool.map(tried, mutants):
            print(f"{outcome:9}{mutant.name}", flush=True)  # noqa: T201
            survivors += [mutant] * (outcome == "survived")
    return survivors


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--named", action="store_true", help="only the named mutants")
    parser.add_argument("--only", default="", help="only named mutants with this in their name")
    parser.add_argument("--area", choices=AREAS, action="append", help="default: all areas")
    parser.add_argument("--sample", type=int, default=20, help="mutants per area")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    listed = [] if chosen.area else [one for one in named() if chosen.only in one.name]
    areas = () if chosen.named or chosen.only else chosen.area or AREAS
    drawn = [one for area in areas for one in sampled(area, chosen.sample, chosen.seed)]
    # Always the same place: what was compiled of unchanged kernels there is used again.
    shutil.rmtree(ROOT / "build/mutants", ignore_errors=True)
    survivors = try_all([*listed, *drawn], chosen.jobs, ROOT / "build/mutants")
    names = {mutant.name for mutant in listed}
    for title, part in (("named", listed), ("drawn", drawn)):
        alive = sum(mutant in survivors for mutant in part)
        if part:
            print(f"{title}: {len(part) - alive} of {len(part)} killed")  # noqa: T201
    return int(any(mutant.name in names for mutant in survivors))


if __name__ == "__main__":
    raise SystemExit(main())
