"""The trellis of an instance (Read, Martino & Luengo, Figures 4 and 5), and how it is drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from labelrank._types import Array
from labelrank.learners.chains.greedy import greedy
from labelrank.learners.chains.scorers import Scorer

_MOST_PREFIXES = 64
_ANY = -1
Node = tuple[int, ...]


@dataclass(frozen=True)
class Trellis:
    """One instance's way through a chain.

    Attributes
    ----------
    columns, classes : lists of the labels' names and of their class values, in chain order
    before : list of integer matrices
        For each link the states it was asked after: one row a state, the class codes of the
        labels it depends on (no column: none, one: the label before, more: a whole prefix).
    probabilities : list of matrices (states × classes)
    path, greedy_path : class codes in chain order
    probability, greedy_probability : float, joint probabilities of the two paths
    complete : False where only the prefixes of the two paths are kept, because of their number
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
        codes = scorer.no_labels(len(states))
        codes[:, parents] = states
        rows = np.zeros(len(states), dtype=np.intp)
        before.append(states)
        probabilities.append(np.exp(scorer.log_proba(position, codes, rows)))
        complete = complete and all_of_them
    chosen, greedily = (float(np.exp(scorer.log_joint(codes)[0])) for codes in (path, by_greed))
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
    """Draw edges as wide as they are probable, the path taken dashed; returns matplotlib axes."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(1.4 * len(trellis.columns) + 1.5, 4), layout="constrained")
    nodes: set[Node] = set()
    for start, stop, p in _edges(trellis):
        nodes |= {start, stop}
        _line(ax, trellis, [start, stop], color="0.6", lw=0.4 + 3 * p, alpha=0.6, zorder=1)
    for node in nodes - {()}:
        name = trellis.classes[len(node) - 1][node[-1]]
        ax.text(*_place(trellis, node), str(name), ha="center", va="center", fontsize=8, zorder=4,
                bbox={"boxstyle": "circle", "fc": "white", "ec": "0.4"})  # fmt: skip
    for path, p, name, style in (
        (trellis.path, trellis.probability, "chosen", {"color": "tab:red", "ls": "--", "lw": 2.2}),
        (trellis.greedy_path, trellis.greedy_probability, "greedy",
         {"color": "tab:green", "ls": ":", "lw": 2.2}),
    ):  # fmt: skip
        steps = [_node(trellis, path[:q]) for q in range(len(path) + 1)]
        _line(ax, trellis, steps, label=f"{name} path, p = {p:.4f}", zorder=3, **style)
    ax.set_xticks(range(1, len(trellis.columns) + 1), trellis.columns, rotation=30, ha="right")
    ax.set_yticks([])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.15), ncols=2, frameon=False)
    return ax


def _line(ax: Any, trellis: Trellis, nodes: list[Node], **style: Any) -> None:
    ax.plot(*zip(*(_place(trellis, node) for node in nodes), strict=True), **style)


def _node(trellis: Trellis, prefix: Any) -> Node:
    """The node a prefix reaches: in a tree the prefix, else its last class, whatever is before."""
    codes = tuple(int(c) for c in prefix)
    return codes if trellis.is_tree else (_ANY,) * (len(codes) - 1) + codes[-1:]


def _place(trellis: Trellis, node: Node) -> tuple[float, float]:
    """Classes stand in lanes; a prefix in the middle of its leaves, which cover [-1, 1]."""
    if node and not trellis.is_tree:
        return len(node), (len(trellis.classes[len(node) - 1]) - 1) / 2 - node[-1]
    low, high = -1.0, 1.0
    for c, classes in zip(node, trellis.classes, strict=False):
        width = (high - low) / len(classes)
        low, high = high - (c + 1) * width, high - c * width
    return len(node), (low + high) / 2


def _edges(trellis: Trellis) -> Iterator[tuple[Node, Node, float]]:
    """From node to node, with probabilities; an independent link's leave every node before it."""
    for position, (states, table) in enumerate(
        zip(trellis.before, trellis.probabilities, strict=True)
    ):
        every = [(c,) for c in range(len(trellis.classes[position - 1]))]
        for state, row in zip(states, table, strict=True):
            for start in every if position and not len(state) else [state]:
                prefix = (_ANY,) * (position - len(start)) + tuple(start)
                for c, p in enumerate(row):
                    yield _node(trellis, prefix), _node(trellis, (*prefix, c)), float(p)
