"""Tables of a comparison: means over folds, the best of them, and which differences are real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrank._types import Float64
from labelrank.errors import InputError
from labelrank.evaluation import statistics
from labelrank.evaluation.cell import COSTS, smaller_is_better
from labelrank.evaluation.statistics import Friedman

if TYPE_CHECKING:
    import polars as pl

Mask = npt.NDArray[np.bool_]

ALPHA = 0.05
OVER_ALL = "(all)"


class Comparison(NamedTuple):
    """A learner tested against the best: on the folds of one data set, or over all data sets."""

    criterion: str
    dataset: str
    learner: str
    against: str
    test: str
    statistic: float
    p_value: float
    p_holm: float


@dataclass(frozen=True)
class Table:
    """One criterion: learners in rows, data sets in columns; NaN where a value is not known."""

    criterion: str
    learners: list[str]
    datasets: list[str]
    means: Float64
    deviations: Float64
    tests: list[Comparison]
    friedman: Friedman | None
    failures: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def best(self) -> Mask:
        """Whether a learner has the best mean on a data set (several may share it)."""
        return self.means == _best(self.means, self.criterion)

    @property
    def ranks(self) -> Float64 | None:
        """Mean rank of each learner, 1 the best, NaN where values lack; None without two such."""
        learners, datasets = complete(self.means)
        if learners.sum() < 2 or datasets.sum() < 2:
            return None
        found = np.full(len(learners), np.nan)
        means = self.means[np.ix_(learners, datasets)]
        lower = smaller_is_better(self.criterion)
        found[learners] = statistics.mean_ranks(means.T, smaller_is_better=lower)
        return found

    @property
    def ranked(self) -> list[str]:
        """The learners that have a value on every data set that has any."""
        return list(compress(self.learners, complete(self.means)[0]))

    @property
    def left_out(self) -> list[str]:
        """The learners, then the data sets, that no test over data sets can use."""
        learners, datasets = complete(self.means)
        return [*compress(self.learners, ~learners), *compress(self.datasets, ~datasets)]

    def is_worse(self, learner: str, dataset: str) -> bool:
        """Significantly worse than the best on that data set (paired t-test, Holm, 5 %)."""
        return any(
            test.p_holm < ALPHA
            for test in self.tests
            if (test.learner, test.dataset, test.test) == (learner, dataset, "t")
        )


def summarise(frame: pl.DataFrame, criterion: str) -> Table:
    """The table of one criterion from the frame that `compare` returns.

    Over the folds of a data set every learner is tested against the one with the best mean
    (paired t-test, Wilcoxon's signed-rank test), over two or more data sets against the one with
    the best mean rank (Wilcoxon); p-values of tests made together are adjusted by Holm. Times and
    memory are told, not tested. A test leaves out the learners that lack one of its values, and
    those over data sets leave out first the data sets on which no learner has one.

    Examples
    --------
    >>> import polars as pl
    >>> from labelrank.evaluation.tables import summarise
    >>> frame = pl.DataFrame({"dataset": ["d"] * 4, "learner": ["a", "a", "b", "b"],
    ...     "fold": [0, 1, 0, 1], "criterion": ["micro_f1"] * 4, "value": [0.5, 0.7, 0.5, 0.5]})
    >>> table = summarise(frame, "micro_f1")
    >>> table.means[:, 0].round(3).tolist(), table.best[:, 0].tolist()
    ([0.6, 0.5], [True, False])
    """
    values = _values(frame, criterion)
    datasets = list(dict.fromkeys(frame["dataset"]))
    learners = list(dict.fromkeys(frame["learner"]))
    folds = {name: [values[name, learner] for learner in learners] for name in datasets}
    means = np.array([[np.mean(one) for one in folds[name]] for name in datasets]).T
    deviations = np.array(
        [[np.std(one, ddof=1) if len(one) > 1 else np.nan for one in folds[d]] for d in datasets]
    ).T
    tests: list[Comparison] = []
    friedman = None
    if criterion not in COSTS:
        for d, name in enumerate(datasets):
            tests += _on_folds(criterion, name, learners, means[:, d], folds[name])
        rows, columns = complete(means)
        if rows.sum() > 1 and columns.sum() > 1:
            lower, shared = smaller_is_better(criterion), means[np.ix_(rows, columns)]
            friedman = statistics.friedman_nemenyi(shared.T, smaller_is_better=lower, alpha=ALPHA)
            best = int(np.argmin(friedman.mean_ranks))
            names = list(compress(learners, rows))
            tests += _tested(criterion, OVER_ALL, names, best, "Wilcoxon", list(shared))
    failures = _failures(frame)
    return Table(criterion, learners, datasets, means, deviations, tests, friedman, failures)


def complete(means: Float64) -> tuple[Mask, Mask]:
    """Learners (rows) with a value on all data sets (columns) that have any; those data sets."""
    known = np.isfinite(means)
    columns: Mask = np.any(known, axis=0)
    rows: Mask = np.all(known[:, columns], axis=1)
    return rows & bool(columns.any()), columns


def _failures(frame: pl.DataFrame) -> dict[tuple[str, str], str]:
    """Why learners failed on data sets, and on how many of the folds if not on all."""
    if "reason" not in frame.columns:
        return {}
    cells = frame.select("dataset", "learner", "fold", "reason").unique(maintain_order=True)
    found = {}
    for (dataset, learner), group in cells.group_by("dataset", "learner", maintain_order=True):
        reasons = group["reason"].drop_nulls()
        if len(reasons):
            part = f" ({len(reasons)} of {len(group)} folds)" * (len(reasons) < len(group))
            found[str(learner), str(dataset)] = f"{reasons[0]}{part}"
    return found


def _values(frame: pl.DataFrame, criterion: str) -> dict[tuple[str, str], Float64]:
    chosen = frame.filter(frame["criterion"] == criterion).sort("fold", maintain_order=True)
    if chosen.is_empty():
        known = ", ".join(frame["criterion"].unique(maintain_order=True))
        raise InputError(f"got criterion {criterion!r}, which was not measured; use one of {known}")
    groups = chosen.partition_by("dataset", "learner", as_dict=True)
    return {
        (str(name), str(learner)): group["value"].cast(float).fill_null(np.nan).to_numpy()
        for (name, learner), group in groups.items()
    }


def _best(means: Float64, criterion: str) -> Float64:
    worst = np.inf if smaller_is_better(criterion) else -np.inf
    known = np.where(np.isnan(means), worst, means)
    return known.min(axis=0) if worst > 0 else known.max(axis=0)


def _on_folds(
    criterion: str, dataset: str, learners: list[str], means: Float64, folds: Sequence[Float64]
) -> list[Comparison]:
    """Tests against the best on one data set, of those with a value on each of several folds."""
    known = [k for k in range(len(learners)) if np.isfinite(folds[k]).all()]
    if len(known) < 2 or len(folds[0]) < 2:
        return []
    best = (min if smaller_is_better(criterion) else max)(known, key=lambda k: means[k])
    names, values = [learners[k] for k in known], [folds[k] for k in known]
    about = (criterion, dataset, names, known.index(best))
    return _tested(*about, "t", values) + _tested(*about, "Wilcoxon", values)


def _tested(
    criterion: str, dataset: str, learners: list[str], best: int, test: str, values: Sequence[Any]
) -> list[Comparison]:
    """A test of each learner against the best one, adjusted together."""
    compared = statistics.paired_t_test if test == "t" else statistics.wilcoxon
    others = [k for k in range(len(learners)) if k != best]
    found = [compared(values[k], values[best]) for k in others]
    adjusted = statistics.holm([one.p_value for one in found])
    return [
        Comparison(criterion, dataset, learners[k], learners[best], test, *one, float(p))
        for k, one, p in zip(others, found, adjusted, strict=True)
    ]
