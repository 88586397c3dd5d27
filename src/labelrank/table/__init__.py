"""Tables as people have them, turned into features: numbers, categories, dates, texts, gaps."""

from importlib import import_module
from typing import Any

from labelrank.table.frame import GAPS, columns_of, is_frame, n_rows, names_of, take

__all__ = [
    "GAPS", "ROLES", "Column", "TablePreparation", "columns_of", "find_roles", "is_frame", "n_rows",
    "names_of", "take",
]  # fmt: skip
_LATER = {
    "Column": "roles",
    "ROLES": "roles",
    "find_roles": "roles",
    "TablePreparation": "preparation",
}


def __getattr__(name: str) -> Any:
    """What reads cells, and loads polars, is imported when it is first used."""
    if name in _LATER:
        return getattr(import_module(f"labelrank.table.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
