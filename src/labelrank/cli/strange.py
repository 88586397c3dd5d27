"""Labels that a model does not know: how many, and what may be meant by them."""

from collections.abc import Iterable, Sequence
from typing import Any

_MARKS = ";,|"


def told_new(names: Sequence[Any], known: Sequence[Any]) -> str:
    """What `learn` says of names that are not among those known before, "" where there are none.

    >>> told_new(["vpn", "VPN"], ["vpn"])
    "1 new label, 'VPN'; 'VPN' is like 'vpn', --merge-spellings makes them one"
    """
    before = set(map(str, known))
    new = [str(name) for name in names if str(name) not in before]
    if not new:
        return ""
    several = f"s, such as {new[0]!r}" if len(new) > 1 else f", {new[0]!r}"
    return f"{len(new):,} new label{several}{meant(new, known) or _LEAVE}"


_LEAVE = "; --new-labels ignore leaves out what is new"


def meant(strange: Sequence[str], known: Iterable[Any]) -> str:
    """The option that makes known labels of strange ones, "" where none does.

    >>> meant(["bug; login"], ["bug", "login"])
    "; 'bug; login' has labels that it knows, give --label-separator ';'"
    """
    from labelrank.datasets.spelling import spelled

    names = {spelled(str(name)): str(name) for name in known}
    for mark in _MARKS:
        for one in strange:
            parts = [part.strip() for part in one.split(mark)]
            if len(parts) > 1 and any(spelled(part) in names for part in parts):
                return f"; {one!r} has labels that it knows, give --label-separator {mark!r}"
    alike = next((one for one in strange if spelled(one) in names), None)
    if alike is None:
        return ""
    return f"; {alike!r} is like {names[spelled(alike)]!r}, --merge-spellings makes them one"
