"""How what older versions of a class stored is read today.

Renaming a file or a private attribute changes no file. Who renames, adds or drops a *part* or a
parameter of a class raises the version in its `@stored` by one, and writes here, under the name of
the class and its version before, what turns the old contents into the new ones:

    def _with_counts(old: Contents) -> Contents:
        counts = np.zeros(len(old.parts["weights"]))
        return Contents(old.parameters, {**old.parts, "counts": counts})

    OLDER = {("ProSVM", 1): _with_counts}

Files of any older version are then read step by step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from labelrank.declared import Stored


class Contents(NamedTuple):
    """What a file holds of one object, by name; `parts` is None where it is not fitted."""

    parameters: dict[str, Any]
    parts: dict[str, Any] | None


OLDER: dict[tuple[str, int], Callable[[Contents], Contents]] = {}


def updated(how: Stored, version: Any, contents: Contents) -> Contents:
    """The contents as the class declares them today, or a ValueError."""
    if type(version) is not int or not 1 <= version <= how.version:
        raise ValueError(
            f"{how.name} has version {str(version)[:20]}, but this labelrank reads versions 1 to "
            f"{how.version}; update labelrank"
        )
    for step in range(version, how.version):
        contents = OLDER[how.name, step](contents)
    return contents
