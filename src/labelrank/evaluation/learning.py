"""What more data would give: a learner taught growing parts of the training data."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelrank import metrics
from labelrank.errors import InputError

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


class LearningPoint(NamedTuple):
    """All criteria on the test documents after learning `n_learned` others."""

    n_learned: int
    criteria: dict[str, float]


def learning_curve(
    tagger: Any,
    documents: Any,
    labels: Any,
    test_documents: Any,
    test_labels: Any,
    *,
    shares: Sequence[float] = SHARES,
    random_state: Any = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> list[LearningPoint]:
    """Teach fresh copies of a tagger growing parts of the documents; test each on the same others.

    The parts are nested, in one random order. All have the labels of the fitted tagger.

    Parameters
    ----------
    tagger : fitted Tagger
    documents, labels : to learn; texts or features, label lists or relevance in its columns
    test_documents, test_labels : to test
    shares : sequence of float
        Parts of the documents, above 0 up to 1.
    random_state : int, RandomState or None
    progress : function or None
        Called with the number of finished and of all parts.

    Returns
    -------
    list of LearningPoint

    Examples
    --------
    >>> from labelrank import Tagger, datasets
    >>> from labelrank.evaluation import learning_curve
    >>> data = datasets.load("debtags-sample")
    >>> train, test = data.train, data.test
    >>> tagger = Tagger().fit(train.texts, train.Y, label_names=data.label_names)
    >>> few, many = learning_curve(tagger, train.texts, train.Y, test.texts, test.Y,
    ...                            shares=(0.1, 1.0))
    >>> few.criteria["micro_f1"] < many.criteria["micro_f1"]
    True
    """
    if not all(0 < share <= 1 for share in shares):
        raise InputError(f"got shares={list(shares)}; give numbers above 0 up to 1")
    known, Y = tagger.relevance(test_labels), tagger.relevance(labels)
    order = check_random_state(random_state).permutation(Y.shape[0])
    sizes = sorted({max(round(share * len(order)), 2) for share in shares})
    found = []
    for done, size in enumerate(sizes):
        if progress is not None:
            progress(done, len(sizes))
        rows = order[:size]
        part = [documents[i] for i in rows] if isinstance(documents, list) else documents[rows]
        learned = clone(tagger).fit(part, Y[rows], label_names=tagger.label_names_)
        predicted = learned.relevance(learned.predict(test_documents)) > 0
        scores = learned.decision_function(test_documents)
        criteria = metrics.evaluate(known, scores, predicted=predicted.astype(np.int8))
        found.append(LearningPoint(size, criteria))
    return found
