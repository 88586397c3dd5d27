"""Pairwise perceptrons by their weights, for up to some hundreds of labels.

Pairs of labels live in tiles of four by four, sixteen weights a feature, one cache line: whichever
label of a tile is relevant, one line serves. Pairs with the threshold label live in blocks of
sixteen labels, for every instance trains all of them.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import effective_n_jobs

from labelrank import resources as memory
from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.kernels import pair_votes
from labelrank.kernels import pairwise as kernels
from labelrank.kernels.pairwise import SIDE, WIDTH
from labelrank.kernels.random import RANDOM_SCALE, fill_normal
from labelrank.learners.pairwise.scorer import Float32, Float64, Lesson, Rule
from labelrank.resources import row_chunks, run_jobs
from labelrank.rows import Rows, as_rows

Unit = tuple[str, int]
_MOST_ROWS = 32768
_STEPS = {"perceptron": kernels.PERCEPTRON, "pa": kernels.PASSIVE_AGGRESSIVE}


def primal_bytes(n_features: int, n_labels: int, *, calibrated: bool, averaged: bool) -> int:
    """Memory the weights of a primal scorer will take.

    >>> primal_bytes(1000, 8, calibrated=True, averaged=False)
    256000
    """
    tiles = _n_tiles(n_labels) + (_blocks(n_labels) if calibrated else 0)
    return tiles * n_features * WIDTH * 4 * (2 if averaged else 1)


class PrimalPairScorer:
    """All pairwise perceptrons by their weight vectors (a `PairScorer`).

    Parameters
    ----------
    n_features, n_labels : int
    calibrated, ordered : bool
    rule : Rule

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from labelrank.rows import as_rows
    >>> X, Y = as_rows(np.eye(3)), sp.csr_array(np.eye(3))
    >>> scorer = PrimalPairScorer(3, 3, calibrated=False, ordered=False)
    >>> scorer.learn(X, Y, np.arange(3))
    Lesson(trained=6, mistakes=3)
    >>> scorer.votes(X)[0].argmax(axis=1)
    array([0, 1, 2])
    """

    pair_W: Float32
    pair_U: Float32
    threshold_W: Float32
    threshold_U: Float32

    def __init__(
        self, n_features: int, n_labels: int, *, calibrated: bool, ordered: bool,
        rule: Rule = Rule(),  # noqa: B008 - immutable
    ) -> None:  # fmt: skip
        self.n_features, self.n_labels = n_features, 0
        self.calibrated, self.ordered = calibrated, ordered
        self.margin, self.step, self.C = rule.margin, rule.step, rule.C
        self.averaging, self.init, self.seed = rule.averaging, rule.init, rule.seed
        for part in ("pair", "threshold"):
            self._make_room(part, 0)
        self.widen(n_labels)

    def learn(
        self, X: Rows, Y: sp.csr_array, order: npt.NDArray[np.int64], n_jobs: int | None = None,
        settled: set[Unit] | None = None,
    ) -> Lesson:  # fmt: skip
        """One pass over the rows named by `order`; tiles are spread over threads.

        Tiles that make no mistake in it are added to `settled`, if given, and those in it are left
        out: another pass over the same rows, in any order, would not move them.
        """
        order = np.ascontiguousarray(order, np.int64)
        grades = as_rows(Y, np.float64)
        self._check(X)
        self._check_lesson(X, grades, order)
        jobs = self._jobs(X, grades, order, None if settled is not None else n_jobs or 1)
        left = {unit: job for unit, job in jobs.items() if unit not in (settled or ())}
        done = np.reshape(run_jobs(left.values(), n_jobs), (-1, 2))
        if settled is not None:
            settled.update(itertools.compress(left, done[:, 1] == 0))
        return Lesson(*map(int, done.sum(axis=0)))

    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        """Won duels and summed margins, both n × K'."""
        self._check(X)
        votes = np.zeros((X.n_rows, self._width))
        sums = np.zeros((X.n_rows, self._width))
        jobs = [partial(self._vote, X, *span, votes, sums) for span in _spans(X.n_rows, n_jobs)]
        run_jobs(jobs, n_jobs)
        if self.calibrated:
            margins = self._threshold_margins(X, n_jobs=n_jobs)
            wins = margins >= 0
            votes[:, :-1] += wins
            votes[:, -1] = (~wins).sum(axis=1)
            sums[:, :-1] += margins
            sums[:, -1] = -margins.sum(axis=1, dtype=np.float64)
        return votes, sums

    def margins(self, X: Rows) -> Float32:
        """All margins, n × K' × K'."""
        self._check(X)
        out = np.zeros((X.n_rows, self._width, self._width), np.float32)
        tiles, weights, shrink = self._tiles(), self._weights("pair"), self._shrink("pair")
        pair_votes.all_margins(*X[:3], tiles, _n_tiles(self.n_labels), weights, shrink, out)
        if self.calibrated:
            out[:, :-1, -1] = self._threshold_margins(X)
            out[:, -1, :-1] = -out[:, :-1, -1]
        return out

    def duels_of(
        self, X: Rows, instances: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
    ) -> Float32:
        """Row `labels[j]` of the margins of instance `instances[j]`."""
        self._check(X)
        instances, labels = (np.ascontiguousarray(a, np.int64) for a in (instances, labels))
        _check_range("instances", instances, X.n_rows)
        _check_range("labels", labels, self._width)
        out = np.zeros((len(instances), self._width), np.float32)
        known = labels < self.n_labels
        padded = np.zeros((int(known.sum()), _groups(self.n_labels) * SIDE), np.float32)
        pair_votes.label_margins(
            *X[:3], instances[known], labels[known], _groups(self.n_labels), self._tiles(),
            self._weights("pair"), self._shrink("pair"), padded,
        )  # fmt: skip
        out[known, : self.n_labels] = padded[:, : self.n_labels]
        if self.calibrated:
            over = self._threshold_margins(X, instances)
            out[known, -1] = over[known, labels[known]]
            out[~known, :-1] = -over[~known]
        return out

    def weights(self, u: int, v: int) -> Float32:
        """The vector (d,) whose inner product with x is the margin of u over v."""
        _check_range("labels", np.array([u, v]), self._width)
        if u == v:
            return np.zeros(self.n_features, np.float32)
        low, high = min(u, v), max(u, v)
        if high == self.n_labels:
            found = self._column("threshold", low // WIDTH, low % WIDTH)
        else:
            g, h = low // SIDE, high // SIDE
            found = self._column("pair", h * (h + 1) // 2 + g, low % SIDE * SIDE + high % SIDE)
        return found if u < v else -found

    def widen(self, n_labels: int) -> None:
        """Make room for labels declared later; they come after the known ones, before Θ."""
        before, self.n_labels = self.n_labels, n_labels
        more = self._planned_bytes() - self.n_bytes
        memory.require(
            more,
            f"weights of {self._width * (self._width - 1) // 2} pairs of labels x "
            f"{self.n_features} features",
            "use representation='dual' or 'auto', fewer features or fewer labels",
        )
        self._make_room("pair", _n_tiles(n_labels))
        self._make_room("threshold", _blocks(n_labels) if self.calibrated else 0)
        if self.init == "random":
            self._fill_random(before)

    @property
    def n_bytes(self) -> int:
        """Memory held by what was learned."""
        arrays = (self.pair_W, self.pair_U, self.threshold_W, self.threshold_U)
        return int(sum(array.nbytes for array in arrays))

    @property
    def _width(self) -> int:
        return self.n_labels + int(self.calibrated)

    def _planned_bytes(self) -> int:
        return primal_bytes(
            self.n_features, self.n_labels, calibrated=self.calibrated,
            averaged=self.averaging is not None,
        )  # fmt: skip

    def _make_room(self, part: str, n_tiles: int) -> None:
        kept = n_tiles if self.averaging else 0
        for name, size in (("W", n_tiles), ("U", kept)):
            wider = memory.aligned_zeros((size, self.n_features, WIDTH))
            old = getattr(self, f"{part}_{name}", wider[:0])
            wider[: len(old)] = old
            setattr(self, f"{part}_{name}", wider)
        seen = np.zeros((kept, WIDTH), np.int64)
        old = getattr(self, f"{part}_seen", seen[:0])
        seen[: len(old)] = old
        setattr(self, f"{part}_seen", seen)

    def _fill_random(self, first_label: int) -> None:
        tiles = self._tiles()
        kernels.fill_pairs(
            tiles, 0, _n_tiles(self.n_labels), first_label, RANDOM_SCALE, self.seed + 1,
            self._weights("pair"),
        )  # fmt: skip
        for block, W in enumerate(self.threshold_W):
            begin = min(max(first_label - block * WIDTH, 0), WIDTH)
            end = min(self.n_labels - block * WIDTH, WIDTH)
            fill_normal(W, begin, end, block * WIDTH, RANDOM_SCALE, self.seed)

    def _weights(self, part: str) -> kernels.Weights:
        W, U, seen = (getattr(self, f"{part}_{name}") for name in ("W", "U", "seen"))
        return kernels.Weights(W.reshape(-1), U.reshape(-1), seen.reshape(-1), self.n_features)

    def _shrink(self, part: str) -> Float32:
        """1 / T: what turns the running sums of each pair into its correction."""
        seen = getattr(self, f"{part}_seen")
        return (1.0 / np.maximum(seen, 1)).astype(np.float32).reshape(-1)

    def _column(self, part: str, tile: int, lane: int) -> Float32:
        found: Float32 = getattr(self, f"{part}_W")[tile, :, lane].copy()
        if self.averaging:
            shrink = self._shrink(part)[tile * WIDTH + lane]
            found -= getattr(self, f"{part}_U")[tile, :, lane] * shrink
        return found

    def _tiles(self) -> kernels.Tiles:
        """The tiles in order, and three empty ones, for `vote` takes four at a time."""
        groups = np.arange(_groups(self.n_labels))
        column = np.concatenate([np.repeat(groups, groups + 1), [0, 0, 0]])
        row = np.concatenate([*(groups[: h + 1] for h in groups), [0, 0, 0]])
        lane = np.arange(WIDTH)
        u, v = row[:, None] * SIDE + lane // SIDE, column[:, None] * SIDE + lane % SIDE
        allowed = (u < v) & (v < self.n_labels)
        allowed[-3:] = False
        return kernels.Tiles(row, column, allowed.astype(np.float32).reshape(-1))

    def _update(self) -> kernels.Update:
        zero = np.float32(0.0)
        low, high = np.nextafter(zero, np.float32(-1.0)), zero
        if self.margin is not None:
            low, high = np.float32(self.margin), np.float32(-self.margin)
        return kernels.Update(_STEPS[self.step], low, high, np.float32(self.C))

    def _mentions(self, Y: Rows, order: npt.NDArray[np.int64], width: int) -> kernels.Mentions:
        groups = -(-self.n_labels // width)
        counts = np.zeros(groups, np.int64)
        kernels.count_mentions(Y.indptr, Y.indices, order, width, counts)
        start = np.concatenate([[0], np.cumsum(counts)])
        blank = np.zeros(groups * width, np.float32)
        blank[self.n_labels :] = np.nan
        position, level = np.empty(start[-1], np.int64), np.empty(start[-1] * width, np.float32)
        mentions = kernels.Mentions(order, start, position, level, blank)
        kernels.list_mentions(*Y[:3], self.ordered, width, start[:-1].copy(), mentions)
        return mentions

    def _jobs(
        self, X: Rows, Y: Rows, order: npt.NDArray[np.int64], n_jobs: int | None
    ) -> dict[Unit, Callable[[], Any]]:
        """What a pass consists of: spans of tiles for so many jobs (None: one tile each)."""
        jobs: dict[Unit, Callable[[], Any]] = {}
        if self.calibrated:  # first, as they are long: the short ones even out the threads
            job = partial(kernels.learn_thresholds, *X[:3], self._mentions(Y, order, WIDTH))
            for block in range(_blocks(self.n_labels)):
                weights = self._weights("threshold")
                jobs["threshold", block] = partial(job, block, self._update(), weights)
        n_tiles, mentions = _n_tiles(self.n_labels), self._mentions(Y, order, SIDE)
        size = max(1, n_tiles // (16 * effective_n_jobs(n_jobs))) if n_jobs else 1
        job = partial(kernels.learn_pairs, *X[:3], mentions, self._tiles())
        for first in range(0, n_tiles, size):
            span = first, min(first + size, n_tiles)
            jobs["pair", first] = partial(job, *span, self._update(), self._weights("pair"))
        return jobs

    def _vote(self, X: Rows, first: int, last: int, votes: Float64, sums: Float64) -> None:
        n, groups = last - first, _groups(self.n_labels)
        counted = np.zeros((2, groups, n, SIDE), np.float32)
        flat = counted.reshape(2, -1)
        weights, tiles = self._weights("pair"), self._tiles()
        if self.averaging:
            shrink = self._shrink("pair")
            pair_votes.vote_averaged(*X[:3], first, last, tiles, weights, shrink, *flat)
        else:
            pair_votes.vote(*X[:3], first, last, tiles, weights, *flat)
        by_row = counted.transpose(0, 2, 1, 3).reshape(2, n, groups * SIDE)
        votes[first:last, : self.n_labels] = by_row[0, :, : self.n_labels]
        sums[first:last, : self.n_labels] = by_row[1, :, : self.n_labels]

    def _threshold_margins(
        self, X: Rows, instances: npt.NDArray[np.int64] | None = None, n_jobs: int | None = None
    ) -> Float32:
        rows = np.arange(X.n_rows) if instances is None else instances
        blocks = _blocks(self.n_labels)
        out = np.empty((len(rows), blocks * WIDTH), np.float32)
        weights, shrink = self._weights("threshold"), self._shrink("threshold")
        job = partial(pair_votes.threshold_margins, *X[:3], rows)
        jobs = [
            partial(job, *span, weights, shrink, blocks, out.reshape(-1))
            for span in row_chunks(len(rows), n_jobs)
        ]
        run_jobs(jobs, n_jobs)
        return out[:, : self.n_labels]

    def _check(self, X: Rows) -> None:
        if X.n_columns != self.n_features or X.data.dtype != np.float32:
            raise InputError(
                f"X must be float32 with {self.n_features} columns; "
                f"got {X.data.dtype} with {X.n_columns}"
            )

    def _check_lesson(self, X: Rows, Y: Rows, order: npt.NDArray[np.int64]) -> None:
        """Past this line nothing checks an index."""
        if Y.n_rows != X.n_rows or Y.n_columns != self.n_labels:
            raise InputError(
                f"Y must be {X.n_rows} rows of {self.n_labels} labels; "
                f"got {Y.n_rows} of {Y.n_columns}"
            )
        _check_range("order", order, X.n_rows)


def _groups(n_labels: int) -> int:
    return -(-n_labels // SIDE)


def _blocks(n_labels: int) -> int:
    return -(-n_labels // WIDTH)


def _n_tiles(n_labels: int) -> int:
    groups = _groups(n_labels)
    return groups * (groups + 1) // 2


def _spans(n_rows: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Rows of each voting job: long, for each goes through all weights once; but bounded."""
    workers = effective_n_jobs(n_jobs)
    n_spans = max(1, min(workers * -(-n_rows // (workers * _MOST_ROWS)), n_rows))
    bounds = [n_rows * part // n_spans for part in range(n_spans + 1)]
    return list(itertools.pairwise(bounds))


def _check_range(name: str, values: Array, limit: int) -> None:
    if values.size and not 0 <= values.min() <= values.max() < limit:
        raise InputError(
            f"{name} must be within 0..{limit - 1}; got {values.min()}, {values.max()}"
        )
