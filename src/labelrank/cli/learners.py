"""`labelrank learners`: what the catalog holds."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from typer import Argument

from labelrank.cli.options import Json
from labelrank.cli.printing import as_json, table

EXAMPLE = "labelrank learners\nlabelrank learners BR+"


def learners(
    name: Annotated[str, Argument(help="Describe one learner.", metavar="NAME")] = "",
    json: Json = False,
) -> None:
    """List the learners under their paper names, or describe one."""
    from labelrank import catalog

    if name:
        _describe(catalog.describe(name), json)
    elif json:
        as_json([asdict(entry) for entry in catalog.entries()])
    else:
        rows = [(entry.name, entry.summary, entry.paper) for entry in catalog.entries()]
        table("Learners", ("name", "what it does", "paper"), rows)


def _describe(entry: Any, json: bool) -> None:
    from labelrank import catalog

    parameters = catalog.make(entry.name).get_params(deep=False)
    if json:
        as_json({**asdict(entry), "parameters": parameters})
        return
    typer.echo(f"{entry.name}: {entry.summary}\n{entry.paper}\n{entry.learner}")
    if entry.improves:
        typer.echo(f"improves on {entry.improves}")
    if entry.needs:
        typer.echo(f"needs {', '.join(entry.needs)}")
    rows = [(key, repr(value)) for key, value in parameters.items()]
    table("Parameters (change them with --set)", ("parameter", "value"), rows)
