"""`labelrank predict`: ranked labels of documents, with the cut, printed or written to a file."""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from labelrank.cli.options import Jobs, Machines, Shown, Trained, check_jobs, mapped
from labelrank.cli.sources import Source

EXAMPLE = """labelrank predict tags.labelrank new.csv -o answers.csv
labelrank predict tags.labelrank new.csv -o answers.xlsx --long --top 3
labelrank predict tags.labelrank - --input-format text --flush"""

_ROWS_AT_ONCE, _SCORES_AT_ONCE = 2000, 2**22


def predict(
    trained: Trained,
    source: Source,
    shown: Shown,
    machines: Machines,
    out: Annotated[Path | None, Option(
        "--out", "-o", metavar="FILE",
        help="Write the answers here; the end of the name decides how: .csv, .tsv, .jsonl, "
        ".parquet or .xlsx. The columns of DATA are kept (but not in .jsonl). Where DATA is files: "
        "a folder that gets one file for each; a run that was stopped goes on there.",
    )] = None,
    long: bool = Option(False, "--long", help="One row per document and label."),
    top: int = Option(5, metavar="N", min=1, help="Labels to show, at least those before the cut."),
    threshold: float | None = Option(
        None, metavar="CUT", help="Cut here instead of where the model does: labels with a higher "
        "score are in the set; with --probabilities, with a higher probability."),
    probabilities: bool = Option(
        False, "--probabilities", help="Add how probable each label is."),
    flush: bool = Option(
        False, "--flush", help="Answer each row before the next is read."),
    jobs: Jobs = None,
) -> None:  # fmt: skip
    """Give each document its labels, best first, with the cut.

    They are printed, or written to a file."""
    from labelrank.cli import answers, writers
    from labelrank.errors import InputError

    wanted = answers.Wanted(top, threshold, probabilities)
    wanted.check()
    if flush and out is not None:
        raise InputError("got --flush with -o FILE, which appears whole at the end; leave out one")
    check_jobs(jobs)
    if source.is_in_parts or machines.cluster is not None:
        from labelrank.cli import pieces

        pieces.refuse(("flush",), (flush,))
        pieces.predict(trained, source, shown, machines, out, pieces.Form(wanted, long), jobs)
        return
    _check_place(out, source.data, trained.model)
    tagger = trained.load()
    size = 1 if flush else max(1, min(_ROWS_AT_ONCE, _SCORES_AT_ONCE // len(tagger.label_names_)))
    batches = _answered(trained, tagger, source, size, wanted, jobs, shown)
    if out is not None:
        options: Any = {"long": long, "probabilities": probabilities}
        with writers.opened(out, mark=answers.mark_of(tagger), **options) as add:
            n_documents = sum(_added(add, batch) for batch in batches)
        shown.say(f"{out}: {n_documents:,} documents")
    else:
        _print(batches, long, shown.json)


def _check_place(out: Path | None, *inputs: Any) -> None:
    """Refuse a file that cannot be written before anything is read."""
    from labelrank.atomic import check_writable
    from labelrank.cli import writers

    if out is not None:
        writers.suffix_of(out)
        check_writable(out, *inputs)


def _answered(
    trained: Trained, tagger: Any, source: Source, size: int, wanted: Any, jobs: int | None,
    shown: Shown,
) -> Iterator[Any]:  # fmt: skip
    """The documents in batches, with their rankings, in their order whatever `jobs`."""
    from labelrank.cli import answers, models
    from labelrank.errors import FormatError

    waiting: deque[Any] = deque()

    def asked() -> Iterator[Any]:
        for dataset, total in source.batches(size, tagger, source.answered, eager=True):
            waiting.append((dataset, total))
            yield wanted, models.documents_of(dataset, tagger)
            if dataset.n_instances < size and jobs not in (None, 1):
                from labelrank.evaluation.pool import PAUSE

                yield PAUSE

    first = 0
    load = trained.load if jobs not in (None, 1) else lambda: tagger
    with shown.progress("ranking") as advance:
        for rankings in mapped(answers.places, asked(), jobs, load):
            dataset, total = waiting.popleft()
            yield answers.batch_of(dataset, first, rankings, source.id_column)
            first += dataset.n_instances
            advance(first, total)
    if not first:
        name = "standard input" if source.data == "-" else source.data
        raise FormatError(f"{name}: no row in it; give at least one document")


def _added(add: Callable[[Any], None], batch: Any) -> int:
    add(batch)
    return len(batch.ids)


def _print(batches: Iterator[Any], long: bool, json: bool) -> None:
    """Print answers as they come."""
    from labelrank.cli import writers
    from labelrank.cli.printing import Table

    table: Table | None = None
    for batch in batches:
        if json:
            for line in writers.lines(batch, long):
                typer.echo(line, nl=False)
        else:
            columns = _columns(batch, long)
            table = table or Table(list(columns))
            table.add(zip(*columns.values(), strict=True))
        sys.stdout.flush()
    if table is not None:
        table.close()


def _columns(batch: Any, long: bool) -> dict[str, Sequence[Any]]:
    """The answers to a batch as the columns of a table."""
    from labelrank.cli.printing import shortened

    if long:
        records = list(batch.long())
        return {key: [one[key] for one in records] for key in records[0]}
    columns: dict[str, Sequence[Any]] = {"row": batch.ids}
    if batch.texts is not None:
        texts = [shortened(text, 40) for text in batch.texts]
        columns = {"document": batch.ids, "text": texts}
    return {**columns, "labels ranked, | is the cut": list(map(_line, batch.rankings))}


def _line(ranked: list[Any]) -> str:
    """The labels with their scores, and a bar where the set ends."""
    shown = [f"{place.label} {_worth(place)}" for place in ranked]
    size = sum(place.in_set for place in ranked)
    return ", ".join(shown[:size]) + " | " + ", ".join(shown[size:])


def _worth(place: Any) -> str:
    if place.probability is None:
        return f"{place.score:.2f}"
    return f"{place.score:.2f} ({place.probability:.0%})"
