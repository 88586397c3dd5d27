"""`labelrank tune`: the best settings of a learner, by successive halving."""

from pathlib import Path
from typing import Annotated, Any

import typer

from labelrank.cli.fit import Learner, MaxTerms, Representation
from labelrank.cli.options import Jobs, Json, Quiet, Seed
from labelrank.cli.reading import Source, reads

Grid = Annotated[
    list[str],
    typer.Option(
        "--grid",
        metavar="NAME=V1,V2",
        help="Values to try, may be repeated; by default the learner's own grid.",
    ),
]
Scorer = Annotated[str, typer.Option(help="What to maximise: a scorer of labelrank.metrics.")]
Folds = Annotated[int, typer.Option(min=2, help="Stratified folds.")]
Factor = Annotated[int, typer.Option(min=2, help="One in so many settings survives a round.")]
Least = Annotated[
    int | None, typer.Option(min=2, help="Documents in the first round; by default by the rounds.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Save the best model here.")]


@reads
def tune(
    source: Source,
    learner: Learner = "BR+",
    grid: Grid = [],  # noqa: B006 - typer reads it and makes a new one
    scorer: Scorer = "average_precision",
    folds: Folds = 3,
    factor: Factor = 3,
    least: Least = None,
    out: Out = None,
    representation: Representation = "tfidf",
    max_terms: MaxTerms = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try the settings of a grid, the best of them on ever more documents."""
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json, progress

    check_writable(out)
    values = _grid(learner, grid)
    made = models.make_learner(learner, {}, threshold=None, seed=seed, jobs=jobs)
    with progress(f"reading {source.data}", quiet):
        dataset = source.read("train")
    models.check_labels(dataset)
    steps = _steps(made, dataset, representation, max_terms)
    with progress(f"tuning {learner}", quiet):
        search = _search(steps, dataset, values, scorer, folds, factor, least, seed)
    told = _told(search, learner, scorer)
    if out is not None:
        made.set_params(**told["best"])
        tagger = models.fitted(made, dataset, representation, max_terms)
        told["model"] = str(persistence.save(tagger, out))
    if json:
        as_json(told)
    else:
        _show(told, dataset.name)


def _grid(learner: str, given: list[str]) -> dict[str, list[Any]]:
    from labelrank import catalog
    from labelrank.cli.models import typed
    from labelrank.errors import InputError

    entry = catalog.describe(learner)
    if not given and not entry.grid:
        raise InputError(f"{entry.name} has no grid of its own; give one by --grid NAME=V1,V2")
    if not given:
        return {key: list(values) for key, values in entry.grid.items()}
    found = {}
    for pair in given:
        key, equals, values = pair.partition("=")
        if not equals or not key.strip() or not values.strip():
            raise InputError(f"got --grid {pair}; write --grid NAME=V1,V2")
        found[key.strip()] = [typed(value.strip()) for value in values.split(",")]
    catalog.make(learner, **{key: values[0] for key, values in found.items()})
    return found


def _steps(learner: Any, dataset: Any, representation: str, max_terms: int | None) -> Any:
    """Terms are learned anew from the training part of each fold."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils import get_tags

    from labelrank.text import make_vectorizer

    if dataset.texts is None or get_tags(learner).input_tags.string:
        return Pipeline([("learner", learner)])
    terms = make_vectorizer(representation, max_terms=max_terms)
    return Pipeline([("terms", terms), ("learner", learner)])


def _search(
    steps: Any, dataset: Any, values: dict[str, list[Any]], scorer: str, folds: int, factor: int,
    least: int | None, seed: int,
) -> Any:  # fmt: skip
    import numpy as np
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    from labelrank.evaluation import StratifiedFolds
    from labelrank.metrics import get_scorer

    search = HalvingGridSearchCV(
        steps,
        {f"learner__{key}": tried for key, tried in values.items()},
        factor=factor,
        min_resources=_least(dataset.n_instances, values, folds, factor, least),
        cv=StratifiedFolds(folds, random_state=seed),
        scoring=get_scorer(scorer),
        refit=False,
        error_score="raise",
        random_state=seed,
    )
    documents = dataset.X if dataset.texts is None else np.array(dataset.texts, dtype=object)
    return search.fit(documents, _targets(steps, dataset.Y))


def _least(
    n: int, values: dict[str, list[Any]], folds: int, factor: int, wanted: int | None
) -> int:
    """Documents of the first round: so many that the last round has them all."""
    from math import ceil, log, prod

    candidates = prod(map(len, values.values()))
    rounds = ceil(log(candidates) / log(factor)) if candidates > 1 else 0
    return min(n, wanted or max(n // factor**rounds, 4 * folds))


def _targets(steps: Any, Y: Any) -> Any:
    """Relevance for label rankers; for scikit-learn's classifiers a 0/1 matrix."""
    import numpy as np

    from labelrank.learners.base import LabelRanker

    is_ranker = isinstance(steps.named_steps["learner"], LabelRanker)
    return Y if is_ranker else (Y > 0).toarray().astype(np.int64)


def _told(search: Any, learner: str, scorer: str) -> dict[str, Any]:
    found = search.cv_results_
    rows = sorted(
        zip(found["iter"], found["mean_test_score"], found["n_resources"], found["params"],
            strict=True),
        key=lambda row: (-row[0], -row[1]),
    )  # fmt: skip
    rounds = [
        {"round": int(r), "documents": int(n), "score": float(score), "settings": _plain(params)}
        for r, score, n, params in rows
    ]
    return {"learner": learner, "scorer": scorer, "best": rounds[0]["settings"],
            "score": rounds[0]["score"], "tried": rounds}  # fmt: skip


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    return {key.removeprefix("learner__"): value for key, value in params.items()}


def _show(told: dict[str, Any], name: str) -> None:
    from labelrank.cli.printing import table

    rows = [
        (t["round"], t["documents"], t["score"], _written(t["settings"])) for t in told["tried"]
    ]
    title = f"{told['learner']} on {name}: best {_written(told['best'])}"
    table(title, ("round", "documents", told["scorer"], "settings"), rows)


def _written(settings: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())
