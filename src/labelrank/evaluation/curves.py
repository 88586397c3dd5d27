"""Curves: quality over what was learned so far, over the training data, over one parameter."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_random_state

from labelrank import metrics
from labelrank.errors import InputError
from labelrank.relevance import Checked

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)


class CurvePoint(NamedTuple):
    """After `n_seen` examples: mean criteria over the latest ones, and over all tested so far."""

    n_seen: int
    recent: dict[str, float]
    overall: dict[str, float]


def prequential(
    learner: Any,
    X: Any,
    Y: Any,
    *,
    batch: int = 1,
    every: int = 1000,
    classes: Any = None,
    ties: str = "worst",
    random_state: Any = None,
) -> Iterator[CurvePoint]:
    """Test an online learner on each example, then teach it that example.

    A learner that knows nothing yet learns its first batch untested. If you stop early, the
    learner is as it was at the last point.

    Parameters
    ----------
    learner : any learner with `partial_fit`
    X, Y : matrices, in the order of the stream
    batch : int, default 1
        Examples that are tested, then learned, at a time. 1 is the definition, more is faster.
    every : int
        Examples between two points.
    classes : labels, declared at the first `partial_fit`

    Yields
    ------
    CurvePoint

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BinaryRelevancePerceptron
    >>> from labelrank.evaluation import prequential
    >>> X, Y = np.tile(np.eye(2), (10, 1)), np.tile(np.eye(2), (10, 1))
    >>> points = list(prequential(BinaryRelevancePerceptron(), X, Y, every=10))
    >>> [(point.n_seen, round(point.recent["is_error"], 2)) for point in points]
    [(10, 0.11), (20, 0.0)]
    """
    if not hasattr(learner, "partial_fit"):
        raise InputError(f"{type(learner).__name__} cannot learn in pieces; use one that can")
    if batch < 1 or every < 1:
        raise InputError(f"got batch={batch}, every={every}; give at least 1")
    X, Y = (one.tocsr() if sp.issparse(one) else np.asarray(one) for one in (X, Y))
    tally, random = Tally(), check_random_state(random_state)
    for start in range(0, X.shape[0], batch):
        rows = slice(start, min(start + batch, X.shape[0]))
        if hasattr(learner, "classes_"):
            scores = learner.decision_function(X[rows])
            means = metrics.evaluate_ranking(Y[rows], scores, ties=ties, random_state=random)
            tally.add(means, rows.stop - rows.start)
        learner.partial_fit(X[rows], Y[rows], **({} if start else {"classes": classes}))
        done = rows.stop == X.shape[0]
        if tally.n_recent and (rows.stop // every > start // every or done):
            yield CurvePoint(rows.stop, *tally.close())


class Tally:
    """Sums of criteria since the last point and since the beginning."""

    def __init__(self) -> None:
        self.recent: dict[str, float] = {}
        self.overall: dict[str, float] = {}
        self.n_recent = self.n_overall = 0

    def add(self, means: dict[str, float], size: int) -> None:
        """Count `size` more examples with these means."""
        for name, mean in means.items():
            self.recent[name] = self.recent.get(name, 0.0) + size * mean
        self.n_recent += size

    def close(self) -> tuple[dict[str, float], dict[str, float]]:
        """Means since the last point and since the beginning; the next point starts at zero."""
        for name, total in self.recent.items():
            self.overall[name] = self.overall.get(name, 0.0) + total
        self.n_overall += self.n_recent
        recent = {name: total / self.n_recent for name, total in self.recent.items()}
        overall = {name: total / self.n_overall for name, total in self.overall.items()}
        self.recent, self.n_recent = {}, 0
        return recent, overall


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
    """Show what more data would give: teach copies of a tagger growing parts of the documents.

    The parts are nested, in one random order. Every copy has the labels of the fitted tagger.

    Parameters
    ----------
    tagger : fitted Tagger
    documents, labels : to learn; texts or features, label lists or relevance in its columns
    test_documents, test_labels : to test
    shares : sequence of float
        Parts of the documents, above 0 up to 1.
    random_state : int, RandomState or None
    progress : function or None
        Called with the number of finished parts and of all parts.

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
    known, Y = Checked(tagger.relevance(test_labels)), tagger.relevance(labels)
    order = check_random_state(random_state).permutation(Y.shape[0])
    sizes = sorted({max(round(share * len(order)), 2) for share in shares})
    points = []
    for done, size in enumerate(sizes):
        if progress is not None:
            progress(done, len(sizes))
        rows = order[:size]
        part = [documents[i] for i in rows] if isinstance(documents, list) else documents[rows]
        learned = clone(tagger).fit(part, Y[rows], label_names=tagger.label_names_)
        scores, members = learned.answer(test_documents)
        points.append(LearningPoint(size, metrics.evaluate(known, scores, predicted=members)))
    return points


class CapacityPoint(NamedTuple):
    """The value of a parameter, and the errors of a learner with that value."""

    value: Any
    training_error: float
    test_error: float


def capacity_curve(
    learner: Any,
    parameter: str,
    values: Iterable[Any],
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    *,
    scorer: str = "micro_f1",
) -> list[CapacityPoint]:
    """Training and test error of a learner along a parameter that controls its capacity.

    Where the training error still falls and the test error rises, the learner over-fits.
    (scikit-learn's `validation_curve` does the same by folds, but takes no sparse Y.)

    Parameters
    ----------
    learner : estimator
    parameter : str
        Its name, as in `set_params`: C, n_neighbors, alpha, estimator__C, ...
    values : iterable
    train, test : (X, Y)
    scorer : str
        A scorer of `labelrank.metrics.get_scorer`. The error is 1 - its value, or the loss itself
        where it is one.

    Returns
    -------
    list of CapacityPoint

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import InvertedIndexKNN
    >>> from labelrank.evaluation import capacity_curve
    >>> random = np.random.default_rng(0)
    >>> X = random.random((60, 5))
    >>> Y = (X[:, :2] + 0.3 * random.normal(size=(60, 2)) > 0.5).astype(int)
    >>> data = (X[:40], Y[:40]), (X[40:], Y[40:])
    >>> curve = capacity_curve(InvertedIndexKNN(), "n_neighbors", [1, 10], *data)
    >>> curve[0].training_error, curve[0].test_error > curve[1].test_error
    (0.0, True)
    """
    criterion, values = metrics.get_scorer(scorer), list(values)
    X, Y = (
        sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
        for parts in zip(train, test, strict=True)
    )
    split = np.split(np.arange(Y.shape[0]), [train[1].shape[0]])
    search = GridSearchCV(
        learner, {parameter: values}, cv=[split], scoring=criterion, refit=False,
        return_train_score=True, error_score="raise",
    ).fit(X, Y)  # fmt: skip
    best = 0.0 if getattr(criterion, "sign", 1) < 0 else 1.0  # a loss is negated
    errors = (best - search.cv_results_[f"mean_{part}_score"] for part in ("train", "test"))
    return [CapacityPoint(*point) for point in zip(values, *(e.tolist() for e in errors))]


def draw_capacity(points: Sequence[CapacityPoint], parameter: str, ax: Any = None) -> Any:
    """Both errors along the parameter; returns the axes.

    >>> points = [CapacityPoint(0.1, 0.3, 0.4), CapacityPoint(1.0, 0.1, 0.5)]
    >>> draw_capacity(points, "C").get_xlabel()
    'C'
    """
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(5, 3.5), layout="constrained").subplots()
    values = [point.value for point in points]
    ax.plot(values, [point.training_error for point in points], "o-", label="training error")
    ax.plot(values, [point.test_error for point in points], "s--", label="test error")
    if min(values) > 0 and max(values) >= 20 * min(values):
        ax.set_xscale("log")
    ax.set_xlabel(parameter)
    ax.set_ylabel("error")
    ax.legend()
    return ax
