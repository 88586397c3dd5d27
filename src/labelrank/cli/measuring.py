"""Models put to labelled data: all at once where a report is wanted, else in batches."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from labelrank.cli import models
from labelrank.cli.options import Shown, Trained
from labelrank.cli.sources import Source, only_labelled
from labelrank.cli.survey import check_labels
from labelrank.errors import FormatError
from labelrank.learned import Met

_ROWS_AT_ONCE, _SCORES_AT_ONCE = 2000, 2**21

# What a process is asked: documents, relevance and cuts, for each model.
Asked = list[tuple[Any, Any, list[float | None]]]


def loaded(files: Sequence[Trained]) -> list[Any]:
    """The models, in a process of their own."""
    return [one.load() for one in files]


def measure(taggers: list[Any], asked: Asked) -> list[Any]:
    """Each model put to a batch, and its answers measured."""
    from labelrank.metrics.batches import measured

    found = []
    for tagger, (documents, Y, cuts) in zip(taggers, asked, strict=True):
        scores, members = tagger.answer(documents)
        batch = measured(Y, scores, members, cuts)
        own, n_rows = batch.sums[0], batch.Y.shape[0]
        more = {name: n_rows * value for name, value in of_targets(tagger, Y, members).items()}
        own = own._replace(criteria={**own.criteria, **more})
        found.append(batch._replace(sums=[own, *batch.sums[1:]]))
    return found


def of_targets(tagger: Any, Y: Any, members: Any) -> dict[str, float]:
    """Exact match and Hamming score, where the model is of targets of several classes."""
    sizes = getattr(tagger.learner_, "sizes", None)
    if not sizes:
        return {}
    from labelrank.learners.auto.blocks import as_codes
    from labelrank.metrics import exact_match, hamming_score

    truth, answer = as_codes(Y, sizes), as_codes(members, sizes)
    return {one.__name__: float(one(truth, answer)) for one in (exact_match, hamming_score)}


def _no_rows(name: str) -> FormatError:
    return FormatError(f"{name}: no labelled row in it; give at least one row with its labels")


def _criteria(tagger: Any, given: Any) -> dict[str, float]:
    """All criteria of answers to data in memory."""
    found: dict[str, float] = given.criteria()
    return found | of_targets(tagger, given.Y.matrix, given.members)


class Judged(NamedTuple):
    """The answers to one file, measured by batches; its labels, and those no model knows."""

    batches: list[list[Any]]
    names: set[str]
    strange: list[dict[str, None]]
    met: list[Met]


def judge(taggers: list[Any], part: Any, source: Source, cuts: list[list[float | None]]) -> Judged:
    """Each model put to one file, in batches; of scores there are histograms."""
    judged = Judged([], set(), [{} for _ in taggers], [Met() for _ in taggers])
    size = max(1, min(_ROWS_AT_ONCE, _SCORES_AT_ONCE // len(taggers[0].label_names_)))
    for batch in part.batches(size):
        check_labels(batch)
        kept = only_labelled(batch, source.takes_unlabelled(batch, taggers[0]))
        if not kept.n_instances:
            continue
        judged.names.update(map(str, kept.label_names))
        asked: Asked = []
        for k, tagger in enumerate(taggers):
            documents = models.documents_of(kept, tagger)
            judged.strange[k] |= dict.fromkeys(models.unknown_labels(kept, tagger))
            judged.met[k] += tagger.met(documents)
            asked.append((documents, models.known_relevance(kept, tagger), cuts[k]))
        judged.batches.append([one.condensed() for one in measure(taggers, asked)])
    return judged


def _same(taggers: list[Any]) -> list[Any]:
    return taggers


class Measuring:
    """The criteria of a model, of other cuts of its scores, and of other models, by name.

    `Y` is the relevance in the columns of the first model, `name` that of the data.
    """

    def __init__(self, names: Sequence[str], cuts: Sequence[float], taggers: Sequence[Any]) -> None:
        self.names, self.taggers = names, list(taggers)
        self.cuts: list[list[float | None]] = [[None] for _ in taggers]
        self.cuts[0] += cuts
        self.columns: dict[str, dict[str, float]] = {}
        self.Y: Any = None
        self.name = ""
        self.met = [Met() for _ in taggers]

    def too_good(self) -> list[str]:
        """The models that have learned most of the rows, by name."""
        names = [self.names[0], *self.names[len(self.cuts[0]) :]]
        return [
            name
            for name, tagger, met in zip(names, self.taggers, self.met, strict=True)
            if tagger.learned_rows_ is not None and tagger.learned_rows_.are_most_of(met)
        ]

    def whole(self, dataset: Any) -> tuple[Any, Any]:
        """Measure on data in memory; return the documents and answers of the first model."""
        from labelrank import metrics

        if not dataset.n_instances:
            raise _no_rows(dataset.name)
        documents, given = models.put_to(self.taggers[0], dataset)
        self.met = [tagger.met(models.documents_of(dataset, tagger)) for tagger in self.taggers]
        others = (models.put_to(tagger, dataset)[1] for tagger in self.taggers[1:])
        cuts = (metrics.evaluate(given.Y, given.scores, cut) for cut in self.cuts[0][1:])
        own = _criteria(self.taggers[0], given)
        found = [own, *cuts, *map(_criteria, self.taggers[1:], others)]
        self.columns = dict(zip(self.names, found, strict=True))
        self.Y, self.name = given.Y.matrix, dataset.name
        return documents, given

    def in_batches(
        self, source: Source, files: Sequence[Trained], jobs: int | None, shown: Shown
    ) -> None:
        """Measure in bounded memory, by as many processes as `jobs` says."""
        from labelrank.evaluation.pool import ordered_map
        from labelrank.metrics.batches import Tally

        initial = partial(loaded, files) if jobs not in (None, 1) else lambda: self.taggers
        totals: deque[int | None] = deque()
        done = 0
        with ExitStack() as stack:
            advance = stack.enter_context(shown.progress("evaluating"))
            tallies = [stack.enter_context(Tally(len(cuts))) for cuts in self.cuts]
            for found in ordered_map(
                measure, self._asked(source, totals), jobs=jobs, initial=initial
            ):
                for tally, batch in zip(tallies, found, strict=True):
                    tally.add(batch)
                done += found[0].Y.shape[0]
                advance(done, totals.popleft())
            values = [one for tally in tallies for one in tally.criteria()]
            self.columns = dict(zip(self.names, values, strict=True))
            self.Y = tallies[0].Y

    def in_pieces(self, source: Source, engine: Any, shown: Shown) -> None:
        """Measure files where the engine has them read; areas under curves by histograms."""
        from labelrank.metrics.batches import Tally

        parts = source.parts(self.taggers[0])
        taggers = engine.call(_same, self.taggers)
        steps = [engine.call(judge, taggers, part, source, self.cuts) for part in parts]
        with shown.progress("evaluating") as advance:
            engine.watch(steps, advance)
        tallies = [Tally(len(cuts), condensed=True) for cuts in self.cuts]
        names: set[str] = set()
        strange: list[dict[str, None]] = [{} for _ in self.taggers]
        for judged in map(engine.get, steps):
            names |= judged.names
            strange = [one | more for one, more in zip(strange, judged.strange, strict=True)]
            self.met = [one + more for one, more in zip(self.met, judged.met, strict=True)]
            for found in judged.batches:
                for tally, batch in zip(tallies, found, strict=True):
                    tally.add(batch)
        self.name = parts.name if names else ""
        self._tell_strange(strange, names, source.data)
        values = [one for tally in tallies for one in tally.criteria()]
        self.columns = dict(zip(self.names, values, strict=True))
        self.Y = tallies[0].Y

    def _asked(self, source: Source, totals: deque[int | None]) -> Iterator[Asked]:
        """What each batch asks; at the end, whether any label was known."""
        size = max(1, min(_ROWS_AT_ONCE, _SCORES_AT_ONCE // len(self.taggers[0].label_names_)))
        strange: list[dict[str, None]] = [{} for _ in self.taggers]
        names: dict[str, None] = {}
        for dataset, total in source.labelled_batches(size, self.taggers[0], "test"):
            check_labels(dataset)
            self.name = dataset.name
            names |= dict.fromkeys(map(str, dataset.label_names))
            for tagger, unknown in zip(self.taggers, strange, strict=True):
                unknown |= dict.fromkeys(models.unknown_labels(dataset, tagger))
            totals.append(total)
            documents = [models.documents_of(dataset, tagger) for tagger in self.taggers]
            met = zip(self.met, self.taggers, documents, strict=True)
            self.met = [before + tagger.met(these) for before, tagger, these in met]
            yield [
                (these, models.known_relevance(dataset, tagger), cuts)
                for tagger, these, cuts in zip(self.taggers, documents, self.cuts, strict=True)
            ]
        self._tell_strange(strange, names, source.data)

    def _tell_strange(self, strange: Sequence[Any], names: Collection[str], data: str) -> None:
        """Warn of labels that a model does not know; refuse data of which it knows none."""
        if not self.name:
            raise _no_rows(data)
        for unknown, tagger in zip(strange, self.taggers, strict=True):
            if len(unknown) == len(names):
                raise models.no_label(self.name, list(unknown), tagger)
        for unknown, tagger in zip(strange, self.taggers, strict=True):
            models.tell_unknown(list(unknown), tagger)
