"""What the catalog knows of one learner, without importing it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A learner of a paper, or our improvement of it, under its own name.

    Parameters
    ----------
    name : str
        As the paper writes it; an improved one ends in "+".
    learner : str
        A class of `labelrank` by its name, or "module:Class"; imported when the learner is made.
    paper : str
        Where it comes from.
    summary : str
        One line.
    settings : mapping
        Parameters that differ from the defaults of the class.
    parts : mapping
        Parameters that are learners themselves: a catalog name, or "module:Class".
    needs : tuple of str
        What it asks of the data beside a matrix: "text", "order", "classes".
    improves : str or None
        The entry this one improves on.
    grid : mapping
        Parameters worth tuning, each with the values that `labelrank tune` tries.
    """

    name: str
    learner: str
    paper: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    improves: str | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


def row(
    name: str, learner: str, paper: str, summary: str, grid: Mapping[str, tuple[Any, ...]],
    *, needs: tuple[str, ...] = (), parts: Mapping[str, str] | None = None, **settings: Any,
) -> Entry:  # fmt: skip
    """An entry with its settings as keywords; one whose name ends in "+" improves on another."""
    improves = name[:-1] if name.endswith("+") else None
    return Entry(name, learner, paper, summary, settings, parts or {}, needs, improves, grid)
