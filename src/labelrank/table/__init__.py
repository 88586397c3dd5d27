"""Tables as people have them, turned into features: numbers, categories, dates, texts, gaps."""

from typing import Any

from labelrank.table.frame import GAPS, columns_of, is_frame, n_rows, take

__all__ = ["GAPS", "Column", "columns_of", "find_roles", "is_frame", "n_rows", "take"]


def __getattr__(name: str) -> Any:
    """What reads cells, and loads polars, is imported when it is first used."""
    if name in __all__:
        from labelrank.table import roles

        return getattr(roles, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
