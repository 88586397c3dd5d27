"""Whether the parts of an object are what its class declares: before saving, and after loading."""

import dataclasses
import math
import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from labelrank.declared import Part, Stored, check_parameters, how_stored
from labelrank.rows import check_sparse

Lengths = dict[str, int]

EVERYWHERE = ("K", "d")
MAX_THREADS = 1024
_SIDE = re.compile(r"([A-Za-z_]\w*)(?:\+(\d+))?")


def check(instance: Any, lengths: Lengths, *, restore: bool) -> None:
    """Raise ValueError unless an object, and all it holds, is as declared.

    `lengths` are those known so far; the object adds its own "K" and "d". With `restore`, each
    object then builds what it derives from its parts, innermost first.
    """
    how = how_stored(type(instance))
    if how is None:
        return
    is_estimator = hasattr(instance, "get_params")
    parts = how.values(instance)
    if is_estimator:
        check_settings(instance)
    for name, part in how.parts.items():
        if not part.optional and parts.get(name) is None:
            raise ValueError(f"{how.name} has no {name}")
    known = {} if is_estimator else {name: lengths[name] for name in EVERYWHERE if name in lengths}
    for name, value in parts.items():
        part = how.parts[name]
        if value is not None:
            _check_part(f"{how.name}.{name}", part, value, known)
        for held in _held(part, value):
            check(held, known, restore=restore)
    for name, value in parts.items():
        if value is not None:
            _check_indices(f"{how.name}.{name}", how.parts[name], value, known, parts)
    if not is_estimator:
        lengths.update((name, known[name]) for name in EVERYWHERE if name in known)
    if restore and hasattr(instance, "after_loading"):
        instance.after_loading()


def check_settings(estimator: Any) -> None:
    """Raise ValueError for a parameter that the estimator would refuse when it is fitted."""
    get_tags(estimator)  # which asks the estimators among the parameters for theirs
    n_jobs = getattr(estimator, "n_jobs", None)
    if n_jobs is not None and not (type(n_jobs) is int and 0 < abs(n_jobs) <= MAX_THREADS):
        raise ValueError(f"{type(estimator).__name__}.n_jobs is {str(n_jobs)[:40]}")
    if hasattr(estimator, "check_parameters"):
        estimator.check_parameters()
    elif dataclasses.is_dataclass(estimator):
        check_parameters(estimator)


def is_fitted(how: Stored, instance: Any) -> bool:
    """Whether an object has any part, or needs none."""
    required = {name for name, part in how.parts.items() if not part.optional}
    return not required or bool(required & how.values(instance).keys())


def _held(part: Part, value: Any) -> list[Any]:
    if part.kind != "nested" or value is None:
        return []
    return list(value) if part.many else [value]


def _check_part(where: str, part: Part, value: Any, lengths: Lengths) -> None:
    """The kind, type and shape of one part; lengths met first are noted."""
    if part.kind == "array":
        _check_array(where, part, value)
        _check_shape(where, part, value.shape, lengths)
    elif part.kind == "sparse":
        if not sp.issparse(value) or value.dtype.kind not in "biuf":
            raise ValueError(f"{where} is no sparse matrix of numbers")
        check_sparse(value)
        _check_finite(where, part, value.data)
        _check_shape(where, part, value.shape, lengths)
    elif part.kind == "nested":
        if part.many and type(value) not in (list, tuple):
            raise ValueError(f"{where} is no list")
        for held in _held(part, value):
            if type(held) in part.types:
                _check_value(where, part, held)
            else:
                _check_class(where, part, held)
    elif part.kind == "any":
        _check_plain(where, value)
    elif part.kind == "value":
        _check_value(where, part, value)
        if part.length is not None and lengths.setdefault(part.length, value) != value:
            raise ValueError(f"{where} is {value}, not {lengths[part.length]}")


def _check_array(where: str, part: Part, value: Any) -> None:
    if not isinstance(value, np.ndarray):
        raise ValueError(f"{where} is no array")
    kind = "O" if value.dtype.kind == "O" else value.dtype.str[1:]
    if part.dtypes and kind not in part.dtypes and value.dtype.kind not in part.dtypes:
        raise ValueError(f"{where} has the type {value.dtype}")
    if not value.flags.c_contiguous and part.layout == "C":
        raise ValueError(f"{where} is not laid out row by row")
    _check_finite(where, part, value)


def _check_finite(where: str, part: Part, values: Any) -> None:
    if part.finite and values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{where} holds numbers that are not finite")


def _check_shape(where: str, part: Part, shape: tuple[int, ...], lengths: Lengths) -> None:
    declared = part.shape or ()
    fits = len(declared) == len(shape)
    if not fits or not all(map(lambda a, b: _fits(a, b, lengths), declared, shape)):
        raise ValueError(f"{where} has the shape {shape}, not {declared} with {lengths}")


def _fits(side: int | str, length: int, lengths: Lengths) -> bool:
    """Whether a length is that of a declared side; a name met first takes it."""
    if isinstance(side, int):
        return length == side
    if side.endswith(" or 0"):
        return length == 0 or _fits(side.removesuffix(" or 0"), length, lengths)
    matched = _SIDE.fullmatch(side)
    if matched is None:
        raise ValueError(f"the side {side!r} is none of: a number, K, K+1, K or 0")
    length -= int(matched[2] or 0)
    return length >= 0 and lengths.setdefault(matched[1], length) == length


def _check_class(where: str, part: Part, held: Any) -> None:
    how = how_stored(type(held))
    if part.classes and (how is None or how.name not in part.classes):
        raise ValueError(f"{where} is a {type(held).__name__}, not {' or '.join(part.classes)}")
    if not part.classes and not hasattr(held, "get_params"):
        raise ValueError(f"{where} is no estimator")


def _check_plain(where: str, value: Any) -> None:
    """That data of no fixed form hold no objects, which would go unchecked."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _check_plain(where, item)
    elif how_stored(type(value)) is not None or hasattr(value, "get_params"):
        raise ValueError(f"{where} holds a {type(value).__name__}; declare it as nested")


def _check_value(where: str, part: Part, value: Any) -> None:
    plain = value.item() if isinstance(value, np.generic) else value
    is_truth = isinstance(plain, bool) and bool not in part.types
    if part.types and (is_truth or not isinstance(plain, part.types)):
        raise ValueError(f"{where} is {str(plain)[:40]!r}")
    if part.finite and isinstance(plain, float) and not math.isfinite(plain):
        raise ValueError(f"{where} is {plain}")
    if part.least is not None and not plain >= part.least:
        raise ValueError(f"{where} is {plain}, below {part.least}")


def _check_indices(where: str, part: Part, value: Any, lengths: Lengths, parts: Any) -> None:
    """That indices and row pointers stay within what they point to."""
    if part.below is not None and value.size:
        below = part.below
        if isinstance(below, str):
            below = lengths[below] if below in lengths else int(parts[below])
        if value.dtype.kind not in "iu" or value.min() < 0 or value.max() >= below:
            raise ValueError(f"{where} must lie from 0 to {below - 1}")
    if part.points_into is not None:
        fits = value.dtype.kind in "iu" and value.ndim == 1 and len(value) > 0 and value[0] == 0
        if not fits or (value[1:] < value[:-1]).any() or value[-1] != len(parts[part.points_into]):
            raise ValueError(f"{where} are no row pointers into {part.points_into}")
