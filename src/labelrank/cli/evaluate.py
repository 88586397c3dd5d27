"""`labelrank evaluate`: what a model is worth on labelled data, and the report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from typer import Option

from labelrank.cli.options import Shown, Trained
from labelrank.cli.sources import Source

EXAMPLE = "labelrank evaluate tags.labelrank test.csv --report report.html"


def evaluate(
    trained: Trained, source: Source, shown: Shown,
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
) -> None:  # fmt: skip
    """Say in a sentence and five criteria what a model is worth; write the report."""
    from labelrank import metrics
    from labelrank.cli import models
    from labelrank.cli.printing import as_json

    tagger = trained.load()
    dataset = source.labelled("test", tagger)
    _check(tagger, label, report, train, curve)
    learning = _learning(tagger, dataset, curve, train, source, shown)
    with shown.progress("evaluating"):
        documents, given = models.put_to(tagger, dataset)
        columns = {trained.model.stem: given.criteria()}
        for cut in threshold:
            columns[f"cut at {cut:g}"] = metrics.evaluate(given.Y, given.scores, cut)
        for path in beside:
            name = path.stem if path.stem not in columns else str(path)
            other = replace(trained, model=path).load()
            columns[name] = models.put_to(other, dataset)[1].criteria()
    if shown.json:
        as_json(columns if len(columns) > 1 else columns[trained.model.stem])
    else:
        _show(dataset, given.Y, columns, all_)
    if report is not None:
        options = {"curves_of": label, "examples": examples, "learning": learning}
        _write(report, trained.model, tagger, dataset, (documents, given), columns, options)
        shown.say(f"report: {report}")


def _show(dataset: Any, Y: Any, columns: Mapping[str, Mapping[str, float]], every: bool) -> None:
    from labelrank.cli.printing import criteria_table, verdict, wrapped
    from labelrank.evaluation.verdict import guessing
    from labelrank.relevance import cardinality

    verdict(columns, guessing(Y), cardinality(Y.matrix))
    if every:
        criteria_table(columns)
    marks = "↑ larger is better, ↓ smaller is better" + "; * is the best" * (len(columns) > 1)
    more = "" if every else " --all prints all criteria."
    typer.echo(wrapped(f"{dataset.n_instances:,} documents of {dataset.name}. {marks}.{more}"))


def _check(
    tagger: Any, labels: list[str], report: Path | None, train: str | None, curve: Path | None
) -> None:
    """Refuse what cannot be shown before any work is done."""
    from labelrank.atomic import check_writable
    from labelrank.errors import InputError

    check_writable(report)
    strange = set(labels) - set(map(str, tagger.label_names_))
    if strange:
        raise InputError(f"got --label {min(strange)}, which the model does not know")
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
    columns: Mapping[str, Mapping[str, float]], options: Mapping[str, Any],
) -> None:  # fmt: skip
    from labelrank import report

    documents, given = answered
    facts = {"model file": f"{model.name}, {model.stat().st_size / 2**20:,.1f} MiB"}
    strange = frozenset(map(str, dataset.label_names)) - frozenset(map(str, tagger.label_names_))
    if strange:
        facts["labels it does not know"] = f"{len(strange):,}, left out of all criteria"
    others = {name: values for name, values in columns.items() if name != model.stem}
    results = report.of_tagger(
        tagger, documents, given.Y, given=given, data=dataset.name, ids=dataset.ids, facts=facts,
        name=model.stem, criteria=columns[model.stem], beside=others, **options,
    )  # fmt: skip
    report.write(results, path)
