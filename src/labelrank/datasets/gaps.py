"""Keys that some JSON records have and others lack, which are gaps there."""

import warnings

from labelrank.datasets.choice import Known
from labelrank.datasets.frames import Frame


class Gaps:
    """The keys met so far of those that are read: who lacks one of them has a gap.

    A key that is learned from, and that no record has had so far, is a gap too, with a warning,
    where records may come one at a time; else it is a column that is not there.
    """

    def __init__(self, *, one_by_one: bool = False) -> None:
        self._met: set[str] = set()
        self._one_by_one = one_by_one

    def fill(self, frame: Frame, known: Known) -> None:
        """Add what the records lack; objects are flattened already."""
        if not frame.has_keys:
            return
        if not known:
            self._met.update(frame.columns)
            return
        names = [*known.used, *known.label_columns, *filter(None, [known.id_column])]
        self._met.update(name for name in names if _is_told(name, frame))
        missing = [name for name in known.used if name not in self._met]
        if missing and self._one_by_one and not self._met.isdisjoint(known.used):
            warnings.warn(
                f"{frame.source.name}: no row so far has {', '.join(map(repr, missing[:5]))}, "
                "which the model has learned; it is taken as a gap",
                stacklevel=2,
            )
            self._met.update(missing)
        for name in names:
            if name in self._met and name not in frame.columns:
                frame.columns[name] = [None] * len(frame.numbers)


def _is_told(name: str, frame: Frame) -> bool:
    """Whether there is such a key, or it is one of an object that is null in all records."""
    parents = (frame.columns.get(name[:k]) for k, mark in enumerate(name) if mark == ".")
    return name in frame.columns or any(
        cells is not None and all(cell is None for cell in cells) for cells in parents
    )
