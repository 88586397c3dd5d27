"""Nearest neighbours, naive Bayes and compression on Reuters-21578 (9,603 / 3,299 documents)."""

import zlib

import numpy as np
import scipy.sparse as sp
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import NearestNeighbors

from benchmarks.timing import best_of, record
from labelrank import CompressionClassifier, InvertedIndexKNN, NaiveBayesRanker, datasets
from labelrank._zstd import zstd
from labelrank.text import make_vectorizer

NEIGHBOURS = (15, 30)


def run(quick: bool = False) -> list[dict]:
    data = datasets.load("reuters21578", common_topics=True)
    return [*neighbours(data, quick), *naive_bayes(data), *compression(data, quick)]


def _features(data, representation: str, **options):
    vectorizer = make_vectorizer(representation, **options)
    return vectorizer.fit_transform(data.train.texts), vectorizer.transform(data.test.texts)


def neighbours(data, quick: bool) -> list[dict]:
    """The same neighbours: where they differ, the cosines are equal to single precision."""
    X, X_test = _features(data, "tfidf", sublinear_tf=True)
    ours = InvertedIndexKNN(n_jobs=2).fit(X, data.train.Y)
    theirs = NearestNeighbors(metric="cosine", algorithm="brute").fit(X)
    ours.kneighbors(X_test[:10])
    return [
        line for k in NEIGHBOURS for line in _nearest(ours, theirs, X_test, k, 2 if quick else 3)
    ]


def _nearest(ours, theirs, X, k: int, repeats: int) -> list[dict]:
    rival = best_of(lambda: theirs.kneighbors(X, k), repeats)
    two, one = (best_of(lambda n=n: ours.set_params(n_jobs=n).kneighbors(X, k), 5) for n in (2, 1))
    return [
        record(f"{k} nearest neighbours, 2 threads", two, rival, ">= 3"),
        record(f"{k} nearest neighbours, 1 thread", one, rival),
        {"name": f"{k} neighbours equal (share)", "value": _same(ours, theirs, X, k)},
    ]


def _same(ours, theirs, X, k: int) -> float:
    """Neighbours that are the same, or as near: scikit-learn adds in single precision."""
    cosines, near = ours.kneighbors(X, k)
    distances, others = theirs.kneighbors(X, k)
    within = np.array([np.isin(a, b) for a, b in zip(near, others, strict=True)])
    last = 1 - distances.max(axis=1, keepdims=True)
    return float((within | (np.abs(cosines - last) < 1e-6)).mean())


def naive_bayes(data) -> list[dict]:
    """Fit and predict of all labels; the same answers."""
    X, X_test = _features(data, "bag")
    Y = sp.csr_matrix(data.train.Y, dtype=np.int64)

    def theirs():
        return OneVsRestClassifier(MultinomialNB()).fit(X, Y).predict(X_test)

    def ours():
        return NaiveBayesRanker(scores="log_odds").fit(X, Y).predict(X_test)

    same = float((ours() != theirs()).nnz == 0)
    rival, time = best_of(theirs), best_of(ours, 5)
    return [record("naive Bayes, 90 labels, fit and predict", time, rival, ">= 10", same=same)]


def compression(data, quick: bool) -> list[dict]:
    """A primed state for each label against compressing its text again for each document."""
    documents = data.test.texts[:: 400 if quick else 100]
    sizes = {
        "zstd": lambda text: len(zstd.compress(text, 3)),
        "zlib": lambda text: len(zlib.compress(text, 9)),
    }
    return [_compressor(data, documents, name, size) for name, size in sizes.items()]


def _compressor(data, documents: list[str], name: str, size) -> dict:
    learner = CompressionClassifier(name, n_jobs=2).fit(data.train.texts, data.train.Y)
    learner.decision_function(documents[:1])
    time = best_of(lambda: learner.decision_function(documents)) / len(documents)
    few = documents[:8]
    rival = best_of(lambda: _again(learner, size, few), 1) / len(few)
    gains, again = learner.decision_function(few), _again(learner, size, few)
    same_top = float((again.argmax(axis=1) == gains.argmax(axis=1)).mean())
    correlation = _rank_correlation(again, gains)
    return record(
        f"compression by {name}, a document", time, rival, ">= 20",
        same_top=same_top, rank_correlation=correlation,
    )  # fmt: skip


def _again(learner, size, documents) -> np.ndarray:
    """Bytes that a document adds to each label's text, negated."""
    texts = [text.tobytes() for text in learner._texts]
    whole = [size(text) for text in texts]
    encoded = [(document + "\n").encode() for document in documents]
    return np.array(
        [[n - size(text + d) for text, n in zip(texts, whole, strict=True)] for d in encoded]
    )


def _rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    from scipy.stats import spearmanr

    return float(np.mean([spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]))
