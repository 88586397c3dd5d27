"""The cells of `benchmarks.peers` as tables and a plot of the documentation."""

from pathlib import Path
from typing import Any

KEPT = {
    "micro_f1_own", "micro_f1_tuned", "macro_f1_own", "macro_f1_tuned", "average_precision_loss",
    "ranking_loss", "precision_at_1", "precision_at_3", "precision_at_5", "pro_loss",
}  # fmt: skip
# Heading, how a cell's value is found, digits, and whether the largest or the smallest is best.
COLUMNS: dict[str, tuple[str, int, int]] = {
    "fit s": ("fit_s", 2, 0),
    "predict s": ("predict_s", 2, 0),
    "tune s": ("tune_s", 2, 0),
    "MiB": ("peak_mib", 0, 0),
    "micro-F1 own": ("micro_f1_own", 4, 1),
    "micro-F1 tuned": ("micro_f1_tuned", 4, 1),
    "macro-F1": ("macro_f1", 4, 1),
    "avg. precision": ("average_precision", 4, 1),
    "ranking loss": ("ranking_loss", 4, -1),
    "P@1": ("precision_at_1", 4, 1),
    "P@3": ("precision_at_3", 4, 1),
    "P@5": ("precision_at_5", 4, 1),
    "PRO loss": ("pro_loss", 4, -1),
}
# What `auto` is asked for, and by what it is compared.
GOALS = {
    "precision_at_1": ("P@1", "precision_at_1", 1),
    "micro_f1": ("micro-F1", "micro_f1", 1),
    "ranking_loss": ("ranking loss", "ranking_loss", -1),
}
HEADINGS = (
    "data", "criterion", "auto", "s", "best peer", "value", "s", "as good", "in no more time",
)  # fmt: skip
Cell = dict[str, Any]


def say(data: str, package: str, method: str, found: Cell) -> None:
    """One line while the cells are measured."""
    values = found.get("error") or " ".join(
        f"{heading} {_written(found, heading)}"
        for heading in COLUMNS
        if value(found, heading) is not None
    )
    print(f"{data}: {package} {method}: {values}", flush=True)


def value(cell: Cell, heading: str) -> float | None:
    """A column of a cell; macro-F1 is that of the better cut, as micro-F1 is in comparisons."""
    name = COLUMNS[heading][0]
    if name in ("macro_f1", "micro_f1"):
        return better(cell, name)
    if name == "average_precision":
        loss = cell.get("average_precision_loss")
        return None if loss is None else 1.0 - loss
    return cell.get(name)


def better(cell: Cell, name: str) -> float | None:
    """A criterion of sets at the learner's own cut or the tuned one, whichever is better."""
    found = [cell[key] for key in (f"{name}_own", f"{name}_tuned") if key in cell]
    return max(found, default=None)


def seconds(cell: Cell, name: str) -> float:
    """What the value has cost: the fit, and for a cut tuned apart the fit for it."""
    tuned = name == "micro_f1" and better(cell, name) != cell.get("micro_f1_own")
    return cell["fit_s"] + (cell.get("tune_s", 0.0) if tuned else 0.0)


def write(cells: list[Cell], names: list[str], pages: Path) -> None:
    """Tables of all data sets, the verdicts on `auto`, and the plot."""
    done = [name for name in names if any(cell["data"] == name for cell in cells)]
    tables = [table(name, [cell for cell in cells if cell["data"] == name]) for name in done]
    (pages / "tables.rst.inc").write_text("\n".join(tables), encoding="utf-8")
    (pages / "verdicts.rst.inc").write_text(verdicts(cells, done), encoding="utf-8")
    plot(cells, done, pages.parent / "_static" / "peers.png")


def table(data: str, cells: list[Cell]) -> str:
    """One data set; the best value of each criterion in bold, failures with their reason."""
    shown = [head for head in COLUMNS if any(value(cell, head) is not None for cell in cells)]
    bests = {head: _best(cells, head) for head in shown if COLUMNS[head][2]}
    rows = [["learner", *shown]]
    reasons = []
    for cell in cells:
        name = f"{cell['package']}: {cell['method']}"
        if "error" in cell:
            reasons.append(f"* {name}: {_escaped(cell['error'])}")
        else:
            rows.append([name, *(_written(cell, head, bests.get(head)) for head in shown)])
    missing = "\n".join(["", "Without a result:", "", *reasons, ""]) if reasons else ""
    return f"{data}\n{'~' * len(data)}\n\n{_list_table(rows)}\n{missing}"


def _list_table(rows: list[list[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", "   :class: wide", ""]
    for row in rows:
        lines += [f"   {'* -' if place == 0 else '  -'} {text}" for place, text in enumerate(row)]
    return "\n".join(lines) + "\n"


def _best(cells: list[Cell], heading: str) -> float | None:
    found = [v for cell in cells if (v := value(cell, heading)) is not None]
    return (max if COLUMNS[heading][2] > 0 else min)(found) if found else None


def _written(cell: Cell, heading: str, best: float | None = None) -> str:
    found, digits = value(cell, heading), COLUMNS[heading][1]
    if found is None:
        return "—"
    text = f"{found:.{digits}f}"
    return f"**{text}**" if best is not None and found == best else text


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", r"\*").replace("`", r"\`").replace("_", r"\_")


def verdicts(cells: list[Cell], names: list[str]) -> str:
    """For each data set and goal: `auto` beside the best peer, in quality and in time."""
    rows = [list(HEADINGS)]
    for data in names:
        for goal, (title, name, sign) in GOALS.items():
            row = verdict([cell for cell in cells if cell["data"] == data], goal, name, sign)
            if row:
                rows.append([data, title, *row])
    return _list_table(rows)


def verdict(cells: list[Cell], goal: str, name: str, sign: int) -> list[str] | None:
    """The cells of one row, or None where `auto` or all peers are missing."""
    known = [cell for cell in cells if _of(cell, name) is not None]
    ours = [cell for cell in known if cell["method"] == f"auto ({goal})"]
    peers = [cell for cell in known if cell["package"] != "labelrank"]
    if not ours or not peers:
        return None
    best = max(peers, key=lambda cell: sign * _of(cell, name))
    mine, theirs = _of(ours[0], name), _of(best, name)
    spent, needed = seconds(ours[0], name), seconds(best, name)
    return [
        f"{mine:.4f}", f"{spent:.2f}", f"{best['package']}: {best['method']}", f"{theirs:.4f}",
        f"{needed:.2f}", _answer(sign * mine >= sign * theirs), _answer(spent <= needed),
    ]  # fmt: skip


def _of(cell: Cell, name: str) -> Any:
    return better(cell, name) if name == "micro_f1" else cell.get(name)


def _answer(holds: bool) -> str:
    return "yes" if holds else "no"


def plot(cells: list[Cell], names: list[str], path: Path) -> None:
    """Quality against time: a row a data set, a column a goal, a point a learner."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    looks = _looks(cells)
    figure, axes = plt.subplots(len(names), len(GOALS), squeeze=False, layout="constrained",
                                figsize=(4.2 * len(GOALS), 3.0 * len(names)))  # fmt: skip
    for row, data in zip(axes, names, strict=True):
        here = [cell for cell in cells if cell["data"] == data]
        for axis, goal in zip(row, GOALS, strict=True):
            _scatter(axis, here, goal, looks)
            axis.set_title(f"{data}: {GOALS[goal][0]}", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("seconds to learn")
    marks = [plt.Line2D([], [], ls="", label=name, **look) for name, look in looks.items()]
    figure.legend(handles=marks, loc="outside lower center", ncols=4, fontsize=8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _looks(cells: list[Cell]) -> dict[str, dict[str, Any]]:
    """Marker and colour of each library, the same in all panels."""
    peers = sorted({cell["package"] for cell in cells} - {"labelrank"})
    found = {
        "labelrank auto": {"marker": "*", "color": "#c1121f", "markersize": 12},
        "labelrank": {"marker": "o", "color": "#c1121f", "markersize": 5},
    }
    for place, name in enumerate(peers):
        found[name] = {"marker": "sv^<>DPXhdp8"[place % 12], "color": f"C{place % 10}"}
        found[name]["markersize"] = 6
    return found


def _scatter(axis: Any, cells: list[Cell], goal: str, looks: dict[str, dict[str, Any]]) -> None:
    """One panel; `auto` only where it was asked for this goal."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    _, name, sign = GOALS[goal]
    for cell in cells:
        is_auto = cell["method"].startswith("auto")
        if _of(cell, name) is None or (is_auto and cell["method"] != f"auto ({goal})"):
            continue
        look = looks["labelrank auto" if is_auto else cell["package"]]
        axis.plot(seconds(cell, name), _of(cell, name), ls="", zorder=3 if is_auto else 2, **look)
    axis.set_xscale("log")
    if sign < 0:
        axis.set_yscale("log")
        axis.invert_yaxis()
    for side in (axis.xaxis, axis.yaxis) if sign < 0 else (axis.xaxis,):
        side.set_major_locator(LogLocator(subs=(1, 2, 5)))
        side.set_major_formatter(FormatStrFormatter("%g"))
        side.set_minor_formatter(NullFormatter())
    axis.grid(alpha=0.3)
