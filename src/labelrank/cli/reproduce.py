"""`labelrank reproduce`: the tables and figures of the papers, published beside ours."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Folder, Jobs, Json, Quiet, Seed
from labelrank.cli.printing import as_json, progress, say, table
from labelrank.cli.reading import use_folder

Name = Annotated[str, typer.Argument(help="Run this experiment.", metavar="NAME")]
All = Annotated[bool, typer.Option("--all", help="Run everything (overnight) into one book.")]
Quick = Annotated[bool, typer.Option("--quick", help="Run the fast ones (minutes) into a book.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o",
        help="With NAME: also write the records to this file as JSON lines. With --all or "
        "--quick: the folder of the book, results/book by default; a run continues there.",
    ),
]  # fmt: skip
Figures = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="With NAME: where pictures go; results by default."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Measure again what the folder of the book holds already.")
]
Record = Annotated[
    bool, typer.Option("--record", help="Make the verdicts of this run the recorded ones.")
]
Verdicts = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Recorded verdicts, in place of those in the package."),
]


def reproduce(
    name: Name = "",
    all: All = False,
    quick: Quick = False,
    out: Out = None,
    figures: Figures = None,
    fresh: Fresh = False,
    record: Record = False,
    verdicts: Verdicts = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    data: Folder = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the tables and figures of the papers, run one, or all of them into a book.

    --all and --quick exit with 1 if a verdict is worse than the recorded one, or an experiment
    failed.
    """
    from labelrank.cli.book import Options, check_options, run_book, show_worse

    check_options(name, all, quick, out, figures, fresh, record, verdicts, seed)
    use_folder(data)
    if all or quick:
        folder = out or Path("results/book")
        run_book(Options(quick, folder, fresh, record, verdicts, seed, jobs, json, quiet))
    elif name:
        chosen, records = _run_one(name, figures, out, seed, jobs, json, quiet)
        show_worse({chosen.name: records}, record, verdicts, seed, quiet)
    else:
        _list(json)


def _run_one(
    name: str,
    figures: Path | None,
    out: Path | None,
    seed: int,
    jobs: int | None,
    json: bool,
    quiet: bool,
) -> tuple[Any, list[Any]]:
    from labelrank import experiments
    from labelrank.experiments import figures as drawing

    drawing.folder.set(figures or Path("results"))
    chosen = experiments.find(name)
    records: list[Any] = []
    try:
        _measure(chosen, records, seed, jobs, quiet)
    finally:
        records = experiments.judge(records, chosen.tolerance, chosen.absolute, chosen.along)
        lines = as_lines(chosen, records, seed)
        if out is not None:
            _write(lines, out)
    if json:
        typer.echo("\n".join(lines))
    else:
        _show(chosen, records)
    return chosen, records


def as_lines(chosen: Any, records: Any, seed: int) -> list[str]:
    """The records as JSON lines."""
    from labelrank.experiments import to_json

    about = {"experiment": chosen.name, "paper": chosen.paper, "table": chosen.table, "seed": seed}
    return [to_json(record, **about) for record in records]


def _write(lines: list[str], out: Path) -> None:
    from labelrank.atomic import atomic_write

    with atomic_write(out, "w") as file:
        file.writelines(f"{line}\n" for line in lines)


def _list(json: bool) -> None:
    from labelrank.cli.book import contents

    entries = contents()
    if json:
        as_json(_for_machines(entries))
        return
    columns = ("paper", "table or figure", "what it shows", "NAME", "minutes", "state", "remark")
    rows = [
        (e.paper, e.label, e.what, ", ".join(map(_marked, e.experiments)), e.minutes, e.state,
         e.note)
        for e in entries
    ]  # fmt: skip
    title = (
        "Run one with: labelrank reproduce NAME; all of them with --all, those with * by --quick"
    )
    table(title, columns, rows)


def _marked(name: str) -> str:
    from labelrank.experiments.contents import planned

    return f"{name}*" if planned([name], quick=True) else name


def _for_machines(entries: list[Any]) -> list[dict[str, Any]]:
    """One object an experiment, then one a table or figure that has none (its name is null)."""
    from labelrank import experiments
    from labelrank.cli.book import has_data

    shown = ("name", "paper", "table", "summary", "data", "settings", "minutes", "tolerance")
    found: list[dict[str, Any]] = []
    for one in experiments.experiments():
        shows = [entry.label for entry in entries if one.name in entry.experiments]
        about = {key: getattr(one, key) for key in shown}
        found.append({**about, "shows": shows, "available": has_data(one)})
    return found + [
        {"name": None, "paper": e.paper, "table": e.label, "summary": e.what, "note": e.note,
         "available": False}
        for e in entries if not e.experiments
    ]  # fmt: skip


def _measure(chosen: Any, records: list[Any], seed: int, jobs: int | None, quiet: bool) -> None:
    """Gather the records one by one, so that an interrupt loses none."""
    from labelrank import experiments

    say(f"{chosen.name}: about {chosen.minutes:g} minute(s)", quiet)
    with progress(chosen.name, quiet) as advance:
        for record in experiments.run(chosen, seed=seed, jobs=jobs):
            records.append(record)
            advance(len(records), None)


def _show(chosen: Any, records: list[Any]) -> None:
    rows = [
        (r.row, r.column, r.published, r.ours, r.difference, r.verdict, r.note) for r in records
    ]
    columns = ("row", "column", "published", "ours", "difference", "verdict", "")
    table(f"{chosen.name}: paper {chosen.paper}, {chosen.table}", columns, rows)
    typer.echo(f"{chosen.settings}; tolerance {100 * chosen.tolerance:g} % of the published value")
