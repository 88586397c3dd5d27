"""Pairwise perceptrons by their weights, for up to some hundreds of labels.

Weight vectors lie in blocks of sixteen, one cache line for each feature. A *tile* holds the pairs
of four labels with four others, a *threshold block* the pairs of sixteen labels with Θ.
"""

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Float32, Float64, Int64
from labelrank.declared import array, nested, stored
from labelrank.kernels import pairwise as kernels
from labelrank.kernels.pairwise import SIDE, WIDTH
from labelrank.learners.pairwise.scorer import Course, Lesson, PairScorer, within
from labelrank.preferences import Arcs
from labelrank.resources import aligned_zeros, n_threads, require, row_chunks, run_jobs
from labelrank.rows import Rows, as_rows, with_constant

_MOST_ROWS = 32768
# Tiles of a block that learns apart.
_TILES = 16
_STEPS = {"perceptron": kernels.PERCEPTRON, "pa": kernels.PASSIVE_AGGRESSIVE}
Job = Callable[[], Any]


def primal_bytes(n_features: int, n_labels: int, *, calibrated: bool, averaged: bool) -> int:
    """Memory the weights of a primal scorer will take."""
    n_blocks = _n_tiles(n_labels) + (_n_groups(n_labels, WIDTH) if calibrated else 0)
    return n_blocks * n_features * WIDTH * 4 * (2 if averaged else 1)


@stored(
    "WeightBlocks", 1, W=array("f4", "blocks", "columns", WIDTH),
    U=array("f4", "blocks or 0", "columns", WIDTH), seen=array("i8", "blocks or 0", WIDTH),
)  # fmt: skip
@dataclass
class WeightBlocks:
    """Weight vectors in blocks of sixteen; for averages also running sums U and examples seen."""

    W: Float32
    U: Float32
    seen: Int64

    @property
    def for_kernels(self) -> kernels.Weights:
        W, U, seen = self.W.reshape(-1), self.U.reshape(-1), self.seen.reshape(-1)
        shrink = (1.0 / np.maximum(seen, 1)).astype(np.float32)
        return kernels.Weights(W, U, seen, shrink, self.W.shape[1])


@stored("PrimalPairScorer", 1, pairs=nested("WeightBlocks"), thresholds=nested("WeightBlocks"))
@dataclass(eq=False, repr=False, kw_only=True)
class PrimalPairScorer(PairScorer):
    """All pairwise perceptrons by their weight vectors."""

    def __post_init__(self) -> None:
        averaged = self.rule.averaging is not None
        d, K, calibrated = self.n_features, self.n_labels, self.calibrated
        require(
            primal_bytes(d, K, calibrated=calibrated, averaged=averaged),
            f"weights of {self.duels_each} pairs of labels x {self.n_features} features",
            "use representation='dual' or 'auto', fewer features or fewer labels",
        )
        self.pairs, self.thresholds = (
            WeightBlocks(
                aligned_zeros((size, self.n_features, WIDTH)),
                aligned_zeros((size * averaged, self.n_features, WIDTH)),
                np.zeros((size * averaged, WIDTH), np.int64),
            )
            for size in (_n_tiles(self.n_labels), self._n_threshold_blocks)
        )
        self.fill_random(0)

    def after_loading(self) -> None:
        n_tiles, n_blocks = _n_tiles(self.n_labels), self._n_threshold_blocks
        for part, size in ((self.pairs, n_tiles), (self.thresholds, n_blocks)):
            kept = size if self.rule.averaging else 0
            if (len(part.W), len(part.U), len(part.seen)) != (size, kept, kept):
                raise ValueError("the weights are not one for each pair of labels")
            if part.W.shape[1] != self.n_features:
                raise ValueError("the weights are not one for each feature")
        if self.rule.step not in _STEPS:
            raise ValueError(f"the step is {self.rule.step[:40]!r}")

    def course(
        self, X: Rows, Y: sp.csr_array, n_jobs: int | None = None, *, until_no_error: bool = False
    ) -> Course:
        """Over threads; a tile without a mistake is left out of later passes."""
        self.check_lesson(X, Y)
        settled = set[Any]() if until_no_error and not self.rule.averaging else None
        return partial(self._learn_pass, X, as_rows(Y, np.float64), n_jobs, settled)

    def learn_arcs(
        self, rows: Callable[[Any], Rows], X: sp.csr_array, arcs: Arcs, n_jobs: int | None = None
    ) -> Lesson:
        """First those between labels, where Θ is left out of play, then those with Θ."""
        labels_alone = copy.copy(self)
        labels_alone.calibrated = False
        with_threshold = (arcs.better == self.n_labels) | (arcs.worse == self.n_labels)
        lessons = [Lesson(0, 0)]
        for scorer, chosen in ((labels_alone, ~with_threshold), (self, with_threshold)):
            if chosen.any():
                instances, Y = arcs.as_examples(X, chosen)
                learn = scorer.course(rows(instances), Y[:, :-1], n_jobs)
                lessons.append(learn(np.arange(instances.shape[0])))
        return Lesson(*map(sum, zip(*lessons, strict=True)))

    def _learn_pass(
        self, X: Rows, Y: Rows, n_jobs: int | None, settled: set[Any] | None, order: Int64
    ) -> Lesson:
        order = within("order", order, X.n_rows)
        jobs = self._jobs(X, Y, order, None if settled is not None else n_jobs or 1)
        left = {unit: job for unit, job in jobs.items() if unit not in (settled or ())}
        done = np.reshape(run_jobs(left.values(), n_jobs), (-1, 2))
        if settled is not None:
            settled.update(itertools.compress(left, done[:, 1] == 0))
        return Lesson(*map(int, done.sum(axis=0)))

    def _jobs(self, X: Rows, Y: Rows, order: Int64, n_jobs: int | None) -> dict[Any, Job]:
        """What a pass consists of: spans of tiles for so many jobs (None: one tile each)."""
        jobs: dict[Any, Job] = {}
        if self.calibrated:  # first, as they are long: the short ones even out the threads
            learn = partial(kernels.learn_thresholds, *X[:3], self._mentions(Y, order, WIDTH))
            weights = self.thresholds.for_kernels
            for block in range(self._n_threshold_blocks):
                jobs["threshold", block] = partial(learn, block, self._update, weights)
        n_tiles, mentions = _n_tiles(self.n_labels), self._mentions(Y, order, SIDE)
        size = max(1, n_tiles // (16 * n_threads(n_jobs))) if n_jobs else 1
        learn = partial(kernels.learn_pairs, *X[:3], mentions, self._tiles())
        weights = self.pairs.for_kernels
        for first in range(0, n_tiles, size):
            span = first, min(first + size, n_tiles)
            jobs["pairs", first] = partial(learn, *span, self._update, weights)
        return jobs

    def _mentions(self, Y: Rows, order: Int64, width: int) -> kernels.Mentions:
        return _mentions(Y, order, self.n_labels, self.ordered, width)

    @property
    def _update(self) -> kernels.Update:
        zero = np.float32(0.0)
        low, high = np.nextafter(zero, np.float32(-1.0)), zero
        if self.rule.margin is not None:
            low, high = np.float32(self.rule.margin), np.float32(-self.rule.margin)
        return kernels.Update(_STEPS[self.rule.step], low, high, np.float32(self.rule.C))

    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        self.check_rows(X)
        votes, sums = np.zeros((X.n_rows, self.width)), np.zeros((X.n_rows, self.width))
        jobs = [partial(self._vote, X, *span, votes, sums) for span in _spans(X.n_rows, n_jobs)]
        run_jobs(jobs, n_jobs)
        if self.calibrated:
            margins = self._threshold_margins(X, np.arange(X.n_rows), n_jobs)
            wins = margins >= 0
            votes[:, :-1] += wins
            votes[:, -1] = (~wins).sum(axis=1)
            sums[:, :-1] += margins
            sums[:, -1] = -margins.sum(axis=1, dtype=np.float64)
        return votes, sums

    def _vote(self, X: Rows, first: int, last: int, votes: Float64, sums: Float64) -> None:
        n, n_groups = last - first, _n_groups(self.n_labels, SIDE)
        counted = np.zeros((2, n_groups, n, SIDE), np.float32)
        weights = self.pairs.for_kernels
        kernels.vote(*X[:3], first, last, self._tiles(), weights, *counted.reshape(2, -1))
        by_row = counted.transpose(0, 2, 1, 3).reshape(2, n, n_groups * SIDE)
        votes[first:last, : self.n_labels] = by_row[0, :, : self.n_labels]
        sums[first:last, : self.n_labels] = by_row[1, :, : self.n_labels]

    def _threshold_margins(self, X: Rows, rows: Int64, n_jobs: int | None = None) -> Float32:
        """Margins of the labels over Θ in those rows."""
        n_blocks = self._n_threshold_blocks
        out = np.empty((len(rows), n_blocks * WIDTH), np.float32)
        rest = self.thresholds.for_kernels, n_blocks, out.reshape(-1)
        margins = partial(kernels.threshold_margins, *X[:3], rows)
        run_jobs([partial(margins, *s, *rest) for s in row_chunks(len(rows), n_jobs)], n_jobs)
        return out[:, : self.n_labels]

    def margins(self, X: Rows) -> Float32:
        self.check_rows(X)
        out = np.zeros((X.n_rows, self.width, self.width), np.float32)
        n_tiles, weights = _n_tiles(self.n_labels), self.pairs.for_kernels
        kernels.all_margins(*X[:3], self._tiles(), n_tiles, weights, out)
        if self.calibrated:
            out[:, :-1, -1] = self._threshold_margins(X, np.arange(X.n_rows))
            out[:, -1, :-1] = -out[:, :-1, -1]
        return out

    def duels_of(self, X: Rows, instances: Int64, labels: Int64) -> Float32:
        self.check_rows(X)
        instances = within("instances", instances, X.n_rows)
        labels = within("labels", labels, self.width)
        out = np.zeros((len(instances), self.width), np.float32)
        known, n_groups = labels < self.n_labels, _n_groups(self.n_labels, SIDE)
        padded = np.zeros((int(known.sum()), n_groups * SIDE), np.float32)
        kernels.label_margins(
            *X[:3], instances[known], labels[known], n_groups, self._tiles(),
            self.pairs.for_kernels, padded,
        )  # fmt: skip
        out[known, : self.n_labels] = padded[:, : self.n_labels]
        if self.calibrated:
            over = self._threshold_margins(X, instances)
            out[known, -1] = over[known, labels[known]]
            out[~known, :-1] = -over[~known]
        return out

    def weights(self, u: int, v: int) -> Float32:
        within("labels", [u, v], self.width)
        if u == v:
            return np.zeros(self.n_features, np.float32)
        low, high = min(u, v), max(u, v)
        if high == self.n_labels:
            part, block, lane = self.thresholds, low // WIDTH, low % WIDTH
        else:
            part, g, h = self.pairs, low // SIDE, high // SIDE
            block, lane = h * (h + 1) // 2 + g, low % SIDE * SIDE + high % SIDE
        vector: Float32 = part.W[block, :, lane].copy()
        if len(part.U):
            shrink = np.float32(1.0 / max(part.seen[block, lane], 1))
            vector -= part.U[block, :, lane] * shrink
        return vector if u < v else -vector

    def widened(self, n_labels: int) -> Self:
        wide = replace(self, n_labels=n_labels)
        for ours, theirs in ((wide.pairs, self.pairs), (wide.thresholds, self.thresholds)):
            ours.W[: len(theirs.W)] = theirs.W
            ours.U[: len(theirs.U)] = theirs.U
            ours.seen[: len(theirs.seen)] = theirs.seen
        wide.fill_random(self.n_labels)
        return wide

    def fill_random(self, first_label: int) -> None:
        """If asked for: random weights of the pairs with a label from `first_label` on."""
        if self.rule.init != "random":
            return
        tiles = self._tiles()
        u, v = _lanes(tiles.row, tiles.column)
        is_new = (tiles.allowed.reshape(u.shape) > 0) & (v >= first_label)
        keys = np.where(is_new, v * (v - 1) // 2 + u, -1)
        W, d, seed = self.pairs.W, self.n_features, self.rule.seed
        kernels.fill_random(keys[: len(W)].reshape(-1), seed + 1, W.reshape(-1), d)
        label = np.arange(self._n_threshold_blocks * WIDTH)
        is_new = (label >= first_label) & (label < self.n_labels)
        keys = np.where(is_new, label, -1)
        kernels.fill_random(keys, seed, self.thresholds.W.reshape(-1), d)

    def blocks(self, n_rows: int, *, has_constant: bool, size: int = _TILES) -> list["PairBlock"]:
        """The perceptrons in blocks that may learn apart: of so many tiles, or of Θ.

        `n_rows` are the instances of an epoch; they may have a constant feature more.
        """
        shared: Any = {
            "n_rows": n_rows, "has_constant": has_constant,
            "n_features": self.n_features, "n_labels": self.n_labels,
            "ordered": self.ordered, "averaged": self.rule.averaging is not None,
            "update": self._update, "seed": self.rule.seed if self.rule.init == "random" else None,
        }  # fmt: skip
        tiles, n_tiles = [], _n_tiles(self.n_labels)
        for first in range(0, n_tiles, size):
            tiles.append(PairBlock(False, first, min(first + size, n_tiles), **shared))
        return tiles + [
            PairBlock(True, b, b + 1, **shared) for b in range(self._n_threshold_blocks)
        ]

    def take(self, learned: "LearnedPairs") -> None:
        """Take what a block has learned."""
        part = self.thresholds if learned.is_threshold else self.pairs
        span = slice(learned.first, learned.first + len(learned.W))
        part.W[span] = learned.W
        if len(part.U):
            part.U[span], part.seen[span] = learned.U, learned.seen

    def _tiles(self) -> kernels.Tiles:
        return _tiles(self.n_labels)

    @property
    def _n_threshold_blocks(self) -> int:
        return _n_groups(self.n_labels, WIDTH) if self.calibrated else 0


class LearnedPairs(NamedTuple):
    """Weights of a block that begins at `first`, what their means need, pairs shown, and how many
    moved: in all, and in this epoch."""

    is_threshold: bool
    first: int
    W: Float32
    U: Float32
    seen: Int64
    shown: int
    moved: int
    recent: int


@dataclass(frozen=True, kw_only=True)
class PairBlock:
    """Tiles first ... last - 1 of pairs, or a block of pairs with Θ; they need no others."""

    is_threshold: bool = field(kw_only=False)
    first: int = field(kw_only=False)
    last: int = field(kw_only=False)
    n_rows: int
    has_constant: bool
    n_features: int
    n_labels: int
    ordered: bool
    averaged: bool
    update: kernels.Update
    seed: int | None

    def begin(self) -> LearnedPairs:
        """Zero weights, or random ones, before the first instance."""
        size = self.last - self.first
        shape = size * self.averaged, self.n_features, WIDTH
        seen = np.zeros((size * self.averaged, WIDTH), np.int64)
        W = aligned_zeros((size, self.n_features, WIDTH))
        U = aligned_zeros(shape)
        if self.seed is not None:
            seed = self.seed + (not self.is_threshold)
            kernels.fill_random(self._keys(), seed, W.reshape(-1), self.n_features)
        return LearnedPairs(self.is_threshold, self.first, W, U, seen, 0, 0, 0)

    def _keys(self) -> Int64:
        """The number of the pair in each lane, -1 where there is none, as `fill_random` has it."""
        if self.is_threshold:
            label = np.arange(self.first * WIDTH, self.last * WIDTH)
            return np.where(label < self.n_labels, label, -1)
        row, column, allowed = _tiles(self.n_labels)
        u, v = _lanes(row[self.first : self.last], column[self.first : self.last])
        there = allowed.reshape(-1, WIDTH)[self.first : self.last] > 0
        return np.where(there, v * (v - 1) // 2 + u, -1).reshape(-1)

    def learn(self, before: LearnedPairs, X: Any, Y: sp.csr_array, clock: int) -> LearnedPairs:
        """After more instances, in their order; `clock` were learned before, in all epochs."""
        W, U = aligned_zeros(before.W.shape), aligned_zeros(before.U.shape)
        W[:], U[:] = before.W, before.U
        part = WeightBlocks(W, U, before.seen.copy())
        rows = with_constant(as_rows(X)) if self.has_constant else as_rows(X)
        shown, moved = self._lesson(rows, as_rows(Y, np.float64), part.for_kernels)
        recent = moved + (before.recent if clock % self.n_rows else 0)
        total: Any = {
            "shown": before.shown + shown,
            "moved": before.moved + moved,
            "recent": recent,
        }
        return before._replace(W=W, U=U, seen=part.seen, **total)

    def _lesson(self, X: Rows, Y: Rows, weights: kernels.Weights) -> tuple[int, int]:
        order = np.arange(X.n_rows, dtype=np.int64)
        width, first = (WIDTH if self.is_threshold else SIDE), self.first
        found = _mentions(Y, order, self.n_labels, self.ordered, width)
        if self.is_threshold:
            blank = found.blank[first * WIDTH : self.last * WIDTH]
            own = found._replace(start=found.start[first : first + 2], blank=blank)
            done = kernels.learn_thresholds(*X[:3], own, 0, self.update, weights)
        else:
            row, column, allowed = _tiles(self.n_labels)
            span = slice(first, self.last)
            lanes = allowed[first * WIDTH : self.last * WIDTH]
            own_tiles = kernels.Tiles(row[span], column[span], lanes)
            size = self.last - first
            done = kernels.learn_pairs(*X[:3], found, own_tiles, 0, size, self.update, weights)
        return int(done[0]), int(done[1])


def _mentions(Y: Rows, order: Int64, n_labels: int, ordered: bool, width: int) -> kernels.Mentions:
    n_groups = _n_groups(n_labels, width)
    counts = np.zeros(n_groups, np.int64)
    kernels.count_mentions(Y.indptr, Y.indices, order, width, counts)
    start = np.concatenate([[0], np.cumsum(counts)])
    blank = np.zeros(n_groups * width, np.float32)
    blank[n_labels:] = np.nan
    position, level = np.empty(start[-1], np.int64), np.empty(start[-1] * width, np.float32)
    mentions = kernels.Mentions(order, start, position, level, blank)
    kernels.list_mentions(*Y[:3], ordered, width, start[:-1].copy(), mentions)
    return mentions


def _tiles(n_labels: int) -> kernels.Tiles:
    """The tiles in order, and three empty ones, for `vote` takes four at a time."""
    groups = np.arange(_n_groups(n_labels, SIDE))
    column = np.concatenate([np.repeat(groups, groups + 1), [0, 0, 0]])
    row = np.concatenate([*(groups[: h + 1] for h in groups), [0, 0, 0]])
    u, v = _lanes(row, column)
    allowed = (u < v) & (v < n_labels)
    allowed[-3:] = False
    return kernels.Tiles(row, column, allowed.astype(np.float32).reshape(-1))


def _lanes(row: Int64, column: Int64) -> tuple[Int64, Int64]:
    """The labels u and v of each lane of tiles of these groups."""
    lane = np.arange(WIDTH)
    return row[:, None] * SIDE + lane // SIDE, column[:, None] * SIDE + lane % SIDE


def _n_groups(n_labels: int, size: int) -> int:
    return -(-n_labels // size)


def _n_tiles(n_labels: int) -> int:
    n_groups = _n_groups(n_labels, SIDE)
    return n_groups * (n_groups + 1) // 2


def _spans(n_rows: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Rows of each voting job: long, for each goes through all weights once; but bounded."""
    workers = n_threads(n_jobs)
    n_spans = max(1, min(workers * -(-n_rows // (workers * _MOST_ROWS)), n_rows))
    bounds = [n_rows * part // n_spans for part in range(n_spans + 1)]
    return list(itertools.pairwise(bounds))
