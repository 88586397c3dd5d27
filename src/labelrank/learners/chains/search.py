"""Search for a good order of a chain (MsCC and VsCC of Read, Martino & Luengo)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import array, choice, flag, nested, number, stored, value
from labelrank.errors import InputError
from labelrank.learners.chains.base import ColumnLearner, check_inner
from labelrank.learners.chains.greedy import CHAINS, chain_of
from labelrank.learners.chains.links import (
    Link,
    Training,
    base_estimator,
    draw_seeds,
    narrow,
    train_links,
)
from labelrank.learners.chains.logistic import LogisticLink
from labelrank.learners.chains.scorers import Decoding, FittedChain, Scorer, log_joint
from labelrank.learners.chains.targets import Encoding
from labelrank.learners.chains.trellis import Trellis
from labelrank.resources import run_jobs

_SWAPS_PER_ROUND = 10
_LOWEST_LOG = -700.0


@stored(
    "ChainSearch",
    1,
    chain_=nested(*CHAINS),
    orders_=array("i8", "chains", "columns", below="columns"),
    payoffs_=array("f8", "chains"),
    n_links_trained_=value(int, least=0),
)
@dataclass(kw_only=True, eq=False, repr=False)
class ChainSearch(ColumnLearner):
    """The best of many orders of a chain, judged on held-out instances.

    Links are kept by what they predict and which labels they see: an order that shares links with
    one tried before does not train them again. A swap of two labels of a Viterbi chain retrains at
    most the four links beside them. Searching with "logistic-fast" links solves all new links of
    all orders side by side.

    Parameters
    ----------
    estimator : a chain (ClassifierChain, MonteCarloClassifierChain, ...) or None
        The kind of chain, with its base learner; None is `ClassifierChain()`. Its own `order` is
        not used.
    n_chains : int, default 50
        Orders to try.
    proposal : {"random", "swap"}
        "random": independent random orders, as in the paper. "swap": from the best order so far,
        swap two labels; proposals are judged in rounds of ten.
    payoff : {"exact_match", "jaccard", "log_likelihood"}
        What is maximised on the held-out instances ("jaccard" for relevance only).
    validation_fraction : float in (0, 1), default 0.33
    refit : bool, default True
        Train the best order again on all instances.
    targets, n_jobs, random_state
        As in `ClassifierChain`; the links of all orders are trained in parallel.

    Attributes
    ----------
    chain_ : the best chain, fitted
    order_, estimators_, column_classes_ : of that chain
    orders_ : ndarray (n_chains, L), the orders tried
    payoffs_ : ndarray (n_chains,)
    n_links_trained_ : int, links trained in the search (without the refit)

    Examples
    --------
    >>> from labelrank import ChainSearch, ViterbiClassifierChain
    >>> X = [[0.0], [1.0], [2.0], [3.0]] * 3
    >>> Y = [[0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 1]] * 3
    >>> search = ChainSearch(ViterbiClassifierChain(), n_chains=6, random_state=0).fit(X, Y)
    >>> search.predict([[3.0]]), search.payoffs_.shape
    (array([[1, 0, 1]]), (6,))
    """

    n_chains: int = number(50, least=1, whole=True)
    proposal: str = choice("random", "swap")
    payoff: str = choice("exact_match", "jaccard", "log_likelihood")
    validation_fraction: float = number(0.33, above=0, most=1)
    refit: bool = flag(True)

    @property
    def order_(self) -> Int64:
        """The best order."""
        return self.chain_.order_

    @property
    def estimators_(self) -> list[Any]:
        """The fitted classifiers of the links of the best chain, in chain order."""
        return self.chain_.estimators_

    def _check_combinations(self) -> None:
        if chain_of(self.estimator).cv is not None:
            raise InputError(
                "got a chain with cv, whose links cannot be shared between orders; use cv=None"
            )
        if self.validation_fraction == 1:
            raise InputError("got validation_fraction=1.0; give a number below 1")

    def train(self, X: Any, codes: Int32) -> None:
        """Judge orders on a part of the instances, and keep the chain of the best."""
        if self.payoff == "jaccard" and (self.target_.holds_classes or self.target_.one_class):
            raise InputError(
                "got payoff='jaccard' for columns of classes; use 'exact_match' or 'log_likelihood'"
            )
        rng = check_random_state(self.random_state)
        X, n_columns = narrow(X), codes.shape[1]
        self.chain_ = chain_of(self.estimator).inside(self)
        contest = _Contest(self, X, codes, rng)
        contest.judge([rng.permutation(n_columns) for _ in range(self._n_first)])
        while len(contest.orders) < self.n_chains:
            n_more = min(_SWAPS_PER_ROUND, self.n_chains - len(contest.orders))
            contest.judge([_swapped(contest.best_order, rng) for _ in range(n_more)])
        self.orders_, self.payoffs_ = np.array(contest.orders), np.array(contest.payoffs)
        self.n_links_trained_ = len(contest.models)
        if self.refit:
            training = contest.training._replace(
                X=X, codes=codes, encoding=Encoding.of(codes, self.column_classes_)
            )
            links = self.chain_.links(contest.best_order)
            models = train_links(links, training, self.n_jobs)
            self.chain_.model_ = FittedChain(links, models, training.encoding, contest.seed)
        else:
            self.chain_.model_ = contest.fitted(contest.best_order)

    @property
    def _n_first(self) -> int:
        return self.n_chains if self.proposal == "random" else 1

    def after_loading(self) -> None:
        check_inner([self.chain_], self)

    def decode(self, X: Any) -> Decoding:
        """The paths of the best chain."""
        return self.chain_.decode(X)

    def log_joint(self, X: Any, Y: Any) -> Array:
        """Log probability (n,) of the given targets under the best chain."""
        return self.chain_.log_joint(X, Y)

    def trellis(self, x: Any) -> Trellis:
        """The trellis of one instance in the best chain."""
        return self.chain_.trellis(x)


class _Contest:
    """Orders tried on one split of the data, and every link trained for them."""

    def __init__(
        self, search: ChainSearch, X: Any, codes: Int32, rng: np.random.RandomState
    ) -> None:
        n = X.shape[0]
        shuffled = rng.permutation(n)
        n_held = min(max(1, round(search.validation_fraction * n)), n - 1)
        held, trained = shuffled[:n_held], shuffled[n_held:]
        seeds = draw_seeds(rng, codes.shape[1])
        self.chain, self.payoff, self.n_jobs = search.chain_, search.payoff, search.n_jobs
        self.seed = int(seeds[0])
        encoding = Encoding.of(codes[trained], search.column_classes_)
        base = base_estimator(self.chain.estimator)
        self.training = Training(X[trained], codes[trained], encoding, base, seeds)
        held = held if n_held else trained
        self.X_held, self.codes_held = X[held], codes[held]
        self.models: dict[Link, Any] = {}
        self.orders: list[Array] = []
        self.payoffs: list[float] = []

    @property
    def best_order(self) -> Array:
        return self.orders[int(np.argmax(self.payoffs))]

    def judge(self, orders: Sequence[Array]) -> None:
        """Train the links that no earlier order had, then take each order's payoff."""
        distinct = dict.fromkeys(link for order in orders for link in self._shared_links(order))
        new = [link for link in distinct if link not in self.models]
        fitted = train_links(new, self.training, self.n_jobs)
        self.models.update(zip(new, fitted, strict=True))
        # Only our own links are known to be safe and quick on threads.
        threads = self.n_jobs if isinstance(self.training.base, LogisticLink) else 1
        self.payoffs += run_jobs([partial(self._payoff, order) for order in orders], threads)
        self.orders += orders

    def fitted(self, order: Array) -> FittedChain:
        """The chain of the links trained for an order."""
        links = self._shared_links(order)
        models = [self.models[link] for link in links]
        return FittedChain(links, models, self.training.encoding, self.seed)

    def _shared_links(self, order: Array) -> list[Link]:
        """Links that see the labels before them sorted, so that orders can share them."""
        return [Link(k.column, tuple(sorted(k.parents))) for k in self.chain.links(order)]

    def _payoff(self, order: Array) -> float:
        scorer = self.fitted(order).scorer(self.X_held)
        if self.payoff == "log_likelihood":
            return _log_likelihood(scorer, self.codes_held)
        chosen = self.chain.choose(scorer, self.seed).codes
        return _PAYOFFS[self.payoff](chosen, self.codes_held)


def _log_likelihood(scorer: Scorer, codes: Int32) -> float:
    log: Float64 = np.maximum(log_joint(scorer, codes), _LOWEST_LOG)
    return float(log.mean())


def _exact_match(chosen: Int32, codes: Int32) -> float:
    return float(((chosen == codes) | (codes < 0)).all(axis=1).mean())


def _jaccard(chosen: Int32, codes: Int32) -> float:
    predicted, relevant = (chosen > 0) & (codes >= 0), codes > 0
    both, either = (predicted & relevant).sum(axis=1), (predicted | relevant).sum(axis=1)
    return float(np.where(either == 0, 1.0, both / np.maximum(either, 1)).mean())


_PAYOFFS = {"exact_match": _exact_match, "jaccard": _jaccard}


def _swapped(order: Array, rng: np.random.RandomState) -> Array:
    swapped = order.copy()
    if len(order) > 1:
        a, b = rng.choice(len(order), size=2, replace=False)
        swapped[[a, b]] = swapped[[b, a]]
    return swapped
