"""What a comparison leaves: tables, tests and diagrams in a folder, and what is printed of them."""

import re
from pathlib import Path
from typing import Any

import typer

from labelrank.atomic import atomic_write
from labelrank.cli.printing import as_json, table

FORMATS = ("markdown", "latex", "csv")


def write(frame: Any, folder: Path) -> list[Any]:
    """Write values, tables, tests, diagrams and the report into the folder; return the tables."""
    from labelrank.evaluation import tables
    from labelrank.report import duration, write_comparison

    made = [
        tables.summarise(frame, name) for name in frame["criterion"].unique(maintain_order=True)
    ]
    texts = {"results.csv": frame.write_csv(), "tests.csv": _tests(made)}
    endings = {"markdown": "md", "latex": "tex", "csv": "csv"}
    texts |= {f"tables.{endings[name]}": _text(made, name) for name in FORMATS}
    for name, text in texts.items():
        with atomic_write(folder / name, "w") as file:
            file.write(text)
    drawn = {path for table in made for path in _draw(table, folder)}
    for stale in set(folder.glob("critical_difference_*.[ps][nv]g")) - drawn:
        stale.unlink()  # of an earlier run with other criteria, data or learners
    learners, datasets, folds = len(made[0].learners), made[0].datasets, frame["fold"].n_unique()
    where = ", ".join(datasets) if len(datasets) < 4 else f"{len(datasets)} data sets"
    title = f"{learners} learner{'s' * (learners > 1)} on {where}"
    spent = frame.filter(frame["criterion"].is_in(["fit_seconds", "predict_seconds"]))
    facts = {
        "folds": str(folds) if folds > 1 else "official split",
        "time to fit and predict": duration(spent["value"].drop_nans().sum()),
    }
    write_comparison(made, folder / "report.html", title=title, facts=facts)
    return made


def show(tables: list[Any], format: str | None, json: bool) -> None:
    """Print the tables: for people, for a paper, or for machines."""
    from labelrank.report import comparison

    if json:
        as_json([_told(one) for one in tables])
        return
    if format is not None:
        typer.echo(_text(tables, format), nl=False)
        return
    first = tables[0]
    if len(first.datasets) == 1:
        shown = [(first.datasets[0], comparison.together(tables), "")]
    else:
        shown = [
            (comparison.heading(t), comparison.cells(t), comparison.finding(t)) for t in tables
        ]
    for title, (heading, *rows), finding in shown:
        marked = [[f"{text} *" if best else text for text, best in row] for row in rows]
        table(title, [text for text, _ in heading], marked)
        if finding:
            typer.echo(f"  {finding}\n")
    typer.echo(comparison.NOTE.replace("is bold", "is marked *"))
    for note in comparison.failure_notes(first):
        typer.echo(note)


def _text(tables: list[Any], format: str) -> str:
    from labelrank.report import comparison

    writers = (comparison.as_markdown, comparison.as_latex, comparison.as_csv)
    return dict(zip(FORMATS, writers, strict=True))[format](tables)


def _tests(tables: list[Any]) -> str:
    import polars as pl

    from labelrank.evaluation.tables import Comparison

    rows = [test for table in tables for test in table.tests]
    kinds: dict[str, Any] = dict.fromkeys(Comparison._fields, pl.String)
    kinds |= dict.fromkeys(("statistic", "p_value", "p_holm"), pl.Float64)
    return pl.DataFrame(rows, schema=kinds, orient="row").write_csv()


def _draw(table: Any, folder: Path) -> list[Path]:
    """The critical-difference diagram, as PNG and SVG, where there are data sets enough."""
    if table.friedman is None:
        return []
    from labelrank.report.comparison import heading
    from labelrank.report.critical_difference import draw_critical_difference

    ranks, difference = table.friedman.mean_ranks, table.friedman.critical_difference
    figure = draw_critical_difference(table.ranked, ranks, difference, heading(table))
    name = re.sub(r"\W+", "_", table.criterion)
    paths = [folder / f"critical_difference_{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        with atomic_write(path) as file:
            figure.savefig(file, format=path.suffix[1:], dpi=150, bbox_inches="tight")
    return paths


def _told(table: Any) -> dict[str, Any]:
    """A table for machines: means and deviations by learner, then by data set."""
    return {
        "criterion": table.criterion,
        "datasets": table.datasets,
        "learners": table.learners,
        "mean": table.means,
        "std": table.deviations,
        "best": table.best,
        "tests": [test._asdict() for test in table.tests],
        "friedman": None if table.friedman is None else table.friedman._asdict(),
        "ranked": table.ranked,
        "failures": [
            {"learner": learner, "dataset": dataset, "reason": reason}
            for (learner, dataset), reason in table.failures.items()
        ],
    }
