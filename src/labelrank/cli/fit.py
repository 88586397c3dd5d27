"""`labelrank fit`: learn a model from labelled data, save it, and say what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from typer import Option

from labelrank.cli.held_out import FEW_ROWS, held_out
from labelrank.cli.options import Criteria, Machines, Recipe, Shown, only
from labelrank.cli.sources import Source, only_labelled

EXAMPLE = """labelrank fit train.csv -o tags.labelrank
labelrank fit train.csv --criterion precision_at_1 --fast"""

# What has learned for fewer seconds learns once more, to say what it is worth.
_SOON = 60.0
# What fewer held-out rows show may be chance.
_SAYS_LITTLE = 30


def fit(
    source: Source, recipe: Recipe, shown: Shown, machines: Machines,
    out: Path | None = Option(
        None, "--out", "-o", metavar="FILE", help="The model file; by default DATA.labelrank."),
    criterion: Criteria = [],  # noqa: B006
    budget: float | None = Option(
        None, metavar="SECONDS", min=0.001,
        help="Most time that auto may take to choose and fit; 600 by default."),
    fast: bool = Option(False, "--fast", help="Let auto choose one linear learner, soon."),
    trials: bool = Option(False, "--trials", help="Print all that auto has tried."),
    codes_from: str | None = Option(
        None, metavar="DATA",
        help="Other labelled data, of which EP-PLM makes the codes of the labels."),
    dry_run: bool = Option(
        False, "--dry-run", help="Only say what was read, and what learning it would take."),
) -> None:  # fmt: skip
    """Learn a model from labelled data; say how good it is.

    Says what was read, learns from it, saves the model (as DATA.labelrank, here) and says how
    good it is on rows held out.

    Without --learner several learners are tried on rows held out, and the best, or a blend of
    them, learns all rows.
    """
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json
    from labelrank.cli.survey import check_labels, show, survey

    check_writable(out, source.data, source.labels_file, codes_from)
    alone = criterion, budget, fast, trials, codes_from, dry_run
    if _in_pieces(source, recipe, shown, machines, out, alone):
        return
    asked = only("--criterion", criterion)
    learner = recipe.make(_goal(recipe, criterion=asked, budget=budget, fast=fast))
    with shown.progress(f"reading {source.data}"):
        learner, whole = models.of_targets(learner, source.read("train"), asked)
        check_labels(whole)
        whole, stated = models.stated_apart(whole)
        unlabelled = source.takes_unlabelled(whole)
        facts = survey(whole, source.roles(), unlabelled)
        dataset = only_labelled(whole, unlabelled)
    if not (shown.json or shown.quiet):
        show(facts)
    if codes_from is not None:
        _make_codes(learner, replace(source, data=codes_from, part=None), dataset, shown)
    if dry_run:
        _tell_costs(models.forecast(recipe, learner, dataset), recipe, facts, shown)
        return
    check_writable(place := out or Path(f"{Path(dataset.name).name}.labelrank"))
    tagger = _taught(recipe, learner, dataset, stated, shown)
    path = persistence.save(tagger, place)
    summary = _summary(tagger, path, stated)
    chosen = _chosen(getattr(tagger.learner_, "base_", tagger.learner_))
    if not (chosen or shown.quiet) and summary["seconds"] < _SOON:
        chosen = {"held_out": _held_out(recipe, learner, dataset, shown)}
    if shown.json:
        as_json(summary | chosen | {"read": facts})
    elif not shown.quiet:
        if trials and "trials" in chosen:
            _show_trials(chosen["trials"], learner.criterion)
        _tell_learned(recipe.learner, summary)
        _tell_worth(chosen, summary)


def _in_pieces(
    source: Source, recipe: Recipe, shown: Shown, machines: Machines, out: Path | None,
    alone: Sequence[Any],
) -> bool:  # fmt: skip
    """Whether the data are files, which are learned in pieces then; `alone` are options of one."""
    if not source.is_in_parts and machines.cluster is None:
        return False
    from labelrank.cli import pieces

    *alone, dry_run = alone
    pieces.refuse(("criterion", "budget", "fast", "trials", "codes-from"), alone)
    pieces.fit(source, recipe, shown, machines, out, dry_run=dry_run)
    return True


def _held_out(recipe: Recipe, learner: Any, dataset: Any, shown: Shown) -> Any:
    with shown.progress("learning once more, without a fifth of the rows"):
        return held_out(recipe, learner, dataset)


def _make_codes(learner: Any, source: Source, dataset: Any, shown: Shown) -> None:
    """Codes of the labels of the data set, from other data."""
    from labelrank.cli import models

    with shown.progress(f"making codes from {source.data}"):
        models.make_codes(learner, source, dataset.label_names)


def _taught(recipe: Recipe, learner: Any, dataset: Any, stated: Any, shown: Shown) -> Any:
    """The tagger that has learned the data, with a bar (auto draws its own), then preferences."""
    from labelrank.cli import models

    if shown.has_bars and recipe.is_auto:
        tagger = recipe.teach(learner.set_params(verbose=1), dataset)
        for one in (tagger.learner, tagger.learner_):
            one.set_params(verbose=0)
    else:
        with shown.progress(f"learning {dataset.n_instances:,} instances"):
            tagger = recipe.teach(learner, dataset)
    if stated is not None:
        models.prefer(tagger, stated)
    return tagger


def _summary(tagger: Any, path: Path, stated: Any) -> dict[str, Any]:
    preferences = {} if stated is None else {"preferences": stated.n_instances}
    size = path.stat().st_size
    return {**tagger.summary_, "model": str(path), "bytes": size, **preferences}


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
        f"{learner} learned {summary['n_documents']:,} row{'s' * (summary['n_documents'] != 1)} "
        f"of {summary['n_features']:,} features in {duration(summary['seconds'])}: "
        f"{summary['model']}, {_size(summary['bytes'])}"
    ))  # fmt: skip
    if n := summary.get("preferences"):
        rows = "1 row states" if n == 1 else f"{n:,} rows state"
        typer.echo(wrapped(f"{rows} preferences: taught as corrections on top of the labels"))


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MiB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:,.0f} KiB"


def _unjudged(summary: Mapping[str, Any]) -> str:
    """Why nothing is said of how good the model is, and how to find out."""
    if summary["n_documents"] < FEW_ROWS:
        return (
            f"too few rows to say how good it is: it takes {FEW_ROWS} at least, and some hundred "
            "for each label to learn well"
        )
    return (
        f"how good it is, labelrank evaluate {summary['model']} DATA says, of other labelled rows"
    )


def _chosen(learner: Any) -> dict[str, Any]:
    """What auto has chosen and tried; nothing of other learners."""
    from labelrank import AutoRanker

    if not isinstance(learner, AutoRanker):
        return {}
    return {"chosen": learner.best_, "held_out": learner.held_out_, "trials": learner.trials_}


def _tell_worth(chosen: Mapping[str, Any], summary: Mapping[str, Any]) -> None:
    """How good it is on rows held out, or why nobody knows."""
    from labelrank.cli.printing import wrapped

    if chosen.get("held_out"):
        _tell_held_out(chosen.get("chosen"), **chosen["held_out"])
    else:
        typer.echo(wrapped(_unjudged(summary)))


def _tell_held_out(
    best: str | None, *, criterion: str, chosen: float, guessing: float, n_instances: int,
    n_parts: int = 1, second: str | None = None, second_best: float | None = None,
) -> None:  # fmt: skip
    """What auto chose, what it is worth, what came next, and whether that is any good."""
    from labelrank.cli.printing import wrapped
    from labelrank.metrics import criteria
    from labelrank.report import words

    by = words(criterion)
    choice = f"auto chose {best}: " if best else ""
    next_best = f"; next best: {second}, {second_best:.4f}" if second else ""
    held = f"{n_instances:,} rows held out"
    if n_parts > 1:
        held = f"{n_instances:,} rows, each held out once, in {n_parts} parts"
    few = "; so few rows say little" if n_instances < _SAYS_LITTLE else ""
    typer.echo(wrapped(
        f"{choice}{by} {chosen:.4f} on {held}{next_best}; "
        f"guessing by frequency: {guessing:.4f}{few}"
    ))  # fmt: skip
    if (chosen - guessing) * criteria.get(criterion).direction <= 0:
        typer.echo(wrapped(
            f"warning: by {by} this is no better than guessing by frequency; look whether the "
            "labels can be told from these columns at all"
        ), err=True)  # fmt: skip


def _show_trials(trials: list[dict[str, Any]], criterion: str) -> None:
    """What was tried: a candidate there was no work left for has no values."""
    from labelrank.cli.printing import table

    headings = ("candidate", "features", "instances", criterion, "cut", "tilt", "work", "seconds")
    rows = [tuple("" if cell is None else cell for cell in trial.values()) for trial in trials]
    table(f"tried on held-out instances, by {criterion}", headings, rows)


def _goal(recipe: Recipe, **asked: Any) -> dict[str, Any]:
    """The options of `auto` that were given."""
    from labelrank.cli import models
    from labelrank.errors import InputError

    given = {key: value for key, value in asked.items() if value}
    if given and not recipe.is_auto:
        raise InputError(
            f"got --{next(iter(given))} with --learner {recipe.learner}; it goes with auto alone"
        )
    if models.judges_targets(given.get("criterion", "")):
        del given["criterion"]  # whether there are such targets shows when data are read
    return given
