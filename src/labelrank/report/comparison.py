"""A comparison as a page, and its tables as Markdown, LaTeX and CSV."""

import csv
import io
import itertools
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from labelrank.evaluation.cell import COSTS, smaller_is_better
from labelrank.evaluation.tables import ALPHA, OVER_ALL, Table, complete
from labelrank.report.charts import COLORS, cost_chart
from labelrank.report.critical_difference import critical_difference_svg
from labelrank.report.page import drawn, render, write_text
from labelrank.report.results import words

_LATEX = (
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {sign: f"${sign}$" for sign in "<>|"}
)
_RAISED = dict(zip("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))

NOTE = (
    "Mean ± standard deviation over folds; the best mean of a data set is bold; • is significantly "
    f"worse than it (paired t-test with Holm's adjustment, {ALPHA:.0%})."
)


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
        "compared.html.jinja", title=title, facts=summary,
        tables=[(table, heading(table), cells(table)) for table in tables],
        together=together(tables) if len(first.datasets) == 1 else None,
        tests=[test for table in tables for test in table.tests],
        note=NOTE.replace("is bold", "is marked ★"), finding=finding,
        diagrams=_diagrams(tables), costs=_costs(tables), failures=failure_notes(first),
        over_all=OVER_ALL, colors=COLORS,
    )  # fmt: skip


def write_comparison(tables: Sequence[Table], path: str | os.PathLike[str], **more: Any) -> Path:
    """Write the page of a comparison to `path`, whole or not at all; see `comparison_page`."""
    return write_text(comparison_page(tables, **more), path)


def together(tables: Sequence[Table]) -> list[list[tuple[str, bool]]]:
    """One data set: all criteria side by side, one line per learner."""
    columns = [[row[1] for row in cells(table)[1:]] for table in tables]
    first = [("learner", False), *((heading(table), False) for table in tables)]
    rows = [[(name, False), *cells] for name, *cells in zip(tables[0].learners, *columns)]
    return [first, *rows]


def _diagrams(tables: Sequence[Table]) -> list[tuple[str, Any]]:
    tested = [(table, table.friedman) for table in tables if table.friedman is not None]
    return [
        (heading(table), drawn(critical_difference_svg(
            table.ranked, test.mean_ranks.tolist(), test.critical_difference)))
        for table, test in tested
    ]  # fmt: skip


def _costs(tables: Sequence[Table]) -> list[tuple[str, list[Any]]]:
    """By data set, the first criterion over time and memory, as far as they were measured."""
    quality = next((table for table in tables if table.criterion not in COSTS), None)
    known = [table for table in tables if table.criterion in ("fit_seconds", "peak_mib")]
    if quality is None or not known:
        return []
    shown = []
    for d, name in enumerate(quality.datasets):
        measured = [cost for cost in known if np.isfinite(cost.means[:, d]).any()]
        shown.append((name, [_cost(quality, cost, d) for cost in measured]))
    return shown


def _cost(quality: Table, cost: Table, d: int) -> Any:
    titles = (heading(cost), heading(quality))
    costs, values = (table.means[:, d].tolist() for table in (cost, quality))
    return drawn(cost_chart(quality.learners, costs, values, titles))


def as_markdown(tables: Sequence[Table]) -> str:
    """All tables in Markdown, each under a heading, with what the tests over data sets say."""
    parts = [NOTE]
    for table in tables:
        texts = [[f"**{_markdown(t)}**" if best else _markdown(t) for t, best in row]
                 for row in cells(table)]  # fmt: skip
        lines = [f"| {' | '.join(row)} |" for row in texts]
        rule = "|".join(["", " --- ", *[" ---: "] * (len(texts[0]) - 1), ""])
        parts.append("\n".join([f"## {heading(table)}", "", lines[0], rule, *lines[1:]]))
        if finding(table):
            parts.append(finding(table))
    parts += [_markdown(note) for note in failure_notes(tables[0])]
    return "\n\n".join(parts) + "\n"


def as_latex(tables: Sequence[Table]) -> str:
    """All tables in LaTeX, as `tabular` within `table`, with no package needed."""
    return "\n".join(_latex_table(table) for table in tables)


def as_csv(tables: Sequence[Table]) -> str:
    """One line per value, not rounded; `failed` says why there is none."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["criterion", "dataset", "learner", "mean", "std", "best", "worse", "failed"])
    for table in tables:
        pairs = itertools.product(enumerate(table.datasets), enumerate(table.learners))
        for (d, dataset), (k, learner) in pairs:
            values = (float(part[k, d]) for part in (table.means, table.deviations))
            known = ("" if math.isnan(value) else repr(value) for value in values)
            marks = (int(table.best[k, d]), int(table.is_worse(learner, dataset)))
            failed = table.failures.get((learner, dataset), "")
            rows.writerow([table.criterion, dataset, learner, *known, *marks, failed])
    return out.getvalue()


def heading(table: Table) -> str:
    """The criterion and its better side."""
    return f"{words(table.criterion)} {'↓' if smaller_is_better(table.criterion) else '↑'}"


def finding(table: Table) -> str:
    """What Friedman's and Nemenyi's tests say, and of whom not; nothing for one data set."""
    if table.criterion in COSTS or min(len(table.datasets), len(table.learners)) < 2:
        return ""
    test, left = table.friedman, ", ".join(table.left_out)
    if test is None:
        return f"No test over data sets: too few learners have a value on each (left out: {left})."
    n_datasets = int(complete(table.means)[1].sum())
    sentence = (
        f"Friedman over {n_datasets} data sets: p = {test.p_value:.3g}; mean ranks that differ "
        f"by {test.critical_difference:.3g} or more differ significantly (Nemenyi, {ALPHA:.0%})."
    )
    return f"{sentence} Values are missing, so these are left out: {left}." if left else sentence


def failure_notes(table: Table) -> list[str]:
    """One sentence for each learner and reason of failure, after the mark that its cells have."""
    return [
        f"{_raised(number)} {learner} on {', '.join(datasets)}: {reason}"
        for number, ((learner, reason), datasets) in enumerate(_failed(table).items(), start=1)
    ]


def _failed(table: Table) -> dict[tuple[str, str], list[str]]:
    """Learner and reason to data sets, in the order of the rows and columns."""
    failed: dict[tuple[str, str], list[str]] = {}
    for learner, dataset in itertools.product(table.learners, table.datasets):
        if (learner, dataset) in table.failures:
            reason = table.failures[learner, dataset]
            failed.setdefault((learner, reason), []).append(dataset)
    return failed


def _raised(number: int) -> str:
    return "".join(_RAISED[digit] for digit in str(number))


def cells(table: Table) -> list[list[tuple[str, bool]]]:
    """Heading and rows of text, each with whether it is the best; the last column is mean rank."""
    ranks = table.ranks if len(table.datasets) > 1 else None
    last = [] if ranks is None else [("mean rank", False)]
    rows = [[("learner", False), *((name, False) for name in table.datasets), *last]]
    for k, learner in enumerate(table.learners):
        values = [(_value(table, k, d), bool(table.best[k, d])) for d in range(len(table.datasets))]
        rows.append([(learner, False), *values])
        if ranks is not None:
            text = "–" if math.isnan(ranks[k]) else f"{ranks[k]:.2f}"
            rows[-1].append((text, bool(ranks[k] == np.nanmin(ranks))))
    return rows


def _value(table: Table, k: int, d: int) -> str:
    mean, deviation = table.means[k, d], table.deviations[k, d]
    learner, reason = table.learners[k], table.failures.get((table.learners[k], table.datasets[d]))
    if reason is not None:
        return f"failed{_raised(1 + list(_failed(table)).index((learner, reason)))}"
    if math.isnan(mean):
        return "–"
    places = 3 if table.criterion in COSTS else 4
    spread = "" if math.isnan(deviation) else f" ± {deviation:.{places}f}"
    worse = " •" if table.is_worse(learner, table.datasets[d]) else ""
    return f"{mean:.{places}f}{spread}{worse}"


def _markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*")


def _latex_table(table: Table) -> str:
    rows = [
        " & ".join(rf"\textbf{{{_latex(text)}}}" if best else _latex(text) for text, best in row)
        for row in cells(table)
    ]
    first, *others = (f"{row} \\\\\n" for row in rows)
    body = f"{first}\\hline\n{''.join(others)}"
    columns = "l" + "r" * (len(cells(table)[0]) - 1)
    below = [f"{heading(table)}.", NOTE, finding(table), *(f"{n}." for n in failure_notes(table))]
    caption = " ".join(_latex(text) for text in below if text)
    return (
        f"\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{columns}}}\n{body}"
        f"\\end{{tabular}}\n\\caption{{{caption}}}\n\\end{{table}}\n"
    )


def _latex(text: str) -> str:
    signs = {raised: f"$^{{{digit}}}$" for digit, raised in _RAISED.items()}
    signs |= {"±": r"$\pm$", "•": r"$\bullet$", "↓": r"$\downarrow$", "↑": r"$\uparrow$", "–": "--"}
    return "".join((_LATEX | signs).get(sign, sign) for sign in text)
