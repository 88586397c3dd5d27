"""One cell of a comparison: a learner taught the training part of a fold, asked its test part."""

import traceback
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from labelrank import metrics
from labelrank._types import Array
from labelrank.errors import InputError, LabelrankError
from labelrank.evaluation.splits import StratifiedFolds
from labelrank.evaluation.usage import PeakMemory, timed
from labelrank.learners.base import LabelRanker
from labelrank.metrics import criteria
from labelrank.metrics.criteria import scores_of
from labelrank.text import TextColumn, make_vectorizer

Settings = Mapping[str, Any]

INNER_FOLDS = 3
OF_CLASSES = ("exact_match", "hamming_score")
COSTS = ("fit_seconds", "predict_seconds", "peak_mib")
WARM_UP_ROWS = 40


class Cell(NamedTuple):
    """Which learner on which fold of which data set."""

    dataset: str
    learner: str
    fold: int

    def __str__(self) -> str:
        return f"{self.learner} on {self.dataset}, fold {self.fold + 1}"


@dataclass(frozen=True)
class Problem:
    """A data set with its folds; `inputs` are a matrix or texts, `Y` relevance or class codes."""

    name: str
    inputs: Any
    Y: Any
    has_texts: bool
    has_classes: bool
    splits: Sequence[tuple[Array, Array]]


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
    _features: dict[tuple[str, int], Any] = field(default_factory=dict)
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
        """Training and test inputs; terms and their weights come from the training texts only."""
        train, test = problem.splits[fold]
        if not problem.has_texts:
            return _filled(problem.inputs[train], problem.inputs[test])
        parts = [[problem.inputs[i] for i in rows] for rows in (train, test)]
        if reads_texts(learner):
            return TextColumn().transform(parts[0]), TextColumn().transform(parts[1])
        if (problem.name, fold) not in self._features:
            terms = make_vectorizer(self.representation, max_terms=self.max_terms)
            made = terms.fit_transform(parts[0]), terms.transform(parts[1])
            self._features = {(problem.name, fold): made}
        found: tuple[Any, Any] = self._features[problem.name, fold]
        return found

    def _tuned(self, cell: Cell, learner: Any, X: Any, Y: Any) -> Settings:
        """The candidate that is best by cross-validation within the training part."""
        if not self.candidates:
            return {}
        problem = self.problems[cell.dataset]
        folds = StratifiedFolds(INNER_FOLDS, random_state=self.seed)
        sign = -1.0 if smaller_is_better(self.tune_for) else 1.0

        def score(fitted: Any, X: Any, Y: Any) -> float:
            answer = _answer(fitted, X, problem)
            return sign * self._criteria(fitted, X, Y, answer, problem)[self.tune_for]

        search = GridSearchCV(
            learner,
            [{key: [value] for key, value in tried.items()} for tried in self.candidates[cell[1]]],
            scoring=score,
            cv=list(folds.split(X, indicator(Y) if problem.has_classes else Y)),
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


def warm_up(learner: Any, X: Any, Y: Any) -> None:
    """Fit on a few rows: compiled code is made or loaded at its first use, not on the clock.

    A learner that fails here fails, and says why, in the fit that is timed.
    """
    few = slice(0, WARM_UP_ROWS)
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        clone(learner).fit(X[few], Y[few]).predict(X[few])


def failure(cell: Cell, reason: str, *, is_lost: bool = False) -> dict[str, Any]:
    """The record of a cell without values; a lost one fell to the machine, not to its learner.

    >>> failure(Cell("yeast", "NB", 0), "got negative values")["error"]
    'got negative values'
    """
    return {**cell._asdict(), "error": reason, "lost": is_lost, "warnings": []}


def _reason(error: Exception) -> str:
    """The error's own sentence; of one that is not meant to be read, also its kind and place."""
    sentence = " ".join(str(error).split())
    if isinstance(error, LabelrankError | ValueError) and sentence:
        return sentence
    place = traceback.extract_tb(error.__traceback__)[-1]
    named = f"{type(error).__name__}: {sentence}" if sentence else type(error).__name__
    return f"{named} ({Path(place.filename).name}, line {place.lineno})"


def _filled(X_train: Any, X_test: Any) -> tuple[Any, Any]:
    """Missing values (NaN) of a dense matrix replaced by the means of the training part."""
    if sp.issparse(X_train) or not (np.isnan(X_train).any() or np.isnan(X_test).any()):
        return X_train, X_test
    means = SimpleImputer(keep_empty_features=True).fit(X_train)
    return means.transform(X_train), means.transform(X_test)


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
    """True for losses, counts, times and memory.

    >>> smaller_is_better("ranking_loss"), smaller_is_better("micro_f1")
    (True, False)
    """
    return criterion in COSTS or criteria.get(criterion).direction != criteria.LARGER


def _answer(fitted: Any, X: Any, problem: Problem) -> tuple[Array | None, Any]:
    """Scores, if the learner gives them with its answer, and the answer: sets or class codes."""
    if isinstance(fitted, LabelRanker) and not problem.has_classes:
        return fitted.answer(X)
    return None, fitted.predict(X)


def cuts(scores: Array, members: Array) -> Any:
    """The threshold in the scores of each row: 0 if calibrated, else between set and rest.

    >>> cuts(np.array([[3.0, 2.0, 1.0]]), np.array([[True, False, False]])).tolist()
    [2.5]
    """
    if np.array_equal(members, scores > 0):
        return 0.0
    lowest = np.where(members, scores, np.inf).min(axis=1)
    highest = np.where(members, -np.inf, scores).max(axis=1)
    lowest = np.where(np.isinf(lowest), highest + 2.0, lowest)
    highest = np.where(np.isinf(highest), lowest - 2.0, highest)
    return np.where(lowest > highest, (lowest + highest) / 2, 0.0)


def indicator(codes: Array) -> sp.csr_array:
    """One column for each class of each target, so that folds have their share of all of them.

    >>> indicator(np.array([[0, 2], [1, 2]])).toarray().astype(int).tolist()
    [[1, 0, 1], [0, 1, 1]]
    """
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
