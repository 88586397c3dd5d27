"""The whole model for people: texts (or features) in, ranked label names out."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from labelrank import __version__, decoding
from labelrank._estimators import BaseEstimator
from labelrank._types import Array
from labelrank.declared import (
    a_learner,
    anything,
    check_parameters,
    choice,
    flag,
    nested,
    number,
    stored,
)
from labelrank.encoder import TextEncoder, is_encoder
from labelrank.errors import InputError, unknown_label
from labelrank.interrupts import held_back
from labelrank.learned import LearnedRows, Met
from labelrank.learners.base import Answer, LabelRanker, unchanged_if_refused
from labelrank.preferences import Arcs, checked_pairs
from labelrank.relevance import RelevanceBinarizer, check_relevance, label_lists
from labelrank.resources import blocks
from labelrank.rows import canonical, short_indices
from labelrank.table import is_frame
from labelrank.text import REPRESENTATIONS, TextColumn, TextVectorizer, make_vectorizer

Names = Sequence[Any] | None
_SCORES_AT_ONCE = 2**22
OVERFLOW = 2**14  # columns for words that were not met in training
_SUMMARY: dict[str, Any] = {
    **dict.fromkeys(("data", "representation", "learner", "labelrank", "date"), str),
    **dict.fromkeys(("n_documents", "n_features", "n_labels"), int),
    "seconds": int | float,
}


class _Features(np.ndarray):
    """A dense matrix that `Tagger.features` made of a table: raw numbers are no features of it."""


class RankedLabel(NamedTuple):
    """One label of a ranking: its name, its score, and whether it is in the predicted set."""

    label: Any
    score: float
    in_set: bool


@stored(
    "Tagger", 2, label_names_=anything(), learner_=nested(), vectorizer_=nested(optional=True),
    summary_=anything(volatile=True), reading_=anything(optional=True),
    learned_rows_=nested("LearnedRows", optional=True, volatile=True),
)  # fmt: skip
@dataclass(kw_only=True, eq=False, repr=False)
class Tagger(BaseEstimator):
    """Tag documents: vectoriser, learner and label names in one.

    Documents are a list of texts, a feature matrix, or a table (a DataFrame of pandas or polars, a
    dict of columns), see `labelrank.table.TablePreparation`.

    Parameters
    ----------
    learner : estimator or None
        Any label ranker, or a scikit-learn classifier that takes 0/1 label matrices. None is
        `AutoRanker(random_state=0)`, which tries several; for `partial_fit` an averaged
        `BinaryRelevancePerceptron` of five epochs with margin 1.
    representation, max_terms
        How texts become features, see `labelrank.text.TextVectorizer`; not used for matrices.
    roles : dict or None, what columns of a table are, by name
    vectorizer : transformer, encoder or None
        Takes texts or tables in place of the one that the parameters above describe. An object
        with `encode(texts)`, or the name or folder of one, see `labelrank.TextEncoder`.
    ordered : bool, default False
        Label lists state a preference, most relevant first.
    new_labels : {"error", "ignore", "add"}
        What `partial_fit` does with label names it has not met; "add" where the learner can.

    Attributes
    ----------
    label_names_ : list
    learner_ : the fitted learner
    vectorizer_ : the fitted vectoriser (for tables a TablePreparation); None after matrices
    reading_ : dict or None, how the file was read that the model learned
    summary_ : dict of what the model was trained on, by what, when, and how long it took
        `in_pieces` is there where `partial_fit` began it.
    learned_rows_ : LearnedRows or None, a sample by which rows it has learned are known again

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

    learner: Any = field(default=None, metadata=a_learner(), kw_only=False)
    representation: str = choice(*REPRESENTATIONS)
    max_terms: int | None = number(None, least=1, whole=True, or_none=True)
    roles: Mapping[str, str] | None = None
    vectorizer: Any = None
    ordered: bool = flag(False)
    new_labels: str = choice("error", "ignore", "add")

    def fit(
        self, documents: Any, labels: Any, *, label_names: Names = None, name: str | None = None,
        reading: dict[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Learn from documents and their labels, forgetting what was learned.

        `labels` are label lists, or a relevance matrix whose columns `label_names` names.
        `label_names` with lists fixes the labels and their order. `name` of the training set
        is kept in `summary_`, and `reading`, how its file was read, in `reading_`.
        """
        began = time.perf_counter()
        check_parameters(self)
        learner = self._fresh_learner()
        names, Y = _named(labels, label_names, self.ordered)
        documents = documents if hasattr(documents, "__len__") else list(documents)
        vectorizer, X = self._first_features(documents, learner, Y)
        learner.fit(X, _targets(learner, X, Y))
        self.learner_, self.vectorizer_, self.label_names_ = learner, vectorizer, names
        self.learned_rows_: LearnedRows | None = LearnedRows.of(
            documents, _columns_read(vectorizer)
        )
        self.reading_ = reading
        self.summary_ = self._summary(X.shape, {"data": name}, began)
        return self

    def put_together(
        self, learner: Any, vectorizer: Any, names: list[Any], *, facts: dict[str, Any],
        reading: dict[str, Any] | None, learned: LearnedRows, began: float,
    ) -> Self:  # fmt: skip
        """Be made of parts that were fitted elsewhere, by `labelrank.distributed`.

        `facts` are the number of documents and the name of the data, `began` when work began.
        """
        self.learned_rows_ = learned
        self.learner_, self.vectorizer_, self.label_names_ = learner, vectorizer, names
        self.reading_ = reading
        self.summary_ = self._summary((0, learner.n_features_in_), facts, began)
        return self

    def partial_fit(
        self, documents: Any, labels: Any, *, label_names: Names = None, name: str | None = None,
        reading: dict[str, Any] | None = None,
    ) -> Self:  # fmt: skip
        """Learn from more documents or corrections, in the given order.

        The first call on a fresh Tagger fixes the terms (of tables also roles and scales), so let
        it be a good sample, or use representation="hashing". A fitted ranker that cannot learn in
        pieces is kept as it is, within a `CorrectedRanker`. Ctrl-C waits until the documents are
        learned; a second one does not.
        """
        is_first = not hasattr(self, "label_names_")
        with held_back(), unchanged_if_refused(self):
            self._taught(documents, labels, label_names, name)
            self.reading_ = reading if is_first else self.reading_
        return self

    def learn_arcs(self, documents: Any, prefer: Any) -> Self:
        """Learn preferences alone: for each document pairs (better, worse) of label names.

        None is the threshold: `("rye", None)` says that rye is relevant, `(None, "rye")` that it
        is not, `("rye", "trade")` that rye goes before trade, whatever else holds. They are learned
        as corrections, within a `CorrectedRanker`, and count at once. Ctrl-C waits until then.

        >>> tagger = Tagger().fit(["rye", "oil", "rye oil"], [["rye"], ["oil"], ["rye", "oil"]])
        >>> tagger.learn_arcs(["rye oil"], [[("oil", "rye")]]).rank(["rye oil"], top=1)[0][0].label
        'oil'
        """
        check_is_fitted(self)
        with held_back(), unchanged_if_refused(self):
            began = time.perf_counter()
            check_parameters(self)
            names, arcs = self._stated(prefer)
            learner = self.corrected()
            X = self.features(documents)
            learner.learn_arcs(X, arcs, classes=np.arange(len(names)))
            self.label_names_ = names
            self.remember(documents)
            self.summary_ = self._summary(X.shape, self.summary_, began)
        return self

    def _stated(self, prefer: Any) -> tuple[list[Any], Arcs]:
        """The label names after these preferences, and the arcs among them."""
        stated = [checked_pairs(pairs) for pairs in prefer]
        met = dict.fromkeys(one for pairs in stated for pair in pairs for one in pair)
        new = [name for name in met if name is not None and name not in self.label_names_]
        if new and self.new_labels == "error":
            raise unknown_label(new[0], self.label_names_)
        names = [*self.label_names_, *(new if self.new_labels == "add" else ())]
        place = {name: names.index(name) for name in met if name in names} | {None: None}
        triples = (
            (row, place[better], place[worse])
            for row, pairs in enumerate(stated)
            for better, worse in pairs
            if better in place and worse in place
        )
        return names, Arcs.of(triples, n_rows=len(stated), n_labels=len(names))

    def corrected(self) -> Any:
        """The learner, from now on within a `CorrectedRanker`: what follows are corrections.

        Of texts, words that were not met in training have columns of their own, by their hash.
        """
        check_is_fitted(self)
        from labelrank.learners.corrections.corrected import CorrectedRanker, can_be_corrected

        learner = self.learner_
        if isinstance(learner, CorrectedRanker):
            return learner
        if not can_be_corrected(learner):
            raise InputError(
                f"{type(learner).__name__} cannot be corrected; use a label ranker that reads "
                "features"
            )
        has_words = isinstance(self.vectorizer_, TextVectorizer) and self.vectorizer_.terms_
        self.learner_ = CorrectedRanker(learner, overflow=OVERFLOW if has_words else 0).begin()
        return self.learner_

    def _taught(self, documents: Any, labels: Any, label_names: Names, name: str | None) -> None:
        began = time.perf_counter()
        check_parameters(self)
        is_first = not hasattr(self, "label_names_")
        learner = self._fresh_learner(in_pieces=True) if is_first else self.learner_
        if not is_first and self.is_corrected_:
            learner = self.corrected()
        if not hasattr(learner, "partial_fit"):
            raise InputError(
                f"{type(learner).__name__} cannot learn in pieces; "
                "use fit on all documents, or a perceptron"
            )
        documents = documents if hasattr(documents, "__len__") else list(documents)
        if is_first:
            names, Y = _named(labels, label_names, self.ordered)
            vectorizer, X = self._first_features(documents, learner)
        else:
            names = self._widened(labels, label_names)
            Y = self._relevance(labels, names)
            vectorizer, X = self.vectorizer_, self.features(documents)
        learner.partial_fit(X, _targets(learner, X, Y), classes=np.arange(len(names)))
        self.learner_, self.vectorizer_, self.label_names_ = learner, vectorizer, names
        if is_first:
            self.learned_rows_ = LearnedRows.of(documents, _columns_read(vectorizer))
        else:
            self.remember(documents)
        before = {"in_pieces": True} if is_first else self.summary_
        self.summary_ = self._summary(X.shape, before | ({"data": name} if name else {}), began)

    def remember(self, documents: Any) -> None:
        """Note documents as learned: `partial_fit` does, but not of what are features already."""
        if _kind(documents) == self.reads_ and self.learned_rows_ is not None:
            more = LearnedRows.of(documents, _columns_read(self.vectorizer_))
            self.learned_rows_ = self.learned_rows_ + more

    def met(self, documents: Any) -> Met:
        """How many of the documents, or of a sample of them, it has learned."""
        if self.learned_rows_ is None:
            return Met()
        return self.learned_rows_.meet(documents, _columns_read(self.vectorizer_))

    def features(self, documents: Any) -> Any:
        """What the learner reads: documents turned into features; a matrix stays as it is.

        Every method that takes documents takes their features too, so that they are made once.
        """
        check_is_fitted(self)
        wanted, is_matrix = self.reads_, _is_matrix(documents)
        if self.vectorizer_ is None and is_matrix:
            return _sound(documents)
        if self.vectorizer_ is not None and _kind(documents) == wanted:
            X = self._vectors(documents)
            return X.view(_Features) if type(X) is np.ndarray and wanted == "a table" else X
        is_made = wanted != "a table" or sp.issparse(documents) or isinstance(documents, _Features)
        width = getattr(self.learner_, "n_features_in_", None)
        if is_matrix and is_made and documents.shape[1] == width:
            return _sound(documents)
        raise InputError(
            f"got {type(documents).__name__}, but the model was trained on other input; "
            f"give {wanted}"
        )

    def _vectors(self, documents: Any) -> Any:
        if overflow := getattr(self.learner_, "overflow", 0):
            return self.vectorizer_.overflowing(documents, overflow)
        return self.vectorizer_.transform(documents)

    @property
    def reads_(self) -> str:
        """What the model was trained on: "a list of texts", "a feature matrix" or "a table"."""
        if self.vectorizer_ is None:
            return "a feature matrix"
        return "a table" if hasattr(self.vectorizer_, "feature_names_in_") else "a list of texts"

    @property
    def is_corrected_(self) -> bool:
        """Whether more documents are learned as corrections on top of a ranker that stays."""
        from labelrank.learners.corrections.corrected import CorrectedRanker, can_be_corrected

        learner = self.learner_
        if hasattr(learner, "partial_fit"):
            return isinstance(learner, CorrectedRanker)
        return can_be_corrected(learner)

    def answer(self, documents: Any) -> Answer:
        """Scores and predicted sets (both documents × labels), from one pass over the documents."""
        X = self.features(documents)
        if X.shape[0] == 0:
            nothing = np.zeros((0, len(self.label_names_)))
            return Answer(nothing, nothing > 0)
        if isinstance(self.learner_, LabelRanker):
            return self.learner_.answer(X)
        members = self.learner_.predict(X)
        members = members.toarray() if sp.issparse(members) else np.asarray(members)
        return Answer(_scores(self.learner_, X), members.astype(bool))

    def rank(
        self, documents: Any, top: int | None = None, *, whole_sets: bool = False
    ) -> list[list[RankedLabel]]:
        """For each document its labels, best first: (label, score, in_set); the set comes first.

        `top` keeps only the first ones; with `whole_sets` also all others of the predicted set.
        """
        check_is_fitted(self)
        ranked = []
        for answer in self._answers(documents):
            ranked += ranked_labels(self.label_names_, answer, top, whole_sets=whole_sets)
        return ranked

    def predict(self, documents: Any) -> list[list[Any]]:
        """For each document the list of its labels, best first."""
        ranked = self.rank(documents, 1, whole_sets=True)
        return [[place.label for place in row if place.in_set] for row in ranked]

    def decision_function(self, documents: Any) -> Array:
        """Scores (documents × labels), in the order of `label_names_`."""
        return _scores(self.learner_, self.features(documents))

    def predict_proba(self, documents: Any) -> Array:
        """Probability of each label to be relevant (documents × labels, as `label_names_`).

        They never contradict `rank` and `predict`; see `LabelRanker.predict_proba`. Raise
        InputError if the learner has neither probabilities nor scores to guess them from.
        """
        X, learner = self.features(documents), self.learner_
        if X.shape[0] == 0:
            return np.zeros((0, len(self.label_names_)))
        if isinstance(learner, LabelRanker):
            return np.asarray(learner.predict_proba(X))
        if not hasattr(learner, "predict_proba"):
            raise InputError(
                f"{type(learner).__name__} has no predict_proba; put it into scikit-learn's "
                "CalibratedClassifierCV, or use a learner of labelrank"
            )
        shares = np.clip(probabilities(learner, X), 0.0, 1.0)
        answer = self.answer(X)
        return decoding.falling(shares, decoding.rank(answer.scores, None, answer.members))

    def score(self, documents: Any, labels: Any) -> float:
        """The learner's `score`: mean average precision for label rankers; larger is better."""
        X, Y = self.features(documents), self.relevance(labels)
        return float(self.learner_.score(X, _targets(self.learner_, X, Y)))

    def relevance(self, labels: Any) -> sp.csr_array:
        """Label lists (or a matrix) as relevance in the order of `label_names_`."""
        check_is_fitted(self)
        return self._relevance(labels, self.label_names_)

    def why(self, document: Any, label: Any, *, over: Any = None, **options: Any) -> Any:
        """The learner's reasons for a label (over another), for one text or one row."""
        check_is_fitted(self)
        if not hasattr(self.learner_, "why"):
            raise InputError(
                f"{type(self.learner_).__name__} cannot explain its scores; "
                "use a linear or pairwise learner"
            )
        X = self.features([document] if isinstance(document, str) else document)
        if over is not None:
            options["over"] = self._index(over)
        return self.learner_.why(X, self._index(label), **options)

    def names_in(self, X: Any) -> Array:
        """What each feature says of one row of features; see `get_feature_names_out`."""
        names = self.get_feature_names_out()
        if hasattr(self.vectorizer_, "names_in"):
            row = X[:, : self.vectorizer_.n_columns_]
            names[: row.shape[1]] = self.vectorizer_.names_in(row)
        return names

    def get_feature_names_out(self) -> Array:
        """The term of each feature, or `x0`, `x1`, ... after unnamed feature matrices."""
        check_is_fitted(self)
        if self.vectorizer_ is not None:
            names = self.vectorizer_.get_feature_names_out()
            unknown = [f"unknown{j}" for j in range(getattr(self.learner_, "overflow", 0))]
            return np.asarray([*names, *unknown], dtype=object)
        names = getattr(self.learner_, "feature_names_in_", None)
        if names is None:
            names = [f"x{j}" for j in range(self.learner_.n_features_in_)]
        return np.asarray(names, dtype=object)

    def after_loading(self) -> None:
        names, learner = self.label_names_, self.learner_
        self.reading_ = getattr(self, "reading_", None)
        self.learned_rows_ = getattr(self, "learned_rows_", None)
        if (
            not isinstance(self.reading_, dict | None)
            or not isinstance(names, list)
            or len(set(names)) != len(names)
            or not _is_reading(self.reading_ or {})
        ):
            raise ValueError("label names that are no list of distinct names, or a strange reading")
        if isinstance(learner, LabelRanker) and learner.n_labels_ != len(names):
            raise ValueError(f"{len(names)} label names for {learner.n_labels_} labels")
        made = getattr(self.vectorizer_, "n_columns_", None)
        width = getattr(learner, "n_features_in_", 0) - getattr(learner, "overflow", 0)
        if made is not None and width != made:
            raise ValueError(f"a vectoriser of {made} features for a learner of {width}")
        summary = self.summary_ if isinstance(self.summary_, dict) else {}
        if not all(isinstance(summary.get(key), kind) for key, kind in _SUMMARY.items()):
            raise ValueError("a summary without its facts")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_names_")

    def _fresh_learner(self, *, in_pieces: bool = False) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        if not in_pieces:
            from labelrank.learners.auto.auto import AutoRanker

            return AutoRanker(random_state=0)
        from labelrank.learners.perceptron import BinaryRelevancePerceptron

        return BinaryRelevancePerceptron(epochs=5, averaging="averaged", margin=1.0, random_state=0)

    def _fresh_vectorizer(self) -> Any:
        given = self.vectorizer
        return TextEncoder(given) if is_encoder(given) else clone(given, safe=False)

    def _first_features(self, documents: Any, learner: Any, Y: Any = None) -> tuple[Any, Any]:
        """The vectoriser, fitted on the documents, and their features.

        Y is all that will be learned, where that is known.
        """
        kind, vectorizer = _kind(documents), self._fresh_vectorizer()
        if isinstance(vectorizer, TextEncoder) and kind != "a list of texts":
            raise InputError(
                f"got {kind} with an encoder, which reads texts; give a list of texts (one column "
                "of a table), or no encoder"
            )
        if kind == "a feature matrix":
            return None, _sound(documents)
        words: Any = {"representation": self.representation, "max_terms": self.max_terms}
        if vectorizer is None and get_tags(learner).input_tags.string:
            vectorizer = TextColumn()
        elif vectorizer is None and kind == "a table":
            from labelrank.table import TablePreparation

            vectorizer = TablePreparation(self.roles, **words)
            return vectorizer, vectorizer.fit_transform(documents, Y)
        elif vectorizer is None:
            vectorizer = make_vectorizer(**words)
        return vectorizer, vectorizer.fit_transform(documents)

    def _index(self, label: Any) -> int:
        try:
            return self.label_names_.index(label)
        except ValueError as error:
            raise unknown_label(label, self.label_names_) from error

    def _widened(self, labels: Any, label_names: Names) -> list[Any]:
        """The label names after this piece: new ones, where wanted, behind the known ones."""
        if self.new_labels != "add":
            return self.label_names_
        met = label_names if _is_matrix(labels) else (x for row in label_lists(labels) for x in row)
        known = set(self.label_names_)
        return self.label_names_ + [x for x in dict.fromkeys(met or ()) if x not in known]

    def _relevance(self, labels: Any, names: list[Any]) -> sp.csr_array:
        if _is_matrix(labels):
            return check_relevance(labels, n_labels=len(names))
        unseen = "ignore" if self.new_labels == "ignore" else "error"
        binarizer = RelevanceBinarizer(ordered=self.ordered, classes=names, unseen=unseen)
        return binarizer.fit([]).transform(labels)

    def _answers(self, documents: Any) -> Iterator[Answer]:
        """Scores and sets, some thousand documents at a time: memory stays bounded."""
        X = self.features(documents)
        X = X.tocsr() if sp.issparse(X) else X
        for part in blocks(X.shape[0], _SCORES_AT_ONCE // max(len(self.label_names_), 1)):
            yield self.answer(X.iloc[part] if hasattr(X, "iloc") else X[part])

    def _summary(self, shape: Any, before: dict[str, Any], began: float) -> dict[str, Any]:
        """What the model was trained on; `before` is the summary of the earlier pieces."""
        vectorizer = self.vectorizer_
        kind = "features" if vectorizer is None else type(vectorizer).__name__
        is_table = vectorizer is not None and self.reads_ == "a table"
        seconds = before.get("seconds", 0.0) + time.perf_counter() - began
        return {
            "data": before.get("data") or "",
            "n_documents": before.get("n_documents", 0) + int(shape[0]),
            "n_features": int(shape[1]) - getattr(self.learner_, "overflow", 0),
            "n_labels": len(self.label_names_),
            "representation": "table" if is_table else getattr(vectorizer, "representation", kind),
            "learner": type(self.learner_).__name__,
            "seconds": round(seconds, 3),
            "labelrank": __version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        } | ({"in_pieces": True} if before.get("in_pieces") else {})


def ranked_labels(
    names: Sequence[Any], answer: Answer, top: int | None, *, whole_sets: bool
) -> list[list[RankedLabel]]:
    """Answers as `Tagger.rank` gives them; `names` are those of the columns."""
    ranked = []
    sizes = np.full(len(answer.scores), len(names) if top is None else top)
    if whole_sets:
        sizes = np.maximum(sizes, answer.members.sum(axis=1))
    order = decoding.rank(answer.scores, int(sizes.max(initial=1)), answer.members)
    scores, members = (np.take_along_axis(part, order, axis=1).tolist() for part in answer)
    for size, *places in zip(sizes.tolist(), order.tolist(), scores, members):
        row = zip(*(part[:size] for part in places))
        ranked.append([RankedLabel(names[k], score, in_set) for k, score, in_set in row])
    return ranked


def _named(labels: Any, label_names: Names, ordered: bool) -> tuple[list[Any], sp.csr_array]:
    """Label names and relevance of the first labels seen."""
    if not _is_matrix(labels):
        binarizer = RelevanceBinarizer(ordered=ordered, classes=label_names)
        Y = binarizer.fit_transform(labels)
        return binarizer.classes_.tolist(), Y
    is_csr = getattr(labels, "format", "") == "csr"  # the learner checks it
    Y = labels if is_csr else check_relevance(labels)
    if label_names is None:
        columns = getattr(labels, "columns", None)
        label_names = [str(k) for k in range(Y.shape[1])] if columns is None else list(columns)
    names = list(label_names)
    if len(names) != Y.shape[1] or len(set(names)) != len(names):
        raise InputError(
            f"got {len(set(names))} distinct label names for {Y.shape[1]} columns; name each once"
        )
    return names, Y


def _targets(learner: Any, X: Any, Y: sp.csr_array) -> Any:
    """Relevance for label rankers; for scikit-learn's classifiers a dense 0/1 matrix."""
    if X.shape[0] != Y.shape[0]:
        raise InputError(
            f"got {X.shape[0]} documents but labels of {Y.shape[0]}; give labels for each document"
        )
    if isinstance(learner, LabelRanker):
        return Y
    return (check_relevance(Y) > 0).toarray().astype(np.int64)


def _scores(learner: Any, X: Any) -> Array:
    """Scores of any learner; without a decision function, its probabilities."""
    if hasattr(learner, "decision_function"):
        return np.asarray(learner.decision_function(X)).reshape(X.shape[0], -1)
    return probabilities(learner, X)


def probabilities(learner: Any, X: Any) -> Array:
    """Probability of relevance (instances × labels), from any `predict_proba` of scikit-learn."""
    given = learner.predict_proba(X)
    if isinstance(given, list):
        pairs = zip(given, learner.classes_, strict=True)
        given = np.column_stack([p @ (np.asarray(classes) > 0) for p, classes in pairs])
    return np.asarray(given)


def _is_reading(reading: Mapping[str, Any]) -> bool:
    """Whether the names of features and the values of nominal ones are lists of texts."""
    values = reading.get("values") or {}
    lists = [reading.get("features") or [], *(values.values() if type(values) is dict else [None])]
    return all(type(one) is list and all(type(name) is str for name in one) for one in lists)


def _columns_read(vectorizer: Any) -> list[str] | None:
    """The columns of a table that the vectoriser of it uses; None for other vectorisers."""
    columns = getattr(vectorizer, "columns_", None)
    if columns is None:
        return None
    from labelrank.table.roles import USED

    return [one.name for one in columns if one.role in USED]


def _kind(documents: Any) -> str:
    """What documents are: texts, a matrix or a table."""
    if is_frame(documents):
        return "a table"
    return "a feature matrix" if _is_matrix(documents) else "a list of texts"


def _sound(X: Any) -> Any:
    """The features, checked where they are sparse; scikit-learn does not check them."""
    return short_indices(canonical(X)) if sp.issparse(X) else X


def _is_matrix(value: Any) -> bool:
    """True for arrays, sparse matrices, data frames; False for lists of texts or labels."""
    return len(getattr(value, "shape", ())) == 2
