"""`labelrank fit`: learn a model from labelled data and save it."""

from pathlib import Path
from typing import Any

from typer import Option

from labelrank.cli.options import Criteria, Recipe, Shown, only
from labelrank.cli.sources import Source

EXAMPLE = "labelrank fit train.csv -o tags.labelrank"


def fit(
    source: Source, recipe: Recipe, shown: Shown,
    out: Path | None = Option(
        None, "--out", "-o", metavar="FILE", help="The model file; by default DATA.labelrank."),
    criterion: Criteria = [],  # noqa: B006
    budget: float | None = Option(
        None, metavar="SECONDS", min=0.001,
        help="Time that --learner auto may take to choose and fit."),
    dry_run: bool = Option(False, "--dry-run", help="Only say what memory and time it would take."),
) -> None:  # fmt: skip
    """Learn a model from labelled data and save it (by default as DATA.labelrank, here)."""
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, table

    check_writable(out)
    goal = _goal(recipe.learner, criterion=only("--criterion", criterion), budget=budget)
    learner = recipe.make(goal)
    with shown.progress(f"reading {source.data}"):
        dataset = source.read("train")
    if dry_run:
        costs = models.forecast(recipe, learner, dataset)
        title = f"{recipe.learner} on {dataset.name}"
        as_json(costs) if shown.json else table(title, ("", ""), costs.items())
        return
    with shown.progress(f"learning {dataset.n_instances:,} instances"):
        tagger = recipe.teach(learner, dataset)
    path = persistence.save(tagger, out or Path(f"{Path(dataset.name).name}.labelrank"))
    summary = {**tagger.summary_, "model": str(path), "bytes": path.stat().st_size}
    trials = getattr(tagger.learner_, "trials_", [])
    if shown.json:
        as_json(summary | ({"trials": trials} if trials else {}))
    elif not shown.quiet:
        _show_trials(trials, getattr(learner, "criterion", ""))
        size = f"{summary.pop('bytes') / 2**20:,.1f} MiB"
        rows = [(key.removeprefix("n_"), value) for key, value in summary.items()]
        table(f"{recipe.learner} learned {dataset.name}", ("", ""), [*rows, ("size", size)])


def _show_trials(trials: list[dict[str, Any]], criterion: str) -> None:
    """What was tried: a candidate there was no time for has no values."""
    from labelrank.cli.printing import table

    if trials:
        headings = ("candidate", "features", "instances", criterion, "cut", "tilt", "seconds")
        rows = [tuple("" if cell is None else cell for cell in trial.values()) for trial in trials]
        table(f"tried on held-out instances, by {criterion}", headings, rows)


def _goal(learner: str, **asked: Any) -> dict[str, Any]:
    """The options of `auto` that were given."""
    from labelrank.errors import InputError

    given = {key: value for key, value in asked.items() if value}
    if given and learner.casefold() != "auto":
        raise InputError(
            f"got --{next(iter(given))} with --learner {learner}; it goes with --learner auto"
        )
    return given
