"""JSON without its loose ends: no repeated keys, no NaN, no endless integers, no deep nesting."""

import json
import math
from typing import Any, NoReturn

MAX_DIGITS = 400


def parse(text: str | bytes) -> Any:
    """The value of a JSON text, or a ValueError in one phrase.

    >>> parse('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    if not isinstance(text, str | bytes):
        raise ValueError(f"{type(text).__name__} in place of text")
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_int=_short_integer,
            parse_float=_finite,
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"the number {name}")


def _short_integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:20]}")
    return value
