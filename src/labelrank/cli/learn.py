"""`labelrank learn`: a stream of labelled examples into an existing (or a new) model."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from labelrank.cli.options import LEARNING, Recipe, Representation, Shown
from labelrank.cli.sources import Source
from labelrank.errors import InputError, MissingError

EXAMPLE = """labelrank learn tags.labelrank corrections.csv
labelrank learn new.labelrank stream.jsonl --learner BR"""


@dataclass(frozen=True, kw_only=True)
class Start(Recipe):
    """The model that is started where there is none; its terms are never all known."""

    learner: Annotated[str | None, Option(
        "--learner", "-l", metavar="NAME",
        help="Start a new MODEL with this one of labelrank learners; or MODULE:CLASS, a class of "
        "your own.", rich_help_panel=LEARNING,
    )] = None  # type: ignore[assignment]  # fmt: skip
    representation: Representation = "hashing"


def learn(
    *,
    model: Path = Argument(..., metavar="MODEL", help="The model file to teach."),
    source: Source,
    out: Path | None = Option(
        None, "--out", "-o", metavar="FILE", help="Write the model here instead of over MODEL."),
    batch: int = Option(
        100, metavar="N", min=1, help="Examples tested, then learned, at a time."),
    every: int = Option(
        1000, metavar="N", min=1, help="Examples between two points of the curve."),
    curve: Path | None = Option(
        None, metavar="FILE",
        help="Test each batch before learning it; append the curve as JSON lines."),
    refit: str | None = Option(
        None, metavar="DATA",
        help="Fit MODEL anew on DATA, what it has learned from, and the new examples."),
    new_labels: str = Option(
        "add", metavar="add|ignore|error", help="Labels that the model does not know."),
    recipe: Start,
    shown: Shown,
) -> None:  # fmt: skip
    """Teach a model more labelled examples, in their order.

    A model that cannot learn in pieces stays as it is, and gets corrections on top. So does any
    model that is taught preferences: JSON lines with "prefer": [["rye", "trade"], ["rye", null]]
    say that rye goes before trade, and that rye is relevant (null is the threshold).

    Of more than a hundred examples each batch is ranked by the model as it was, and as it is,
    before it is learned; where that shows that the model got worse, it stays as it was, and the
    exit status is 1. With --refit a fifth of the new examples is held out to judge the new model.

    Interrupted, or at an example it cannot read, it saves the model as far as it has learned
    whole batches.
    """
    from labelrank.atomic import check_writable
    from labelrank.cli.lessons import Lessons
    from labelrank.declared import check_parameters
    from labelrank.evaluation.curves import Tally
    from labelrank.interrupts import held_back

    path = out or model
    check_writable(path, source.data)
    if curve is not None:
        _check_curve(curve, {model, path, Path(source.data)})
    tagger = _opened(model, recipe).set_params(new_labels=new_labels)
    check_parameters(tagger)
    if refit is not None:
        _refit(tagger, source, refit, path, shown)
        return
    lessons, tally = Lessons(tagger, batch), None if curve is None else Tally()
    with held_back() as held:  # an interrupt waits for the end of the batch
        try:
            with shown.progress(f"learning {source.data}") as advance, _opened_curve(curve) as file:
                for part, total in _arriving(source.labelled_batches(batch, tagger), held):
                    before = lessons.learned
                    lessons.teach(part, tally)
                    advance(lessons.learned, total)
                    is_due = lessons.learned // every > before // every
                    if tally is not None and tally.n_recent and is_due | (lessons.learned == total):
                        _point(lessons.learned, tally, file, shown)
        finally:
            is_kept = _save(lessons, path, shown)
    if not is_kept:
        raise typer.Exit(1)


def _arriving(batches: Iterator[Any], held: Any) -> Iterator[Any]:
    """The batches; while one is waited for, interrupts do not wait."""
    while True:
        with held.let_through():
            found = next(batches, None)
        if found is None:
            return
        yield found


def _save(lessons: Any, path: Path, shown: Shown) -> bool:
    """Replace the model by one that is whole and has learned something; whether it is no worse."""
    learned, verdict = lessons.learned, lessons.finish()
    if not (learned and lessons.is_whole):
        return True
    names = ("otherwise_before", "otherwise_after") if lessons.is_corrected else ()
    facts = {"learned": learned, **{name: getattr(lessons, name) for name in names}}
    return _keep(lessons.tagger, path, facts, lessons.told(verdict), verdict, shown)


def _keep(
    tagger: Any, path: Path, facts: dict[str, Any], told: str, verdict: Any, shown: Shown
) -> bool:
    """Save a model that is no worse than it was, and say so."""
    from labelrank import persistence
    from labelrank.cli.printing import as_json

    is_kept = verdict is None or not verdict.is_worse
    judged = {} if verdict is None else {"judged": verdict._asdict()}
    if is_kept:
        persistence.save(tagger, path)
    if shown.json:
        learned = facts if is_kept else facts | {"learned": 0, "kept_out": facts["learned"]}
        as_json({"model": str(path), **learned, **judged, **tagger.summary_})
    elif not is_kept:
        typer.echo(
            f"learned nothing, for the model got worse: {verdict.told()}; fit it anew together "
            "with what it has learned from by --refit DATA", err=True,
        )  # fmt: skip
    elif not shown.quiet:
        n = facts["learned"]
        typer.echo(f"learned {n:,} example{'s' if n > 1 else ''} into {path}{told}")
    return is_kept


def _refit(tagger: Any, source: Any, data: str, path: Path, shown: Shown) -> None:
    """Fit the model anew on the data and the new examples, unless that makes it worse."""
    from dataclasses import replace

    from labelrank.cli import models
    from labelrank.cli.refitting import refitted
    from labelrank.cli.strange import told_new

    known = tagger.label_names_
    new, stated = models.stated_apart(source.read("train", tagger))
    old = replace(source, data=data, part=None).labelled("train", tagger)
    with shown.progress(f"fitting {data} and {source.data}"):
        tagger, verdict = refitted(tagger, old, new)
    if stated is not None:
        models.prefer(tagger, stated)
    n = new.n_instances
    told = f", fitted anew with {old.n_instances:,} others; "
    told += "too few to judge what has changed" if verdict is None else verdict.told()
    strange = told_new(tagger.label_names_, known)
    told += f"; {strange}" if strange else ""
    if not _keep(tagger, path, {"learned": n}, told, verdict, shown):
        raise typer.Exit(1)


def _check_curve(curve: Path, others: set[Path]) -> None:
    """Refuse to append to what is no curve: it would be ruined."""
    is_other = curve.resolve() in {other.resolve() for other in others}
    if is_other or (curve.is_file() and curve.stat().st_size and not _is_curve(curve)):
        raise InputError(f"{curve} is no learning curve, so none is appended; give another --curve")


def _is_curve(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            return "n_seen" in json.loads(file.readline(1 << 20))
        except (ValueError, TypeError, RecursionError):
            return False


def _opened_curve(curve: Path | None) -> AbstractContextManager[Any]:
    return nullcontext() if curve is None else curve.open("a", encoding="utf-8")


def _opened(model: Path, recipe: Start) -> Any:
    """The tagger in the file, or a new one by the recipe."""
    from labelrank.cli import models

    learner = recipe.learner
    if model.exists():
        if learner is not None and ":" not in learner:
            raise InputError(f"{model} exists already; leave out --learner to teach it more")
        return models.load_tagger(model, [learner] if learner else [])
    if learner is None:
        raise MissingError(f"{model} is not there; name a --learner to start a new model")
    return recipe.tagger(models.with_own_cut(recipe.make(), recipe.threshold))


def _point(learned: int, tally: Any, file: Any, shown: Shown) -> None:
    """Append a point of the curve, and tell it."""
    recent, overall = tally.close()
    file.write(json.dumps({"n_seen": learned, "recent": recent, "overall": overall}) + "\n")
    file.flush()
    if not (shown.quiet or shown.json):
        precision = 1 - recent["average_precision_loss"]
        losses = f"is error {recent['is_error']:.4f}  ranking loss {recent['ranking_loss']:.4f}"
        typer.echo(f"{learned:>9,}  average precision {precision:.4f}  {losses}")
