"""What the order of EP-PLM, EC-PLM and the networks of paper 001 depends on, one change at a time.

Each row changes one thing of the paper's settings: how words are weighted, where the codes come
from and how they are scaled, how many preferences are drawn, how many documents a model has, and
what bagged models differ in.
"""

import time
from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment
from labelrank.experiments.plm_protocol import REAL, SETTINGS, Part, made, part, records

_PAIR = ("EC-PLM", "EP-PLM")
_PLUS = ("EC-PLM+", "EP-PLM+")
_RIVALS = (*_PAIR, "MLP linear", "MLP sigmoid")
_BAGS = {
    "ten models of other documents": {"bootstrap": False},
    "ten bootstraps of the same documents": {"bootstrap": True},
}


@experiment(
    name="plm-ablation", paper="001", table="what Figures 2, 3 and 4 depend on", data=REAL,
    settings=f"one change a row; else {SETTINGS}", minutes=15, tolerance=0.1,
)  # fmt: skip
def plm_ablation(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """EP-PLM, EC-PLM and networks with one thing changed: words, codes, preferences, documents."""
    for name in REAL:
        yield from changes(name, seed, jobs)


def changes(name: str, seed: int, jobs: int | None) -> Iterator[Record]:
    """The rows of one set."""
    data = part(name, seed)
    yield from _fitted(name, "as in the paper", (*_RIVALS, *_PLUS), data, seed, jobs)
    row = "4 passes, not 20"
    yield from _fitted(name, row, ("MLP linear",), data, seed, jobs, epochs=4)
    yield from _codes(name, data, seed, jobs)
    for epochs in (1, 10):
        row = f"{epochs * 2000:,} preferences"
        yield from _fitted(name, row, _PAIR, data, seed, jobs, epochs=epochs)
    every = data._replace(size=data.X.shape[0])
    yield from _fitted(name, f"{every.size:,} documents", _PAIR, every, seed, jobs)
    yield from _bagged(name, data, seed, jobs)
    weighted = part(name, seed, "tfidf")
    methods = (*_PAIR, "MLP linear", *_PLUS)
    yield from _fitted(name, "TF-IDF, not counts", methods, weighted, seed, jobs)


def _codes(name: str, data: Part, seed: int, jobs: int | None) -> Iterator[Record]:
    own = data._replace(label_sets=data.sample(seed)[1])
    yield from _fitted(name, "codes of the model's documents", ("EP-PLM",), own, seed, jobs)
    for scale, row in (
        ("sqrt", "codes by roots of eigenvalues"),
        ("none", "codes without eigenvalues"),
    ):
        yield from _fitted(name, row, ("EP-PLM",), data, seed, jobs, code_scale=scale)


def _fitted(
    name: str, row: str, methods: tuple[str, ...], data: Part, seed: int, jobs: int | None,
    **settings: Any,
) -> Iterator[Record]:  # fmt: skip
    X, Y = data.sample(seed)
    for method in methods:
        learner = made(method, data, seed, jobs, **settings)
        start = time.perf_counter()
        learner.fit(X, Y)
        note = f"fitted in {time.perf_counter() - start:.1f} s"
        scores = learner.decision_function(data.X_test)
        yield from records(f"{name}, {row}", method, data, scores, note)


def _bagged(name: str, data: Part, seed: int, jobs: int | None) -> Iterator[Record]:
    from labelrank import BaggedRanker

    for row, settings in _BAGS.items():
        X, Y = (data.X, data.Y) if not settings["bootstrap"] else data.sample(seed)
        for method in _PAIR:
            learner = BaggedRanker(
                made(method, data, seed, None), 10, sample_size=data.size, n_jobs=jobs,
                random_state=seed, **settings,
            )  # fmt: skip
            scores = learner.fit(X, Y).decision_function(data.X_test)
            yield from records(f"{name}, {row}", method, data, scores)
