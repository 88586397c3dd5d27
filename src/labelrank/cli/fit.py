"""`labelrank fit`: learn a model from labelled data and save it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Jobs, Json, Quiet, Seed
from labelrank.cli.reading import Source, reads

Learner = Annotated[str, typer.Option("--learner", "-l", help="Its name; see labelrank learners.")]
Set = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of the learner; may be repeated."
    ),
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
Criterion = Annotated[
    str | None, typer.Option(help="What --learner auto is to be good at, such as micro_f1.")
]
Budget = Annotated[
    float | None, typer.Option(min=0.001, help="Seconds --learner auto may take to choose and fit.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="The model file to write; by default DATA.labelrank, here."),
]


@reads
def fit(
    source: Source,
    out: Out = None,
    learner: Learner = "BR+",
    set: Set = [],  # noqa: B006 - typer reads it and makes a new one
    threshold: Threshold = None,
    representation: Representation = "tfidf",
    max_terms: MaxTerms = None,
    criterion: Criterion = None,
    budget: Budget = None,
    dry_run: DryRun = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn a model from labelled data and save it."""
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, progress, table

    check_writable(out)
    chosen = models.settings(set) | _goal(learner, criterion=criterion, budget=budget)
    made = models.make_learner(learner, chosen, threshold=threshold, seed=seed, jobs=jobs)
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
    trials = getattr(tagger.learner_, "trials_", [])
    if json:
        as_json(summary | ({"trials": trials} if trials else {}))
    elif not quiet:
        if trials:
            _show(trials, made.criterion)
        size = f"{summary.pop('bytes') / 2**20:,.1f} MiB"
        rows = [(key.removeprefix("n_"), value) for key, value in summary.items()]
        rows.append(("size", size))
        table(f"{learner} learned {dataset.name}", ("", ""), rows)


def _show(trials: list[dict[str, Any]], criterion: str) -> None:
    """What was tried: a candidate there was no time for has no values."""
    from labelrank.cli.printing import table

    title = f"tried on held-out instances, by {criterion}"
    headings = ("candidate", "features", "instances", criterion, "cut", "tilt", "seconds")
    rows = [tuple("" if cell is None else cell for cell in trial.values()) for trial in trials]
    table(title, headings, rows)


def _goal(learner: str, **asked: Any) -> dict[str, Any]:
    """The options of `auto` that were given."""
    from labelrank.errors import InputError

    given = {key: value for key, value in asked.items() if value is not None}
    if given and learner.casefold() != "auto":
        raise InputError(
            f"got --{next(iter(given))} with --learner {learner}; it goes with --learner auto"
        )
    return given
