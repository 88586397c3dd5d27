"""Which rows a model has learned, as a small sample: so that it can say when it is judged by them.

Of the hashes of all rows the smallest are kept, with how often each was met. Rows of other data are
looked up if their hashes are as small: they are a fair sample, in whatever order the rows come.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.stats import binom

from labelrank._types import Array
from labelrank.declared import array, stored
from labelrank.resources import blocks
from labelrank.rows import canonical
from labelrank.table import columns_of, is_frame

MOST = 2048
_LIKELY = 0.01
_CELLS_AT_ONCE = 2**22
_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
Hashes = npt.NDArray[np.uint32]


class Met(NamedTuple):
    """How many rows were looked up, and how many of them had been learned."""

    looked_up: int = 0
    learned: int = 0

    def __add__(self, other: tuple[int, ...]) -> "Met":  # type: ignore[override]
        return Met(self.looked_up + other[0], self.learned + other[1])


@stored("LearnedRows", 1, hashes=array("u4", "n"), counts=array("u4", "n"))
class LearnedRows(NamedTuple):
    """The smallest hashes of the rows learned, ascending, and how many rows have each."""

    hashes: Hashes
    counts: Hashes

    @classmethod
    def of(cls, documents: Any, columns: list[str] | None = None) -> Self:
        """Those of texts, of the rows of a matrix, or of these columns of a table."""
        found, counts = np.unique(_hashes(documents, columns), return_counts=True)
        return cls(found[:MOST], counts[:MOST].astype(np.uint32))

    def __add__(self, other: "LearnedRows") -> "LearnedRows":  # type: ignore[override]
        """Those of the rows of both."""
        limit = min(self.limit, other.limit)
        both = np.concatenate((self.hashes, other.hashes))
        found, place = np.unique(both, return_inverse=True)
        counts = np.bincount(place, np.concatenate((self.counts, other.counts)), len(found))
        kept = found <= limit
        return LearnedRows(found[kept][:MOST], counts[kept][:MOST].astype(np.uint32))

    @property
    def limit(self) -> int:
        """The largest hash that is looked up."""
        return int(self.hashes[-1]) if len(self.hashes) >= MOST else 2**32 - 1

    def meet(self, documents: Any, columns: list[str] | None = None) -> Met:
        """How many of the rows looked up were learned."""
        found = _hashes(documents, columns)
        found = found[found <= self.limit]
        return Met(len(found), int(np.isin(found, self.hashes).sum()))

    def are_most_of(self, met: Met) -> bool:
        """Whether most of the rows are those learned, and not just as alike as other rows are.

        Rows that occur once among n are a share of those still to be met as large as that of new
        rows in further data (Good 1953): so many are met again by chance.
        """
        n_again = int(self.counts[self.counts > 1].sum())
        again = (n_again + 1) / (int(self.counts.sum()) + 2)
        by_chance = binom.sf(met.learned - 1, met.looked_up, again)
        return bool(met.learned > met.looked_up * (1 + again) / 2 and by_chance < _LIKELY)


def _hashes(documents: Any, columns: list[str] | None) -> Hashes:
    """A hash per row, which does not depend on other rows."""
    if is_frame(documents):
        return _of_lines(_lines(columns_of(documents, columns)))
    if hasattr(documents, "shape"):
        return _of_matrix(documents)
    return _of_lines(documents)


def _of_lines(lines: Any) -> Hashes:
    found = (
        blake2b(str(line).encode("utf-8", "surrogatepass"), digest_size=4).digest()
        for line in lines
    )
    return np.frombuffer(b"".join(found), np.dtype("<u4")).astype(np.uint32)


def _lines(columns: dict[str, Any]) -> Iterator[str]:
    """The cells of each row; the columns in one order, whichever they have in the table."""
    cells = (map(_said, columns[name]) for name in sorted(columns))
    return map("\x1f".join, zip(*cells, strict=True))


def _said(cell: Any) -> str:
    """A cell as text; a number is the same whole or with a point."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int | float | np.number):
        return repr(float(cell))
    return cell.tobytes().hex() if isinstance(cell, np.ndarray) else str(cell)


def _of_matrix(X: Any) -> Hashes:
    """Sums of hashes of values and their columns: zeros add nothing, stored or not."""
    found = [np.zeros(0, np.uint32)]
    rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
    for part in blocks(rows.shape[0], _CELLS_AT_ONCE // max(rows.shape[1], 1)):
        some = canonical(sp.csr_array(rows[part]))
        with np.errstate(over="ignore"):
            values = some.data.astype(np.float32)
        mixed = _mixed(values.view(np.uint32) + _mixed(some.indices.astype(np.uint64) + _ODD[1]))
        mixed[values == 0] = 0
        ends = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)))
        found.append((_mixed(np.diff(ends[some.indptr])) >> np.uint64(32)).astype(np.uint32))
    return np.concatenate(found)


def _mixed(numbers: Array) -> npt.NDArray[np.uint64]:
    """Other numbers, in which every bit depends on all bits of these."""
    found = numbers.astype(np.uint64)
    for odd in _ODD:
        found = (found ^ (found >> np.uint64(32))) * odd
    return found ^ (found >> np.uint64(29))
