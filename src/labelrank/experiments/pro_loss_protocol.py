"""How learners are compared on PRO loss: data, splits, the choice of C, and what is measured.

All learners get the same features: dense values scaled to mean 0 and standard deviation 1 (by the
training part), sparse rows to length 1, and a constant feature, so that linear scores have an
intercept. C is chosen by cross-validated PRO loss on the (first) training part. A fit is timed in
seconds of computing on one thread, compiled code loaded, so that fits side by side do not disturb.
"""

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from labelrank.errors import LabelrankError

CHOSEN_C = {
    **dict.fromkeys(("ProSVM", "ProSVM-A", "ProSVM'", "ProSVM-A'", "RankSVM", "BSVM"), "C"),
    "RankSVM-R": "selector__C",
}
PRIMED = {"ProSVM'": "ProSVM", "ProSVM-A'": "ProSVM-A", "GMLC'": "GMLC"}
# RankSVM-R cuts as RankSVM does, so that the two share a C.
_SEARCHED = {"RankSVM-R": "RankSVM"}
_SPARSE_BELOW = 0.25
_WARM_UP_ROWS = 40


@dataclass(frozen=True)
class Effort:
    """How much is spent: values of C, folds to choose it, folds of sets without official split.

    `most_splits` of the latter are measured. Perceptrons that run until no error stop after
    `epochs`, if given (epochs without error change nothing).
    """

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
    """What one learner did: PRO loss and seconds to fit, a split each, criteria, the C taken."""

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
        import statistics

        spread = f"±{statistics.stdev(self.losses):.4f}, " if len(self.losses) > 1 else ""
        taken = "" if self.C is None else f"C={self.C:g}, "
        return f"{spread}{taken}{self.time:.2g} s"


@lru_cache(maxsize=1)
def ordered_splits(name: str, effort: Effort, seed: int) -> tuple[list[Split], tuple[str, ...]]:
    """Splits of a plain set with a synthetic order, and the names of the rankers that made it."""
    from labelrank import datasets

    data = datasets.load(name)
    X = _features(data)
    made = datasets.synthesize_order(X, data.Y, random_state=seed)
    rows = _official(data) or _folds(made.Y, effort, seed)
    return [_split(X, made.Y, *parts) for parts in rows], made.scorers


@lru_cache(maxsize=1)
def graded_splits(name: str, effort: Effort, seed: int) -> list[Split]:
    """Splits of a set with real grades.

    Where no label of an instance is ever irrelevant (distributions, rankings), or nearly so
    (affective text), a label counts as relevant if its grade is above the mean of the instance.
    """
    from labelrank import datasets

    data = datasets.load(name)
    Y = data.Y if name == "wq" else _above_the_mean(data.Y)
    X = data.texts if data.X is None else _features(data)
    rows = _official(data) or _folds(Y, effort, seed)
    return [_split(X, Y, *parts) for parts in rows]


def _features(data: Any) -> Any:
    """The matrix of a set; one with few values other than 0 is made sparse."""
    import numpy as np
    import scipy.sparse as sp

    X = data.X
    if data.name == "genbase":  # its first feature is the name of the protein
        X = X[:, [j for j, name in enumerate(data.feature_names) if name != "protein"]]
    if not sp.issparse(X) and np.mean(X != 0) < _SPARSE_BELOW:
        X = sp.csr_array(X)
    return X


def _official(data: Any) -> list[tuple[Any, Any]]:
    import numpy as np

    if data.train is None:
        return []
    rows, cut = np.arange(data.n_instances), data.train.n_instances
    return [(rows[:cut], rows[cut:])]


def _folds(Y: Any, effort: Effort, seed: int) -> list[tuple[Any, Any]]:
    from labelrank.evaluation import StratifiedFolds

    folds = StratifiedFolds(effort.outer_folds, random_state=seed)
    return list(folds.split(Y, Y))[: effort.most_splits]


def _above_the_mean(Y: Any) -> Any:
    import numpy as np

    from labelrank.relevance import check_relevance

    dense = Y.toarray()
    return check_relevance(np.where(dense > dense.mean(axis=1, keepdims=True), dense, 0.0))


def _split(X: Any, Y: Any, train: Any, test: Any) -> Split:
    learned, asked = _scaled(X, train, test)
    return Split(learned, Y[train], asked, Y[test])


def _scaled(X: Any, train: Any, test: Any) -> tuple[Any, Any]:
    import scipy.sparse as sp
    from sklearn.preprocessing import StandardScaler, normalize

    if isinstance(X, list):
        from labelrank.text import TextVectorizer

        terms = TextVectorizer("tfidf", min_df=2)
        parts = [terms.fit_transform([X[i] for i in train]), terms.transform([X[i] for i in test])]
    elif sp.issparse(X):
        parts = [normalize(X[train]), normalize(X[test])]
    else:
        scaler = StandardScaler().fit(X[train])
        parts = [scaler.transform(X[train]), scaler.transform(X[test])]
    learned, asked = (_with_constant(part) for part in parts)
    return learned, asked


def _with_constant(X: Any) -> Any:
    import numpy as np
    import scipy.sparse as sp

    one = np.ones((X.shape[0], 1))
    return sp.csr_array(sp.hstack([X, one])) if sp.issparse(X) else np.hstack([X, one])


def made(method: str, effort: Effort, seed: int, jobs: int | None, **settings: Any) -> Any:
    """The learner of that name; primed ones do without the order of the relevant labels."""
    from labelrank import catalog

    learner = catalog.make(PRIMED.get(method, method))
    wanted: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "n_rounds": effort.rounds}
    wanted |= dict.fromkeys(("selector__random_state", "orderer__random_state"), seed)
    wanted |= dict.fromkeys(("fit_intercept", "selector__fit_intercept"), False)
    if method in PRIMED:
        wanted |= {"ordered": False, "levels": "grades"}
    if effort.epochs is not None and getattr(learner, "until_no_error", False):
        wanted |= {"until_no_error": False, "epochs": effort.epochs}
    known = learner.get_params(deep=True)
    return learner.set_params(**{k: v for k, v in (wanted | settings).items() if k in known})


def compare(
    splits: list[Split], methods: tuple[str, ...], effort: Effort, seed: int
) -> Iterator[tuple[str, Outcome]]:
    """Each method's outcome over the splits; all methods choose on and learn from the same."""
    chosen: dict[str, float] = {}
    for method in methods:
        settings, searched = {}, _SEARCHED.get(method, method)
        if method in CHOSEN_C:
            if searched not in chosen:
                chosen[searched] = _best_C(searched, splits[0], effort, seed)
            settings = {CHOSEN_C[method]: chosen[searched]}
        outcome = Outcome(chosen.get(searched))
        _warm_up(method, splits[0], seed)
        for split in splits:
            _measure(made(method, effort, seed, 1, **settings), method, split, outcome)
        yield method, outcome


def _warm_up(method: str, split: Split, seed: int) -> None:
    """Compiled code is made or loaded at its first use in a process: not on the clock."""
    few = slice(0, _WARM_UP_ROWS)
    with suppress(LabelrankError, ValueError):
        _fit(made(method, QUICK, seed, 1), method, split.X[few], split.Y[few])


def _fit(learner: Any, method: str, X: Any, Y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(X, _plain(Y) if method in PRIMED else Y)


def _measure(learner: Any, method: str, split: Split, outcome: Outcome) -> None:
    from labelrank import metrics

    start = time.process_time()
    _fit(learner, method, split.X, split.Y)
    outcome.seconds.append(time.process_time() - start)
    scores = learner.decision_function(split.X_test)
    outcome.losses.append(float(metrics.pro_loss(split.Y_test, scores)))
    found = metrics.evaluate(_plain(split.Y_test), scores)
    outcome.criteria.append({name: take(found) for name, take in CRITERIA.items()})


def _plain(Y: Any) -> Any:
    plain = Y.copy()
    plain.data = (Y.data > 0).astype(float)
    return plain


def _best_C(method: str, split: Split, effort: Effort, seed: int) -> float:
    """The C with the least mean PRO loss over folds of the training part; the least of equals."""
    from labelrank import metrics
    from labelrank.evaluation import StratifiedFolds

    Y = _plain(split.Y) if method in PRIMED else split.Y
    totals = dict.fromkeys(effort.grid, 0.0)
    folds = StratifiedFolds(min(effort.inner_folds, Y.shape[0]), random_state=seed)
    for train, test in folds.split(Y, Y):
        for C in effort.grid:
            learner = made(method, effort, seed, 1, C=C, tol=1e-2, max_iter=200)
            _fit(learner, method, split.X[train], Y[train])
            totals[C] += float(metrics.pro_loss(Y[test], learner.decision_function(split.X[test])))
    return min(totals, key=lambda C: (totals[C], C))


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
