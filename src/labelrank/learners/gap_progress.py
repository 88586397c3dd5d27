"""A line on standard error that shows how far a solver is from its goal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def gap_bar(what: str, verbose: int, total: int) -> Iterator[Callable[[float], Any]]:
    """A function to call with the gap after each epoch; shows a bar if `verbose` is above 0."""
    if not verbose:
        yield lambda gap: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("gap {task.fields[gap]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total, gap="-")
        yield lambda gap: progress.update(task, advance=1, gap=f"{gap:.2g}")
