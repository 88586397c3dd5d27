"""A progress bar for anything long, on standard error, where `verbose` asks for it."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def track(items: Iterable[T], what: str, verbose: int, total: int | None = None) -> Iterator[T]:
    """Yield the items, showing how far we are if `verbose` is above 0."""
    if not verbose:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    yield from bar(items, description=what, total=total, console=Console(stderr=True))
