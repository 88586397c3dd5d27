"""The book of results: every table and figure of the papers beside ours, as one HTML page."""

import base64
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from labelrank.atomic import atomic_write
from labelrank.report.page import render

_LOOK = {"within tolerance": "hit", "order holds": "missed", "outside": "wrong"}


class Line(NamedTuple):
    """One number of a table: as published, as measured, and what is said of the two."""

    row: str
    column: str
    published: float | None
    ours: float | None
    difference: float | None
    verdict: str
    note: str = ""
    recorded: str = ""


class Picture(NamedTuple):
    """A picture and the name it has in the paper."""

    name: str
    png: bytes

    @property
    def source(self) -> str:
        return "data:image/png;base64," + base64.b64encode(self.png).decode()


@dataclass(frozen=True)
class Chapter:
    """An experiment with its numbers and pictures, or the error that ended it."""

    name: str
    title: str
    summary: str
    settings: str
    time: str
    lines: Sequence[Line] = ()
    pictures: Sequence[Picture] = ()
    error: str = ""

    @property
    def counts(self) -> list[tuple[str, int]]:
        """How many numbers got each verdict, as `Counter` meets them.

        >>> Chapter("x", "", "", "", "", [Line("a", "b", 1.0, 1.0, 0.0, "outside")]).counts
        [('outside', 1)]
        """
        return list(Counter(line.verdict for line in self.lines).items())


class Entry(NamedTuple):
    """A table or figure of a paper, the experiments that measure it, and its state."""

    paper: str
    label: str
    what: str
    experiments: Sequence[str]
    minutes: str
    state: str
    note: str


@dataclass(frozen=True)
class Book:
    """All that the page shows; `papers` maps the title of a paper to its chapters."""

    title: str
    facts: Mapping[str, str]
    contents: Sequence[Entry]
    papers: Mapping[str, Sequence[Chapter]]
    worse: Sequence[str] = field(default_factory=tuple)
    failed: Sequence[str] = field(default_factory=tuple)

    @property
    def written(self) -> set[str]:
        """The experiments that have a chapter."""
        return {chapter.name for chapters in self.papers.values() for chapter in chapters}

    @property
    def anchors(self) -> list[tuple[str, str]]:
        """Where each paper begins on the page, and what the link to it says."""
        return [(f"paper-{k}", title.split()[0]) for k, title in enumerate(self.papers)]


def book_page(book: Book) -> str:
    """The HTML of the book.

    >>> book_page(Book("Results", {}, [], {})).startswith("<!doctype html>")
    True
    """
    return render("book.html.jinja", book=book, number=number, look=_LOOK, colors=0)


def number(value: float | None) -> str:
    """Four significant digits; whole thousands in full; a dash for what is not there.

    >>> number(0.123456), number(1410047031.0), number(None)
    ('0.1235', '1,410,047,031', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def write_book_page(book: Book, path: str | os.PathLike[str]) -> Path:
    """Write the page to `path`, whole or not at all."""
    text = book_page(book)
    with atomic_write(path, "w") as file:
        file.write(text)
    return Path(path)
