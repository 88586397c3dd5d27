"""What EC-PLM and EP-PLM share (Lauriola et al. 2018).

Label r gets the score f(x, r) = <W x, M_r>: the embedding of the instance against the code of the
label. An arc (x_i, j) > (x_k, q) is violated if f(x_i, j) <= f(x_k, q); the voted perceptron then
adds z = M_j x_i' - M_q x_k' to W. Arcs are counted by a clock, and learned in turns of
`preferences_per_epoch` arcs.
"""

import copy
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank import declared, decoding
from labelrank._types import Array, Float32, Float64, Int64
from labelrank.declared import array, choice, cut, nested, number, seed, sparse, stored, threads
from labelrank.kernels import embedding as kernels
from labelrank.kernels import random as draws
from labelrank.learners.base import FromArcs, IncrementalRanker
from labelrank.learners.orders.levels import by_levels
from labelrank.preferences import Arcs as Stated
from labelrank.preferences import Kind, Preferences
from labelrank.resources import row_chunks, run_jobs, track
from labelrank.rows import Rows, as_rows

WINDOW = 256
_MARGIN = 1.0
_MOST_KEPT = 200
_SCORES_PER_THREAD = 1 << 16
# Beyond this factor between stored and true values of a matrix the two are made one again.
_FAR = 1e4

# One row per arc: instance i and relevant label j over instance k and irrelevant label q.
Arcs: TypeAlias = Int64


@stored(
    "Averaged",
    values=array("f4", "rows", "s"),
    sums=array("f8", "rows", "s"),
    since=array("f8", "rows"),
    state=array("f8", 4),
    squares=array("f8", "rows"),
)
class Averaged(NamedTuple):
    """A matrix, SCALE * values, and what its mean needs; `kernels.embedding` has the fields."""

    values: Float32
    sums: Float64
    since: Float64
    state: Float64
    squares: Float64

    @classmethod
    def of(cls, start: Array) -> "Averaged":
        """A matrix that is `start` and has no past."""
        values = np.array(start, np.float32, order="C")
        state = np.array([1.0, 0.0, np.square(values, dtype=np.float64).sum(), 0.0])
        zeros = np.zeros(len(values))
        return cls(values, np.zeros(values.shape), zeros, state, zeros.copy())

    def mean(self) -> Float32:
        """The mean over its arcs; the matrix itself while there was none."""
        time = self.state[kernels.TIME]
        if not time:
            return (self.values * self.state[kernels.SCALE]).astype(np.float32)
        gap = self.state[kernels.CLOCK] - self.since
        return ((self.sums + gap[:, None] * self.values) / time).astype(np.float32)

    def normalize(self) -> None:
        """Divide by the Frobenius norm: a factor for all, hardly ever a visit of all weights."""
        square = self.state[kernels.SQUARE]
        if square > 0:
            self.state[kernels.SCALE] = 1.0 / np.sqrt(square)
        if not 1 / _FAR < self.state[kernels.SCALE] < _FAR:
            kernels.settle(self)

    def widened(self, more: Array) -> "Averaged":
        """A new matrix with further rows, which count as if they had always been there."""
        old, new = copy.deepcopy(self), Averaged.of(more)
        kernels.settle(old)
        state = old.state.copy()
        values = np.vstack([old.values, new.values])
        state[kernels.SQUARE] = np.square(values, dtype=np.float64).sum()
        sums = np.vstack([old.sums, state[kernels.TIME] * np.asarray(more, np.float64)])
        since = np.concatenate([old.since, new.since])
        return Averaged(values, sums, since, state, np.concatenate([old.squares, new.squares]))

    def project(self, X: Rows, n_jobs: int | None) -> Float32:
        """X times the mean, n × s."""
        H = np.empty((X.n_rows, self.values.shape[1]), np.float32)
        jobs = [partial(kernels.project, X, self, *s, H) for s in row_chunks(X.n_rows, n_jobs)]
        run_jobs(jobs, n_jobs)
        return H


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
    draws.draw_arcs(Y, nodes, seed, clock, same, 0, arcs)
    return arcs


def arcs_in_turn(Y: Rows, first: int, window: int, seed: int, clock: int, same: bool) -> Arcs:
    """One arc from each positive node of the rows from `first` on, in order."""
    nodes = positive_nodes(Y, first)
    arcs = np.zeros((len(nodes.rows), 4), np.int64)
    draws.draw_arcs(Y, nodes, seed, clock, same, window, arcs)
    return arcs


def random_rows(candidates: Int64, count: int, seed: int, clock: int) -> Int64:
    """Rows drawn from the candidates with replacement; none if there is no candidate."""
    rows = np.empty(count if len(candidates) else 0, np.int64)
    draws.draw_rows(candidates, seed, clock, rows)
    return rows


@stored(
    None,
    embedding=nested("Averaged", attribute="_W"),
    codes=nested("Averaged", attribute="_M"),
    fixed_codes=array("f4", "K", "s", attribute="_fixed_codes"),
    seed=declared.value(int, least=0, attribute="_seed"),
    clock=declared.value(int, least=0, attribute="_clock"),
    n_violated_=declared.value(int, least=0),
    window_X=sparse("window", "d", attribute="_window_X"),
    window_Y=sparse("window", "K", attribute="_window_Y", finite=False),
)
@dataclass(eq=False, repr=False)
class EmbeddingRanker(FromArcs, IncrementalRanker):
    """What EC-PLM and EP-PLM share: arcs, turns of learning, and scores."""

    n_components: int = number(50, least=1, whole=True)
    _: KW_ONLY
    epochs: int = number(100, least=1, whole=True)
    preferences_per_epoch: int = number(2000, least=1, whole=True)
    arcs: str = choice("any", "instance")
    update: str = choice("perceptron", "adagrad")
    negatives: int = number(8, least=1, most=100_000, whole=True)
    learning_rate: float = number(0.1, above=0)
    threshold: Any = cut()
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    # With arcs="any", the two labels of an arc may belong to two instances.
    preferences = Preferences.each(Kind.RELEVANT_IRRELEVANT, Kind.GRADED)
    _calibrated = False
    _learns_silence = False
    _codes_learn = False
    _reads_threshold = False

    def _first_codes(self, Y: sp.csr_array) -> Array:
        """M before the first arc, K × s."""
        raise NotImplementedError

    def _learn_turn(self, X: Rows, arcs: Arcs, turn: int) -> int:
        """Learn arcs, all of the same turn; returns how many were violated."""
        return int(kernels.learn_embedding(X, arcs, self._fixed_codes, self._W))

    def _end_turn(self, turn: int) -> None:
        """What follows the last arc of a turn."""

    def _scale(self) -> np.float32:
        """What the products of the two means are multiplied by."""
        return np.float32(1.0)

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._M = Averaged.of(self._first_codes(by_levels(X, Y)[1]))
        self._fixed_codes = self._M.values.copy()
        self._W = Averaged.of(np.zeros((X.shape[1], self._M.values.shape[1])))
        self._forget_window(X.shape[1])
        self._clock = self.n_violated_ = 0

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._set_up(X, Y)
        X, Y = by_levels(X, Y)
        instances, labels = as_rows(X), as_rows(Y, np.float64)
        nodes, size = positive_nodes(labels), int(self.preferences_per_epoch)
        labelled = np.unique(nodes.rows)
        same = self.arcs == "instance"
        both = self._codes_learn and self.update == "perceptron"
        for _ in track(range(self.epochs * (1 + both)), type(self).__name__, self.verbose):
            at = self._seed, self._clock
            if self.update == "adagrad":
                self._learn_instances(instances, labels, random_rows(labelled, size, *at))
            else:
                self._learn_arcs(instances, random_arcs(labels, nodes, size, *at, same))

    def rows_drawn(self, Y: sp.csr_array) -> Int64 | None:
        """The instances that `fit` will look at, of those with relevance Y; None: it may be all.

        It needs a number as `random_state`.
        """
        if by_levels(Y, Y)[1] is not Y:
            return None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        labels, size = as_rows(Y, np.float64), int(self.preferences_per_epoch)
        nodes = positive_nodes(labels)
        if self.update == "adagrad":
            labelled, clocks = np.unique(nodes.rows), range(0, self.epochs * size, size)
            found = [random_rows(labelled, size, seed, clock) for clock in clocks]
        else:
            same, n_turns = self.arcs == "instance", self.epochs * (1 + self._codes_learn)
            clocks = range(0, n_turns * size, size)
            drawn = (random_arcs(labels, nodes, size, seed, clock, same) for clock in clocks)
            found = [np.unique(arcs[:, [0, 2]]) for arcs in drawn]
        return np.unique(np.concatenate(found))

    def _forget_window(self, n_features: int) -> None:
        self._window_X = sp.csr_array((0, n_features))
        self._window_Y = sp.csr_array((0, self.n_labels_))

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        X, Y = by_levels(X, Y)
        if self.update == "adagrad":
            self._learn_instances(as_rows(X), as_rows(Y, np.float64), np.arange(X.shape[0]))
            return
        known, same = self._window_X.shape[0], self.arcs == "instance"
        X = sp.vstack([self._window_X, sp.csr_array(X)])
        Y = sp.vstack([self._window_Y, Y])
        at = self._seed, self._clock
        arcs = arcs_in_turn(as_rows(Y, np.float64), known, WINDOW, *at, same)
        self._learn_arcs(as_rows(X), arcs)
        if not same:
            self._window_X, self._window_Y = X[-WINDOW:], Y[-WINDOW:]

    def _learn_arcs(self, X: Rows, arcs: Arcs) -> None:
        """Learn the arcs in order, in turns that end where the clock says."""
        size = int(self.preferences_per_epoch)
        done = 0
        while done < len(arcs):
            turn, past = divmod(self._clock, size)
            part = arcs[done : done + size - past]
            self.n_violated_ += self._learn_turn(X, part, turn)
            done, self._clock = done + len(part), self._clock + len(part)
            if self._clock % size == 0:
                self._end_turn(turn)

    def _learn_stated(self, X: sp.csr_array, arcs: Stated) -> None:
        if self.update == "adagrad":
            rows, Y = arcs.as_examples(X)
            order = np.arange(rows.shape[0])
            self._learn_instances(as_rows(rows), as_rows(Y[:, :-1], np.float64), order)
            return
        row = np.repeat(np.arange(arcs.n_rows), np.diff(arcs.ptr))
        nodes = np.column_stack([row, arcs.better, row, arcs.worse]).astype(np.int64)
        self._learn_arcs(as_rows(X), nodes)

    def _learn_instances(self, X: Rows, Y: Rows, order: Int64) -> None:
        rate, at = float(self.learning_rate), (self._seed, self._clock)
        steps = kernels.Steps(int(self.negatives), rate, _MARGIN, self._codes_learn)
        self.n_violated_ += int(kernels.learn_instances(X, Y, order, *at, steps, self._W, self._M))
        self._clock += len(order)

    @property
    def embedding_(self) -> Array:
        """W, s × d: the mean of all intermediate embeddings."""
        return self._W.mean().T * self._scale()

    @property
    def codes_(self) -> Array:
        """M, K × s."""
        return self._M.mean()

    def _scores(self, X: Any) -> Array:
        scores = np.empty((X.shape[0], self.n_labels_), np.float32)
        self._multiply(kernels.scores, X, scores)
        return scores

    def _first(self, X: Any, top: int | None) -> Array:
        kept = range(1, min(_MOST_KEPT, self.n_labels_) + 1)
        if type(top) is bool or not isinstance(top, int | np.integer) or top not in kept:
            return super()._first(X, top)
        labels = np.zeros((X.shape[0], top), np.int64)
        self._multiply(kernels.best, X, labels, np.empty(labels.shape, np.float32))
        silent = self._silent(X)
        if silent.any():
            labels[silent] = decoding.rank(self._prior()[None], top)
        return labels

    def _multiply(self, kernel: Callable[..., None], X: Any, *out: Array) -> None:
        """Products of the instances with W and M, by one of the two kernels, on threads."""
        H = self._W.project(as_rows(X), self.n_jobs)
        codes: Float32 = np.ascontiguousarray(self.codes_.T * self._scale(), np.float32)
        least = max(4, _SCORES_PER_THREAD // self.n_labels_)
        spans = row_chunks(len(H), self.n_jobs, least)
        run_jobs([partial(kernel, H, *span, codes, *out) for span in spans], self.n_jobs)

    def after_loading(self) -> None:
        s = self._fixed_codes.shape[1]
        if self._W.values.shape != (self.n_features_in_, s):
            raise ValueError("the embedding does not fit features and codes")
        if self._M.values.shape != (self.n_labels_, s):
            raise ValueError("the codes do not fit the labels")
        if self._seed >= 2**31 or self._clock >= 2**62:
            raise ValueError("seed or clock is out of range")
