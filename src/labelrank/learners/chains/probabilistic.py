"""Probabilistic chains: the most probable path of all (Read, Martino & Luengo, Eq. 6 and 7).

    ŷ = argmax_y p(y_1 | x) Π_l p(y_l | x, y_1, ..., y_{l-1})

Exact search is branch and bound over the tree of paths; beam search is that of Kumar et al.
(2013), ε-approximate search that of Dembczyński, Waegeman & Hüllermeier (2012).
"""

from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from labelrank._types import Array, Float64, Int32, Int64
from labelrank.declared import choice, number, stored
from labelrank.errors import InputError
from labelrank.learners.chains.greedy import ClassifierChain
from labelrank.learners.chains.scorers import Decoding, Frontier, Scorer
from labelrank.resources import blocks

_PATHS_AT_ONCE = 2**21
# Prefixes per level of the beam that finds the first path of an exact search.
_FIRST_BEAM = 4


class Exploration(NamedTuple):
    """What a search through the tree of paths found; see `ProbabilisticClassifierChain.explore`."""

    codes: Int32
    log_joint: Float64
    n_nodes: Int64
    n_all: int


def explore(scorer: Scorer, *, beam_width: int | None = None, epsilon: float = 0.0) -> Exploration:
    """Branch and bound from the first path of a beam; with `beam_width` that path is the answer."""
    size = int(scorer.sizes.max()) * (beam_width or _FIRST_BEAM)
    if beam_width is None:
        size = max(size, int(np.prod(scorer.sizes.astype(float))))
    explored = []
    for part in list(blocks(scorer.n_rows, _PATHS_AT_ONCE // size)) or [slice(0, 0)]:
        rows = np.arange(scorer.n_rows)[part]
        everything = np.full(len(rows), -np.inf)
        codes, log, n_nodes = _sweep(scorer, rows, everything, beam_width or _FIRST_BEAM)
        if beam_width is None:
            bound = np.maximum(log, np.log(epsilon)) if epsilon > 0 else log
            better, higher, n_more = _sweep(scorer, rows, bound, None)
            codes = np.where((higher > log)[:, None], better, codes)
            log, n_nodes = np.maximum(log, higher), n_nodes + n_more
        explored.append((codes, log, n_nodes))
    codes, log, n_nodes = (np.concatenate(values) for values in zip(*explored, strict=True))
    sizes = [int(scorer.sizes[link.column]) for link in scorer.links[:-1]]
    return Exploration(codes, log, n_nodes, sum(accumulate(sizes, mul, initial=1)))


def _sweep(
    scorer: Scorer, rows: Array, bound: Float64, width: int | None
) -> tuple[Int32, Float64, Int64]:
    """Best path of each row among prefixes above its `bound`, at most `width` per level."""
    n, n_nodes = len(rows), np.zeros(len(rows), dtype=np.int64)
    frontier = Frontier.start(scorer, n)
    for position, link in enumerate(scorer.links):
        n_nodes += np.bincount(frontier.instance, minlength=n)
        log_proba = scorer.log_proba(position, frontier.codes, rows[frontier.instance])
        log = frontier.log[:, None] + log_proba
        kept = (log >= bound[frontier.instance][:, None]) & (log > -np.inf)
        if width is not None:
            kept = _best_of_each(frontier.instance, np.where(kept, log, -np.inf), width)
        frontier = frontier.extend(link.column, log, kept)
    codes, best = scorer.no_labels(n), np.full(n, -np.inf)
    order = np.lexsort((-frontier.log, frontier.instance))
    reached, first = np.unique(frontier.instance[order], return_index=True)
    codes[reached], best[reached] = frontier.codes[order[first]], frontier.log[order[first]]
    return codes, best, n_nodes


def _best_of_each(instance: Array, log: Float64, width: int) -> Array:
    """Marks the `width` most probable children of each instance (ties: the first path)."""
    owner, flat = np.repeat(instance, log.shape[1]), log.ravel()
    order = np.lexsort((np.arange(len(flat)), -flat, owner))
    place = np.arange(len(flat)) - np.searchsorted(owner[order], owner[order])
    chosen = np.zeros(len(flat), dtype=bool)
    chosen[order] = (place < width) & (flat[order] > -np.inf)
    return chosen.reshape(log.shape)


@stored("ProbabilisticClassifierChain", 1)
@dataclass(kw_only=True, eq=False, repr=False)
class ProbabilisticClassifierChain(ClassifierChain):
    """The most probable path of a full chain (PCC).

    Scores are the log odds of a label after the labels of that path before it. Parameters not
    named here are those of `ClassifierChain`.

    Parameters
    ----------
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
    >>> ProbabilisticClassifierChain().fit(X, Y).predict([[3.0]])
    array([[1, 0]])
    """

    inference: str = choice("exact", "beam", "epsilon")
    beam_width: int = number(8, least=1, whole=True)
    epsilon: float = number(0.1, above=0, most=1)
    max_paths: int = number(2**16, least=1)

    def train(self, X: Any, codes: Int32) -> None:
        self._check_paths()
        super().train(X, codes)

    def after_loading(self) -> None:
        super().after_loading()
        self._check_paths()

    def _check_paths(self) -> None:
        n_paths = float(np.prod([float(len(classes)) for classes in self.column_classes_]))
        if self.inference != "beam" and n_paths > self.max_paths:
            raise InputError(
                f"got a chain of {n_paths:.3g} paths, but {self.inference} inference is limited to "
                f"max_paths={self.max_paths}; use inference='beam', MonteCarloClassifierChain or "
                "ViterbiClassifierChain"
            )

    def explore(self, X: Any) -> Exploration:
        """The best paths (class codes), their log probabilities, and how many nodes were visited.

        `n_nodes` counts the prefixes whose link was asked; `n_all`: if every path were tried.
        """
        check_is_fitted(self)
        return self._explore(self.model_.scorer(self._check_X(X, reset=False)))

    def _explore(self, scorer: Scorer) -> Exploration:
        if self.inference == "beam":
            return explore(scorer, beam_width=self.beam_width)
        return explore(scorer, epsilon=self.epsilon if self.inference == "epsilon" else 0.0)

    def choose(self, scorer: Scorer, seed: int) -> Decoding:
        codes, positions = self._explore(scorer).codes, range(len(scorer.links))
        return Decoding(codes, lambda: scorer.by_column(
            [scorer.log_proba(position, codes) for position in positions]))  # fmt: skip
