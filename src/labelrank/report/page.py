"""The page of a model: its numbers and charts put into the template."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from labelrank import __version__
from labelrank.atomic import atomic_write
from labelrank.report import charts
from labelrank.report.documents import RankedLabel
from labelrank.report.results import Results, arrow, words

_DRAWN_AT_FIRST = 4
# The criteria that a reader looks for first; the others follow on request.
CHIEF = (
    "micro_f1", "macro_f1", "example_f1", "micro_precision", "micro_recall", "subset_accuracy",
    "hamming_loss", "precision_at_1", "precision_at_3", "precision_at_5", "ranking_loss",
    "average_precision_loss", "one_error", "macro_auc",
)  # fmt: skip


class CriteriaRow(NamedTuple):
    """One criterion: a value for each model or threshold, each with whether it is the best."""

    name: str
    cells: list[tuple[str, bool]]


def page(results: Results) -> str:
    """The HTML of the page.

    Parameters
    ----------
    results : Results
        See `of_tagger` and `gather`.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.report import gather
    >>> results = gather("Two labels", {}, [[1, 0]], np.eye(1, 2), label_names=["a", "b"])
    >>> page(results).startswith("<!doctype html>")
    True
    """
    columns = {results.name: results.criteria, **results.beside}
    rows = {row.name: row for row in criteria_rows(columns)}
    return render(
        "page.html.jinja",
        results=results,
        columns=list(columns),
        chief=[rows[name] for name in CHIEF if name in rows],
        others=[row for name, row in rows.items() if name not in CHIEF],
        labels=sorted(results.labels, key=lambda label: -label.relevant),
        charts=_charts(results),
        colors=charts.COLORS,
        at_first=_DRAWN_AT_FIRST,
    )


def render(template: str, **values: Any) -> str:
    """A template of this package filled in; all values are escaped, but for our own drawings."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("labelrank.report", "templates")
    templates = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    templates.filters |= {"words": words, "arrow": arrow, "outcome": _outcome}
    return templates.get_template(template).render(version=__version__, **values)


def criteria_rows(columns: Mapping[str, Mapping[str, float]]) -> Iterator[CriteriaRow]:
    """The values of each criterion side by side; the best are marked where there are several.

    >>> for row in criteria_rows({"a": {"micro_f1": 0.5}, "b": {"micro_f1": 0.75}}):
    ...     print(row.name, row.cells)
    micro_f1 [('0.5000', False), ('0.7500', True)]
    """
    for name in next(iter(columns.values())):
        values = [column.get(name, float("nan")) for column in columns.values()]
        shown = [f"{value:.4f}" if arrow(name) else f"{value:.0f}" for value in values]
        known = [value for value in values if value == value]
        best = (min if arrow(name) == "↓" else max)(known, default=None)
        marks = [len(values) > 1 and arrow(name) != "" and value == best for value in values]
        texts = [text if value == value else "–" for text, value in zip(shown, values, strict=True)]
        yield CriteriaRow(name, list(zip(texts, marks, strict=True)))


def write(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write the page to `path`, whole or not at all."""
    return write_text(page(results), path)


def write_text(html: str, path: str | os.PathLike[str]) -> Path:
    with atomic_write(path, "w") as file:
        file.write(html)
    return Path(path)


def drawn(svg: str) -> Any:
    """A drawing of ours, to stand in the page as it is: its texts are escaped already."""
    from markupsafe import Markup

    return Markup(svg)  # noqa: S704 - our own SVG


def _charts(results: Results) -> dict[str, Any]:
    made = {}
    curve = results.curve
    if len(curve.thresholds):
        made["precision_recall"] = charts.precision_recall_chart(curve, results.label_curves)
        made["threshold"] = charts.threshold_chart(curve, results.threshold)
    if results.reliability is not None:
        made["reliability"] = charts.reliability_chart(results.reliability)
        made["probabilities"] = charts.probability_histogram(results.reliability)
    if results.confusion is not None:
        made["confusion"] = charts.heat_map(results.confusion)
    if results.learning is not None:
        made["learning"] = charts.learning_chart(results.learning)
    return {name: drawn(svg) for name, svg in made.items()}


def _outcome(label: RankedLabel) -> str:
    if label.chosen:
        return "hit" if label.relevant else "wrong"
    return "missed" if label.relevant else ""
