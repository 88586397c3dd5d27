"""`labelrank learn`: a stream of labelled examples into an existing (or a new) model."""

import json as encoder
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Jobs, Json, Quiet, Seed
from labelrank.cli.reading import Source, reads
from labelrank.errors import LabelrankError

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The model file to teach.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the model here instead of over MODEL.")
]
Batch = Annotated[int, typer.Option(min=1, help="Examples tested, then learned, at a time.")]
Every = Annotated[int, typer.Option(min=1, help="Examples between two points of the curve.")]
Curve = Annotated[
    Path | None,
    typer.Option(help="Test each batch before learning it; append the curve as JSON lines."),
]
NewLabels = Annotated[
    str, typer.Option(help="Labels the model does not know: add, ignore or error.")
]
Learner = Annotated[
    str | None, typer.Option("--learner", "-l", help="Start a new MODEL with this learner.")
]
_STREAMED = (".jsonl", ".csv", ".tsv")


@reads
def learn(
    model: Model,
    source: Source,
    out: Out = None,
    learner: Learner = None,
    batch: Batch = 100,
    every: Every = 1000,
    curve: Curve = None,
    new_labels: NewLabels = "add",
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Teach a model more labelled examples, in their order, and save it.

    Interrupted, or at an example it cannot read, it saves the model as far as it has learned.
    """
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, progress

    check_writable(out or model)
    tagger = _opened(model, learner, seed, jobs).set_params(new_labels=new_labels)
    path, learned = out or model, 0
    stopped: BaseException | None = None
    with progress(f"learning {source.data}", quiet) as advance, _curve_file(curve) as file:
        tally = _tally()
        try:
            for part, total in _batches(source, batch):
                if curve is not None and hasattr(tagger, "label_names_"):
                    _test(tagger, part, tally)
                models.learn_more(tagger, part)
                before, learned = learned, learned + part.n_instances
                advance(learned, total)
                if tally.n_recent and (learned // every > before // every or learned == total):
                    _point(learned, tally, file, quiet or json)
        except (KeyboardInterrupt, LabelrankError) as error:
            stopped = error
    if learned:
        persistence.save(tagger, path)
        if json:
            as_json({"model": str(path), "learned": learned, **tagger.summary_})
        elif not quiet:
            typer.echo(f"learned {learned:,} example{'s' if learned > 1 else ''} into {path}")
    if stopped is not None:
        raise stopped


def _opened(model: Path, learner: str | None, seed: int, jobs: int | None) -> Any:
    from labelrank.cli import models
    from labelrank.errors import InputError, MissingError
    from labelrank.tagger import Tagger

    if learner is None:
        if not model.exists():
            raise MissingError(f"{model} is not there; name a --learner to start a new model")
        return models.load_tagger(model)
    if model.exists():
        raise InputError(f"{model} exists already; leave out --learner to teach it more")
    made = models.make_learner(learner, {}, threshold=None, seed=seed, jobs=jobs)
    return Tagger(made, representation="hashing")


def _batches(source: Source, size: int) -> Iterator[tuple[Any, int | None]]:
    """Parts of the data with its whole size, if known; files of lines are never read whole."""
    from labelrank.datasets import formats

    ending = "".join(Path(source.data).suffixes[:1])
    is_stream = source.data == "-" or ending in _STREAMED or source.format in ("jsonl", "csv")
    if is_stream:
        options = source.options()
        for part in formats.stream(source.data, size, **options):
            yield part, None
        return
    whole = source.read("train")
    for start in range(0, whole.n_instances, size):
        stop = min(start + size, whole.n_instances)
        yield whole.subset(range(start, stop)), whole.n_instances


def _tally() -> Any:
    from labelrank.evaluation.curves import Tally

    return Tally()


def _test(tagger: Any, part: Any, tally: Any) -> None:
    from labelrank.cli import models
    from labelrank.metrics import evaluate_ranking

    known = set(map(str, tagger.label_names_))
    if known.isdisjoint(map(str, part.label_names)):
        return
    scores = tagger.decision_function(models.documents_of(part, tagger))
    Y = models.relevance_of(part, tagger, warn=False)
    tally.add(evaluate_ranking(Y, scores), part.n_instances)


def _curve_file(curve: Path | None) -> Any:
    return nullcontext() if curve is None else curve.open("a", encoding="utf-8")


def _point(learned: int, tally: Any, file: Any, quiet: bool) -> None:
    recent, overall = tally.close()
    line = {"n_seen": learned, "recent": recent, "overall": overall}
    file.write(encoder.dumps(line) + "\n")
    file.flush()
    if not quiet:
        precision = 1 - recent["average_precision_loss"]
        typer.echo(
            f"{learned:>9,}  average precision {precision:.4f}  "
            f"is error {recent['is_error']:.4f}  ranking loss {recent['ranking_loss']:.4f}"
        )
