"""Which document next: the area under the curve of a queue against random order.

A pool of documents waits; twenty at a time are chosen by `labelrank.queueing.next_documents`,
corrected as whole sets, and average precision is measured on other documents. Five seeds on each
set of the benchmark of corrections; p by a paired t test over the seeds of a set, and by Wilcoxon's
test over all.
"""

import sys
import warnings

import numpy as np
from scipy import stats

from benchmarks.corrections import HASHED, SETS, fitted, stream
from labelrank import CorrectedRanker
from labelrank.queueing import next_documents

SEEDS, AT_ONCE, ROUNDS, N = range(5), 20, 12, 1200
WAYS = ("mixed", "near", "rare", "random")


def area(name: str, seed: int, by: str) -> float:
    """Mean average precision over the rounds."""
    data = stream(name, seed, N)
    ranker = CorrectedRanker(fitted(data, slice(data.n_base)), overflow=HASHED).begin()
    rest = np.arange(data.n_base, N)
    pool, test = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    seen, found = list(range(data.n_base)), []
    for turn in range(ROUNDS):
        chosen = pool[
            next_documents(
                ranker, data.X[pool], AT_ONCE, seen=data.Y[seen], by=by,
                random_state=100 * seed + turn,
            )
        ]  # fmt: skip
        ranker.partial_fit(data.X[chosen], data.Y[chosen])
        pool, seen = np.setdiff1d(pool, chosen), [*seen, *chosen.tolist()]
        answer = ranker.answer(data.X[test])
        found.append(_precision(data.Y[test], answer.scores))
    return float(np.mean(found))


def _precision(Y: np.ndarray, scores: np.ndarray) -> float:
    from labelrank.metrics import average_precision_loss

    return 1.0 - float(average_precision_loss(Y, scores))


def run(quick: bool = False) -> list[dict]:
    warnings.simplefilter("ignore")
    seeds = SEEDS[:2] if quick else SEEDS
    areas: dict[str, dict[str, list[float]]] = {way: {} for way in WAYS}
    records = []
    for name in SETS[:1] if quick else SETS:
        for way in WAYS:
            areas[way][name] = [area(name, seed, way) for seed in seeds]
            print(name, way, areas[way][name], file=sys.stderr, flush=True)
        records += [_record(name, way, areas[way][name], areas["random"][name]) for way in WAYS]
    for way in WAYS[:-1]:
        ours, theirs = (np.concatenate(list(areas[one].values())) for one in (way, "random"))
        records.append(
            {
                "name": f"all: {way}", "area": round(float(ours.mean()), 4),
                "over random": round(float((ours - theirs).mean()), 4),
                "p": float(stats.wilcoxon(ours, theirs).pvalue),
            }
        )  # fmt: skip
    return records


def _record(name: str, way: str, ours: list[float], theirs: list[float]) -> dict:
    gain = np.subtract(ours, theirs)
    record = {"name": f"{name}: {way}", "area": round(float(np.mean(ours)), 4)}
    if way != "random":
        p = float(stats.ttest_rel(ours, theirs).pvalue)
        record |= {"over random": round(float(gain.mean()), 4), "p": p}
    return record
