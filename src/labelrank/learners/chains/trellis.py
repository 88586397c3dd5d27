"""The trellis of an instance: every label's classes, their probabilities, and the path taken.

Read, Martino & Luengo draw the tree of a full chain (Figure 4) and the trellis of a Markov one
(Figure 5).
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.learners.chains.greedy import greedy
from labelrank.learners.chains.scorers import Scorer, log_joint, no_labels

_MOST_PREFIXES = 64


@dataclass(frozen=True)
class Trellis:
    """One instance's way through a chain.

    Attributes
    ----------
    columns : list of the label names, in chain order
    classes : list of the class values of each label, in chain order
    before : list of integer matrices
        For each link the states it was asked after: one row a state, the class codes of the
        labels it depends on (no column: none, one: the label before, more: a whole prefix).
    probabilities : list of matrices (states × classes)
    path, greedy_path : class codes in chain order
    probability, greedy_probability : float
        Joint probabilities of the two paths.
    complete : bool
        False where a full chain has too many prefixes: then only those of the two paths are kept.
    """

    columns: list[str]
    classes: list[Array]
    before: list[Array]
    probabilities: list[Array]
    path: Array
    greedy_path: Array
    probability: float
    greedy_probability: float
    complete: bool

    @property
    def is_tree(self) -> bool:
        """True for a full chain, whose states are whole prefixes."""
        return any(states.shape[1] > 1 for states in self.before)

    def draw(self, ax: Any = None) -> Any:
        """Draw it with matplotlib; see `draw_trellis`."""
        return draw_trellis(self, ax)


def grow_trellis(scorer: Scorer, path: Array, names: list[str], classes: list[Array]) -> Trellis:
    """The trellis of the one instance of `scorer`, whose chosen path is the row of `path`."""
    order = [link.column for link in scorer.links]
    by_greed = greedy(scorer).codes
    before, probabilities, complete = [], [], True
    for position, link in enumerate(scorer.links):
        parents = [c for c in order[:position] if c in link.parents]
        states, all_of_them = _states(scorer, parents, np.vstack([path, by_greed]))
        codes = no_labels(scorer, len(states))
        codes[:, parents] = states
        rows = np.zeros(len(states), dtype=np.intp)
        before.append(states)
        probabilities.append(np.exp(scorer.log_proba(position, codes, rows)))
        complete = complete and all_of_them
    chosen, greedily = (float(np.exp(log_joint(scorer, codes)[0])) for codes in (path, by_greed))
    return Trellis(
        [names[c] for c in order], [classes[c] for c in order], before, probabilities,
        path[0, order], by_greed[0, order], chosen, greedily, complete,
    )  # fmt: skip


def _states(scorer: Scorer, parents: list[int], paths: Array) -> tuple[Array, bool]:
    """All combinations of the parents' classes, or those on the given paths where too many."""
    sizes = [int(scorer.sizes[c]) for c in parents]
    if np.prod(sizes, dtype=float) > _MOST_PREFIXES:
        return np.unique(paths[:, parents], axis=0), False
    combinations = list(product(*map(range, sizes)))
    return np.array(combinations, dtype=np.int32).reshape(len(combinations), len(sizes)), True


def draw_trellis(trellis: Trellis, ax: Any = None) -> Any:
    """Draw a trellis: edges as wide as they are probable, the path taken dashed, the greedy dotted.

    Returns the matplotlib axes.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(1.4 * len(trellis.columns) + 1.5, 4), layout="constrained")
    heights = _tree_heights(trellis) if trellis.is_tree else _lane_heights(trellis)
    for start, stop, p in _edges(trellis, heights):
        ax.plot(*zip(start, stop, strict=True), color="0.6", lw=0.4 + 3 * p, alpha=0.6, zorder=1)
    for key, (x, y, text) in heights.items():
        if key:
            ax.text(x, y, text, ha="center", va="center", fontsize=8, zorder=4,
                    bbox={"boxstyle": "circle", "fc": "white", "ec": "0.4"})  # fmt: skip
    for path, p, name, style in (
        (trellis.path, trellis.probability, "chosen", {"color": "tab:red", "ls": "--", "lw": 2.2}),
        (trellis.greedy_path, trellis.greedy_probability, "greedy",
         {"color": "tab:green", "ls": ":", "lw": 2.2}),
    ):  # fmt: skip
        points = [heights[_node(trellis, path, q)][:2] for q in range(len(path) + 1)]
        ax.plot(*zip(*points, strict=True), label=f"{name} path, p = {p:.4f}", zorder=3, **style)
    ax.set_xticks(range(1, len(trellis.columns) + 1), trellis.columns, rotation=30, ha="right")
    ax.set_yticks([])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=2, frameon=False)
    return ax


def _node(trellis: Trellis, path: Any, position: int) -> tuple[int, ...]:
    """The node a path has reached: its whole prefix in a tree, else position and class."""
    if position == 0:
        return ()
    if trellis.is_tree:
        return tuple(int(c) for c in path[:position])
    return (position, int(path[position - 1]))


def _lane_heights(trellis: Trellis) -> dict[tuple[int, ...], tuple[float, float, str]]:
    places: dict[tuple[int, ...], tuple[float, float, str]] = {(): (0.0, 0.0, "x")}
    for position, classes in enumerate(trellis.classes, start=1):
        for c, value in enumerate(classes):
            places[position, c] = (position, (len(classes) - 1) / 2 - c, str(value))
    return places


def _tree_heights(trellis: Trellis) -> dict[tuple[int, ...], tuple[float, float, str]]:
    """A prefix stands in the middle of what its leaves cover, the interval [-1, 1] at the root."""
    spans: dict[tuple[int, ...], tuple[float, float]] = {(): (-1.0, 1.0)}
    places: dict[tuple[int, ...], tuple[float, float, str]] = {(): (0.0, 0.0, "x")}
    for position, (states, classes) in enumerate(zip(trellis.before, trellis.classes, strict=True)):
        for state in states:
            low, high = spans[tuple(int(c) for c in state)]
            width = (high - low) / len(classes)
            for c, value in enumerate(classes):
                node = (*(int(s) for s in state), c)
                spans[node] = (high - (c + 1) * width, high - c * width)
                places[node] = (position + 1, sum(spans[node]) / 2, str(value))
    return places


def _edges(
    trellis: Trellis, places: dict[tuple[int, ...], tuple[float, float, str]]
) -> list[tuple[tuple[float, float], tuple[float, float], float]]:
    edges = []
    for position, (states, table) in enumerate(
        zip(trellis.before, trellis.probabilities, strict=True)
    ):
        for state, row in zip(states, table, strict=True):
            for c, p in enumerate(row):
                for start in _starts(trellis, position, state):
                    node = (*start, c) if trellis.is_tree else (position + 1, c)
                    edges.append((places[start][:2], places[node][:2], float(p)))
    return edges


def _starts(trellis: Trellis, position: int, state: Array) -> list[tuple[int, ...]]:
    """The nodes an edge leaves from; an independent link's edges leave every node before it."""
    if position == 0 or trellis.is_tree:
        return [tuple(int(c) for c in state)]
    if len(state):
        return [(position, int(state[0]))]
    return [(position, c) for c in range(len(trellis.classes[position - 1]))]
