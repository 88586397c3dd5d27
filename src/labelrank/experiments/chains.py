"""Paper 004, Viterbi classifier chains: Tables 3 and 4, and trellises as in Figures 4 and 5.

The paper prints neither its split nor its forests. Ours: a random third of each set is held out;
a forest has eleven extremely randomised trees that weigh every feature at each split. Chosen on
training parts: among the square root of hundreds of features, as random forests draw them, the
one or few earlier labels are hardly ever met, and chains gain nothing (`chains-forest-evidence`).
"""

from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment, figures, published

_SETS = ("Music", "Scene", "Yeast", "Medical", "Enron")
_METHODS = ("IC", "CC", "MCC", "VCC", "MsCC", "VsCC")
_FOREST_METHODS = ("IC", "CC", "VCC", "MsCC", "VsCC")
_SETTINGS = (
    "Jaccard index on a held-out third; random orders; 100 samples (10 with forests: 11 extremely "
    "randomised trees, all features at each split); search over 50 orders by exact match on a "
    "third of the training part"
)
_EVIDENCE = {"Music": 5, "Scene": 2}


@experiment(
    name="chains", paper="004", table="Tables 3 and 4", data=tuple(map(str.lower, _SETS)),
    settings=_SETTINGS, minutes=15, tolerance=0.05,
)  # fmt: skip
def chains(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Jaccard index of chains with logistic links and with forests, and average ranks."""
    for base in ("logistic", "forest"):
        yield from _table(base, _SETS, seed, jobs)


@experiment(
    name="chains-logistic", paper="004", table="Table 3", data=tuple(map(str.lower, _SETS)),
    settings=_SETTINGS, minutes=2, tolerance=0.05,
)  # fmt: skip
def chains_logistic(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Jaccard index of chains with logistic links alone, and average ranks."""
    yield from _table("logistic", _SETS, seed, jobs)


@experiment(
    name="chains-forest-evidence", paper="004", table="Table 4, repeated",
    data=tuple(map(str.lower, _EVIDENCE)),
    settings="as Table 4, over 5 random splits of Music and 2 of Scene; 'some features': random "
    "forests that draw the square root of the features at each split, 'all features': extremely "
    "randomised trees that weigh them all",
    minutes=5, tolerance=0.05,
)  # fmt: skip
def chains_forest_evidence(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Which forest, and by how much methods differ beyond the noise of splits."""
    printed = {row["dataset"]: row for row in published("vcc_jaccard") if row["base"] == "forest"}
    for name, n_splits in _EVIDENCE.items():
        for kind, methods in (("some", ("IC", "CC", "VCC")), ("all", _FOREST_METHODS)):
            splits = [_forest_split(name, kind, methods, seed + k, jobs) for k in range(n_splits)]
            row, columns = f"{kind} features, {name}", {**printed[name]}
            columns["VsCC - MsCC"] = columns["VsCC"] - columns["MsCC"]
            for column in splits[0]:
                yield _mean(row, column, columns[column], [values[column] for values in splits])


@experiment(
    name="chains-trellis", paper="004", table="Figures 4 and 5", data=("music",),
    settings="the first held-out instance of Music whose greedy and most probable paths differ; "
    "the paper's figures show an invented example, so the probabilities have nothing to match",
    minutes=0.2, tolerance=0.0,
)  # fmt: skip
def chains_trellis(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """The tree of a full chain and the trellis of a Viterbi chain, from a real instance."""
    from labelrank import catalog

    train, test = _parts("music", seed)
    for figure, method, labels in ((4, "PCC", slice(0, 4)), (5, "VCC", slice(None))):
        learner = catalog.make(method, order=None, n_jobs=jobs)
        trellis = _first_dispute(learner.fit(train.X, _named(train, labels)), test.X)
        path = figures.save(trellis.draw().figure, f"chains-Figure-{figure}")
        note = f"drawn in {path}" if path else ""
        yield Record(f"Figure {figure}", f"{method} path", ours=trellis.probability, note=note)
        yield Record(f"Figure {figure}", "greedy path", ours=trellis.greedy_probability)


def _table(base: str, sets: tuple[str, ...], seed: int, jobs: int | None) -> Iterator[Record]:
    rows = {row["dataset"]: row for row in published("vcc_jaccard") if row["base"] == base}
    records = []
    for name in sets:
        parts = _parts(name.lower(), seed)
        for method in _METHODS:
            if rows[name][method] is not None:
                ours = _jaccard(_made(method, base, seed, jobs), *parts)
                records.append(Record(f"{base} {name}", method, rows[name][method], ours))
                yield records[-1]
    yield from _average_ranks(base, records)


def _average_ranks(base: str, records: list[Record]) -> Iterator[Record]:
    """Mean rank over the sets; ties take the better rank, as the paper's do."""
    import numpy as np
    from scipy.stats import rankdata

    methods = list(dict.fromkeys(record.column for record in records))
    for values in ("published", "ours"):
        table = np.reshape([getattr(record, values) for record in records], (-1, len(methods)))
        ranks = rankdata(-np.round(table, 3), axis=1, method="min").mean(axis=0)
        by_method = dict(zip(methods, ranks.tolist(), strict=True))
        if values == "published":
            theirs = by_method
    for method in methods:
        yield Record(f"{base} average rank", method, theirs[method], by_method[method])


def _made(method: str, base: str, seed: int, jobs: int | None) -> Any:
    from labelrank import catalog

    learner = catalog.make(method, random_state=seed, n_jobs=jobs)
    return _with_forest(learner, _forest("all")) if base == "forest" else learner


def _with_forest(learner: Any, forest: Any) -> Any:
    """The same chain with forests as links, and fewer samples: a forest is slow to ask."""
    inner = "estimator__" if hasattr(learner, "n_chains") else ""
    learner.set_params(**{f"{inner}estimator": forest})
    if f"{inner}n_samples" in learner.get_params():
        learner.set_params(**{f"{inner}n_samples": 10})
    return learner


def _forest(features: str) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    if features == "all":
        return ExtraTreesClassifier(11, max_features=None)
    return RandomForestClassifier(11)


def _forest_split(
    name: str, kind: str, methods: tuple[str, ...], seed: int, jobs: int | None
) -> dict[str, float]:
    """Jaccard index of each method on one split, and by how much the two searches differ."""
    from labelrank import catalog

    train, test = _parts(name.lower(), seed)
    found = {}
    for method in methods:
        learner = catalog.make(method, random_state=seed, n_jobs=jobs)
        found[method] = _jaccard(_with_forest(learner, _forest(kind)), train, test)
    if "VsCC" in found:
        found["VsCC - MsCC"] = found["VsCC"] - found["MsCC"]
    return found


def _mean(row: str, column: str, printed: float, values: list[float]) -> Record:
    import numpy as np

    error = np.std(values, ddof=1) / np.sqrt(len(values))
    note = f"± {error:.3f} over {len(values)} splits"
    return Record(row, column, printed, float(np.mean(values)), note=note)


def _parts(name: str, seed: int) -> tuple[Any, Any]:
    import numpy as np

    from labelrank import datasets

    data = datasets.load(name)
    shuffled = np.random.default_rng(seed).permutation(data.n_instances)
    cut = data.n_instances // 3
    return data.subset(shuffled[cut:]), data.subset(shuffled[:cut])


def _jaccard(learner: Any, train: Any, test: Any) -> float:
    from labelrank import metrics

    predicted = learner.fit(train.X, train.Y).predict(test.X)
    return float(metrics.jaccard(test.Y, predicted))


def _first_dispute(learner: Any, X: Any) -> Any:
    for i in range(X.shape[0]):
        trellis = learner.trellis(X[i : i + 1])
        if trellis.probability > trellis.greedy_probability:
            break
    return trellis


def _named(data: Any, labels: slice) -> Any:
    """Relevance of the chosen labels as a data frame, so that pictures carry their names."""
    import polars as pl

    return pl.DataFrame(data.Y.toarray()[:, labels], schema=data.label_names[labels])
