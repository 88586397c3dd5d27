"""Every learner of the papers under its paper name, with its paper's settings and ours.

Other packages add learners by the entry point group `labelrank.learners`: a name, and an `Entry`,
an estimator class, or a function that makes one.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint
from operator import attrgetter
from typing import Any

import labelrank
from labelrank import extensions
from labelrank.errors import InputError, MissingError, meant

__all__ = ["Entry", "describe", "entries", "make", "names", "prepared", "row"]

TABLES = ("tables",)
GROUP = "labelrank.learners"


@dataclass(frozen=True)
class Entry:
    """A learner of a paper, or our improvement of it, under its own name.

    `name` is as the paper writes it; an improved one ends in "+", and `improves` another entry.
    `learner` names a class of `labelrank`, or "module:Class"; it is imported when it is made.
    `paper` says where it comes from, `summary` what it does, in one line. `settings` are the
    parameters that differ from the defaults of the class. `parts` are those that are learners
    themselves: a catalog name, or "module:Class". `needs` is what it asks of the data beside a
    matrix: "text", "order", "classes". `grid` holds parameters worth tuning, each with the values
    that `labelrank tune` tries.
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


_AUTO = Entry(
    "auto", "AutoRanker", "this library",
    "Picks learner and cut for the data by a criterion, within a time budget",
)  # fmt: skip


def entries() -> list[Entry]:
    """All entries, table by table; those of other packages last."""
    return [*_own(), *extensions.loadable(GROUP, _added)]


def names() -> list[str]:
    """The names `make` takes.

    >>> "BR" in names()
    True
    """
    own = {entry.name.casefold(): entry.name for entry in _own()}
    added = [name for name in extensions.entry_points(GROUP) if name.casefold() not in own]
    return [*own.values(), *added]


def describe(name: str) -> Entry:
    """The entry of that name (capitals do not matter), or a MissingError with near names.

    >>> describe("br").summary
    'Binary relevance: one perceptron per label, each on its own'
    """
    wanted = name.casefold()
    for entry in _own():
        if entry.name.casefold() == wanted:
            return entry
    for entry_point in extensions.entry_points(GROUP).values():
        if entry_point.name.casefold() == wanted:
            return _added(entry_point, extensions.load(entry_point))
    near = meant(name, names())
    raise MissingError(
        f"got learner {name!r}, which the catalog does not hold; {near}'labelrank learners' and "
        "catalog.names() list all"
    )


def make(name: str, *, seed: int | None = None, n_jobs: int | None = None, **overrides: Any) -> Any:
    """The learner of that name, ready to fit; `overrides` change its settings.

    Parameters of a part are reached as in scikit-learn: `make(..., estimator__C=10)`. For `seed`
    and `n_jobs` see `prepared`.

    >>> make("BR+", epochs=3).epochs
    3
    """
    entry = describe(name)
    parts = {key: _part(what) for key, what in entry.parts.items()}
    learner = _class(entry.learner)(**parts)
    try:
        learner.set_params(**{**entry.settings, **overrides})
    except ValueError as error:
        raise _unknown_parameter(entry, learner.get_params(), overrides) from error
    return prepared(learner, seed, n_jobs)


def prepared(learner: Any, seed: int | None, n_jobs: int | None) -> Any:
    """The learner with seeds for all random states in it, and threads for the outermost of it.

    What has been set stays: only parameters that are None are changed.
    """
    if seed is not None:
        from labelrank.learners.around import seeded

        learner = seeded(learner, seed)
    known = learner.get_params(deep=True)
    jobs = sorted((key for key in known if key.split("__")[-1] == "n_jobs"), key=_depth)
    if n_jobs is not None and jobs and known[jobs[0]] is None:
        learner.set_params(**{jobs[0]: n_jobs})
    return learner


def _depth(parameter: str) -> int:
    return parameter.count("__")


def _own() -> list[Entry]:
    modules = (importlib.import_module(f"{__name__}.{table}") for table in TABLES)
    return [*(entry for module in modules for entry in module.ENTRIES), _AUTO]


def _added(entry_point: EntryPoint, offered: Any) -> Entry:
    """The entry of what another package offers; its own text where it is no `Entry`."""
    package = extensions.package_of(entry_point)
    if any(entry.name.casefold() == entry_point.name.casefold() for entry in _own()):
        raise MissingError(
            f"{package} offers {entry_point.name!r}, a name that the catalog has already; "
            "ask its author for another name"
        )
    if isinstance(offered, Entry):
        return replace(offered, name=entry_point.name)
    if not callable(offered):
        raise MissingError(
            f"{package} offers {entry_point.name!r}, but {entry_point.value} is "
            f"{type(offered).__name__}, not an Entry, a class or a function; update that package"
        )
    summary = (offered.__doc__ or entry_point.value).strip().split("\n")[0].rstrip(".")
    where = f"{entry_point.module}:{entry_point.attr}"
    return Entry(entry_point.name, where, package, summary)


def _part(what: str) -> Any:
    return _class(what)() if ":" in what else make(what)


def _class(name: str) -> Any:
    """A class of labelrank by its name, or of "module:Class"."""
    module, _, attribute = name.rpartition(":")
    return attrgetter(attribute)(importlib.import_module(module) if module else labelrank)


def _unknown_parameter(entry: Entry, known: Any, overrides: dict[str, Any]) -> InputError:
    wrong = next((key for key in overrides if key not in known), "")
    own = sorted(key for key in known if "__" not in key)
    near = get_close_matches(wrong, known, n=2) or own
    return InputError(f"{entry.name} has no parameter {wrong!r}; use {' or '.join(near)}")
