"""Lecture 003, Joachims' table: support vector machines with polynomial and radial kernels.

One matrix of inner products serves all kernels, for documents have length 1. The micro-average
over all 90 categories of the table is left out: it would take nine times as long.
"""

from collections.abc import Iterator
from typing import Any

from labelrank.experiments import Record, experiment, published


@experiment(
    name="reuters-kernels", paper="003", table="Joachims, kernels", data=("reuters21578",),
    settings="ModApte, all 9,603 training documents, TF-IDF with logarithmic counts, C = 1; "
    "polynomials (x·y + 1)^d, radial exp(-γ|x - y|²); break-even points in per cent",
    minutes=3, tolerance=0.05,
)  # fmt: skip
def reuters_kernels(*, seed: int, jobs: int | None) -> Iterator[Record]:
    """Break-even points of the ten largest categories by nine kernels."""
    from labelrank import datasets
    from labelrank.text import make_vectorizer

    data = datasets.load("reuters21578", common_topics=True)
    terms = make_vectorizer("tfidf", sublinear_tf=True)
    X, X_test = terms.fit_transform(data.train.texts), terms.transform(data.test.texts)
    products = (X @ X.T).toarray(), (X_test @ X.T).toarray()
    rows = published("reuters_kernels")
    for kernel in [name for name in rows[0] if name != "category"]:
        between = tuple(kernel_of(kernel, one) for one in products)
        for row in rows:
            column = data.label_names.index(row["category"])
            ours = _break_even(between, data.train.Y[:, [column]], data.test.Y[:, [column]])
            yield Record(row["category"], kernel, row[kernel], ours)


def kernel_of(name: str, products: Any) -> Any:
    """Values of a kernel from inner products of vectors of length 1.

    >>> import numpy as np
    >>> kernel_of("poly 2", np.array([[1.0, 0.5]])), kernel_of("rbf 1.0", np.array([[1.0]]))
    (array([[4.  , 2.25]]), array([[1.]]))
    """
    import numpy as np

    kind, value = name.split()
    exact = np.asarray(products, dtype=np.float64)
    return (exact + 1) ** int(value) if kind == "poly" else np.exp(2 * float(value) * (exact - 1))


def _break_even(between: tuple[Any, Any], Y: Any, Y_test: Any) -> float:
    from sklearn.svm import SVC

    from labelrank import metrics

    wanted = (Y > 0).toarray().ravel().astype(int)
    machine = SVC(kernel="precomputed", cache_size=1000).fit(between[0], wanted)
    scores = machine.decision_function(between[1])[:, None]
    found: Any = metrics.break_even_point(Y_test, scores, None)
    return 100 * float(found[0])
