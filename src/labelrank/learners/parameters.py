"""Refusing wrong parameters: one sentence with what was got and what is wanted."""

from typing import Any

import numpy as np

from labelrank.errors import InputError


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a parameter that is not one of the choices."""
    if value not in choices:
        raise InputError(f"got {name}={value!r}; use one of {', '.join(map(repr, choices))}")


def check_at_least(name: str, value: Any, least: float) -> None:
    """Refuse a parameter that is not a number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or value < least:
        raise InputError(f"got {name}={value!r}; give a number of at least {least:g}")
