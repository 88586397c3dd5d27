"""`labelrank evaluate`: all criteria of a model on labelled data, and the report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Json, Model, Quiet
from labelrank.cli.reading import Source, reads

Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the report, one HTML file.")
]
Beside = Annotated[
    list[Path],
    typer.Option(metavar="MODEL", help="Another model beside this one; may be repeated."),
]
Threshold = Annotated[
    list[float],
    typer.Option(help="Another cut of the scores beside the model's own; may be repeated."),
]
Train = Annotated[
    str | None,
    typer.Option(metavar="DATA", help="Learn growing parts of these data for a learning curve."),
]
Curve = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A curve that labelrank learn --curve wrote.")
]
Label = Annotated[
    list[str],
    typer.Option(
        help="A label whose curve is drawn, beside those of the most frequent; may be repeated."
    ),
]
Examples = Annotated[int, typer.Option(min=0, help="Documents to show in the report.")]


@reads
def evaluate(
    model: Model,
    source: Source,
    report: Report = None,
    beside: Beside = [],  # noqa: B006 - typer reads it and makes a new one
    threshold: Threshold = [],  # noqa: B006
    train: Train = None,
    curve: Curve = None,
    label: Label = [],  # noqa: B006
    examples: Examples = 6,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print all criteria of a model on labelled data; write the report."""
    from labelrank import metrics
    from labelrank.cli import models
    from labelrank.cli.printing import progress, say

    tagger = models.load_tagger(model)
    dataset = source.read("test")
    _check(tagger, label, report, train, curve)
    learning = _learning(tagger, dataset, curve, train, source, quiet)
    with progress("evaluating", quiet):
        documents, found = models.put_to(tagger, dataset)
        columns = {model.stem: found.criteria()}
        for cut in threshold:
            columns[f"cut at {cut:g}"] = metrics.evaluate(found.Y, found.scores, cut)
        for path in beside:
            columns[_name(path, columns)] = _criteria(path, dataset)
    _show(f"{dataset.name}: {dataset.n_instances:,} instances", columns, json)
    if report is not None:
        options = {"curves_of": label, "examples": examples, "learning": learning}
        _write(report, tagger, dataset, documents, found, model, columns, options)
        say(f"report: {report}", quiet)


def _check(
    tagger: Any, labels: list[str], report: Path | None, train: str | None, curve: Path | None
) -> None:
    """Refuse what cannot be shown before any work is done."""
    from labelrank.atomic import check_writable
    from labelrank.errors import InputError

    check_writable(report)
    known = set(map(str, tagger.label_names_))
    for name in labels:
        if name not in known:
            raise InputError(f"got --label {name}, which the model does not know")
    if train is not None and curve is not None:
        raise InputError("got both --train and --curve; give one of them")
    if report is None and (labels or train or curve):
        raise InputError("got options of a report but no file for it; give --report FILE")


def _criteria(path: Path, dataset: Any) -> dict[str, float]:
    from labelrank.cli import models

    criteria: dict[str, float] = models.put_to(models.load_tagger(path), dataset)[1].criteria()
    return criteria


def _name(path: Path, taken: Mapping[str, Any]) -> str:
    return path.stem if path.stem not in taken else str(path)


def _show(title: str, columns: Mapping[str, Mapping[str, float]], json: bool) -> None:
    from labelrank.cli.printing import as_json, criteria_table, table
    from labelrank.report import arrow, criteria_rows, words

    first = next(iter(columns.values()))
    if json:
        as_json(first if len(columns) == 1 else columns)
    elif len(columns) == 1:
        criteria_table(title, first)
    else:
        rows = [
            (words(row.name), arrow(row.name), *(f"{t} *" if best else t for t, best in row.cells))
            for row in criteria_rows(columns)
        ]
        table(f"{title}; * is the best", ("criterion", "better", *columns), rows)


def _learning(
    tagger: Any, dataset: Any, curve: Path | None, train: str | None, source: Source, quiet: bool
) -> Any:
    from labelrank import evaluation
    from labelrank.cli import models
    from labelrank.cli.printing import progress
    from labelrank.report import of_parts, read_learning_curve

    if curve is not None:
        return read_learning_curve(curve)
    if train is None:
        return None
    learned = replace(source, data=train, part=None).read("train")
    with progress("learning growing parts", quiet) as advance:
        points = evaluation.learning_curve(
            tagger,
            models.documents_of(learned, tagger),
            models.relevance_of(learned, tagger),
            models.documents_of(dataset, tagger),
            models.relevance_of(dataset, tagger, warn=False),
            progress=advance,
        )
    return of_parts(points)


def _write(
    path: Path,
    tagger: Any,
    dataset: Any,
    documents: Any,
    found: Any,
    model: Path,
    columns: Mapping[str, Mapping[str, float]],
    options: Mapping[str, Any],
) -> None:
    from labelrank import report

    results = report.of_tagger(
        tagger,
        documents,
        found.Y,
        found=found,
        data=dataset.name,
        ids=dataset.ids,
        facts=_facts(model, tagger, dataset),
        name=model.stem,
        criteria=columns[model.stem],
        beside={name: values for name, values in columns.items() if name != model.stem},
        **options,
    )
    report.write(results, path)


def _facts(model: Path, tagger: Any, dataset: Any) -> dict[str, str]:
    """The file, and how many labels of the data no answer could hold."""
    facts = {"model file": f"{model.name}, {model.stat().st_size / 2**20:,.1f} MiB"}
    strange = frozenset(map(str, dataset.label_names)) - frozenset(map(str, tagger.label_names_))
    if strange:
        facts["labels it does not know"] = f"{len(strange):,}, left out of all criteria"
    return facts
