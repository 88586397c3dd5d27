"""How learners are compared on PRO loss: data, splits, the choice of C, and what is measured.
All learners get the same scaled features, with a constant in place of intercepts, and one thread
each: neither losses nor times depend on how many cells are measured side by side."""

import statistics
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import labelrank
from labelrank.errors import InputError
from labelrank.experiments.protocol import with_known

if TYPE_CHECKING:
    from labelrank.evaluation.workers import Cell

CHOSEN_C = {
    **dict.fromkeys(("ProSVM", "ProSVM-A", "ProSVM'", "ProSVM-A'", "RankSVM", "BSVM"), "C"),
    "RankSVM-R": "selector__C",
}
PRIMED = {"ProSVM'": "ProSVM", "ProSVM-A'": "ProSVM-A", "GMLC'": "GMLC"}
# RankSVM-R cuts as RankSVM does, so that the two share a C.
_SEARCHED = {"RankSVM-R": "RankSVM"}
_SPARSE_BELOW = 0.25

CRITERIA = {
    "Hamming loss": lambda found: found["hamming_loss"],
    "Ranking loss": lambda found: found["ranking_loss"],
    "One-error": lambda found: found["one_error"],
    "1 - average precision": lambda found: found["average_precision_loss"],
    "Coverage": lambda found: found["coverage"],
    "1 - subset accuracy": lambda found: 1 - found["subset_accuracy"],
    "1 - F1": lambda found: 1 - found["example_f1"],
    "1 - macro F1": lambda found: 1 - found["macro_f1"],
    "1 - micro F1": lambda found: 1 - found["micro_f1"],
}


@dataclass(frozen=True)
class Effort:
    """How much is spent: values of C, folds to choose it, splits of sets without official one."""

    grid: tuple[float, ...]
    inner_folds: int
    outer_folds: int
    most_splits: int
    rounds: int
    epochs: int | None = None


FULL = Effort(tuple(2.0**e for e in range(-10, 11, 2)), 10, 10, 10, 1000)
QUICK = Effort(tuple(2.0**e for e in range(-6, 7, 3)), 3, 3, 1, 200, 1000)


class Split(NamedTuple):
    """One training and test part, ready to be learned."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


@dataclass
class Outcome:
    """What one learner did: PRO loss, seconds to fit and criteria by split, and the C taken."""

    C: float | None = None
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    criteria: list[dict[str, float]] = field(default_factory=list)

    @property
    def loss(self) -> float:
        return sum(self.losses) / len(self.losses)

    @property
    def time(self) -> float:
        return sum(self.seconds) / len(self.seconds)

    def criterion(self, name: str) -> float:
        return sum(found[name] for found in self.criteria) / len(self.criteria)

    @property
    def note(self) -> str:
        """The deviation over the splits, C, and the time."""
        spread = f"±{statistics.stdev(self.losses):.4f}, " if len(self.losses) > 1 else ""
        taken = "" if self.C is None else f"C={self.C:g}, "
        return f"{spread}{taken}{self.time:.2g} s"


@lru_cache(maxsize=1)
def splits_of(name: str, effort: Effort, seed: int, *, graded: bool) -> list[Split]:
    """Splits of a set with real grades, or of a plain set with a synthetic order."""
    import numpy as np
    import scipy.sparse as sp

    data = labelrank.datasets.load(name)
    X = data.texts if data.X is None else data.X
    if data.name == "genbase":  # its first feature is the name of the protein
        X = X[:, [j for j, feature in enumerate(data.feature_names) if feature != "protein"]]
    if data.X is not None and not sp.issparse(X) and np.mean(X != 0) < _SPARSE_BELOW:
        X = sp.csr_array(X)
    if graded:
        Y = _grades(name, data.Y)
    else:
        Y = labelrank.datasets.synthesize_order(X, data.Y, random_state=seed).Y
    if data.train is None:
        folds = labelrank.evaluation.StratifiedFolds(effort.outer_folds, random_state=seed)
        parts = list(folds.split(Y, Y))[: effort.most_splits]
    else:
        rows, cut = np.arange(data.n_instances), data.train.n_instances
        parts = [(rows[:cut], rows[cut:])]
    return [_split(X, Y, train, test) for train, test in parts]


def _grades(name: str, Y: Any) -> Any:
    """Grades of the relevant labels: those above the mean of the instance, where all have one."""
    import numpy as np

    from labelrank.relevance import check_relevance

    if name == "wq":
        return Y
    dense = Y.toarray()
    return check_relevance(np.where(dense > dense.mean(axis=1, keepdims=True), dense, 0.0))


def _split(X: Any, Y: Any, train: Any, test: Any) -> Split:
    """The features as all learners get them: scaled, with a constant."""
    import numpy as np
    import scipy.sparse as sp
    from sklearn.preprocessing import StandardScaler, normalize

    if isinstance(X, list):
        terms = labelrank.text.TextVectorizer("tfidf", min_df=2)
        parts = [terms.fit_transform([X[i] for i in train]), terms.transform([X[i] for i in test])]
    elif sp.issparse(X):
        parts = [normalize(X[train]), normalize(X[test])]
    else:
        scaler = StandardScaler().fit(X[train])
        parts = [scaler.transform(X[train]), scaler.transform(X[test])]
    ones = [np.ones((part.shape[0], 1)) for part in parts]
    learned, asked = (
        sp.csr_array(sp.hstack(pair)) if sp.issparse(pair[0]) else np.hstack(pair)
        for pair in zip(parts, ones, strict=True)
    )
    return Split(learned, Y[train], asked, Y[test])


def made(method: str, effort: Effort, seed: int, jobs: int | None, **settings: Any) -> Any:
    """The learner of that name; primed ones do without the order of the relevant labels."""
    learner = labelrank.catalog.make(PRIMED.get(method, method))
    wanted: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "n_rounds": effort.rounds}
    wanted |= dict.fromkeys(("selector__random_state", "orderer__random_state"), seed)
    wanted |= dict.fromkeys(("fit_intercept", "selector__fit_intercept"), False)
    if method in PRIMED:
        wanted |= {"ordered": False, "levels": "grades"}
    if effort.epochs is not None and getattr(learner, "until_no_error", False):
        wanted |= {"until_no_error": False, "epochs": effort.epochs}
    return with_known(learner, **wanted | settings)


def compare(
    splits: list[Split], methods: Sequence[str], effort: Effort, seed: int
) -> Iterator[tuple[str, Outcome]]:
    """Each method's outcome over the splits; all methods choose on and learn from the same."""
    from labelrank.evaluation.cell import warm_up

    chosen: dict[str, float] = {}
    for method in methods:
        settings, searched = {}, _SEARCHED.get(method, method)
        if method in CHOSEN_C:
            if searched not in chosen:
                chosen[searched] = _best_C(searched, splits[0], effort, seed)
            settings = {CHOSEN_C[method]: chosen[searched]}
        outcome = Outcome(chosen.get(searched))
        first = splits[0]
        warm_up(made(method, QUICK, seed, 1), first.X, _seen_by(method, first.Y))
        for split in splits:
            _measure(made(method, effort, seed, 1, **settings), method, split, outcome)
        yield method, outcome


def _measure(learner: Any, method: str, split: Split, outcome: Outcome) -> None:
    start = time.process_time()
    _fit(learner, split.X, _seen_by(method, split.Y))
    outcome.seconds.append(time.process_time() - start)
    scores = learner.decision_function(split.X_test)
    outcome.losses.append(float(labelrank.metrics.pro_loss(split.Y_test, scores)))
    found = labelrank.metrics.evaluate(_plain(split.Y_test), scores)
    outcome.criteria.append({name: take(found) for name, take in CRITERIA.items()})


def _fit(learner: Any, X: Any, Y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(X, Y)


def _seen_by(method: str, Y: Any) -> Any:
    return _plain(Y) if method in PRIMED else Y


def _plain(Y: Any) -> Any:
    """Relevance without grades."""
    plain = Y.copy()
    plain.data = (Y.data > 0).astype(float)
    return plain


def _best_C(method: str, split: Split, effort: Effort, seed: int) -> float:
    """The C with the least mean PRO loss over folds of the training part; the least of equals."""
    Y = _seen_by(method, split.Y)
    totals = dict.fromkeys(effort.grid, 0.0)
    n_folds = min(effort.inner_folds, Y.shape[0])
    folds = labelrank.evaluation.StratifiedFolds(n_folds, random_state=seed)
    for train, test in folds.split(Y, Y):
        for C in effort.grid:
            learner = made(method, effort, seed, 1, C=C, tol=1e-2, max_iter=200)
            scores = _fit(learner, split.X[train], Y[train]).decision_function(split.X[test])
            totals[C] += float(labelrank.metrics.pro_loss(Y[test], scores))
    return min(totals, key=lambda C: (totals[C], C))


@dataclass(frozen=True)
class Comparison:
    """A bench for `evaluation.workers`; methods that share a search for C are one cell."""

    methods: tuple[str, ...]
    effort: Effort
    seed: int
    graded: bool

    def cells(self, sets: Sequence[str]) -> "list[Cell]":
        from labelrank.evaluation.workers import Cell

        leaders = dict.fromkeys(map(self._leader, self.methods))
        return [Cell(name, method, 0) for name in sets for method in leaders]

    def _leader(self, method: str) -> str:
        searched = _SEARCHED.get(method, method)
        return searched if searched in self.methods else method

    def only(self, cell: "Cell") -> "Comparison":
        """All of it: it is small."""
        return self

    def measure(self, cell: "Cell") -> dict[str, Any]:
        """The outcome of each method of the cell, or the "error" met."""
        from threadpoolctl import threadpool_limits

        methods = [method for method in self.methods if self._leader(method) == cell.learner]
        try:
            with threadpool_limits(limits=1):
                splits = splits_of(cell.dataset, self.effort, self.seed, graded=self.graded)
                return dict(compare(splits, methods, self.effort, self.seed))
        except Exception as error:
            return {"error": error}


def outcomes(
    comparison: Comparison, sets: Sequence[str], jobs: int | None
) -> Iterator[tuple[str, str, Outcome]]:
    """Set, method and outcome, in order, as soon as all before it are there."""
    from joblib import effective_n_jobs

    from labelrank.evaluation.workers import measured

    cells = comparison.cells(sets)
    waiting: dict[Cell, dict[str, Any]] = {}
    with closing(measured(comparison, cells, jobs=effective_n_jobs(jobs), memory=False)) as done:
        for cell in cells:
            while cell not in waiting:
                waiting.update([next(done)])
            found = waiting.pop(cell)
            error = found.get("error")
            if error is not None:
                raise error if isinstance(error, Exception) else InputError(f"{cell}: {error}")
            for method, outcome in found.items():
                yield cell.dataset, method, outcome
