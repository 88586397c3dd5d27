"""Boosted trees: for each label a sum of small trees that follows the logistic loss.

    F_k(x) = log odds of k + Σ_t tree_kt(x),    P(k is relevant | x) = 1 / (1 + exp(-F_k(x))).

Each tree takes a Newton step on the loss of those before it (see `kernels.boosted_trees`).
"""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from labelrank._types import Array, Float64
from labelrank.declared import array, nested, number, stored, threads
from labelrank.kernels import boosted_trees as kernels
from labelrank.kernels.trees import Nodes, add_values
from labelrank.learners.base import LabelRanker
from labelrank.learners.trees.forest import Trees, add_by_block, float32_rows, told
from labelrank.learners.trees.reasons import ExplainedTrees, by_cuts
from labelrank.relevance import relevant_part, unknown_part
from labelrank.resources import bar, require, run_jobs
from labelrank.rows import Rows

MOST_CUTS = 254
_NODE_BYTES = 12


@stored(
    "BoostedTrees",
    1,
    trees_=nested("Trees"),
    tree_labels=array("i4", "trees", below="K", attribute="_tree_labels"),
    start_=array("f8", "K"),
)
@dataclass(eq=False, repr=False)
class BoostedTrees(ExplainedTrees, LabelRanker):
    """Gradient boosting: per label a sum of small trees for the logistic loss.

    Unscaled features do no harm. The threshold is at probability 1/2, score 0. An instance of
    which a label is unknown takes no part in the trees of that label.

    Parameters
    ----------
    n_rounds : int, default 100, trees of a label, at most
    learning_rate : float, default 0.1
    max_leaves : int, default 31
    min_samples_leaf : int, default 20
    l2 : float, default 1.0
        Added to the curvature of a leaf: larger means smaller steps.
    max_bins : int, default 64
        A feature is cut at as many points, less one, that leave about equal shares of instances.
    n_jobs : int or None, labels learned side by side
    verbose : int, default 0

    Attributes
    ----------
    trees_ : Trees, all nodes; the trees of a label follow each other
    start_ : ndarray (K,), log odds of each label

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import BoostedTrees
    >>> X = np.arange(60.0)[:, None]
    >>> Y = np.column_stack([X[:, 0] > 29, np.abs(X[:, 0] - 30) < 15]).astype(int)
    >>> BoostedTrees(min_samples_leaf=5).fit(X, Y).predict([[55.0], [25.0]])
    array([[1, 0],
           [0, 1]])
    """

    n_rounds: int = number(100, least=1, whole=True)
    _: KW_ONLY
    learning_rate: float = number(0.1, above=0, most=1)
    max_leaves: int = number(31, least=2, most=65536, whole=True)
    min_samples_leaf: int = number(20, least=1, whole=True)
    l2: float = number(1.0, least=0)
    max_bins: int = number(64, least=2, most=MOST_CUTS + 1, whole=True)
    n_jobs: int | None = threads()
    verbose: int = 0

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        bins = binned(float32_rows(X), int(self.max_bins))
        n, K = Y.shape
        relevant, unknown = relevant_part(Y).astype(bool).tocsc(), unknown_part(Y).tocsc()
        counts, known = relevant.sum(axis=0), n - np.diff(unknown.indptr)
        self.start_ = np.log((counts + 0.5) / (known - counts + 0.5))
        rules = self._rules(n)
        nodes = rules.n_rounds * (2 * rules.n_leaves - 1)
        require(K * nodes * _NODE_BYTES, f"{K} times {rules.n_rounds} trees",
                "lower n_rounds or max_leaves, or use a ForestRanker")  # fmt: skip
        rows_of = partial(_rows_of, relevant), partial(_rows_of, unknown)
        with bar("boosting", self.verbose, K) as advance:
            boost = partial(told, advance, _boosted, bins, rules, rows_of)
            jobs = [partial(boost, k, start) for k, start in enumerate(self.start_.tolist())]
            self._put_together(run_jobs(jobs, self.n_jobs))

    def _rules(self, n: int) -> kernels.Rules:
        n_leaves = max(2, min(int(self.max_leaves), n // self.min_samples_leaf))
        return kernels.Rules(
            int(self.n_rounds), n_leaves, int(self.min_samples_leaf), float(self.learning_rate),
            float(self.l2),
        )  # fmt: skip

    def _put_together(self, grown: list[Nodes]) -> None:
        before = np.cumsum([0] + [len(one.feature) for one in grown])
        roots = [one.roots + first for one, first in zip(grown, before)]
        other = [one.other + np.where(one.feature < 0, 0, first)
                 for one, first in zip(grown, before)]  # fmt: skip
        self._tree_labels = np.repeat(np.arange(len(grown)), [len(r) for r in roots]).astype("i4")
        self.trees_ = Trees(
            np.concatenate(roots).astype(np.int64),
            np.concatenate([one.feature for one in grown]),
            np.concatenate([one.threshold for one in grown]),
            np.concatenate(other).astype(np.int32),
        )

    def after_loading(self) -> None:
        self.trees_.check(self.n_features_in_, 1)
        if len(self._tree_labels) != len(self.trees_.roots):
            raise ValueError("trees without a label")

    def _scores(self, X: Any) -> Float64:
        def add(rows: Array, out: Array) -> None:
            add_values(self.trees_.nodes, rows, self._tree_labels, out)

        return add_by_block(X, self.n_jobs, np.tile(self.start_, (X.shape[0], 1)), add)

    def _walks(self, row: Array, label: int) -> tuple[dict[int, float], float]:
        which = np.flatnonzero(self._tree_labels == label)
        added, constant = by_cuts(self.trees_, which, self.trees_.threshold, row)
        return added, float(self.start_[label]) + constant

    def link(self, scores: Array) -> Array:
        return np.asarray(expit(scores))


def binned(X: Rows, max_bins: int) -> kernels.Bins:
    """Features as numbers of bins, feature by feature."""
    n, d = X.n_rows, X.n_columns
    require(n * d, f"the bins of {n} x {d} values", "select features, or use a linear learner")
    columns = sp.csr_array((X.data, X.indices, X.indptr), shape=(n, d)).tocsc()
    codes, cuts = np.zeros((d, n), np.uint8), []
    for j in range(d):
        column = np.zeros(n, np.float32)
        span = slice(columns.indptr[j], columns.indptr[j + 1])
        column[columns.indices[span]] = columns.data[span]
        cuts.append(cuts_of(column, max_bins))
        codes[j] = np.searchsorted(cuts[-1], column, side="left")
    start = np.cumsum([0] + [len(one) for one in cuts]).astype(np.int64)
    return kernels.Bins(codes, start, np.concatenate(cuts).astype(np.float32))


def cuts_of(column: Array, max_bins: int) -> Array:
    """At most max_bins - 1 points between different values; bins hold about equal shares."""
    values, counts = np.unique(column, return_counts=True)
    last = np.arange(len(values) - 1)
    if len(values) > max_bins:
        shares = np.arange(1, max_bins) * (len(column) / max_bins)
        places = np.searchsorted(np.cumsum(counts), shares)
        last = np.unique(np.minimum(places, len(values) - 2))
    low, high = values[last], values[last + 1]
    middle = low / 2 + high / 2
    return np.where((low <= middle) & (middle < high), middle, low).astype(np.float32)


def _rows_of(matrix: Any, k: int) -> Array:
    return np.asarray(matrix.indices[matrix.indptr[k] : matrix.indptr[k + 1]])


def _boosted(
    bins: kernels.Bins, rules: kernels.Rules, rows_of: tuple[Any, Any], k: int, start: float
) -> Nodes:
    """The trees of one label; none where all known instances are alike."""
    n = bins.codes.shape[1]
    y, is_known = np.zeros(n), np.ones(n, dtype=bool)
    relevant, unknown = (of(k) for of in rows_of)
    y[relevant], is_known[unknown] = 1.0, False
    rows = np.flatnonzero(is_known).astype(np.int32)
    most = rules.n_rounds * (2 * rules.n_leaves - 1) if 0 < len(relevant) < len(rows) else 0
    trees = Nodes(
        np.zeros(rules.n_rounds, np.int64), np.zeros(most, np.int32),
        np.zeros(most, np.float32), np.zeros(most, np.int32),
    )  # fmt: skip
    ends = kernels.boost(bins, rows, y, start, rules, trees) if most else (0, 0)
    cut: Any = zip(trees, (ends[0], *[ends[1]] * 3), strict=True)
    return Nodes(*(part[:end].copy() for part, end in cut))
