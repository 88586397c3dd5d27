"""`labelrank demo`: from the bundled data to a model and a page of results."""

from pathlib import Path
from typing import Any

import typer
from typer import Option

from labelrank.cli.options import Jobs, Recipe, Seed, Shown

EXAMPLE = "labelrank demo"
_DATA = "debtags-sample"


def demo(
    shown: Shown,
    out: Path = Option(
        Path("demo-output"), "--out", "-o", metavar="FOLDER", help="Where results go."),
    seed: Seed = 0, jobs: Jobs = None,
) -> None:  # fmt: skip
    """Learn from the bundled data; show and save what comes out."""
    from labelrank import datasets, persistence, report
    from labelrank.cli import models
    from labelrank.cli.printing import as_json

    out.mkdir(parents=True, exist_ok=True)
    recipe = Recipe(seed=seed, jobs=jobs)
    with shown.progress("reading"):
        data = datasets.load(_DATA)
    with shown.progress("learning"):
        tagger = recipe.teach(recipe.make(), data.train)
    with shown.progress("evaluating"):
        documents, given = models.put_to(tagger, data.test)
        results = report.of_tagger(
            tagger, documents, given.Y, given=given, data=_DATA, ids=data.test.ids,
            title=f"{recipe.learner} on {_DATA}",
        )  # fmt: skip
        model = persistence.save(tagger, out / "model.labelrank")
        page = report.write(results, out / "results.html")
    if shown.json:
        as_json({"criteria": results.criteria, "model": str(model), "page": str(page)})
    else:
        _show(recipe.learner, results, model, page)


def _show(learner: str, results: Any, model: Path, page: Path) -> None:
    from labelrank.cli.printing import shortened, verdict, wrapped

    facts = results.facts
    sizes = {name: facts[name].split()[0] for name in ("trained on", "tested on")}
    learned = (
        f"{learner} learned {sizes['trained on']} package descriptions with {facts['labels']} "
        f"tags, and where to cut its rankings, in {facts['time to train']}. On "
        f"{sizes['tested on']} other packages:"
    )
    typer.echo(wrapped(learned) + "\n")
    verdict({"value": results.criteria}, results.guess, float(facts["labels per document"]))
    for document in results.documents[:3]:
        typer.echo(f"{document.name}: {shortened(document.text, 60)}")
        typer.echo(wrapped(_line(document.ranked), "    ") + "\n")
    typer.echo("Labels by falling score; | is the cut, * a right label.\n")
    typer.echo(f"model  {model}\npage   {page.resolve().as_uri()}")
    typer.echo("\nTry it:")
    typer.echo(f"  echo 'a game of chess' | labelrank predict {model} - --input-format text")


def _line(ranked: list[Any]) -> str:
    shown = [f"{label.name}{'*' * label.relevant} {label.score:.2f}" for label in ranked]
    size = sum(label.chosen for label in ranked)
    return ", ".join(shown[:size]) + " | " + ", ".join(shown[size:])
