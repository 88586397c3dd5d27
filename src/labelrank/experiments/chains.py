"""Read, Martino et al., Viterbi classifier chains: Tables 3 and 4, trellises as in Figures 4 and 5.
The paper prints neither its split nor its forests. Ours weigh every feature at each split: among a
few features, the earlier labels are hardly ever met, and chains gain nothing."""

from collections.abc import Iterator, Sequence
from typing import Any

import labelrank
from labelrank.experiments import figures
from labelrank.experiments.protocol import hold_out, learner
from labelrank.experiments.registry import experiment, published
from labelrank.experiments.verdicts import Record

_SETS = ("Music", "Scene", "Yeast", "Medical", "Enron")
_METHODS = ("IC", "CC", "MCC", "VCC", "MsCC", "VsCC")
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
        yield from table(base, _SETS, seed, jobs)


@experiment(
    name="chains-logistic", paper="004", table="Table 3", data=tuple(map(str.lower, _SETS)),
    settings=_SETTINGS, minutes=2, tolerance=0.05, part_of="chains", quick=True,
)  # fmt: skip
def chains_logistic(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Jaccard index of chains with logistic links alone, and average ranks."""
    yield from table("logistic", _SETS, seed, jobs)


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
        for links, methods in (
            ("some", ("IC", "CC", "VCC")), ("all", ("IC", "CC", "VCC", "MsCC", "VsCC")),
        ):  # fmt: skip
            splits = [jaccards(name, links, methods, seed + k, jobs) for k in range(n_splits)]
            columns = {method: [found[method] for found in splits] for method in methods}
            theirs = dict(printed[name])
            if "VsCC" in columns:
                theirs["VsCC - MsCC"] = theirs["VsCC"] - theirs["MsCC"]
                columns["VsCC - MsCC"] = [found["VsCC"] - found["MsCC"] for found in splits]
            for column, values in columns.items():
                yield mean_record(f"{links} features, {name}", column, theirs[column], values)


@experiment(
    name="chains-trellis", paper="004", table="Figures 4 and 5", data=("music",),
    settings="the first held-out instance of Music whose greedy and most probable paths differ; "
    "the paper's figures show an invented example, so the probabilities have nothing to match",
    minutes=0.2, tolerance=0.0, quick=True,
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


def table(base: str, sets: Sequence[str], seed: int, jobs: int | None) -> Iterator[Record]:
    """Table 3 ("logistic") or 4 ("forest"), and the average ranks over its sets."""
    rows = {row["dataset"]: row for row in published("vcc_jaccard") if row["base"] == base}
    links = "all" if base == "forest" else "logistic"
    records = []
    for name in sets:
        methods = [method for method in _METHODS if rows[name][method] is not None]
        for method, ours in jaccards(name, links, methods, seed, jobs).items():
            records.append(Record(f"{base} {name}", method, rows[name][method], ours))
            yield records[-1]
    yield from average_ranks(base, records)


def jaccards(
    name: str, links: str, methods: Sequence[str], seed: int, jobs: int | None
) -> dict[str, float]:
    """Jaccard index of each method on one random split; `links` are "logistic", or forests."""
    train, test = hold_out(labelrank.datasets.load(name.lower()), 3, seed)
    found = {}
    for method in methods:
        chain = learner(method, seed, jobs)
        if links != "logistic":
            _put_forests(chain, links)
        predicted = chain.fit(train.X, train.Y).predict(test.X)
        found[method] = float(labelrank.metrics.jaccard(test.Y, predicted))
    return found


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
