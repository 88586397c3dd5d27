"""Preferences of a data set laid out for the kernel of `arcs`, and what their duals will need."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.errors import InputError
from labelrank.kernels.arcs import ordered_counts
from labelrank.learners.label_weights import LANE
from labelrank.relevance import relevant_part, unknown_part
from labelrank.resources import available_bytes
from labelrank.rows import Rows, as_rows, squared_norms, with_constant

_GIB = 2**30


@dataclass(frozen=True)
class Shares:
    """What each group of arcs of an instance weighs in all; 0: the group is left out.

    `pairs`: relevant over irrelevant; `threshold`: relevant over Θ, and again Θ over irrelevant;
    `order`: relevant over less relevant, all strictly ordered pairs or (`chain`) adjacent grades,
    each then weighted by the pairs whose path it lies on.
    """

    pairs: float
    threshold: float
    order: float
    chain: bool = False

    def as_array(self, C: float) -> npt.NDArray[np.float64]:
        return C * np.array([self.pairs, self.threshold, self.order])


@dataclass(frozen=True)
class ArcProblem:
    """Instances and their preferences; `dptr[i]` is where the duals of instance i begin."""

    X: Rows
    norms: npt.NDArray[np.float32]
    rptr: npt.NDArray[np.int64]
    relevant: npt.NDArray[np.int32]
    grades: npt.NDArray[np.float64]
    nptr: npt.NDArray[np.int64]
    unknown: npt.NDArray[np.int32]
    n_labels: int
    shares: Shares
    dptr: npt.NDArray[np.int64]

    @property
    def n_lanes(self) -> int:
        """Labels and Θ, padded."""
        return -(-(self.n_labels + 1) // LANE) * LANE


def make_problem(X: Any, Y: sp.csr_array, shares: Shares, *, fit_intercept: bool) -> ArcProblem:
    """Lay out instances X and relevance Y (canonical CSR)."""
    rows = as_rows(X)
    if fit_intercept:
        rows = with_constant(rows)
    relevant = relevant_part(Y)
    unknown = unknown_part(Y)
    if not (relevant.data == 1).all():
        relevant = _by_falling_grade(relevant)
    return ArcProblem(
        rows,
        squared_norms(rows),
        relevant.indptr.astype(np.int64),
        relevant.indices.astype(np.int32),
        relevant.data.astype(np.float64),
        unknown.indptr.astype(np.int64),
        unknown.indices.astype(np.int32),
        Y.shape[1],
        shares,
        _starts(relevant, shares),
    )


def _by_falling_grade(Y: sp.csr_array) -> sp.csr_array:
    row = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    order = np.lexsort((Y.indices, -Y.data, row))
    return sp.csr_array((Y.data[order], Y.indices[order], Y.indptr), shape=Y.shape)


def _starts(relevant: sp.csr_array, shares: Shares) -> npt.NDArray[np.int64]:
    """Where the duals of each instance begin, and their number in all."""
    m = np.diff(relevant.indptr).astype(np.int64)
    sizes = np.zeros(len(m), np.int64)
    if shares.pairs:
        sizes += m * relevant.shape[1]
    if shares.threshold:
        sizes += relevant.shape[1] + m
    if shares.order:
        pairs = ordered_counts(relevant.indptr.astype(np.int64), relevant.data)
        sizes += m * m * (pairs > 0)
    return np.concatenate(([0], np.cumsum(sizes)))


def refuse_too_many(problem: ArcProblem, limit_gib: float | None, advice: str) -> None:
    """Raise an InputError before starting if weights and duals will not fit into memory."""
    duals = 4 * int(problem.dptr[-1]) / _GIB
    weights = 4 * problem.X.n_columns * problem.n_lanes / _GIB
    limit = available_bytes() / _GIB if limit_gib is None else limit_gib
    if duals + weights > limit:
        raise InputError(
            f"the duals of {int(problem.dptr[-1]):,} preferences need {duals:.3g} GiB and the "
            f"weights {weights:.3g} GiB, more than the {limit:.3g} GiB at hand; {advice}"
        )
