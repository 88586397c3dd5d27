"""What a pairwise learner asks of the thing that holds its perceptrons, primal or dual.

K labels, K' = K, or K + 1 with the threshold label Θ, whose index is always K, the last one.
One perceptron per pair u < v; its margin is positive where u beats v, and a margin of 0 is
decided for u, the smaller index. `[u, v]` and `[v, u]` of any matrix of margins are negatives
of each other. A scorer keeps its state in plain attributes (arrays, numbers, strings), so that
a model file can hold it.
"""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from labelrank.rows import Rows

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


class Rule(NamedTuple):
    """How a perceptron moves.

    `margin` None is the rule of the paper: a mistake is sgn(x·w) != y with sgn(0) = +1, and moves
    w by ±2x; a number m moves it while y·(x·w) <= m. `step` "pa" is the passive-aggressive
    PA-I step with limit C for the hinge loss max(0, 1 - y·(x·w)), and `margin` has no say then.
    `averaging` "averaged" predicts by the mean of the weights after each example the pair
    was trained on. `init` "random" starts from small normal numbers drawn by `seed`.
    """

    margin: float | None = None
    step: str = "perceptron"
    C: float = 1.0
    averaging: str | None = None
    init: str = "zeros"
    seed: int = 0


class Lesson(NamedTuple):
    """What one pass did: pairs shown to their perceptron, and those that moved it."""

    trained: int
    mistakes: int


class PairScorer(Protocol):
    """All perceptrons of a pairwise learner.

    Made by `Scorer(n_features, n_labels, calibrated=..., ordered=..., rule=Rule(...), ...)`, where
    n_labels is K: Θ is not counted.
    """

    @property
    def n_features(self) -> int: ...

    @property
    def n_labels(self) -> int: ...

    @property
    def calibrated(self) -> bool: ...

    def learn(
        self, X: Rows, Y: sp.csr_array, order: npt.NDArray[np.int64], n_jobs: int | None = None
    ) -> Lesson:
        """One pass over the rows named by `order`, in that order, and the arcs they state.

        Relevant over irrelevant; with Θ also relevant over Θ and Θ over irrelevant; with
        `ordered` also relevant over strictly less relevant. Unknown (NaN) labels state nothing.
        """
        ...

    def votes(self, X: Rows, n_jobs: int | None = None) -> tuple[Float64, Float64]:
        """Won duels and summed margins, both n × K', without ever holding n × K' × K' numbers."""
        ...

    def margins(self, X: Rows) -> Float32:
        """All margins, n × K' × K': `[i, u, v] > 0` says that u beat v. For few rows at a time."""
        ...

    def duels_of(
        self, X: Rows, instances: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]
    ) -> Float32:
        """Row `labels[j]` of the margins of instance `instances[j]`, as m × K'.

        What quick voting asks round by round: of each unfinished instance its leader's duels.
        """
        ...

    def weights(self, u: int, v: int) -> Float32:
        """The vector (d,) whose inner product with x is the margin of u over v."""
        ...

    def widen(self, n_labels: int) -> None:
        """Make room for labels declared later; they come after the known ones, before Θ."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory held by what was learned."""
        ...


def n_pairs(n_labels: int, calibrated: bool) -> int:
    """Perceptrons of K labels, Θ counted if calibrated: the inner products of one prediction."""
    k = n_labels + int(calibrated)
    return k * (k - 1) // 2
