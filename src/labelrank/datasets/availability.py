"""Whether a named data set is at hand, without reading it."""

from pathlib import Path

from labelrank.datasets.folders import Folders
from labelrank.datasets.named import _builder, _entry
from labelrank.errors import MissingError


class _FoundError(Exception):
    """A file of the set is there: its builder need not go on."""


class _Probe(Folders):
    """Folders that stop the builder of a set at the first file they find."""

    def find(self, file: str) -> Path | None:
        if super().find(file) is not None:
            raise _FoundError
        return None


def is_available(name: str) -> bool:
    """True if `load` would find the set in the package, the data folder or among fetched sets.

    Examples
    --------
    >>> is_available("debtags-sample")
    True
    """
    entry = _entry(name)
    if "in the package" in entry.format:
        return True
    try:
        _builder(entry)(_Probe(entry.name, None, None), **entry.arguments)
    except _FoundError:
        return True
    except MissingError:
        pass
    return False
