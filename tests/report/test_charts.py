"""Charts: marks stand where the numbers say, words do not cover each other, names are escaped."""

import re

import numpy as np

from labelrank.metrics import precision_recall_curve, reliability
from labelrank.report import LearningCurve, charts
from labelrank.report.charts import Axis, Plot, number, spread
from labelrank.report.critical_difference import critical_difference_svg
from labelrank.report.results import Confusion


def points(svg, kind):
    found = re.search(rf'class="{kind}" points="(.*?)"', svg)[1]
    return [tuple(map(float, pair.split(","))) for pair in found.split()]


def test_a_line_runs_from_corner_to_corner():
    plot = Plot(Axis(0, 2, "x"), Axis(0, 1, "y"))
    plot.line([0, 1, np.inf, 2], [0, 0.5, 1, 1], "line c0")
    first, middle, last = points(plot.svg("rising"), "line c0")
    assert first == (plot.left, plot.bottom)
    assert last == (plot.right, plot.top)
    assert middle == ((first[0] + last[0]) / 2, (first[1] + last[1]) / 2)


def test_ticks_are_round_and_within_the_axis():
    for low, high in ((0, 1), (-3.2, 7), (0.331, 0.332), (0, 123456)):
        found = Axis(low, high).ticks()
        assert 3 <= len(found) <= 7
        assert low <= min(found) < max(found) <= high
        assert len(set(map(number, found))) == len(found)
    for low, high in ((0.5, 30), (1e-4, 1e5), (0.9, 1.3)):
        found = Axis(low, high, log=True).ticks()
        assert all(low <= tick <= high for tick in found)
        assert found


def test_an_axis_of_one_value_or_none_still_has_a_width():
    for values in ([], [3.0], [0.0], [np.nan]):
        axis = spread(values)
        assert axis.low < axis.high
    assert spread([0.0, -1.0], log=True).low > 0


def test_the_cut_in_use_is_within_the_picture_wherever_it_is():
    curve = precision_recall_curve(np.eye(3), np.eye(3))
    for cut in (-50.0, 0.5, 50.0):
        svg = charts.threshold_chart(curve, cut)
        (x, _), _ = points(svg, "rule")
        assert 58 <= x <= 526
    assert 'class="rule"' not in charts.threshold_chart(curve, None)


def test_scores_of_minus_infinity_do_not_spoil_the_axis():
    scores = np.array([[1.0, -np.inf], [0.5, 0.2]])
    curve = precision_recall_curve([[1, 1], [0, 1]], scores)
    assert "nan" not in charts.threshold_chart(curve, 0.0)
    assert "inf" not in charts.threshold_chart(curve, 0.0)


def test_perfect_probabilities_lie_on_the_diagonal():
    svg = charts.reliability_chart(reliability([[1, 0]], [[1.0, 0.0]]))
    assert points(svg, "line c0") == points(svg, "rule")


def test_the_map_holds_every_count_and_escapes_names():
    counts = np.array([[0, 7], [3, 0]])
    svg = charts.heat_map(Confusion([], ["<b>", "b" * 99], ["c", "d"], counts))
    assert svg.count("<rect") == 4
    assert ">7</text>" in svg
    assert ">3</text>" in svg
    assert "<b>" not in svg
    assert "&lt;b&gt; missed, d given: 7" in svg


def test_words_beside_points_do_not_cover_each_other():
    svg = charts.cost_chart(["one", "two", "three"], [1.0] * 3, [0.5] * 3, ("cost", "gain"))
    heights = [float(y) for y in re.findall(r'y="([\d.]+)" text-anchor="\w+" class="word"', svg)]
    assert len(heights) == 3
    assert all(abs(a - b) >= 14 for a in heights for b in heights if a is not b)


def test_a_learner_without_a_value_is_left_out_of_the_costs():
    svg = charts.cost_chart(["a", "b", "c"], [1.0, np.nan, 0.0], [0.5, 0.5, 0.5], ("x", "y"))
    assert svg.count("<circle") == 1


def test_a_long_stream_is_a_line_without_points():
    sizes = list(range(1, 101))
    svg = charts.learning_chart(LearningCurve("", sizes, {"micro_f1": [0.5] * 100}))
    assert svg.count("<circle") == 0
    assert len(points(svg, "line c0")) == 100


def test_the_diagram_joins_what_does_not_differ():
    svg = critical_difference_svg(["a", "b", "c", "<d>"], [1.0, 1.4, 3.5, 3.9], 1.0)
    assert svg.count('class="thick"') == 2
    assert "&lt;d&gt;" in svg
    assert critical_difference_svg(["a", "b"], [1.0, 2.0], 0.5).count("thick") == 0


def test_the_words_on_the_scale_of_the_diagram_are_within_the_picture():
    for n in (2, 3, 9):
        svg = critical_difference_svg(list("abcdefghi"[:n]), list(range(1, n + 1)), 1.1 * n)
        width = float(re.search(r'viewBox="0 0 (\d+)', svg)[1])
        x, words = re.search(r'<text x="([\d.]+)"[^>]*>(critical difference [\d.]+)', svg).groups()
        assert float(x) + 6.5 * len(words) < width


def test_a_learner_keeps_its_colour_where_another_has_no_value():
    svg = charts.cost_chart(["a", "b"], [np.nan, 1.0], [np.nan, 0.5], ("x", "y"))
    assert 'class="dot c1"' in svg
