"""The options that several commands share, each described once; some come in groups.
A group is a dataclass, a parameter of a command; `grouped` puts its fields in its place."""

import functools
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from labelrank.errors import InputError, MissingError

PARTS = ("train", "validation", "test", "all")

Seed = Annotated[int, Option(min=0, help="Seed of everything random.")]
Jobs = Annotated[int | None, Option(help="How many to run side by side, 1 by default.")]
Json = Annotated[bool, Option("--json", help="Print JSON for machines.")]
Threshold = Annotated[
    str | None, Option(help="Where the ranking is cut: a number, 'cardinality' or 'tuned'.")
]
Representation = Annotated[
    str, Option(help="How texts become features: tfidf, bag, set or hashing.")
]
MaxTerms = Annotated[int | None, Option(min=1, help="Keep the terms that are in most documents.")]
Folder = Annotated[Path | None, Option(
    "--data", metavar="FOLDER", help="Where named data sets lie (LABELRANK_DATA).")]  # fmt: skip
Out = Annotated[Path | None, Option("--out", "-o", help="The file to write.")]


@dataclass(frozen=True)
class Trained:
    """The model that a command reads."""

    model: Annotated[Path, Argument(metavar="MODEL", help="A file that labelrank fit wrote.")]
    learner: Annotated[list[str], Option(
        "--learner", "-l", metavar="MODULE:CLASS",
        help="A class of your own that MODEL holds; it is imported. May be repeated.",
    )] = field(default_factory=list)  # fmt: skip

    def load(self) -> Any:
        from labelrank.cli import models

        return models.load_tagger(self.model, self.learner)


@dataclass(frozen=True)
class Recipe:
    """The model that a command learns."""

    learner: Annotated[str, Option(
        "--learner", "-l", metavar="NAME|MODULE:CLASS",
        help="Its name, see labelrank learners; or a class of your own, which is imported.",
    )] = "BR+"  # fmt: skip
    representation: Representation = "tfidf"
    max_terms: MaxTerms = None
    seed: Seed = 0
    jobs: Jobs = None

    def make(self, chosen: dict[str, Any], threshold: str | None = None) -> Any:
        """The learner with these settings, not fitted yet."""
        from labelrank.cli import models

        return models.make_learner(
            self.learner, chosen, threshold=threshold, seed=self.seed, jobs=self.jobs
        )

    def teach(self, learner: Any, dataset: Any) -> Any:
        """A tagger that has learned the data set."""
        from labelrank.cli import models
        from labelrank.tagger import Tagger

        models.check_labels(dataset)
        tagger = Tagger(learner, representation=self.representation, max_terms=self.max_terms)
        documents = dataset.X if dataset.texts is None else dataset.texts
        return tagger.fit(documents, dataset.Y, label_names=dataset.label_names, name=dataset.name)


@dataclass(frozen=True)
class Shown:
    """How a command talks: to people or machines, with or without remarks."""

    json: Json = False
    quiet: Annotated[bool, Option("--quiet", "-q", help="No remarks, no progress bars.")] = False

    def say(self, sentence: str) -> None:
        """A remark for the person at the terminal, kept away from the output."""
        if not self.quiet:
            typer.echo(sentence, err=True)

    def progress(self, doing: str) -> Any:
        """A bar on standard error while the block runs; the block gets `advance(done, total)`."""
        if self.quiet or not sys.stderr.isatty():
            return nullcontext(lambda done, total: None)
        from labelrank.resources import meter

        return meter(doing, shown=True)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How data are to be read."""

    text_column: Annotated[str | None, Option(help="Column or JSON key of the text.")] = None
    label_column: Annotated[
        list[str] | None,
        Option(help="Column or JSON key of the labels; repeat it for one column per label."),
    ] = None
    label_delimiter: Annotated[str | None, Option(help="What separates labels in a cell.")] = None
    labels: Annotated[
        int | None, Option(metavar="N", min=1, help="Number of labels: the last N columns.")
    ] = None
    labels_first: Annotated[bool, Option("--labels-first", help="The first N columns instead.")] = (
        False
    )
    ordered: Annotated[bool, Option("--ordered", help="Labels come most relevant first.")] = False
    encoding: Annotated[str | None, Option(help="Encoding of DATA; by default UTF-8.")] = None
    folder: Folder = None

    def source(self, data: str) -> "Source":
        """These data, read in that way."""
        return Source(data=data, **vars(self))


@dataclass(frozen=True, kw_only=True)
class Source(Reading):
    """Which data, and how to read them."""

    data: Annotated[
        str, Argument(metavar="DATA", help="Name of a data set, path of a file, or - for stdin.")
    ]
    part: Annotated[str | None, Option(help=f"Part of DATA to use: {', '.join(PARTS)}.")] = None
    format: Annotated[
        str | None, Option(help="Format of DATA; by default told from name and content.")
    ] = None

    def read(self, usual: str) -> Any:
        """The part asked for; by default the usual one if the data has parts, else all."""
        from labelrank import datasets

        use_folder(self.folder)
        if self.part is not None and self.part not in PARTS:
            raise InputError(f"got --part {self.part}; use one of {', '.join(PARTS)}")
        whole = datasets.load(self.data, **self.options())
        wanted = self.part or usual
        chosen = whole if wanted == "all" else getattr(whole, wanted)
        if chosen is None and self.part is not None:
            raise MissingError(f"{whole.name} has no {wanted} part; use --part all")
        return whole if chosen is None else chosen

    def options(self) -> dict[str, Any]:
        """What was said of the data, as `load` takes it."""
        columns = self.label_column
        given = {
            "format": self.format, "text_column": self.text_column,
            "label_column": columns[0] if columns and len(columns) == 1 else columns,
            "label_delimiter": self.label_delimiter, "n_labels": self.labels,
            "labels_at": "first" if self.labels_first else None, "ordered": self.ordered,
            "encoding": self.encoding,
        }  # fmt: skip
        return {name: value for name, value in given.items() if value}


def use_folder(folder: Path | None) -> None:
    """Look for named data sets in this folder."""
    if folder is not None and not folder.is_dir():
        raise MissingError(f"{folder} is not a folder; give the folder that holds the data sets")
    if folder is not None:
        os.environ["LABELRANK_DATA"] = str(folder)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as options in place of the groups."""
    parameters = inspect.signature(command).parameters.values()
    groups: Any = {p.name: p.annotation for p in parameters if is_dataclass(p.annotation)}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{option.name: given.pop(option.name) for option in fields(group)})
        command(**given)

    options: list[inspect.Parameter] = []
    for parameter in parameters:
        if parameter.name in groups:
            options += map(_option, fields(groups[parameter.name]))
        else:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _option(declared: Any) -> inspect.Parameter:
    """A field of a group as a parameter of the command."""
    default = inspect.Parameter.empty if declared.default is MISSING else declared.default
    if declared.default_factory is not MISSING:
        default = declared.default_factory()
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(declared.name, kind, default=default, annotation=declared.type)
