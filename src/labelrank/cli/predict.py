"""`labelrank predict`: ranked labels of documents, with the cut."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Json, Model, Quiet
from labelrank.cli.reading import Source, reads

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write JSON lines to this file.")]
Top = Annotated[int, typer.Option(min=1, help="Labels to show, at least those before the cut.")]
_AT_ONCE = 2000


@reads
def predict(
    model: Model,
    source: Source,
    top: Top = 5,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the ranked labels of each document, with the cut."""
    from labelrank.cli import models

    tagger = models.load_tagger(model)
    dataset = source.read("test")
    found = _ranked(tagger, models.documents_of(dataset, tagger), top, quiet)
    if json or out is not None:
        _lines(dataset, found, out)
    else:
        _table(dataset, found)


def _ranked(tagger: Any, documents: Any, top: int, quiet: bool) -> Iterator[list[Any]]:
    """Rankings, some documents at a time, each as far as the cut and at least `top` labels."""
    from labelrank.cli.printing import progress

    total = documents.shape[0] if hasattr(documents, "shape") else len(documents)
    with progress("ranking", quiet) as advance:
        for start in range(0, total, _AT_ONCE):
            advance(start, total)
            for ranked in _beyond_the_cut(tagger, documents[start : start + _AT_ONCE], top):
                size = sum(place.in_set for place in ranked)
                yield ranked[: max(top, size)]


def _beyond_the_cut(tagger: Any, documents: Any, top: int) -> list[list[Any]]:
    """Rankings of `top` labels at least, and of all within the cut, but seldom of many others."""
    n_labels = len(tagger.label_names_)
    reach = min(max(2 * top, 20), n_labels)
    ranked: list[list[Any]] = tagger.rank(documents, reach)
    while reach < n_labels and any(row[-1].in_set for row in ranked):
        reach = min(4 * reach, n_labels)
        ranked = tagger.rank(documents, reach)
    return ranked


def _lines(dataset: Any, found: Iterator[list[Any]], out: Path | None) -> None:
    import json as encoder

    with _opened(out) as file:
        for i, ranked in enumerate(found):
            line = {
                "id": _name(dataset, i),
                "labels": [place.label for place in ranked if place.in_set],
                "ranked": [{"label": place.label, "score": place.score} for place in ranked],
            }
            typer.echo(encoder.dumps(line, ensure_ascii=False), file=file)


def _opened(out: Path | None) -> AbstractContextManager[Any]:
    from labelrank.atomic import atomic_write

    return nullcontext() if out is None else atomic_write(out, "w")


def _name(dataset: Any, i: int) -> str:
    return str(dataset.ids[i]) if dataset.ids is not None else str(i + 1)


def _table(dataset: Any, found: Iterator[list[Any]]) -> None:
    from labelrank.cli.printing import shortened, table

    cut = "labels ranked, | is the cut"
    names = (_name(dataset, i) for i in range(dataset.n_instances))
    if dataset.texts is None:
        rows = [(name, ranking(ranked)) for name, ranked in zip(names, found, strict=True)]
        table("", ("instance", cut), rows)
        return
    texts = (shortened(text, 40) for text in dataset.texts)
    places = map(ranking, found)
    table("", ("document", "text", cut), zip(names, texts, places, strict=True))


def ranking(ranked: list[Any]) -> str:
    """One line: labels with scores, and a bar where the set ends."""
    shown = [f"{place.label} {place.score:.2f}" for place in ranked]
    size = sum(place.in_set for place in ranked)
    return ", ".join(shown[:size]) + " | " + ", ".join(shown[size:])
