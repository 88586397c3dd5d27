"""Pictures that experiments draw, and the folder they go to."""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from labelrank.atomic import atomic_write

folder: ContextVar[Path | None] = ContextVar("folder", default=None)

Curve = tuple[Sequence[float], Sequence[float]]


def save(figure: Any, name: str) -> str:
    """Write a matplotlib figure as `name` (png) and return its path; "" where no folder is set."""
    import matplotlib.pyplot as plt

    target = folder.get()
    plt.close(figure)
    if target is None:
        return ""
    path = target / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=120, bbox_inches="tight")
    return str(path)


def curves(
    name: str, panels: Mapping[str, Mapping[str, Curve]], *, marker: str = "", **axes: Any
) -> str:
    """Save panels side by side, each with curves by name; `axes` are settings of all panels."""
    figure, row = _panels(1, len(panels), (6, 4))
    for panel, (title, lines) in zip(row, panels.items(), strict=True):
        for label, (xs, ys) in lines.items():
            style = "--" if label.endswith("train") else "-"
            panel.plot(xs, ys, style, marker=marker, label=label)
        panel.set(ylabel=title, **axes)
        panel.grid(alpha=0.3)
        panel.minorticks_off()
    row[-1].legend(fontsize=8)
    return save(figure, name)


def bars(name: str, panels: Mapping[str, Mapping[str, float]], **axes: Any) -> str:
    """Save panels of bars, three beside each other."""
    across = min(3, len(panels))
    figure, row = _panels(-(-len(panels) // across), across, (4.5, 2.6))
    for panel, (title, heights) in zip(row, panels.items(), strict=False):
        panel.bar(range(len(heights)), list(heights.values()))
        panel.set_xticks(range(len(heights)), list(heights), rotation=60, ha="right", fontsize=7)
        panel.set_title(title, fontsize=9)
        panel.set(**axes)
    return save(figure, name)


def _panels(down: int, across: int, size: tuple[float, float]) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        down, across, figsize=(size[0] * across, size[1] * down), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    return figure, panels.ravel()
