"""The report opened in headless Chromium: it opens whole, sorts, filters, changes colours."""

import re

import numpy as np
import polars as pl
import pytest

from labelrank.evaluation.tables import summarise
from labelrank.report import write_comparison

SECTIONS = ["verdict", "summary", "curves", "calibration", "learning", "per-label", "confusion",
            "examples"]  # fmt: skip
CLICK = """
const at = name => [...document.querySelectorAll("#labels thead th")]
  .findIndex(th => th.textContent.trim() === name);
const sort = name => document.querySelectorAll("#labels thead th")[at(name)]
  .querySelector("button").click();
"""


def cells(document, column):
    """The texts of a column of the table of labels, as shown."""
    body = document.split('id="labels"')[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = [row for row in body.split("<tr")[1:] if not row.startswith(" hidden")]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)[column] for row in rows]


def test_the_page_opens_whole_and_asks_for_nothing(full_page, browse):
    document, console = browse(
        full_page,
        "document.title = performance.getEntriesByType('resource').length + ' resources';",
    )
    assert console == []
    assert "<title>0 resources</title>" in document
    assert '<html lang="en" class="js"' in document
    assert re.findall(r'<section id="([\w-]+)"', document) == SECTIONS
    assert document.count("<svg") == 6
    assert "<img" not in document
    assert "&lt;script&gt;throw 1&lt;/script&gt;" in document
    assert "6 of 6" in document


def test_a_click_sorts_and_another_turns_the_order(full_page, browse):
    document, console = browse(full_page, CLICK + "sort('F1');")
    values = [float(text) for text in cells(document, 6)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 3
    assert 'aria-sort="descending"><button type="button">F1' in document
    document, console = browse(full_page, CLICK + "sort('label'); sort('F1'); sort('F1');")
    assert [float(text) for text in cells(document, 6)] == values[::-1]
    document, _ = browse(full_page, CLICK + "sort('label');")
    names = cells(document, 0)
    assert [name for name in names if name in "abcd"] == ["a", "b", "c", "d"]
    assert console == []


def test_the_box_filters_and_the_button_changes_colours(full_page, browse):
    document, console = browse(
        full_page,
        """const box = document.querySelector("input[data-filters]");
        box.value = "SCRIPT"; box.dispatchEvent(new Event("input"));
        const theme = document.getElementById("theme"); theme.click(); theme.click();
        document.title = getComputedStyle(document.body).backgroundColor;""",
    )
    assert cells(document, 0) == ["&lt;script&gt;throw 1&lt;/script&gt;"]
    assert "1 of 6" in document
    assert 'data-theme="dark"' in document
    assert "<title>rgb(18, 22, 29)</title>" in document
    assert console == []


def test_a_ticked_label_is_drawn_without_any_script(full_page, browse):
    document, _ = browse(
        full_page,
        """const display = k => getComputedStyle(document.querySelector(".curve-" + k)).display;
        const before = [0, 5].map(display);
        document.getElementById("curve-0").checked = false;
        document.getElementById("curve-5").checked = true;
        document.title = [...before, ...[0, 5].map(display)].join(" ");""",
    )
    assert "<title>inline none none inline</title>" in document


def test_a_comparison_opens_with_diagrams_costs_and_tests(browse, tmp_path):
    draw = np.random.default_rng(0)
    names = ["a", "b", "<b>c</b>"]
    rows = [
        (dataset, learner, fold, criterion, k + draw.random())
        for criterion in ("micro_f1", "ranking_loss", "fit_seconds", "peak_mib")
        for dataset in ("d1", "d2", "d3")
        for k, learner in enumerate(names)
        for fold in range(4)
    ]
    columns = ["dataset", "learner", "fold", "criterion", "value"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    tables = [summarise(frame, name) for name in frame["criterion"].unique(maintain_order=True)]
    page = write_comparison(tables, tmp_path / "page.html")
    document, console = browse(
        page,
        """const bars = [...document.querySelectorAll(".scroll:not(.tall)")]
          .filter(box => box.offsetWidth - box.clientWidth > 2);
        document.title = "bars: " + bars.length;""",
    )
    assert console == []
    assert "<title>bars: 0</title>" in document
    found = re.findall(r'<section id="([\w-]+)"', document)
    assert found == ["summary", "criteria", "critical-difference", "costs", "tests"]
    assert document.count("Critical-difference diagram") == 2
    assert document.count("micro F1 ↑ over") == 6
    assert document.count("<td>Wilcoxon</td>") == 2 * 2 * 4
    assert "<b>c</b>" not in document


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_ink_stands_out_from_the_paper(full_page, browse, theme):
    document, _ = browse(
        full_page,
        f"""document.documentElement.dataset.theme = "{theme}";
        const mixed = name => {{ const probe = document.createElement("i");
          probe.style.color = "var(--" + name + ")"; document.body.append(probe);
          return getComputedStyle(probe).color; }};
        document.title = ["paper", "ink", "soft", "accent", "hit"].map(mixed).join(";");""",
    )
    title = re.search(r"<title>(.*?)</title>", document)[1]
    paper, *inks = [luminance(color) for color in title.split(";")]
    for ink in inks:
        assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) >= 4.5


def luminance(color):
    """Relative luminance as the accessibility guidelines (WCAG) define it."""
    shares = np.array([int(part) for part in re.findall(r"\d+", color)]) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
