"""Many orders of a chain: one learner keeps the best of them (MsCC, VsCC), one lets all vote."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import array, choice, flag, nested, number, stored, value
from labelrank.errors import InputError
from labelrank.learners.chains.base import ChainLearner, ColumnLearner, Order
from labelrank.learners.chains.greedy import ClassifierChain
from labelrank.learners.chains.links import Link, draw_seeds, train_links
from labelrank.learners.chains.logistic import LogisticLink
from labelrank.learners.chains.scorers import Decoding, FittedChain, Scorer
from labelrank.learners.chains.trellis import Trellis
from labelrank.resources import run_jobs

_SWAPS_PER_ROUND = 10
_LOWEST_LOG = -700.0

# The chains a search or an ensemble can be made of, by their names in model files.
CHAINS = (
    "ClassifierChain", "ProbabilisticClassifierChain",
    "MonteCarloClassifierChain", "ViterbiClassifierChain",
)  # fmt: skip


def chain_of(estimator: Any) -> ClassifierChain:
    """The chain a search or an ensemble is made of; None is a ClassifierChain."""
    if estimator is None:
        return ClassifierChain()
    if not isinstance(estimator, ClassifierChain):
        raise InputError(
            f"got estimator={estimator!r}; give a chain such as ClassifierChain(base learner)"
        )
    return estimator


@stored(
    "ChainSearch",
    1,
    orders_=array("i8", "chains", "columns", below="columns"),
    payoffs_=array("f8", "chains"),
    n_links_trained_=value(int, least=0),
)
@dataclass(kw_only=True, eq=False, repr=False)
class ChainSearch(ChainLearner):
    """The best of many orders of a chain, judged on held-out instances (MsCC, VsCC).

    Links that orders share are trained once: a swap of two labels of a Viterbi chain retrains at
    most the four links beside them. New "logistic-fast" links are solved side by side.

    Parameters
    ----------
    estimator : a chain or None
        The kind of chain, with its base learner; None is `ClassifierChain()`.
    n_chains : int, default 50, orders to try
    proposal : {"random", "swap"}
        "random": independent random orders, as in the paper. "swap": from the best order so far,
        swap two labels; proposals are judged in rounds of ten.
    payoff : {"exact_match", "jaccard", "log_likelihood"}
        What is maximised on the held-out instances ("jaccard" for relevance only).
    validation_fraction : float in (0, 1), default 0.33
    refit : bool, default True, train the best order again on all instances
    targets, n_jobs, random_state : as in `ClassifierChain`

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
    def kind(self) -> ClassifierChain:
        """The kind of chain whose orders are tried, not fitted."""
        return chain_of(self.estimator)

    @property
    def base(self) -> Any:
        return self.kind.base

    @property
    def chain_(self) -> ClassifierChain:
        chain = self.kind.inside(self)
        chain.model_ = self.model_
        return chain

    def parents(self, order: Order, position: int) -> Order:
        return self.kind.parents(order, position)

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        return self.kind.choose(scorer, seed)

    def _check_combinations(self) -> None:
        self.kind.check_parameters()
        if self.kind.cv is not None:
            raise InputError(
                "got a chain with cv, whose links cannot be shared between orders; use cv=None"
            )
        if self.validation_fraction == 1:
            raise InputError("got validation_fraction=1.0; give a number below 1")

    def train(self, X: Any, codes: Int32) -> None:
        if self.payoff == "jaccard" and (self.target_.holds_classes or self.target_.one_class):
            raise InputError(
                "got payoff='jaccard' for columns of classes; use 'exact_match' or 'log_likelihood'"
            )
        rng, n_columns = check_random_state(self.random_state), codes.shape[1]
        contest = _Contest(self, X, codes, rng)
        n_first = self.n_chains if self.proposal == "random" else 1
        contest.judge([rng.permutation(n_columns) for _ in range(n_first)])
        while len(contest.orders) < self.n_chains:
            n_more = min(_SWAPS_PER_ROUND, self.n_chains - len(contest.orders))
            contest.judge([_swapped(contest.best_order, rng) for _ in range(n_more)])
        self.orders_, self.payoffs_ = np.array(contest.orders), np.array(contest.payoffs)
        self.n_links_trained_ = len(contest.models)
        if self.refit:
            links = self.links(contest.best_order)
            training = self.training(X, codes, contest.training.seeds)
            self.model_ = FittedChain.of(links, train_links(links, training, self.n_jobs), training)
        else:
            self.model_ = contest.fitted(contest.best_order)

    def after_loading(self) -> None:
        self.chain_.after_loading()


class _Contest:
    """Orders tried on one split of the data, and every link trained for them."""

    def __init__(
        self, search: ChainSearch, X: Any, codes: Int32, rng: np.random.RandomState
    ) -> None:
        n = X.shape[0]
        shuffled = rng.permutation(n)
        n_held = min(max(1, round(search.validation_fraction * n)), n - 1)
        trained = shuffled[n_held:]
        held = shuffled[:n_held] if n_held else trained
        seeds = draw_seeds(rng, codes.shape[1])
        self.training = search.training(X[trained], codes[trained], seeds)
        self.X_held, self.codes_held, self.search = X[held], codes[held], search
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
        n_jobs = self.search.n_jobs
        self.models |= zip(new, train_links(new, self.training, n_jobs), strict=True)
        # Only our own links are known to be safe and quick on threads.
        threads = n_jobs if isinstance(self.training.base, LogisticLink) else 1
        self.payoffs += run_jobs([partial(self._payoff, order) for order in orders], threads)
        self.orders += orders

    def fitted(self, order: Array) -> FittedChain:
        links = self._shared_links(order)
        return FittedChain.of(links, [self.models[link] for link in links], self.training)

    def _shared_links(self, order: Array) -> list[Link]:
        """Links that see the labels before them sorted, so that orders can share them."""
        return [Link(k.column, tuple(sorted(k.parents))) for k in self.search.links(order)]

    def _payoff(self, order: Array) -> float:
        chain, codes = self.fitted(order), self.codes_held
        scorer = chain.scorer(self.X_held)
        if self.search.payoff == "log_likelihood":
            return float(np.maximum(scorer.log_joint(codes), _LOWEST_LOG).mean())
        chosen = self.search.choose(scorer, chain.seed).codes
        if self.search.payoff == "exact_match":
            return float(((chosen == codes) | (codes < 0)).all(axis=1).mean())
        predicted, relevant = (chosen > 0) & (codes >= 0), codes > 0
        both, either = (predicted & relevant).sum(axis=1), (predicted | relevant).sum(axis=1)
        return float(np.where(either == 0, 1.0, both / np.maximum(either, 1)).mean())


def _swapped(order: Array, rng: np.random.RandomState) -> Array:
    swapped = order.copy()
    if len(order) > 1:
        a, b = rng.choice(len(order), size=2, replace=False)
        swapped[[a, b]] = swapped[[b, a]]
    return swapped


@stored("ChainEnsemble", 1, estimators_=nested(*CHAINS, many=True))
@dataclass(kw_only=True, eq=False, repr=False)
class ChainEnsemble(ColumnLearner):
    """Chains of random orders that vote (ensemble of classifier chains).

    Scores are log odds of the mean vote; `log_joint` is that of the mixture of the chains.

    Parameters
    ----------
    estimator : a chain or None (`ClassifierChain()`)
    n_chains : int, default 10
    voting : {"hard", "soft"}
        "hard": each chain votes for its path. "soft": each gives its probabilities.
    sample_size : float in (0, 1], default 1.0, share of the instances that each chain learns from
    targets, n_jobs, random_state : as in `ClassifierChain`

    Attributes
    ----------
    estimators_ : list of the fitted chains
    order_ : ndarray (n_chains, L), their orders

    Examples
    --------
    >>> from labelrank import ChainEnsemble
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> ChainEnsemble(n_chains=3, random_state=0).fit(X, Y).predict([[3.0]])
    array([[1, 0]])
    """

    n_chains: int = number(10, least=1, whole=True)
    voting: str = choice("hard", "soft")
    sample_size: float = number(1.0, above=0, most=1)

    @property
    def order_(self) -> Int64:
        """The orders of the chains, one per row."""
        return np.array([chain.order_ for chain in self.estimators_])

    def train(self, X: Any, codes: Int32) -> None:
        size = max(1, round(self.sample_size * X.shape[0]))
        self.estimators_: list[ClassifierChain] = []
        for seed in draw_seeds(check_random_state(self.random_state), self.n_chains).tolist():
            chain = chain_of(self.estimator).inside(
                self, random_state=seed, order="random", n_jobs=self.n_jobs
            )
            rows: Any = slice(None)
            if self.sample_size < 1:
                rows = np.random.default_rng(seed).permutation(X.shape[0])[:size]
            chain.train(X[rows], codes[rows])
            self.estimators_.append(chain)

    def after_loading(self) -> None:
        form = [self.n_features_in_, *map(len, self.column_classes_)]
        for chain in self.estimators_:
            if [chain.n_features_in_, *map(len, chain.column_classes_)] != form:
                raise ValueError("a chain does not fit the ensemble that holds it")

    def decode(self, X: Any) -> Decoding:
        decoded = [chain.decode(X) for chain in self.estimators_]
        if self.voting == "soft":
            by_chain = [one.log_marginals() for one in decoded]
            marginals = [_log_mean(list(same)) for same in zip(*by_chain, strict=True)]
        else:
            sizes = enumerate(map(len, self.column_classes_))
            marginals = [_log_votes([one.codes[:, c] for one in decoded], k) for c, k in sizes]
        codes = np.column_stack([m.argmax(axis=1) for m in marginals]).astype(np.int32)
        return Decoding(codes, lambda: marginals)

    def log_joint(self, X: Any, Y: Any) -> Array:
        """Log probability (n,) of the given targets under the mixture of the chains."""
        check_is_fitted(self)
        return _log_mean([chain.log_joint(X, Y) for chain in self.estimators_])

    def trellis(self, x: Any, chain: int = 0) -> Trellis:
        """The trellis of one instance in one of the chains."""
        check_is_fitted(self)
        return self.estimators_[chain].trellis(x)


def _log_mean(logs: list[Array]) -> Float64:
    return np.asarray(logsumexp(np.stack(logs), axis=0) - np.log(len(logs)))


def _log_votes(chosen: list[Array], size: int) -> Float64:
    """Log share of the votes, one vote in all spread evenly so that no share is zero."""
    votes = np.full((len(chosen[0]), size), 1.0 / size)
    for codes in chosen:
        votes[np.arange(len(codes)), codes] += 1.0
    return np.log(votes / (len(chosen) + 1))
