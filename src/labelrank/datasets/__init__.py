"""Data sets: load by name or path, save, describe, fetch, and make synthetic ones."""

import importlib
from typing import Any

_HOME = {
    "Dataset": "dataset",
    "Limits": "opening",
    "MeshStream": "makers",
    "addresses": "fetching",
    "as_text": "dataset",
    "describe": "dataset",
    "fetch": "fetching",
    "info": "named",
    "is_available": "named",
    "load": "named",
    "make_chain": "makers",
    "make_linear_preferences": "makers",
    "make_rcv1_like": "makers",
    "names": "named",
    "open_parts": "parts",
    "save": "named",
    "synthesize_order": "orderings",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
