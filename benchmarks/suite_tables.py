"""What the cells of the suite say: ranks, tests, regrets, times and wins.

`auto` is judged, for each criterion, as it was asked for that criterion; the peers by the better of
their two cuts, by the test part, which favours them. A learner without a result on a set is last
there. Regret is the value of the best peer less that of `auto` (of losses: the other way round).
"""

from typing import Any

import numpy as np

from labelrank.errors import InputError
from labelrank.evaluation.statistics import friedman_nemenyi, holm, wilcoxon

# Name, and whether the largest (1) or the smallest (-1) is best.
CRITERIA = {
    "precision_at_1": 1,
    "precision_at_3": 1,
    "average_precision_loss": -1,
    "ranking_loss": -1,
    "micro_f1": 1,
    "macro_f1": 1,
}
OURS = "labelrank"
Cell = dict[str, Any]


def value(cell: Cell, name: str) -> float | None:
    """A criterion, larger is better; None where there is no result."""
    if name in ("micro_f1", "macro_f1"):
        kinds = [cell[key] for kind in ("own", "tuned") if (key := f"{name}_{kind}") in cell]
        return max(kinds, default=None)
    return CRITERIA[name] * cell[name] if name in cell else None


def seconds(cell: Cell, name: str) -> float:
    """What the result took: the fit, and for a tuned cut the fits for it."""
    tuned = cell.get(f"{name}_tuned", -1.0) > cell.get(f"{name}_own", -1.0)
    return cell["fit_s"] + (cell.get("tune_s", 0.0) if tuned else 0.0)


class Results:
    """The cells by set and learner; `auto` is one learner, asked for the criterion at hand."""

    def __init__(self, cells: list[Cell]) -> None:
        self.sets = sorted({one["data"] for one in cells})
        self.by = {(one["data"], one["package"], one["method"]): one for one in cells}
        rows = dict.fromkeys((one["package"], one["method"]) for one in cells)
        self.failed = {row: self._reasons(row) for row in rows}
        lost = [row for row in rows if not any(self._has(name, row) for name in self.sets)]
        self.absent = {row: self.failed[row][0] for row in lost if self.failed[row]}
        rest = [row for row in rows if row not in lost and not row[1].startswith("auto (")]
        self.peers = [row for row in rest if row[0] != OURS]
        self.rows = [(OURS, "auto"), *rest]

    def _has(self, name: str, row: tuple) -> bool:
        return "fit_s" in self.by.get((name, *row), {})

    def _reasons(self, row: tuple) -> list[str]:
        cells = (self.by.get((name, *row), {}) for name in self.sets)
        return [one["error"] for one in cells if "error" in one]

    def cell(self, name: str, row: tuple, criterion: str) -> Cell:
        row = (OURS, f"auto ({criterion})") if row == (OURS, "auto") else row
        return self.by.get((name, *row), {})

    def value(self, name: str, row: tuple, criterion: str) -> float | None:
        return value(self.cell(name, row, criterion), criterion)

    def complete(self, criterion: str) -> list[str]:
        """Sets on which `auto` and some peer have a result."""
        return [name for name in self.sets
                if self.value(name, self.rows[0], criterion) is not None
                and self.best(name, criterion) is not None]  # fmt: skip

    def best(self, name: str, criterion: str, within: float = np.inf) -> tuple | None:
        """The best peer, among those that took no longer than `within` seconds."""
        found = [
            (known, row) for row in self.peers
            if (known := self.value(name, row, criterion)) is not None
            and seconds(self.cell(name, row, criterion), criterion) <= within
        ]  # fmt: skip
        return max(found, default=None)

    def losses(self, criterion: str) -> np.ndarray:
        """Sets × learners, smaller is better, rounded; without a result the worst."""
        table = [[self.value(name, row, criterion) for row in self.rows]
                 for name in self.complete(criterion)]  # fmt: skip
        filled = [[-np.round(one, 6) if one is not None else 9.0 for one in row] for row in table]
        return np.array(filled, float).reshape(len(table), len(self.rows))


def text(cells: list[Cell]) -> str:
    """All tables as plain text."""
    found = Results(cells)
    if not found.peers or not any(found.complete(name) for name in CRITERIA):
        return f"{len(cells)} cells; none where both auto and a peer have a result"
    parts = [f"{len(found.sets)} sets: {', '.join(found.sets)}", ranks(found), summary(found),
             regrets(found), failures(found)]  # fmt: skip
    return "\n\n".join(parts)


def ranks(found: Results) -> str:
    """Mean ranks of all learners; * where `auto` is ahead by the critical difference, + by
    Wilcoxon's test with Holm's correction (5 %)."""
    tests = {name: _tests(found, name) for name in CRITERIA}
    tests = {name: one for name, one in tests.items() if one is not None}
    differences = ", ".join(f"{name} {one[1]:.2f}" for name, one in tests.items())
    lines = [f"Mean ranks (critical differences: {differences}); * Nemenyi, + Wilcoxon and Holm",
             _line("", list(tests))]  # fmt: skip
    order = np.argsort(np.mean([one[0] for one in tests.values()], axis=0))
    for k in order:
        marks = [_mark(one, k) for one in tests.values()]
        shown = [f"{one[0][k]:.2f}{mark}" for one, mark in zip(tests.values(), marks)]
        lines.append(_line(" ".join(found.rows[k]), shown))
    return "\n".join(lines)


def _tests(found: Results, criterion: str) -> tuple | None:
    """Mean ranks, critical difference, and Holm-adjusted p-values of `auto` against each other."""
    losses = found.losses(criterion)
    if len(losses) < 2:
        return None
    try:
        friedman = friedman_nemenyi(losses)
        p = [wilcoxon(losses[:, 0], losses[:, k]).p_value for k in range(1, losses.shape[1])]
    except InputError:
        return None
    return friedman.mean_ranks, friedman.critical_difference, np.append(1.0, holm(p))


def _mark(test: tuple, k: int) -> str:
    ranks, difference, p = test
    ahead = ranks[k] > ranks[0]
    nemenyi = "*" if ranks[k] - ranks[0] >= difference else " "
    return (nemenyi if ahead else " ") + ("+" if ahead and p[k] < 0.05 else " ")


def summary(found: Results) -> str:
    """How `auto` stands to the best peer of each set, chosen by the test part."""
    heads = ["sets", "as good", "mean regret", "median", "largest", "seconds", "best peer's",
             "wins at equal time"]  # fmt: skip
    lines = ["auto beside the best peer of each set", _line("", heads)]
    for name in CRITERIA:
        rows = _beside(found, name)
        if not rows:
            continue
        regret, mine, theirs, equal = map(np.array, zip(*((r[1], r[3], r[4], r[5]) for r in rows)))
        shown = [str(len(rows)), f"{(regret <= 0).mean():.0%}", f"{regret.mean():.4f}",
                 f"{np.median(regret):.4f}", f"{regret.max():.4f}", f"{mine.mean():.2f}",
                 f"{theirs.mean():.2f}", f"{equal.mean():.0%}"]  # fmt: skip
        lines.append(_line(name, shown))
    return "\n".join(lines)


def _beside(found: Results, criterion: str) -> list[tuple]:
    """Per set: name, regret, best peer, seconds of `auto` and of it, won at equal time."""
    rows = []
    for name in found.complete(criterion):
        mine, cell = (of(name, found.rows[0], criterion) for of in (found.value, found.cell))
        best, row = found.best(name, criterion)
        spent = seconds(cell, criterion)
        quick = found.best(name, criterion, within=spent)
        equal = quick is None or mine >= quick[0] - 5e-7
        needed = seconds(found.cell(name, row, criterion), criterion)
        rows.append((name, round(best - mine, 6), " ".join(row), spent, needed, equal))
    return rows


def regrets(found: Results, most: int = 40) -> str:
    """The worst cells of `auto` first."""
    every = [
        (row[1], criterion, row) for criterion in CRITERIA for row in _beside(found, criterion)
    ]
    lines = [
        "Regrets, the largest first",
        _line("", ["regret", "criterion", "auto s", "best peer"]),
    ]
    for regret, criterion, row in sorted(every, key=lambda one: -one[0])[:most]:
        lines.append(_line(row[0], [f"{regret:.4f}", criterion, f"{row[3]:.1f}", row[2]]))
    return "\n".join(lines)


def failures(found: Results) -> str:
    """Who has no result, where, and why."""
    lines = ["Without a result"]
    for row, reasons in found.failed.items():
        if reasons:
            where = "everywhere" if row in found.absent else f"{len(reasons)} sets"
            lines.append(f"{' '.join(row)}: {where}: {reasons[0]}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "none"])


def _line(name: str, parts: list[str]) -> str:
    return f"{name:40}" + "".join(f"{part:>{max(len(part) + 2, 13)}}" for part in parts)
