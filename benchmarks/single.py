"""One text at a time: 1,000 labels, 50,000 terms, texts of 100 words; median and p99 in seconds."""

import time
import warnings
from collections.abc import Callable

import numpy as np

from labelrank import BinaryRelevancePerceptron, Tagger, ThresholdedRanker

N_LABELS, N_TERMS, N_WORDS, STEPS = 1000, 50_000, 100, 2000


def made(quick: bool) -> tuple[Tagger, list[str]]:
    random = np.random.default_rng(0)
    words = np.array([f"w{i:05d}" for i in range(N_TERMS)])
    share = 1.0 / np.arange(1, N_TERMS + 1)
    drawn = random.choice(words, (400, N_WORDS), p=share / share.sum())
    texts = [" ".join(words), *map(" ".join, drawn)]
    Y = (random.random((len(texts), N_LABELS)) < 0.005).astype(int)
    Y[np.arange(len(texts)), random.integers(0, N_LABELS, len(texts))] = 1
    inside = BinaryRelevancePerceptron(random_state=0)
    tagger = Tagger(ThresholdedRanker(inside, strategy="fixed")).fit(texts, Y)
    return tagger, texts[1:]


def timed(name: str, act: Callable[[int], object], n: int, target: str = "") -> dict:
    act(0)
    seconds = []
    for i in range(n):
        began = time.perf_counter()
        act(i)
        seconds.append(time.perf_counter() - began)
    middle, late = np.percentile(seconds, [50, 99])
    return {"name": name, "ours_s": float(middle), "target": target, "p99_s": float(late)}


def run(quick: bool = False) -> list[dict]:
    warnings.simplefilter("ignore")
    tagger, texts = made(quick)
    n = 100 if quick else len(texts)

    def rank(i: int) -> object:
        return tagger.rank([texts[i]], top=20)

    def prefer(i: int) -> object:
        return tagger.learn_arcs([texts[i]], [[(str(i % 900), None), (str(i % 900), "950")]])

    def state(i: int) -> object:
        return tagger.partial_fit([texts[i]], [[str(i % 900), "3"]])

    records = [
        timed("rank one text", rank, n, "<= .002"),
        timed("learn two preferences", prefer, n, "<= .002"),
        timed("learn a whole set", state, n, "<= .002"),
    ]
    for i in range(0 if quick else STEPS):
        prefer(i % len(texts))
    more = f", after {len(tagger.learner_.steps_):,} corrections"
    return [
        *records,
        timed("rank one text" + more, rank, n, "<= .002"),
        timed("learn two preferences" + more, prefer, n, "<= .002"),
    ]
