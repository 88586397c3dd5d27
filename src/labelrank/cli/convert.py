"""`labelrank convert`: data from one format to another."""

from typing import Annotated

import typer

from labelrank.cli.options import Json, Quiet
from labelrank.cli.reading import Source, reads

Target = Annotated[
    str, typer.Argument(metavar="OUT", help="File to write; its ending names the format.")
]
To = Annotated[str | None, typer.Option(help="Format of OUT, if its ending does not tell.")]


@reads
def convert(
    source: Source,
    out: Target,
    to: To = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Convert data from one format to another."""
    from labelrank.cli.printing import as_json, say
    from labelrank.datasets import formats

    dataset = source.read("all")
    formats.write(dataset, out, format=to)
    if json:
        as_json({"out": out, "instances": dataset.n_instances, "labels": dataset.n_labels})
    else:
        say(f"{out}: {dataset.n_instances} instances, {dataset.n_labels} labels", quiet)
