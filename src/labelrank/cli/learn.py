"""`labelrank learn`: a stream of labelled examples into an existing (or a new) model."""

import json
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from labelrank.cli.options import LEARNING, Recipe, Representation, Shown
from labelrank.cli.sources import Source
from labelrank.errors import InputError, LabelrankError, MissingError

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
    new_labels: str = Option(
        "add", metavar="add|ignore|error", help="Labels that the model does not know."),
    recipe: Start,
    shown: Shown,
) -> None:  # fmt: skip
    """Teach a model more labelled examples, in their order, and save it.

    Interrupted, or at an example it cannot read, it saves the model as far as it has learned.
    """
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli.printing import as_json
    from labelrank.evaluation.curves import Tally

    path, learned = out or model, 0
    check_writable(path)
    tagger = _opened(model, recipe).set_params(new_labels=new_labels)
    stopped: BaseException | None = None
    curve_file = nullcontext() if curve is None else curve.open("a", encoding="utf-8")
    with shown.progress(f"learning {source.data}") as advance, curve_file as file:
        tally = Tally()
        try:
            for part, total in source.batches(batch):
                _test_then_learn(tagger, part, None if curve is None else tally)
                before, learned = learned, learned + part.n_instances
                advance(learned, total)
                if tally.n_recent and (learned // every > before // every or learned == total):
                    _point(learned, tally, file, shown)
        except (KeyboardInterrupt, LabelrankError) as error:
            stopped = error
    if learned:
        persistence.save(tagger, path)
        if shown.json:
            as_json({"model": str(path), "learned": learned, **tagger.summary_})
        elif not shown.quiet:
            typer.echo(f"learned {learned:,} example{'s' if learned > 1 else ''} into {path}")
    if stopped is not None:
        raise stopped


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
    return recipe.tagger(recipe.make())


def _test_then_learn(tagger: Any, part: Any, tally: Any) -> None:
    """Rank the examples by what was learned before, where a tally is kept, and learn them."""
    from labelrank.cli import models
    from labelrank.metrics import evaluate_ranking

    X = None
    known = set(map(str, getattr(tagger, "label_names_", ())))
    if tally is not None and not known.isdisjoint(map(str, part.label_names)):
        X = tagger.features(models.documents_of(part, tagger))
        Y = models.relevance_of(part, tagger, warn=False)
        tally.add(evaluate_ranking(Y, tagger.decision_function(X)), part.n_instances)
    models.learn_more(tagger, part, X)


def _point(learned: int, tally: Any, file: Any, shown: Shown) -> None:
    """Append a point of the curve, and tell it."""
    recent, overall = tally.close()
    file.write(json.dumps({"n_seen": learned, "recent": recent, "overall": overall}) + "\n")
    file.flush()
    if not (shown.quiet or shown.json):
        precision = 1 - recent["average_precision_loss"]
        losses = f"is error {recent['is_error']:.4f}  ranking loss {recent['ranking_loss']:.4f}"
        typer.echo(f"{learned:>9,}  average precision {precision:.4f}  {losses}")
