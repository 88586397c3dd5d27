"""What other packages add by entry points: learners ("labelrank.learners") and readers.

Each is imported when it is used, or listed with what it does.
"""

import importlib.metadata
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from labelrank.errors import MissingError

T = TypeVar("T")


def entry_points(group: str) -> dict[str, importlib.metadata.EntryPoint]:
    """The entry points of a group by name, none imported; of two alike the first is taken."""
    named: dict[str, importlib.metadata.EntryPoint] = {}
    for entry_point in importlib.metadata.entry_points(group=group):
        named.setdefault(entry_point.name, entry_point)
    return dict(sorted(named.items()))


def package_of(entry_point: importlib.metadata.EntryPoint) -> str:
    """Name and version of the package that has the entry point."""
    package = entry_point.dist
    return "an unknown package" if package is None else f"{package.name} {package.version}"


def load(entry_point: importlib.metadata.EntryPoint) -> Any:
    """What the entry point stands for, or a MissingError that names the package."""
    try:
        return entry_point.load()
    except Exception as error:  # code of others may fail in any way
        raise MissingError(
            f"{package_of(entry_point)} offers {entry_point.name!r}, but {entry_point.value} "
            f"cannot be loaded ({type(error).__name__}: {error}); update or uninstall that package"
        ) from error


def loadable(group: str, read: Callable[[importlib.metadata.EntryPoint, Any], T]) -> list[T]:
    """What `read` makes of each entry point; one that cannot be loaded or read gives a warning."""
    found = []
    for entry_point in entry_points(group).values():
        try:
            found.append(read(entry_point, load(entry_point)))
        except MissingError as error:
            warnings.warn(str(error), UserWarning, stacklevel=3)
    return found
