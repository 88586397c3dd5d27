"""Chains against scikit-learn's ClassifierChain, and prediction time by the number of labels.

`python -m benchmarks chains`, or `python -m benchmarks.chains FILE.png` to draw the times too.
"""

import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as ScikitChain
from sklearn.naive_bayes import GaussianNB

from benchmarks.timing import best_of, record
from labelrank import (
    ChainSearch,
    ClassifierChain,
    MonteCarloClassifierChain,
    ProbabilisticClassifierChain,
    ViterbiClassifierChain,
    datasets,
)

SETS = ("scene", "yeast")
BASES = {
    "logistic": LogisticRegression(max_iter=1000),
    "forest": RandomForestClassifier(n_estimators=10, random_state=0),
    "naive Bayes": GaussianNB(),
}
# The less a fit takes, the more of them it needs until the best of both is no luck.
TURNS = {"logistic": 40, "forest": 8, "naive Bayes": 80}
N_LABELS = (5, 10, 20, 50, 100, 200, 500)


def parts(name: str) -> tuple:
    """The official parts with dense labels, which is what scikit-learn's chain takes."""
    data = datasets.load(name)
    Y, Y_test = (part.Y.toarray().astype(int) for part in (data.train, data.test))
    return data.train.X, Y, data.test.X, Y_test


def by_turns(ours: Callable, theirs: Callable, repeats: int) -> tuple[float, float]:
    """The best times of both, taken in turns, each first every other time: a busy machine is then
    busy for both, and neither always finds the other's data in the cache."""
    times = {ours: [], theirs: []}
    for turn in range(repeats):
        for call in (ours, theirs) if turn % 2 else (theirs, ours):
            times[call].append(best_of(call, 1))
    return min(times[ours]), min(times[theirs])


def greedy(name: str, quick: bool) -> list[dict]:
    """Whole fit and whole prediction with the same base and order."""
    X, Y, X_test, _ = parts(name)
    found = []
    for base_name, base in BASES.items():
        ours, theirs = ClassifierChain(base), ScikitChain(base)
        turns = 3 if quick else TURNS[base_name]
        fits = by_turns(partial(ours.fit, X, Y), partial(theirs.fit, X, Y), turns)
        asks = by_turns(partial(ours.predict, X_test), partial(theirs.predict, X_test), 30)
        same = float((ours.predict(X_test) == theirs.predict(X_test)).mean())
        about = f"CC with {base_name}, {name}"
        found.append(record(f"{about}: fit", *fits, ">= 1", equal_labels=same))
        found.append(record(f"{about}: predict", *asks, ">= 1"))
    fast, theirs = ClassifierChain("logistic-fast"), ScikitChain(BASES["logistic"])
    fits = by_turns(partial(fast.fit, X, Y), partial(theirs.fit, X, Y), 3 if quick else 15)
    return [*found, record(f"CC with logistic-fast, {name}: fit", *fits, ">= 1")]


def search(name: str, quick: bool) -> list[dict]:
    """50 orders trained and judged on held-out instances, against 50 scikit-learn chains."""
    X, Y, X_test, Y_test = parts(name)
    n_rival = 5 if quick else 50
    rival = best_of(partial(judge_chains, X, Y, X_test, Y_test, n_rival), 1) * 50 / n_rival
    X_all, Y_all = np.vstack([X, X_test]), np.vstack([Y, Y_test])
    found = []
    for kind in (ClassifierChain, ViterbiClassifierChain):
        learner = ChainSearch(
            kind(), n_chains=50, validation_fraction=len(X_test) / len(X_all), refit=False,
            random_state=0,
        )  # fmt: skip
        ours = best_of(partial(learner.fit, X_all, Y_all), 3)
        about = f"ChainSearch({kind.__name__}), 50 orders, {name}"
        found.append(record(about, ours, rival, ">= 5", links=learner.n_links_trained_))
    return found


def judge_chains(X, Y, X_test, Y_test, n_chains: int) -> float:
    """The best exact match of scikit-learn chains in random orders."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        chains = (
            ScikitChain(LogisticRegression(max_iter=1000), order="random", random_state=seed)
            for seed in range(n_chains)
        )
        return max((c.fit(X, Y).predict(X_test) == Y_test).all(axis=1).mean() for c in chains)


def scaling(quick: bool) -> list[dict]:
    """Prediction time of 200 instances by the number of labels (exact PCC to 16 labels)."""
    kinds = {
        "CC": ClassifierChain(GaussianNB()),
        "VCC": ViterbiClassifierChain(GaussianNB()),
        "MCC": MonteCarloClassifierChain(GaussianNB(), n_samples=20, random_state=0),
        "PCC beam": ProbabilisticClassifierChain(GaussianNB(), inference="beam"),
        "PCC exact": ProbabilisticClassifierChain(GaussianNB()),
    }
    found = []
    for name, chain in kinds.items():
        sizes = (5, 8, 10, 12, 14, 16) if name == "PCC exact" else N_LABELS
        sizes = sizes[:4] if quick else sizes
        times = [_prediction_time(chain, n) for n in sizes]
        slope = np.polyfit(np.log(sizes[-4:]), np.log(times[-4:]), 1)[0]
        found.append(
            {"name": f"{name} predict, {sizes[0]} to {sizes[-1]} labels", "ours_s": times[-1],
             "growth": f"labels^{slope:.2f}", "labels": list(sizes), "seconds": times}
        )  # fmt: skip
    return found


def _prediction_time(chain, n_labels: int) -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    Y = (X @ rng.normal(size=(20, n_labels)) + 3 * rng.normal(size=(300, n_labels)) > 0).astype(int)
    chain.fit(X, Y)
    return best_of(lambda: chain.predict(X[:200]), 3)


def draw(records: list[dict], path: str) -> None:
    """Prediction time by the number of labels, both axes logarithmic."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    for one in records:
        if "labels" in one:
            label = f"{one['name'].split(' predict')[0]}: {one['growth']}"
            ax.loglog(one["labels"], one["seconds"], "o-", label=label)
    ax.set(xlabel="labels", ylabel="seconds to predict 200 instances")
    ax.legend(frameon=False)
    figure.savefig(path, dpi=120)


def run(quick: bool = False) -> list[dict]:
    sets = SETS[:1] if quick else SETS
    found = [one for name in sets for one in (*greedy(name, quick), *search(name, quick))]
    return [*found, *scaling(quick)]


if __name__ == "__main__":
    draw(scaling(quick=False), sys.argv[1])
