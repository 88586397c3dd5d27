"""`labelrank compare`: learners on the folds of data sets, with tests of significance."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

import labelrank
from labelrank.cli import models
from labelrank.cli.options import Criteria, Features, Jobs, Seed, Shown, Threshold, several
from labelrank.cli.results import FORMATS, show, write
from labelrank.cli.sources import Reading
from labelrank.errors import InputError

EXAMPLE = "labelrank compare debtags-sample --learners BR+,NB,Rocchio --cv 3"
_FAILED = 1


def compare(
    *,
    data: list[str] = typer.Argument(
        ..., metavar="DATA", help="Names of data sets or paths of files."
    ),
    reading: Reading,
    learners: str = typer.Option(
        ..., metavar="A,B,C", help="Names of learners, see labelrank learners; or MODULE:CLASS."
    ),
    cv: int | None = typer.Option(
        None, metavar="N", min=2, help="Stratified folds; 10 by default."
    ),
    split: str | None = typer.Option(
        None, metavar="official", help="'official': the train and test part in place of folds."
    ),
    criterion: Criteria = [],  # noqa: B006
    tune: bool = typer.Option(
        False, "--tune", help="Tune each learner within the training parts, equally much."
    ),
    grid: list[str] = typer.Option(
        [], metavar="LEARNER:NAME=V1,V2",
        help="What --tune tries in place of that learner's own grid; may be repeated.",
    ),
    set: list[str] = typer.Option(
        [], "--set", metavar="LEARNER:NAME=VALUE",
        help="A parameter of one learner; may be repeated.",
    ),
    threshold: Threshold = None,
    memory: bool = typer.Option(
        False, "--memory", help="A new process for each cell: exact peaks, more time."
    ),
    out: Path = typer.Option(
        Path("results"), "--out", "-o", metavar="FOLDER",
        help="Where cells, tables and diagrams go.",
    ),
    retry: bool = typer.Option(
        False, "--retry", help="Measure again the cells that failed in an earlier run."
    ),
    tables: str | None = typer.Option(
        None, "--tables", "--format", metavar="KIND",
        help="Print the tables as markdown, latex or csv instead.",
    ),
    features: Features,
    seed: Seed = 0,
    jobs: Jobs = None,
    shown: Shown,
) -> None:  # fmt: skip
    """Compare learners on data sets, with tests of significance.

    A run that was interrupted continues where it stopped when the same is given again. Exits with
    1 if cells failed; the tables are written nevertheless, and mark them.
    """
    from joblib import effective_n_jobs
    from sklearn.exceptions import FitFailedWarning

    from labelrank.metrics import criteria

    if tables is not None and tables not in FORMATS:
        raise InputError(f"got --tables {tables}; use one of {', '.join(FORMATS)}")
    if cv is not None and split is not None:
        raise InputError(f"got both --cv {cv} and --split {split}; give one of them")
    if jobs == 0:
        raise InputError("got --jobs 0; give a whole number of processes, or -1 for all cores")
    judged_by = several(criterion)
    names = _split(learners)
    made = {name: _made(name, names, set, threshold, seed) for name in names}
    for name in judged_by:
        criteria.get(name)
    with shown.progress(f"reading {', '.join(data)}"):
        read = [reading.source(name).labelled("all") for name in data]
    with shown.progress("comparing") as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        frame = labelrank.evaluation.compare(
            read, made, cv=cv or 10, split=split,
            criteria=judged_by or None,
            tune={name: _grid(name, names, grid) for name in names} if tune else None,
            seed=seed, jobs=effective_n_jobs(jobs), memory=memory, out=out, retry=retry,
            **vars(features), progress=_told(advance, shown),
        )  # fmt: skip
    show(write(frame, out), tables, shown.json)
    shown.say(f"cells, tables and diagrams: {out}")
    _close(frame)


def _told(advance: Callable[[int, int], None], shown: Shown) -> Callable[[int, int], None]:
    """The bar, after a remark on what an earlier run has left."""
    calls: list[int] = []

    def tell(done: int, total: int) -> None:
        if done and not calls:
            shown.say(f"{done} of {total} cells are there already")
        calls.append(done)
        advance(done, total)

    return tell


def _close(frame: Any) -> None:
    """Leave with an error that names the first cell that failed, if one did."""
    cells = frame.unique(("dataset", "learner", "fold"), maintain_order=True)
    failed = cells.drop_nulls("reason")
    if failed.height:
        first = "{learner} on {dataset}: {reason}".format(**failed.row(0, named=True))
        sentence = f"{failed.height} of {cells.height} cells failed, first {first}"
        advice = "leave out that learner or data set, or measure such cells again by --retry"
        typer.echo(f"labelrank: {sentence}; {advice}", err=True)
        raise typer.Exit(_FAILED)


def _split(learners: str) -> list[str]:
    """The names as the catalog writes them, and classes of your own as `MODULE:CLASS`."""
    given = [name.strip() for name in learners.split(",") if name.strip()]
    names = [name if ":" in name else labelrank.catalog.describe(name).name for name in given]
    if not names or len(frozenset(names)) < len(names):
        raise InputError(f"got --learners {learners}; name one or more, each once, as in BR+,NB")
    return names


def _made(name: str, names: list[str], pairs: list[str], threshold: str | None, seed: int) -> Any:
    """The learner with its settings; one thread, so that times can be compared."""
    chosen = models.settings(_own(name, names, pairs, "--set"))
    return models.make_learner(name, chosen, threshold=threshold, seed=seed, jobs=1)


def _grid(name: str, names: list[str], pairs: list[str]) -> dict[str, list[Any]]:
    return models.grid(name, _own(name, names, pairs, "--grid"), f"--grid '{name}:NAME=V1,V2'")


def _own(name: str, names: list[str], pairs: list[str], option: str) -> list[str]:
    """What was said of this learner: `NAME=VALUE` of the pairs that begin with its name."""
    found = []
    for pair in pairs:
        before, equals, value = pair.partition("=")
        learner, colon, parameter = before.rpartition(":")
        known = {one.casefold(): one for one in names}.get(learner.strip().casefold())
        if not colon or not equals or known is None:
            raise InputError(f"got {option} {pair}; write LEARNER:NAME=VALUE for one of {names}")
        if known == name:
            found.append(f"{parameter}={value}")
    return found
