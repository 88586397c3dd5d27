"""The charts of the pages, each from the numbers it shows to inline SVG. Every text is escaped
here; what comes out may stand in a page as it is."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from labelrank.metrics.curves import PrecisionRecall, Reliability
from labelrank.report.results import Confusion, LearningCurve, words

COLORS = 12
_CELL, _NAME = 34, 22
_UNIT = (0.0, 1.0)
_STEPS = (1, 2, 2.5, 5, 10)


class Axis(NamedTuple):
    """One side of a plot: its range, its title, and whether it is logarithmic."""

    low: float
    high: float
    title: str = ""
    log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis the value lies, 0 to 1."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round values within the range."""
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            for within in ((1,), (1, 3), (1, 2, 5)):
                round_values = [s * 10.0**p for p in powers for s in within]
                ticks = [value for value in round_values if self.low <= value <= self.high]
                if len(ticks) >= 3:
                    break
            return ticks
        length = self.high - self.low
        power = 10.0 ** math.floor(math.log10(length / 5))
        step = next(power * s for s in _STEPS if length / (power * s) <= 6)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def spread(values: Iterable[float], title: str = "", *, log: bool = False) -> Axis:
    """The axis that holds the values with a little room on both sides."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = min(known, default=1.0), max(known, default=1.0)
    if log:
        return Axis(low / 1.6, high * 1.6, title, True)
    room = 0.05 * (high - low) or abs(high) / 2 or 1.0
    return Axis(low - room, high + room, title)


def number(value: float) -> str:
    """A value as short as it can be read."""
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return (f"{value / 1000:,.4g}k" if abs(value) >= 10_000 else text).replace("-", "−")


def shortened(text: str, width: int) -> str:
    """The text, or its start and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def text_at(
    x: float, y: float, text: str, *, anchor: str = "middle", kind: str = "", turn: int = 0
) -> str:
    """A line of text; `turn` in degrees."""
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    named = f' class="{kind}"' if kind else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}{named}{turned}>{escape(text)}</text>"


def path(points: Sequence[tuple[float, float]], kind: str) -> str:
    """A line through the points."""
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{steps}"/>' if points else ""


def rectangle(
    x: float, y: float, width: float, height: float, kind: str, hint: str = "", style: str = ""
) -> str:
    """A filled rectangle, with a hint for the pointer."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    styled = f' style="{style}"' if style else ""
    return f'<rect class="{kind}" {place}{styled}>{_hint(hint)}</rect>'


def drawing(width: float, height: float, label: str, marks: Iterable[str]) -> str:
    """The whole picture, named for those who cannot see it."""
    view = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    return f'<svg {view} role="img" aria-label="{escape(label)}">{"".join(marks)}</svg>'


class Plot:
    """A frame with two axes, to which marks are added."""

    def __init__(self, x: Axis, y: Axis, *, width: int = 540, height: int = 340) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        room = 7.5 * max((len(number(tick)) for tick in y.ticks()), default=0)
        self.left, self.right = max(58.0, 32 + room), width - 14
        self.top, self.bottom = 14, height - 50
        self.marks = [*self._grid()]
        self.words: list[tuple[float, float, float]] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the data lies in the picture."""
        across = self.left + self.x.share(x) * (self.right - self.left)
        return across, self.bottom - self.y.share(y) * (self.bottom - self.top)

    def line(self, xs: Iterable[float], ys: Iterable[float], kind: str) -> None:
        pairs = zip(xs, ys, strict=True)
        known = [(x, y) for x, y in pairs if math.isfinite(x) and math.isfinite(y)]
        within = [self.at(x, y) for x, y in known if self.x.low <= x <= self.x.high]
        self.marks.append(path(within, kind))

    def dot(self, x: float, y: float, kind: str, hint: str = "", radius: float = 4.5) -> None:
        across, down = self.at(x, y)
        self.words.append((across - radius, across + radius, down))
        place = f'cx="{across:.1f}" cy="{down:.1f}" r="{radius}"'
        self.marks.append(f'<circle class="{kind}" {place}>{_hint(hint)}</circle>')

    def bar(self, low: float, high: float, top: float, kind: str, hint: str = "") -> None:
        """A bar from the bottom to `top`."""
        (left, up), (right, down) = self.at(low, top), self.at(high, self.y.low)
        size = (max(right - left - 1, 0.5), max(down - up, 0))
        self.marks.append(rectangle(left, up, *size, kind, hint))

    def upright(self, x: float, text: str) -> None:
        """A dashed line over the whole height, with a word at its upper end."""
        across, _ = self.at(x, self.y.low)
        self.marks.append(path([(across, self.bottom), (across, self.top)], "rule"))
        anchor, shift = ("end", -6) if self.x.share(x) > 0.8 else ("start", 6)
        self.marks.append(text_at(across + shift, self.top - 3, text, anchor=anchor, kind="soft"))

    def text(self, x: float, y: float, text: str) -> None:
        """A word beside a point, moved up or down where it would cover another one."""
        across, down = self.at(x, y)
        is_left = self.x.share(x) > 0.7
        shift, anchor = (-10, "end") if is_left else (10, "start")
        width = 7.5 * len(text)
        start = across + shift - (width if is_left else 0)
        for move in (0, -15, 15, -30, 30, -45, 45):
            taken = (start, start + width, down + move)
            if not any(
                taken[0] < right and left < taken[1] and abs(taken[2] - height) < 14
                for left, right, height in self.words
            ):
                break
        self.words.append(taken)
        place = (across + shift, down + move + 4.5)
        self.marks.append(text_at(*place, text, anchor=anchor, kind="word"))

    def svg(self, label: str) -> str:
        return drawing(self.width, self.height, label, self.marks)

    def _grid(self) -> Iterable[str]:
        for value in self.y.ticks():
            _, y = self.at(self.x.low, value)
            yield path([(self.left, y), (self.right, y)], "grid")
            yield text_at(self.left - 8, y + 4.5, number(value), anchor="end")
        for value in self.x.ticks():
            x, _ = self.at(value, self.y.low)
            yield path([(x, self.bottom), (x, self.bottom + 5)], "tick")
            yield text_at(x, self.bottom + 20, number(value))
        yield path([(self.left, self.bottom), (self.right, self.bottom)], "tick")
        middle = (self.left + self.right) / 2
        yield text_at(middle, self.height - 8, self.x.title, kind="soft")
        yield text_at(14, (self.top + self.bottom) / 2, self.y.title, kind="soft", turn=-90)


def _hint(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def precision_recall_chart(curve: PrecisionRecall, of_labels: Mapping[str, PrecisionRecall]) -> str:
    """Precision over recall: of all entries together, and of labels (`curve-0`, `curve-1`, ...)."""
    plot = Plot(Axis(*_UNIT, "recall"), Axis(*_UNIT, "precision"))
    for k, one in enumerate(of_labels.values()):
        plot.line(one.recall, one.precision, f"line thin c{1 + k % (COLORS - 1)} curve-{k}")
    plot.line(curve.recall, curve.precision, "line c0")
    return plot.svg("Precision over recall, of all labels together and of single labels")


def threshold_chart(curve: PrecisionRecall, threshold: float | None) -> str:
    """Micro precision, recall and F1 over the threshold, with the cut in use and the best F1."""
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
    for given, seen, count in zip(*measured[:3], strict=True):
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
        marks.append(text_at(x, top - 8, shortened(name, _NAME), anchor="start", turn=-55))
    for u, name in enumerate(confusion.missed):
        y = top + u * _CELL
        label = shortened(name, _NAME)
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
    learners: Sequence[str], costs: Sequence[float], values: Sequence[float],
    titles: tuple[str, str],
) -> str:  # fmt: skip
    """Quality over cost (logarithmic): one point per learner, in the same colour in all charts."""
    plot = Plot(spread(costs, titles[0], log=True), spread(values, titles[1]))
    rows = zip(range(len(learners)), learners, costs, values, strict=True)
    known = [row for row in rows if math.isfinite(row[3]) and math.isfinite(row[2]) and row[2] > 0]
    for k, name, cost, value in known:
        hint = f"{name}: {titles[1]} {value:.4f}, {titles[0]} {number(cost)}"
        plot.dot(cost, value, f"dot c{k % COLORS}", hint, radius=6)
    for _, name, cost, value in known:
        plot.text(cost, value, shortened(name, 18))
    return plot.svg(f"{titles[1]} over {titles[0]}")
