"""`labelrank datasets`: which data sets there are, what they are like, getting one."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Json, Quiet
from labelrank.cli.printing import as_json, say, table
from labelrank.cli.reading import Folder, use_folder

Name = Annotated[str, typer.Argument(metavar="DATA", help="Describe this name, path or -.")]
Fetch = Annotated[str, typer.Option(metavar="NAME", help="Get a set from its public home.")]


def datasets(
    data: Name = "",
    fetch: Fetch = "",
    folder: Folder = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the named data sets, describe one, or fetch one."""
    if fetch:
        _fetch(fetch, folder, json, quiet)
        return
    use_folder(folder)
    if data:
        _describe(data, json)
    else:
        _list(json)


def _fetch(name: str, folder: Path | None, json: bool, quiet: bool) -> None:
    from labelrank.datasets import fetch

    where = fetch(name, folder, progress=not quiet)
    if json:
        as_json({"name": name, "folder": str(where)})
    else:
        say(f"{name} is in {where}", quiet)


def _describe(data: str, json: bool) -> None:
    from labelrank.datasets import as_text, describe, info, load, names

    about: dict[str, Any] = info(data) if data.lower() in names() else {}
    found = {**about, **describe(load(data))}
    if json:
        as_json(found)
    else:
        typer.echo(as_text({key: value for key, value in found.items() if value != []}))


def _list(json: bool) -> None:
    from labelrank.datasets import info, is_available, names

    found = [{**info(name), "available": is_available(name)} for name in names()]
    if json:
        as_json(found)
        return
    rows = [(each["name"], each["task"], _state(each), each["origin"]) for each in found]
    table("Data sets", ("name", "task", "state", "origin"), rows)


def _state(found: dict[str, Any]) -> str:
    if found["available"]:
        return "here"
    return "can be fetched" if found["addresses"] else "missing"
