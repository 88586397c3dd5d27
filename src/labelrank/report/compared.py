"""The page of a comparison: tables, critical differences, costs against quality, tests."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelrank.evaluation.cell import COSTS
from labelrank.evaluation.tables import OVER_ALL, Table
from labelrank.report import comparison
from labelrank.report.charts import COLORS, cost_chart
from labelrank.report.critical_difference import critical_difference_svg
from labelrank.report.names import words
from labelrank.report.page import drawn, render, write_text

_SHOWN = ("fit_seconds", "peak_mib")


class Costly(NamedTuple):
    """Quality over time and over memory on one data set."""

    dataset: str
    charts: Sequence[Any]


def comparison_page(
    tables: Sequence[Table], *, title: str = "Comparison", facts: Mapping[str, str] | None = None
) -> str:
    """The HTML of a comparison: one file, no network.

    Parameters
    ----------
    tables : sequence of Table
        As `evaluation.tables.summarise` makes them, times and memory among them.
    title : str
    facts : mapping or None
        More lines of the summary.

    Returns
    -------
    str

    Examples
    --------
    >>> from labelrank import catalog, report
    >>> from labelrank.evaluation import compare
    >>> from labelrank.evaluation.tables import summarise
    >>> learners = {name: catalog.make(name) for name in ("Rocchio", "NB")}
    >>> frame = compare("debtags-sample", learners, cv=2, criteria=["micro_f1"])
    >>> tables = [summarise(frame, name) for name in ("micro_f1", "fit_seconds")]
    >>> "fit seconds" in report.comparison_page(tables)
    True
    """
    first = tables[0]
    summary = {
        "learners": ", ".join(first.learners),
        "data sets": ", ".join(first.datasets),
        "criteria": ", ".join(words(table.criterion) for table in tables),
        **(facts or {}),
    }
    return render(
        "compared.html.jinja",
        title=title,
        facts=summary,
        tables=[(table, comparison.heading(table), comparison.cells(table)) for table in tables],
        together=together(tables) if len(first.datasets) == 1 else None,
        diagrams=[_diagram(table) for table in tables if table.friedman is not None],
        costs=_costs(tables),
        tests=[test for table in tables for test in table.tests],
        failures=comparison.failure_notes(first),
        note=comparison.NOTE.replace("is bold", "is marked ★"),
        finding=comparison.finding,
        over_all=OVER_ALL,
        colors=COLORS,
    )


def write_comparison(tables: Sequence[Table], path: str | os.PathLike[str], **more: Any) -> Path:
    """Write the page of a comparison to `path`, whole or not at all; see `comparison_page`."""
    return write_text(comparison_page(tables, **more), path)


def together(tables: Sequence[Table]) -> list[list[tuple[str, bool]]]:
    """One data set: all criteria side by side, one line per learner."""
    columns = [[row[1] for row in comparison.cells(table)[1:]] for table in tables]
    heading = [("learner", False), *((comparison.heading(table), False) for table in tables)]
    rows = [[(name, False), *cells] for name, *cells in zip(tables[0].learners, *columns)]
    return [heading, *rows]


def _diagram(table: Table) -> tuple[str, Any]:
    assert table.friedman is not None
    svg = critical_difference_svg(
        table.ranked, table.friedman.mean_ranks.tolist(), table.friedman.critical_difference
    )
    return comparison.heading(table), drawn(svg)


def _costs(tables: Sequence[Table]) -> list[Costly]:
    """The first criterion over time and memory, as far as they were measured."""
    quality = next((table for table in tables if table.criterion not in COSTS), None)
    known = [table for table in tables if table.criterion in _SHOWN]
    if quality is None or not known:
        return []
    shown = []
    for d, name in enumerate(quality.datasets):
        measured = [cost for cost in known if np.isfinite(cost.means[:, d]).any()]
        shown.append(Costly(name, [_cost(quality, cost, d) for cost in measured]))
    return shown


def _cost(quality: Table, cost: Table, d: int) -> Any:
    titles = (comparison.heading(cost), comparison.heading(quality))
    costs, values = (table.means[:, d].tolist() for table in (cost, quality))
    return drawn(cost_chart(quality.learners, costs, values, titles))
