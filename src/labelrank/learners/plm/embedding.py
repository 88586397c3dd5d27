"""What the embedding learners share: arcs, steps of learning, scores without an n × K array."""

from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.kernels import top as top_kernels
from labelrank.kernels.embedding import learn_embedding
from labelrank.kernels.instance_arcs import learn_instances
from labelrank.learners.base import IncrementalRanker
from labelrank.learners.plm.averaged_matrix import Averaged
from labelrank.learners.plm.sampling import (
    Arcs,
    arcs_in_turn,
    positive_nodes,
    random_arcs,
    random_rows,
)
from labelrank.resources import row_chunks, run_jobs, track
from labelrank.rows import Rows, as_rows

WINDOW = 256
_MARGIN = 1.0
_MOST_KEPT = 200


class EmbeddingRanker(IncrementalRanker):
    """What EC-PLM and EP-PLM share: arcs, steps of learning, scores without an n × K array."""

    _calibrated = False
    _codes_learn = False

    n_components: int
    epochs: int
    preferences_per_epoch: int
    arcs: str
    update: str
    negatives: int
    learning_rate: float
    n_jobs: int | None
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("arcs", self.arcs, ("any", "instance"))
        check_choice("update", self.update, ("perceptron", "adagrad"))
        for name in ("n_components", "epochs", "preferences_per_epoch", "negatives"):
            check_at_least(name, getattr(self, name), 1)
        if not self.learning_rate > 0:
            raise InputError(f"got learning_rate={self.learning_rate!r}; give a number above 0")

    def _first_codes(self, Y: sp.csr_array) -> Array:
        raise NotImplementedError

    def _steps(self) -> int:
        """Steps of `preferences_per_epoch` arcs in `fit`."""
        return self.epochs

    def _start(self, n_features: int, Y: sp.csr_array) -> None:
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._M = Averaged.of(self._first_codes(Y))
        self._W = Averaged.of(np.zeros((n_features, self._M.values.shape[1]), np.float32))
        self._code_table = self._M.values.copy()
        self._W_squares, self._M_squares = np.zeros(n_features), np.zeros(self.n_labels_)
        self._before: tuple[Rows, Rows] | None = None
        self._clock = 0
        self.n_violated_ = 0

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._start(X.shape[1], Y)
        X, Y = as_rows(X), as_rows(Y, np.float64)
        nodes, size = positive_nodes(Y), int(self.preferences_per_epoch)
        labelled = np.unique(nodes.rows)
        same = self.arcs == "instance"
        for _ in track(range(self._steps()), type(self).__name__, self.verbose):
            if self.update == "adagrad":
                self._learn_rows(X, Y, random_rows(labelled, size, self._seed, self._clock))
            else:
                self._learn_arcs(X, random_arcs(Y, nodes, size, self._seed, self._clock, same))

    def partial_fit(self, X: Any, Y: Any, classes: Any = None) -> Self:
        """Learn from more instances, in the given order: each relevant label is one arc.

        Its negative node is an irrelevant label of one of the 256 instances before (`arcs="any"`)
        or of the same one. A piece that is refused leaves the learner as it was.
        """
        before = dict(vars(self))
        try:
            return super().partial_fit(X, Y, classes)
        except InputError as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            piece = before.get("_n_pieces", 0) + 1
            raise InputError(f"piece {piece} of the stream is refused: {error}") from error

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "_W"):
            self._start(X.shape[1], Y)
        self._n_pieces = getattr(self, "_n_pieces", 0) + 1
        X, Y = as_rows(X), as_rows(Y, np.float64)
        if self.update == "adagrad":
            self._learn_rows(X, Y, np.arange(X.n_rows, dtype=np.int64))
            return
        known = 0
        if self._before is not None:
            known = self._before[0].n_rows
            X, Y = _stacked(self._before[0], X), _stacked(self._before[1], Y)
        same = self.arcs == "instance"
        self._learn_arcs(X, arcs_in_turn(Y, known, WINDOW, self._seed, self._clock, same))
        self._before = None if same else (_last(X, WINDOW), _last(Y, WINDOW))

    def _learn_arcs(self, X: Rows, arcs: Arcs) -> None:
        """Learn the arcs in order, in steps that end where the clock says."""
        size = int(self.preferences_per_epoch)
        done = 0
        while done < len(arcs):
            part = arcs[done : done + size - self._clock % size]
            self.n_violated_ += self._step(X, part, self._clock // size)
            done, self._clock = done + len(part), self._clock + len(part)
            if self._clock % size == 0:
                self._close(self._clock // size - 1)

    def _step(self, X: Rows, arcs: Arcs, number: int) -> int:
        return learn_embedding(*X[:3], arcs, self._code_table, *self._W)

    def _close(self, number: int) -> None:
        """End of a step."""

    def _learn_rows(self, X: Rows, Y: Rows, order: npt.NDArray[np.int64]) -> None:
        self.n_violated_ += learn_instances(
            *X[:3], *Y[:3], order, self._seed, self._clock, int(self.negatives),
            float(self.learning_rate), _MARGIN, *self._W, self._W_squares,
            *self._M, self._M_squares, self._codes_learn,
        )  # fmt: skip
        self._clock += len(order)

    @property
    def embedding_(self) -> Array:
        """W, s × d: the mean of all intermediate embeddings."""
        return self._W.mean().T * self._factor()

    def _factor(self) -> np.float32:
        """What the scores are multiplied by."""
        return np.float32(1.0)

    @property
    def codes_(self) -> Array:
        """M, K × s."""
        return self._M.mean()

    def _columns(self) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(self.codes_.T * self._factor(), np.float32)

    def _scores(self, X: Any) -> Array:
        H = self._W.project(as_rows(X), self.n_jobs)
        out = np.empty((len(H), self.n_labels_), np.float32)
        score = partial(top_kernels.scores, H)
        codes = self._columns()
        run_jobs([partial(score, *s, codes, out) for s in row_chunks(len(H), self.n_jobs)],
                 self.n_jobs)  # fmt: skip
        return out

    def _top(self, X: Any, top: int) -> Array:
        if top > _MOST_KEPT:
            return super()._top(X, top)
        H = self._W.project(as_rows(X), self.n_jobs)
        labels, values = np.zeros((len(H), top), np.int64), np.empty((len(H), top), np.float32)
        best, codes = partial(top_kernels.best, H), self._columns()
        chunks = row_chunks(len(H), self.n_jobs)
        run_jobs([partial(best, *s, codes, labels, values) for s in chunks], self.n_jobs)
        return labels


def _stacked(above: Rows, below: Rows) -> Rows:
    return Rows(
        np.concatenate([above.indptr, below.indptr[1:] + above.indptr[-1]]),
        np.concatenate([above.indices, below.indices]),
        np.concatenate([above.data, below.data]),
        below.n_columns,
    )


def _last(rows: Rows, count: int) -> Rows:
    first = max(0, rows.n_rows - count)
    start = rows.indptr[first]
    return Rows(
        rows.indptr[first:] - start,
        rows.indices[start:].copy(),
        rows.data[start:].copy(),
        rows.n_columns,
    )
