"""`reproduce --all` and `--quick`: experiments into one book, verdicts beside recorded ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from labelrank.cli.printing import progress, say

_GOT_WORSE = 1


class Options(NamedTuple):
    """What a book is asked for."""

    quick: bool
    folder: Path
    fresh: bool
    record: bool
    verdicts: Path | None
    seed: int
    jobs: int | None
    json: bool
    quiet: bool


def check_options(
    name: str,
    all: bool,
    quick: bool,
    out: Path | None,
    figures: Path | None,
    fresh: bool,
    record: bool,
    verdicts: Path | None,
    seed: int,
) -> None:
    """Refuse options that do not go together, before anything runs."""
    from labelrank.errors import InputError

    asked = [text for text, given in ((name, name), ("--all", all), ("--quick", quick)) if given]
    if len(asked) > 1:
        raise InputError(f"got {' and '.join(asked)}; give the name of one, --all, or --quick")
    options = {"--out": out, "--figures": figures, "--fresh": fresh, "--record": record,
               "--verdicts": verdicts}  # fmt: skip
    given = [option for option, value in options.items() if value]
    if given and not asked:
        raise InputError(f"got {given[0]} and nothing to run; add a NAME, --all or --quick")
    if name and fresh:
        raise InputError("got --fresh with one experiment, which always runs; leave it out")
    if figures and not name:
        raise InputError("got --figures with a book, which holds its pictures; leave it out")
    if record and seed:
        raise InputError(f"got --record with --seed {seed}; verdicts are recorded for seed 0")


def contents() -> list[Any]:
    """Every table and figure with its state; experiments of no paper's table come last."""
    from labelrank import experiments
    from labelrank.experiments.contents import CONTENTS
    from labelrank.report.book import Entry

    known = {one.name: one for one in experiments.experiments()}
    found = []
    for entry in CONTENTS:
        names = [name for name in entry.by if name in known]
        minutes = ", ".join(f"{known[name].minutes:g}" for name in names)
        found.append(Entry(*entry[:3], names, minutes, _state(names, known), entry.note))
    listed = {name for entry in CONTENTS for name in entry.by}
    for name in sorted(known.keys() - listed):
        one = known[name]
        state = _state([name], known)
        found.append(
            Entry(one.paper, one.table, one.summary, [name], f"{one.minutes:g}", state, "")
        )
    return found


def _state(names: list[str], known: Mapping[str, Any]) -> str:
    if not names:
        return "not measured"
    return "can run" if any(has_data(known[name]) for name in names) else "data missing"


def has_data(experiment: Any) -> bool:
    """True if all data sets of the experiment are there."""
    from labelrank.datasets import is_available

    return all(map(is_available, experiment.data))


def run_book(asked: Options) -> None:
    """Run the experiments that have their data; the page is written anew after each of them."""
    from labelrank.cli.reproduce import as_lines
    from labelrank.experiments.book import write_book
    from labelrank.report.book import write_book_page

    chosen = _chosen(asked.quick, asked.quiet)
    known = {one.name: one for one in chosen}
    done: list[Any] = []
    page = asked.folder / "book.html"
    with progress("reproducing", asked.quiet) as advance:
        for chapter in write_book(
            chosen, asked.folder, seed=asked.seed, jobs=asked.jobs, fresh=asked.fresh,
            tell=lambda experiment, records: advance(len(done), len(chosen)),
        ):  # fmt: skip
            done.append(chapter)
            lines = as_lines(known[chapter.experiment], chapter.records, asked.seed)
            typer.echo("\n".join(lines) if asked.json else _told(chapter))
            worse = _worse(done, asked.verdicts, asked.seed)
            write_book_page(_book(done, known, asked.folder, worse), page)
    say(f"book: {page}; {sum(one.seconds for one in done) / 60:.1f} minutes", asked.quiet)
    _close(done, asked)


def _chosen(quick: bool, quiet: bool) -> list[Any]:
    from labelrank import experiments
    from labelrank.errors import MissingError
    from labelrank.experiments.contents import planned

    known = {one.name: one for one in experiments.experiments()}
    wanted = [known[name] for name in planned(list(known), quick)]
    chosen = [one for one in wanted if has_data(one)]
    without = [one.name for one in wanted if one not in chosen]
    if not chosen:
        raise MissingError(
            "the data of no experiment is there; set LABELRANK_DATA (or --data) to its folder"
        )
    if without:
        say(f"left out, their data is missing: {', '.join(without)}", quiet)
    say(f"{len(chosen)} experiments, about {sum(e.minutes for e in chosen):g} minutes", quiet)
    return chosen


def _told(chapter: Any) -> str:
    """One line: the experiment, its minutes, and its verdicts."""
    said = ", ".join(f"{n} {verdict}" for verdict, n in _counts([chapter]).items())
    if chapter.error:
        said = f"failed: {chapter.error}"
    kept = " (kept)" if chapter.kept else ""
    return f"{chapter.experiment:<22}{chapter.seconds / 60:6.1f} min{kept}  {said}"


def _counts(chapters: Sequence[Any]) -> Counter[str]:
    return Counter(record.verdict for chapter in chapters for record in chapter.records)


def _worse(done: Sequence[Any], verdicts: Path | None, seed: int) -> list[Any]:
    """What the chapters made worse; other seeds than the recorded one are not compared."""
    from labelrank.experiments import verdicts as recorded

    if seed:
        return []
    now: dict[Any, str] = {}
    for chapter in done:
        if not chapter.error:
            now |= recorded.verdicts_of(chapter.experiment, chapter.records)
    return recorded.got_worse(now, recorded.read(verdicts or recorded.recorded_file()))


def _close(done: Sequence[Any], asked: Options) -> None:
    """Record the verdicts, or leave with an error that names what is worse or failed."""
    failed = [f"{chapter.experiment}: {chapter.error}" for chapter in done if chapter.error]
    measured = {one.experiment: one.records for one in done if not one.error}
    worse = show_worse(measured, asked.record, asked.verdicts, asked.seed, asked.quiet)
    for sentence in failed:
        typer.echo(f"labelrank: failed: {sentence}", err=True)
    if failed or worse:
        raise typer.Exit(_GOT_WORSE)


def show_worse(
    measured: Mapping[str, Sequence[Any]],
    record: bool,
    verdicts: Path | None,
    seed: int,
    quiet: bool,
) -> bool:
    """Say which verdicts got worse; with `record` they are the recorded ones from now on."""
    from labelrank.experiments import verdicts as recorded

    path = verdicts or recorded.recorded_file()
    now: dict[Any, str] = {}
    for name, records in measured.items():
        if all(one.row or one.column for one in records):  # else it says which data is missing
            now |= recorded.verdicts_of(name, records)
    if record:
        recorded.write(path, now)
        say(f"{len(now)} verdicts recorded: {path}", quiet)
        return False
    found = [] if seed else recorded.got_worse(now, recorded.read(path))
    for worse in found:
        typer.echo(f"labelrank: worse: {worse}", err=True)
    return bool(found)


def _book(done: Sequence[Any], known: Mapping[str, Any], folder: Path, worse: Sequence[Any]) -> Any:
    """What the page shows of the chapters done so far, paper by paper."""
    from labelrank.experiments.contents import TITLES
    from labelrank.report.book import Book

    before = {found.cell: found.recorded for found in worse}
    papers: dict[str, list[Any]] = {}
    for chapter in sorted(done, key=lambda one: list(known).index(one.experiment)):
        experiment = known[chapter.experiment]
        title = f"{experiment.paper} {TITLES.get(experiment.paper, '')}"
        papers.setdefault(title, []).append(_chapter(chapter, experiment, folder, before))
    return Book(
        "The papers, reproduced",
        _facts(done),
        contents(),
        dict(sorted(papers.items())),
        [str(found) for found in worse],
        [f"{one.experiment}: {one.error}" for one in done if one.error],
    )


def _facts(done: Sequence[Any]) -> dict[str, str]:
    facts = {"experiments": str(len(done)), "seed": str(done[0].seed)}
    facts["minutes"] = f"{sum(one.seconds for one in done) / 60:.1f}"
    return facts | {verdict: str(n) for verdict, n in _counts(done).items()}


def _chapter(chapter: Any, experiment: Any, folder: Path, before: Mapping[Any, str]) -> Any:
    from labelrank.experiments.book import pictures
    from labelrank.experiments.verdicts import Cell
    from labelrank.report.book import Chapter, Line, Picture

    lines = [
        Line(r.row, r.column, r.published, r.ours, r.difference, r.verdict, _note(r.note),
             before.get(Cell(experiment.name, r.row, r.column), ""))
        for r in chapter.records
    ]  # fmt: skip
    settings = f"{experiment.settings}; tolerance {100 * experiment.tolerance:g} %."
    time = f"{chapter.seconds / 60:.1f} minutes ({chapter.cpu_seconds / 60:.1f} of computing)"
    drawn = [Picture(p.stem, p.read_bytes()) for p in pictures(folder, experiment.name)]
    return Chapter(
        experiment.name, experiment.table, experiment.summary, settings, time, lines, drawn,
        chapter.error,
    )  # fmt: skip


def _note(note: str) -> str:
    """Without the place of a picture, which the book holds itself."""
    return " ".join(word for word in note.split() if not word.endswith(".png"))
