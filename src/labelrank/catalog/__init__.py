"""Every learner of the papers under its paper name, with its paper's settings and ours.

The command line, the experiments and the server make their learners here. A family is a
module of this package that holds `ENTRIES`, data alone; adding one is adding its name to
`FAMILIES`.
"""

import importlib
from difflib import get_close_matches
from typing import Any

from labelrank.catalog.entry import Entry
from labelrank.errors import InputError, MissingError

__all__ = ["Entry", "describe", "entries", "make", "names"]

FAMILIES = (
    "perceptrons",
    "chains",
    "pro_loss",
    "pro_loss_rivals",
    "text",
    "embedding",
    "auto",
)


def entries() -> list[Entry]:
    """All entries, family by family.

    >>> entries()[0].name
    'BR'
    """
    modules = (importlib.import_module(f"{__name__}.{family}") for family in FAMILIES)
    return [entry for module in modules for entry in module.ENTRIES]


def names() -> list[str]:
    """The names `make` takes.

    >>> "BR" in names()
    True
    """
    return [entry.name for entry in entries()]


def describe(name: str) -> Entry:
    """The entry of that name (capitals do not matter), or a MissingError with near names.

    >>> describe("br").summary
    'Binary relevance: one perceptron a label, each on its own'
    """
    known = {entry.name.casefold(): entry for entry in entries()}
    if name.casefold() in known:
        return known[name.casefold()]
    near = get_close_matches(name.casefold(), known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(known[key].name for key in near)}?" if near else ""
    raise MissingError(
        f"got learner {name!r}, which the catalog does not hold; "
        + (hint or f"use one of {', '.join(entry.name for entry in known.values())}")
    )


def make(name: str, **overrides: Any) -> Any:
    """The learner of that name, ready to fit; `overrides` change its settings.

    Parameters of a part are reached as in scikit-learn: `make(..., estimator__C=10)`.

    >>> make("BR+", epochs=3).epochs
    3
    """
    entry = describe(name)
    parts = {key: _part(what) for key, what in entry.parts.items()}
    learner = _class(entry.learner)(**parts)
    try:
        return learner.set_params(**{**entry.settings, **overrides})
    except ValueError as error:
        raise _unknown_parameter(entry, learner, overrides) from error


def _part(what: str) -> Any:
    return _class(what)() if ":" in what else make(what)


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _unknown_parameter(entry: Entry, learner: Any, overrides: dict[str, Any]) -> InputError:
    known = learner.get_params(deep=True)
    wrong = next((key for key in overrides if key not in known), "")
    near = get_close_matches(wrong, known, n=2) or sorted(learner.get_params(deep=False))
    return InputError(f"{entry.name} has no parameter {wrong!r}; use {' or '.join(near)}")
