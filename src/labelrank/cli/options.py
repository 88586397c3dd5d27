"""The options that several commands share, each described once; some come in groups.

A group is a dataclass whose fields are options. A command takes a group as one parameter, and
`grouped` shows the fields to the command line in its place.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that labelrank fit wrote.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Jobs = Annotated[int | None, typer.Option(help="How many to run side by side, 1 by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No remarks, no progress bars.")]
Learner = Annotated[
    str,
    typer.Option(
        "--learner",
        "-l",
        metavar="NAME|MODULE:CLASS",
        help="Its name, see labelrank learners; or a class of your own, which is imported.",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option(help="Where the ranking is cut: a number, 'cardinality' or 'tuned'."),
]
Representation = Annotated[
    str, typer.Option(help="How texts become features: tfidf, bag, set or hashing.")
]
MaxTerms = Annotated[
    int | None, typer.Option(min=1, help="Keep the terms that are in most documents.")
]
Folder = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="Where named data sets lie (LABELRANK_DATA)."),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write.")]
_OwnClass = Annotated[
    list[str],
    typer.Option(
        "--learner",
        "-l",
        metavar="MODULE:CLASS",
        help="A class of your own that MODEL holds; it is imported. May be repeated.",
    ),
]


@dataclass(frozen=True)
class Trained:
    """The model that a command reads."""

    model: Model
    learner: _OwnClass = field(default_factory=list)

    def load(self) -> Any:
        """The tagger in the file."""
        from labelrank.cli import models

        return models.load_tagger(self.model, self.learner)


@dataclass(frozen=True)
class Recipe:
    """The model that a command learns."""

    learner: Learner = "BR+"
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
    quiet: Quiet = False

    def say(self, sentence: str) -> None:
        """A remark for the person at the terminal, kept away from the output."""
        from labelrank.cli import printing

        printing.say(sentence, self.quiet)

    def progress(self, doing: str) -> Any:
        """A bar on standard error while the block runs, if a person looks at it."""
        from labelrank.cli import printing

        return printing.progress(doing, self.quiet)


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups as options in place of the groups."""
    parameters = inspect.signature(command).parameters.values()
    groups: dict[str, Any] = {
        p.name: p.annotation for p in parameters if is_dataclass(p.annotation)
    }

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
    default = declared.default
    if default is MISSING:
        default = inspect.Parameter.empty
    if declared.default_factory is not MISSING:
        default = declared.default_factory()
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(declared.name, kind, default=default, annotation=declared.type)
