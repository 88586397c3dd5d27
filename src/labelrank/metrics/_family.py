"""Criteria of one family share their parameters: each is declared once, and shown by all.

A family is a function. Its first argument is what one criterion alone computes; the others are the
parameters of every criterion of the family, and its docstring describes them:

    @member_of(of_rankings)
    def is_error(table):
        '''1 if any relevant label is ranked behind an irrelevant one, else 0.'''
        return table[:, kernels.IS_ERROR]

Then `is_error(Y, scores, ties="random")` is `of_rankings(computation, Y, scores, ties="random")`,
where `computation` is the function as written (`inspect.unwrap(is_error)`).
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__")
_SECTION = re.compile(r"^(Parameters|Returns|Examples)\n-+\n", re.MULTILINE)


def member_of(
    family: Callable[Concatenate[Callable[..., Any], P], R],
) -> Callable[[Callable[..., Any]], Callable[P, R]]:
    """Make a criterion of what it alone computes: signature and parameters are the family's."""

    def decorate(computation: Callable[..., Any]) -> Callable[P, R]:
        @functools.wraps(computation, assigned=_COPIED)
        def criterion(*args: P.args, **kwargs: P.kwargs) -> R:
            return family(computation, *args, **kwargs)

        signature = inspect.signature(family)
        shared = list(signature.parameters.values())[1:]
        criterion.__signature__ = signature.replace(parameters=shared)  # type: ignore[attr-defined]
        return documented_like(family)(criterion)

    return decorate


def documented_like(family: Callable[..., Any]) -> Callable[[F], F]:
    """Add the family's descriptions of shared parameters, where a docstring gives none itself."""

    def decorate(function: F) -> F:
        own, shared = _sections(function), _sections(family)
        entries = _entries(shared["Parameters"]) | _entries(own.get("Parameters", ""))
        names = [name for name in inspect.signature(function).parameters if name in entries]
        shown = {
            "Parameters": "\n".join(entries[name] for name in names),
            "Returns": own.get("Returns", shared["Returns"]),
            "Examples": own.get("Examples", ""),
        }
        parts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in shown.items() if text]
        function.__doc__ = "\n\n".join([own[""], *parts]) + "\n"
        return function

    return decorate


def _sections(function: Callable[..., Any]) -> dict[str, str]:
    """The sections of a docstring by their titles; what stands before them has none."""
    about, *rest = _SECTION.split(inspect.getdoc(function) or "")
    return {"": about.strip()} | {
        title: text.strip() for title, text in zip(rest[::2], rest[1::2], strict=True)
    }


def _entries(parameters: str) -> dict[str, str]:
    """What is said of each parameter, by its name (several described together: the first)."""
    entries = re.split(r"\n(?=\S)", parameters)
    return {entry.split(" :")[0].split(",")[0]: entry for entry in entries if entry}
