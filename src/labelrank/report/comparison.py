"""Tables of a comparison as Markdown, LaTeX and CSV."""

import csv
import io
import math
from collections.abc import Sequence

from labelrank.evaluation.tables import ALPHA, Table
from labelrank.evaluation.trials import COSTS, smaller_is_better
from labelrank.report.names import words

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}

NOTE = (
    "Mean ± standard deviation over folds; the best mean of a data set is bold; • is significantly "
    f"worse than it (paired t-test with Holm's adjustment, {ALPHA:.0%})."
)


def as_markdown(tables: Sequence[Table]) -> str:
    """All tables in Markdown, each under a heading, with what the tests over data sets found."""
    parts = [NOTE]
    for table in tables:
        lines = [_markdown_line(row) for row in cells(table)]
        rule = "|".join(["", " --- ", *[" ---: "] * (len(cells(table)[0]) - 1), ""])
        parts.append("\n".join([f"## {heading(table)}", "", lines[0], rule, *lines[1:]]))
        if finding(table):
            parts.append(finding(table))
    return "\n\n".join(parts) + "\n"


def as_latex(tables: Sequence[Table]) -> str:
    """All tables in LaTeX, as `tabular` within `table`, with no package needed."""
    return "\n".join(_latex_table(table) for table in tables)


def as_csv(tables: Sequence[Table]) -> str:
    """Criterion, data set, learner, mean, std, best, worse: one line a value, not rounded."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["criterion", "dataset", "learner", "mean", "std", "best", "worse"])
    for table in tables:
        for d, dataset in enumerate(table.datasets):
            for k, learner in enumerate(table.learners):
                rows.writerow(
                    [table.criterion, dataset, learner, _blank(table.means[k, d]),
                     _blank(table.deviations[k, d]), int(table.best[k, d]),
                     int(table.is_worse(learner, dataset))]
                )  # fmt: skip
    return out.getvalue()


def heading(table: Table) -> str:
    """The criterion and its better side.

    >>> import numpy as np
    >>> heading(Table("ranking_loss", [], [], np.empty((0, 0)), np.empty((0, 0)), [], None))
    'ranking loss ↓'
    """
    return f"{words(table.criterion)} {'↓' if smaller_is_better(table.criterion) else '↑'}"


def finding(table: Table) -> str:
    """What Friedman's and Nemenyi's tests say, in a sentence; nothing for one data set."""
    if table.friedman is None:
        return ""
    found = table.friedman
    return (
        f"Friedman over {len(table.datasets)} data sets: p = {found.p_value:.3g}; mean ranks "
        f"that differ by {found.critical_difference:.3g} or more differ significantly "
        f"(Nemenyi, {ALPHA:.0%})."
    )


def cells(table: Table) -> list[list[tuple[str, bool]]]:
    """Heading and rows of text, each with whether it is the best; the last column is mean rank."""
    ranks = table.ranks if len(table.datasets) > 1 else None
    last = [] if ranks is None else [("mean rank", False)]
    rows = [[("learner", False), *((name, False) for name in table.datasets), *last]]
    for k, learner in enumerate(table.learners):
        values = [(_value(table, k, d), bool(table.best[k, d])) for d in range(len(table.datasets))]
        rank = [] if ranks is None else [(f"{ranks[k]:.2f}", bool(ranks[k] == ranks.min()))]
        rows.append([(learner, False), *values, *rank])
    return rows


def _value(table: Table, k: int, d: int) -> str:
    mean, deviation = table.means[k, d], table.deviations[k, d]
    if math.isnan(mean):
        return "–"
    places = 3 if table.criterion in COSTS else 4
    spread = "" if math.isnan(deviation) else f" ± {deviation:.{places}f}"
    worse = " •" if table.is_worse(table.learners[k], table.datasets[d]) else ""
    return f"{mean:.{places}f}{spread}{worse}"


def _markdown_line(row: list[tuple[str, bool]]) -> str:
    found = [f"**{_markdown(text)}**" if best else _markdown(text) for text, best in row]
    return f"| {' | '.join(found)} |"


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
    caption = f"{_latex(heading(table))}. {_latex(NOTE)} {_latex(finding(table))}".strip()
    return (
        f"\\begin{{table}}\n\\centering\n\\begin{{tabular}}{{{columns}}}\n{body}"
        f"\\end{{tabular}}\n\\caption{{{caption}}}\n\\end{{table}}\n"
    )


def _latex(text: str) -> str:
    signs = {"±": r"$\pm$", "•": r"$\bullet$", "↓": r"$\downarrow$", "↑": r"$\uparrow$", "–": "--"}
    return "".join((_LATEX | signs).get(sign, sign) for sign in text)


def _blank(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))
