"""Folds, and one cell of a comparison: a learner taught one part of a fold, asked the other."""

import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_random_state, get_tags
from threadpoolctl import threadpool_limits

from labelrank import metrics
from labelrank._types import Array, Int64
from labelrank.errors import InputError, LabelrankError
from labelrank.evaluation.workers import Cell, PeakMemory, failure, timed
from labelrank.kernels import folds
from labelrank.learners.base import LabelRanker
from labelrank.metrics import criteria
from labelrank.metrics.criteria import scores_of
from labelrank.relevance import check_relevance, from_classes, is_class_vector, relevant_part
from labelrank.table import is_frame, take
from labelrank.text import TextColumn, make_vectorizer

Settings = Mapping[str, Any]

INNER_FOLDS = 3
OF_CLASSES = ("exact_match", "hamming_score")
COSTS = ("fit_seconds", "predict_seconds", "peak_mib")
WARM_UP_ROWS = 40


@dataclass(frozen=True)
class Problem:
    """A data set with its folds; `inputs` are texts, a table or a matrix, `Y` relevance or codes.

    `roles` are those of the columns of a table.
    """

    name: str
    inputs: Any
    Y: Any
    has_texts: bool
    has_classes: bool
    splits: Sequence[tuple[Array, Array]]
    roles: Mapping[str, str] | None = None

    @property
    def has_table(self) -> bool:
        return is_frame(self.inputs)

    def rows(self, chosen: Array) -> Any:
        """Some of the inputs."""
        if self.has_table:
            return take(self.inputs, chosen)
        return [self.inputs[i] for i in chosen] if self.has_texts else self.inputs[chosen]


@dataclass
class Bench:
    """All that measuring a cell needs; a process that measures cells holds one."""

    problems: dict[str, Problem]
    learners: dict[str, Any]
    candidates: dict[str, list[Settings]]
    criteria: list[str]
    seed: int
    representation: str = "tfidf"
    max_terms: int | None = None
    _features: dict[tuple[str, int], tuple[Any, Any]] = field(default_factory=dict)
    _warm: set[tuple[str, str]] = field(default_factory=set)

    @property
    def tune_for(self) -> str:
        """Settings are chosen for the first criterion."""
        return self.criteria[0]

    def only(self, cell: Cell) -> "Bench":
        """The part that this cell needs."""
        return replace(
            self,
            problems={cell.dataset: self.problems[cell.dataset]},
            learners={cell.learner: self.learners[cell.learner]},
        )

    def measure(self, cell: Cell) -> dict[str, Any]:
        """Quality, time and memory of the cell, on one thread; or why there are none."""
        try:
            with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("once")
                record = self._measure(cell)
            sentences = {str(one.message).strip().split("\n")[0] for one in heard}
            return record | {"warnings": sorted(sentences)}
        except MemoryError:
            return failure(cell, "out of memory", is_lost=True)
        except Exception as error:  # the cells of other learners go on
            return failure(cell, _reason(error))

    def _measure(self, cell: Cell) -> dict[str, Any]:
        problem = self.problems[cell.dataset]
        train, test = problem.splits[cell.fold]
        learner = prepared(self.learners[cell.learner], problem)
        X_train, X_test = self._matrices(problem, cell.fold, learner)
        Y = _targets(problem, learner)
        chosen, tune_seconds = timed(lambda: self._tuned(cell, learner, X_train, Y[train]))
        learner.set_params(**chosen)
        if cell[:2] not in self._warm:
            self._warm.add(cell[:2])
            warm_up(learner, X_train, Y[train])
        with PeakMemory() as peak:
            fitted, fit_seconds = timed(lambda: learner.fit(X_train, Y[train]))
            answer, predict_seconds = timed(lambda: _answer(fitted, X_test, problem))
        return {
            **cell._asdict(),
            "folds": len(problem.splits),
            "seed": self.seed,
            "settings": dict(chosen),
            "fit_seconds": fit_seconds,
            "predict_seconds": predict_seconds,
            "tune_seconds": tune_seconds if self.candidates else None,
            "peak_mib": peak.mib,
            "criteria": self._criteria(fitted, X_test, problem.Y[test], answer, problem),
        }

    def _matrices(self, problem: Problem, fold: int, learner: Any) -> tuple[Any, Any]:
        """Training and test inputs; all that is learned to make them comes from the former."""
        parts = [problem.rows(rows) for rows in problem.splits[fold]]
        if problem.has_texts and reads_texts(learner):
            return TextColumn().transform(parts[0]), TextColumn().transform(parts[1])
        if not (problem.has_texts or problem.has_table):
            return _without_gaps(*parts)
        if (problem.name, fold) not in self._features:
            made = self._preparation(problem)
            Y = problem.Y[problem.splits[fold][0]]
            self._features = {
                (problem.name, fold): (made.fit_transform(parts[0], Y), made.transform(parts[1]))
            }
        return self._features[problem.name, fold]

    def _preparation(self, problem: Problem) -> Any:
        """What makes features of texts or of a table, not fitted yet."""
        if problem.has_table:
            from labelrank.table import TablePreparation

            return TablePreparation(
                problem.roles, representation=self.representation, max_terms=self.max_terms
            )
        return make_vectorizer(self.representation, max_terms=self.max_terms)

    def _tuned(self, cell: Cell, learner: Any, X: Any, Y: Any) -> Settings:
        """The candidate that is best by cross-validation within the training part."""
        if not self.candidates:
            return {}
        problem = self.problems[cell.dataset]
        inner = StratifiedFolds(INNER_FOLDS, random_state=self.seed)
        sign = -1.0 if smaller_is_better(self.tune_for) else 1.0

        def score(fitted: Any, X: Any, Y: Any) -> float:
            answer = _answer(fitted, X, problem)
            return sign * self._criteria(fitted, X, Y, answer, problem)[self.tune_for]

        search = GridSearchCV(
            learner,
            [{key: [value] for key, value in tried.items()} for tried in self.candidates[cell[1]]],
            scoring=score,
            cv=list(inner.split(X, indicator(Y) if problem.has_classes else Y)),
            refit=False,
            error_score="raise",
        )
        best: Settings = search.fit(X, Y).best_params_
        return best

    def _criteria(
        self, fitted: Any, X: Any, Y: Any, answer: tuple[Array | None, Any], problem: Problem
    ) -> dict[str, float]:
        """Every criterion of the answer, also those asked for that other packages have added."""
        scores, predicted = answer
        if problem.has_classes:
            asked = map(criteria.get, {*OF_CLASSES, *self.criteria})
            return {criterion.name: criterion(Y, predicted) for criterion in asked}
        if scores is None:
            scores = scores_of(fitted, X)
        members = (predicted.toarray() if sp.issparse(predicted) else np.asarray(predicted)) > 0
        values = metrics.evaluate(Y, scores, cuts(scores, members), members)
        values["exact_match"] = values["subset_accuracy"]
        values["hamming_score"] = 1.0 - values["hamming_loss"]
        for criterion in map(criteria.get, frozenset(self.criteria) - values.keys()):
            given = scores if criterion.needs == "scores" else members
            values[criterion.name] = criterion(Y, given)
        return values


class StratifiedFolds:
    """Cross-validation in which every fold has its share of every label.

    Iterative stratification (Sechidis et al. 2011), sparse and compiled: a million instances with
    a thousand labels take seconds. Usable wherever scikit-learn takes `cv`.

    Parameters
    ----------
    n_splits : int, default 10
    random_state : int, RandomState or None
        Decides between folds that are equally good; the same seed gives the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank.evaluation import StratifiedFolds
    >>> Y = np.array([[1, 0]] * 4 + [[0, 1]] * 2)
    >>> [Y[test].sum(axis=0).tolist() for _, test in StratifiedFolds(2, random_state=0).split(Y, Y)]
    [[2, 1], [2, 1]]
    """

    def __init__(self, n_splits: int = 10, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Int64, Int64]]:
        """Pairs (train, test) of row indices."""
        fold = self.assign(y)
        for f in range(self.n_splits):
            yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)

    def assign(self, Y: Any) -> Int64:
        """The fold of each row."""
        if is_class_vector(Y):
            relevant = from_classes(Y, np.unique(Y))
        else:
            relevant = relevant_part(check_relevance(Y))
        n = relevant.shape[0]
        if not 2 <= self.n_splits <= n:
            raise InputError(f"got {self.n_splits} folds for {n} instances; give 2 to {n} folds")
        noise = check_random_state(self.random_state).random_sample(n)
        columns = relevant.tocsc()
        fold = np.empty(n, np.int64)
        folds.assign(
            relevant.indptr.astype(np.int64), relevant.indices.astype(np.int32),
            columns.indptr.astype(np.int64), columns.indices.astype(np.int32),
            noise, self.n_splits, fold,
        )  # fmt: skip
        return fold


def _without_gaps(X_train: Any, X_test: Any) -> tuple[Any, Any]:
    """Matrices with the means of the training part in place of missing values."""
    if sp.issparse(X_train) or not (np.isnan(X_train).any() or np.isnan(X_test).any()):
        return X_train, X_test
    means = SimpleImputer(keep_empty_features=True).fit(X_train)
    return means.transform(X_train), means.transform(X_test)


def warm_up(learner: Any, X: Any, Y: Any) -> None:
    """Fit on a few rows: this loads compiled code off the clock; errors show in the timed fit."""
    few = slice(0, WARM_UP_ROWS)
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        clone(learner).fit(X[few], Y[few]).predict(X[few])


def _reason(error: Exception) -> str:
    """The error's own sentence; of one that is not meant to be read, also its kind and place."""
    sentence = " ".join(str(error).split())
    if isinstance(error, LabelrankError | ValueError) and sentence:
        return sentence
    place = traceback.extract_tb(error.__traceback__)[-1]
    named = f"{type(error).__name__}: {sentence}" if sentence else type(error).__name__
    return f"{named} ({Path(place.filename).name}, line {place.lineno})"


def prepared(learner: Any, problem: Problem) -> Any:
    """A copy of the learner for these targets, or an InputError if it cannot learn them."""
    learner = clone(learner)
    if reads_texts(learner) and not problem.has_texts:
        raise InputError(f"{problem.name} has no texts, but the learner reads nothing else")
    if not problem.has_classes:
        return learner
    if "targets" not in learner.get_params(deep=False):
        raise InputError(
            f"{problem.name} has targets of several classes each, not labels; "
            "use classifier chains (IC, CC, PCC, MCC, VCC, MsCC, VsCC, ECC)"
        )
    return learner.set_params(targets="classes")


def reads_texts(learner: Any) -> bool:
    """True if the learner wants the texts themselves, not their terms."""
    return bool(get_tags(learner).input_tags.string)


def smaller_is_better(criterion: str) -> bool:
    """True for losses, counts, times and memory."""
    return criterion in COSTS or criteria.get(criterion).direction != criteria.LARGER


def _answer(fitted: Any, X: Any, problem: Problem) -> tuple[Array | None, Any]:
    """Scores, if the learner gives them with its answer, and the answer: sets or class codes."""
    if isinstance(fitted, LabelRanker) and not problem.has_classes:
        return fitted.answer(X)
    return None, fitted.predict(X)


def cuts(scores: Array, members: Array) -> Any:
    """The threshold in the scores of each row: 0 if calibrated, else between set and rest."""
    if np.array_equal(members, scores > 0):
        return 0.0
    lowest = np.where(members, scores, np.inf).min(axis=1)
    highest = np.where(members, -np.inf, scores).max(axis=1)
    lowest = np.where(np.isinf(lowest), highest + 2.0, lowest)
    highest = np.where(np.isinf(highest), lowest - 2.0, highest)
    return np.where(lowest > highest, (lowest + highest) / 2, 0.0)


def indicator(codes: Array) -> sp.csr_array:
    """One column for each class of each target, so that folds have their share of all of them."""
    blocks = [
        column[:, None] == np.unique(column[~np.isnan(column)])
        for column in np.asarray(codes, np.float64).T
    ]
    return sp.csr_array(np.hstack(blocks).astype(np.float64))


def _targets(problem: Problem, learner: Any) -> Any:
    """Relevance for label rankers; for scikit-learn's classifiers a 0/1 matrix."""
    if problem.has_classes or isinstance(learner, LabelRanker):
        return problem.Y
    return (problem.Y > 0).toarray().astype(np.int64)
