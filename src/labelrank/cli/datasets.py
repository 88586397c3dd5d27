"""`labelrank datasets`: which data sets there are, what they are like, getting one."""

from typing import Any

import typer

from labelrank.cli.options import Folder, Shown
from labelrank.cli.printing import as_json, table
from labelrank.cli.reading import use_folder


def datasets(
    shown: Shown,
    data: str = typer.Argument("", metavar="DATA", help="Describe this name, path or -."),
    fetch: str = typer.Option("", metavar="NAME", help="Get a set from its public home."),
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
    rows = [(each["name"], each["task"], _state(each), each["origin"]) for each in known]
    table("Data sets", ("name", "task", "state", "origin"), rows)


def _state(about: dict[str, Any]) -> str:
    if about["available"]:
        return "here"
    return "can be fetched" if about["addresses"] else "missing"
