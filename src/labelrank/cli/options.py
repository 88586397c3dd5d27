"""The options that several commands share, each described once; some come in groups.
A group is a dataclass, a parameter of a command; `grouped` puts its fields in its place."""

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from labelrank.errors import InputError

USUAL_LEARNER = "auto"
LEARNING, EVERYWHERE = "What learns, and how", "Everywhere"

_learns = functools.partial(Option, rich_help_panel=LEARNING)
_always = functools.partial(Option, rich_help_panel=EVERYWHERE)

Seed = Annotated[int, _always(metavar="N", min=0, help="Seed of everything random.")]
Jobs = Annotated[int | None, _always(
    metavar="N", help="How many to run side by side: 1 by default, -1 for all cores.")]  # fmt: skip
Json = Annotated[bool, _always("--json", help="Print JSON for programs.")]
Criteria = Annotated[list[str], Option(
    "--criterion", "--criteria", "--scorer", metavar="NAME",
    help="Such as micro_f1, see labelrank criteria; compare takes several, with commas.",
)]  # fmt: skip
Representation = Annotated[str, _learns(
    metavar="KIND", help="How texts become features: tfidf, bag, set or hashing.")]  # fmt: skip
MaxTerms = Annotated[int | None, _learns(
    metavar="N", min=1, help="Keep the N terms that are in most texts.")]  # fmt: skip
Encoder = Annotated[str | None, _learns(
    metavar="NAME|FOLDER", help="Make features of texts by this model of sentence-transformers or "
    "model2vec, which is installed beside labelrank.")]  # fmt: skip
WithTerms = Annotated[bool, _learns(
    "--with-terms", help="Keep the terms of texts too, beside what --encoder makes of them.",
)]  # fmt: skip
Threshold = Annotated[str | None, _learns(
    metavar="CUT", help="Where the set of labels ends: a score, 'cardinality' or 'tuned'.",
)]  # fmt: skip


@dataclass(frozen=True)
class Trained:
    """The model that a command reads."""

    model: Annotated[Path, Argument(metavar="MODEL", help="A file that labelrank fit wrote.")]
    learner: Annotated[list[str], _always(
        "--learner", "-l", metavar="MODULE:CLASS",
        help="A class of your own that MODEL holds; it is imported. May be repeated.",
    )] = field(default_factory=list)  # fmt: skip

    def load(self) -> Any:
        from labelrank.cli import models

        return models.load_tagger(self.model, self.learner)


@dataclass(frozen=True, kw_only=True)
class Features:
    """How texts become features."""

    representation: Representation = "tfidf"
    max_terms: MaxTerms = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The model that a command learns."""

    learner: Annotated[str, _learns(
        "--learner", "-l", metavar="NAME",
        help="One of labelrank learners; or MODULE:CLASS, a class of your own. auto tries several.",
    )] = USUAL_LEARNER  # fmt: skip
    representation: Representation = "tfidf"
    max_terms: MaxTerms = None
    encoder: Encoder = None
    with_terms: WithTerms = False
    set: Annotated[list[str], _learns(
        "--set", metavar="NAME=VALUE", help="A parameter of the learner; may be repeated.",
    )] = field(default_factory=list)  # fmt: skip
    threshold: Threshold = None
    seed: Seed = 0
    jobs: Jobs = None

    @property
    def is_auto(self) -> bool:
        return self.learner.casefold() == "auto"

    def make(self, chosen: dict[str, Any] | None = None) -> Any:
        """The learner with its settings and those chosen beside them, not fitted yet."""
        from labelrank.cli import models

        # auto gives the same model on any number of cores: it may have them all.
        jobs = -1 if self.jobs is None and self.is_auto else self.jobs
        return models.make_learner(
            self.learner, models.settings(self.set) | (chosen or {}),
            threshold=self.threshold, seed=self.seed, jobs=jobs,
        )  # fmt: skip

    def tagger(self, learner: Any) -> Any:
        """A tagger of this learner that has learned nothing."""
        from labelrank.tagger import Tagger

        words: Any = {"representation": self.representation, "max_terms": self.max_terms}
        return Tagger(learner, vectorizer=self.vectorizer(), **words)

    def vectorizer(self) -> Any:
        """The encoder of texts that was asked for, with or without their terms; or None."""
        if self.encoder is None:
            if self.with_terms:
                raise InputError("got --with-terms without --encoder; terms are used without it")
            return None
        from labelrank.encoder import TextEncoder
        from labelrank.text import make_vectorizer

        words: Any = {"max_terms": self.max_terms}
        terms = make_vectorizer(self.representation, **words) if self.with_terms else None
        return TextEncoder(self.encoder, terms=terms)

    def teach(self, learner: Any, dataset: Any) -> Any:
        """A tagger that has learned the data set."""
        from labelrank.cli import models
        from labelrank.cli.survey import check_labels

        check_labels(dataset)
        return models.teach(self.tagger(learner), dataset)


@dataclass(frozen=True, kw_only=True)
class Machines:
    """Where a command works."""

    cluster: Annotated[str | None, _always(
        metavar="tcp://HOST:PORT|local:N",
        help="Work on the Dask cluster whose scheduler is there, or on N processes made for it; "
        "DATA is a folder or a pattern in quotes, such as 'in/*.parquet'.",
    )] = None  # fmt: skip
    memory: Annotated[str | None, _always(
        metavar="SIZE", help="The most memory that each process of local:N may take, such as 2GiB.",
    )] = None  # fmt: skip

    def __post_init__(self) -> None:
        if self.memory is not None and not (self.cluster or "").startswith("local:"):
            raise InputError(
                f"got --memory {self.memory} without --cluster local:N, whose processes it is for; "
                "add --cluster local:1, and data in files that fit"
            )

    @property
    def n_bytes(self) -> int | None:
        """The memory in bytes."""
        if self.memory is None:
            return None
        found = _SIZE.fullmatch(self.memory.strip())
        if found is None:
            raise InputError(f"got --memory {self.memory}; write a size such as 2GiB or 500MiB")
        return int(float(found[1]) * 1024 ** " KMGT".index((found[2] or " ").upper()))

    def client(self) -> Any:
        """A context with a client of the cluster."""
        from labelrank.distributed.engine import connected

        return connected(str(self.cluster), self.n_bytes)


_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT])?(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Shown:
    """How a command talks: to people or programs, with or without remarks."""

    json: Json = False
    quiet: Annotated[bool, _always("--quiet", "-q", help="No remarks, no progress bars.")] = False

    def say(self, sentence: str) -> None:
        """A remark for the person at the terminal, kept away from the output."""
        if not self.quiet:
            typer.echo(sentence, err=True)

    @property
    def has_bars(self) -> bool:
        return not self.quiet and sys.stderr.isatty()

    def progress(self, doing: str) -> Any:
        """A bar on standard error while the block runs; the block gets `advance(done, total)`."""
        if not self.has_bars:
            return nullcontext(lambda done, total: None)
        from labelrank.resources import meter

        return meter(doing, shown=True)


def several(given: Iterable[str]) -> list[str]:
    """What a repeatable option was given, where each may hold several with commas."""
    parts = (part.strip() for one in given for part in one.split(","))
    return list(dict.fromkeys(part for part in parts if part))


def check_jobs(jobs: int | None) -> None:
    """Refuse what is no number of processes."""
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise InputError(
            f"got --jobs {jobs}; give a whole number of processes from 1, or -1 for all cores"
        )


def mapped(
    function: Callable[[Any, Any], Any], items: Iterable[Any], jobs: int | None,
    initial: Callable[[], Any],
) -> Iterable[Any]:  # fmt: skip
    """As `evaluation.ordered_map`; in this process without what only several of them need."""
    if jobs in (None, 1):
        state = initial()
        return (function(state, item) for item in items)
    from labelrank.evaluation.pool import ordered_map

    return ordered_map(function, items, jobs=jobs, initial=initial)


def only(option: str, given: Iterable[str]) -> str:
    """The one value of an option that takes more in other commands; "" without one."""
    found = several(given)
    if len(found) > 1:
        raise InputError(f"got {option} {','.join(found)}; here it takes one")
    return found[0] if found else ""


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
