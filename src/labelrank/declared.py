"""What a class declares once: its parameters with their constraints, and its stored parts.

A parameter is a line of a dataclass: `alpha: float = number(1.0, least=0)`. What a model file
keeps is a decorator: `@stored("Rocchio", 1, sums=nested("LabelSums"))`.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from labelrank.errors import InputError

T = TypeVar("T", bound=type)

_CHECK = "labelrank_check"


def number(
    default: Any, *, least: float | None = None, above: float | None = None,
    most: float | None = None, whole: bool = False, or_none: bool = False,
) -> Any:  # fmt: skip
    """A parameter that is a finite number: at least `least`, above `above`, at most `most`."""

    def fits(value: Any) -> bool:
        if value is None:
            return or_none
        return bool(
            (_is_whole(value) if whole else _is_number(value))
            and math.isfinite(value)
            and (least is None or value >= least)
            and (above is None or value > above)
            and (most is None or value <= most)
        )

    bounds = [("at least", least), ("above", above), ("at most", most)]
    words = " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
    of = " of " if words.startswith("at") else " " if words else ""
    kind, none = "whole " if whole else "", " or None" if or_none else ""
    return _checked(default, fits, f"give a {kind}number{of}{words}{none}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def choice(default: Any, *others: Any) -> Any:
    """A parameter that is one of these values."""
    choices = (default, *others)

    def fits(value: Any) -> bool:
        return any(value is option or (type(value) is type(option) and value == option)
                   for option in choices)  # fmt: skip

    return _checked(default, fits, f"use one of {', '.join(map(repr, choices))}")


def flag(default: bool) -> Any:
    """A parameter that is True or False."""
    return _checked(default, lambda value: isinstance(value, bool | np.bool_), "use True or False")


def folds() -> Any:
    """`cv`: None, a whole number of folds, or an object that splits, as scikit-learn has them."""

    def fits(value: Any) -> bool:
        return value is None or (_is_whole(value) and value >= 2) or hasattr(value, "get_n_splits")

    return _checked(None, fits, "give a whole number of folds from 2, a splitter, or None")


def threads() -> Any:
    """`n_jobs`: a whole number of threads but 0, or None."""

    def fits(value: Any) -> bool:
        return value is None or (_is_whole(value) and value != 0)

    return _checked(None, fits, "give a whole number of threads, -1 for all cores, or None for 1")


def seed() -> Any:
    """`random_state`: a whole number from 0 to 2**32 - 1, a RandomState, or None."""

    def fits(value: Any) -> bool:
        if value is None or isinstance(value, np.random.RandomState):
            return True
        return _is_whole(value) and 0 <= value < 2**32

    wanted = "give a whole number from 0 to 4294967295, a numpy RandomState, or None"
    return _checked(None, fits, wanted)


def a_learner(*words: str, needed: bool = False) -> dict[str, Any]:
    """Metadata of a field that is an estimator, one of these words, or None where not needed."""

    def fits(value: Any) -> bool:
        if value is None or isinstance(value, str):
            return not needed if value is None else value in words
        return hasattr(value, "fit") and not isinstance(value, type)

    wanted = "give an estimator, such as BinaryRelevancePerceptron()"
    wanted += "".join(f", or {word!r}" for word in words)
    return {_CHECK: (fits, wanted)}


def cut(default: Any = "cardinality") -> Any:
    """`threshold` of a ranker without one of its own: a number, or "cardinality"."""

    def fits(value: Any) -> bool:
        is_text = isinstance(value, str)
        return value == "cardinality" if is_text else _is_number(value) and not math.isnan(value)

    return _checked(default, fits, "use a number or 'cardinality'")


def _checked(default: Any, fits: Callable[[Any], bool], wanted: str) -> Any:
    return field(default=default, metadata={_CHECK: (fits, wanted)})


def check_parameters(learner: Any) -> None:
    """Raise InputError for the first parameter that is not what was declared."""
    for declared in dataclasses.fields(learner):
        if _CHECK not in declared.metadata:
            continue
        fits, wanted = declared.metadata[_CHECK]
        value = getattr(learner, declared.name)
        if not fits(value):
            raise InputError(f"got {declared.name}={value!r}; {wanted}")


@dataclass(frozen=True)
class Part:
    """One part of what a class stores; "K" and "d" in a `shape` are the labels and the features."""

    kind: str
    attribute: str | None = None
    optional: bool = False
    volatile: bool = False
    dtypes: tuple[str, ...] = ()
    shape: tuple[int | str, ...] | None = None
    below: int | str | None = None
    points_into: str | None = None
    finite: bool = True
    layout: str = "C"
    types: tuple[type, ...] = ()
    least: float | None = None
    most: str | None = None
    length: str | None = None
    classes: tuple[str, ...] = ()
    many: bool = False


def array(dtypes: str, *shape: int | str, **more: Any) -> Part:
    """An array of one of the dtypes ("f4 f8"; "" for any; "O" holds strings) and this shape.

    A side may be "K or 0", or "K+1". `below`: every value is an index from 0 to that number, or
    length, or part, less 1. `points_into`: row pointers from 0, never falling, to the length of
    that part.
    """
    return Part("array", dtypes=tuple(dtypes.split()), shape=shape, **more)


def sparse(*shape: int | str, **more: Any) -> Part:
    """A sparse matrix of scipy; its pointers and indices are always checked."""
    return Part("sparse", shape=shape, **more)


def value(*types: type, least: float | None = None, **more: Any) -> Part:
    """A plain value of one of these types; `most` and `length` bound it by a length such as "K"."""
    return Part("value", types=types, least=least, **more)


def nested(*classes: str, **more: Any) -> Part:
    """An object stored under one of these names (none: any estimator), or a list: `many=True`."""
    return Part("nested", classes=classes, **more)


def anything(**more: Any) -> Part:
    """Plain data of no fixed form, such as label names; code that reads it must not trust it."""
    return Part("any", **more)


@dataclass(frozen=True)
class Stored:
    """How a class is stored: `name` and the names of the parts never change."""

    name: str
    version: int
    parts: Mapping[str, Part]

    def values(self, instance: Any) -> dict[str, Any]:
        """The parts that an object has; one that is not fitted lacks some."""
        names = [(name, part.attribute or name) for name, part in self.parts.items()]
        return {name: getattr(instance, own) for name, own in names if hasattr(instance, own)}


def stored(name: str | None, version: int = 1, /, **parts: Part) -> Callable[[T], T]:
    """Declare how model files keep a class; parts of its base classes are kept too.

    The name is None for a base class of which there are no instances. A class may have a method
    `after_loading(self)`: it builds what is derived from the parts, and raises ValueError where
    parts that are sound one by one do not fit together.
    """

    def declare(cls: T) -> T:
        together = {**getattr(cls, "_stored_parts", {}), **parts}
        cls._stored_parts = together  # type: ignore[attr-defined]
        if name is not None:
            cls._stored = Stored(name, version, together)  # type: ignore[attr-defined]
        return cls

    return declare


def how_stored(cls: type) -> Stored | None:
    """The declaration of exactly this class, not of a base class."""
    return vars(cls).get("_stored")
