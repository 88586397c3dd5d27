"""Arcs to learn from: the door to the kernels of `preference_draws`."""

from typing import NamedTuple, TypeAlias

import numpy as np

from labelrank._types import Int64
from labelrank.kernels import preference_draws as kernels
from labelrank.rows import Rows

# One row per arc: instance i and relevant label j over instance k and irrelevant label q.
Arcs: TypeAlias = Int64


class Nodes(NamedTuple):
    """The positive nodes of some rows: instance and relevant label of each, in order."""

    rows: Int64
    labels: Int64


def positive_nodes(Y: Rows, first: int = 0) -> Nodes:
    """The positive nodes of the rows from `first` on."""
    start = int(Y.indptr[first])
    relevant = start + np.flatnonzero(Y.data[start:] > 0)
    owner = np.repeat(np.arange(first, Y.n_rows), np.diff(Y.indptr[first:]))
    return Nodes(owner[relevant - start], Y.indices[relevant].astype(np.int64))


def random_arcs(Y: Rows, nodes: Nodes, count: int, seed: int, clock: int, same: bool) -> Arcs:
    """Arcs from random positive nodes; none if there is no positive node."""
    arcs = np.zeros((count if len(nodes.rows) else 0, 4), np.int64)
    kernels.draw_arcs(Y, nodes, seed, clock, same, 0, arcs)
    return arcs


def arcs_in_turn(Y: Rows, first: int, window: int, seed: int, clock: int, same: bool) -> Arcs:
    """One arc from each positive node of the rows from `first` on, in order."""
    nodes = positive_nodes(Y, first)
    arcs = np.zeros((len(nodes.rows), 4), np.int64)
    kernels.draw_arcs(Y, nodes, seed, clock, same, window, arcs)
    return arcs


def random_rows(candidates: Int64, count: int, seed: int, clock: int) -> Int64:
    """Rows drawn from the candidates with replacement; none if there is no candidate."""
    rows = np.empty(count if len(candidates) else 0, np.int64)
    kernels.draw_rows(candidates, seed, clock, rows)
    return rows
