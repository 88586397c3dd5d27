"""Models as commands use them: made from options, loaded, and put to data."""

import importlib
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelrank.cli.options import Recipe
from labelrank.errors import InputError, MissingError, ModelFileError, unknown_label

_LABELS_AT_ONCE = 10_000
# A column of so many words per cell may be what a model of texts is to read.
_SEVERAL_WORDS = 1.5
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
    from labelrank.declared import check_parameters
    from labelrank.learners.base import LabelRanker

    if ":" not in name:
        learner = catalog.make(name, seed=seed, n_jobs=jobs, **chosen)
        if isinstance(learner, LabelRanker):  # refused before any data are read
            check_parameters(learner)
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
    from labelrank import AutoRanker, ThresholdedRanker

    is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not is_number and threshold not in ("tuned", "cardinality"):
        raise InputError(f"got --threshold {threshold}; use a number, 'cardinality' or 'tuned'")
    if threshold == "tuned" and isinstance(learner, AutoRanker):
        return learner  # it tunes its own
    if threshold != "tuned" and "threshold" in learner.get_params(deep=False):
        return learner.set_params(threshold=threshold)
    if is_number:
        return ThresholdedRanker(learner, strategy="fixed", threshold=threshold)
    return ThresholdedRanker(learner, strategy=threshold, random_state=seed)


def with_own_cut(learner: Any, threshold: str | None) -> Any:
    """The learner of a stream with a cut of its own, which `learn` sets, unless one was asked for.

    Only perceptrons relative to a threshold are so cut: they lean to small sets.
    """
    from labelrank import BinaryRelevancePerceptron, PairwisePerceptron, ThresholdedRanker

    is_cut = isinstance(learner, BinaryRelevancePerceptron | PairwisePerceptron)
    if threshold is not None or not is_cut or not learner.is_calibrated:
        return learner
    return ThresholdedRanker(learner, strategy="fixed")


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
    """Texts, table or features of the data, whichever the model was trained on."""
    import numpy as np

    from labelrank.datasets.alike import in_order

    wanted = tagger.reads_
    if wanted == "a list of texts" and not (tagger.reading_ or {}).get("text_column"):
        _check_one_text(dataset)
    if wanted == "a list of texts" and dataset.texts is None:
        texts = (dataset.reading or {}).get("text_column") or []
        if dataset.table is not None and len(texts) == 1:
            return [cell or "" for cell in dataset.table[texts[0]]]
        raise InputError(
            f"{dataset.name} has no text alone, but the model was trained on texts; "
            "name their column by text_column=..."
        )
    if wanted == "a list of texts":
        return dataset.texts
    if wanted == "a table":
        return _table_of(dataset)
    if dataset.X is None:
        got = "is text" if dataset.texts is not None else "has cells that are no numbers"
        raise InputError(f"{dataset.name} {got}, but the model was trained on feature matrices")
    X = _padded(in_order(dataset, tagger.reading_).X, tagger.learner_.n_features_in_)
    if X.shape[1] != tagger.learner_.n_features_in_:
        what = "columns" if isinstance(X, np.ndarray) else "features"
        raise InputError(
            f"{dataset.name} has {X.shape[1]:,} {what}, the model learned "
            f"{tagger.learner_.n_features_in_:,}; give those that it learned, in their order"
        )
    return X


def _check_one_text(dataset: Any) -> None:
    """Refuse data with several columns of words, none called text, if nobody has named one."""
    from labelrank.table.cells import Cells
    from labelrank.table.roles import n_words

    reading = dataset.reading or {}
    chosen = [name.lower() for name in reading.get("text_column") or ()]
    if not reading.get("text_found") or chosen == ["text"]:
        return
    others = set(dataset.columns or ()) - set(reading.get("label_columns") or ())
    names = [name for name in dataset.columns or () if name in others
             and n_words(Cells(list(dataset.columns[name]))) >= _SEVERAL_WORDS]  # fmt: skip
    if len(names) > 1:
        raise InputError(
            f"{dataset.name} has words in columns {', '.join(map(repr, names))}, and the model was "
            "trained on one text per row; name the column by text_column=..."
        )


def _table_of(dataset: Any) -> Any:
    """The table of the data, or their named features as one."""
    if dataset.table is not None:
        return dataset.table
    if dataset.X is None or dataset.feature_names is None:
        raise InputError(
            f"{dataset.name} has no named columns, but the model was trained on a table; "
            "give a file with the columns of that"
        )
    import scipy.sparse as sp

    X = sp.csc_array(dataset.X) if sp.issparse(dataset.X) else dataset.X
    columns = (
        X[:, [k]].toarray().ravel() if sp.issparse(X) else X[:, k] for k in range(X.shape[1])
    )
    return dict(zip(dataset.feature_names, columns, strict=True))


def _padded(X: Any, n_features: int) -> Any:
    """Features of sparse formats, which do not say how many there are: missing ones are zero."""
    import scipy.sparse as sp

    if X.shape[1] >= n_features or not sp.issparse(X):
        return X
    missing = sp.csr_array((X.shape[0], n_features - X.shape[1]))
    return sp.csr_array(sp.hstack([X, missing], format="csr"))


def rows_of(documents: Any, rows: slice) -> Any:
    """Some of the documents: texts, rows of a matrix or of a table."""
    from labelrank.table import columns_of, is_frame, take

    return take(columns_of(documents), rows) if is_frame(documents) else documents[rows]


def teach(tagger: Any, dataset: Any) -> Any:
    """The tagger when it has learned the data set, and how this was read."""
    return _with_roles(tagger, dataset).fit(
        dataset.documents, dataset.Y, label_names=dataset.label_names, name=dataset.name,
        reading=dataset.reading,
    )  # fmt: skip


def _with_roles(tagger: Any, dataset: Any) -> Any:
    """The tagger with the roles of columns that were known when the data were read."""
    is_open = dataset.roles and tagger.roles is None
    return tagger.set_params(roles=dataset.roles) if is_open else tagger


def learn_more(tagger: Any, dataset: Any, X: Any = None) -> None:
    """Teach the tagger the data, whose features may be there already as `X`."""
    from labelrank.relevance import RelevanceBinarizer

    if not hasattr(tagger, "label_names_"):
        _with_roles(tagger, dataset).partial_fit(
            dataset.documents, dataset.Y, label_names=dataset.label_names, name=dataset.name,
            reading=dataset.reading,
        )  # fmt: skip
        return
    documents = documents_of(dataset, tagger) if X is None else X
    known = set(map(str, tagger.label_names_))
    if all(str(name) in known for name in dataset.label_names):
        tagger.partial_fit(documents, relevance_of(dataset, tagger))
    else:
        names = RelevanceBinarizer(classes=dataset.label_names).fit([])
        tagger.partial_fit(documents, names.inverse_transform(dataset.Y))
    if X is not None and tagger.reads_ != "a feature matrix":
        tagger.remember(documents_of(dataset, tagger))


def prefer(tagger: Any, dataset: Any, X: Any = None) -> None:
    """Teach the tagger what the rows prefer, as corrections; their labels are not looked at."""
    named = {str(name): name for name in tagger.label_names_}
    stated = [[(named.get(a, a), named.get(b, b)) for a, b in row] for row in dataset.prefer]
    tagger.learn_arcs(documents_of(dataset, tagger) if X is None else X, stated)
    if X is not None and tagger.reads_ != "a feature matrix":
        tagger.remember(documents_of(dataset, tagger))


def stated_apart(dataset: Any) -> tuple[Any, Any]:
    """The rows to learn by their labels, and those with preferences among them, or None."""
    from labelrank.datasets.stated import apart

    labelled, stated = apart(dataset)
    if stated is not None:
        check_stated(stated, labelled.label_names)
    return labelled, stated


def by_labels(dataset: Any) -> Any:
    """Which rows are learned by their labels, and not by preferences alone."""
    import numpy as np

    if dataset.prefer is None:
        return np.ones(dataset.n_instances, bool)
    return (np.diff(dataset.Y.indptr) > 0) | ~np.array(list(map(bool, dataset.prefer)), bool)


def check_stated(dataset: Any, names: Sequence[Any]) -> None:
    """Refuse preferences among labels that are none of these names."""
    named = {label for row in dataset.prefer for pair in row for label in pair if label is not None}
    strange = sorted(named - set(map(str, names)))
    if strange:
        raise unknown_label(strange[0], names)


def relevance_of(dataset: Any, tagger: Any, *, warn: bool = True) -> Any:
    """Relevance of the data in the columns of the model; labels it does not know are left out."""
    strange = unknown_labels(dataset, tagger)
    if len(strange) == dataset.n_labels:
        raise no_label(dataset.name, strange, tagger)
    if warn:
        tell_unknown(strange, tagger)
    return known_relevance(dataset, tagger)


def unknown_labels(dataset: Any, tagger: Any) -> list[str]:
    """The labels of the data that the model does not know."""
    known = set(map(str, tagger.label_names_))
    return [str(name) for name in dataset.label_names if str(name) not in known]


def tell_unknown(strange: Sequence[str], tagger: Any) -> None:
    """Warn of labels that are left out."""
    from labelrank.cli.strange import meant

    if strange:
        warnings.warn(
            f"{len(strange)} label(s) the model does not know are left out: "
            + ", ".join([*strange[:5], *["and others"] * (len(strange) > 5)])
            + meant(strange, tagger.label_names_),
            stacklevel=3,
        )


def no_label(name: str, strange: Sequence[str], tagger: Any) -> InputError:
    """The error that data have none of the labels of the model."""
    from labelrank.cli.strange import meant

    way = meant(strange, tagger.label_names_) or "; give labelled data"
    return InputError(f"{name} has no label that the model knows{way}")


def known_relevance(dataset: Any, tagger: Any) -> Any:
    """Relevance of the data in the columns of the model, maybe of none of its labels."""
    return in_columns(dataset, tagger.label_names_)


def in_columns(dataset: Any, names: Sequence[Any]) -> Any:
    """Relevance of the data in columns of these names; other labels are left out."""
    import numpy as np
    import scipy.sparse as sp

    column = {str(name): k for k, name in enumerate(names)}
    known = [k for k, name in enumerate(dataset.label_names) if str(name) in column]
    place = np.array([column[str(dataset.label_names[k])] for k in known], np.int64)
    shape = (len(known), len(column))
    moved = sp.csr_array((np.ones(len(known)), (np.arange(len(known)), place)), shape=shape)
    return sp.csr_array(sp.csr_array(dataset.Y)[:, known] @ moved)


def make_codes(learner: Any, source: Any, names: Sequence[Any]) -> None:
    """Codes of the labels from other label data, for the learner or the one within it."""
    inner = learner
    while not hasattr(inner, "fit_codes") and hasattr(inner, "estimator"):
        inner = inner.estimator
    if not hasattr(inner, "fit_codes"):
        raise InputError(
            f"got --codes-from with {type(learner).__name__}, which has no codes; use it with "
            "--learner EP-PLM, EP-PLM+ or 'bagged EP-PLM'"
        )
    parts = (part for part, _ in source.batches(_LABELS_AT_ONCE))
    inner.fit_codes(in_columns(part, names) for part in parts)
    if not inner.codes.any():
        raise InputError(f"got --codes-from {source.data}, which has none of the labels of DATA")


def judges_targets(criterion: str) -> bool:
    """Whether a criterion, where one is named, is of targets of several classes."""
    from labelrank.metrics import criteria

    return bool(criterion) and criteria.get(criterion).needs == "classes"


def of_targets(learner: Any, dataset: Any, criterion: str = "") -> tuple[Any, Any]:
    """Learner and data; targets of several classes each are labels: auto or a chain learns them."""
    if dataset.target_classes is None and judges_targets(criterion):
        raise InputError(
            f"got --criterion {criterion}, which judges targets of several classes, but "
            f"{dataset.name} has labels; use subset_accuracy or hamming_loss"
        )
    if dataset.target_classes is None:
        return learner, dataset
    from labelrank import AutoRanker, TargetColumns
    from labelrank.datasets.targets import as_labels

    sizes = tuple(map(len, dataset.target_classes))
    if isinstance(learner, AutoRanker):
        learner.set_params(sizes=list(sizes), criterion=criterion or "hamming_score")
        return learner, as_labels(dataset)
    columns = TargetColumns(learner, sizes=sizes)
    columns.check_parameters()
    return columns, as_labels(dataset)


def forecast(recipe: Recipe, learner: Any, dataset: Any) -> dict[str, Any]:
    """What learning the data set would take, as far as the learner can tell beforehand."""
    from labelrank import AutoRanker, ThresholdedRanker
    from labelrank.learners.pairwise.forecast import forecasts
    from labelrank.table import TablePreparation
    from labelrank.text import make_vectorizer

    X, words = dataset.documents, {"max_terms": recipe.max_terms}
    if dataset.texts is not None:
        terms = recipe.vectorizer() or make_vectorizer(recipe.representation, **words)
        X = terms.fit_transform(X)
    elif dataset.table is not None:
        X = TablePreparation(
            dataset.roles, representation=recipe.representation, **words
        ).fit_transform(X, dataset.Y)
    inner = learner.estimator if isinstance(learner, ThresholdedRanker) else learner
    sizes = {"instances": X.shape[0], "features": X.shape[1], "labels": dataset.n_labels}
    if isinstance(inner, AutoRanker):
        work = max(inner.work(X, dataset.Y), 1.0)
        told = f"about {work:,.0f} s on one core, at most {inner.budget:g} s"
        return sizes | {"time to choose": told}
    return sizes | forecasts(inner, X, dataset.Y)


def put_to(tagger: Any, dataset: Any) -> tuple[Any, Any]:
    """Documents of the data, and what the tagger answers to them."""
    from labelrank import report

    documents = documents_of(dataset, tagger)
    return documents, report.answers(tagger, documents, relevance_of(dataset, tagger))
