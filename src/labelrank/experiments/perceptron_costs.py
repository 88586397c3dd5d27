"""Paper 000, Table I: the expected number of operations, beside the number that was counted."""

from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment


@experiment(
    name="mlpp-complexity", paper="000", table="Table I", data=("rcv1v2",),
    settings="operations an example in one epoch over RCV1; 'published' is the formula of the "
    "table: K, L and the losses of MMP (prequential) are measured, the perceptrons' error rates "
    "follow from the updates counted",
    minutes=0.4, tolerance=0.1,
)  # fmt: skip
def mlpp_complexity(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Operations an example by the formulas of the paper, and as counted."""
    from labelrank import catalog, datasets

    data = datasets.load("rcv1v2")
    K, n, n_test = data.train.Y.shape[1], data.train.n_instances, data.test.n_instances
    for name in ("BR", "MMP", "MLPP"):
        learner = catalog.make(name, random_state=seed, n_jobs=jobs)
        expected = _expected(name, learner, data.train, seed)
        learner.fit(data.train.X, data.train.Y)
        trained = learner.n_operations_["train"]
        if name != "MMP":
            expected *= trained / _decisions(name, data.train)
        duels = K * (K - 1) / 2 if name == "MLPP" else K
        yield Record("training", name, expected, trained / n)
        yield Record("prediction", name, duels, learner.count_operations(data.test.X) / n_test)


def _decisions(name: str, data: Any) -> float:
    """How often a perceptron was asked in training; each mistake is one operation more."""
    relevant = (data.Y > 0).sum(axis=1)
    K = data.Y.shape[1]
    return float(data.n_instances * K if name == "BR" else (relevant * (K - relevant)).sum())


def _expected(name: str, learner: Any, data: Any, seed: int) -> float:
    """The formula of a training example; for perceptrons without their factor 1 + error rate."""
    from sklearn.base import clone

    from labelrank.evaluation import prequential

    K = data.Y.shape[1]
    if name == "BR":
        return float(K)
    if name == "MLPP":
        L = float((data.Y > 0).sum() / data.n_instances)
        return L * (K - L)
    curve = prequential(clone(learner), data.X, data.Y, every=1000, random_state=seed)
    losses = list(curve)[-1].overall
    return float(K + losses["margin_loss"] + losses["is_error"])
