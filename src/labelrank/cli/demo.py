"""`labelrank demo`: from the bundled data to a model and a page of results."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.options import Jobs, Json, Quiet, Seed

Out = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where results go.")]
_DATA, _LEARNER = "debtags-sample", "BR+"


def demo(
    out: Out = Path("demo-output"),
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on the bundled data, show what comes out, save a model and a page."""
    from labelrank import datasets, persistence, report
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, progress

    out.mkdir(parents=True, exist_ok=True)
    with progress("reading", quiet):
        data = datasets.load(_DATA)
    learner = models.make_learner(_LEARNER, {}, threshold="tuned", seed=seed, jobs=jobs)
    with progress("learning", quiet):
        tagger = models.fitted(learner, data.train, "tfidf", None)
    with progress("evaluating", quiet):
        test = data.test
        results = report.of_tagger(
            tagger, test.texts, models.relevance_of(test, tagger), data=_DATA, ids=test.ids,
            title=f"{_LEARNER} on {_DATA}",
        )  # fmt: skip
        model = persistence.save(tagger, out / "model.labelrank")
        page = report.write(results, out / "results.html")
    if json:
        as_json({"criteria": results.criteria, "model": str(model), "page": str(page)})
    else:
        _show(results, model, page)


def _show(results: Any, model: Path, page: Path) -> None:
    from labelrank.cli.printing import criteria_table, indented, shortened

    facts = results.facts
    sizes = {name: facts[name].split()[0] for name in ("trained on", "tested on")}
    typer.echo(
        f"{_LEARNER} learned {sizes['trained on']} package descriptions with {facts['labels']} "
        f"tags, and where to cut its rankings, in {facts['time to train']}.\n"
    )
    criteria_table(f"Criteria on {sizes['tested on']} other packages", results.criteria)
    for document in results.documents[:3]:
        typer.echo(f"{document.name}: {shortened(document.text, 80)}")
        typer.echo(indented(_ranking(document.ranked)) + "\n")
    typer.echo("Labels by falling score; | is the cut, * a right label.\n")
    typer.echo(f"model  {model}\npage   {page.resolve().as_uri()}")
    typer.echo(f"\nTry it:  echo 'a game of chess' | labelrank predict {model} - --format text")


def _ranking(ranked: list[Any]) -> str:
    shown = [f"{label.name}{'*' * label.relevant} {label.score:.2f}" for label in ranked]
    size = sum(label.chosen for label in ranked)
    return ", ".join(shown[:size]) + " | " + ", ".join(shown[size:])
