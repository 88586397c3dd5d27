"""`labelrank fit`: learn a model from labelled data, save it, and say what it is worth."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from typer import Option

from labelrank.cli.options import Criteria, Recipe, Shown, only
from labelrank.cli.sources import Source, only_labelled

EXAMPLE = "labelrank fit train.csv -o tags.labelrank"


def fit(
    source: Source, recipe: Recipe, shown: Shown,
    out: Path | None = Option(
        None, "--out", "-o", metavar="FILE", help="The model file; by default DATA.labelrank."),
    criterion: Criteria = [],  # noqa: B006
    budget: float | None = Option(
        None, metavar="SECONDS", min=0.001,
        help="Time that --learner auto may take to choose and fit."),
    codes_from: str | None = Option(
        None, metavar="DATA",
        help="Other labelled data, of which EP-PLM makes the codes of the labels."),
    dry_run: bool = Option(
        False, "--dry-run", help="Only say what was read, and what learning it would take."),
) -> None:  # fmt: skip
    """Say what was read, learn a model from it, save it (as DATA.labelrank, here) and say how
    good it is on rows held out."""
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json
    from labelrank.cli.survey import show, survey

    check_writable(out)
    goal = _goal(recipe.learner, criterion=only("--criterion", criterion), budget=budget)
    learner = recipe.make(goal)
    with shown.progress(f"reading {source.data}"):
        whole = source.read("train")
        models.check_labels(whole)
        unlabelled = source.takes_unlabelled(whole)
        facts = survey(whole, source.roles(), unlabelled)
        dataset = only_labelled(whole, unlabelled)
    if not (shown.json or shown.quiet):
        show(facts)
    if codes_from is not None:
        with shown.progress(f"making codes from {codes_from}"):
            others = replace(source, data=codes_from, part=None)
            models.make_codes(learner, others, dataset.label_names)
    if dry_run:
        _tell_costs(models.forecast(recipe, learner, dataset), recipe, facts, shown)
        return
    place = out or Path(f"{Path(dataset.name).name}.labelrank")
    check_writable(place)
    with shown.progress(f"learning {dataset.n_instances:,} instances"):
        tagger = recipe.teach(learner, dataset)
    path = persistence.save(tagger, place)
    summary = {**tagger.summary_, "model": str(path), "bytes": path.stat().st_size}
    trials = getattr(tagger.learner_, "trials_", [])
    if shown.json:
        as_json(summary | ({"trials": trials} if trials else {}) | {"read": facts})
    elif not shown.quiet:
        _show_trials(trials, getattr(learner, "criterion", ""))
        _tell_learned(recipe.learner, summary)


def _tell_costs(
    costs: Mapping[str, Any], recipe: Recipe, facts: Mapping[str, Any], shown: Shown
) -> None:
    from labelrank.cli.printing import as_json, table

    if shown.json:
        as_json({**costs, "read": facts})
    else:
        table(f"\n{recipe.learner} would learn", ("", ""), costs.items())


def _tell_learned(learner: str, summary: Mapping[str, Any]) -> None:
    from labelrank.cli.printing import wrapped
    from labelrank.report import duration

    typer.echo(wrapped(
        f"{learner} learned {summary['n_documents']:,} rows of {summary['n_features']:,} "
        f"features in {duration(summary['seconds'])}: {summary['model']}, "
        f"{summary['bytes'] / 2**20:,.1f} MiB"
    ))  # fmt: skip


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
