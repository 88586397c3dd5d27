"""Search for a good order of a chain (MsCC and VsCC of paper 004)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.chains.base import ChainLearner, draw_seeds
from labelrank.learners.chains.greedy import inner_chain
from labelrank.learners.chains.inference import Codes, log_joint
from labelrank.learners.chains.links import Link, Scorer, base_estimator, make_scorer, train_links
from labelrank.learners.chains.logistic import LogisticLink
from labelrank.learners.chains.targets import Encoding, Targets
from labelrank.resources import run_jobs

_SWAPS_A_ROUND = 10
_LOWEST_LOG = -700.0


def _exact_match(chain: ChainLearner, scorer: Scorer, codes: Codes) -> float:
    agree = (chain._decode(scorer) == codes) | (codes < 0)
    return float(agree.all(axis=1).mean())


def _jaccard(chain: ChainLearner, scorer: Scorer, codes: Codes) -> float:
    known = codes >= 0
    predicted, relevant = (chain._decode(scorer) > 0) & known, codes > 0
    both, either = (predicted & relevant).sum(axis=1), (predicted | relevant).sum(axis=1)
    return float(np.where(either == 0, 1.0, both / np.maximum(either, 1)).mean())


def _log_likelihood(chain: ChainLearner, scorer: Scorer, codes: Codes) -> float:
    return float(np.maximum(log_joint(scorer, codes), _LOWEST_LOG).mean())


_PAYOFFS = {
    "exact_match": _exact_match,
    "jaccard": _jaccard,
    "log_likelihood": _log_likelihood,
}


class ChainSearch(ChainLearner):
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
        "random": independent random orders (as 004). "swap": from the best order so far, swap two
        labels; proposals are judged in rounds of ten.
    payoff : {"exact_match", "jaccard", "log_likelihood"}
        What is maximised on the held-out instances ("jaccard" for relevance only).
    validation_fraction : float, default 0.33
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

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_chains: int = 50,
        proposal: str = "random",
        payoff: str = "exact_match",
        validation_fraction: float = 0.33,
        refit: bool = True,
        targets: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.proposal = proposal
        self.payoff = payoff
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.targets = targets
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        chain = inner_chain(self.estimator)
        chain._check()
        if getattr(chain, "cv", None) is not None:
            raise InputError(
                "got a chain with cv, whose links cannot be shared between orders; use cv=None"
            )
        check_choice("payoff", self.payoff, tuple(_PAYOFFS))
        check_choice("proposal", self.proposal, ("random", "swap"))
        check_at_least("n_chains", self.n_chains, 1)
        if not 0 < self.validation_fraction < 1:
            raise InputError(
                f"got validation_fraction={self.validation_fraction!r}; give a number in (0, 1)"
            )

    def _learn_columns(self, X: Any, targets: Targets) -> None:
        if self.payoff == "jaccard" and (self._multidimensional or self._one_class):
            raise InputError(
                "got payoff='jaccard' for columns of classes; use 'exact_match' or 'log_likelihood'"
            )
        rng = check_random_state(self.random_state)
        self.chain_ = clone(inner_chain(self.estimator))
        self.chain_._adopt(self)
        trial = _Trial(self.chain_, X, targets, self, rng)
        n_columns = targets.codes.shape[1]
        if self.proposal == "random":
            trial.judge([rng.permutation(n_columns) for _ in range(self.n_chains)])
        else:
            trial.climb(self.n_chains, rng)
        self.orders_, self.payoffs_ = np.array(trial.orders), np.array(trial.payoffs)
        self.n_links_trained_ = len(trial.models)
        self._settle(X, targets, trial)

    def _settle(self, X: Any, targets: Targets, trial: "_Trial") -> None:
        links = self.chain_.links(trial.best_order)
        if self.refit:
            base = base_estimator(self.chain_.estimator)
            encoding = Encoding(targets)
            models = train_links(links, X, targets.codes, encoding, base, trial.seeds, self.n_jobs)
        else:
            links = [_any_order(link) for link in links]
            encoding, models = trial.encoding, [trial.models[link] for link in links]
        seed = int(trial.seeds[0])
        self.chain_._take(links, models, encoding, seed)
        self._take(links, models, encoding, seed)

    def _decode(self, scorer: Scorer) -> Codes:
        return self.chain_._decode(scorer)

    def _decode_marginals(self, scorer: Scorer) -> list[Array]:
        return self.chain_._decode_marginals(scorer)


class _Trial:
    """Orders tried on one split of the data, and every link trained for them."""

    def __init__(
        self,
        chain: ChainLearner,
        X: Any,
        targets: Targets,
        search: ChainSearch,
        rng: np.random.RandomState,
    ) -> None:
        shuffled = rng.permutation(X.shape[0])
        n_held = min(max(1, round(search.validation_fraction * X.shape[0])), X.shape[0] - 1)
        held, trained = shuffled[:n_held], shuffled[n_held:]
        self.seeds = draw_seeds(rng, targets.codes.shape[1])
        self.X, self.codes = X[trained], targets.codes[trained]
        held = held if n_held else trained
        self.X_held, self.codes_held = X[held], targets.codes[held]
        self.encoding = Encoding(Targets(self.codes, targets.classes))
        self.chain, self.search = chain, search
        self.base = base_estimator(chain.estimator)
        chain._seed = int(self.seeds[0])
        self.models: dict[Link, Any] = {}
        self.orders: list[Array] = []
        self.payoffs: list[float] = []

    @property
    def best_order(self) -> Array:
        return self.orders[int(np.argmax(self.payoffs))]

    def judge(self, orders: Sequence[Array]) -> None:
        """Train the links that no earlier order had, then take each order's payoff."""
        chains = [[_any_order(link) for link in self.chain.links(order)] for order in orders]
        distinct = dict.fromkeys(link for links in chains for link in links)
        new = [link for link in distinct if link not in self.models]
        fitted = train_links(
            new, self.X, self.codes, self.encoding, self.base, self.seeds, self.search.n_jobs
        )
        self.models.update(zip(new, fitted, strict=True))
        jobs = [partial(self._payoff, links) for links in chains]
        # Only our own links are known to be safe and quick on threads.
        threads = self.search.n_jobs if isinstance(self.base, LogisticLink) else 1
        self.payoffs += run_jobs(jobs, threads)
        self.orders += [np.asarray(order) for order in orders]

    def climb(self, n_chains: int, rng: np.random.RandomState) -> None:
        n_columns = self.codes.shape[1]
        self.judge([rng.permutation(n_columns)])
        while len(self.orders) < n_chains:
            n_more = min(_SWAPS_A_ROUND, n_chains - len(self.orders))
            self.judge([_swapped(self.best_order, rng) for _ in range(n_more)])

    def _payoff(self, links: list[Link]) -> float:
        models = [self.models[link] for link in links]
        scorer = make_scorer(links, models, self.encoding, self.X_held)
        return _PAYOFFS[self.search.payoff](self.chain, scorer, self.codes_held)


def _any_order(link: Link) -> Link:
    """The same link whatever the order of the labels it sees, so that orders share it."""
    return Link(link.column, tuple(sorted(link.parents)))


def _swapped(order: Array, rng: np.random.RandomState) -> Array:
    swapped = order.copy()
    if len(order) > 1:
        a, b = rng.choice(len(order), size=2, replace=False)
        swapped[[a, b]] = swapped[[b, a]]
    return swapped
