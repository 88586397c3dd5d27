"""Read, Martino et al., Viterbi classifier chains: Tables 3 and 4, trellises as in Figures 4 and 5.
The paper prints neither its split nor its forests. Ours weigh every feature at each split: among a
few features, the earlier labels are hardly ever met, and chains gain nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import labelrank
from labelrank.experiments import claims, figures
from labelrank.experiments.protocol import hold_out, learner
from labelrank.experiments.registry import experiment, published
from labelrank.experiments.verdicts import Record

_SETS = ("Music", "Scene", "Yeast", "Medical", "Enron")
_SMALL, _LARGE = _SETS[:3], _SETS[3:]
_METHODS = ("IC", "CC", "MCC", "VCC", "MsCC", "VsCC")
# Random splits, each with random orders of its own: those of many labels take long.
_SPLITS = {
    "logistic": dict.fromkeys(_SMALL, 6) | dict.fromkeys(_LARGE, 3),
    "forest": dict.fromkeys(_SETS, 2),
}
_SETTINGS = (
    "mean Jaccard index on a held-out third, with its standard error over {splits} random splits; "
    "random orders; search over 50 orders by exact match on a third of the training part; {links}"
)
_LOGISTIC = "100 samples"
_FOREST = "11 extremely randomised trees, all features at each split, 10 samples"
_EVIDENCE = {"Music": 5, "Scene": 2}
_STRENGTHS = (1.0, 1e2, 1e4)


@experiment(
    name="chains-logistic", paper="004", table="Table 3", data=tuple(map(str.lower, _SETS)),
    settings=_SETTINGS.format(splits="6 (Medical and Enron: 3)", links=_LOGISTIC), minutes=9,
    tolerance=0.05, claims=claims.of_logistic_chains,
)  # fmt: skip
def chains_logistic(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Jaccard index of chains with logistic links, and average ranks."""
    yield from table("logistic", _SETS, seed, jobs)


@experiment(
    name="chains-quick", paper="004", table="Table 3, three sets", tolerance=0.05,
    data=tuple(map(str.lower, _SMALL)), settings=_SETTINGS.format(splits="6", links=_LOGISTIC),
    minutes=1.5, part_of="chains-logistic", quick=True, claims=claims.of_logistic_chains,
)  # fmt: skip
def chains_quick(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Jaccard index of chains with logistic links on the sets of few labels, and average ranks."""
    yield from table("logistic", _SMALL, seed, jobs)


@experiment(
    name="chains-forest", paper="004", table="Table 4", data=tuple(map(str.lower, _SETS)),
    settings=_SETTINGS.format(splits="2", links=_FOREST), minutes=25, tolerance=0.05,
    claims=claims.of_forest_chains,
)  # fmt: skip
def chains_forest(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Jaccard index of chains with forests, and average ranks."""
    yield from table("forest", _SETS, seed, jobs)


@experiment(
    name="chains-regularised", paper="004", table="Table 3, Medical and Enron",
    data=tuple(map(str.lower, _LARGE)),
    settings="as Table 3 over two random splits, with C = 1 and with the C out of 1, 100, 10,000 "
    "of which independent classifiers have the best Jaccard index on a third of the training part",
    minutes=2, tolerance=0.05,
)  # fmt: skip
def chains_regularised(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Whether the strength of regularisation explains Medical and Enron."""
    printed = {row["dataset"]: row for row in published("vcc_jaccard") if row["base"] == "logistic"}
    methods = ("IC", "CC", "VCC")
    for name in _LARGE:
        seeds = (seed, seed + 1)
        strengths = [chosen_strength(name, one, jobs) for one in seeds]
        for what, taken in (("C = 1", [1.0, 1.0]), ("C chosen", strengths)):
            splits = [jaccards(name, "logistic", methods, one, jobs, C)
                      for one, C in zip(seeds, taken, strict=True)]  # fmt: skip
            for method in methods:
                values = [found[method] for found in splits]
                record = mean_record(f"{what}, {name}", method, printed[name][method], values)
                yield replace(record, note=f"{record.note}, C = {taken[0]:g} and {taken[1]:g}")


def chosen_strength(name: str, seed: int, jobs: int | None) -> float:
    """The C of the best Jaccard index of independent classifiers, by the training part alone."""
    train, _ = hold_out(labelrank.datasets.load(name.lower()), 3, seed)
    inner, held = hold_out(train, 3, seed)
    return max(_STRENGTHS, key=lambda C: _jaccard("IC", "logistic", inner, held, seed, jobs, C))


@experiment(
    name="chains-forest-evidence", paper="004", table="Table 4, which forest",
    data=tuple(map(str.lower, _EVIDENCE)),
    settings="as Table 4, over 5 random splits of Music and 2 of Scene; 'some features': random "
    "forests that draw the square root of the features at each split, 'all features': extremely "
    "randomised trees that weigh them all",
    minutes=2, tolerance=0.05, claims=claims.of_forest_evidence,
)  # fmt: skip
def chains_forest_evidence(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Which forest, and by how much methods differ beyond the noise of splits."""
    printed = {row["dataset"]: row for row in published("vcc_jaccard") if row["base"] == "forest"}
    for name, n_splits in _EVIDENCE.items():
        for links, methods in (
            ("some", ("IC", "CC", "VCC")), ("all", ("IC", "CC", "VCC", "MsCC", "VsCC")),
        ):  # fmt: skip
            for method, values in repeated(name, links, methods, n_splits, seed, jobs).items():
                row = f"{links} features, {name}"
                yield mean_record(row, method, printed[name][method], values)


@experiment(
    name="chains-trellis", paper="004", table="Figures 4 and 5", data=("music",),
    settings="the first held-out instance of Music whose greedy and most probable paths differ; "
    "the paper's figures show an invented example, so the probabilities have nothing to match",
    minutes=0.2, tolerance=0.0, quick=True, claims=claims.of_swaps,
)  # fmt: skip
def chains_trellis(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """The tree of a full chain and the trellis of a Viterbi chain, from a real instance."""
    import polars as pl

    train, test = hold_out(labelrank.datasets.load("music"), 3, seed)
    # A data frame, so that the pictures carry the names of the labels.
    Y = pl.DataFrame(train.Y.toarray(), schema=train.label_names)
    for figure, method, labels in ((4, "PCC", Y[:, :4]), (5, "VCC", Y)):
        fitted = learner(method, seed, jobs, order=None).fit(train.X, labels)
        trellises = (fitted.trellis(test.X[i : i + 1]) for i in range(test.n_instances))
        trellis = next(one for one in trellises if one.probability > one.greedy_probability)
        path = figures.save(trellis.draw().figure, f"chains-Figure-{figure}")
        note = f"drawn in {path}" if path else ""
        yield Record(f"Figure {figure}", f"{method} path", ours=trellis.probability, note=note)
        yield Record(f"Figure {figure}", "greedy path", ours=trellis.greedy_probability)
    for method, kind in (("CC", "full"), ("VCC", "Viterbi")):
        chain = learner(method, seed, jobs)
        search = labelrank.ChainSearch(chain, proposal="swap", random_state=seed, n_jobs=jobs)
        trained = search.fit(train.X, train.Y).n_links_trained_
        yield Record("links trained by a search of 50 swaps", kind, None, float(trained))


def table(base: str, sets: Sequence[str], seed: int, jobs: int | None) -> Iterator[Record]:
    """Table 3 ("logistic") or 4 ("forest"), and the average ranks over its sets."""
    rows = {row["dataset"]: row for row in published("vcc_jaccard") if row["base"] == base}
    links = "all" if base == "forest" else "logistic"
    records = []
    for name in sets:
        methods = [method for method in _METHODS if rows[name][method] is not None]
        found = repeated(name, links, methods, _SPLITS[base][name], seed, jobs)
        for method, values in found.items():
            records.append(mean_record(f"{base} {name}", method, rows[name][method], values))
            yield records[-1]
    yield from average_ranks(base, records)


def repeated(
    name: str, links: str, methods: Sequence[str], n_splits: int, seed: int, jobs: int | None
) -> dict[str, list[float]]:
    """The Jaccard indices of each method over random splits, the same for all methods."""
    splits = [jaccards(name, links, methods, seed + k, jobs) for k in range(n_splits)]
    return {method: [found[method] for found in splits] for method in methods}


def jaccards(
    name: str, links: str, methods: Sequence[str], seed: int, jobs: int | None, C: float = 1.0
) -> dict[str, float]:
    """Jaccard index of each method on one random split; `links` are "logistic", or forests."""
    train, test = hold_out(labelrank.datasets.load(name.lower()), 3, seed)
    return {method: _jaccard(method, links, train, test, seed, jobs, C) for method in methods}


def _jaccard(
    method: str, links: str, train: Any, test: Any, seed: int, jobs: int | None, C: float
) -> float:
    chain = learner(method, seed, jobs)
    if links == "logistic":
        inner = "estimator__" * (1 + hasattr(chain, "n_chains"))
        chain.set_params(**{f"{inner}C": C})
    else:
        _put_forests(chain, links)
    predicted = chain.fit(train.X, train.Y).predict(test.X)
    return float(labelrank.metrics.jaccard(test.Y, predicted))


def _put_forests(chain: Any, features: str) -> None:
    """Forests as links, and fewer samples: a forest is slow to ask."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    all_features = ExtraTreesClassifier(11, max_features=None)
    forest = all_features if features == "all" else RandomForestClassifier(11)
    inner = "estimator__" if hasattr(chain, "n_chains") else ""
    chain.set_params(**{f"{inner}estimator": forest})
    if f"{inner}n_samples" in chain.get_params():
        chain.set_params(**{f"{inner}n_samples": 10})


def average_ranks(base: str, records: list[Record]) -> Iterator[Record]:
    """Mean rank over the sets; ties take the better rank, as the paper's do."""
    import numpy as np
    from scipy.stats import rankdata

    methods = list(dict.fromkeys(record.column for record in records))
    ranks = []
    for values in ("published", "ours"):
        scores = np.reshape([getattr(record, values) for record in records], (-1, len(methods)))
        ranks.append(rankdata(-np.round(scores, 3), axis=1, method="min").mean(axis=0).tolist())
    for method, theirs, ours in zip(methods, *ranks, strict=True):
        yield Record(f"{base} average rank", method, theirs, ours)


def mean_record(row: str, column: str, printed: float, values: list[float]) -> Record:
    """The mean over splits, with its standard error."""
    import numpy as np

    error = np.std(values, ddof=1) / np.sqrt(len(values))
    note = f"± {error:.3f} over {len(values)} splits"
    return Record(row, column, printed, float(np.mean(values)), note=note)
