"""`labelrank evaluate`: what a model is worth on labelled data, and the report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from typer import Option

from labelrank.cli.options import Jobs, Machines, Shown, Trained, check_jobs
from labelrank.cli.sources import Source

EXAMPLE = "labelrank evaluate tags.labelrank test.csv --report report.html"

_TOO_GOOD = (
    "most of these rows are ones that {} learned from, so these figures are too good; "
    "evaluate on rows that were not learned"
)


def evaluate(
    trained: Trained, source: Source, shown: Shown, machines: Machines,
    report: Path | None = Option(None, metavar="FILE", help="Write the report, one HTML file."),
    beside: list[Path] = Option(
        [], metavar="MODEL", help="Another model beside this one; may be repeated."),
    threshold: list[float] = Option(
        [], metavar="CUT",
        help="Another cut of the scores beside the model's own; may be repeated."),
    train: str | None = Option(
        None, metavar="DATA", help="Learn growing parts of these data for a learning curve."),
    curve: Path | None = Option(
        None, metavar="FILE", help="A curve that labelrank learn --curve wrote."),
    label: list[str] = Option([], metavar="LABEL",
        help="A label whose curve is drawn, beside those of the most frequent; may be repeated."),
    examples: int = Option(6, metavar="N", min=0, help="Documents to show in the report."),
    all_: bool = Option(False, "--all", help="Print all criteria, not the chief ones only."),
    jobs: Jobs = None,
) -> None:  # fmt: skip
    """Say what a model is worth on labelled data; write a report.

    In one sentence and five criteria, or all of them, beside guessing by frequency."""
    from labelrank.cli import pieces
    from labelrank.cli.measuring import Measuring
    from labelrank.cli.printing import as_json

    check_jobs(jobs)
    tagger = trained.load()
    from labelrank.atomic import check_writable

    check_writable(report, source.data, trained.model, train)
    _check(tagger, label, report, train, curve)
    others = {str(path): replace(trained, model=path).load() for path in beside}
    names = _names(trained.model, threshold, beside)
    measuring = Measuring(names, threshold, [tagger, *others.values()])
    if machines.cluster is not None:
        pieces.evaluate(measuring, source, shown, machines, report)
    elif report is None:
        files = [trained, *(replace(trained, model=path) for path in beside)]
        measuring.in_batches(source, files, jobs, shown)
    else:
        dataset = source.labelled("test", tagger)
        learning = _learning(tagger, dataset, curve, train, source, shown)
        with shown.progress("evaluating"):
            documents, given = measuring.whole(dataset)
    columns = measuring.columns
    if shown.json:
        as_json(columns if len(columns) > 1 else columns[names[0]])
    else:
        _show(measuring, all_)
    too_good = measuring.too_good()
    if too_good:
        typer.echo(f"labelrank: warning: {_TOO_GOOD.format(' and '.join(too_good))}", err=True)
    if report is not None:
        options = {"curves_of": label, "examples": examples, "learning": learning}
        facts = {"warning": _TOO_GOOD.format(" and ".join(too_good))} if too_good else {}
        answered = documents, given
        _write(report, trained.model, tagger, dataset, answered, columns, facts, options)
        shown.say(f"report: {report}")


def _names(model: Path, threshold: list[float], beside: list[Path]) -> list[str]:
    """What the columns are called: the model, its other cuts, other models."""
    names = [model.stem, *(f"cut at {cut:g}" for cut in threshold)]
    for path in beside:
        names.append(path.stem if path.stem not in names else str(path))
    return names


def _show(measuring: Any, every: bool) -> None:
    from labelrank.cli.printing import criteria_table, verdict, wrapped
    from labelrank.evaluation.verdict import guessing
    from labelrank.relevance import Checked, cardinality

    columns, Y = measuring.columns, measuring.Y
    verdict(columns, guessing(Checked(Y)), cardinality(Y))
    if every:
        criteria_table(columns)
    marks = "↑ larger is better, ↓ smaller is better" + "; * is the best" * (len(columns) > 1)
    more = "" if every else " --all prints all criteria."
    typer.echo(wrapped(f"{Y.shape[0]:,} documents of {measuring.name}. {marks}.{more}"))


def _check(
    tagger: Any, labels: list[str], report: Path | None, train: str | None, curve: Path | None
) -> None:
    """Refuse what cannot be shown before any work is done."""
    from labelrank.errors import InputError, unknown_label

    strange = set(labels) - set(map(str, tagger.label_names_))
    if strange:
        raise unknown_label(min(strange), tagger.label_names_)
    if train is not None and curve is not None:
        raise InputError("got both --train and --curve; give one of them")
    if report is None and (labels or train or curve):
        raise InputError("got options of a report but no file for it; give --report FILE")


def _learning(
    tagger: Any, dataset: Any, curve: Path | None, train: str | None, source: Source, shown: Shown
) -> Any:
    """The learning curve that the report shows, if one is wanted."""
    from labelrank import evaluation
    from labelrank.cli import models
    from labelrank.report import of_parts, read_learning_curve

    if curve is not None:
        return read_learning_curve(curve)
    if train is None:
        return None
    learned = replace(source, data=train, part=None).labelled("train", tagger)
    with shown.progress("learning growing parts") as advance:
        points = evaluation.learning_curve(
            tagger, models.documents_of(learned, tagger), models.relevance_of(learned, tagger),
            models.documents_of(dataset, tagger), models.relevance_of(dataset, tagger, warn=False),
            progress=advance,
        )  # fmt: skip
    return of_parts(points)


def _write(
    path: Path, model: Path, tagger: Any, dataset: Any, answered: tuple[Any, Any],
    columns: Mapping[str, Mapping[str, float]], facts: dict[str, str], options: Mapping[str, Any],
) -> None:  # fmt: skip
    from labelrank import report

    documents, given = answered
    facts |= {"model file": f"{model.name}, {model.stat().st_size / 2**20:,.1f} MiB"}
    strange = frozenset(map(str, dataset.label_names)) - frozenset(map(str, tagger.label_names_))
    if strange:
        facts["labels it does not know"] = f"{len(strange):,}, left out of all criteria"
    others = {name: values for name, values in columns.items() if name != model.stem}
    results = report.of_tagger(
        tagger, documents, given.Y, given=given, data=dataset.name, ids=dataset.ids, facts=facts,
        name=model.stem, criteria=columns[model.stem], beside=others, **options,
    )  # fmt: skip
    report.write(results, path)
