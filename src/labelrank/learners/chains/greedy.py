"""Independent classifiers and the greedy chain (Read, Martino & Luengo, Sections 3.1 and 3.2).

Independent classifiers (Eq. 3): each column takes its most probable class,

    ŷ_l = argmax p(y_l | x).

The greedy chain (Eq. 8) also sees the classes taken before it:

    ŷ_l = argmax p(y_l | x, ŷ_1, ..., ŷ_{l-1}).
"""

from dataclasses import dataclass
from typing import Any

from labelrank.declared import folds, stored
from labelrank.learners.chains.base import ChainLearner, Order
from labelrank.learners.chains.scorers import Decoding, Scorer


def greedy(scorer: Scorer) -> Decoding:
    """The most probable class link by link, and each column's log probabilities on the way."""
    codes, met = scorer.no_labels(scorer.n_rows), []
    for position, link in enumerate(scorer.links):
        met.append(scorer.log_proba(position, codes))
        codes[:, link.column] = met[-1].argmax(axis=1)
    return Decoding(codes, lambda: scorer.by_column(met))


@stored("IndependentClassifiers", 1)
class IndependentClassifiers(ChainLearner):
    """One classifier per column, each by itself (IC; binary relevance).

    Parameters
    ----------
    estimator : classifier with `predict_proba`, "logistic-fast" or None
        None is "logistic-fast": logistic regression, all columns solved side by side.
    targets : {"auto", "relevance", "classes"}
        What a matrix Y holds. "relevance": 0 irrelevant, above 0 relevant. "classes": each column
        is a variable of two or more classes (multi-dimensional classification). "auto": a dense
        matrix of integers beyond 0 and 1, or of strings, holds classes; any other relevance.
    n_jobs : int or None
        Links trained side by side: our logistic ones on threads, others by joblib's backend.
    random_state : int, RandomState or None, for links that are random

    Attributes
    ----------
    order_ : ndarray, the columns in chain order
    estimators_ : list of the fitted links, in chain order
    column_classes_ : list of the classes of each column

    Examples
    --------
    >>> from labelrank import IndependentClassifiers
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> IndependentClassifiers().fit(X, Y).predict([[3.0]])
    array([[1, 0]])
    """

    def parents(self, order: Order, position: int) -> Order:
        return ()

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        return greedy(scorer)


@stored("ClassifierChain", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierChain(ChainLearner):
    """Greedy classifier chain (CC): each link takes the most probable class after those taken.

    Scores are the log odds of a label after the labels taken before it. Parameters and attributes
    not named here are those of `IndependentClassifiers`.

    Parameters
    ----------
    order : sequence of columns, "random" or None (their own order)
        `random_state` also draws a random order.
    cv : int, splitter or None
        With it, links learn from cross-validated predictions of the earlier labels, not from the
        true ones (slower: links wait for each other).

    Examples
    --------
    >>> from labelrank import ClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> chain = ClassifierChain(order=[1, 0]).fit(X, Y)
    >>> chain.predict([[3.0]]), chain.order_
    (array([[1, 0]]), array([1, 0]))
    """

    order: Any = None
    cv: Any = folds()

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        return greedy(scorer)
