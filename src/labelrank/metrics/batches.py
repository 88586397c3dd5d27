"""All criteria of answers that come in batches, as `evaluate` has them of the whole.

Criteria of instances are summed, counts by label are added. What needs all scores of a label at
once (areas under curves, break-even points) finds them in a temporary file, some labels at a time:
memory holds the relevance, the scores of its entries, and a block of labels.
"""

import inspect
import math
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels.ranking import weight_not_below
from labelrank.metrics import ranking, sets
from labelrank.metrics._common import check_pair, mean_of_known
from labelrank.metrics.evaluate import RATIOS, WHOLE, of_curves, order_columns, ranking_columns
from labelrank.metrics.histograms import Histograms
from labelrank.metrics.samples import Problem, Sample
from labelrank.relevance import Checked

_TOP = (1, 3, 5)
# Scores of fewer bytes stay in memory, and so many are read from the file at a time.
_IN_MEMORY, _AT_ONCE = 1 << 26, 1 << 26


class Sums(NamedTuple):
    """What one cut makes of one batch: sums over the instances by criterion, counts by label."""

    criteria: Mapping[str, float]
    by_label: sets.Counts


class Measured(NamedTuple):
    """One batch: its relevance, its scores (or histograms of them), and the sums of every cut."""

    Y: sp.csr_array
    scores: Any
    sums: Sequence[Sums]

    def condensed(self) -> "Measured":
        """With histograms in place of the scores, for a `Tally` of histograms."""
        return self._replace(scores=Histograms.of(self.Y, self.scores))


def measured(Y: Any, scores: Any, members: Any, cuts: Sequence[float | None]) -> Measured:
    """Measure a batch by each cut: a number, or None for the predicted sets in `members`."""
    relevance, scores = check_pair(Y, scores)
    Y = Checked(relevance)
    sums = [
        _sums(Y, scores, 0.0, members) if cut is None else _sums(Y, scores, cut, scores > cut)
        for cut in cuts
    ]
    return Measured(relevance, scores, sums)


def _sums(Y: Checked, scores: Array, cut: float, members: Any) -> Sums:
    table = ranking.row_criteria(Y, scores, threshold=cut, ks=_TOP)
    columns = ranking_columns(table, _TOP) | order_columns(Y, scores)
    counted = sets.Counted.of(Y, members, None, 0.0)
    columns |= {one.__name__: inspect.unwrap(one)(counted.by_instance) for one in WHOLE}
    for ratio in RATIOS:
        part, whole = inspect.unwrap(ratio)(counted.by_instance)
        columns[f"example_{ratio.__name__}"] = sets.divide(part, whole, counted.empty)
    return Sums({name: float(np.sum(one)) for name, one in columns.items()}, counted.by_label)


class Tally:
    """Criteria of all batches added, for each of so many cuts; close it, for it holds a file.

    Where `condensed`, batches bring histograms in place of scores: areas under curves have an
    `auc_error` then, and there are no break-even points.

    Examples
    --------
    >>> with Tally(1) as tally:
    ...     for Y, scores in [([[1, 0, 0]], [[2.0, 3, 1]]), ([[0, 1, 0]], [[0.0, 2, 1]])]:
    ...         tally.add(measured(Y, scores, None, [1.5]))
    ...     tally.criteria()[0]["one_error"]
    0.5
    """

    def __init__(self, n_cuts: int, *, condensed: bool = False) -> None:
        self.spool: Spool | Heap = Heap() if condensed else Spool()
        self._sums: list[defaultdict[str, list[float]]] = [defaultdict(list) for _ in range(n_cuts)]
        self._by_label: list[sets.Counts | None] = [None] * n_cuts

    def __enter__(self) -> "Tally":
        return self

    def __exit__(self, *_: object) -> None:
        self.spool.close()

    @property
    def Y(self) -> sp.csr_array:
        """The relevance of all batches."""
        return sp.csr_array(sp.vstack(self.spool.Y, format="csr"))

    def add(self, batch: Measured) -> None:
        """Add what was measured."""
        self.spool.add(batch.Y, batch.scores)
        for c, (criteria, by_label) in enumerate(batch.sums):
            for name, value in criteria.items():
                self._sums[c][name].append(value)
            before = self._by_label[c]
            self._by_label[c] = (
                by_label
                if before is None
                else sets.Counts(*(a + b for a, b in zip(before, by_label, strict=True)))
            )

    def criteria(self) -> list[dict[str, float]]:
        """Every criterion by name, for each cut."""
        if not self.spool.Y:
            raise InputError("got no instance; a criterion needs at least one row")
        curves = self.spool.criteria()
        n = self.spool.n_rows
        return [
            {name: math.fsum(parts) / n for name, parts in sums.items()} | _ratios(counts) | curves
            for sums, counts in zip(self._sums, self._by_label, strict=True)
        ]


def _ratios(counts: Any) -> dict[str, float]:
    """Micro and macro averages from the counts by label."""
    pooled = sets.Counts(*(part.sum() for part in counts))
    values = {}
    for ratio in RATIOS:
        part, whole = inspect.unwrap(ratio)(pooled)
        values[f"micro_{ratio.__name__}"] = float(sets.divide(part, whole, 0.0))
        part, whole = inspect.unwrap(ratio)(counts)
        values[f"macro_{ratio.__name__}"] = mean_of_known(sets.divide(part, whole, 0.0))
    return values


class Heap:
    """Histograms of the scores of batches, added up, and their relevance."""

    def __init__(self) -> None:
        self.Y: list[sp.csr_array] = []
        self.n_rows = 0
        self._sum: Histograms | None = None

    def add(self, Y: sp.csr_array, scores: Histograms) -> None:
        """Add those of a batch."""
        self._sum = scores if self._sum is None else self._sum.merged(scores)
        self.Y.append(Y)
        self.n_rows += Y.shape[0]

    def criteria(self) -> dict[str, float]:
        """The areas under curves."""
        return {} if self._sum is None else self._sum.criteria()

    def close(self) -> None:
        """Nothing: there is no file."""


class Spool:
    """Scores of batches, kept label by label within each: a `Problem` whose scores are in a file.

    A small one stays in memory.
    """

    def __init__(self) -> None:
        self.file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self.Y: list[sp.csr_array] = []
        self.n_rows = 0
        self._entries: dict[str, list[Array]] = {"relevant": [], "unknown": []}
        self._dtype: Any = None

    def add(self, Y: sp.csr_array, scores: Array) -> None:
        """Add the rows of a batch."""
        self._dtype = self._dtype or scores.dtype
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        for name, chosen in (("relevant", Y.data > 0), ("unknown", np.isnan(Y.data))):
            self._entries[name].append(scores[rows[chosen], Y.indices[chosen]])
        self.file.write(np.ascontiguousarray(scores.T, self._dtype).data)
        self.Y.append(Y)
        self.n_rows += Y.shape[0]

    def criteria(self) -> dict[str, float]:
        """The criteria that need all scores of a label at once."""
        return of_curves(self)

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()

    def relevant(self) -> Sample:
        """The scores of all relevant entries."""
        return self._sample("relevant")

    def unknown(self) -> Sample:
        """The scores of all unknown entries."""
        return self._sample("unknown")

    def blocks(self) -> Iterator[Problem]:
        """Some labels at a time, of all instances."""
        Y = sp.csc_array(sp.vstack(self.Y, format="csc"))
        weights = np.ones(self.n_rows)
        for first, block in self._read():
            part = sp.csc_array(Y[:, first : first + len(block)])
            yield Problem(part, block.T, weights, True)

    def not_below(self, value: Any) -> tuple[float, float]:
        """Number of entries that score at least the value, and of those that score more."""
        at_least = above = 0.0
        for _, block in self._read():
            reached, passed = weight_not_below(block, np.ones(len(block)), value)
            at_least, above = at_least + reached, above + passed
        return at_least, above

    def _sample(self, name: str) -> Sample:
        scores = np.sort(np.concatenate(self._entries[name]))
        return Sample(scores, np.ones(len(scores)))

    def _read(self) -> Iterator[tuple[int, Array]]:
        """Blocks of labels (labels × instances), each with the number of its first label."""
        n_labels, size = self.Y[0].shape[1], self._dtype.itemsize
        width = max(1, _AT_ONCE // (size * self.n_rows))
        for first in range(0, n_labels, width):
            last = min(first + width, n_labels)
            block = np.empty((last - first, self.n_rows), self._dtype)
            row = 0
            for Y in self.Y:
                n = Y.shape[0]
                self.file.seek((row * n_labels + first * n) * size)
                piece = self.file.read((last - first) * n * size)
                block[:, row : row + n] = np.frombuffer(piece, self._dtype).reshape(-1, n)
                row += n
            yield first, block
