"""Commands on data in pieces: a folder of files, here one after the other, or on a Dask cluster."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import typer

from labelrank.cli.options import Machines, Recipe, Shown, Trained, mapped
from labelrank.cli.sources import Source
from labelrank.errors import InputError

# What a folder of answers says of itself.
_NOTE = "_labelrank.json"
_ROWS_AT_ONCE, _SCORES_AT_ONCE = 2000, 2**22
_SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "tsv": ".tsv"}


class Form(NamedTuple):
    """What answers are wanted, and whether in one row per document and label."""

    wanted: Any
    long: bool


class Task(NamedTuple):
    """One file to answer, and the file for the answers."""

    part: Any
    place: Path
    form: Form
    id_column: str | None


def refuse(names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse options, by their names and values, that go with data in memory alone."""
    given = [name for name, value in zip(names, values, strict=True) if value]
    if given:
        raise InputError(
            f"got --{given[0]} with data in pieces; it goes with one file, on one machine"
        )


@contextmanager
def _engine(machines: Machines, shown: Shown) -> Iterator[Any]:
    """Where the work is done."""
    from labelrank.distributed import engine

    if machines.cluster is None:
        with engine.here() as one:
            yield one
        return
    with machines.client() as client:
        shown.say(f"dashboard: {client.dashboard_link}")
        yield engine.Cluster(client)


def fit(
    source: Source, recipe: Recipe, shown: Shown, machines: Machines, out: Path | None, *,
    dry_run: bool = False,
) -> None:  # fmt: skip
    """Learn a model of all parts, and save it; or say what that would take."""
    from labelrank import distributed, persistence
    from labelrank.atomic import check_writable
    from labelrank.distributed.fitting import fit_parts

    if recipe.is_auto:
        raise InputError(
            "got data in pieces and no learner, but auto tries learners on data in memory; name "
            "one by --learner, such as NB, BR, BSVM, ProSVM-A, RankSVM or EP-PLM"
        )
    tagger = recipe.tagger(recipe.make())
    way = distributed.way_of(tagger.learner)
    way.check(tagger.learner)
    parts = source.parts()
    stem = Path(source.data).name if os.path.isdir(source.data) else "parts"
    check_writable(place := out or Path(f"{stem}.labelrank"))
    _tell_parts(parts, shown)
    if dry_run:
        _tell_forecast(tagger, parts, machines, recipe.learner, shown)
        return
    with _engine(machines, shown) as engine, shown.progress("reading") as advance:
        options: Any = {"unlabelled": source.takes_unlabelled(parts), "report": advance}
        tagger = fit_parts(tagger, parts, engine, **options)
        moved = engine.usage()
    path = persistence.save(tagger, place)
    summary = {**tagger.summary_, "model": str(path), "bytes": path.stat().st_size}
    if shown.json:
        from labelrank.cli.printing import as_json
        from labelrank.resources import peak_bytes

        read = {"parts": len(parts), "empty": parts.empty, "data_bytes": parts.n_bytes}
        told = {"way": way.how, "equal": way.equal, "read": read, "client_bytes": peak_bytes()}
        as_json(summary | told | moved)
    elif not shown.quiet:
        _tell_learned(recipe.learner, summary, way, moved)


def _tell_forecast(tagger: Any, parts: Any, machines: Machines, learner: str, shown: Shown) -> None:
    """What learning the parts would take, after some rows of them were learned here."""
    from labelrank.cli.printing import as_json, table
    from labelrank.distributed import engine
    from labelrank.distributed.fitting import vectorizer_of
    from labelrank.distributed.forecast import forecast

    address = machines.cluster or "local:1"
    if address.startswith("local:"):
        n_workers = engine.n_local(address)
    else:
        with machines.client() as client:
            n_workers = engine.Cluster(client).n_workers
    with engine.here() as one:
        told = forecast(tagger.learner, vectorizer_of(tagger, parts), parts, one, n_workers).told()
    if shown.json:
        as_json(told)
    else:
        table(f"{learner} would take about", ("", ""), told.items())


def _tell_parts(parts: Any, shown: Shown) -> None:
    """What the first look at the files has found."""
    rows = "" if parts.n_rows is None else f" with {parts.n_rows:,} rows"
    files = "1 file" if len(parts) == 1 else f"{len(parts):,} files"
    shown.say(f"{parts.name}: {files}{rows}, {parts.n_bytes / 2**20:,.1f} MiB")
    if parts.empty:
        shown.say(f"{len(parts.empty):,} without a row: {', '.join(parts.empty[:3])}")


def _tell_learned(learner: str, summary: Any, way: Any, moved: Any) -> None:
    from labelrank.cli.printing import wrapped
    from labelrank.report import duration

    typer.echo(wrapped(
        f"{learner} learned {summary['n_documents']:,} rows of {summary['n_features']:,} features "
        f"and {summary['n_labels']:,} labels in {duration(summary['seconds'])}: "
        f"{summary['model']}, {summary['bytes'] / 2**20:,.1f} MiB"
    ))  # fmt: skip
    typer.echo(wrapped(f"how: {way.how}; beside one machine: {way.equal}"))
    if moved:
        typer.echo(wrapped(
            f"workers sent {moved['sent_bytes'] / 2**20:,.1f} MiB; the largest took "
            f"{moved['peak_bytes'] / 2**20:,.0f} MiB"
        ))  # fmt: skip


def predict(
    trained: Trained, source: Source, shown: Shown, machines: Machines, out: Path | None,
    form: Form, jobs: int | None,
) -> None:  # fmt: skip
    """Answer each file in a file of its own; those that are there already stay."""
    if out is None or out.suffix in (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"):
        raise InputError("got data in pieces; name a folder for the answers by -o FOLDER")
    tagger = trained.load()
    parts = source.parts(tagger)
    tasks = _tasks(parts, out, form, source.id_column)
    _open_folder(out, tagger, form)
    left = [task for task in tasks if not _is_answered(task)]
    if len(left) < len(tasks):
        shown.say(f"{out}: {len(tasks) - len(left):,} of {len(tasks):,} files are answered already")
    n_rows = 0
    with shown.progress("answering") as advance:
        for done, n in enumerate(_answered(trained, tagger, left, machines, jobs, shown), 1):
            n_rows += n
            advance(done, len(left))
    shown.say(f"{out}: {n_rows:,} documents in {len(left):,} files")


def _tasks(parts: Any, out: Path, form: Form, id_column: str | None) -> list[Task]:
    """The files to answer; their names are those of the input, which must differ."""
    tasks: list[Task] = []
    taken: dict[str, str] = {}
    for part in parts:
        name = Path(part.path).name.split(".")[0] + _SUFFIXES.get(part.format, ".jsonl")
        if name in taken:
            raise InputError(
                f"{part.path} and {taken[name]} would both be answered in {out / name}; give them "
                "in two runs, or other names"
            )
        taken[name] = part.path
        tasks.append(Task(part, out.absolute() / name, form, id_column))
    return tasks


def _open_folder(out: Path, tagger: Any, form: Form) -> None:
    """Make the folder, or see that its answers are of the same model and the same options."""
    from labelrank import persistence
    from labelrank.atomic import atomic_write

    note = {"model": persistence.digest(tagger), "wanted": list(form.wanted), "long": form.long}
    text, place = json.dumps(note), out / _NOTE
    if place.is_file() and place.read_text(encoding="utf-8") == text:
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            f"got -o {out}, which is no folder of answers by this model with these options; name "
            "a new folder"
        )
    out.mkdir(parents=True, exist_ok=True)
    with atomic_write(place, "w") as file:
        file.write(text)


def _is_answered(task: Task) -> bool:
    """Whether the answers are there, and no older than the input."""
    try:
        return task.place.stat().st_mtime_ns >= os.stat(task.part.path).st_mtime_ns
    except FileNotFoundError:
        return False


def _answered(
    trained: Trained, tagger: Any, tasks: Sequence[Task], machines: Machines, jobs: int | None,
    shown: Shown,
) -> Iterator[int]:  # fmt: skip
    """How many documents each file had, as files are done."""
    if machines.cluster is None:
        load = trained.load if jobs not in (None, 1) else lambda: tagger
        yield from mapped(answer, tasks, jobs, load)
    elif tasks:
        with _engine(machines, shown) as engine:
            model = engine.call(_same, tagger)
            yield from engine.finished([engine.call(answer, model, task) for task in tasks])


def _same(tagger: Any) -> Any:
    return tagger


def answer(tagger: Any, task: Task) -> int:
    """Answer one file; its answers appear whole or not at all."""
    from labelrank.cli import answers, models, writers

    size = max(1, min(_ROWS_AT_ONCE, _SCORES_AT_ONCE // len(tagger.label_names_)))
    options: Any = {"long": task.form.long, "probabilities": task.form.wanted.probabilities}
    first = 0
    with writers.opened(task.place, mark=answers.mark_of(tagger), **options) as add:
        for dataset in task.part.batches(size):
            asked = task.form.wanted, models.documents_of(dataset, tagger)
            add(answers.batch_of(dataset, first, answers.places(tagger, asked), task.id_column))
            first += dataset.n_instances
    return first


def evaluate(
    measuring: Any, source: Source, shown: Shown, machines: Machines, report: Path | None
) -> None:
    """Measure the answers to all files on a cluster."""
    refuse(("report",), (report,))
    with _engine(machines, shown) as engine:
        measuring.in_pieces(source, engine, shown)
    error = max(column.get("auc_error", 0.0) for column in measuring.columns.values())
    shown.say(f"areas under curves are counted by histograms: they are exact to {error:.2g}")
