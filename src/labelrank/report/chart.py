"""The threshold curve as inline SVG that takes its ink from the page, light or dark."""

from collections.abc import Sequence
from typing import Any

from labelrank.report.results import CurvePoint

_INK = "currentColor"
_FONT = "system-ui, sans-serif"
_COLORS = {"precision": "#2a9d8f", "recall": "#e0872b", "F1": "#4f7fd9"}
_LOOK = {
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK, "titleColor": _INK, "tickColor": _INK, "domainColor": _INK,
        "gridColor": _INK, "gridOpacity": 0.12, "domainOpacity": 0.4, "tickOpacity": 0.4,
        "labelFont": _FONT, "titleFont": _FONT, "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": _INK, "labelFont": _FONT, "labelFontSize": 13, "orient": "top",
               "symbolSize": 250, "symbolStrokeWidth": 3},
}  # fmt: skip


def threshold_chart(curve: Sequence[CurvePoint], threshold: float | None) -> str:
    """SVG of micro precision, recall and F1 over the threshold, with a rule at the cut in use.

    >>> threshold_chart([CurvePoint(1.0, 1.0, 0.5, 0.7), CurvePoint(0.0, 0.5, 1.0, 0.7)], 0.5)[:4]
    '<svg'
    """
    import vl_convert

    layers = [_lines(curve)]
    if threshold is not None:
        layers.append(_rule(threshold))
    drawn = {"width": 960, "height": 280, "layer": layers, "config": _LOOK}
    svg: str = vl_convert.vegalite_to_svg(drawn)
    return svg


def _lines(curve: Sequence[CurvePoint]) -> dict[str, Any]:
    values = [
        {"threshold": point.threshold, "criterion": name, "value": value}
        for point in curve
        for name, value in zip(_COLORS, point[1:], strict=True)
    ]
    colors = {"domain": list(_COLORS), "range": list(_COLORS.values())}
    return {
        "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {
            "x": {"field": "threshold", "type": "quantitative", "axis": {"tickCount": 10},
                  "scale": {"zero": False, "nice": False}},
            "y": {"field": "value", "type": "quantitative", "title": None,
                  "scale": {"domain": [0, 1]}},
            "color": {"field": "criterion", "type": "nominal", "title": None, "scale": colors},
        },
    }  # fmt: skip


def _rule(threshold: float) -> dict[str, Any]:
    return {
        "data": {"values": [{"threshold": threshold}]},
        "mark": {"type": "rule", "strokeDash": [5, 4], "color": _INK, "opacity": 0.7},
        "encoding": {"x": {"field": "threshold", "type": "quantitative"}},
    }
