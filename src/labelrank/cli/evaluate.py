"""`labelrank evaluate`: all criteria of a model on labelled data."""

from pathlib import Path
from typing import Annotated

import typer

from labelrank.cli.options import Json, Model, Quiet
from labelrank.cli.reading import Source, reads

Page = Annotated[Path | None, typer.Option(help="Also write the results as an HTML page.")]


@reads
def evaluate(
    model: Model,
    source: Source,
    page: Page = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print all criteria of a model on labelled data."""
    from labelrank import metrics, report
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, criteria_table, progress, say

    tagger = models.load_tagger(model)
    dataset = source.read("test")
    with progress("evaluating", quiet):
        Y, scores, predicted = models.answers(tagger, dataset)
        criteria = metrics.evaluate(Y, scores, predicted=predicted)
    if json:
        as_json(criteria)
    else:
        criteria_table(f"{dataset.name}: {dataset.n_instances:,} instances", criteria)
    if page is not None:
        title = f"{models.learner_name(tagger)} on {dataset.name}"
        report.write(models.results(tagger, dataset, title), page)
        say(f"page: {page}", quiet)
