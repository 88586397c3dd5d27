"""Ensembles of chains: many random orders vote."""

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.errors import InputError
from labelrank.learners.chains.base import ChainLearner, ColumnLearner, draw_seeds
from labelrank.learners.chains.greedy import inner_chain
from labelrank.learners.chains.inference import Codes
from labelrank.learners.chains.targets import Targets
from labelrank.learners.chains.trellis import Trellis


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

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_chains: int = 10,
        voting: str = "hard",
        sample_size: float = 1.0,
        targets: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.voting = voting
        self.sample_size = sample_size
        self.targets = targets
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        inner_chain(self.estimator)._check()
        check_choice("voting", self.voting, ("hard", "soft"))
        check_at_least("n_chains", self.n_chains, 1)
        if not 0 < self.sample_size <= 1:
            raise InputError(f"got sample_size={self.sample_size!r}; give a number in (0, 1]")

    def _learn_columns(self, X: Any, targets: Targets) -> None:
        rng = check_random_state(self.random_state)
        seeds = draw_seeds(rng, self.n_chains)
        self.estimators_ = [self._train(X, targets, int(seed)) for seed in seeds]
        self.order_ = np.array([chain.order_ for chain in self.estimators_])

    def _train(self, X: Any, targets: Targets, seed: int) -> ChainLearner:
        chain = clone(inner_chain(self.estimator)).set_params(random_state=seed)
        chain.set_params(order="random", n_jobs=self.n_jobs)
        chain._adopt(self)
        if self.sample_size < 1:
            size = max(1, round(self.sample_size * X.shape[0]))
            rows = np.random.default_rng(seed).permutation(X.shape[0])[:size]
            X, targets = X[rows], Targets(targets.codes[rows], targets.classes)
        chain._learn_columns(X, targets)
        return chain

    def _log_marginals(self, X: Any) -> list[Array]:
        if self.voting == "soft":
            found = [chain._log_marginals(X) for chain in self.estimators_]
            weight = np.log(len(found))
            return [logsumexp(np.stack(same), axis=0) - weight for same in zip(*found, strict=True)]
        paths = [chain._paths(X) for chain in self.estimators_]
        sizes = [len(classes) for classes in self.column_classes_]
        return [_log_votes([p[:, c] for p in paths], size) for c, size in enumerate(sizes)]

    def _paths(self, X: Any) -> Codes:
        columns = [m.argmax(axis=1) for m in self._log_marginals(X)]
        return np.column_stack(columns).astype(np.int32)

    def _log_joint(self, X: Any, codes: Codes) -> Array:
        found = [chain._log_joint(X, codes) for chain in self.estimators_]
        return logsumexp(found, axis=0) - np.log(len(found))

    def trellis(self, x: Any, chain: int = 0) -> Trellis:
        """The trellis of one instance in one of the chains."""
        check_is_fitted(self)
        return self.estimators_[chain].trellis(x)


def _log_votes(chosen: list[Array], size: int) -> Array:
    """Log share of the votes, one vote in all spread evenly so that no share is zero."""
    votes = np.full((len(chosen[0]), size), 1.0 / size)
    for codes in chosen:
        votes[np.arange(len(codes)), codes] += 1.0
    return np.log(votes / (len(chosen) + 1))
