"""Steps as the arrays that a model file holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import array, sparse, stored
from labelrank.learners.corrections.arc_steps import Learned
from labelrank.rows import of_lengths


@stored(
    "PackedSteps", 1,
    instances=sparse("steps", "columns"),
    pointers=array("i8", "steps+1", points_into="better"),
    better=array("i4", "arcs"),
    worse=array("i4", "arcs"),
    by_relevance=array("b1", "steps"),
    relevance=sparse("steps", "labels", finite=False),
    n_labels=array("i8", "steps"),
    moves=sparse("steps", "lanes"),
    reached=array("f8", "steps"),
    most=array("f8", "steps", finite=False),
    margin=array("f8", "steps", finite=False),
    cut=array("f8", "steps"),
)  # fmt: skip
@dataclass(frozen=True)
class PackedSteps:
    """Steps: rows of instances, relevance and moves, arcs one after the other, what they wanted.

    Θ is 0, label k is k + 1; in the relevance, label k is k.
    """

    instances: sp.csr_array
    pointers: Int64
    better: Int32
    worse: Int32
    by_relevance: Array
    relevance: sp.csr_array
    n_labels: Int64
    moves: sp.csr_array
    reached: Float64
    most: Float64
    margin: Float64
    cut: Float64

    @classmethod
    def of(cls, steps: Sequence[Learned], n_features: int, n_labels: int) -> "PackedSteps":
        """Pack steps of instances of so many features."""
        better, worse = (
            _joined([getattr(one, name) for one in steps], np.int32) for name in ("better", "worse")
        )
        asked = (
            np.array([getattr(one, name) for one in steps], np.float64)
            for name in ("reached", "most", "margin", "cut")
        )
        return cls(
            rows_of(steps, n_features),
            np.cumsum([0, *(len(one.better) for one in steps)], dtype=np.int64), better, worse,
            np.array([one.relevance is not None for one in steps], bool),
            _rows(*_sides([one.relevance or _NONE for one in steps]), n_labels),
            np.array([one.n_labels for one in steps], np.int64),
            _rows([one.labels for one in steps], [one.moves for one in steps], n_labels + 1),
            *asked,
        )  # fmt: skip

    def steps(self) -> list[Learned]:
        """The steps one by one."""
        rows, stated, moves = map(_split, (self.instances, self.relevance, self.moves))
        spans = [slice(a, b) for a, b in pairwise(self.pointers.tolist())]
        asked: list[Any] = np.column_stack(
            [self.reached, self.most, self.margin, self.cut]
        ).tolist()
        kinds = self.by_relevance.tolist(), stated, self.n_labels.tolist()
        at = zip(rows, spans, *kinds, asked, moves, strict=True)
        return [
            Learned(
                row[0], row[1], self.better[span], self.worse[span], y if is_stated else None, n,
                reached=wanted[0], most=wanted[1], margin=wanted[2], cut=wanted[3],
                labels=move[0], moves=move[1],
            )
            for row, span, is_stated, y, n, wanted, move in at
        ]  # fmt: skip

    def after_loading(self) -> None:
        width = self.moves.shape[1]
        for labels in (self.better, self.worse):
            if len(labels) and not 0 <= labels.min() <= labels.max() < width:
                raise ValueError("an arc of a label that is not there")
        if self.relevance.shape[1] + 1 != width or (self.relevance.data < 0).any():
            raise ValueError("relevance of other labels, or below 0")
        for labels, ends, first in (
            (self.moves.indices, self.moves.indptr, 0), (self.better, self.pointers, 0),
            (self.worse, self.pointers, 0), (self.relevance.indices, self.relevance.indptr, 1),
        ):  # fmt: skip
            known = np.repeat(self.n_labels, np.diff(ends))
            if (self.n_labels >= width).any() or (labels + first > known).any():
                raise ValueError("a step of labels that were not known")
        if (
            not (self.most > 0).all()
            or not (self.cut > 0).all()
            or (self.margin <= 0).any()
            or np.isinf(self.margin).any()
        ):
            raise ValueError("steps of no size, or of no margin")


_NONE = np.zeros(0, np.int32), np.zeros(0)


def rows_of(steps: Sequence[Learned], n_features: int) -> sp.csr_array:
    """The instances of the steps."""
    return _rows([one.indices for one in steps], [one.data for one in steps], n_features)


def _sides(pairs: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    return [columns for columns, _ in pairs], [values for _, values in pairs]


def _joined(parts: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)


def _rows(indices: Sequence[Any], data: Sequence[Any], width: int) -> sp.csr_array:
    lengths = [len(one) for one in indices]
    return of_lengths(lengths, _joined(indices, np.int32), _joined(data, np.float64), width)


def _split(matrix: sp.csr_array) -> list[tuple[Int32, Float64]]:
    """Columns and values of each row."""
    csr = sp.csr_array(matrix)
    spans = [slice(a, b) for a, b in pairwise(csr.indptr.tolist())]
    return [(csr.indices[span].astype(np.int32), csr.data[span]) for span in spans]
