"""The critical-difference diagram: learners on a line by mean rank, bars join the equal ones."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

from labelrank.report.svg import drawing, path, shortened, text_at

_LINE, _BAR, _TOP = 0.32, 0.16, 0.75
_SCALE_TEXT = 170.0


def cliques(mean_ranks: Sequence[float], critical_difference: float) -> list[tuple[int, int]]:
    """First and last place of each longest run of ranks that differ by less than the critical one.

    `mean_ranks` are sorted; a learner that differs from both its neighbours is in no run.

    Examples
    --------
    >>> from labelrank.report.critical_difference import cliques
    >>> cliques([1.0, 1.5, 2.2, 4.0], critical_difference=1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(mean_ranks):
        near = [k for k, other in enumerate(mean_ranks) if 0 <= other - rank < critical_difference]
        last = max(near, default=first)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def draw_critical_difference(
    learners: Sequence[str],
    mean_ranks: Sequence[float],
    critical_difference: float,
    title: str = "",
) -> "Figure":
    """Draw the diagram of Demšar (2006): the best learner stands furthest to the left.

    Parameters
    ----------
    learners : names
    mean_ranks : of the learners, 1 the best
    critical_difference : float
        Learners whose ranks differ by less are joined by a bar: no difference is shown.
    title : str

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from labelrank.report.critical_difference import draw_critical_difference
    >>> figure = draw_critical_difference(["BR", "MMP", "MLPP"], [2.8, 2.0, 1.2], 1.1)
    >>> [text.get_text() for text in figure.axes[0].texts if "MLPP" in text.get_text()]
    ['MLPP 1.20 ']
    """
    from matplotlib.figure import Figure

    order = sorted(range(len(learners)), key=lambda k: mean_ranks[k])
    ranks = [float(mean_ranks[k]) for k in order]
    bars = cliques(ranks, critical_difference)
    half = (len(ranks) + 1) // 2
    depth = 0.3 + _BAR * len(bars)
    height = _TOP + depth + _LINE * half + 0.2
    figure = Figure(figsize=(7.5, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(1 - 0.45 * len(ranks), len(ranks) + 0.45 * len(ranks))
    axes.set_ylim(-depth - _LINE * half - 0.1, _TOP)
    axes.set_title(title, fontsize=11)
    _draw_scale(axes, len(ranks), critical_difference)
    for k, rank in enumerate(ranks):
        _draw_learner(axes, k, rank, str(learners[order[k]]), len(ranks), depth)
    for row, (first, last) in enumerate(bars):
        y = -0.15 - _BAR * row
        axes.plot([ranks[first] - 0.04, ranks[last] + 0.04], [y, y], color="black", linewidth=3.5,
                  solid_capstyle="butt", gid="bar")  # fmt: skip
    return figure


def _draw_scale(axes: Any, n_learners: int, critical_difference: float) -> None:
    """The line of ranks, and above it how long the critical difference is."""
    axes.plot([1, n_learners], [0, 0], color="black", linewidth=1)
    for rank in range(1, n_learners + 1):
        axes.plot([rank, rank], [0, 0.08], color="black", linewidth=1)
        axes.text(rank, 0.12, str(rank), ha="center", va="bottom", fontsize=9)
    end = 1 + critical_difference
    axes.plot([1, 1, 1, end, end, end], [0.43, 0.53, 0.48, 0.48, 0.43, 0.53], color="black",
              linewidth=1)  # fmt: skip
    axes.text(end + 0.05, 0.48, f"critical difference {critical_difference:.2f}", ha="left",
              va="center", fontsize=9)  # fmt: skip


def _draw_learner(axes: Any, k: int, rank: float, name: str, n_learners: int, depth: float) -> None:
    """The better half is named to the left, best on top; the other to the right, worst on top."""
    half = (n_learners + 1) // 2
    is_left = k < half
    y = -depth - _LINE * (k if is_left else n_learners - 1 - k)
    edge = 1 - 0.06 * n_learners if is_left else n_learners + 0.06 * n_learners
    axes.plot([rank, rank, edge], [0, y, y], color="0.35", linewidth=0.9)
    axes.text(edge, y, f"{name} {rank:.2f} " if is_left else f" {rank:.2f} {name}",
              ha="right" if is_left else "left", va="center", fontsize=10)  # fmt: skip


def critical_difference_svg(
    learners: Sequence[str], mean_ranks: Sequence[float], critical_difference: float
) -> str:
    """The same diagram as inline SVG that takes its colours from a page.

    Examples
    --------
    >>> from labelrank.report.critical_difference import critical_difference_svg
    >>> critical_difference_svg(["BR", "MMP", "MLPP"], [2.8, 2.0, 1.2], 1.1).count("thick")
    2
    """
    order = sorted(range(len(learners)), key=lambda k: mean_ranks[k])
    ranks = [float(mean_ranks[k]) for k in order]
    n, half = len(ranks), (len(ranks) + 1) // 2
    texts = [shortened(str(learners[k]), 18) for k in order]
    room = 74 + 7.2 * max(map(len, texts))
    left, right, line = room, room + 290, 52.0
    step = (right - left) / max(n - 1, 1)
    at = [left + (rank - 1) * step for rank in ranks]
    bars = cliques(ranks, critical_difference)
    names = line + 24 + 10 * len(bars)
    marks = _scale_marks(n, left, step, line, critical_difference)
    for k, x in enumerate(at):
        is_left = k < half
        y = names + 24 * (k if is_left else n - 1 - k)
        edge, anchor, shift = (left - 14, "end", -6) if is_left else (right + 14, "start", 6)
        text = f"{texts[k]}  {ranks[k]:.2f}" if is_left else f"{ranks[k]:.2f}  {texts[k]}"
        marks.append(path([(x, line), (x, y), (edge, y)], "tick"))
        marks.append(text_at(edge + shift, y + 4.5, text, anchor=anchor))
    for row, (first, last) in enumerate(bars):
        y = line + 10 + 10 * row
        marks.append(path([(at[first] - 4, y), (at[last] + 4, y)], "thick"))
    height = names + 24 * half
    width = max(right + room, left + critical_difference * step + _SCALE_TEXT)
    return drawing(width, height, "Critical-difference diagram of mean ranks", marks)


def _scale_marks(
    n_learners: int, left: float, step: float, line: float, critical_difference: float
) -> list[str]:
    """The line of ranks, and above it how long the critical difference is."""
    end = left + critical_difference * step
    marks = [
        path([(left, line), (left + (n_learners - 1) * step, line)], "tick"),
        path([(left, 8), (left, 16), (left, 12), (end, 12), (end, 8), (end, 16)], "tick"),
        text_at(end + 6, 16.5, f"critical difference {critical_difference:.2f}", anchor="start"),
    ]
    for rank in range(n_learners):
        x = left + rank * step
        marks += [path([(x, line), (x, line - 6)], "tick"), text_at(x, line - 10, str(rank + 1))]
    return marks
