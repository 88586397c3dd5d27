"""`labelrank convert`: data from one format to another."""

from typer import Argument, Option

from labelrank.cli.options import Shown
from labelrank.cli.sources import Source

EXAMPLE = "labelrank convert emotions.arff emotions.parquet"


def convert(
    source: Source, shown: Shown,
    out: str = Argument(..., metavar="OUT", help="File to write; its ending names the format."),
    to: str | None = Option(
        None, metavar="NAME", help="Format of OUT, if its ending does not tell."),
) -> None:  # fmt: skip
    """Convert data from one format to another."""
    from labelrank.atomic import check_writable
    from labelrank.cli.printing import as_json
    from labelrank.datasets import formats
    from labelrank.errors import InputError

    if out != "-":
        check_writable(out, source.data, source.labels_file)
    dataset = source.read("all")
    try:
        formats.write(dataset, out, format=to)
    except InputError as error:  # its option for the format is that of DATA in other commands
        raise InputError(str(error).replace("format=...", "--to NAME")) from error
    if shown.json:
        as_json({"out": out, "instances": dataset.n_instances, "labels": dataset.n_labels})
    else:
        shown.say(f"{out}: {dataset.n_instances} instances, {dataset.n_labels} labels")
