"""The book of results: every table and figure of the papers beside ours, as one HTML page."""

import base64
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from labelrank.experiments.book import Chapter, pictures
from labelrank.experiments.registry import TITLES, Experiment, authors, contents
from labelrank.experiments.verdicts import Record, Worse
from labelrank.report.page import render

_LOOK = {
    "within tolerance": "hit", "order holds": "missed", "outside": "wrong", "claim holds": "hit",
    "claim fails": "wrong",
}  # fmt: skip


def book_page(
    done: Sequence[Chapter],
    experiments: Mapping[str, Experiment],
    folder: Path,
    worse: Sequence[Worse] = (),
) -> str:
    """The HTML of the book, with the pictures of its folder; `experiments` come in that order."""
    papers: dict[str, list[tuple[Experiment, Chapter]]] = {}
    for chapter in sorted(done, key=lambda one: list(experiments).index(one.experiment)):
        experiment = experiments[chapter.experiment]
        papers.setdefault(experiment.paper, []).append((experiment, chapter))
    return render(
        "book.html.jinja",
        facts=_facts(done),
        contents=contents(),
        papers=dict(sorted(papers.items())),
        anchors=[(f"paper-{paper}", authors(paper)) for paper in sorted(papers)],
        titles=TITLES,
        authors=authors,
        written=[chapter.experiment for chapter in done],
        alarms=[
            ("worse", "Worse than recorded", [str(one) for one in worse]),
            ("failed", "Failed", [f"{one.experiment}: {one.error}" for one in done if one.error]),
        ],
        recorded={one.cell: str(one.recorded) for one in worse},
        pictures=lambda name: {p.stem: _source(p) for p in pictures(folder, name)},
        remark=_remark,
        number=number,
        look=_LOOK,
        colors=0,
    )


def _facts(done: Sequence[Chapter]) -> dict[str, str]:
    counts = sum((chapter.counts for chapter in done), Counter[str]())
    return {
        "experiments": str(len(done)),
        "seed": ", ".join({str(chapter.seed) for chapter in done}),
        "minutes": f"{sum(chapter.seconds for chapter in done) / 60:.1f}",
        **{verdict: str(n) for verdict, n in counts.items()},
    }


def _source(picture: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()


def _remark(record: Record) -> str:
    """The note without the place of a picture, which the book holds itself."""
    return " ".join(word for word in record.note.split() if not word.endswith(".png"))


def number(value: float | None) -> str:
    """Four significant digits; whole thousands in full; a dash for what is not there."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
