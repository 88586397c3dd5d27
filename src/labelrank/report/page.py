"""The page itself: a template, and the words that explain each criterion."""

import os
from pathlib import Path

from labelrank import __version__
from labelrank.atomic import atomic_write
from labelrank.report.chart import threshold_chart
from labelrank.report.results import RankedLabel, Results

_LOSSES = ("loss", "error", "coverage")
_SPELLED = {"f1": "F1", "auc": "AUC", "ndcg": "nDCG", "pro": "PRO"}


def page(results: Results) -> str:
    """The HTML of the page.

    >>> import numpy as np
    >>> from labelrank.report import gather
    >>> results = gather("Two labels", {}, [[1, 0]], np.eye(1, 2), label_names=["a", "b"])
    >>> page(results).startswith("<!doctype html>")
    True
    """
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    found = Environment(
        loader=PackageLoader("labelrank.report", "."), autoescape=True, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters |= {"words": words, "arrow": arrow, "outcome": _outcome}
    chart = threshold_chart(results.curve, results.threshold) if results.curve else ""
    template = found.get_template("page.html.jinja")
    return template.render(results=results, version=__version__, chart=Markup(chart))  # noqa: S704 - our own SVG


def words(criterion: str) -> str:
    """The name of a criterion as people write it.

    >>> words("ranking_loss"), words("micro_f1")
    ('ranking loss', 'micro F1')
    """
    return " ".join(_SPELLED.get(word, word) for word in criterion.split("_"))


def arrow(criterion: str) -> str:
    """Whether smaller or larger values are better; nothing for mere counts.

    >>> arrow("ranking_loss"), arrow("micro_f1")
    ('↓', '↑')
    """
    if criterion.endswith("left_out"):
        return ""
    return "↓" if any(loss in criterion for loss in _LOSSES) else "↑"


def _outcome(label: RankedLabel) -> str:
    if label.chosen:
        return "hit" if label.relevant else "wrong"
    return "missed" if label.relevant else ""


def write(results: Results, path: str | os.PathLike[str]) -> Path:
    """Write the page to `path`, whole or not at all."""
    with atomic_write(path, "w") as file:
        file.write(page(results))
    return Path(path)
