"""Reuters-21578 as the text classifiers see it: the ModApte split, its terms and their weights."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=4)
def documents(terms: str, *, labelled: bool) -> dict[str, Any]:
    """Both parts of the ModApte split as the method sees them; terms of the training part only."""
    import numpy as np

    train, test = parts(labelled)
    shown: dict[str, Any] = {
        "Y": train.Y, "Y_test": test.Y, "names": list(train.label_names),
    }  # fmt: skip
    if terms == "text":
        return {**shown, "X": np.array(train.texts, object), "X_test": np.array(test.texts, object)}
    vectorizer = vectorizer_of(terms)
    shown["X"] = vectorizer.fit_transform(train.texts, (train.Y > 0).toarray().astype(int))
    shown["X_test"] = vectorizer.transform(test.texts)
    return shown


@lru_cache(maxsize=1)
def _collection() -> Any:
    from labelrank import datasets

    return datasets.load("reuters21578", common_topics=True)


def parts(labelled: bool) -> tuple[Any, Any]:
    """Training and test documents; if `labelled`, those with one of the 90 topics alone."""
    import numpy as np

    data = _collection()
    if not labelled:
        return data.train, data.test
    train, test = (
        part.subset(np.flatnonzero(np.diff(part.Y.indptr))) for part in (data.train, data.test)
    )
    return train, test


def vectorizer_of(terms: str) -> Any:
    """All terms (and a constant); all but stop words; of these the so many that tell most."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, Normalizer

    from labelrank.text import make_vectorizer

    if terms == "all":
        return make_vectorizer("tfidf", sublinear_tf=True)
    if terms == "all and constant":
        constant = FunctionTransformer(with_constant, accept_sparse=True)
        return make_pipeline(make_vectorizer("tfidf", sublinear_tf=True), constant)
    content = make_vectorizer("tfidf", sublinear_tf=True, stop_words="english", min_df=3)
    if terms == "content":
        return content
    return make_pipeline(content, SelectKBest(largest_chi_square, k=int(terms)), Normalizer())


def with_constant(X: Any, value: float = 0.3) -> Any:
    """One more column: perceptrons have no intercept of their own.

    >>> with_constant([[1.0, 2.0]], 0.5).toarray().tolist()
    [[1.0, 2.0, 0.5]]
    """
    import numpy as np
    import scipy.sparse as sp

    constant = np.full((sp.csr_array(X).shape[0], 1), value, np.float32)
    return sp.csr_array(sp.hstack([sp.csr_array(X, dtype=np.float32), constant], format="csr"))


def largest_chi_square(X: Any, Y: Any) -> Any:
    """Of each term the largest chi-square statistic of its presence with a label.

    >>> import numpy as np
    >>> largest_chi_square(np.array([[1, 1], [1, 0], [0, 1], [0, 0]]), np.eye(4)[:, :1]).round(2)
    array([1.33, 1.33])
    """
    import numpy as np
    import scipy.sparse as sp

    present = sp.csr_array(sp.csr_array(X) > 0, dtype=float)
    has_label = np.asarray(np.asarray(Y) > 0, float)
    n, with_term = present.shape[0], np.asarray(present.sum(axis=0)).ravel()
    together = (present.T @ has_label).T
    with_label = has_label.sum(axis=0)[:, None]
    spread = with_label * (n - with_label) * with_term * (n - with_term)
    statistic = n * (n * together - with_label * with_term) ** 2 / np.maximum(spread, 1)
    return statistic.max(axis=0)
