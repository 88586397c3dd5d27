"""What a pairwise learner will cost before it is trained: bytes and seconds, primal and dual.

The figures are rough: bytes within a factor of about two, seconds on one core within about three.
"""

from typing import Any, NamedTuple, Self

import numpy as np

from labelrank.errors import InputError
from labelrank.learners.pairwise.scorer import PLAIN, UpdateRule
from labelrank.learners.pairwise.weights import primal_bytes
from labelrank.resources import available_bytes

# Measured on EUR-Lex titles with 100 to 4,341 labels, one core.
_TILE_SECONDS, _PAGE_SECONDS, _POSTING_SECONDS, _ENTRY_SECONDS = 5e-9, 0.4e-9, 1.3e-9, 30e-9
_LANE_SECONDS, _LOSS_SECONDS, _MOVE_SECONDS = 0.03e-9, 5e-9, 0.25e-9
_MISTAKES, _LATER_MISTAKES = 0.05, 0.4
_MODEST_BYTES = 2**30


class ProblemSize(NamedTuple):
    """The size of a learning problem; `squares` are Σ (occurrences)², of labels and of features."""

    n_instances: int
    n_features: int
    n_labels: int
    n_values: int
    n_relevant: int
    label_squares: float
    feature_squares: float

    @classmethod
    def of(cls, X: Any, Y: Any) -> "ProblemSize":
        n, d = X.shape
        is_sparse = hasattr(X, "indices")
        columns = np.bincount(X.indices, minlength=d) if is_sparse else np.full(d, n)
        relevant = np.bincount(Y.indices[Y.data > 0], minlength=Y.shape[1])
        return cls(
            n, d, Y.shape[1], int(columns.sum()), int(relevant.sum()),
            float(np.square(relevant, dtype=float).sum()),
            float(np.square(columns, dtype=float).sum()),
        )  # fmt: skip

    def with_constant(self) -> Self:
        """The size with one more feature, which every instance has."""
        n = self.n_instances
        return self._replace(
            n_features=self.n_features + 1, n_values=self.n_values + n,
            feature_squares=self.feature_squares + float(n) ** 2,
        )  # fmt: skip


class Cost(NamedTuple):
    """Memory and time of training in one representation, or why it cannot be had."""

    representation: str
    n_bytes: int
    seconds: float
    refusal: str | None = None

    def __str__(self) -> str:
        size = f"{self.n_bytes / 2**30:.2f} GiB, {self.seconds:.2g} s"
        return f"{self.representation}: {self.refusal or size}"


class Forecast(NamedTuple):
    """The cost of both representations."""

    primal: Cost
    dual: Cost


def forecast(
    problem: ProblemSize,
    *,
    calibrated: bool = True,
    epochs: int = 1,
    rule: UpdateRule = PLAIN,
    kernel: str = "linear",
) -> Forecast:
    """Bytes and seconds of training, primal and dual."""
    n, d, n_labels, n_values, n_relevant, label_squares, feature_squares = problem
    averaged, width = rule.averaging is not None, n_labels + calibrated
    n_bytes = primal_bytes(d, n_labels, calibrated=calibrated, averaged=averaged)
    tiles = n_relevant * (n_values / max(n, 1) * n_labels / 4)
    tiles += calibrated * n_values * n_labels / 16
    seconds = epochs * tiles * _TILE_SECONDS + n_bytes * _PAGE_SECONDS
    refusal = None if kernel == "linear" else f"kernel={kernel!r} has no weights"
    primal = Cost("primal", n_bytes, seconds, refusal)

    passes = 1.0 + _LATER_MISTAKES * (epochs - 1)
    entries = passes * (n_relevant + calibrated * n)
    mistakes = passes * _MISTAKES * n_relevant * n_labels
    words = min(entries * width / 8, 4 * mistakes)
    n_bytes = int(1.5 * (16 * n_values + 16 * entries + words + 2 * mistakes) + 8 * width * width)
    seconds = 0.5 * epochs * (
        feature_squares * _POSTING_SECONDS
        + passes * label_squares * width * _LANE_SECONDS
        + passes * (label_squares + calibrated * n * n) * _ENTRY_SECONDS
        + n_relevant * mistakes / max(width, 1) * _LOSS_SECONDS
    )  # fmt: skip
    reason = rule.needs_weights()
    return Forecast(primal, Cost("dual", n_bytes, seconds, reason and f"{reason} needs weights"))


def choose(
    representation: str, costs: Forecast, *, in_pieces: bool = False, available: int | None = None
) -> str:
    """The representation asked for; for "auto" the fastest that fits, modest ones first."""
    if representation not in ("auto", "primal", "dual"):
        raise InputError(f"got representation={representation!r}; use 'auto', 'primal' or 'dual'")
    limit = available_bytes() if available is None else available
    wanted = [cost for cost in costs if representation in ("auto", cost.representation)]
    possible = [cost for cost in wanted if cost.refusal is None and cost.n_bytes <= limit]
    if not possible:
        raise InputError(
            f"no representation fits: {'; '.join(map(str, wanted))}; available are "
            f"{limit / 2**30:.2f} GiB; {_advice(costs)}"
        )
    modest = [cost for cost in possible if cost.n_bytes <= _MODEST_BYTES]
    if in_pieces:  # may grow without end; the time of weights per instance does not grow
        return (modest or possible)[0].representation
    return min(modest or possible, key=lambda cost: cost.seconds).representation


def _advice(costs: Forecast) -> str:
    if costs.dual.refusal is not None and "random" in costs.dual.refusal:
        return "use init='zeros', with which mistakes stand for weights (representation='dual')"
    return "use fewer labels or features, a shortlist, or the other representation"


def linear_cost(n_features: int, n_labels: int, n_values: int, *, averaged: bool) -> Cost:
    """Of one weight vector per label: every value met scores and moves all labels."""
    weights = n_features * -(-n_labels // 16) * 16
    n_bytes = weights * (12 if averaged else 4)
    seconds = n_values * n_labels * _MOVE_SECONDS * (2 if averaged else 1) + n_bytes * _PAGE_SECONDS
    return Cost("linear", n_bytes, seconds)


def forecasts(learner: Any, X: Any, Y: Any) -> dict[str, str]:
    """What a learner with a method `forecast` expects of this problem, and what it would choose."""
    if not hasattr(learner, "forecast"):
        return {}
    costs = learner.forecast(X, Y)
    costs = costs if isinstance(costs, Forecast) else (costs,)
    found = {cost.representation: str(cost).partition(": ")[2] for cost in costs}
    if isinstance(costs, Forecast):
        found["chosen"] = choose(learner.representation, costs)
    return found
