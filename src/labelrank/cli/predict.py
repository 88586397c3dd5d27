"""`labelrank predict`: ranked labels of documents, with the cut."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer
from typer import Option

from labelrank.cli.options import Shown, Trained
from labelrank.cli.sources import Source

EXAMPLE = "labelrank predict tags.labelrank new.csv -o answers.jsonl"

_AT_ONCE = 2000


def predict(
    trained: Trained,
    source: Source,
    shown: Shown,
    top: int = Option(5, metavar="N", min=1, help="Labels to show, at least those before the cut."),
    out: Path | None = Option(
        None, "--out", "-o", metavar="FILE", help="Write JSON lines to this file."
    ),
) -> None:
    """Print the ranked labels of each document, with the cut."""
    from labelrank.cli import models

    tagger = trained.load()
    dataset = source.read("test")
    ranked = _ranked(tagger, models.documents_of(dataset, tagger), top, shown)
    if shown.json or out is not None:
        _write_lines(_names(dataset), ranked, out)
    else:
        _show(dataset, ranked)


def _ranked(tagger: Any, documents: Any, top: int, shown: Shown) -> Iterator[list[Any]]:
    """Rankings, some documents at a time, each as far as the cut and at least `top` labels."""
    total = documents.shape[0] if hasattr(documents, "shape") else len(documents)
    with shown.progress("ranking") as advance:
        for start in range(0, total, _AT_ONCE):
            advance(start, total)
            yield from tagger.rank(documents[start : start + _AT_ONCE], top, whole_sets=True)


def _names(dataset: Any) -> list[str]:
    return [str(name) for name in dataset.ids or range(1, dataset.n_instances + 1)]


def _write_lines(names: list[str], rankings: Iterator[list[Any]], out: Path | None) -> None:
    import json

    from labelrank.atomic import atomic_write

    with nullcontext() if out is None else atomic_write(out, "w") as file:
        for name, ranked in zip(names, rankings, strict=True):
            line = {
                "id": name,
                "labels": [place.label for place in ranked if place.in_set],
                "ranked": [{"label": place.label, "score": place.score} for place in ranked],
            }
            typer.echo(json.dumps(line, ensure_ascii=False), file=file)


def _show(dataset: Any, rankings: Iterator[list[Any]]) -> None:
    from labelrank.cli.printing import shortened, table

    columns: dict[str, Any] = {"instance": _names(dataset)}
    if dataset.texts is not None:
        texts = [shortened(text, 40) for text in dataset.texts]
        columns = {"document": columns["instance"], "text": texts}
    columns["labels ranked, | is the cut"] = map(_line, rankings)
    table("", list(columns), zip(*columns.values(), strict=True))


def _line(ranked: list[Any]) -> str:
    """The labels with their scores, and a bar where the set ends."""
    shown = [f"{place.label} {place.score:.2f}" for place in ranked]
    size = sum(place.in_set for place in ranked)
    return ", ".join(shown[:size]) + " | " + ", ".join(shown[size:])
