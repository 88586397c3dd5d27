"""`labelrank reproduce`: the tables of the papers, published beside ours."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Jobs, Json, Quiet, Seed
from labelrank.cli.printing import as_json, progress, say, table
from labelrank.cli.reading import Folder, use_folder

Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Also write the records as JSON lines.")
]


Figures = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Where the pictures of figures are written.")
]


def reproduce(
    name: Annotated[str, typer.Argument(help="Run this experiment.", metavar="NAME")] = "",
    out: Out = None,
    figures: Figures = Path("results"),
    seed: Seed = 0,
    jobs: Jobs = None,
    data: Folder = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the experiments of the papers, or run one."""
    from labelrank import experiments
    from labelrank.experiments import figures as drawing

    use_folder(data)
    drawing.folder.set(figures)
    if not name:
        _list(json)
        return
    chosen = experiments.find(name)
    records: list[Any] = []
    try:
        _measure(chosen, records, seed, jobs, quiet)
    finally:
        records = experiments.judge(records, chosen.tolerance, chosen.absolute, chosen.along)
        lines = _lines(chosen, records, seed)
        if out is not None:
            _write(lines, out)
    if json:
        typer.echo("\n".join(lines))
    else:
        _show(chosen, records)


def _lines(chosen: Any, records: list[Any], seed: int) -> list[str]:
    from labelrank.experiments import to_json

    about = {"experiment": chosen.name, "paper": chosen.paper, "table": chosen.table, "seed": seed}
    return [to_json(record, **about) for record in records]


def _write(lines: list[str], out: Path) -> None:
    from labelrank.atomic import atomic_write

    with atomic_write(out, "w") as file:
        file.writelines(f"{line}\n" for line in lines)


def _list(json: bool) -> None:
    from labelrank import experiments
    from labelrank.datasets import is_available

    found = [(e, all(map(is_available, e.data))) for e in experiments.experiments()]
    if json:
        shown = ("name", "paper", "table", "summary", "data", "settings", "minutes", "tolerance")
        as_json([{**{key: getattr(e, key) for key in shown}, "available": ok} for e, ok in found])
        return
    columns = ("name", "paper", "table", "what", "data", "minutes", "state")
    rows = [
        (e.name, e.paper, e.table, e.summary, ", ".join(e.data), e.minutes, _state(ok))
        for e, ok in found
    ]
    table("Experiments (run one with: labelrank reproduce NAME)", columns, rows)


def _state(available: bool) -> str:
    return "can run" if available else "data missing"


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
    typer.echo(f"{chosen.settings}; tolerance {chosen.tolerance:.0%} of the published value")
