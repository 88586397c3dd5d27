"""`labelrank datasets`: which data sets there are, what they are like, getting one."""

from typing import Any

import typer
from typer import Argument, Option

from labelrank.cli.options import Shown
from labelrank.cli.printing import as_json, table
from labelrank.cli.sources import Folder, use_folder

EXAMPLE = "labelrank datasets\nlabelrank datasets tickets.csv\nlabelrank datasets --fetch emotions"


def datasets(
    shown: Shown,
    data: str = Argument("", metavar="DATA", help="Describe this name, path or -."),
    fetch: str = Option("", metavar="NAME", help="Get a set from its public home."),
    folder: Folder = None,
) -> None:
    """List the named data sets, describe one, or fetch one."""
    from labelrank import datasets

    if fetch:
        where = datasets.fetch(fetch, folder, progress=not shown.quiet)
        if shown.json:
            as_json({"name": fetch, "folder": str(where)})
        else:
            shown.say(f"{fetch} is in {where}")
        return
    use_folder(folder)
    if data:
        _describe(data, shown.json)
    else:
        _list(shown.json)


def _describe(data: str, json: bool) -> None:
    from labelrank.datasets import as_text, describe, info, load, names

    about: dict[str, Any] = info(data) if data.lower() in names() else {}
    about |= describe(load(data))
    if json:
        as_json(about)
    else:
        typer.echo(as_text({key: value for key, value in about.items() if value != []}))


def _list(json: bool) -> None:
    from labelrank.datasets import info, is_available, names

    known = [{**info(name), "available": is_available(name)} for name in names()]
    if json:
        as_json(known)
        return
    rows = []
    for one in known:
        absent = "can be fetched" if one["addresses"] else "missing"
        state = "here" if one["available"] else absent
        rows.append((one["name"], one["task"], state, one["origin"]))
    table("Data sets", ("name", "task", "state", "origin"), rows)
