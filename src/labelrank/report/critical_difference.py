"""The critical-difference diagram: learners on a line by mean rank, bars join the equal ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

from labelrank.report.charts import drawing, path, shortened, text_at

_SCALE_TEXT = 170.0
_ALONG, _LINE = 290.0, 52.0
_PIXELS_PER_INCH = 72.0


def cliques(mean_ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """First and last place of each longest run of ranks closer than the critical difference."""
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(mean_ranks):
        near = [k for k, other in enumerate(mean_ranks) if 0 <= other - rank < critical_difference]
        last = max(near, default=first)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


@dataclass
class Diagram:
    """Lines ("tick", or "thick" for bars) and texts of the diagram, y downwards from the top."""

    width: float
    height: float
    lines: list[tuple[list[tuple[float, float]], str]] = field(default_factory=list)
    texts: list[tuple[float, float, str, str]] = field(default_factory=list)


def diagram(
    learners: Sequence[str], mean_ranks: Sequence[float], critical_difference: float
) -> Diagram:
    """The diagram of Demšar (2006): the best learner stands furthest to the left."""
    order = sorted(range(len(learners)), key=lambda k: mean_ranks[k])
    ranks = [float(mean_ranks[k]) for k in order]
    n, half = len(ranks), (len(ranks) + 1) // 2
    names = [shortened(str(learners[k]), 18) for k in order]
    left = 74 + 7.2 * max(map(len, names))
    right, step = left + _ALONG, _ALONG / max(n - 1, 1)
    at = [left + (rank - 1) * step for rank in ranks]
    bars = cliques(ranks, critical_difference)
    below = _LINE + 24 + 10 * len(bars)
    width = max(right + left, left + critical_difference * step + _SCALE_TEXT)
    drawn = Diagram(width, below + 24 * half)
    _draw_scale(drawn, n, left, step, critical_difference)
    for k, x in enumerate(at):
        is_left = k < half
        y = below + 24 * (k if is_left else n - 1 - k)
        edge, anchor, shift = (left - 14, "end", -6) if is_left else (right + 14, "start", 6)
        text = f"{names[k]}  {ranks[k]:.2f}" if is_left else f"{ranks[k]:.2f}  {names[k]}"
        drawn.lines.append(([(x, _LINE), (x, y), (edge, y)], "tick"))
        drawn.texts.append((edge + shift, y + 4.5, text, anchor))
    for row, (first, last) in enumerate(bars):
        y = _LINE + 10 + 10 * row
        drawn.lines.append(([(at[first] - 4, y), (at[last] + 4, y)], "thick"))
    return drawn


def _draw_scale(
    drawn: Diagram, n_learners: int, left: float, step: float, critical_difference: float
) -> None:
    """The line of ranks, and above it how long the critical difference is."""
    end = left + critical_difference * step
    ends = [(left, 8.0), (left, 16.0), (left, 12.0), (end, 12.0), (end, 8.0), (end, 16.0)]
    drawn.lines += [([(left, _LINE), (left + _ALONG, _LINE)], "tick"), (ends, "tick")]
    length = f"critical difference {critical_difference:.2f}"
    drawn.texts.append((end + 6, 16.5, length, "start"))
    for rank in range(n_learners):
        x = left + rank * step
        drawn.lines.append(([(x, _LINE), (x, _LINE - 6)], "tick"))
        drawn.texts.append((x, _LINE - 10, str(rank + 1), "middle"))


def critical_difference_svg(
    learners: Sequence[str], mean_ranks: Sequence[float], critical_difference: float
) -> str:
    """The diagram as inline SVG that takes its colours from a page."""
    drawn = diagram(learners, mean_ranks, critical_difference)
    marks = [path(points, kind) for points, kind in drawn.lines]
    marks += [text_at(x, y, text, anchor=anchor) for x, y, text, anchor in drawn.texts]
    return drawing(drawn.width, drawn.height, "Critical-difference diagram of mean ranks", marks)


def draw_critical_difference(
    learners: Sequence[str], mean_ranks: Sequence[float], critical_difference: float, title: str
) -> "Figure":
    """The diagram as a figure of matplotlib, for files."""
    from matplotlib.figure import Figure

    drawn = diagram(learners, mean_ranks, critical_difference)
    size = (drawn.width / _PIXELS_PER_INCH, drawn.height / _PIXELS_PER_INCH)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set(xlim=(0, drawn.width), ylim=(drawn.height, 0))
    axes.set_title(title, fontsize=11)
    for points, kind in drawn.lines:
        xs, ys = zip(*points, strict=True)
        width = 3.5 if kind == "thick" else 1
        axes.plot(xs, ys, color="black", linewidth=width, solid_capstyle="butt", gid=kind)
    sides = {"end": "right", "start": "left", "middle": "center"}
    for x, y, text, anchor in drawn.texts:
        axes.text(x, y, text, ha=sides[anchor], va="baseline", fontsize=10)
    return figure
