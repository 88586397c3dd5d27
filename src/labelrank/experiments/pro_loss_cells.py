"""The comparison on PRO loss spread over processes, one data set and learner after the other.

Every learner has one thread, whatever the number of processes, so that neither what is found nor
what is timed depends on it.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from labelrank.errors import InputError
from labelrank.experiments.pro_loss_protocol import (
    Effort,
    Outcome,
    compare,
    graded_splits,
    ordered_splits,
)

if TYPE_CHECKING:
    from labelrank.evaluation.cell import Cell

_TOGETHER = {"RankSVM": ("RankSVM", "RankSVM-R")}  # they share the search for C


@dataclass(frozen=True)
class Comparison:
    """All that measuring a cell needs: methods, effort, and whether the grades are real."""

    methods: tuple[str, ...]
    effort: Effort
    seed: int
    graded: bool

    def cells(self, sets: tuple[str, ...]) -> "list[Cell]":
        """A data set and method each; methods that share a search for C are one."""
        from labelrank.evaluation.cell import Cell

        followers = {m for first, *rest in self._groups() for m in rest}
        leaders = [method for method in self.methods if method not in followers]
        return [Cell(name, method, 0) for name in sets for method in leaders]

    def _groups(self) -> Iterator[tuple[str, ...]]:
        return (group for group in _TOGETHER.values() if set(group) <= set(self.methods))

    def only(self, cell: "Cell") -> "Comparison":
        """All of it: it is small."""
        return self

    def measure(self, cell: "Cell") -> dict[str, Any]:
        """The outcome of each method of the cell, or the "error" met."""
        methods = next((g for g in self._groups() if g[0] == cell.learner), (cell.learner,))
        try:
            return self._compare(cell.dataset, methods)
        except Exception as error:
            return {"error": error}

    def _compare(self, name: str, methods: tuple[str, ...]) -> dict[str, Any]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            if self.graded:
                splits = graded_splits(name, self.effort, self.seed)
            else:
                splits, _ = ordered_splits(name, self.effort, self.seed)
            return dict(compare(splits, methods, self.effort, self.seed))


def outcomes(
    comparison: Comparison, sets: tuple[str, ...], jobs: int | None
) -> Iterator[tuple[str, str, Outcome]]:
    """Set, method and outcome, in order, as soon as all before it are there."""
    from joblib import effective_n_jobs

    from labelrank.evaluation.workers import measured

    cells = comparison.cells(sets)
    waiting: dict[Cell, dict[str, Any]] = {}
    with closing(measured(comparison, cells, jobs=effective_n_jobs(jobs), memory=False)) as done:
        for cell in cells:
            while cell not in waiting:
                waiting.update([next(done)])
            for method, outcome in _unless_failed(cell, waiting.pop(cell)).items():
                yield cell.dataset, method, outcome


def _unless_failed(cell: "Cell", found: dict[str, Any]) -> dict[str, Any]:
    error = found.get("error")
    if isinstance(error, Exception):
        raise error
    if error is not None:
        raise InputError(f"{cell}: {error}")
    return found
