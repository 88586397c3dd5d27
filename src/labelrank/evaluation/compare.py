"""Learners compared: each on every fold of every data set, with time and memory beside quality."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from labelrank import datasets, metrics
from labelrank.datasets.dataset import join
from labelrank.errors import InputError, LabelrankError
from labelrank.evaluation.cell import (
    COSTS,
    OF_CLASSES,
    Bench,
    Problem,
    Settings,
    StratifiedFolds,
    indicator,
    prepared,
)
from labelrank.evaluation.store import CellStore, fingerprint
from labelrank.evaluation.workers import Cell, measured
from labelrank.text import make_vectorizer

if TYPE_CHECKING:
    import polars as pl

Grid = Mapping[str, Sequence[Any]]

USUAL = ("micro_f1", "macro_f1", "precision_at_1", "ranking_loss", "subset_accuracy")
_DO_NOT_MATTER = ("n_jobs", "verbose")


def compare(
    data: Any,
    learners: Mapping[str, Any],
    *,
    criteria: Sequence[str] | None = None,
    cv: int = 10,
    split: str | None = None,
    tune: Mapping[str, Grid] | None = None,
    seed: int = 0,
    jobs: int = 1,
    memory: bool = False,
    out: str | os.PathLike[str] | None = None,
    retry: bool = False,
    representation: str = "tfidf",
    max_terms: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> pl.DataFrame:
    """Measure learners on the folds of data sets.

    Every cell (data set, learner, fold) runs on one thread, so that times can be compared. Terms
    of texts, features of tables and means in place of missing values come from the training part
    of the fold alone; the time for this is not counted.

    A learner that fails on a fold loses that cell alone: its values are NaN, `reason` says why,
    and a warning says that there are such cells. Raise InputError if all cells fail.

    Parameters
    ----------
    data : Dataset or str, or a sequence of them
        Data sets, or their names or paths. Targets of several classes need learners with a
        parameter `targets` (the classifier chains).
    learners : mapping of name to estimator
        They are cloned, never changed.
    criteria : sequence of str or None
        Names of `metrics.evaluate`, or "exact_match" and "hamming_score". None takes the usual.
    cv : int, default 10
        Stratified folds, the same ones for all learners.
    split : {"official"} or None
        Use the train and test part of the data sets instead of folds.
    tune : mapping of name to grid, or None
        Choose each learner's settings by cross-validation within the training part, by the first
        of the criteria. All learners try the same number of settings, that of the smallest grid;
        as many are drawn from larger grids.
    seed : int
        Decides the folds and what is drawn from grids.
    jobs : int, default 1
        Cells measured side by side, each in a process of its own.
    memory : bool, default False
        Give every cell a new process, so that no earlier cell changes its peak.
    out : path or None
        Folder of `cells.jsonl`. Cells found there are not measured again if data, settings and
        code are the same. This includes cells that failed, unless the machine was the reason (out
        of memory, a killed process).
    retry : bool, default False
        Measure again the failed cells that are found in `out`.
    representation, max_terms : see `text.TextVectorizer`
    progress : function or None
        Called with the number of finished and of all cells.

    Returns
    -------
    polars.DataFrame
        Columns dataset, learner, fold, criterion, value, reason; one row per cell and criterion,
        where fit_seconds, predict_seconds and peak_mib are criteria as well.

    Examples
    --------
    >>> from labelrank import Rocchio
    >>> from labelrank.evaluation import compare
    >>> found = compare("debtags-sample", {"Rocchio": Rocchio()}, cv=2, criteria=["micro_f1"])
    >>> found.columns
    ['dataset', 'learner', 'fold', 'criterion', 'value', 'reason']
    >>> found.filter(criterion="micro_f1").height
    2
    """
    data = [data] if isinstance(data, str | os.PathLike | datasets.Dataset) else list(data)
    if not data:
        raise InputError("got no data set; give at least one")
    problems = [_problem(one, cv, split, seed) for one in data]
    chosen = _criteria(criteria, problems)
    bench = Bench(
        problems={problem.name: problem for problem in problems},
        learners=dict(learners),
        candidates=_candidates(tune, learners, seed),
        criteria=chosen,
        seed=seed,
        representation=representation,
        max_terms=max_terms,
    )
    _check(bench, problems, jobs)
    known = _fingerprints(bench)
    with nullcontext(None) if out is None else CellStore(out) as store:
        there = {} if store is None else {
            mark: one for mark, one in store.done.items()
            if (not retry if "error" in one else one["criteria"].keys() >= set(chosen))
        }  # fmt: skip
        records = {cell: there[mark] for cell, mark in known.items() if mark in there}
        _run(bench, known, records, store, jobs, memory, progress)
    _tell_failures({cell: records[cell] for cell in known}, is_stored=out is not None)
    return _frame([records[cell] for cell in known], chosen)


def _run(
    bench: Bench,
    known: dict[Cell, str],
    records: dict[Cell, dict[str, Any]],
    store: CellStore | None,
    jobs: int,
    memory: bool,
    progress: Callable[[int, int], Any] | None,
) -> None:
    """Measure the known cells that have no record yet."""
    tell = progress or (lambda done, total: None)
    tell(len(records), len(known))
    left = [cell for cell in known if cell not in records]
    told: set[str] = set()
    with closing(measured(bench, left, jobs=jobs, memory=memory)) as outcomes:
        for cell, found in outcomes:
            records[cell] = {"fingerprint": known[cell], **found}
            for sentence in (f"{cell.learner} on {cell.dataset}: {w}" for w in found["warnings"]):
                if sentence not in told:  # in an earlier fold
                    told.add(sentence)
                    warnings.warn(sentence, stacklevel=3)
            if store is not None and not found.get("lost"):
                store.add(records[cell])
            tell(len(records), len(known))


def _tell_failures(records: Mapping[Cell, Mapping[str, Any]], *, is_stored: bool) -> None:
    """A warning if cells failed; an error if none is left to compare."""
    failed = [(cell, one["error"]) for cell, one in records.items() if "error" in one]
    if not failed:
        return
    first = "{}: {}".format(*failed[0])
    if len(failed) == len(records):
        again = "; they are stored: --retry (retry=True) measures them again" if is_stored else ""
        raise InputError(f"all {len(failed)} cells failed, first {first}{again}")
    sentence = f"{len(failed)} of {len(records)} cells failed, first {first}"
    warnings.warn(sentence, FitFailedWarning, stacklevel=3)


def known_criteria() -> list[str]:
    """The names that `compare` takes as criteria of data with labels."""
    return [*metrics.criteria.names(), *COSTS]


def equal_candidates(grids: Mapping[str, Grid], seed: int = 0) -> dict[str, list[Settings]]:
    """As many settings from each grid as the smallest one holds, drawn without repetition."""
    every = {name: list(ParameterGrid(dict(grid))) for name, grid in grids.items()}
    budget = min(map(len, every.values()))
    found = {}
    for name, tried in every.items():
        drawn = check_random_state(seed).permutation(len(tried))[:budget]
        found[name] = [tried[i] for i in sorted(drawn)]
    return found


def _candidates(
    tune: Mapping[str, Grid] | None, learners: Mapping[str, Any], seed: int
) -> dict[str, list[Settings]]:
    if tune is None:
        return {}
    without = [name for name in learners if not tune.get(name)]
    if without:
        raise InputError(f"got no grid for {', '.join(without)}; give one, or do not tune")
    return equal_candidates({name: tune[name] for name in learners}, seed)


def _problem(dataset: Any, cv: int, split: str | None, seed: int) -> Problem:
    if not isinstance(dataset, datasets.Dataset):
        dataset = datasets.load(dataset)
    if not dataset.label_names:
        raise InputError(f"{dataset.name} has no labels; name the column that holds them")
    if split is not None:
        dataset, rows = _official(dataset, split)
    has_classes = dataset.target_classes is not None
    if split is None:
        balanced = indicator(dataset.Y) if has_classes else dataset.Y
        rows = list(StratifiedFolds(cv, random_state=seed).split(None, balanced))
    has_texts, inputs = dataset.texts is not None, dataset.documents
    if inputs is dataset.X:
        inputs = sp.csr_array(inputs) if sp.issparse(inputs) else np.asarray(inputs)
    return Problem(
        dataset.name, inputs, dataset.Y, has_texts, has_classes, rows, dataset.roles or None
    )


def _official(dataset: Any, split: str) -> tuple[Any, list[Any]]:
    if split != "official":
        raise InputError(f"got split={split!r}; use 'official', or folds by cv")
    if dataset.train is None or dataset.test is None:
        raise InputError(f"{dataset.name} has no official split; use cross-validation")
    n = dataset.train.n_instances
    whole = join({"train": dataset.train, "test": dataset.test}, dataset.name)
    return whole, [(np.arange(n), np.arange(n, whole.n_instances))]


def _criteria(asked: Sequence[str] | None, problems: list[Problem]) -> list[str]:
    with_classes = [problem.name for problem in problems if problem.has_classes]
    if asked is None:
        return list(OF_CLASSES if with_classes else USUAL)
    chosen = [metrics.criteria.get(name) for name in asked if name not in COSTS]
    for criterion in chosen:
        if with_classes and criterion.needs != "classes":
            raise InputError(
                f"{with_classes[0]} has targets of several classes each, which {criterion.name} "
                f"cannot compare; use {' or '.join(OF_CLASSES)}"
            )
    quality = [criterion.name for criterion in chosen]
    if not quality:
        raise InputError("got no criterion of quality; give at least one beside time and memory")
    return quality


def _check(bench: Bench, problems: list[Problem], jobs: int) -> None:
    """Refuse beforehand what would fail after hours."""
    if not bench.learners:
        raise InputError("got no learner; give at least one")
    if jobs < 1:
        raise InputError(f"got jobs={jobs}; give at least 1")
    if len(bench.problems) < len(problems):
        raise InputError("got two data sets of one name; give each once, under its own name")
    make_vectorizer(bench.representation, max_terms=bench.max_terms)
    for problem in problems:
        for name, learner in bench.learners.items():
            try:
                made = prepared(learner, problem)
                for settings in bench.candidates.get(name, []):
                    made.set_params(**settings)
            except (LabelrankError, ValueError) as error:
                raise InputError(f"{name} cannot be compared: {error}") from error


def _fingerprints(bench: Bench) -> dict[Cell, str]:
    """Every cell with a digest of all that decides its result, learners of a fold side by side."""
    marks = {}
    for problem in bench.problems.values():
        content = joblib.hash([_arrays(problem.inputs), _arrays(problem.Y)])
        is_made = problem.has_texts or problem.has_table
        terms = [bench.representation, bench.max_terms, problem.roles] if is_made else None
        for fold, rows in enumerate(problem.splits):
            about = [content, joblib.hash(rows), terms, bench.seed, Bench]
            for name, learner in bench.learners.items():
                cell = Cell(problem.name, name, fold)
                tuning = [bench.candidates[name], bench.tune_for] if bench.candidates else None
                marks[cell] = fingerprint(cell, about, type(learner), _settings(learner), tuning)
    return marks


def _settings(learner: Any) -> dict[str, Any]:
    every = learner.get_params(deep=True)
    return {key: every[key] for key in every if key.split("__")[-1] not in _DO_NOT_MATTER}


def _arrays(matrix: Any) -> list[Any]:
    """The values of a matrix, whatever else a sparse one remembers of itself; or texts."""
    if sp.issparse(matrix):
        return [matrix.shape, matrix.indptr, matrix.indices, matrix.data]
    return [matrix]


def _frame(records: list[dict[str, Any]], criteria: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    columns = {"dataset": pl.String, "learner": pl.String, "fold": pl.Int64,
               "criterion": pl.String, "value": pl.Float64, "reason": pl.String}  # fmt: skip
    rows = []
    for record in records:
        cell = [record[key] for key in ("dataset", "learner", "fold")]
        reason = record.get("error")
        values = {**record.get("criteria", {}), **{key: record.get(key) for key in COSTS}}
        for name in [*criteria, *COSTS]:
            rows.append((*cell, name, values[name] if reason is None else np.nan, reason))
    return pl.DataFrame(rows, schema=columns, orient="row")
