"""The charts of the pages, each from the numbers it shows to inline SVG."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from labelrank.metrics.curves import PrecisionRecall, Reliability
from labelrank.report.names import words
from labelrank.report.results import Confusion, LearningCurve
from labelrank.report.svg import Axis, Plot, drawing, number, rectangle, spread, text_at
from labelrank.report.svg import shortened as short

COLORS = 12
_CELL, _NAME = 34, 22
_UNIT = (0.0, 1.0)


def precision_recall_chart(curve: PrecisionRecall, of_labels: Mapping[str, PrecisionRecall]) -> str:
    """Precision over recall: of all entries together, and of labels (`curve-0`, `curve-1`, ...)."""
    plot = Plot(Axis(*_UNIT, "recall"), Axis(*_UNIT, "precision"))
    for k, one in enumerate(of_labels.values()):
        plot.line(one.recall, one.precision, f"line thin c{1 + k % (COLORS - 1)} curve-{k}")
    plot.line(curve.recall, curve.precision, "line c0")
    return plot.svg("Precision over recall, of all labels together and of single labels")


def threshold_chart(curve: PrecisionRecall, threshold: float | None) -> str:
    """Micro precision, recall and F1 over the threshold, with the cut in use and the best F1.

    >>> from labelrank.metrics import precision_recall_curve
    >>> threshold_chart(precision_recall_curve([[1, 0]], [[0.5, 0.1]]), 0.0)[:4]
    '<svg'
    """
    known = curve.thresholds[np.isfinite(curve.thresholds)]
    shown = [*known[len(known) // 40 :], *([] if threshold is None else [threshold])]
    plot = Plot(spread(shown, "threshold"), Axis(*_UNIT))
    for k, values in enumerate((curve.f1, curve.precision, curve.recall)):
        plot.line(curve.thresholds, values, f"line c{k}")
    if threshold is not None:
        plot.upright(threshold, "cut in use")
    best = int(np.argmax(curve.f1))
    if plot.x.low <= curve.thresholds[best] <= plot.x.high:
        hint = f"best F1 {curve.f1[best]:.4f} at {number(curve.thresholds[best])}"
        plot.dot(curve.thresholds[best], curve.f1[best], "dot c0", hint)
    return plot.svg("Micro-averaged precision, recall and F1 over the threshold")


def reliability_chart(measured: Reliability) -> str:
    """Share of relevant entries over the probability that was given; the diagonal is perfect."""
    plot = Plot(Axis(*_UNIT, "probability given"), Axis(*_UNIT, "share relevant"))
    plot.line(_UNIT, _UNIT, "rule")
    plot.line(measured.predicted, measured.observed, "line c0")
    for given, seen, count in zip(
        measured.predicted, measured.observed, measured.counts, strict=True
    ):
        plot.dot(given, seen, "dot c0", f"{given:.3f} given, {seen:.3f} relevant of {count:,}")
    return plot.svg("Reliability: share of relevant entries over the probability given")


def probability_histogram(measured: Reliability, bins: int = 10) -> str:
    """How many entries have which probability, on a logarithmic scale."""
    top = max(10.0, float(measured.counts.max()) * 1.5)
    plot = Plot(Axis(*_UNIT, "probability given"), Axis(0.8, top, "entries", log=True), height=180)
    for given, count in zip(measured.predicted, measured.counts, strict=True):
        place = min(int(given * bins), bins - 1)
        plot.bar(place / bins, (place + 1) / bins, count, "bar c0", f"{count:,} entries")
    return plot.svg("Number of entries by the probability given")


def heat_map(confusion: Confusion) -> str:
    """Missed labels in rows, wrongly given ones in columns, darker for more documents."""
    left, top = 180, 150
    rows, columns = confusion.counts.shape
    highest = confusion.counts.max()
    marks = []
    for v, name in enumerate(confusion.given):
        x = left + (v + 0.5) * _CELL + 4
        marks.append(text_at(x, top - 8, short(name, _NAME), anchor="start", turn=-55))
    for u, name in enumerate(confusion.missed):
        y = top + u * _CELL
        label = short(name, _NAME)
        marks.append(text_at(left - 8, y + _CELL / 2 + 4.5, label, anchor="end"))
        for v, count in enumerate(confusion.counts[u].tolist()):
            hint = f"{name} missed, {confusion.given[v]} given: {count:,}"
            marks += _cell(left + v * _CELL, y, count, count / highest, hint)
    width = left + columns * _CELL + 78
    return drawing(width, top + rows * _CELL + 6, "Labels missed against labels given", marks)


def _cell(x: float, y: float, count: int, share: float, hint: str) -> list[str]:
    style = f"fill-opacity:{0.06 + 0.94 * share:.2f}" if count else ""
    kind = "heat" if count else "heat none"
    marks = [rectangle(x + 1, y + 1, _CELL - 2, _CELL - 2, kind, hint, style)]
    if count:
        ink = "inside" if share > 0.45 else ""
        marks.append(text_at(x + _CELL / 2, y + _CELL / 2 + 4.5, number(count), kind=ink))
    return marks


def learning_chart(curve: LearningCurve) -> str:
    """Criteria over the number of examples learned."""
    plot = Plot(Axis(0, max(curve.sizes) or 1, "examples learned"), Axis(*_UNIT))
    for k, (name, values) in enumerate(curve.values.items()):
        plot.line(curve.sizes, values, f"line c{k}")
        for size, value in zip(curve.sizes, values, strict=True):
            if len(curve.sizes) <= 30 and math.isfinite(value):
                hint = f"{words(name)} {value:.4f} after {size:,}"
                plot.dot(size, value, f"dot c{k}", hint, radius=3.5)
    return plot.svg("Criteria over the number of examples learned")


def cost_chart(
    learners: Sequence[str],
    costs: Sequence[float],
    values: Sequence[float],
    titles: tuple[str, str],
) -> str:
    """Quality over cost (logarithmic): one point per learner, in the same colour in all charts."""
    plot = Plot(spread(costs, titles[0], log=True), spread(values, titles[1]))
    rows = zip(range(len(learners)), learners, costs, values, strict=True)
    known = [row for row in rows if math.isfinite(row[3]) and math.isfinite(row[2]) and row[2] > 0]
    for k, name, cost, value in known:
        hint = f"{name}: {titles[1]} {value:.4f}, {titles[0]} {number(cost)}"
        plot.dot(cost, value, f"dot c{k % COLORS}", hint, radius=6)
    for _, name, cost, value in known:
        plot.text(cost, value, short(name, 18))
    return plot.svg(f"{titles[1]} over {titles[0]}")
