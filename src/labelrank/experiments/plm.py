"""Paper 001, the preference learning machine: Figures 2, 3 and 4, and the costs it states.

The figures print no numbers, so ours stand alone; what can be compared is their order. The
paper's 20,000 PubMed abstracts are not ours to give: the PubMed sample has 1,250 with split,
and a synthetic stream has the paper's 28,333 labels and 100,000 words.

What differs from the paper, at s = 50 and one seed: with codes from the training labels alone
EP-PLM stays behind EC-PLM in AUC on PubMed, EUR-Lex titles and debtags. The eigenvalues in its
codes cost it part of that (the row "without eigenvalues", on EUR-Lex titles and debtags). The
paper supposes that its codes of 10 million documents put EP-PLM ahead; no real set here is large
enough to tell. (On 5,000 synthetic documents codes of 200,000 others raised its micro AUC from
.793 to .836, EC-PLM's being .779, but lowered macro AUC and P@1.) The linear network, at rate
0.01, is behind EC-PLM in AUC on PubMed and debtags and
ahead of both PLMs on EUR-Lex titles; on debtags rate 0.001 left both networks far behind.
"""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from labelrank.experiments import Record, experiment, figures, published

SETS = ("pubmed-mesh", "eurlex-titles", "debtags", "synthetic MeSH")
PLMS = ("EC-PLM", "EP-PLM", "EC-PLM+", "EP-PLM+")
MLPS = ("MLP linear", "MLP sigmoid")
# The paper's EP-PLM but for the eigenvalues in its codes, which drown all but a few dimensions.
_UNSCALED = "EP-PLM without eigenvalues"
_EPOCHS = (1, 5, 10, 20, 50, 100)
_MODELS = (1, 2, 5, 10)
_DIMENSIONS = (25, 50, 100, 200)
_MOST_TRAIN, _MOST_TEST = 10_000, 2_000
_DRAWS, _MOST_PASSES = 200_000, 60
_SETTINGS = (
    "TF-IDF of at most 100,000 words; 2,000 preferences an epoch, s = 50 and 100 epochs unless "
    "varied; codes from the training labels; at most 10,000 training and 2,000 test documents; "
    "MLPs (Adam, rate 0.01) see as many documents as the PLMs see preferences, in at most 60 passes"
)


class Part(NamedTuple):
    """A set ready to learn from."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


@experiment(
    name="plm", paper="001", table="Figures 2, 3 and 4, costs",
    data=tuple(name for name in SETS if name != "synthetic MeSH"),
    settings=_SETTINGS, minutes=45, tolerance=0.1,
)  # fmt: skip
def plm(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """AUC by epochs, bagged models and code dimension on four sets, and costs."""
    yield from _costs(seed, jobs)
    for name in SETS:
        yield from _epochs(name, seed, jobs)
        yield from _bagging(name, seed, jobs)
        yield from _dimensions(name, _DIMENSIONS, seed, jobs)


@experiment(
    name="plm-pubmed", paper="001", table="Figures 2, 3 and 4", data=("pubmed-mesh",),
    settings=_SETTINGS, minutes=10, tolerance=0.1,
)  # fmt: skip
def plm_pubmed(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """AUC by epochs, bagged models and code dimension on the PubMed sample alone."""
    yield from _epochs("pubmed-mesh", seed, jobs)
    yield from _bagging("pubmed-mesh", seed, jobs)
    yield from _dimensions("pubmed-mesh", _DIMENSIONS, seed, jobs)


@experiment(
    name="plm-quick", paper="001", table="Figure 4 at s = 50, costs",
    data=tuple(name for name in SETS if name != "synthetic MeSH"),
    settings=_SETTINGS, minutes=10, tolerance=0.1,
)  # fmt: skip
def plm_quick(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Costs, and AUC and precision of all learners on the four sets at one code dimension."""
    yield from _costs(seed, jobs)
    for name in SETS:
        yield from _dimensions(name, (50,), seed, jobs)


def _costs(seed: int, jobs: int | None) -> Iterator[Record]:
    """Seconds of an epoch and of the codes, on synthetic documents of the paper's shape.

    The codes come from 1,000,000 documents; the paper's time for 10 million is divided by ten.
    """
    from labelrank import catalog, datasets

    theirs = {row["what"]: row["value"] for row in published("plm_times")}
    stream = datasets.MeshStream(random_state=seed)
    X, Y = next(stream.batches(20_000, batch_size=20_000))
    codes, seconds = _timed_codes(stream, jobs)
    paper = theirs["EP-PLM PCA minutes (10 million documents)"] * 60 / 10
    yield Record("codes, s per million documents", "EP-PLM", paper, seconds)
    for name in PLMS:
        settings = {"codes": codes} if name.startswith("EP") else {}
        learner = catalog.make(name, random_state=seed, n_jobs=jobs, **settings)
        published_seconds = theirs.get(f"{name} seconds per epoch")
        yield Record("s per epoch", name, published_seconds, _seconds_per_epoch(learner, X, Y))


def _timed_codes(stream: Any, jobs: int | None) -> tuple[Any, float]:
    from labelrank import LabelCodes

    pieces = list(stream.label_batches(1_000_000))
    start = time.perf_counter()
    codes = LabelCodes(50, n_jobs=jobs).fit(pieces).codes_
    return codes, time.perf_counter() - start


def _seconds_per_epoch(learner: Any, X: Any, Y: Any) -> float:
    """The difference of a fit of eleven epochs and one of a single epoch, over ten."""
    seconds = []
    for epochs in (1, 1, 11):
        start = time.perf_counter()
        learner.set_params(epochs=epochs).fit(X, Y)
        seconds.append(time.perf_counter() - start)
    return max(seconds[2] - seconds[1], 0.0) / 10


def _epochs(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    """Figure 2."""
    found = []
    for epochs in _EPOCHS:
        for method in PLMS:
            scores = _fitted(method, name, seed, jobs, epochs=epochs).decision_function(
                part(name, seed).X_test
            )
            found += _records(f"{name}, {epochs} epochs", method, name, scores, seed)
    yield from found
    _draw(f"plm-figure-2-{name}", "epochs", _EPOCHS, found)


def _bagging(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    """Figure 3: one ensemble, scored by its first models."""
    from labelrank import BaggedRanker, catalog

    data, found = part(name, seed), []
    for method in PLMS:
        bagged = BaggedRanker(catalog.make(method), 10, n_jobs=jobs, random_state=seed)
        models = bagged.fit(data.X, data.Y).estimators_
        total: Any = 0.0
        for count, model in enumerate(models, start=1):
            total = total + model.decision_function(data.X_test)
            if count in _MODELS:
                found += _records(f"{name}, {count} models", method, name, total / count, seed)
    yield from found
    _draw(f"plm-figure-3-{name}", "models", _MODELS, found)


def _dimensions(
    name: str, dimensions: tuple[int, ...], seed: int, jobs: int | None
) -> Iterator[Record]:
    """Figure 4."""
    found = []
    for s in dimensions:
        # A network with 28,333 outputs takes minutes: one dimension is enough to compare.
        networks = MLPS if name != "synthetic MeSH" or s == 50 else ()
        for method in (*PLMS, _UNSCALED, *networks):
            start = time.perf_counter()
            learner = _fitted(method, name, seed, jobs, n_components=s)
            note = f"fitted in {time.perf_counter() - start:.1f} s"
            scores = learner.decision_function(part(name, seed).X_test)
            records = _records(f"{name}, s = {s}", method, name, scores, seed, note)
            found += records
            yield from records
    _draw(f"plm-figure-4-{name}", "dimension s", dimensions, found)


def _fitted(method: str, name: str, seed: int, jobs: int | None, **settings: Any) -> Any:
    from labelrank import catalog

    data = part(name, seed)
    if method in MLPS:
        settings["epochs"] = min(_MOST_PASSES, max(1, round(_DRAWS / data.X.shape[0])))
    else:
        settings["n_jobs"] = jobs
    if method == _UNSCALED:
        method, settings["code_scale"] = "EP-PLM", "none"
    return catalog.make(method, random_state=seed, **settings).fit(data.X, data.Y)


def _records(
    row: str, method: str, name: str, scores: Any, seed: int, note: str = ""
) -> list[Record]:
    from labelrank import metrics

    Y = part(name, seed).Y_test
    found = {
        "micro AUC": metrics.auc(Y, scores, "micro"),
        "macro AUC": metrics.auc(Y, scores, "macro"),
        "P@1": metrics.precision_at_k(Y, scores, 1),
        "P@5": metrics.precision_at_k(Y, scores, 5),
    }
    return [Record(row, f"{method} {what}", None, float(v), note) for what, v in found.items()]


@lru_cache(maxsize=1)
def part(name: str, seed: int) -> Part:
    """Training and test documents of a set as term vectors."""
    if name == "synthetic MeSH":
        return _synthetic(seed)
    from labelrank import datasets
    from labelrank.text import make_vectorizer

    data = datasets.load(name)
    train, test = (data.train, data.test) if data.test is not None else _halves(data, seed)
    train, test = _at_most(train, _MOST_TRAIN, seed), _at_most(test, _MOST_TEST, seed)
    represent = make_vectorizer("tfidf", max_terms=100_000, stop_words="english")
    return Part(
        represent.fit_transform(train.texts), train.Y, represent.transform(test.texts), test.Y
    )


def _synthetic(seed: int) -> Part:
    from labelrank import datasets

    stream = datasets.MeshStream(random_state=seed)
    X, Y = next(stream.batches(_MOST_TRAIN, batch_size=_MOST_TRAIN))
    return Part(X, Y, *next(stream.batches(_MOST_TEST, batch_size=_MOST_TEST, start=1_000_000)))


def _halves(data: Any, seed: int) -> tuple[Any, Any]:
    """A random fifth is held out."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(data.n_instances)
    cut = data.n_instances // 5
    return data.subset(order[cut:]), data.subset(order[:cut])


def _at_most(data: Any, most: int, seed: int) -> Any:
    import numpy as np

    if data.n_instances <= most:
        return data
    chosen = np.random.default_rng(seed).choice(data.n_instances, most, replace=False)
    return data.subset(np.sort(chosen))


def _draw(name: str, label: str, points: tuple[int, ...], records: list[Record]) -> None:
    """Micro and macro AUC of each learner against what is varied."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for axis, what in zip(axes, ("micro AUC", "macro AUC"), strict=True):
        curves: dict[str, list[Any]] = {}
        for record in records:
            if record.column.endswith(what):
                curves.setdefault(record.column.removesuffix(what), []).append(record.ours)
        for method, values in curves.items():
            axis.plot(points[: len(values)], values, marker="o", label=method.strip())
        axis.set(xlabel=label, ylabel=what)
    axes[0].legend()
    figures.save(figure, name)
