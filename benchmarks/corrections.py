"""Learning from corrections, one document after the other, by a simulated annotator.

A base learns 5 % of the documents; the others come as a stream. Each is first ranked by what was
learned so far (prequential), then the annotator answers: with the whole set, by accepting and
rejecting the five labels that are shown, or with one preference, the best missing label over the
worst wrong one. Words, labels (the forty most frequent) and orders are the same for all.

`python -m benchmarks corrections` prints the table of docs/corrections.rst, and
`python -m benchmarks.corrections choose` how C and margin were chosen, on debtags alone.
`python -m benchmarks.corrections docs/_static/corrections.png` draws the curves too.
"""

import functools
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from benchmarks import rivals
from labelrank import BinaryRelevanceSVM, CorrectedRanker, ThresholdedRanker, datasets
from labelrank.metrics import average_precision_loss, precision_at_k
from labelrank.preferences import Arcs
from labelrank.text import make_vectorizer

SETS = ("debtags", "reuters21578", "eurlex-titles", "goemotions")
N_DOCUMENTS, N_LABELS, BASE, SHOWN = 2100, 40, 0.05, 5
HASHED, EVERY, WARM = 2**14, 1000, 200
SLOW = 700  # rivals that need seconds per document follow so many
WINDOW = 200


class Stream(NamedTuple):
    """Documents and relevance; the first `n_base` are what the base learns."""

    name: str
    X: sp.csr_array
    Y: np.ndarray
    n_base: int
    n_words: int


@functools.cache
def stream(name: str, seed: int = 0, n: int = N_DOCUMENTS) -> Stream:
    """Documents of the set in random order, that have one of the most frequent labels."""
    data = datasets.load(name)
    Y = (sp.csr_array(data.Y) > 0).astype(np.int8)
    usual = np.sort(np.argsort(-np.bincount(Y.indices, minlength=Y.shape[1]))[:N_LABELS])
    Y = sp.csr_array(Y[:, usual])
    order = np.random.default_rng(seed).permutation(np.flatnonzero(np.diff(Y.indptr)))[:n]
    n_base = int(BASE * len(order))
    words = make_vectorizer("tfidf").fit([data.texts[i] for i in order[:n_base]])
    X = words.overflowing([data.texts[i] for i in order], HASHED)
    return Stream(name, X, Y[order].toarray(), n_base, words.n_columns_)


class Seen(NamedTuple):
    """What was answered before each document of the stream was learned, and the seconds of it."""

    scores: np.ndarray
    members: np.ndarray
    seconds: float


Learn = Callable[[int, np.ndarray, np.ndarray], None]


def learner() -> Any:
    return ThresholdedRanker(BinaryRelevanceSVM(random_state=0), random_state=0)


def fitted(data: Stream, rows: Any, *, wide: bool = False) -> Any:
    width = data.X.shape[1] if wide else data.n_words
    return learner().fit(data.X[rows][:, :width], data.Y[rows])


def follow(data: Stream, answer: Callable[[int], Any], learn: Learn, last: int = 0) -> Seen:
    """Answer, then learn, document by document."""
    scores, members, began = [], [], time.perf_counter()
    for i in range(data.n_base, last or len(data.Y)):
        found = answer(i)
        scores.append(np.asarray(found.scores[0], np.float64))
        members.append(np.asarray(found.members[0], bool))
        learn(i, scores[-1], members[-1])
    return Seen(np.array(scores), np.array(members), time.perf_counter() - began)


def frozen(data: Stream) -> Seen:
    base, X = fitted(data, slice(data.n_base)), data.X[:, : data.n_words]
    return follow(data, lambda i: base.answer(X[[i]]), lambda *_: None)


def corrected(data: Stream, feedback: str = "set", *, refit: bool = False, **options: Any) -> Seen:
    """CorrectedRanker on the base; with `refit` on one that is fitted anew every thousand."""
    ranker = [CorrectedRanker(fitted(data, slice(data.n_base)), overflow=HASHED, **options).begin()]

    def learn(i: int, scores: np.ndarray, members: np.ndarray) -> None:
        teach(ranker[0], data.X[[i]], data.Y[i], scores, members, feedback)
        n = i + 1 - data.n_base
        if refit and n % EVERY == 0:
            base = fitted(data, slice(i + 1), wide=True)
            ranker[0] = CorrectedRanker(base, **options).begin()

    return follow(data, lambda i: ranker[0].answer(data.X[[i]]), learn)


def teach(
    ranker: Any, x: Any, y: np.ndarray, scores: np.ndarray, members: np.ndarray, feedback: str
) -> None:
    """What the annotator says of one document."""
    if feedback == "set":
        ranker.partial_fit(x, y[None])
        return
    triples: list[tuple[int, int | None, int | None]] = []
    order = np.argsort(-scores, kind="stable")
    if feedback == "shown":
        triples = [(0, int(k), None) if y[k] else (0, None, int(k)) for k in order[:SHOWN]]
    else:
        place = np.argsort(order)
        right, wrong = np.flatnonzero(y > 0), np.flatnonzero(y == 0)
        best, worst = right[place[right].argmax()], wrong[place[wrong].argmin()]
        if place[worst] < place[best]:
            triples = [(0, int(best), int(worst))]
    ranker.learn_arcs(x, Arcs.of(triples, n_rows=1, n_labels=len(y)))


def refitted(data: Stream) -> Seen:
    """The base, fitted anew on all that was seen every thousand documents."""
    model, width = [fitted(data, slice(data.n_base))], [data.n_words]

    def learn(i: int, *_: Any) -> None:
        if (i + 1 - data.n_base) % EVERY == 0:
            model[0], width[0] = fitted(data, slice(i + 1), wide=True), data.X.shape[1]

    return follow(data, lambda i: model[0].answer(data.X[[i]][:, : width[0]]), learn)


class _Answer(NamedTuple):
    scores: np.ndarray
    members: np.ndarray


def sgd(data: Stream) -> Seen:
    """scikit-learn: logistic regression per label by SGDClassifier.partial_fit."""
    models = [SGDClassifier(loss="log_loss", random_state=0) for _ in range(data.Y.shape[1])]
    X = sp.csr_matrix(data.X)
    for _ in range(5):
        for k, model in enumerate(models):
            model.partial_fit(X[: data.n_base], data.Y[: data.n_base, k], classes=[0, 1])

    def answer(i: int) -> _Answer:
        weights = np.vstack([model.coef_[0] for model in models])
        x = X[[i]]
        scores = weights[:, x.indices] @ x.data + [model.intercept_[0] for model in models]
        return _Answer(scores[None], scores[None] > 0)

    def learn(i: int, *_: Any) -> None:
        for k, model in enumerate(models):
            model.partial_fit(X[[i]], data.Y[[i], k])

    return follow(data, answer, learn, data.n_base + SLOW)


def rival(data: Stream, name: str) -> Seen | str:
    """river or Vowpal Wabbit, each in an environment of its own; or why there is none."""
    python = rivals.python_of(name)
    if isinstance(python, str):
        return python
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        last = data.n_base + (SLOW if name == "river" else len(data.Y))
        sp.save_npz(place / "X.npz", sp.csr_matrix(data.X[:last]))
        np.save(place / "Y.npy", data.Y[:last])
        script = rivals.HERE / "rival_scripts" / f"stream_{name}.py"
        call = [str(python), "-W", "ignore", str(script), folder, str(data.n_base)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["no reason given"])[-1][:120]
        scores = np.load(place / "scores.npy")
        return Seen(scores, scores > 0.5, float(done.stdout.split()[-1]))


METHODS: dict[str, Callable[[Stream], Seen | str]] = {
    "frozen base": frozen,
    "CorrectedRanker, sets": functools.partial(corrected, feedback="set"),
    "CorrectedRanker, shown labels": functools.partial(corrected, feedback="shown"),
    "CorrectedRanker, one preference": functools.partial(corrected, feedback="one"),
    "refit every 1,000": refitted,
    "refit and corrections": functools.partial(corrected, feedback="set", refit=True),
    "SGDClassifier.partial_fit": sgd,
    "river": functools.partial(rival, name="river"),
    "Vowpal Wabbit": functools.partial(rival, name="vowpalwabbit"),
}


def measured(data: Stream, seen: Seen, rows: slice) -> dict[str, float]:
    """Criteria of the answers to these documents of the stream, and acts to mend their sets."""
    n = len(seen.scores)
    Y, scores, members = (part[:n][rows] for part in (data.Y[data.n_base :], *seen[:2]))
    right, differing = (members & (Y > 0)).sum(), (members != (Y > 0)).sum()
    return {
        "average precision": 1.0 - float(average_precision_loss(Y, scores)),
        "P@1": float(precision_at_k(Y, scores, k=1)),
        "micro F1": float(2 * right / max(2 * right + differing, 1)),
        "acts": float(differing / len(Y)),
    }


def curve(data: Stream, seen: Seen) -> list[float]:
    """Average precision of each window of the stream."""
    starts = range(0, len(seen.scores) - WINDOW + 1, WINDOW)
    return [measured(data, seen, slice(a, a + WINDOW))["average precision"] for a in starts]


def records(names: tuple[str, ...], n: int) -> Iterator[dict]:
    for name in names:
        data = stream(name, 0, n)
        for method, follow_it in METHODS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seen = follow_it(data)
            if isinstance(seen, str):
                yield {"name": f"{name}: {method}", "error": seen}
                continue
            found = measured(data, seen, slice(WARM, None))
            rounded = {key: round(value, 4) for key, value in found.items()}
            each = 1000 * seen.seconds / len(seen.scores)
            yield {
                "name": f"{name}: {method}", **rounded, "ms per document": round(each, 2),
                "documents": len(seen.scores),
                "curve": [round(value, 4) for value in curve(data, seen)],
            }  # fmt: skip


def run(quick: bool = False) -> list[dict]:
    found = []
    for one in records(SETS[:1] if quick else SETS, 800 if quick else N_DOCUMENTS):
        print(json.dumps(one), file=sys.stderr, flush=True)
        found.append(one)
    return [{key: value for key, value in one.items() if key != "curve"} for one in found]


def choose() -> None:
    """C and margin by average precision and micro F1 on debtags, for sets."""
    data = stream("debtags", 1, 1200)
    for options in [
        {"C": C, "margin": margin, "cut": cut}
        for C in (None, 0.1, 0.03) for margin in (None, 0.25, 1.0) for cut in (0.4, 1.0)
    ]:  # fmt: skip
        seen = corrected(data, **options)
        print(options, measured(data, seen, slice(WARM, None)), flush=True)


def draw(found: list[dict], path: str) -> None:
    """The curves of all sets beside each other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(9, 6.4), sharex=True)
    for axis, name in zip(axes.flat, SETS, strict=True):
        for one in found:
            of, _, method = one["name"].partition(": ")
            if of == name and "curve" in one:
                at = np.arange(1, len(one["curve"]) + 1) * WINDOW
                axis.plot(at, one["curve"], label=method, lw=2 if "Corrected" in method else 1)
        axis.set_title(name)
    axes[0, 0].set_ylabel("average precision")
    axes[1, 0].set_ylabel("average precision")
    axes[1, 1].set_xlabel("documents corrected")
    axes[1, 0].set_xlabel("documents corrected")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=3, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    if sys.argv[1] == "choose":
        choose()
    else:
        drawn = []
        for record in records(SETS, N_DOCUMENTS):
            print(json.dumps(record), flush=True)
            drawn.append(record)
        draw(drawn, sys.argv[1])
