"""Chains of classifiers for multi-label and multi-dimensional targets (paper 004).

One classifier a column ("link"), applied along an order of the columns:

| learner | a link sees | inference |
|---|---|---|
| `IndependentClassifiers` (IC) | x | each column by itself |
| `ClassifierChain` (CC) | x and all earlier labels | greedy |
| `ProbabilisticClassifierChain` (PCC) | x and all earlier labels | exact, beam, ε-approximate |
| `MonteCarloClassifierChain` (MCC) | x and all earlier labels | best of sampled paths |
| `ViterbiClassifierChain` (VCC) | x and the label before | exact, by the Viterbi algorithm |

Orders are searched in `chain_search` (MsCC, VsCC), paths in `chain_inference`, links trained in
`chain_links`.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.chains import inference
from labelrank.learners.chains.base import ChainLearner, Order
from labelrank.learners.chains.inference import Codes, Exploration
from labelrank.learners.chains.links import Scorer
from labelrank.learners.chains.targets import Targets


class IndependentClassifiers(ChainLearner):
    """One classifier a column, each by itself (IC; binary relevance).

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
    random_state : int, RandomState or None
        Seeds links that are random.

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

    def __init__(
        self,
        estimator: Any = None,
        *,
        targets: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.targets = targets
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _parents(self, order: Order, position: int) -> Order:
        return ()

    def _decode(self, scorer: Scorer) -> Codes:
        return inference.greedy(scorer)[0]

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        return inference.greedy(scorer)[1]


class ClassifierChain(ChainLearner):
    """Greedy classifier chain (CC): each link takes the most probable class after those taken.

    Scores are the log odds of a label after the labels taken before it; `predict_proba` gives the
    probabilities they stand for.

    Parameters
    ----------
    estimator, targets, n_jobs, random_state
        As in `IndependentClassifiers`; `random_state` also draws a random order.
    order : sequence of columns, "random" or None (their own order)
    cv : int, splitter or None
        With it, links see cross-validated predictions of the earlier labels in training instead
        of the true labels (slower: links wait for each other).

    Attributes
    ----------
    order_, estimators_, column_classes_
        As in `IndependentClassifiers`.

    Examples
    --------
    >>> from labelrank import ClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> chain = ClassifierChain(order=[1, 0]).fit(X, Y)
    >>> chain.predict([[3.0]]), chain.order_
    (array([[1, 0]]), array([1, 0]))
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        cv: Any = None,
        targets: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.cv = cv
        self.targets = targets
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _decode(self, scorer: Scorer) -> Codes:
        return inference.greedy(scorer)[0]

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        return inference.greedy(scorer)[1]


class ProbabilisticClassifierChain(ClassifierChain):
    """The most probable path of a full chain (PCC).

    Scores are the log odds of a label after the labels of that path before it.

    Parameters
    ----------
    estimator, order, cv, targets, n_jobs, random_state
        As in `ClassifierChain`.
    inference : {"exact", "beam", "epsilon"}
        "exact": branch and bound, no path is more probable. "beam": the best of `beam_width`
        prefixes kept at each link. "epsilon": the most probable path if its probability is at
        least `epsilon`, else the best that a narrow beam finds.
    beam_width : int, default 8
    epsilon : float in (0, 1], default 0.1
    max_paths : int, default 2**16
        Exact and ε-approximate inference refuse chains with more paths than this.

    Examples
    --------
    >>> from labelrank import ProbabilisticClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> chain = ProbabilisticClassifierChain().fit(X, Y)
    >>> chain.predict([[3.0]])
    array([[1, 0]])
    >>> bool((chain.explore([[3.0]]).n_nodes <= 6).all())
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        inference: str = "exact",
        beam_width: int = 8,
        epsilon: float = 0.1,
        max_paths: int = 2**16,
        cv: Any = None,
        targets: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator, order=order, cv=cv, targets=targets, n_jobs=n_jobs, random_state=random_state
        )
        self.inference = inference
        self.beam_width = beam_width
        self.epsilon = epsilon
        self.max_paths = max_paths

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("inference", self.inference, ("exact", "beam", "epsilon"))
        check_at_least("beam_width", self.beam_width, 1)
        if not 0 < self.epsilon <= 1:
            raise InputError(f"got epsilon={self.epsilon!r}; give a number in (0, 1]")

    def _learn_columns(self, X: Any, targets: Targets) -> None:
        n_paths = float(np.prod([float(len(classes)) for classes in targets.classes]))
        if self.inference != "beam" and n_paths > self.max_paths:
            raise InputError(
                f"got a chain of {n_paths:.3g} paths, but {self.inference} inference is limited to "
                f"max_paths={self.max_paths}; use inference='beam', MonteCarloClassifierChain or "
                "ViterbiClassifierChain"
            )
        super()._learn_columns(X, targets)

    def explore(self, X: Any) -> Exploration:
        """The best paths (class codes), their log probabilities, and how many nodes were visited.

        `n_nodes` counts, for each instance, the prefixes whose link was asked; `n_all` is what
        trying every path would have asked.
        """
        check_is_fitted(self)
        return self._explore(self._scorer(self._check_X(X, reset=False)))

    def _explore(self, scorer: Scorer) -> Exploration:
        if self.inference == "beam":
            return inference.explore(scorer, beam_width=self.beam_width)
        return inference.explore(
            scorer, epsilon=self.epsilon if self.inference == "epsilon" else 0.0
        )

    def _decode(self, scorer: Scorer) -> Codes:
        return self._explore(scorer).codes

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        return inference.conditionals(scorer, self._decode(scorer))


class MonteCarloClassifierChain(ClassifierChain):
    """The most probable of sampled paths of a full chain (MCC).

    The greedy path takes part too, so no path is ever less probable than that of a
    `ClassifierChain`. Scores are log odds of marginal probabilities: the links' probabilities
    averaged over the samples. All instances are sampled by the same random numbers: an
    instance's answer does not depend on the others, and repeats.

    Parameters
    ----------
    estimator, order, cv, targets, n_jobs, random_state
        As in `ClassifierChain`; `random_state` also seeds the samples.
    n_samples : int, default 100

    Examples
    --------
    >>> from labelrank import MonteCarloClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> MonteCarloClassifierChain(n_samples=20, random_state=0).fit(X, Y).predict([[3.0]])
    array([[1, 0]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        n_samples: int = 100,
        cv: Any = None,
        targets: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator, order=order, cv=cv, targets=targets, n_jobs=n_jobs, random_state=random_state
        )
        self.n_samples = n_samples

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_at_least("n_samples", self.n_samples, 1)

    def _sample(self, scorer: Scorer) -> inference.Samples:
        uniforms = np.random.default_rng(self._seed).random((self.n_samples, len(scorer.links)))
        return inference.monte_carlo(scorer, uniforms)

    def _decode(self, scorer: Scorer) -> Codes:
        return self._sample(scorer).codes

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        return self._sample(scorer).log_marginals


class ViterbiClassifierChain(ClassifierChain):
    """The most probable path of a Markov chain of labels, exactly (VCC; 004, Table 2).

    p(y|x) = p(y_1|x) Π p(y_l|x, y_{l-1}): a link sees x and the label before it. The path is found
    by the Viterbi algorithm in a time linear in the number of labels; scores are the log odds of
    exact marginal probabilities.

    Parameters
    ----------
    estimator, order, cv, targets, n_jobs, random_state
        As in `ClassifierChain`.

    Examples
    --------
    >>> from labelrank import ViterbiClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 2], [0, 2], [1, 0], [1, 1]]
    >>> ViterbiClassifierChain().fit(X, Y).predict([[0.0]])
    array([[0, 2]])
    """

    def _parents(self, order: Order, position: int) -> Order:
        return order[max(position - 1, 0) : position]

    def _decode(self, scorer: Scorer) -> Codes:
        path = inference.viterbi(inference.transitions(scorer))
        codes = np.empty_like(path)
        codes[:, [link.column for link in scorer.links]] = path
        return codes

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        found: list[Any] = [None] * len(scorer.links)
        marginals = inference.forward(inference.transitions(scorer))
        for link, marginal in zip(scorer.links, marginals, strict=True):
            found[link.column] = marginal
        return found


def inner_chain(estimator: Any) -> ChainLearner:
    """The chain a search or an ensemble is made of; None is a ClassifierChain."""
    if estimator is None:
        return ClassifierChain()
    if not isinstance(estimator, ChainLearner) or not hasattr(estimator, "cv"):
        raise InputError(
            f"got estimator={estimator!r}; give a chain such as ClassifierChain(base learner)"
        )
    return estimator
