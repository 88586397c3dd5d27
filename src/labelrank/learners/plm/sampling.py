"""Arcs to learn from: the door to the kernels of `preference_draws`."""

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrank.kernels import preference_draws as kernels
from labelrank.rows import Rows

# One row an arc: instance i and relevant label j over instance k and irrelevant label q.
Arcs: TypeAlias = npt.NDArray[np.int64]


class Nodes(NamedTuple):
    """The positive nodes of some rows: instance and relevant label of each, in order."""

    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]


def positive_nodes(Y: Rows, first: int = 0) -> Nodes:
    """The positive nodes of the rows from `first` on."""
    start = int(Y.indptr[first])
    relevant = start + np.flatnonzero(Y.data[start:] > 0)
    owner = np.repeat(np.arange(first, Y.n_rows), np.diff(Y.indptr[first:]))
    return Nodes(owner[relevant - start], Y.indices[relevant].astype(np.int64))


def random_arcs(Y: Rows, nodes: Nodes, count: int, seed: int, clock: int, same: bool) -> Arcs:
    """Arcs from random positive nodes; none if there is no positive node."""
    return _draw(Y, nodes, count, seed, clock, same, window=0)


def arcs_in_turn(Y: Rows, first: int, window: int, seed: int, clock: int, same: bool) -> Arcs:
    """One arc from each positive node of the rows from `first` on, in order."""
    nodes = positive_nodes(Y, first)
    return _draw(Y, nodes, len(nodes.rows), seed, clock, same, window)


def random_rows(
    candidates: npt.NDArray[np.int64], count: int, seed: int, clock: int
) -> npt.NDArray[np.int64]:
    """Rows drawn from the candidates with replacement; none if there is no candidate."""
    rows = np.empty(count if len(candidates) else 0, np.int64)
    kernels.draw_rows(candidates, seed, clock, rows)
    return rows


def _draw(
    Y: Rows, nodes: Nodes, count: int, seed: int, clock: int, same: bool, window: int
) -> Arcs:
    arcs = np.zeros((count if len(nodes.rows) else 0, 4), np.int64)
    kernels.draw_arcs(*Y[:2], *nodes, Y.n_columns, seed, clock, same, window, arcs)
    return arcs
