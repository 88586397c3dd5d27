"""How learners are compared on the sets of 001: documents, labels for codes, what is measured.

As in the paper documents are counts of words, a model learns from a sample of them, and the codes
of EP-PLM come from the labels of far more documents than that.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from labelrank.experiments import Record

SYNTHETIC = "synthetic MeSH"
REAL = ("pubmed-mesh", "eurlex-titles", "debtags")
MLPS = ("MLP linear", "MLP sigmoid")
_MOST_OF_A_MODEL, _MOST_TEST, _SYNTHETIC_TEST = 2_000, 1_000, 250
_SYNTHETIC_POOL, _SYNTHETIC_LABELS = 20_000, 200_000
_PASSES = 20
SETTINGS = (
    "counts of at most 100,000 words; 2,000 preferences an epoch, s = 50 and 100 epochs unless "
    "varied; a model learns from 2,000 documents (PubMed: 500), codes from the labels of all "
    "training documents (synthetic: of 200,000); 1,000 test documents (PubMed and synthetic: 250); "
    "networks (Adam, rate 0.01) make 20 passes, which takes several times as long as EC-PLM"
)


class Part(NamedTuple):
    """A set: the documents that models take their samples from, test documents, labels for codes.

    A model learns from `size` of the documents.
    """

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
        return _synthetic(seed, representation)
    from labelrank import datasets
    from labelrank.text import make_vectorizer

    data = datasets.load(name)
    train, test = _split(data, seed)
    test = _at_most(test, _MOST_TEST, seed)
    represent = make_vectorizer(representation, max_terms=100_000, stop_words="english")
    X, X_test = represent.fit_transform(train.texts), represent.transform(test.texts)
    size = min(_MOST_OF_A_MODEL, train.n_instances // 2)
    return Part(X, train.Y, X_test, test.Y, train.Y, size)


def _synthetic(seed: int, representation: str) -> Part:
    from labelrank import datasets

    weighting = "bag" if representation == "bag" else "unit"
    stream = datasets.MeshStream(weighting=weighting, random_state=seed)
    X, Y = next(stream.batches(_SYNTHETIC_POOL, batch_size=_SYNTHETIC_POOL))
    X_test, Y_test = next(stream.batches(_SYNTHETIC_TEST, start=1_000_000))
    labels = list(stream.label_batches(_SYNTHETIC_LABELS))
    return Part(X, Y, X_test, Y_test, labels, _MOST_OF_A_MODEL)


def _split(data: Any, seed: int) -> tuple[Any, Any]:
    """All that is not for the test, and the test; without official split a random fifth."""
    import numpy as np

    from labelrank.datasets.dataset import join

    if data.test is None:
        order = np.random.default_rng(seed).permutation(data.n_instances)
        cut = data.n_instances // 5
        return data.subset(order[cut:]), data.subset(order[:cut])
    return join({part: d for part, d in data.parts.items() if part != "test"}, data.name), data.test


def _at_most(data: Any, most: int, seed: int) -> Any:
    import numpy as np

    if data.n_instances <= most:
        return data
    chosen = np.random.default_rng(seed).choice(data.n_instances, most, replace=False)
    return data.subset(np.sort(chosen))


def made(method: str, data: Part, seed: int, jobs: int | None, **settings: Any) -> Any:
    """A learner of the catalog; an EP-PLM gets the codes of all labels of the set."""
    from labelrank import LabelCodes, catalog

    if method in MLPS:
        return catalog.make(method, random_state=seed, **{"epochs": _PASSES, **settings})
    learner = catalog.make(method, random_state=seed, n_jobs=jobs, **settings)
    if method.startswith("EP"):
        maker = LabelCodes(learner.n_components, scale=learner.code_scale, n_jobs=jobs)
        learner.set_params(codes=maker.fit(data.label_sets).codes_)
    return learner


def records(
    row: str, method: str, data: Part, scores: Any, note: str = "", *, precision: bool = True
) -> list[Record]:
    """Micro and macro AUC of the scores of the test documents, and precision at 1 and 5."""
    from labelrank import metrics

    Y = data.Y_test
    found = {
        "micro AUC": metrics.auc(Y, scores, "micro"),
        "macro AUC": metrics.auc(Y, scores, "macro"),
    }
    if precision:
        found["P@1"] = metrics.precision_at_k(Y, scores, 1)
        found["P@5"] = metrics.precision_at_k(Y, scores, 5)
    notes = (note, "", "", "")
    return [
        Record(row, f"{method} {what}", None, float(value), remark)
        for (what, value), remark in zip(found.items(), notes, strict=False)
    ]
