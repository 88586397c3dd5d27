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
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

_PARAMETERS = "Parameters\n----------\n"
_RETURNS = "Returns\n-------\n"
_EXAMPLES = "Examples\n--------\n"


def member_of(
    family: Callable[Concatenate[Callable[..., Any], P], R],
) -> Callable[[Callable[..., Any]], Callable[P, R]]:
    """Make a criterion of what it alone computes: signature and parameters are the family's."""

    def decorate(computation: Callable[..., Any]) -> Callable[P, R]:
        @functools.wraps(computation, assigned=("__module__", "__name__", "__qualname__"))
        def criterion(*args: P.args, **kwargs: P.kwargs) -> R:
            return family(computation, *args, **kwargs)

        signature = inspect.signature(family)
        shared = list(signature.parameters.values())[1:]
        criterion.__signature__ = signature.replace(parameters=shared)  # type: ignore[attr-defined]
        criterion.__doc__ = _merged(computation, family)
        return criterion

    return decorate


def documented_like(family: Callable[..., Any]) -> Callable[[F], F]:
    """Add the parameters that `family` describes to those that the docstring describes itself."""

    def decorate(function: F) -> F:
        function.__doc__ = _merged(function, family)
        return function

    return decorate


def _merged(function: Callable[..., Any], family: Callable[..., Any]) -> str:
    """The function's docstring with the family's Parameters and Returns before its Examples."""
    about, _, examples = (inspect.getdoc(function) or "").partition(_EXAMPLES)
    about, _, own = about.partition(_PARAMETERS)
    shared = (inspect.getdoc(family) or "").partition(_PARAMETERS)[2]
    shared, _, returns = shared.partition(_RETURNS)
    parts = [about.rstrip(), "", _PARAMETERS + shared.rstrip(), own.rstrip(), ""]
    parts += [_RETURNS + returns.rstrip(), "", _EXAMPLES + examples if examples else ""]
    return "\n".join(parts).replace("\n\n\n", "\n\n").rstrip() + "\n"
