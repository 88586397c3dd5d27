"""The data sets of the suite: bundled ones, as features and 0/1 labels, with a fixed split.

Official parts where there are some, else four of five instances by a seed. Texts become TF-IDF.
Gaps are filled by the median of the training part, with a column that tells of the gap. Targets
of several classes become one label per class; degrees are relevant above an even share.
"""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from labelrank.datasets import Dataset, load

YAHOO = ("arts", "business", "computers", "education", "entertainment", "health", "reference",
         "science", "society")  # fmt: skip
EMBEDDED = ("debtags-glove", "goemotions-glove")
NAMES = (
    "emotions", "scene", "yeast", "enron", "medical", "genbase", "bibtex", "corel5k", "delicious",
    "tmc2007-500", "foodtruck", "slashdot", "ohsumed", "music", "wq", "reuters21578", "rcv1v2",
    "eurlex-titles", "affective-text", "goemotions", "hallmarks", "pubmed-mesh",
    "debtags-sample", "debtags", *(f"yahoo-{topic}" for topic in YAHOO), "thyroid",
    "solar-flare", "sf2", "edm", "bridges", "sjaffe", "sbu-3dfe", "movie", "emotion6",
    "yeast-alpha", "yeast-cold", "yeast-spo", *EMBEDDED,
)  # fmt: skip
# Labels of at least so many instances.
LEAST: dict[str, int] = {"debtags": 30}
DEGREES = ("sjaffe", "sbu-3dfe", "movie", "emotion6", "yeast-alpha", "yeast-cold", "yeast-spo")


class Problem(NamedTuple):
    """Training and test part; labels are those met in training, `folds` where cuts are tuned.

    X is dense where the data are. Row i of the training part is held out in fold `folds[i]`; in
    none where that is -1.
    """

    X: Any
    Y: sp.csr_array
    X_test: Any
    Y_test: sp.csr_array
    texts: tuple[list[str], list[str]] | None
    folds: np.ndarray


def names(part: str | None = None) -> list[str]:
    """All sets, or those of one part: "development" or "confirmation"."""
    return [name for name in NAMES if part in (None, part_of(name))]


def part_of(name: str) -> str:
    """Decided once and for all by the name."""
    first = int(sha256(name.encode()).hexdigest()[0], 16)
    return "development" if first < 8 else "confirmation"


def problem(name: str, most: int | None = None, seed: int = 0) -> Problem:
    """A set by its name; at most so many instances of either part, drawn by the seed."""
    random = np.random.default_rng(seed)
    data = _loaded(name)
    train, test = _split(data, random)
    train, test = (_some(part, most, random) for part in (train, test))
    texts, X, X_test = _features(train, test)
    Y, Y_test = _relevance(name, data, train, test)
    met = np.flatnonzero((Y > 0).sum(axis=0))
    folds = _folds(Y.shape[0], random)
    return Problem(X, Y[:, met], X_test, Y_test[:, met], texts, folds)


def _loaded(name: str) -> Dataset:
    if name not in EMBEDDED:
        return _named(name)
    source = name.removesuffix("-glove")
    data = _named(source)
    folder = Path(os.environ.get("LABELRANK_DATA", "data")) / "embeddings"
    if source == "debtags":
        # Rows of the file, of which the set keeps those that still have a label.
        vectors, whole = np.load(folder / "debtags-glove100.npy"), load("debtags", min_count=1)
        place = {one: i for i, one in enumerate(whole.ids)}
        data.X = vectors[[place[one] for one in data.ids]].astype(np.float32)
    else:
        for part in ("train", "test"):
            vectors = np.load(folder / f"{source}-{part}-glove100.npy").astype(np.float32)
            getattr(data, part).X = vectors
    for part in (data, data.train, data.test):
        if part is not None:
            part.texts = None
    return data


def _named(name: str) -> Dataset:
    return load(name, **({"min_count": LEAST[name]} if name in LEAST else {}))


def _split(data: Dataset, random: Any) -> tuple[Dataset, Dataset]:
    if data.train is not None and data.test is not None:
        return data.train, data.test
    order = random.permutation(data.n_instances)
    train, test = map(data.subset, np.split(order, [int(0.8 * len(order))]))
    return train, test


def _some(part: Dataset, most: int | None, random: Any) -> Dataset:
    if most is None or part.n_instances <= most:
        return part
    return part.subset(np.sort(random.permutation(part.n_instances)[:most]))


def _features(train: Dataset, test: Dataset) -> tuple[Any, Any, Any]:
    if train.texts is not None and train.X is None:
        from labelrank.text import make_vectorizer

        terms = make_vectorizer()
        texts = list(train.texts), list(test.texts or ())
        return texts, terms.fit_transform(texts[0]), terms.transform(texts[1])
    if sp.issparse(train.X):
        return None, sp.csr_array(train.X), sp.csr_array(test.X)
    return None, *_filled(np.asarray(train.X, np.float64), np.asarray(test.X, np.float64))


def _filled(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gaps = np.isnan(train).any(axis=0)
    if not gaps.any():
        return train, np.nan_to_num(test)
    median = np.nan_to_num(np.nanmedian(train, axis=0))
    filled = [
        np.column_stack([np.where(np.isnan(X), median, X), np.isnan(X[:, gaps])])
        for X in (train, test)
    ]
    return filled[0], filled[1]


def _relevance(name: str, data: Dataset, train: Dataset, test: Dataset) -> list[sp.csr_array]:
    """0/1 labels; unknown classes of a target are no class of it."""
    if data.target_classes is not None:
        widths = [len(classes) for classes in data.target_classes]
        return [_one_label_per_class(np.asarray(part.Y), widths) for part in (train, test)]
    least = 1.0 / data.n_labels if name in DEGREES else 0.0
    found = []
    for part in (train, test):
        Y = sp.csr_array(part.Y, dtype=np.float64)
        Y.data = (Y.data > least).astype(np.float64)
        Y.eliminate_zeros()
        found.append(Y)
    return found


def _one_label_per_class(codes: np.ndarray, widths: list[int]) -> sp.csr_array:
    columns = [codes[:, [t]] == np.arange(width) for t, width in enumerate(widths)]
    return sp.csr_array(np.hstack(columns).astype(np.float64))


def _folds(n: int, random: Any) -> np.ndarray:
    """Three folds of few instances; of many, a fifth held out once."""
    order = random.permutation(n)
    if n <= FEW:
        return np.asarray(order % 3, np.int64)
    return np.where(order < n // 5, 0, -1).astype(np.int64)


FEW = 2000


def save(path: Path, given: Problem) -> None:
    """One file per problem: for a machine without the data sets."""
    parts: dict[str, Any] = {"folds": given.folds}
    for name in ("X", "Y", "X_test", "Y_test"):
        matrix = getattr(given, name)
        if sp.issparse(matrix):
            csr = sp.csr_array(matrix)
            data = csr.data.astype(np.float32)
            parts |= {f"{name}_data": data, f"{name}_indices": csr.indices.astype(np.int32)}
            parts |= {f"{name}_indptr": csr.indptr.astype(np.int32), f"{name}_shape": csr.shape}
        else:
            parts[name] = np.asarray(matrix, np.float32)
    for name, texts in zip(("texts", "texts_test"), given.texts or ()):
        parts[name] = np.frombuffer("\0".join(texts).encode(), np.uint8)
    np.savez_compressed(path, **parts)


def read(path: Path) -> Problem:
    """A problem that `save` wrote."""
    with np.load(path) as file:
        matrix: Callable[[str], Any] = lambda name: (  # noqa: E731
            file[name] if name in file else sp.csr_array(
                tuple(file[f"{name}_{part}"] for part in ("data", "indices", "indptr")),
                shape=tuple(file[f"{name}_shape"]),
            )
        )  # fmt: skip
        texts = None
        if "texts" in file:
            train, test = (
                bytes(file[name]).decode().split("\0") for name in ("texts", "texts_test")
            )
            texts = train, test
        return Problem(*map(matrix, ("X", "Y", "X_test", "Y_test")), texts, file["folds"])
