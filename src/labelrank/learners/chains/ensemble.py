"""Ensembles of chains: many random orders vote."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import choice, nested, number, stored
from labelrank.learners.chains.base import ColumnLearner
from labelrank.learners.chains.greedy import CHAINS, ClassifierChain, chain_of
from labelrank.learners.chains.links import draw_seeds
from labelrank.learners.chains.scorers import Decoding
from labelrank.learners.chains.trellis import Trellis


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
    sample_size : float in (0, 1], default 1.0
        Share of the instances, drawn without replacement, that each chain is trained on.
    targets, n_jobs, random_state
        As in `ClassifierChain`; the links of a chain are trained in parallel.

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
        """Train the chains one after the other, each with its own seed."""
        seeds = draw_seeds(check_random_state(self.random_state), self.n_chains)
        self.estimators_ = [self._trained(X, codes, int(seed)) for seed in seeds]

    def _trained(self, X: Any, codes: Int32, seed: int) -> ClassifierChain:
        chain = chain_of(self.estimator).inside(
            self, random_state=seed, order="random", n_jobs=self.n_jobs
        )
        if self.sample_size < 1:
            size = max(1, round(self.sample_size * X.shape[0]))
            rows = np.random.default_rng(seed).permutation(X.shape[0])[:size]
            X, codes = X[rows], codes[rows]
        chain.train(X, codes)
        return chain

    def after_loading(self) -> None:
        form = [self.n_features_in_, *map(len, self.column_classes_)]
        for chain in self.estimators_:
            if [chain.n_features_in_, *map(len, chain.column_classes_)] != form:
                raise ValueError("a chain does not fit the ensemble that holds it")

    def decode(self, X: Any) -> Decoding:
        """The classes with most votes."""
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
