"""Numbers far outside all that the model has learned, counted over the batches of a file."""

import warnings
from collections import Counter
from typing import Any


class FarValues:
    """What of the batches lies far outside, if the model reads a table."""

    def __init__(self, tagger: Any) -> None:
        vectorizer = getattr(tagger, "vectorizer_", None)
        self._preparation = vectorizer if hasattr(vectorizer, "far_values") else None
        self._n_rows = 0
        self._found: dict[str, Any] = {}
        self._first: dict[str, int] = {}
        self._counts: Counter[str] = Counter()

    def look(self, dataset: Any) -> None:
        """Count those of a batch."""
        if self._preparation is not None and dataset.table is not None:
            for part, far in self._preparation.far_values(dataset.table):
                self._found[part.column] = part
                self._first.setdefault(part.column, self._n_rows + int(far.argmax()))
                self._counts[part.column] += int(far.sum())
        self._n_rows += dataset.n_instances

    def tell(self) -> None:
        """One warning per column."""
        for column, part in self._found.items():
            told = part.far_told(self._counts[column], self._n_rows, self._first[column])
            warnings.warn(told, stacklevel=2)
