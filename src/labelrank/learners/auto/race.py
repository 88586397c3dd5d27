"""A race of learners on held-out data: all of them on few instances, the best on ever more.

Successive halving (Karnin et al. 2013; Jamieson & Talwalkar 2016) with a clock: a trial begins only
if, by what trials have taken so far, it and the final fit of the best will end within the budget.
"""

import contextlib
import time
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from labelrank._estimators import BaseEstimator
from labelrank._types import Array, Float64
from labelrank.declared import array, stored, value
from labelrank.errors import InputError
from labelrank.learners.margins.binary_relevance import BinaryRelevanceSVM
from labelrank.learners.margins.prosvm import ProSVM
from labelrank.learners.neighbors import MLkNN
from labelrank.learners.thresholded import METRICS, best_threshold
from labelrank.metrics import criteria
from labelrank.metrics.criteria import Criterion
from labelrank.resources import run_jobs

# Dual variables of preferences between two labels that are still worth their memory.
MOST_ARCS = 100_000_000

# Powers of the values, and of the (smoothed, logarithmic) inverse document frequency.
WAYS = {
    "damped": (0.75, 0.0),
    "damped, rare favoured": (0.75, 0.5),
    "damped, common favoured": (0.75, -0.5),
    "common favoured": (1.0, -0.5),
}

# How far the cut falls for a label ten times as rare; the held-out instances choose.
TILTS = (0.0, 0.1)
HELD = 5
MOST_HELD = 8_000_000
ENOUGH = 900
LEAST = 3000
KEPT = 2
WARMING = 50
# A round with nearly as many instances as the next tells nothing else.
ALIKE = 0.9


def candidates(kind: str, X: Any, Y: sp.csr_array) -> dict[str, BaseEstimator]:
    """Named learners, unfitted, for a criterion of "sets", of the "top" or of the whole "order"."""
    unit, dense = _mean_square(X), not sp.issparse(X)
    near = {"ML-kNN": MLkNN()} if dense else {}
    svm: dict[str, Any] = {
        f"SVM C={C:g}": BinaryRelevanceSVM(C=C / unit, fit_intercept=True, tol=0.1)
        for C in (0.5, 0.25, 1.0)
    }
    if kind != "order":
        return svm | near
    relevant = (Y > 0).sum(axis=1)
    many = float((relevant * (Y.shape[1] - relevant)).sum()) > MOST_ARCS
    # After three epochs hardly the ranking changes; an intercept is worse for texts.
    pro: dict[str, Any] = {
        f"{'ProSVM-A' if many else 'ProSVM'} C={C:g}": ProSVM(
            C=C / unit, approximate=many, fit_intercept=dense, max_iter=3
        )
        for C in (40, 20)
    }
    return pro | {"SVM C=0.5": svm["SVM C=0.5"]} | near


def for_share(learner: BaseEstimator, share: float) -> BaseEstimator:
    """The learner for a share of its instances: a one-vs-rest SVM is then best with a larger C."""
    if not isinstance(learner, BinaryRelevanceSVM):
        return learner
    return clone(learner).set_params(C=learner.C / share**0.5)


def _mean_square(X: Any) -> float:
    """Mean squared length of the rows; 1 where all are zero."""
    values = X.data if sp.issparse(X) else np.asarray(X)
    with np.errstate(over="ignore"):
        total = float(np.square(values, dtype=np.float64).sum()) / max(X.shape[0], 1)
    if not np.isfinite(total):
        raise InputError(
            f"got features as large as {float(np.abs(values).max()):.3g}, whose squares overflow; "
            "scale them, the rows to length 1 for example"
        )
    return total or 1.0


@stored(
    "Weighting", 1, power=value(float, least=0.0), factors=array("f8", "features", optional=True)
)
class Weighting(NamedTuple):
    """x_j becomes x_j^power · factors_j, and the row gets its length back; None leaves all be."""

    power: float = 1.0
    factors: Float64 | None = None

    def __call__(self, X: Any) -> Any:
        if self.factors is None:
            return X
        rows = sp.csr_array(X)
        factors = self.factors[rows.indices].astype(rows.dtype)
        values = np.sign(rows.data) * np.abs(rows.data) ** self.power * factors
        before, after = (_lengths(rows, data) for data in (rows.data, values))
        scale = np.divide(before, after, out=np.zeros_like(after), where=after > 0)
        values *= np.repeat(scale, np.diff(rows.indptr)).astype(rows.dtype)
        return sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def weightings(X: Any) -> dict[str, Weighting]:
    """Named ways to weight; dense or signed features are no counts and stay as given."""
    ways = {"as given": Weighting()}
    if not sp.issparse(X) or (X.nnz and X.data.min() < 0):
        return ways
    counts = np.bincount(X.indices[X.data > 0], minlength=X.shape[1])
    rarity = np.log((X.shape[0] + 1.0) / (counts + 1.0)) + 1.0
    return ways | {name: Weighting(p, rarity**e) for name, (p, e) in WAYS.items()}


def _lengths(rows: sp.csr_array, data: Array) -> Array:
    squares = sp.csr_array((np.square(data), rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(np.sqrt(squares @ np.ones(rows.shape[1], rows.dtype)))


class Trial(NamedTuple):
    """One learner fitted on some instances, judged by others; `value` is larger for the better."""

    name: str
    weighting: str
    n_instances: int
    value: float
    cut: float | None
    tilt: float
    seconds: float


class Goal(NamedTuple):
    """A criterion, and the criterion of sets for which the ranking is cut."""

    criterion: Criterion
    cut: str | None

    @classmethod
    def of(cls, name: str) -> "Goal":
        criterion = criteria.get(name)
        of_scores = criterion.needs == "scores"
        if criterion.direction == criteria.NEITHER or not (of_scores or criterion.name in METRICS):
            raise InputError(
                f"got criterion={name!r}, for which no cut can be tuned; use one of "
                f"{', '.join(METRICS)}, or a criterion of rankings such as 'ranking_loss'"
            )
        if criterion.name == "pro_loss":
            return cls(criterion, None)
        return cls(criterion, "micro_f1" if of_scores else criterion.name)

    @property
    def kind(self) -> str:
        """What the criterion looks at: sets, the top of the ranking, or the whole order."""
        if self.criterion.needs == "sets":
            return "sets"
        return "top" if self.criterion.of_top else "order"

    def judge(
        self, Y: sp.csr_array, scores: Array, rarity: Array
    ) -> tuple[float, float | None, float]:
        """How good the scores are (larger is better), where sets are cut best, with what tilt."""
        if self.criterion.needs != "sets":
            return self._value(Y, scores), None, 0.0
        judged = []
        for tilt in TILTS:
            tilted = scores + (tilt * rarity).astype(scores.dtype)
            cut = float(best_threshold(Y, tilted, str(self.cut)))
            judged.append((self._value(Y, sp.csr_array(tilted > cut)), cut, tilt))
        return max(judged, key=lambda one: one[0])

    def _value(self, Y: sp.csr_array, given: Any) -> float:
        return self.criterion.direction * self.criterion(Y, given)


def rarity(Y: sp.csr_array) -> Array:
    """Of each label, how many powers of ten fewer instances have it than there are."""
    counts = np.bincount(Y.indices[Y.data > 0], minlength=Y.shape[1])
    return np.log10((Y.shape[0] + 1.0) / (counts + 1.0))


@dataclass(eq=False)
class Race:
    """Learners on the same parts of the data; `trials` are those run, `skipped` those not begun."""

    X: Any
    Y: sp.csr_array
    goal: Goal
    learners: dict[str, BaseEstimator]
    ways: dict[str, Weighting]
    _: KW_ONLY
    budget: float
    random: Any
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self.parts = _parts(self.X.shape[0], self.Y.shape[1], self.random)
        self.judges = np.concatenate([held for held, _ in self.parts])
        self.rarity = rarity(self.Y)
        self.began = time.perf_counter()
        self.trials: list[Trial] = []
        self.skipped: list[tuple[str, str, int]] = []
        self.warmed: set[type] = set()
        self._best_scores: Array = np.empty((0, 0))

    @property
    def sizes(self) -> list[int]:
        """Instances of each round; whole orders are told apart on fewer than tops and sets are."""
        whole = len(self.parts[0][1])
        wanted = (max(LEAST, whole // 8), whole)
        if self.goal.kind == "order":
            wanted = (max(LEAST // 2, whole // 16), max(2 * LEAST, whole // 4))
        first, last = (min(whole, part) for part in wanted)
        return [last] if first > ALIKE * last else [first, last]

    def run(self) -> Iterator[str]:
        """Race, yielding the name of each learner before its trial."""
        least, *larger = self.sizes
        first, *others = self.learners
        yield from self._round([(first, way) for way in self.ways], least)
        best = self.best()
        if best is None:
            return
        yield from self._round([(name, best.weighting) for name in others], least)
        for size in larger:
            best_so_far = self.at(least)[:KEPT]
            yield from self._round([(one.name, one.weighting) for one in best_so_far], size)
        best = self.best()
        if best is not None and best.cut is None:
            truth, metric = self.Y[self.judges], self.goal.cut
            cut = float(best_threshold(truth, self._best_scores, metric)) if metric else 0.0
            self.trials[self.trials.index(best)] = best._replace(cut=cut)

    def at(self, size: int) -> list[Trial]:
        ran = [trial for trial in self.trials if trial.n_instances == size]
        return sorted(ran, key=lambda trial: -trial.value)

    def best(self) -> Trial | None:
        """The best of the largest round that has a trial."""
        rounds = [self.at(size) for size in reversed(self.sizes)]
        return next((ran[0] for ran in rounds if ran), None)

    def _round(self, entered: list[tuple[str, str]], size: int) -> Iterator[str]:
        """Trials of (learner, weighting); those there is no time for are skipped."""
        width = effective_n_jobs(self.n_jobs)
        for start in range(0, len(entered), width):
            jobs = []
            for name, way in entered[start : start + width]:
                if self._has_time(name, size):
                    yield name
                    self._warm(self.learners[name])
                    jobs.append(partial(self._try, name, way, size))
                else:
                    self.skipped.append((name, way, size))
            for trial, scores in run_jobs(jobs, self.n_jobs):
                self.trials.append(trial)
                if self.best() is trial:
                    self._best_scores = scores

    def _try(self, name: str, way: str, size: int) -> tuple[Trial, Array]:
        learner = for_share(self.learners[name], size / self.X.shape[0])
        start = time.perf_counter()
        weighted, by_part = self.ways[way], []
        for held, rest in self.parts:
            rows = np.sort(rest[:size])
            model = fitted(learner, weighted(self.X[rows]), self.Y[rows])
            by_part.append(model.decision_function(weighted(self.X[held])))
        scores = np.vstack(by_part)
        judged = self.goal.judge(self.Y[self.judges], scores, self.rarity)
        return Trial(name, way, size, *judged, time.perf_counter() - start), scores

    def _warm(self, learner: BaseEstimator) -> None:
        """Let a kind of learner load or compile its kernels, so that no trial is timed with it."""
        if type(learner) not in self.warmed:
            self.warmed.add(type(learner))
            rows = np.sort(self.parts[0][1][:WARMING])
            with contextlib.suppress(ValueError):  # so few may be refused: the trial will say why
                fitted(learner, self.X[rows], self.Y[rows])

    def told(self) -> list[dict[str, Any]]:
        """The trials as plain values, in their order, then what there was no time for."""
        sign = self.goal.criterion.direction
        keys = ("name", "weighting", "n_instances", "score", "cut", "tilt", "seconds")
        ran = [tuple(trial._replace(value=sign * trial.value)) for trial in self.trials]
        skipped = [(*one, None, None, None, None) for one in self.skipped]
        return [dict(zip(keys, one, strict=True)) for one in ran + skipped]

    def _has_time(self, name: str, size: int) -> bool:
        """Whether the trial and a fit of the best thereafter should end in time."""
        best = self.best()
        if best is None:
            return True
        could_win = (name, best.name)
        after = max(self._expected(one, self.X.shape[0]) for one in could_win)
        spent = time.perf_counter() - self.began
        return spent + len(self.parts) * self._expected(name, size) + after <= self.budget

    def _expected(self, name: str, size: int) -> float:
        """Seconds of a fit, as the instances: by its own last trial, else by the slowest."""
        own = [trial for trial in self.trials if trial.name == name][-1:]
        rates = [trial.seconds / trial.n_instances for trial in own or self.trials]
        return max(rates) * size / len(self.parts)


def _parts(n: int, n_labels: int, random: Any) -> list[tuple[Array, Array]]:
    """Held-out instances and the others, shuffled: one part, or several where it would be small."""
    order = random.permutation(n)
    n_held = max(1, min(n // HELD, max(LEAST // 4, MOST_HELD // max(n_labels, 1))))
    n_parts = min(n // n_held, HELD, -(-ENOUGH // n_held))
    parts = np.split(order[: n_parts * n_held], n_parts)
    return [(np.sort(held), order[~np.isin(order, held)]) for held in parts]


def fitted(learner: BaseEstimator, X: Any, Y: sp.csr_array) -> Any:
    """A fitted copy; that it stops before it has converged is meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(learner).fit(X, Y)
