"""`labelrank fit`: learn a model from labelled data and save it."""

from pathlib import Path
from typing import Annotated

import typer

from labelrank.cli.options import Jobs, Json, Quiet, Seed
from labelrank.cli.reading import Source, reads

Learner = Annotated[str, typer.Option("--learner", "-l", help="Its name; see labelrank learners.")]
Set = Annotated[
    list[str], typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the learner.")
]
Threshold = Annotated[
    str | None,
    typer.Option(help="Where the ranking is cut: a number, 'cardinality' or 'tuned'."),
]
Representation = Annotated[
    str, typer.Option(help="How texts become features: tfidf, bag, set or hashing.")
]
MaxTerms = Annotated[
    int | None, typer.Option(min=1, help="Keep the terms found in most documents.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what memory and time it would take.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The model file to write.")]


@reads
def fit(
    source: Source,
    out: Out = None,
    learner: Learner = "BR+",
    set: Set = [],  # noqa: B006 - typer reads it and makes a new one
    threshold: Threshold = None,
    representation: Representation = "tfidf",
    max_terms: MaxTerms = None,
    dry_run: DryRun = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model from labelled data and save it."""
    from labelrank import persistence
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, progress, table

    made = models.make_learner(
        learner, models.settings(set), threshold=threshold, seed=seed, jobs=jobs
    )
    with progress(f"reading {source.data}", quiet):
        dataset = source.read("train")
    if dry_run:
        costs = models.forecast(made, dataset, representation, max_terms)
        as_json(costs) if json else table(f"{learner} on {dataset.name}", ("", ""), costs.items())
        return
    with progress(f"learning {dataset.n_instances:,} instances", quiet):
        tagger = models.fitted(made, dataset, representation, max_terms)
    path = persistence.save(tagger, out or Path(f"{Path(dataset.name).name}.labelrank"))
    summary = {**tagger.summary_, "model": str(path), "bytes": path.stat().st_size}
    if json:
        as_json(summary)
    elif not quiet:
        rows = [(key.removeprefix("n_"), value) for key, value in summary.items()]
        table(f"{learner} learned {dataset.name}", ("", ""), rows)
