"""Small drawings as inline SVG: axes and marks that take their colours from the page's style.

Every text is escaped here; what comes out may stand in a page as it is.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

_STEPS = (1, 2, 2.5, 5, 10)
_WIDE_MINUS = str.maketrans({"-": "−"})


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
        """Round values within the range.

        >>> Axis(0.0, 1.0).ticks(), Axis(0.5, 30.0, log=True).ticks()
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [1.0, 3.0, 10.0, 30.0])
        """
        return _log_ticks(self.low, self.high) if self.log else _ticks(self.low, self.high)


def spread(values: Iterable[float], title: str = "", *, log: bool = False) -> Axis:
    """The axis that holds the values with a little room on both sides.

    >>> spread([1.0, 3.0])
    Axis(low=0.9, high=3.1, title='', log=False)
    """
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    low, high = min(known, default=1.0), max(known, default=1.0)
    if log:
        return Axis(low / 1.6, high * 1.6, title, True)
    room = 0.05 * (high - low) or abs(high) / 2 or 1.0
    return Axis(low - room, high + room, title)


def number(value: float) -> str:
    """A value as short as it can be read.

    >>> number(0.20000000000000001), number(-3.0), number(12000.0)
    ('0.2', '−3', '12k')
    """
    if abs(value) >= 10_000:
        text = f"{value / 1000:,.4g}k"
    else:
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.translate(_WIDE_MINUS)


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
    body = "".join(marks)
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(label)}">'
        f"{body}</svg>"
    )


class Plot:
    """A frame with two axes, to which marks are added.

    >>> plot = Plot(Axis(0, 1, "recall"), Axis(0, 1, "precision"))
    >>> plot.line([0, 1], [1, 0], "line c1")
    >>> plot.svg("a falling line")[:40]
    '<svg viewBox="0 0 540 340" role="img" ar'
    """

    def __init__(self, x: Axis, y: Axis, *, width: int = 540, height: int = 340) -> None:
        self.x, self.y, self.width, self.height = x, y, width, height
        self.left, self.right, self.top, self.bottom = 58, width - 14, 14, height - 50
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
        near_end = self.x.share(x) > 0.8
        anchor, shift = ("end", -6) if near_end else ("start", 6)
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
            if not any(_cover(taken, other) for other in self.words):
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


def _cover(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Whether two words (left, right, height) stand on each other."""
    return one[0] < other[1] and other[0] < one[1] and abs(one[2] - other[2]) < 14


def _hint(text: str) -> str:
    return f"<title>{escape(text)}</title>" if text else ""


def _ticks(low: float, high: float) -> list[float]:
    power = 10.0 ** math.floor(math.log10((high - low) / 5))
    step = next(power * s for s in _STEPS if (high - low) / (power * s) <= 6)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for within in ((1,), (1, 3), (1, 2, 5)):
        ticks = [s * 10.0**p for p in powers for s in within if low <= s * 10.0**p <= high]
        if len(ticks) >= 3:
            break
    return ticks
