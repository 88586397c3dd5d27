"""What commands print on standard output: tables for people, JSON for machines."""

import json
import math
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer

_OF_TARGETS = {
    "exact_match": "all targets of a row are right", "hamming_score": "share of targets right",
}  # fmt: skip


def console() -> Any:
    """A console as wide as the terminal, or wide enough for any table in a pipe."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else 160
    return Console(width=width, markup=False, highlight=False, emoji=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Any], right_from: int = 99) -> None:
    """Print a table; columns of numbers, and those from `right_from` on, stand to the right."""
    if title:
        typer.echo(title)
    drawn = Table(columns, right_from)
    drawn.add(rows)
    drawn.close()


class Table:
    """A table whose rows may come in pieces: one heading, and columns that get only wider."""

    def __init__(self, columns: Sequence[str], right_from: int = 99) -> None:
        self._columns, self._right_from = columns, right_from
        self._widths = [len(column) for column in columns]
        self._edge = ""

    def add(self, rows: Iterable[Any]) -> None:
        """Print some rows, the first time below the heading."""
        from rich import box
        from rich.table import Table as Drawn
        from rich.text import Text

        rows = [list(row) for row in rows]
        is_first = not self._edge
        drawn = Drawn(box=box.SIMPLE_HEAD, show_header=is_first and any(self._columns))
        cells = [[number(cell) for cell in row] for row in rows]
        for k, column in enumerate(self._columns):
            numeric = bool(rows) and all(isinstance(row[k], int | float | None) for row in rows)
            side: Any = "right" if numeric or k >= self._right_from else "left"
            least = None if is_first else self._widths[k]
            drawn.add_column(column, justify=side, overflow="fold", min_width=least)
            self._widths[k] = max([self._widths[k], *(len(row[k]) for row in cells)])
        for row in cells:
            drawn.add_row(*map(Text, row))
        screen = console()
        with screen.capture() as text:  # else rich ends the program where the reader has gone
            screen.print(drawn)
        top, *lines, self._edge = text.get().splitlines(keepends=True)
        typer.echo("".join([top, *lines] if is_first else lines), nl=False)

    def close(self) -> None:
        """End the table."""
        typer.echo(self._edge, nl=False)


def number(cell: Any) -> str:
    """A cell as text: floats to four places, nothing for None."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def criteria_table(columns: Mapping[str, Mapping[str, float]]) -> None:
    """Print the criteria of one or several models, each with an arrow to the better side."""
    from labelrank.report import criteria_rows

    headings = columns if len(columns) > 1 else ["value"]
    rows = [(_pointed(row.name), *_marked(row.cells)) for row in criteria_rows(columns)]
    table("", ("criterion", *headings), rows, right_from=1)


def verdict(
    columns: Mapping[str, Mapping[str, float]], guess: Mapping[str, float], labels_per_row: float
) -> None:
    """Print one sentence on the first model, then the chief criteria of all beside a guess."""
    from labelrank.evaluation.verdict import CHIEF, chief, sentence
    from labelrank.report import criteria_rows

    typer.echo(wrapped(sentence(next(iter(columns.values())), guess, labels_per_row)))
    about = CHIEF if len(columns) == 1 else dict.fromkeys(CHIEF, "")
    rows = [
        (_pointed(name), about[name], *_marked(cells), f"{guess[name]:.4f}")
        for name, cells in criteria_rows({name: chief(one) for name, one in columns.items()})
    ]
    of_targets = {name: {key: one[key] for key in _OF_TARGETS if key in one}
                  for name, one in columns.items()}  # fmt: skip
    rows += [
        (_pointed(name), _OF_TARGETS[name] if len(columns) == 1 else "", *_marked(cells), "")
        for name, cells in criteria_rows(of_targets)
    ]
    table("", ("criterion", "", *columns, "guessing"), rows, right_from=2)


def _pointed(criterion: str) -> str:
    from labelrank.report import arrow, words

    return f"{words(criterion)} {arrow(criterion)}"


def _marked(cells: Iterable[tuple[str, bool]]) -> list[str]:
    return [f"{text} *" if best else text for text, best in cells]


def shortened(text: str, width: int) -> str:
    """The start of a text on one line."""
    return textwrap.shorten(text, width, placeholder=" …")


def wrapped(text: str, margin: str = "", hanging: str | None = None) -> str:
    """Lines of at most 80 characters, and no wider than the console; words are not broken."""
    return textwrap.fill(
        text, min(80, console().width), initial_indent=margin,
        subsequent_indent=margin if hanging is None else hanging,
        break_on_hyphens=False, break_long_words=False,
    )  # fmt: skip


def as_json(value: Any) -> None:
    """Print one JSON value on one line; what is not a number (NaN, infinity) becomes null."""
    typer.echo(json.dumps(_plain(value), ensure_ascii=False, default=str, allow_nan=False))


def _plain(value: Any) -> Any:
    """Containers, and numbers and arrays of numpy, as Python's own."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
