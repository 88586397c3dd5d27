"""`labelrank tune`: the best settings of a learner, by successive halving."""

from dataclasses import dataclass
from math import ceil, log, prod
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from labelrank.cli.options import LEARNING, Criteria, Recipe, Shown, only
from labelrank.cli.sources import Source

EXAMPLE = "labelrank tune train.csv --learner BSVM+ --criterion micro_f1 -o best"


@dataclass(frozen=True, kw_only=True)
class Tuned(Recipe):
    """The learner whose settings are tried."""

    learner: Annotated[str, Option(
        "--learner", "-l", metavar="NAME", rich_help_panel=LEARNING,
        help="One of labelrank learners; or MODULE:CLASS, a class of your own.",
    )] = "BSVM+"  # fmt: skip


def tune(
    source: Source, recipe: Tuned, shown: Shown,
    grid: list[str] = Option(
        [], "--grid", metavar="NAME=V1,V2",
        help="Values to try, may be repeated; by default the learner's own grid.",
    ),
    criterion: Criteria = ["average_precision"],  # noqa: B006
    folds: int = Option(3, metavar="N", min=2, help="Stratified folds."),
    factor: int = Option(3, metavar="N", min=2, help="One in so many settings survives a round."),
    least: int | None = Option(
        None, metavar="N", min=2, help="Rows in the first round; by default by the rounds."),
    out: Path | None = Option(
        None, "--out", "-o", metavar="FILE", help="Save the best model here."),
) -> None:  # fmt: skip
    """Try the settings of a grid, and save the best model.

    The best settings go on with ever more documents."""
    from labelrank import persistence
    from labelrank.atomic import check_writable
    from labelrank.cli import models
    from labelrank.cli.printing import as_json

    check_writable(out, source.data, source.labels_file)
    scorer = only("--criterion", criterion)
    values = models.grid(recipe.learner, grid)
    learner = recipe.make({key: tried[0] for key, tried in values.items()})
    with shown.progress(f"reading {source.data}"):
        dataset = source.labelled("train")
    from labelrank.cli.survey import check_labels

    check_labels(dataset)
    with shown.progress(f"tuning {recipe.learner}"):
        first = _least(dataset.n_instances, values, folds, factor, least)
        search = _search(recipe, learner, dataset, values, scorer, folds, factor, first)
    told = {"learner": recipe.learner, "scorer": scorer, **_told(search)}
    if out is not None:
        tagger = recipe.teach(learner.set_params(**told["best"]), dataset)
        told["model"] = str(persistence.save(tagger, out))
    if shown.json:
        as_json(told)
    else:
        _show(told, dataset.name)


def _search(
    recipe: Recipe, learner: Any, dataset: Any, values: dict[str, list[Any]], scorer: str,
    folds: int, factor: int, least: int,
) -> Any:  # fmt: skip
    """The search; features are learned anew from the training part of each fold."""
    import numpy as np
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV
    from sklearn.pipeline import Pipeline

    from labelrank.evaluation import StratifiedFolds
    from labelrank.learners.base import LabelRanker
    from labelrank.metrics import get_scorer

    steps = [*_features(recipe, learner, dataset), ("learner", learner)]
    search = HalvingGridSearchCV(
        Pipeline(steps), {f"learner__{key}": tried for key, tried in values.items()},
        factor=factor, min_resources=least, scoring=get_scorer(scorer), refit=False,
        cv=StratifiedFolds(folds, random_state=recipe.seed), error_score="raise",
        random_state=recipe.seed,
    )  # fmt: skip
    documents = np.arange(dataset.n_instances) if steps[1:] else dataset.documents
    is_ranker = isinstance(learner, LabelRanker)
    Y = dataset.Y if is_ranker else (dataset.Y > 0).toarray().astype(np.int64)
    return search.fit(documents, Y)


def _features(recipe: Recipe, learner: Any, dataset: Any) -> list[tuple[str, Any]]:
    """Steps that make features of texts or tables from the numbers of their rows."""
    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils import get_tags

    from labelrank.table import TablePreparation, take
    from labelrank.text import TextColumn, make_vectorizer

    words: Any = {"representation": recipe.representation, "max_terms": recipe.max_terms}
    if dataset.texts is not None:
        reads_texts = get_tags(learner).input_tags.string
        terms = recipe.vectorizer() or make_vectorizer(**words)
        made: Any = TextColumn() if reads_texts else terms
    elif dataset.table is not None:
        made = TablePreparation(dataset.roles or None, **words)
    else:
        return []

    def rows(numbers: Any) -> Any:
        if dataset.texts is not None:
            return [dataset.texts[k] for k in numbers]
        return take(dataset.table, numbers)

    return [("rows", FunctionTransformer(rows)), ("features", made)]


def _least(n: int, values: dict[str, Any], folds: int, factor: int, wanted: int | None) -> int:
    """Documents of the first round: so many that the last round has them all."""
    candidates = prod(map(len, values.values()))
    rounds = ceil(log(candidates) / log(factor)) if candidates > 1 else 0
    return min(n, wanted or max(n // factor**rounds, 4 * folds))


def _told(search: Any) -> dict[str, Any]:
    """The best settings, and what was tried: the last round first, in it the best first."""
    tried = search.cv_results_
    columns = (tried[key] for key in ("iter", "n_resources", "mean_test_score", "params"))
    rounds: list[dict[str, Any]] = []
    for number, documents, score, params in zip(*columns, strict=True):
        settings = {key.removeprefix("learner__"): value for key, value in params.items()}
        rounds.append({"round": int(number), "documents": int(documents), "score": float(score),
                       "settings": settings})  # fmt: skip
    rounds.sort(key=lambda one: (-one["round"], -one["score"]))
    return {"best": rounds[0]["settings"], "score": rounds[0]["score"], "tried": rounds}


def _show(told: dict[str, Any], name: str) -> None:
    from labelrank.cli.printing import table

    rows = [(*list(one.values())[:3], _written(one["settings"])) for one in told["tried"]]
    title = f"{told['learner']} on {name}: best {_written(told['best'])}"
    table(title, ("round", "documents", told["scorer"], "settings"), rows)


def _written(settings: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in settings.items())
