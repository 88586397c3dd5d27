"""`labelrank reproduce`: the tables and figures of the papers, published beside ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.atomic import atomic_write
from labelrank.cli.options import Jobs, Seed, Shown
from labelrank.cli.printing import as_json, table
from labelrank.cli.sources import Folder, use_folder
from labelrank.errors import InputError, MissingError
from labelrank.experiments import figures, registry, verdicts

EXAMPLE = "labelrank reproduce\nlabelrank reproduce mlpp-yeast"
_GOT_WORSE = 1


@dataclass(frozen=True)
class Options:
    """What a run is asked for."""

    name: Annotated[str, typer.Argument(help="Run this experiment.", metavar="NAME")] = ""
    all: Annotated[
        bool, typer.Option("--all", help="Run everything (overnight) into one book.")
    ] = False
    quick: Annotated[
        bool, typer.Option("--quick", help="Run the fast ones (minutes) into a book.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="PATH",
            help="With NAME: also write the records to this file as JSON lines. With --all or "
            "--quick: the folder of the book, results/book by default; a run continues there.",
        ),
    ] = None  # fmt: skip
    figures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With NAME: where pictures go; results by default."),
    ] = None
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Measure again what the folder of the book holds already."),
    ] = False
    record: Annotated[
        bool, typer.Option("--record", help="Record the verdicts and values of this run.")
    ] = False
    verdicts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Recorded verdicts, in place of those in the package."),
    ] = None
    seed: Seed = 0
    jobs: Jobs = None

    def check(self) -> None:
        """Refuse options that do not go together, before anything runs."""
        runs = {self.name: self.name, "--all": self.all, "--quick": self.quick}
        asked = [text for text, value in runs.items() if value]
        if len(asked) > 1:
            raise InputError(f"got {' and '.join(asked)}; give the name of one, --all, or --quick")
        options = {"--out": self.out, "--figures": self.figures, "--fresh": self.fresh,
                   "--record": self.record, "--verdicts": self.verdicts}  # fmt: skip
        given = [option for option, value in options.items() if value]
        if given and not asked:
            raise InputError(f"got {given[0]} and nothing to run; add a NAME, --all or --quick")
        if self.name and self.fresh:
            raise InputError("got --fresh with one experiment, which always runs; leave it out")
        if self.figures and not self.name:
            raise InputError("got --figures with a book, which holds its pictures; leave it out")
        if self.record and self.seed:
            refused = f"got --record with --seed {self.seed}"
            raise InputError(f"{refused}; verdicts are recorded for seed 0")


def reproduce(*, asked: Options, data: Folder = None, shown: Shown) -> None:
    """List the results of the papers, run one, or all into a book.

    Exits with 1 if a verdict is worse than the recorded one, a value has moved away from it, or an
    experiment of --all or --quick failed.
    """
    asked.check()
    use_folder(data)
    if asked.all or asked.quick:
        _run_book(asked, shown)
    elif asked.name:
        _run_one(asked, shown)
    else:
        _list(shown.json)


def _run_one(asked: Options, shown: Shown) -> None:
    """Run one experiment; an interrupt loses none of its records."""
    figures.folder.set(asked.figures or Path("results"))
    chosen = registry.find(asked.name)
    records: list[Any] = []
    shown.say(f"{chosen.name}: about {chosen.minutes:g} minute(s)")
    try:
        with shown.progress(chosen.name) as advance:
            for one in registry.run(chosen, seed=asked.seed, jobs=asked.jobs):
                records.append(one)
                advance(len(records), None)
    finally:
        records = verdicts.judge(records, chosen.tolerance, chosen.along)
        lines = _as_lines(chosen, records, asked.seed)
        if asked.out is not None:
            with atomic_write(asked.out, "w") as file:
                file.writelines(f"{line}\n" for line in lines)
    if shown.json:
        typer.echo("\n".join(lines))
    else:
        _show(chosen, records)
    if not any(one.row or one.column for one in records):
        raise MissingError(f"{chosen.name} was not measured: {records[0].note}")
    _close({chosen.name: records}, [], asked, shown)


def _as_lines(chosen: Any, records: Sequence[Any], seed: int) -> list[str]:
    """The records as JSON lines."""
    about = {"experiment": chosen.name, "paper": chosen.paper, "table": chosen.table, "seed": seed}
    return [verdicts.to_json(record, **about) for record in records]


def _show(chosen: Any, records: Sequence[Any]) -> None:
    rows = [
        (r.row, r.column, r.published, r.ours, r.difference, r.verdict, r.note) for r in records
    ]
    columns = ("row", "column", "published", "ours", "difference", "verdict", "")
    table(f"{chosen.name}: {registry.authors(chosen.paper)}, {chosen.table}", columns, rows)
    typer.echo(f"{chosen.settings}; tolerance {100 * chosen.tolerance:g} % of the published value")


def _run_book(asked: Options, shown: Shown) -> None:
    """Run the experiments that have their data; the page is written anew after each of them."""
    from labelrank.experiments.book import write_book
    from labelrank.report.book import book_page
    from labelrank.report.page import write_text

    chosen = _chosen(asked.quick, shown)
    known = {one.name: one for one in chosen}
    folder = asked.out or Path("results/book")
    page = folder / "book.html"
    done: list[Any] = []
    with shown.progress("reproducing") as advance:
        for chapter in write_book(
            chosen, folder, seed=asked.seed, jobs=asked.jobs, fresh=asked.fresh,
            tell=lambda experiment, records: advance(len(done), len(chosen)),
        ):  # fmt: skip
            done.append(chapter)
            lines = _as_lines(known[chapter.experiment], chapter.records, asked.seed)
            typer.echo("\n".join(lines) if shown.json else _told(chapter))
            worse = _worse({one.experiment: one.records for one in done if not one.error}, asked)
            write_text(book_page(done, known, folder, worse), page)
    shown.say(f"book: {page}; {sum(one.seconds for one in done) / 60:.1f} minutes")
    failed = [f"{chapter.experiment}: {chapter.error}" for chapter in done if chapter.error]
    _close({one.experiment: one.records for one in done if not one.error}, failed, asked, shown)


def _chosen(quick: bool, shown: Shown) -> list[Any]:
    wanted = registry.planned(registry.experiments(), quick)
    chosen = [one for one in wanted if one.has_data]
    without = [one.name for one in wanted if one not in chosen]
    if not chosen:
        advice = "set LABELRANK_DATA (or --data) to its folder"
        raise MissingError(f"the data of no experiment is there; {advice}")
    if without:
        shown.say(f"left out, their data is missing: {', '.join(without)}")
    shown.say(f"{len(chosen)} experiments, about {sum(e.minutes for e in chosen):g} minutes")
    return chosen


def _told(chapter: Any) -> str:
    """One line: the experiment, its minutes, and its verdicts."""
    said = ", ".join(f"{n} {verdict}" for verdict, n in chapter.counts.items())
    if chapter.error:
        said = f"failed: {chapter.error}"
    kept = " (kept)" if chapter.kept else ""
    return f"{chapter.experiment:<22}{chapter.seconds / 60:6.1f} min{kept}  {said}"


def _now(measured: Mapping[str, Sequence[Any]]) -> dict[Any, Any]:
    """What these experiments say now; not of one whose only record names missing data."""
    now: dict[Any, Any] = {}
    for name, records in measured.items():
        if all(one.row or one.column for one in records):
            now |= verdicts.verdicts_of(name, records)
    return now


def _worse(measured: Mapping[str, Sequence[Any]], asked: Options) -> list[Any]:
    """What differs from the recorded verdicts; other seeds than the recorded are not compared."""
    path = asked.verdicts or verdicts.recorded_file()
    return [] if asked.seed else verdicts.got_worse(_now(measured), verdicts.read(path))


def _close(
    measured: Mapping[str, Sequence[Any]], failed: Sequence[str], asked: Options, shown: Shown
) -> None:
    """Record the verdicts, or leave with an error that names what is worse or failed."""
    if asked.record:
        path, now = asked.verdicts or verdicts.recorded_file(), _now(measured)
        verdicts.write(path, now)
        shown.say(f"{len(now)} verdicts recorded: {path}")
    worse = [] if asked.record else _worse(measured, asked)
    for sentence in [f"worse: {one}" for one in worse] + [f"failed: {one}" for one in failed]:
        typer.echo(f"labelrank: {sentence}", err=True)
    if failed or worse:
        raise typer.Exit(_GOT_WORSE)


def _list(json: bool) -> None:
    entries = registry.contents()
    if json:
        as_json(_for_machines(entries))
        return
    columns = ("paper", "where", "what it shows", "NAME", "minutes", "state", "remark")
    rows = []
    for one in entries:
        marked = ", ".join(each.name + "*" * each.quick for each in one.measured_by)
        about = registry.authors(one.paper), one.label, one.what, marked
        rows.append((*about, one.minutes, one.state, one.note))
    how = "Run one with: labelrank reproduce NAME; all of them with --all, those with * by --quick"
    table(how, columns, rows)


def _for_machines(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """One object per experiment, then one per table or figure without (its name is null)."""
    shown = ("name", "paper", "table", "summary", "data", "settings", "minutes", "tolerance")
    return [
        {**{key: getattr(one, key) for key in shown},
         "shows": [e.label for e in entries if one.name in e.by and not e.is_claim],
         "claims": [e.what for e in entries if one.name in e.by and e.is_claim],
         "available": one.has_data}
        for one in registry.experiments()
    ] + [
        {"name": None, "paper": e.paper, "table": e.label, "summary": e.what, "note": e.note,
         "available": False}
        for e in entries if not e.measured_by
    ]  # fmt: skip
