"""Arcs to learn from: the door to the kernels of `preference_draws`."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from labelrank.kernels import preference_draws as kernels
from labelrank.rows import Rows

# One row an arc: instance i and relevant label j over instance k and irrelevant label q.
Arcs: TypeAlias = npt.NDArray[np.int64]


def random_arcs(Y: Rows, count: int, seed: int, clock: int, same: bool) -> Arcs:
    """Arcs from random positive nodes; none if Y has no relevant label."""
    return _draw(Y, *_nodes(Y, 0), count, seed, clock, same, window=0)


def arcs_in_turn(Y: Rows, first: int, window: int, seed: int, clock: int, same: bool) -> Arcs:
    """One arc from each positive node of the rows from `first` on, in order."""
    rows, labels = _nodes(Y, first)
    return _draw(Y, rows, labels, len(rows), seed, clock, same, window)


def random_rows(Y: Rows, count: int, seed: int, clock: int) -> npt.NDArray[np.int64]:
    """Rows that have a relevant label, drawn with replacement."""
    candidates = np.unique(_nodes(Y, 0)[0])
    rows = np.empty(count if len(candidates) else 0, np.int64)
    kernels.draw_rows(candidates, seed, clock, rows)
    return rows


def _nodes(Y: Rows, first: int) -> tuple[Arcs, Arcs]:
    start = int(Y.indptr[first])
    relevant = start + np.flatnonzero(Y.data[start:] > 0)
    rows = np.searchsorted(Y.indptr, relevant, side="right") - 1
    return rows.astype(np.int64), Y.indices[relevant].astype(np.int64)


def _draw(
    Y: Rows, rows: Arcs, labels: Arcs, count: int, seed: int, clock: int, same: bool, window: int
) -> Arcs:
    arcs = np.zeros((count if len(rows) else 0, 4), np.int64)
    kernels.draw_arcs(*Y[:2], rows, labels, Y.n_columns, seed, clock, same, window, arcs)
    return arcs
