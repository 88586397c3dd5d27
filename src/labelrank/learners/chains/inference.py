"""Paths through a chain: greedy, exact, beam, Monte Carlo, Viterbi; never one call an instance.

Each function walks the links in chain order and asks a link about all the prefixes it needs at
once. A path is a row of class codes in the order of the columns, not of the chain.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from labelrank._types import Array
from labelrank.learners.chains.links import Scorer

Codes = npt.NDArray[np.int32]

_PATHS_AT_ONCE = 2**21


def log_joint(scorer: Scorer, codes: Codes) -> Array:
    """Log probability of the given paths; unknown labels (codes < 0) contribute nothing."""
    total = np.zeros(len(codes))
    for position, link in enumerate(scorer.links):
        chosen = codes[:, link.column]
        found = np.take_along_axis(
            scorer.log_proba(position, codes), np.maximum(chosen, 0)[:, None], axis=1
        )[:, 0]
        total += np.where(chosen >= 0, found, 0.0)
    return total


def conditionals(scorer: Scorer, codes: Codes) -> list[Array]:
    """Log probabilities of each column's classes after the earlier labels of the given paths."""
    found: list[Any] = [None] * len(scorer.links)
    for position, link in enumerate(scorer.links):
        found[link.column] = scorer.log_proba(position, codes)
    return found


def greedy(scorer: Scorer) -> tuple[Codes, list[Array]]:
    """The most probable class link by link, and each column's log probabilities on the way."""
    codes = np.full((scorer.n_rows, len(scorer.links)), -1, dtype=np.int32)
    found: list[Any] = [None] * len(scorer.links)
    for position, link in enumerate(scorer.links):
        found[link.column] = scorer.log_proba(position, codes)
        codes[:, link.column] = found[link.column].argmax(axis=1)
    return codes, found


class Frontier(NamedTuple):
    """Prefixes under consideration: their instance, labels so far, and log probability."""

    instance: Array
    codes: Codes
    log: Array

    def extend(self, column: int, log_proba: Array, kept: Array) -> "Frontier":
        """The children marked in `kept` (prefixes × classes)."""
        parent, chosen = np.nonzero(kept)
        codes = self.codes[parent]
        codes[:, column] = chosen
        return Frontier(self.instance[parent], codes, log_proba[parent, chosen])


class Exploration(NamedTuple):
    """What a search through the tree of paths found.

    `codes` the best path of each instance, `log_joint` its log probability, `n_nodes` the number
    of prefixes whose link was asked, `n_all` what trying every path would have asked.
    """

    codes: Codes
    log_joint: Array
    n_nodes: Array
    n_all: int


def explore(
    scorer: Scorer, *, beam_width: int | None = None, epsilon: float = 0.0, incumbent_width: int = 4
) -> Exploration:
    """Branch and bound over all paths, level by level.

    A narrow beam finds a first path; from then on only prefixes at least as probable as it (and
    as `epsilon`) can lead to a better one, because probabilities only shrink along a path. With
    `beam_width` the beam itself is the answer.
    """
    size = _widest(scorer) * (beam_width or incumbent_width)
    if beam_width is None:
        size = max(size, int(np.prod(scorer.sizes.astype(float))))
    step = max(1, _PATHS_AT_ONCE // size)
    parts = [
        np.arange(a, min(a + step, scorer.n_rows)) for a in range(0, max(scorer.n_rows, 1), step)
    ]
    found = [_explore(scorer, rows, beam_width, epsilon, incumbent_width) for rows in parts]
    codes, log, n_nodes = (np.concatenate(values) for values in zip(*found, strict=True))
    return Exploration(codes, log, n_nodes, brute_force(scorer))


def brute_force(scorer: Scorer) -> int:
    """Prefixes whose link is asked when every path is tried."""
    sizes = [int(scorer.sizes[link.column]) for link in scorer.links]
    total, prefixes = 0, 1
    for size in sizes:
        total += prefixes
        prefixes *= size
    return total


def _explore(
    scorer: Scorer, rows: Array, beam_width: int | None, epsilon: float, incumbent_width: int
) -> tuple[Codes, Array, Array]:
    everything = np.full(len(rows), -np.inf)
    codes, log, n_nodes = _sweep(scorer, rows, everything, beam_width or incumbent_width)
    if beam_width is not None:
        return codes, log, n_nodes
    bound = np.maximum(log, np.log(epsilon)) if epsilon > 0 else log
    better, higher, n_more = _sweep(scorer, rows, bound, None)
    improved = higher > log
    codes[improved] = better[improved]
    return codes, np.maximum(log, higher), n_nodes + n_more


def _sweep(
    scorer: Scorer, rows: Array, bound: Array, width: int | None
) -> tuple[Codes, Array, Array]:
    """Best path of each row among prefixes above its `bound`, at most `width` a level."""
    n, n_nodes = len(rows), np.zeros(len(rows), dtype=np.int64)
    blank = np.full((n, len(scorer.links)), -1, dtype=np.int32)
    frontier = Frontier(np.arange(n), blank, np.zeros(n))
    for position, link in enumerate(scorer.links):
        n_nodes += np.bincount(frontier.instance, minlength=n)
        log = frontier.log[:, None] + scorer.log_proba(
            position, frontier.codes, rows[frontier.instance]
        )
        kept = (log >= bound[frontier.instance][:, None]) & (log > -np.inf)
        if width is not None:
            kept = _best_of_each(frontier.instance, np.where(kept, log, -np.inf), width)
        frontier = frontier.extend(link.column, log, kept)
    return *_winners(frontier, n, blank), n_nodes


def _best_of_each(instance: Array, log: Array, width: int) -> Array:
    """Marks the `width` most probable children of each instance (ties: the first path)."""
    n_classes = log.shape[1]
    owner, flat = np.repeat(instance, n_classes), log.ravel()
    order = np.lexsort((np.arange(len(flat)), -flat, owner))
    sorted_owner = owner[order]
    start = np.searchsorted(sorted_owner, sorted_owner)
    chosen = np.zeros(len(flat), dtype=bool)
    chosen[order] = (np.arange(len(flat)) - start < width) & (flat[order] > -np.inf)
    return chosen.reshape(log.shape)


def _winners(frontier: Frontier, n: int, blank: Codes) -> tuple[Codes, Array]:
    codes, log = blank.copy(), np.full(n, -np.inf)
    order = np.lexsort((-frontier.log, frontier.instance))
    found, first = np.unique(frontier.instance[order], return_index=True)
    codes[found], log[found] = frontier.codes[order[first]], frontier.log[order[first]]
    return codes, log


def _widest(scorer: Scorer) -> int:
    return int(scorer.sizes.max())


class Samples(NamedTuple):
    """The most probable sampled path, and log marginals averaged over the samples."""

    codes: Codes
    log_marginals: list[Array]


def monte_carlo(scorer: Scorer, uniforms: Array) -> Samples:
    """Draw paths by `uniforms` (T × L, the same for every instance), keep the most probable.

    The greedy path takes part as one more. Equal prefixes are asked about only once, all samples
    of all instances in one call a link.
    """
    n, n_samples = scorer.n_rows, len(uniforms)
    at = np.repeat(np.arange(n)[:, None], n_samples + 1, axis=1)
    blank = np.full((n, len(scorer.links)), -1, dtype=np.int32)
    frontier = Frontier(np.arange(n), blank, np.zeros(n))
    marginals: list[Any] = [None] * len(scorer.links)
    for position, link in enumerate(scorer.links):
        asked = None if position == 0 else frontier.instance
        log_proba = scorer.log_proba(position, frontier.codes, asked)
        marginals[link.column] = _log_mean(log_proba, frontier.instance, at[:, 1:])
        children = at * log_proba.shape[1] + _draw(log_proba, at, uniforms[:, position])
        reached = np.zeros(log_proba.size, dtype=bool)
        reached[children] = True
        at = (np.cumsum(reached) - 1)[children]
        log = frontier.log[:, None] + log_proba
        frontier = frontier.extend(link.column, log, reached.reshape(log.shape))
    best = np.take_along_axis(at, frontier.log[at].argmax(axis=1)[:, None], axis=1)[:, 0]
    return Samples(frontier.codes[best], marginals)


def _draw(log_proba: Array, at: Array, uniforms: Array) -> Array:
    """The class each sample takes: by inverse distribution function; the first one greedily."""
    possible = log_proba > -np.inf
    last = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
    drawn = np.empty(at.shape, dtype=np.int64)
    drawn[:, 0] = log_proba.argmax(axis=1)[at[:, 0]]
    drawn[:, 1:] = 0
    for below in np.cumsum(np.exp(log_proba[:, :-1]), axis=1).T:
        drawn[:, 1:] += uniforms >= below[at[:, 1:]]
    return drawn if possible.all() else np.minimum(drawn, last[at])


def _log_mean(log_proba: Array, instance: Array, at: Array) -> Array:
    """Log of the probabilities averaged over the samples of each instance."""
    n, n_samples = at.shape
    weight = np.bincount(at.ravel(), minlength=len(instance)) / n_samples
    mean = [np.bincount(instance, weight * p, minlength=n) for p in np.exp(log_proba).T]
    with np.errstate(divide="ignore"):
        return np.log(np.column_stack(mean))


def transitions(scorer: Scorer) -> list[Array]:
    """Log probabilities of a Markov chain's links: (n × K_before × K), the first with K_before 1.

    A link is asked once for each class of the label before it.
    """
    codes = np.full((scorer.n_rows, len(scorer.links)), -1, dtype=np.int32)
    found = []
    for position, link in enumerate(scorer.links):
        if not link.parents:
            found.append(scorer.log_proba(position, codes)[:, None, :])
            continue
        (before,) = link.parents
        after = []
        for c in range(scorer.sizes[before]):
            codes[:, before] = c
            after.append(scorer.log_proba(position, codes))
        found.append(np.stack(after, axis=1))
    return found


def viterbi(steps: list[Array]) -> Array:
    """The most probable path through the trellis (n × L, in chain order); 004, Table 2."""
    n = len(steps[0])
    best, back = np.zeros((n, 1)), []
    for step in steps:
        through = best[:, :, None] + step
        back.append(through.argmax(axis=1))
        best = through.max(axis=1)
    path = np.empty((n, len(steps)), dtype=np.int32)
    path[:, -1] = best.argmax(axis=1)
    for position in range(len(steps) - 1, 0, -1):
        path[:, position - 1] = back[position][np.arange(n), path[:, position]]
    return path


def forward(steps: list[Array]) -> list[Array]:
    """Exact log marginals of each link's classes, in chain order.

    Nothing is observed along the chain: what follows a label sums to one, so there is no backward
    message, and the forward ones are the marginals.
    """
    found = [steps[0][:, 0, :]]
    for step in steps[1:]:
        found.append(logsumexp(found[-1][:, :, None] + step, axis=1))
    return found
