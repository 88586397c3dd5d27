"""A race of learners on held-out data: all of them on few instances, the best on ever more.

Successive halving (Karnin et al. 2013; Jamieson & Talwalkar 2016) with an allowance of work: a
trial begins only if what it is forecast to cost is left. So the turns depend on the data alone,
not on the machine; a clock is there too, but only as a brake.
"""

import math
import time
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from labelrank._estimators import BaseEstimator
from labelrank._types import Array
from labelrank.errors import InputError, LabelrankError, OutOfTimeError
from labelrank.learners.around import seeded
from labelrank.learners.auto.blend import Blend, Line, best_blend
from labelrank.learners.auto.candidates import Candidate, Size
from labelrank.learners.auto.goal import Goal, Judged
from labelrank.learners.auto.weighting import AS_GIVEN, Weighting
from labelrank.resources import check_time, n_threads, run_jobs, until

HELD = 5
MOST_HELD = 8_000_000
ENOUGH = 900
LEAST = 3000
KEPT = 2
# A round with nearly as many instances as the next tells nothing else.
ALIKE = 0.9
# What the race may take of the work that is allowed; the rest is for learning from all the data.
RACING = 0.6
# So many trials tell the pace of the machine.
_TELLING = 3


class Trial(NamedTuple):
    """One learner fitted on some instances, judged by others."""

    name: str
    weighting: str
    n_instances: int
    judged: Judged
    work: float
    seconds: float


@dataclass(eq=False)
class Race:
    """Learners on the same parts of the data; `trials` are those run, `skipped` those not begun or
    refused by the learner."""

    X: Any
    Y: sp.csr_array
    goal: Goal
    field: dict[str, Candidate]
    ways: dict[str, Weighting]
    _: KW_ONLY
    allowed: float
    budget: float
    random: Any
    seed: int = 0
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        self.size = Size.of(self.X, self.Y)
        self.tried, self.ways = list(self.ways), {AS_GIVEN: Weighting()} | self.ways
        self.parts = _parts(self.X.shape[0], self.Y.shape[1], self.random)
        self.judges = np.concatenate([held for held, _ in self.parts])
        self.began = time.perf_counter()
        self.spent, self.braked = 0.0, False
        self.trials: list[Trial] = []
        self.skipped: list[tuple[str, str, int]] = []
        self.refused: list[LabelrankError] = []
        self.scores: dict[tuple[str, str], Array] = {}

    @property
    def has_enough(self) -> bool:
        """Whether there are instances to hold out."""
        return self.X.shape[0] >= 2 * HELD

    @property
    def sizes(self) -> list[int]:
        """Instances of each round."""
        whole = len(self.parts[0][1])
        first = min(whole, max(LEAST, whole // 8))
        return [whole] if first > ALIKE * whole else [first, whole]

    def run(self) -> Iterator[str]:
        """Race, yielding the name of each learner before its trial."""
        least, *larger = self.sizes
        lead, *others = self.field
        yield from self._round([(lead, way) for way in self._ways_of(lead)], least)
        if not (self.trials or self.refused):
            return
        yield from self._round([(name, self._ways_of(name)[0]) for name in others], least)
        if not self.trials:
            raise self.refused[0]
        for size in larger:
            yield from self._round(self._finalists(least), size)

    def at(self, size: int) -> list[Trial]:
        """The trials of a round, the best first."""
        ran = [trial for trial in self.trials if trial.n_instances == size]
        return sorted(ran, key=lambda trial: -trial.judged.value)

    def ranked(self) -> list[Trial]:
        """The trials of the largest round that has one, the best first."""
        rounds = [self.at(size) for size in reversed(self.sizes)]
        return next((ran for ran in rounds if ran), [])

    def made(self, name: str, rows: int) -> BaseEstimator:
        """The learner for so many of the rows, with the seed and the threads it has not itself."""
        learner = seeded(self.field[name].made(rows / self.size.rows), self.seed)
        if learner.get_params(deep=False).get("n_jobs", 0) is None:
            learner.set_params(n_jobs=self.n_jobs)
        return learner

    def cost(self, name: str, rows: int | None = None) -> float:
        """What a fit is forecast to cost."""
        return self.field[name].cost(self.size.part(self.size.rows if rows is None else rows))

    def _ways_of(self, name: str) -> list[str]:
        """How features are weighted for a learner: as is best for the first, which tries all."""
        if not self.field[name].weighted:
            return [AS_GIVEN]
        ran = self.ranked()
        return [ran[0].weighting] if ran else self.tried

    def _finalists(self, size: int) -> list[tuple[str, str]]:
        """The best few, and the best of each other kind."""
        ran, kinds = self.at(size), set()
        entered = []
        for place, trial in enumerate(ran):
            kind = self.field[trial.name].kind
            if place < KEPT or kind not in kinds:
                entered.append((trial.name, trial.weighting))
            kinds.add(kind)
        return entered

    def _round(self, entered: list[tuple[str, str]], size: int) -> Iterator[str]:
        """Trials of (learner, weighting); those for which no work is left are skipped."""
        admitted = [one for one in entered if self._admits(*one, size)]
        width = n_threads(self.n_jobs)
        for start in range(0, len(admitted), width):
            jobs = []
            for name, way in admitted[start : start + width]:
                if self._has_time(name, size):
                    yield name
                    jobs.append(partial(self._try, name, way, size))
                else:
                    self.braked = True
                    self.skipped.append((name, way, size))
            for done in run_jobs(jobs, self.n_jobs):
                if isinstance(done, OutOfTimeError):
                    self.braked = True
                elif isinstance(done, LabelrankError):
                    self.refused.append(done)
                else:
                    self.trials.append(done[0])
                    self._keep(*done)

    def _keep(self, trial: Trial, scores: Array) -> None:
        """Keep the scores of the largest round only."""
        if any(one.n_instances < trial.n_instances for one in self.trials):
            self.scores = {
                (one.name, one.weighting): self.scores[one.name, one.weighting]
                for one in self.at(trial.n_instances)
                if one is not trial
            }
        self.scores[trial.name, trial.weighting] = scores

    def _admits(self, name: str, way: str, size: int) -> bool:
        """Whether there is work left for the trial, and for learning from all the data after it."""
        work = len(self.parts) * self.cost(name, size)
        begun = bool(self.trials) or self.spent > 0
        last = self.cost(name)
        if begun and (
            self.spent + work > RACING * self.allowed or last > (1 - RACING) * self.allowed
        ):
            self.skipped.append((name, way, size))
            return False
        self.spent += work
        return True

    def _try(self, name: str, way: str, size: int) -> tuple[Trial, Array] | LabelrankError:
        """A trial with its scores; or why the learner takes no such data (it may lack memory)."""
        try:
            with until(self._end(*self.ranked()[:1]) if self.trials else math.inf):
                return self._tried(name, way, size)
        except (InputError, OutOfTimeError) as refusal:
            self.skipped.append((name, way, size))
            return refusal

    def _tried(self, name: str, way: str, size: int) -> tuple[Trial, Array]:
        learner, start = self.made(name, size), time.perf_counter()
        weighted, by_part = self.ways[way], []
        for held, rest in self.parts:
            check_time()
            rows = np.sort(rest[:size])
            model = fitted(learner, weighted(self.X[rows]), self.Y[rows])
            by_part.append(model.decision_function(weighted(self.X[held])))
        scores = np.vstack(by_part)
        judged = self.goal.judge(self.Y[self.judges], scores)
        work = len(self.parts) * self.cost(name, size)
        return Trial(name, way, size, judged, work, time.perf_counter() - start), scores

    def guessing(self) -> Judged:
        """What ranking by frequency, or by mean grade, is worth to the judges."""
        counts = np.bincount(self.Y.indices[self.Y.data > 0], minlength=self.Y.shape[1])
        frequency = (counts / self.size.rows).astype(np.float32)
        truth, n_judges = self.Y[self.judges], len(self.judges)
        judged = self.goal.judge(truth, np.tile(frequency, (n_judges, 1)))
        if not self.goal.graded:
            return judged
        grades = np.nan_to_num(self.Y.toarray()).mean(axis=0, dtype=np.float64)
        return max(judged, self.goal.judge(truth, np.tile(grades, (n_judges, 1))))

    def first(self) -> tuple[str, str]:
        """What is taken where nothing can be tried."""
        name = next(iter(self.field))
        return name, self._ways_of(name)[0]

    def last(self, name: str, way: str) -> Any:
        """The learner, fitted on all instances."""
        return fitted(self.made(name, self.size.rows), self.ways[way](self.X), self.Y)

    def blend(self, ranked: list[Trial]) -> tuple[Blend, list[Line]] | None:
        """A blend of what was tried on most instances, and the lines of all of that."""
        truth, lines, scores = self.Y[self.judges], [], []
        levels = self.goal.levels(truth)
        for trial in ranked:
            given = self.scores[trial.name, trial.weighting]
            lines.append(Line.of(levels, given, shares=self.field[trial.name].shares))
            scores.append(lines[-1](given))
        costs = [self.cost(trial.name) for trial in ranked]
        left, single = self.allowed - self.spent, ranked[0].judged.value
        found = best_blend(self.goal, truth, scores, costs, left, single)
        if found is None:
            return None
        if time.perf_counter() > self._end(*(ranked[k] for k in found.shares)):
            self.braked = True
            return None
        return found, lines

    def told(self) -> list[dict[str, Any]]:
        """The trials as plain values, in their order, then what there was no work or time for."""
        sign = self.goal.criterion.direction
        keys = ("name", "weighting", "n_instances", "score", "cut", "tilt", "work", "seconds")
        ran = [
            (t.name, t.weighting, t.n_instances, sign * t.judged.value, *t.judged[1:], t.work,
             t.seconds)
            for t in self.trials
        ]  # fmt: skip
        skipped = [(*one, None, None, None, None, None) for one in self.skipped]
        return [dict(zip(keys, one, strict=True)) for one in ran + skipped]

    def _has_time(self, name: str, size: int) -> bool:
        """Whether, at the usual pace, the trial and the last fit should end within the budget.

        The first trials tell no pace: kernels may have been compiled in them.
        """
        paces = [trial.seconds / trial.work for trial in self.trials]
        pace = float(np.median(paces)) if len(paces) >= _TELLING else 0.0
        work = len(self.parts) * self.cost(name, size) + self.cost(name)
        spent = time.perf_counter() - self.began
        return spent + pace * work <= self.budget

    def _end(self, *chosen: Trial) -> float:
        """When the race must end, so that the chosen ones can learn from all the data."""
        last = sum(one.seconds / one.work * self.cost(one.name) for one in chosen)
        return self.began + self.budget - last


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
