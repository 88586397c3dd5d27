"""What a pairwise learner asks of the thing that holds its perceptrons.

K labels; K' = K, or K + 1 with the threshold label Θ, whose index is always K, the last one.
There is one perceptron per pair u < v. Its margin is positive where u beats v, and a margin of 0
is decided for u, the smaller index. Margins `[u, v]` and `[v, u]` are negatives of each other.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float32, Float64, Int32, Int64
from labelrank.declared import nested, stored, value
from labelrank.errors import InputError
from labelrank.kernels.dual import take_rows
from labelrank.learners.pairwise.votes import break_ties, relative_to_threshold
from labelrank.preferences import Arcs
from labelrank.resources import blocks, row_chunks, run_jobs
from labelrank.rows import Rows

_IN_STEP = 1024


@stored(
    "UpdateRule", 1, margin=value(int, float, optional=True), step=value(str),
    C=value(int, float), averaging=value(str, optional=True), init=value(str),
    seed=value(int, least=0),
)  # fmt: skip
class UpdateRule(NamedTuple):
    """How a perceptron moves: the parameters of `PairwisePerceptron` with these names."""

    margin: float | None = None
    step: str = "perceptron"
    C: float = 1.0
    averaging: str | None = None
    init: str = "zeros"
    seed: int = 0

    def needs_weights(self) -> str | None:
        """The first choice that only weights can follow, as text; mistakes follow the others."""
        for name in ("step", "averaging", "init"):
            if getattr(self, name) != getattr(PLAIN, name):
                return f"{name}={getattr(self, name)!r}"
        return None


PLAIN = UpdateRule()


class QuickVotes(NamedTuple):
    """Votes over those of Θ, exact for the set and its order; and the duels looked at, (n,)."""

    scores: Float64
    evaluations: Int64


class Lesson(NamedTuple):
    """What one pass did: pairs shown to their perceptron, and those that moved it."""

    trained: int
    mistakes: int


Course = Callable[[Int64], Lesson]


@stored(
    None, n_features=value(int, least=0), n_labels=value(int, least=1, length="K"),
    calibrated=value(bool), ordered=value(bool), rule=nested("UpdateRule"),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class PairScorer(ABC):
    """All perceptrons of a pairwise learner, held as weights or as mistakes."""

    n_features: int
    n_labels: int
    _: KW_ONLY
    calibrated: bool
    ordered: bool
    rule: UpdateRule = PLAIN

    @property
    def width(self) -> int:
        return self.n_labels + int(self.calibrated)

    @property
    def duels_each(self) -> int:
        """Inner products of one prediction: one for each pair of labels."""
        return self.width * (self.width - 1) // 2

    @abstractmethod
    def course(
        self, X: Rows, Y: sp.csr_array, n_jobs: int | None = None, *, until_no_error: bool = False
    ) -> Course:
        """A function for one pass over the rows its argument names; checks come first."""

    @abstractmethod
    def learn_arcs(
        self, rows: Callable[[Any], Rows], X: sp.csr_array, arcs: Arcs, n_jobs: int | None = None
    ) -> Lesson:
        """Learn the arcs of instances, which `rows` makes ready, by the perceptrons of their pairs.

        These are independent: only arcs of the same pair must keep their order.
        """

    @abstractmethod
    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        """Won duels and summed margins, both n × K', without holding n × K' × K' numbers."""

    @abstractmethod
    def margins(self, X: Rows) -> Float32:
        """All margins, n × K' × K'. For few rows at a time."""

    @abstractmethod
    def duels_of(self, X: Rows, instances: Int64, labels: Int64) -> Float32:
        """Row `labels[j]` of the margins of instance `instances[j]`, as m × K'."""

    def quick_losses(
        self, X: Rows, losses: Int32, evaluations: Int64, n_jobs: int | None = None
    ) -> None:
        """Quick voting, into `losses` (n × K') and `evaluations` (n,), both zeros."""

        def rounds(first: int, last: int) -> None:
            for piece in blocks(last - first, _IN_STEP):
                span = slice(first + piece.start, first + piece.stop)
                active = np.arange(span.start, span.stop)
                labels = np.full(len(active), self.n_labels, np.int64)
                shape = (len(active), self.n_labels + 1)
                state, hint = np.zeros(shape, np.uint8), np.empty(shape)
                while len(active):
                    duels, at = self.duels_of(X, active, labels), active - span.start
                    take_rows(at, labels, duels, losses[span], state, hint, evaluations[span])
                    active, labels = active[labels >= 0], labels[labels >= 0]

        spans = row_chunks(X.n_rows, n_jobs, least=64)
        run_jobs([partial(rounds, *span) for span in spans], n_jobs)

    @abstractmethod
    def weights(self, u: int, v: int) -> Float32:
        """The vector (d,) whose inner product with x is the margin of u over v."""

    @abstractmethod
    def widened(self, n_labels: int) -> Self:
        """A copy with room for labels declared later, after the known ones and before Θ."""

    def scores(self, X: Rows, tie_break: str | None, n_jobs: int | None = None) -> Float64:
        """Votes of the K labels, less those of Θ if calibrated."""
        votes, sums = self.votes(X, n_jobs)
        scores = votes if tie_break is None else break_ties(votes, sums)
        return relative_to_threshold(scores, self.calibrated)

    def check_rows(self, X: Rows) -> None:
        """Raise InputError for rows that the kernels would not fit; they check no index."""
        if X.n_columns != self.n_features or X.data.dtype != np.float32:
            raise InputError(
                f"X must be float32 with {self.n_features} columns; "
                f"got {X.data.dtype} with {X.n_columns}"
            )

    def check_lesson(self, X: Rows, Y: sp.csr_array) -> None:
        """Raise InputError for instances and relevance that do not fit each other or the labels."""
        self.check_rows(X)
        if Y.shape != (X.n_rows, self.n_labels):
            raise InputError(
                f"Y must be {X.n_rows} rows of {self.n_labels} labels; "
                f"got {Y.shape[0]} of {Y.shape[1]}"
            )
        if not np.isfinite(X.data).all():
            raise InputError("got X with values beyond float32 (about 3e38); scale the features")


def within(name: str, numbers: Any, end: int, dtype: type = np.int64) -> Array:
    """The numbers as an array for kernels, or an InputError unless all are from 0 to end - 1."""
    checked: Array = np.ascontiguousarray(numbers, dtype)
    if checked.size and not 0 <= checked.min() <= checked.max() < end:
        raise InputError(
            f"{name} must be from 0 to {end - 1}; got {checked.min()} to {checked.max()}"
        )
    return checked


def quick_voting(scorer: PairScorer, X: Rows, n_jobs: int | None = None) -> QuickVotes:
    """The set and order of full voting with `tie_break=None`, by as few duels as possible."""
    losses = np.zeros((X.n_rows, scorer.n_labels + 1), np.int32)
    evaluations = np.zeros(X.n_rows, np.int64)
    scorer.quick_losses(X, losses, evaluations, n_jobs)
    return QuickVotes((losses[:, -1:] - losses[:, :-1]).astype(np.float64), evaluations)
