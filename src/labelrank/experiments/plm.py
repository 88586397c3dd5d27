"""Lauriola et al. (2018), the preference learning machine: Figures 2, 3 and 4, and its costs.
The figures print no numbers, so what can be compared is their order. The PubMed sample stands for
the paper's 20,000 abstracts, a synthetic stream for its 28,333 labels and 100,000 words."""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import labelrank
from labelrank.experiments import claims, figures
from labelrank.experiments.protocol import hold_out, learner
from labelrank.experiments.registry import experiment, published
from labelrank.experiments.verdicts import Record

SYNTHETIC = "synthetic MeSH"
REAL = ("pubmed-mesh", "eurlex-titles", "debtags")
MLPS = ("MLP linear", "MLP sigmoid")
PAIR = ("EC-PLM", "EP-PLM")
PLUS = ("EC-PLM+", "EP-PLM+")
PLMS = (*PAIR, *PLUS)
_EPOCHS = (1, 3, 10, 30, 100)
_MODELS = (1, 2, 5, 10)
_PER_LABEL = (4, 12, 40, 120)
_CODES: dict[str, dict[str, Any]] = {
    "EC-PLM": {}, "EP-PLM": {}, "EP-PLM, square roots": {"code_scale": "sqrt"},
}  # fmt: skip
_DIMENSIONS = (25, 50, 100, 200)
_MOST_OF_A_MODEL, _MOST_TEST, _SYNTHETIC_TEST = 2_000, 1_000, 250
_SYNTHETIC_POOL, _SYNTHETIC_LABELS = 20_000, 200_000
_PASSES = 20
_SETTINGS = (
    "counts of at most 100,000 words; 2,000 preferences per epoch, s = 50 and 100 epochs unless "
    "varied; a model learns from 2,000 documents (PubMed: 500), codes from the labels of all "
    "training documents (synthetic: of 200,000); 1,000 test documents (PubMed and synthetic: 250); "
    "networks (Adam, rate 0.01) make 20 passes, which takes several times as long as EC-PLM"
)


@experiment(
    name="plm", paper="001", table="Figures 2, 3 and 4, costs", data=REAL,
    settings=_SETTINGS, minutes=20, tolerance=0.1, claims=claims.of_plm,
)  # fmt: skip
def plm(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """AUC by epochs, bagged models and code dimension on four sets, and costs."""
    yield from _costs(seed, jobs)
    for name in (*REAL, SYNTHETIC):
        yield from _figures(name, seed, jobs)


def _alone(short: str, name: str, minutes: float) -> None:
    """Register the figures of one set as an experiment."""

    def measure(*, seed: int, jobs: int | None) -> Iterator[Record]:
        yield from _figures(name, seed, jobs)

    measure.__doc__ = f"AUC by epochs, bagged models and code dimension on {name} alone."
    experiment(
        name=f"plm-{short}", paper="001", table="Figures 2, 3 and 4",
        data=(name,) if name in REAL else (), settings=_SETTINGS, minutes=minutes, tolerance=0.1,
        part_of="plm", claims=claims.of_plm,
    )(measure)  # fmt: skip


_alone("pubmed", "pubmed-mesh", 4)
_alone("eurlex", "eurlex-titles", 5)
_alone("debtags", "debtags", 3)
_alone("synthetic", SYNTHETIC, 6)


@experiment(
    name="plm-quick", paper="001", table="Figure 4 at s = 50, costs", data=REAL,
    settings=_SETTINGS, minutes=2, tolerance=0.1, part_of="plm", quick=True, claims=claims.of_plm,
)  # fmt: skip
def plm_quick(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Costs, and AUC and precision of all learners on the real sets at one code dimension."""
    yield from _costs(seed, jobs)
    for name in REAL:
        for _, found in _dimensions(name, (50,), seed, jobs):
            yield from found


@experiment(
    name="plm-ablation", paper="001", table="what Figures 2, 3 and 4 depend on", data=REAL,
    settings=f"one change per row; else {_SETTINGS}", minutes=15, tolerance=0.1,
    claims=claims.of_plm_ablation,
)  # fmt: skip
def plm_ablation(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """EP-PLM, EC-PLM and networks with one thing changed: words, codes, preferences, documents."""
    for name in REAL:
        yield from _changes(name, seed, jobs)


@experiment(
    name="plm-preferences", paper="001", table="Figure 2, by preferences per label",
    data=("debtags",), minutes=6, tolerance=0.1, claims=claims.of_preferences,
    settings="as plm, but as many epochs as give each label of the training documents so many "
    "preferences (in 100 epochs each of the paper's 17,071 labels gets 12); "
    "square roots: codes U_s times the roots of the eigenvalues",
)  # fmt: skip
def plm_preferences(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """AUC of EC-PLM and EP-PLM by preferences per label, on debtags and the synthetic stream."""
    for name in ("debtags", SYNTHETIC):
        curve = _preferences(name, seed, jobs)
        yield from _drawn(f"plm-preferences-{name}", "preferences per label", curve)


class Part(NamedTuple):
    """A set for models that learn from `size` of its documents, and from its labels for codes."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any
    label_sets: Any
    size: int

    def sample(self, seed: int) -> tuple[Any, Any]:
        """The documents of one model."""
        import numpy as np

        rows = np.random.default_rng(seed).choice(self.X.shape[0], self.size, replace=False)
        return self.X[np.sort(rows)], self.Y[np.sort(rows)]


@lru_cache(maxsize=1)
def part(name: str, seed: int, representation: str = "bag") -> Part:
    """A set by its name, as counts of words ("bag") or weighted at length 1 ("tfidf")."""
    if name == SYNTHETIC:
        return _synthetic(seed)
    import numpy as np

    from labelrank.datasets.dataset import join

    data = labelrank.datasets.load(name)
    if data.test is None:
        train, test = hold_out(data, 5, seed)
    else:
        train, test = join({k: v for k, v in data.parts.items() if k != "test"}, name), data.test
    if test.n_instances > _MOST_TEST:
        chosen = np.random.default_rng(seed).choice(test.n_instances, _MOST_TEST, replace=False)
        test = test.subset(np.sort(chosen))
    terms: dict[str, Any] = {"max_terms": 100_000, "stop_words": "english"}
    represent = labelrank.text.make_vectorizer(representation, **terms)
    X, X_test = represent.fit_transform(train.texts), represent.transform(test.texts)
    size = min(_MOST_OF_A_MODEL, train.n_instances // 2)
    return Part(X, train.Y, X_test, test.Y, train.Y, size)


def _synthetic(seed: int) -> Part:
    stream = labelrank.datasets.MeshStream(weighting="bag", random_state=seed)
    X, Y = next(stream.batches(_SYNTHETIC_POOL, batch_size=_SYNTHETIC_POOL))
    X_test, Y_test = next(stream.batches(_SYNTHETIC_TEST, start=1_000_000))
    labels = list(stream.label_batches(_SYNTHETIC_LABELS))
    return Part(X, Y, X_test, Y_test, labels, _MOST_OF_A_MODEL)


def made(method: str, data: Part, seed: int, jobs: int | None, **settings: Any) -> Any:
    """A learner of the catalog; an EP-PLM gets the codes of all labels of the set."""
    if method in MLPS:
        return learner(method, seed, None, **{"epochs": _PASSES, **settings})
    machine = learner(method, seed, jobs, **settings)
    if method.startswith("EP"):
        maker = labelrank.LabelCodes(machine.n_components, scale=machine.code_scale, n_jobs=jobs)
        machine.set_params(codes=maker.fit(data.label_sets).codes_)
    return machine


def records(
    row: str, method: str, data: Part, scores: Any, note: str = "", *, precision: bool = True
) -> list[Record]:
    """Micro and macro AUC of the scores of the test documents, and precision at 1 and 5."""
    Y, auc = data.Y_test, labelrank.metrics.auc
    criteria = {f"{mean} AUC": auc(Y, scores, mean) for mean in ("micro", "macro")}
    if precision:
        criteria |= {f"P@{k}": labelrank.metrics.precision_at_k(Y, scores, k) for k in (1, 5)}
    notes = (note, "", "", "")
    return [
        Record(row, f"{method} {what}", None, float(value), remark)
        for (what, value), remark in zip(criteria.items(), notes, strict=False)
    ]


def _seconds(machine: Any, sample: Any) -> float:
    start = time.perf_counter()
    machine.fit(*sample)
    return time.perf_counter() - start


def _fitted(row: str, method: str, data: Part, machine: Any, sample: Any) -> list[Record]:
    """All criteria after a fit that is timed."""
    note = f"fitted in {_seconds(machine, sample):.1f} s"
    return records(row, method, data, machine.decision_function(data.X_test), note)


def _costs(seed: int, jobs: int | None) -> Iterator[Record]:
    """Seconds of an epoch, and of codes from a tenth of the paper's ten million documents."""
    theirs = {row["what"]: row["value"] for row in published("plm_times")}
    stream = labelrank.datasets.MeshStream(random_state=seed)
    X, Y = next(stream.batches(20_000, batch_size=20_000))
    pieces = list(stream.label_batches(1_000_000))
    start = time.perf_counter()
    codes = labelrank.LabelCodes(50, n_jobs=jobs).fit(pieces).codes_
    seconds = time.perf_counter() - start
    paper = theirs["EP-PLM PCA minutes (10 million documents)"] * 60 / 10
    what = "EP-PLM codes of a million documents"
    yield Record("costs, s", what, paper, seconds, timed=True)
    for name in PLMS:
        settings = {"codes": codes} if name.startswith("EP") else {}
        machine = learner(name, seed, jobs, **settings)
        # The difference of a fit of eleven epochs and one of a single epoch, over ten.
        _, one, eleven = (_seconds(machine.set_params(epochs=n), (X, Y)) for n in (1, 1, 11))
        paper, seconds = theirs.get(f"{name} seconds per epoch"), max(eleven - one, 0.0) / 10
        yield Record("costs, s", f"{name} epoch", paper, seconds, timed=True)


def _figures(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    epochs, bags = _epochs(name, seed, jobs), _bags(name, seed, jobs)
    yield from _drawn(f"plm-figure-2-{name}", "epochs of 2,000 preferences", epochs)
    yield from _drawn(f"plm-figure-3-{name}", "models", bags)
    dimensions = _dimensions(name, _DIMENSIONS, seed, jobs)
    yield from _drawn(f"plm-figure-4-{name}", "dimension s", dimensions)


Measured = Iterator[tuple[int, list[Record]]]  # what is varied, and the records there


def _drawn(name: str, label: str, measured: Measured) -> Iterator[Record]:
    """The records, then a picture: micro and macro AUC of each learner against what is varied."""
    panels: dict[str, dict[str, Any]] = {"micro AUC": {}, "macro AUC": {}}
    ticks: set[int] = set()
    for point, found in measured:
        yield from found
        ticks.add(point)
        for what, curves in panels.items():
            for record in found:
                if record.column.endswith(what):
                    method = record.column.removesuffix(what).strip()
                    xs, ys = curves.setdefault(method, ([], []))
                    xs.append(point)
                    ys.append(record.ours)
    axes = {"xlabel": label, "xticks": sorted(ticks), "xticklabels": sorted(ticks)}
    figures.curves(name, panels, marker="o", xscale="log", **axes)


def _epochs(name: str, seed: int, jobs: int | None) -> Measured:
    """Figure 2."""
    data = part(name, seed)
    X, Y = data.sample(seed)
    for method in PLMS:
        machine = made(method, data, seed, jobs)
        for epochs in _EPOCHS:
            scores = machine.set_params(epochs=epochs).fit(X, Y).decision_function(data.X_test)
            row = f"{name}, {epochs} epochs"
            yield epochs, records(row, method, data, scores, precision=False)


def _preferences(name: str, seed: int, jobs: int | None) -> Measured:
    data = part(name, seed)
    X, Y = data.sample(seed)
    n_labels = int(((Y > 0).sum(axis=0) > 0).sum())
    for each in _PER_LABEL:
        found = []
        for title, settings in _CODES.items():
            machine = made(title.partition(",")[0], data, seed, jobs, **settings)
            machine.set_params(
                epochs=max(1, round(each * n_labels / machine.preferences_per_epoch))
            )
            scores = machine.fit(X, Y).decision_function(data.X_test)
            row = f"{name}, {each} preferences per label"
            found += records(row, title, data, scores, precision=False)
        yield each, found


def _bags(name: str, seed: int, jobs: int | None) -> Measured:
    """Figure 3: models of different samples of the documents, scored by the first of them."""
    data = part(name, seed)
    for method in PAIR:
        bagged = _bagged(method, data, seed, jobs, bootstrap=False).fit(data.X, data.Y)
        total: Any = 0.0
        for count, model in enumerate(bagged.estimators_, start=1):
            total = total + model.decision_function(data.X_test)
            if count in _MODELS:
                row = f"{name}, {count} models"
                yield count, records(row, method, data, total / count, precision=False)


def _bagged(method: str, data: Part, seed: int, jobs: int | None, *, bootstrap: bool) -> Any:
    return labelrank.BaggedRanker(
        made(method, data, seed, None), _MODELS[-1], sample_size=data.size, bootstrap=bootstrap,
        n_jobs=jobs, random_state=seed,
    )  # fmt: skip


def _dimensions(name: str, dimensions: tuple[int, ...], seed: int, jobs: int | None) -> Measured:
    """Figure 4."""
    data = part(name, seed)
    sample = data.sample(seed)
    for s in dimensions:
        # A network with 28,333 outputs takes minutes: one of them is enough to compare.
        networks = MLPS if name != SYNTHETIC else MLPS[:1] if s == 50 else ()
        for method in (*PLMS, *networks):
            machine = made(method, data, seed, jobs, n_components=s)
            yield s, _fitted(f"{name}, s = {s}", method, data, machine, sample)


def _changes(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    """The rows of `plm-ablation` of one set."""
    data = part(name, seed)
    every = data._replace(size=data.X.shape[0])
    own = data._replace(label_sets=data.sample(seed)[1])

    def fitted(
        row: str, methods: tuple[str, ...], data: Part = data, **settings: Any
    ) -> Iterator[Record]:
        sample = data.sample(seed)
        for method in methods:
            machine = made(method, data, seed, jobs, **settings)
            yield from _fitted(f"{name}, {row}", method, data, machine, sample)

    yield from fitted("as in the paper", (*PAIR, *MLPS, *PLUS))
    yield from fitted("4 passes, not 20", MLPS[:1], epochs=4)
    yield from fitted("codes of the model's documents", PAIR[1:], own)
    yield from fitted("codes by roots of eigenvalues", PAIR[1:], code_scale="sqrt")
    yield from fitted("codes without eigenvalues", PAIR[1:], code_scale="none")
    for epochs in (1, 10):
        yield from fitted(f"{epochs * 2000:,} preferences", PAIR, epochs=epochs)
    yield from fitted(f"{every.size:,} documents", PAIR, every)
    for row, bootstrap in (
        ("ten models of other documents", False), ("ten bootstraps of the same documents", True),
    ):  # fmt: skip
        X, Y = data.sample(seed) if bootstrap else (data.X, data.Y)
        for method in PAIR:
            bagged = _bagged(method, data, seed, jobs, bootstrap=bootstrap).fit(X, Y)
            scores = bagged.decision_function(data.X_test)
            yield from records(f"{name}, {row}", method, data, scores)
    yield from fitted("TF-IDF, not counts", (*PAIR, MLPS[0], *PLUS), part(name, seed, "tfidf"))
