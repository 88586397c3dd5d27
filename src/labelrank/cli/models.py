"""Models as commands use them: made from options, loaded, and put to data."""

import importlib
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelrank.cli.options import Recipe
from labelrank.errors import InputError, MissingError, ModelFileError

_WORDS = {"true": True, "false": False, "none": None}


def settings(pairs: list[str]) -> dict[str, Any]:
    """`NAME=VALUE` options as typed values: numbers, true, false, none, JSON, else text."""
    return {name: typed(value) for name, value in _pairs(pairs, "--set NAME=VALUE")}


def grid(learner: str, pairs: list[str], form: str = "--grid NAME=V1,V2") -> dict[str, list[Any]]:
    """`NAME=V1,V2` options as values to try; without one, the learner's own grid."""
    from labelrank import catalog

    given = {
        name: [typed(value.strip()) for value in values.split(",")]
        for name, values in _pairs(pairs, form)
    }
    if not given and ":" not in learner:
        given = {key: list(values) for key, values in catalog.describe(learner).grid.items()}
    if not given:
        raise InputError(f"{learner} has no grid of its own; give one by {form}")
    return given


def _pairs(pairs: list[str], form: str) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        name, _, value = (part.strip() for part in pair.partition("="))
        if not name or not value:
            raise InputError(f"got {form.split()[0]} {pair}; write {form}")
        yield name, value


def typed(value: str) -> Any:
    """The value a person means by this text."""
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    try:
        return json.loads(value)
    except ValueError:
        return value


def make_learner(
    name: str, chosen: dict[str, Any], *, threshold: str | None, seed: int, jobs: int | None
) -> Any:
    """The learner with its settings, seeded, cut as asked; `name` is of the catalog or a class."""
    from labelrank import catalog

    if ":" not in name:
        learner = catalog.make(name, seed=seed, n_jobs=jobs, **chosen)
    else:
        learner = catalog.prepared(own_class(name)().set_params(**chosen), seed, jobs)
    return learner if threshold is None else _cut(learner, typed(threshold), seed)


def own_class(path: str) -> Any:
    """The class `MODULE:CLASS` that the user names; from now on model files may hold it."""
    from labelrank import persistence

    module, _, name = path.partition(":")
    try:
        cls = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise MissingError(
            f"got learner {path}, which cannot be imported ({error}); "
            "write MODULE:CLASS, and install the module or set PYTHONPATH to its folder"
        ) from error
    if not isinstance(cls, type) or not all(hasattr(cls, it) for it in ("fit", "get_params")):
        raise InputError(f"got learner {path}, which is no class of learners as in scikit-learn")
    return persistence.register(cls)


def _cut(learner: Any, threshold: Any, seed: int) -> Any:
    """The learner with its own threshold set, where it has one, else within a ThresholdedRanker."""
    from labelrank import ThresholdedRanker

    is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not is_number and threshold not in ("tuned", "cardinality"):
        raise InputError(f"got --threshold {threshold}; use a number, 'cardinality' or 'tuned'")
    if threshold != "tuned" and "threshold" in learner.get_params(deep=False):
        return learner.set_params(threshold=threshold)
    if is_number:
        return ThresholdedRanker(learner, strategy="fixed", threshold=threshold)
    return ThresholdedRanker(learner, strategy=threshold, random_state=seed)


def load_tagger(path: Path, own_classes: Sequence[str] = ()) -> Any:
    """The tagger in a model file, which may hold the classes `MODULE:CLASS`."""
    from labelrank import persistence
    from labelrank.tagger import Tagger

    for name in own_classes:
        own_class(name)
    model = persistence.load(path)
    if not isinstance(model, Tagger):
        raise ModelFileError(
            f"{path} holds a {type(model).__name__}; give a model that labelrank fit has made"
        )
    return model


def documents_of(dataset: Any, tagger: Any) -> Any:
    """Texts or features of the data, whichever the model was trained on."""
    if tagger.vectorizer_ is not None:
        if dataset.texts is None:
            raise InputError(f"{dataset.name} has no text, but the model was trained on texts")
        return dataset.texts
    if dataset.X is None:
        raise InputError(f"{dataset.name} is text, but the model was trained on feature matrices")
    import scipy.sparse as sp

    X, n_features = dataset.X, tagger.learner_.n_features_in_
    if X.shape[1] >= n_features or not sp.issparse(X):
        return X
    # Sparse formats do not say how many features there are: missing last ones are zero.
    missing = sp.csr_array((X.shape[0], n_features - X.shape[1]))
    return sp.csr_array(sp.hstack([X, missing], format="csr"))


def learn_more(tagger: Any, dataset: Any, X: Any = None) -> None:
    """Teach the tagger the data, whose features may be there already as `X`."""
    from labelrank.relevance import RelevanceBinarizer

    if not hasattr(tagger, "label_names_"):
        documents = dataset.X if dataset.texts is None else dataset.texts
        tagger.partial_fit(documents, dataset.Y, label_names=dataset.label_names, name=dataset.name)
        return
    documents = documents_of(dataset, tagger) if X is None else X
    known = set(map(str, tagger.label_names_))
    if all(str(name) in known for name in dataset.label_names):
        tagger.partial_fit(documents, relevance_of(dataset, tagger))
    else:
        names = RelevanceBinarizer(classes=dataset.label_names).fit([])
        tagger.partial_fit(documents, names.inverse_transform(dataset.Y))


def relevance_of(dataset: Any, tagger: Any, *, warn: bool = True) -> Any:
    """Relevance of the data in the columns of the model; labels it does not know are left out."""
    import numpy as np
    import scipy.sparse as sp

    column = {str(name): k for k, name in enumerate(tagger.label_names_)}
    known = [k for k, name in enumerate(dataset.label_names) if str(name) in column]
    if not known:
        raise InputError(f"{dataset.name} has no label that the model knows; give labelled data")
    if warn and len(known) < dataset.n_labels:
        strange = [name for name in dataset.label_names if str(name) not in column]
        warnings.warn(
            f"{len(strange)} label(s) the model does not know are left out: "
            + ", ".join([*map(str, strange[:5]), *["and others"] * (len(strange) > 5)]),
            stacklevel=2,
        )
    place = np.array([column[str(dataset.label_names[k])] for k in known])
    shape = (len(known), len(column))
    moved = sp.csr_array((np.ones(len(known)), (np.arange(len(known)), place)), shape=shape)
    return sp.csr_array(sp.csr_array(dataset.Y)[:, known] @ moved)


def check_labels(dataset: Any) -> None:
    """Refuse data without labels, or with columns of classes."""
    if not dataset.label_names:
        raise InputError(f"{dataset.name} has no labels; name their column by --label-column")
    if dataset.target_classes is not None:
        raise InputError(
            f"{dataset.name} has targets of several classes each, not labels; "
            "learn it in Python by one of the classifier chains"
        )


def forecast(recipe: Recipe, learner: Any, dataset: Any) -> dict[str, Any]:
    """What learning the data set would take, as far as the learner can tell beforehand."""
    from labelrank import ThresholdedRanker
    from labelrank.learners.pairwise.forecast import forecasts
    from labelrank.text import make_vectorizer

    X = dataset.X
    if dataset.texts is not None:
        X = make_vectorizer(recipe.representation, max_terms=recipe.max_terms)
        X = X.fit_transform(dataset.texts)
    inner = learner.estimator if isinstance(learner, ThresholdedRanker) else learner
    sizes = {"instances": X.shape[0], "features": X.shape[1], "labels": dataset.n_labels}
    return sizes | forecasts(inner, X, dataset.Y)


def put_to(tagger: Any, dataset: Any) -> tuple[Any, Any]:
    """Documents of the data, and what the tagger answers to them."""
    from labelrank import report

    documents = documents_of(dataset, tagger)
    return documents, report.answers(tagger, documents, relevance_of(dataset, tagger))
