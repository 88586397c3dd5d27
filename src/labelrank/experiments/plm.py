"""Paper 001, the preference learning machine: Figures 2, 3 and 4, and the costs it states.

The figures print no numbers, so ours stand alone; what can be compared is their order. The
paper's 20,000 PubMed abstracts are not ours to give: the PubMed sample has 1,250 with split,
and a synthetic stream has the paper's 28,333 labels and 100,000 words. `plm-ablation` measures
what the order of the learners depends on.
"""

import time
from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment, figures, published
from labelrank.experiments.plm_protocol import (
    MLPS,
    REAL,
    SETTINGS,
    SYNTHETIC,
    made,
    part,
    records,
)

SETS = (*REAL, SYNTHETIC)
PAPER = ("EC-PLM", "EP-PLM")
PLMS = (*PAPER, "EC-PLM+", "EP-PLM+")
_EPOCHS = (1, 3, 10, 30, 100)
_MODELS = (1, 2, 5, 10)
_DIMENSIONS = (25, 50, 100, 200)


@experiment(
    name="plm", paper="001", table="Figures 2, 3 and 4, costs", data=REAL,
    settings=SETTINGS, minutes=20, tolerance=0.1,
)  # fmt: skip
def plm(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """AUC by epochs, bagged models and code dimension on four sets, and costs."""
    yield from _costs(seed, jobs)
    for name in SETS:
        yield from _figures(name, seed, jobs)


def _alone(short: str, name: str, minutes: float) -> None:
    """Register the figures of one set as an experiment."""

    def measure(*, seed: int, jobs: int | None) -> Iterator[Record]:
        yield from _figures(name, seed, jobs)

    measure.__doc__ = f"AUC by epochs, bagged models and code dimension on {name} alone."
    experiment(
        name=f"plm-{short}", paper="001", table="Figures 2, 3 and 4",
        data=(name,) if name != SYNTHETIC else REAL[:0], settings=SETTINGS, minutes=minutes,
        tolerance=0.1,
    )(measure)  # fmt: skip


_alone("pubmed", "pubmed-mesh", 4)
_alone("eurlex", "eurlex-titles", 5)
_alone("debtags", "debtags", 3)
_alone("synthetic", SYNTHETIC, 6)


@experiment(
    name="plm-quick", paper="001", table="Figure 4 at s = 50, costs", data=REAL,
    settings=SETTINGS, minutes=2, tolerance=0.1,
)  # fmt: skip
def plm_quick(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Costs, and AUC and precision of all learners on the real sets at one code dimension."""
    yield from _costs(seed, jobs)
    for name in REAL:
        yield from _dimensions(name, (50,), seed, jobs)


def _figures(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    yield from _epochs(name, seed, jobs)
    yield from _bagging(name, seed, jobs)
    yield from _dimensions(name, _DIMENSIONS, seed, jobs)


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
    yield Record("costs, s", "EP-PLM codes of a million documents", paper, seconds)
    for name in PLMS:
        settings = {"codes": codes} if name.startswith("EP") else {}
        learner = catalog.make(name, random_state=seed, n_jobs=jobs, **settings)
        paper = theirs.get(f"{name} seconds per epoch")
        yield Record("costs, s", f"{name} epoch", paper, _seconds_per_epoch(learner, X, Y))


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
    data = part(name, seed)
    found: list[tuple[int, Record]] = []
    X, Y = data.sample(seed)
    for method in PLMS:
        learner = made(method, data, seed, jobs)
        for epochs in _EPOCHS:
            scores = learner.set_params(epochs=epochs).fit(X, Y).decision_function(data.X_test)
            row = f"{name}, {epochs} epochs"
            for record in records(row, method, data, scores, precision=False):
                found.append((epochs, record))
                yield record
    _draw(f"plm-figure-2-{name}", "epochs of 2,000 preferences", _EPOCHS, found)


def _bagging(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    """Figure 3: models of different samples of the documents, scored by the first of them."""
    from labelrank import BaggedRanker

    data = part(name, seed)
    found: list[tuple[int, Record]] = []
    for method in PAPER:
        bagged = BaggedRanker(
            made(method, data, seed, None), _MODELS[-1], sample_size=data.size, bootstrap=False,
            n_jobs=jobs, random_state=seed,
        )  # fmt: skip
        total: Any = 0.0
        for count, model in enumerate(bagged.fit(data.X, data.Y).estimators_, start=1):
            total = total + model.decision_function(data.X_test)
            if count in _MODELS:
                row = f"{name}, {count} models"
                for record in records(row, method, data, total / count, precision=False):
                    found.append((count, record))
                    yield record
    _draw(f"plm-figure-3-{name}", "models", _MODELS, found)


def _dimensions(
    name: str, dimensions: tuple[int, ...], seed: int, jobs: int | None
) -> Iterator[Record]:
    """Figure 4."""
    data = part(name, seed)
    found: list[tuple[int, Record]] = []
    X, Y = data.sample(seed)
    for s in dimensions:
        # A network with 28,333 outputs takes minutes: one of them is enough to compare.
        networks = MLPS if name != SYNTHETIC else MLPS[:1] if s == 50 else ()
        for method in (*PLMS, *networks):
            learner = made(method, data, seed, jobs, n_components=s)
            start = time.perf_counter()
            learner.fit(X, Y)
            note = f"fitted in {time.perf_counter() - start:.1f} s"
            scores = learner.decision_function(data.X_test)
            for record in records(f"{name}, s = {s}", method, data, scores, note):
                found.append((s, record))
                yield record
    if len(dimensions) > 1:
        _draw(f"plm-figure-4-{name}", "dimension s", dimensions, found)


def _draw(name: str, label: str, points: tuple[int, ...], found: list[tuple[int, Record]]) -> None:
    """Micro and macro AUC of each learner against what is varied."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for axis, what in zip(axes, ("micro AUC", "macro AUC"), strict=True):
        curves: dict[str, list[tuple[int, Any]]] = {}
        for point, record in found:
            method, _, criterion = record.column.rpartition(what)
            if method and not criterion:
                curves.setdefault(method.strip(), []).append((point, record.ours))
        for method, curve in curves.items():
            axis.plot(*zip(*curve, strict=True), marker="o", label=method)
        axis.set(xlabel=label, ylabel=what, xscale="log")
        axis.set_xticks(points, [str(point) for point in points])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.suptitle(name.replace("plm-figure-", "Figure ").replace("-", ": ", 1))
    figures.save(figure, name)
