"""The whole model for people: texts (or features) in, ranked label names out.

A Tagger joins a text vectoriser, a learner and the names of the labels, learns from label lists
or relevance matrices, and goes into one model file (`labelrank.persistence`).
"""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelrank import __version__, decoding
from labelrank._types import Array
from labelrank.errors import InputError
from labelrank.learners.base import LabelRanker
from labelrank.relevance import RelevanceBinarizer, check_relevance
from labelrank.text import TextColumn, check_texts, make_vectorizer

_SCORES_AT_ONCE = 2**22
_NEW_LABELS = ("error", "ignore", "add")


class RankedLabel(NamedTuple):
    """One label of a ranking: its name, its score, and whether it is in the predicted set."""

    label: Any
    score: float
    in_set: bool


class Tagger(BaseEstimator):
    """Tag documents: vectoriser, learner and label names in one.

    Parameters
    ----------
    learner : estimator or None
        Any label ranker, or a scikit-learn classifier that takes 0/1 label matrices. None is an
        averaged `BinaryRelevancePerceptron` of five epochs with margin 1.
    representation, max_terms
        How texts become features, see `labelrank.text.TextVectorizer`; not used for matrices.
    vectorizer : transformer or None
        Takes texts in place of the one that `representation` names.
    ordered : bool, default False
        Label lists state a preference, most relevant first.
    new_labels : {"error", "ignore", "add"}
        What `partial_fit` does with label names it has not met; "add" where the learner can.

    Attributes
    ----------
    label_names_ : list
    learner_ : the fitted learner
    vectorizer_ : the fitted vectoriser, or None after feature matrices
    summary_ : dict of what the model was trained on, by what, when, and how long it took

    Examples
    --------
    >>> from labelrank import Tagger
    >>> texts = ["wheat and rye prices", "crude oil prices", "rye harvest", "oil tankers"]
    >>> tagger = Tagger().fit(texts, [["grain", "trade"], ["oil", "trade"], ["grain"], ["oil"]])
    >>> tagger.predict(["rye exports", "oil wells"])
    [['grain'], ['oil']]
    >>> [(label, in_set) for label, score, in_set in tagger.rank(["rye"], top=2)[0]]
    [('grain', True), ('trade', False)]
    """

    def __init__(
        self,
        learner: Any = None,
        *,
        representation: str = "tfidf",
        max_terms: int | None = None,
        vectorizer: Any = None,
        ordered: bool = False,
        new_labels: str = "error",
    ) -> None:
        self.learner = learner
        self.representation = representation
        self.max_terms = max_terms
        self.vectorizer = vectorizer
        self.ordered = ordered
        self.new_labels = new_labels

    def fit(
        self,
        documents: Any,
        labels: Any,
        *,
        label_names: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Learn from texts or features and their labels, forgetting what was learned.

        `labels` are label lists, or a relevance matrix whose columns `label_names` names.
        `label_names` with lists fixes the labels and their order. `name` of the training set
        is kept in `summary_`.
        """
        began = time.perf_counter()
        self._start()
        names, Y = _named(labels, label_names, self.ordered)
        X = self._first_features(documents)
        _check_lengths(X, Y)
        self.learner_.fit(X, self._targets(Y))
        self.label_names_ = names
        self._summarize(X, name, time.perf_counter() - began, n_before=0, seconds_before=0.0)
        return self

    def partial_fit(
        self,
        documents: Any,
        labels: Any,
        *,
        label_names: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """Learn from more documents or corrections, in the given order.

        The first call on a fresh Tagger fixes the terms, so let it be a good sample, or use
        representation="hashing".
        """
        began = time.perf_counter()
        if not hasattr(self, "label_names_"):
            self._start()
            names, Y = _named(labels, label_names, self.ordered)
            X = self._first_features(documents)
        else:
            names = self._widened(labels, label_names)
            Y = self._relevance(labels, names)
            X = self._features(documents)
        if not hasattr(self.learner_, "partial_fit"):
            raise InputError(
                f"{type(self.learner_).__name__} cannot learn in pieces; "
                "use fit on all documents, or a perceptron"
            )
        _check_lengths(X, Y)
        self.learner_.partial_fit(X, self._targets(Y), classes=np.arange(len(names)))
        before = getattr(self, "summary_", {})
        n_before, seconds = before.get("n_documents", 0), before.get("seconds", 0.0)
        self.label_names_ = names
        self._summarize(X, name, time.perf_counter() - began, n_before, seconds)
        return self

    def rank(self, documents: Any, top: int | None = None) -> list[list[RankedLabel]]:
        """For each document its labels, best first: (label, score, in_set); the set comes first."""
        names = self._names()
        answers = []
        for scores, members in self._answers(documents):
            order = self._order(scores, members, top)
            rows = zip(order, scores, members, strict=True)
            answers += [
                [RankedLabel(names[k], float(row[k]), bool(within[k])) for k in labels.tolist()]
                for labels, row, within in rows
            ]
        return answers

    def predict(self, documents: Any) -> list[list[Any]]:
        """For each document the list of its labels, best first."""
        names = self._names()
        answers = []
        for scores, members in self._answers(documents):
            sizes = members.sum(axis=1).tolist()
            order = self._order(scores, members, max(max(sizes), 1)).tolist()
            answers += [
                [names[k] for k in row[:size]] for row, size in zip(order, sizes, strict=True)
            ]
        return answers

    def decision_function(self, documents: Any) -> Array:
        """Scores (documents × labels), in the order of `label_names_`."""
        check_is_fitted(self)
        return self._scores(self._features(documents))

    def score(self, documents: Any, labels: Any) -> float:
        """The learner's `score`: mean average precision for label rankers; larger is better."""
        Y = self._relevance(labels, self._names())
        return float(self.learner_.score(self._features(documents), self._targets(Y)))

    def relevance(self, labels: Any) -> sp.csr_array:
        """Label lists (or a matrix) as relevance in the order of `label_names_`."""
        return self._relevance(labels, self._names())

    def why(self, document: Any, label: Any, *, over: Any = None, **options: Any) -> Any:
        """The learner's reasons for a label (over another), for one text or one row."""
        check_is_fitted(self)
        if not hasattr(self.learner_, "why"):
            raise InputError(
                f"{type(self.learner_).__name__} cannot explain its scores; "
                "use a linear or pairwise learner"
            )
        X = self._features([document] if isinstance(document, str) else document)
        if over is not None:
            options["over"] = self._index(over)
        return self.learner_.why(X, self._index(label), **options)

    def get_feature_names_out(self) -> Array:
        """The term of each feature, or `x0`, `x1`, ... after unnamed feature matrices."""
        check_is_fitted(self)
        if self.vectorizer_ is not None:
            return np.asarray(self.vectorizer_.get_feature_names_out(), dtype=object)
        names = getattr(self.learner_, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.learner_.n_features_in_)]
        return np.asarray(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_names_")

    def _start(self) -> None:
        from labelrank.learners.perceptron import BinaryRelevancePerceptron

        if self.new_labels not in _NEW_LABELS:
            raise InputError(f"got new_labels={self.new_labels!r}; use one of {list(_NEW_LABELS)}")
        for fitted in ("label_names_", "summary_"):
            if hasattr(self, fitted):
                delattr(self, fitted)
        default = BinaryRelevancePerceptron(
            epochs=5, averaging="averaged", margin=1.0, random_state=0
        )
        self.learner_ = default if self.learner is None else clone(self.learner)

    def _first_features(self, documents: Any) -> Any:
        self.vectorizer_ = None
        if _is_matrix(documents):
            return documents
        if self.vectorizer is None and get_tags(self.learner_).input_tags.string:
            self.vectorizer_ = TextColumn()
        elif self.vectorizer is None:
            self.vectorizer_ = make_vectorizer(self.representation, max_terms=self.max_terms)
        else:
            self.vectorizer_ = clone(self.vectorizer)
        return self.vectorizer_.fit_transform(check_texts(documents))

    def _features(self, documents: Any) -> Any:
        if _is_matrix(documents) != (self.vectorizer_ is None):
            wanted = "a feature matrix" if self.vectorizer_ is None else "a list of texts"
            raise InputError(
                f"got {type(documents).__name__}, but the model was trained on other input; "
                f"give {wanted}"
            )
        if self.vectorizer_ is None:
            return documents
        return self.vectorizer_.transform(check_texts(documents))

    def _names(self) -> list[Any]:
        check_is_fitted(self)
        return self.label_names_

    def _index(self, label: Any) -> int:
        try:
            return self._names().index(label)
        except ValueError as error:
            raise InputError(f"got unknown label {label!r}; use one of label_names_") from error

    def _widened(self, labels: Any, label_names: Sequence[Any] | None) -> list[Any]:
        """The label names after this piece: new ones, where wanted, behind the known ones."""
        if self.new_labels != "add":
            return self.label_names_
        met = label_names if _is_matrix(labels) else (x for row in labels for x in row)
        known = set(self.label_names_)
        return self.label_names_ + [x for x in dict.fromkeys(met or ()) if x not in known]

    def _relevance(self, labels: Any, names: list[Any]) -> sp.csr_array:
        if _is_matrix(labels):
            return check_relevance(labels, n_labels=len(names))
        unseen = "ignore" if self.new_labels == "ignore" else "error"
        return _binarizer(names, self.ordered, unseen).fit([]).transform(labels)

    def _answers(self, documents: Any) -> Iterator[tuple[Array, Array]]:
        """Scores and sets, some thousand documents at a time: memory stays bounded."""
        check_is_fitted(self)
        X = self._features(documents)
        X = X.tocsr() if sp.issparse(X) else X
        size = max(_SCORES_AT_ONCE // max(len(self.label_names_), 1), 1)
        for start in range(0, X.shape[0], size):
            part = slice(start, start + size)
            yield self._answer(X.iloc[part] if hasattr(X, "iloc") else X[part])

    def _answer(self, X: Any) -> tuple[Array, Array]:
        learner = self.learner_
        if isinstance(learner, LabelRanker):
            return learner.answer(X)
        members = learner.predict(X)
        members = members.toarray() if sp.issparse(members) else np.asarray(members)
        return self._scores(X), members.astype(bool)

    def _order(self, scores: Array, members: Array, top: int | None) -> Array:
        is_cut = getattr(self.learner_, "_set_is_cut", False)
        return decoding.rank(scores, top, None if is_cut else members)

    def _scores(self, X: Any) -> Array:
        """Scores of any learner; without a decision function, its probabilities."""
        learner = self.learner_
        if hasattr(learner, "decision_function"):
            return np.asarray(learner.decision_function(X)).reshape(X.shape[0], -1)
        probabilities = learner.predict_proba(X)
        if isinstance(probabilities, list):
            pairs = zip(probabilities, learner.classes_, strict=True)
            probabilities = np.column_stack([p @ (classes > 0) for p, classes in pairs])
        return np.asarray(probabilities)

    def _targets(self, Y: sp.csr_array) -> Any:
        """Relevance for label rankers; for scikit-learn's classifiers a dense 0/1 matrix."""
        return Y if isinstance(self.learner_, LabelRanker) else (Y > 0).toarray().astype(np.int64)

    def _summarize(
        self, X: Any, name: str | None, seconds: float, n_before: int, seconds_before: float
    ) -> None:
        before = getattr(self, "summary_", {})
        self.summary_ = {
            "data": name or before.get("data", ""),
            "n_documents": n_before + int(np.shape(X)[0]),
            "n_features": int(np.shape(X)[1]),
            "n_labels": len(self.label_names_),
            "representation": self._representation(),
            "learner": type(self.learner_).__name__,
            "seconds": round(seconds_before + seconds, 3),
            "labelrank": __version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }

    def _representation(self) -> str:
        if self.vectorizer_ is None:
            return "features"
        return getattr(self.vectorizer_, "representation", type(self.vectorizer_).__name__)


def _named(
    labels: Any, label_names: Sequence[Any] | None, ordered: bool
) -> tuple[list[Any], sp.csr_array]:
    """Label names and relevance of the first labels seen."""
    if not _is_matrix(labels):
        binarizer = _binarizer(label_names, ordered, "error")
        Y = binarizer.fit_transform(labels)
        return binarizer.classes_.tolist(), Y
    Y = check_relevance(labels)
    if label_names is None:
        columns = getattr(labels, "columns", None)
        label_names = [str(k) for k in range(Y.shape[1])] if columns is None else list(columns)
    names = list(label_names)
    if len(names) != Y.shape[1] or len(set(names)) != len(names):
        raise InputError(
            f"got {len(set(names))} distinct label names for {Y.shape[1]} columns; name each once"
        )
    return names, Y


def _binarizer(names: Sequence[Any] | None, ordered: bool, unseen: str) -> RelevanceBinarizer:
    return RelevanceBinarizer(ordered=ordered, classes=names, unseen=unseen)


def _is_matrix(value: Any) -> bool:
    """True for arrays, sparse matrices, data frames; False for lists of texts or labels."""
    if sp.issparse(value):
        return True
    return hasattr(value, "shape") and len(value.shape) == 2


def _check_lengths(X: Any, Y: Any) -> None:
    if X.shape[0] != Y.shape[0]:
        raise InputError(
            f"got {X.shape[0]} documents but labels of {Y.shape[0]}; give labels for each document"
        )
