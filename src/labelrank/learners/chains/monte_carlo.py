"""Monte Carlo chains: the most probable of sampled paths (MCC; Read, Martino & Luengo 2014)."""

from dataclasses import dataclass

import numpy as np

from labelrank._types import Array, Float64
from labelrank.declared import number, stored
from labelrank.learners.chains.greedy import ClassifierChain
from labelrank.learners.chains.scorers import Decoding, Frontier, Scorer
from labelrank.resources import require


def monte_carlo(scorer: Scorer, uniforms: Float64) -> Decoding:
    """Draw paths by `uniforms` (T × L, the same for every instance), keep the most probable."""
    n, n_samples = scorer.n_rows, len(uniforms)
    at = np.repeat(np.arange(n)[:, None], n_samples + 1, axis=1)
    frontier, marginals = Frontier.start(scorer, n), []
    for position, link in enumerate(scorer.links):
        asked = None if position == 0 else frontier.instance
        log_proba = scorer.log_proba(position, frontier.codes, asked)
        marginals.append(_log_mean(log_proba, frontier.instance, at[:, 1:]))
        children = at * log_proba.shape[1] + _draw(log_proba, at, uniforms[:, position])
        reached = np.zeros(log_proba.size, dtype=bool)
        reached[children] = True
        at = (np.cumsum(reached) - 1)[children]
        log = frontier.log[:, None] + log_proba
        frontier = frontier.extend(link.column, log, reached.reshape(log.shape))
    best = np.take_along_axis(at, frontier.log[at].argmax(axis=1)[:, None], axis=1)[:, 0]
    return Decoding(frontier.codes[best], lambda: scorer.by_column(marginals))


def _draw(log_proba: Float64, at: Array, uniforms: Float64) -> Array:
    """The class each sample takes: by inverse distribution function; the first one greedily."""
    possible = log_proba > -np.inf
    last = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
    drawn = np.empty(at.shape, dtype=np.int64)
    drawn[:, 0] = log_proba.argmax(axis=1)[at[:, 0]]
    drawn[:, 1:] = 0
    for below in np.cumsum(np.exp(log_proba[:, :-1]), axis=1).T:
        drawn[:, 1:] += uniforms >= below[at[:, 1:]]
    return drawn if possible.all() else np.minimum(drawn, last[at])


def _log_mean(log_proba: Float64, instance: Array, at: Array) -> Float64:
    """Log of the probabilities averaged over the samples of each instance."""
    n, n_samples = at.shape
    weight = np.bincount(at.ravel(), minlength=len(instance)) / n_samples
    mean = [np.bincount(instance, weight * p, minlength=n) for p in np.exp(log_proba).T]
    with np.errstate(divide="ignore"):
        return np.log(np.column_stack(mean))


@stored("MonteCarloClassifierChain", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class MonteCarloClassifierChain(ClassifierChain):
    """The most probable of sampled paths of a full chain (MCC).

    The greedy path takes part too, so no path is ever less probable than that of a
    `ClassifierChain`. Scores are log odds of marginal probabilities: the links' probabilities
    averaged over the samples. All instances are sampled by the same random numbers: an
    instance's answer does not depend on the others, and repeats.

    Parameters
    ----------
    n_samples : int, default 100
        Paths drawn per instance, by `random_state`. The other parameters are those of
        `ClassifierChain`.

    Examples
    --------
    >>> from labelrank import MonteCarloClassifierChain
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> MonteCarloClassifierChain(n_samples=20, random_state=0).fit(X, Y).predict([[3.0]])
    array([[1, 0]])
    """

    n_samples: int = number(100, least=1, whole=True)

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        n_cells = self.n_samples * (len(scorer.links) + 4 * scorer.n_rows)
        what = f"{self.n_samples} samples of {scorer.n_rows} instances"
        require(8 * n_cells, what, "draw fewer, or predict fewer instances at once")
        uniforms = np.random.default_rng(seed).random((self.n_samples, len(scorer.links)))
        return monte_carlo(scorer, uniforms)
