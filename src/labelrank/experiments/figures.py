"""Pictures that experiments draw, and the folder they go to."""

from contextvars import ContextVar
from pathlib import Path
from typing import Any

from labelrank.atomic import atomic_write

folder: ContextVar[Path | None] = ContextVar("folder", default=None)


def save(figure: Any, name: str) -> Path | None:
    """Write a matplotlib figure as `name` (png) into the folder; without one nothing is drawn."""
    import matplotlib.pyplot as plt

    target = folder.get()
    path = None if target is None else target / f"{name}.png"
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            figure.savefig(file, format="png", dpi=120, bbox_inches="tight")
    plt.close(figure)
    return path
