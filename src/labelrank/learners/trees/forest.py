"""A forest of extremely randomised trees, each for all labels at once.

A tree parts the instances by random cuts, of several the best for the sum over all labels. A leaf
holds the share of each label among its instances. Scores are means over the trees:

    s_k(x) = (π_k + Σ_t share of k in the leaf of x in tree t) / (1 + number of trees),

π_k the share of label k among all instances: a tree without a cut, so that labels that no tree
votes for are ranked by frequency.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from labelrank._types import Array, Float64
from labelrank.declared import array, cut, nested, number, seed, stored, threads
from labelrank.errors import InputError
from labelrank.kernels import forest as kernels
from labelrank.kernels.trees import Nodes, add_lists
from labelrank.learners.base import LabelRanker
from labelrank.learners.trees.reasons import ExplainedTrees, by_cuts
from labelrank.relevance import relevant_part, unknown_part
from labelrank.resources import bar, blocks, require, row_chunks, run_jobs
from labelrank.rows import SPARSE, Rows, as_rows

_VALUES_AT_ONCE = 1 << 21
_MOST_NODES = 2**31 - 1
T = TypeVar("T")


@stored(
    "Trees",
    1,
    roots=array("i8", "trees"),
    feature=array("i4", "nodes"),
    threshold=array("f4", "nodes"),
    other=array("i4", "nodes"),
)
class Trees(NamedTuple):
    """Nodes as in `kernels.trees`."""

    roots: Array
    feature: Array
    threshold: Array
    other: Array

    def check(self, n_features: int, n_leaves: int) -> None:
        """Raise ValueError unless each walk from a root ends at a leaf, within its tree."""
        n_nodes, place = len(self.feature), np.arange(len(self.feature))
        bounds = np.append(self.roots, n_nodes)
        if not n_nodes or bounds[0] != 0 or (np.diff(bounds) < 1).any():
            raise ValueError("roots of trees that are no trees")
        inner = self.feature >= 0
        end = np.repeat(bounds[1:], np.diff(bounds))
        if (self.feature < -1).any() or (self.feature >= n_features).any():
            raise ValueError("a tree asks for features that there are not")
        # Children lie behind their node, so that no walk is endless.
        behind = (place + 1 < self.other) & (self.other < end)
        if not behind[inner].all():
            raise ValueError("a node of a tree has children outside of it")
        leaves = self.other[~inner]
        if (leaves < 0).any() or (leaves >= n_leaves).any():
            raise ValueError("a tree has leaves that there are not")

    @property
    def nodes(self) -> Nodes:
        return Nodes(*self)


def float32_rows(X: Any) -> Rows:
    """Rows in single precision without stored zeros; InputError where numbers are too large."""
    with np.errstate(over="ignore"):
        csr = sp.csr_array(X).astype(np.float32)
    if not np.isfinite(csr.data).all():
        raise InputError(
            "got features beyond 3.4e38, which trees cannot hold; scale such columns first"
        )
    if (csr.data == 0).any():
        csr.eliminate_zeros()
    return as_rows(csr)


def add_by_block(X: Any, n_jobs: int | None, out: Array, add: Any) -> Array:
    """Let `add(rows, out)` see the rows of X in single precision, some at a time."""

    def part(first: int, last: int) -> None:
        for span in blocks(last - first, _VALUES_AT_ONCE // max(X.shape[1], 1)):
            rows = slice(first + span.start, first + span.stop)
            taken = X[rows].toarray() if sp.issparse(X) else X[rows]
            with np.errstate(over="ignore"):  # beyond the largest number is beyond any threshold
                add(np.ascontiguousarray(taken, np.float32), out[rows])

    run_jobs([partial(part, *span) for span in row_chunks(X.shape[0], n_jobs)], n_jobs)
    return out


def told(advance: Callable[[str], Any], work: Callable[..., T], *arguments: Any) -> T:
    """The result of the work, when the bar has moved on."""
    result = work(*arguments)
    advance("")
    return result


@stored(
    "ForestRanker",
    1,
    trees_=nested("Trees"),
    leaf_ptr=array("i8", "leaves+1", points_into="leaf_labels", attribute="_leaf_ptr"),
    leaf_labels=array("i4", "held", below="K", attribute="_leaf_labels"),
    leaf_values=array("f4", "held", attribute="_leaf_values"),
    prior_=array("f8", "K"),
)
@dataclass(eq=False, repr=False)
class ForestRanker(ExplainedTrees, LabelRanker):
    """Extremely randomised trees, each for all labels at once (Geurts, Ernst & Wehenkel 2006).

    Unscaled features, dense or sparse, do no harm. An instance of which a label is unknown states
    nothing about it.

    Parameters
    ----------
    n_estimators : int, default 100, trees
    min_samples_leaf : int, default 1
        Fewest instances of a leaf.
    max_features : "sqrt" or float
        Random cuts tried per node: the root of the number of features, or this share of them.
        Where fewer than one in ten values is not zero, the features of random instances of the
        node are tried, otherwise any.
    threshold : float or "cardinality", default 0.5
        The score above which `predict` takes a label. See also `ThresholdedRanker`.
    n_jobs : int or None, trees grown side by side
    random_state : int, RandomState or None
    verbose : int, default 0

    Attributes
    ----------
    trees_ : Trees, all nodes
    prior_ : ndarray (K,), the share of each label among the instances that know it

    Examples
    --------
    >>> from labelrank import ForestRanker
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> ForestRanker(random_state=0).fit(X, Y).predict([[2.9], [0.2]])
    array([[1, 0],
           [0, 1]])
    """

    n_estimators: int = number(100, least=1, whole=True)
    _: KW_ONLY
    min_samples_leaf: int = number(1, least=1, whole=True)
    max_features: Any = "sqrt"
    threshold: Any = cut(0.5)
    n_jobs: int | None = threads()
    random_state: Any = seed()
    verbose: int = 0

    _calibrated = False

    def _check_combinations(self) -> None:
        wanted = self.max_features
        is_share = isinstance(wanted, float | np.floating) and 0 < wanted <= 1
        if not (is_share or (isinstance(wanted, str) and wanted == "sqrt")):
            raise InputError(
                f"got max_features={wanted!r}; use 'sqrt' or a share above 0, at most 1.0"
            )

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        rows = float32_rows(X)
        known = np.maximum(X.shape[0] - unknown_part(Y).astype(bool).sum(axis=0), 1)
        self.prior_ = relevant_part(Y).astype(bool).sum(axis=0) / known
        self._require(X.shape[0], Y.nnz)
        relevance = as_rows(Y, np.float64)
        targets = relevance.indptr, relevance.indices, (relevance.data > 0).astype(np.int8)
        rules = kernels.Rules(self._n_cuts(X.shape[1]), int(self.min_samples_leaf), self.prior_)
        grow = partial(_grown, _instances(rows), targets, rules, X.shape[1])
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        with bar("forest", self.verbose, len(seeds)) as advance:
            jobs = [partial(told, advance, grow, one) for one in seeds.tolist()]
            self._put_together(run_jobs(jobs, self.n_jobs))

    def _n_cuts(self, d: int) -> int:
        return max(1, int(d**0.5 if self.max_features == "sqrt" else self.max_features * d))

    def _require(self, n: int, n_stored: int) -> None:
        """Raise InputError if the trees, at their largest, exceed free memory."""
        n_leaves = max(n // self.min_samples_leaf, 1)
        require(
            self.n_estimators
            * 2
            * (n_leaves * 32 + min(n_stored, n_leaves * len(self.prior_)) * 8),
            f"{self.n_estimators} trees of {n} instances",
            "raise min_samples_leaf, or lower n_estimators",
        )

    def _put_together(self, grown: list[kernels.Tree]) -> None:
        sizes = np.array([(len(t.feature), len(t.leaf_ptr) - 1, len(t.leaf_labels)) for t in grown])
        nodes, leaves, held = (np.cumsum(column) - column for column in sizes.T)
        if sizes[:, 0].sum() > _MOST_NODES:
            raise InputError(f"got a forest of {sizes[:, 0].sum()} nodes; raise min_samples_leaf")
        other = [
            t.other + np.where(t.feature < 0, leaf, node)
            for t, node, leaf in zip(grown, nodes, leaves, strict=True)
        ]
        feature, threshold, labels, values = (
            np.concatenate([getattr(t, name) for t in grown])
            for name in ("feature", "threshold", "leaf_labels", "leaf_values")
        )
        pointers = [t.leaf_ptr[1:] + before for t, before in zip(grown, held, strict=True)]
        self.trees_ = Trees(nodes, feature, threshold, np.concatenate(other).astype(np.int32))
        self._leaf_ptr = np.concatenate([[0], *pointers]).astype(np.int64)
        self._leaf_labels, self._leaf_values = labels, values

    def after_loading(self) -> None:
        self.trees_.check(self.n_features_in_, len(self._leaf_ptr) - 1)
        for shares in (self.prior_, self._leaf_values):
            if ((shares < 0) | (shares > 1)).any():
                raise ValueError("shares of labels that are no shares")

    def _scores(self, X: Any) -> Float64:
        def add(rows: Array, out: Array) -> None:
            leaves = self._leaf_ptr, self._leaf_labels, self._leaf_values
            add_lists(self.trees_.nodes, rows, *leaves, out)

        total = np.tile(self.prior_, (X.shape[0], 1))
        return add_by_block(X, self.n_jobs, total, add) / (len(self.trees_.roots) + 1.0)

    def _prior(self) -> Array:
        """Scores are shares, of the labels and after a class vector of the classes."""
        return self.label_shares()

    def _walks(self, row: Array, label: int) -> tuple[dict[int, float], float]:
        shares = np.zeros(len(self._leaf_ptr) - 1)
        held = np.flatnonzero(self._leaf_labels == label)
        shares[np.searchsorted(self._leaf_ptr, held, side="right") - 1] = self._leaf_values[held]
        trees = self.trees_
        of_nodes = shares[np.where(trees.feature < 0, trees.other, 0)]
        n_trees = len(trees.roots)
        added, constant = by_cuts(trees, np.arange(n_trees), of_nodes, row)
        every = n_trees + 1.0
        return {j: value / every for j, value in added.items()}, (
            self.prior_[label] + constant
        ) / every

    def link(self, scores: Array) -> Array:
        """The scores, which are shares."""
        return scores


def _instances(X: Rows) -> kernels.Instances:
    """Feature by feature where X is dense, by its content and not by its form."""
    n, d = X.n_rows, X.n_columns
    if len(X.data) < SPARSE * n * d:
        return kernels.Instances(np.empty((d, 0), np.float32), *X[:3])
    require(4 * n * d, f"{n} x {d} values", "give fewer instances, or select features")
    csc = sp.csr_array((X.data, X.indices, X.indptr), shape=(n, d)).T
    return kernels.Instances(np.ascontiguousarray(csc.toarray()), *X[:3])


def _grown(
    X: kernels.Instances, Y: tuple[Array, ...], rules: kernels.Rules, n_features: int, seed: int
) -> kernels.Tree:
    """One tree in arrays of its size."""
    n_nodes, n_held = 2 * (len(Y[0]) - 1), len(Y[1])
    tree = kernels.Tree(
        np.empty(n_nodes, np.int32), np.zeros(n_nodes, np.float32), np.empty(n_nodes, np.int32),
        np.empty(n_nodes // 2 + 1, np.int64), np.empty(n_held, np.int32),
        np.empty(n_held, np.float32),
    )  # fmt: skip
    nodes, leaves, held = kernels.grow(X, Y, rules, n_features, seed, tree)
    ends = nodes, nodes, nodes, leaves + 1, held, held
    parts = (np.asarray(part)[:end].copy() for part, end in zip(tree, ends, strict=True))
    return kernels.Tree(*parts)
