"""What all criteria share: checks of Y, scores, sets and weights, and parameters declared once.

A family of criteria is a function. Its first argument is what one criterion alone computes, the
function below `@member_of(family)` (and `inspect.unwrap` of the criterion); the others are the
parameters of every criterion of the family, and its docstring describes them.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.relevance import check_relevance
from labelrank.resources import run_jobs

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__")
_SECTION = re.compile(r"^(Parameters|Returns|Examples)\n-+\n", re.MULTILINE)
# Fewer entries than this are done before a second thread would have started.
_WORTH_THREADS = 1 << 19


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
    """Complete a docstring: parameters described by the family, the import of the example."""

    def decorate(function: F) -> F:
        own, shared = _sections(function), _sections(family)
        entries = _entries(shared["Parameters"]) | _entries(own.get("Parameters", ""))
        names = [name for name in inspect.signature(function).parameters if name in entries]
        example = own.get("Examples", "")
        imported = f">>> from labelrank.metrics import {function.__name__}\n"
        shown = {
            "Parameters": "\n".join(entries[name] for name in names),
            "Returns": own.get("Returns", shared["Returns"]),
            "Examples": example and imported + example,
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


def as_dense(what: str, values: Any) -> Array:
    """An array of what may be rows."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"got {what} with rows of different lengths; give a matrix (instances x labels)"
        ) from error


def check_pair(Y: Any, scores: Any) -> tuple[sp.csr_array, Array]:
    """Relevance, and scores of the same shape as a C-contiguous matrix; float32 stays float32."""
    if sp.issparse(scores):
        raise InputError("got sparse scores; give a dense matrix (instances x labels)")
    scores = as_dense("scores", scores)
    if scores.ndim != 2 or scores.dtype.kind not in "biuf":
        raise InputError(
            f"got scores of {scores.ndim} dimension(s) and type {scores.dtype}; "
            "give a matrix of numbers (instances x labels)"
        )
    dtype = np.float32 if scores.dtype in (np.float32, np.float16) else np.float64
    Y = check_relevance(Y)
    check_same_shape(Y, scores, "scores")
    return Y, np.ascontiguousarray(scores, dtype)


def check_same_shape(Y: Any, other: Any, name: str) -> None:
    if Y.shape != other.shape:
        raise InputError(
            f"Y has shape {tuple(Y.shape)} but {name} {tuple(other.shape)}; "
            "give the same instances and labels in the same order"
        )
    if Y.shape[0] == 0:
        raise InputError("got no instance; a criterion needs at least one row")


def refuse_nan(row: int) -> None:
    raise InputError(f"got a NaN score in row {row}; give numbers, or -inf for labels never chosen")


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Weights of the n instances, or None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise InputError(
            f"got sample_weight of shape {weights.shape}; give one weight per row: {n}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise InputError(
            "got sample_weight that is negative, not finite or all zero; "
            "give weights >= 0 with a positive sum"
        )
    return weights


def mean(values: Array, weights: Array | None) -> float:
    return float(np.average(values, weights=weights))


def mean_of_known(values: Array, weights: Array | None = None) -> float:
    """The mean of the values that are not NaN; NaN if there are none, or none with a weight."""
    known = ~np.isnan(values)
    chosen = None if weights is None else weights[known]
    if not known.any() or (chosen is not None and chosen.sum() == 0):
        return float("nan")
    return mean(values[known], chosen)


def answer(
    values: Array, *, sample_weight: Any = None, per_instance: bool = False
) -> float | Array:
    """The values of the instances, or their mean: how every criterion of instances ends.

    Parameters
    ----------
    sample_weight : array (n,) or None
        Weights of the instances in the mean.
    per_instance : bool
        Return the n values instead of their mean.

    Returns
    -------
    float, or array (n,)
    """
    weights = check_weights(sample_weight, len(values))
    return values if per_instance else mean(values, weights)


def in_threads(work: Callable[[S], T], pieces: Iterable[S], size: int) -> list[T]:
    """`work(piece)` for every piece, in order; over threads if `size` entries are worth it."""
    n_jobs = -1 if size >= _WORTH_THREADS else 1
    return run_jobs((functools.partial(work, piece) for piece in pieces), n_jobs)
