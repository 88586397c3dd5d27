"""Instance-based label ranking (Cheng, Hühn & Hüllermeier 2009): a consensus of near orders.

Borda's consensus orders the labels by their mean place. The Mallows model

    P(order | centre, θ) ∝ exp(-θ · pairs on which order and centre disagree)

is most likely where its centre disagrees with the neighbours on the fewest pairs. The search for
it begins at Borda's order and moves one label at a time, as long as that helps.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from labelrank._types import Array, Float64
from labelrank.declared import choice, cut, flag, number, sparse, stored, threads
from labelrank.learners.base import LabelRanker
from labelrank.learners.neighbors import InvertedIndex
from labelrank.resources import require

_MOST_ROUNDS = 1000


@stored(
    "NeighborOrders", 1,
    instances=sparse("n", "d", attribute="_X"),
    relevance=sparse("n", "K", attribute="_Y", finite=False),
)  # fmt: skip
@dataclass(eq=False, repr=False)
class NeighborOrders(LabelRanker):
    """The consensus of the orders of the nearest instances, for label ranking.

    Larger grades are preferred, equal ones state no preference, unknown labels (NaN) take no
    place. A label without any place among the neighbours comes in the middle.

    Parameters
    ----------
    n_neighbors : int, default 10
    consensus : {"borda", "mallows"}
        Mean places, or the centre of the most likely Mallows model.
    metric : {"euclidean", "cosine"}
    standardize : bool, default True
        Divide each feature by its standard deviation first.
    threshold : "cardinality" or float
    n_jobs : int or None

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import NeighborOrders
    >>> X, Y = np.array([[1.0], [1.1], [5.0]]), np.array([[3, 2, 1], [3, 1, 2], [1, 2, 3]])
    >>> NeighborOrders(2).fit(X, Y).rank([[1.0], [4.9]])[:, 0].tolist()
    [0, 2]
    >>> NeighborOrders(1, consensus="mallows").fit(X, Y).rank([[4.9]]).tolist()
    [[2, 1, 0]]
    """

    n_neighbors: int = number(10, least=1, whole=True)
    _: KW_ONLY
    consensus: str = choice("borda", "mallows")
    metric: str = choice("euclidean", "cosine")
    standardize: bool = flag(True)
    threshold: Any = cut()
    n_jobs: int | None = threads()

    _calibrated = False

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._X, self._Y = sp.csr_array(X, dtype=np.float64), Y
        self.after_loading()

    def after_loading(self) -> None:
        if self._X.shape[0] != self._Y.shape[0]:
            raise ValueError("there is not one order per instance")
        self._scale = _spread(self._X) if self.standardize else np.ones(self._X.shape[1])
        self._index = InvertedIndex.of(self._scaled(self._X), self.metric)
        n, n_labels = self._Y.shape
        what = f"the duels of {n} orders of {n_labels} labels"
        require(17 * n * n_labels**2, what, "give fewer instances or labels")
        grades = self._Y.toarray()
        ahead = np.sign(grades[:, :, None] - grades[:, None, :])
        self._wins = np.nan_to_num(ahead).astype(np.int8)
        self._known = ~np.isnan(grades)

    def _scaled(self, X: Any) -> sp.csr_array:
        return sp.csr_array(sp.csr_array(X, dtype=np.float64).multiply(1.0 / self._scale))

    def _scores(self, X: Any) -> Array:
        k = min(int(self.n_neighbors), self._X.shape[0])
        _, near = self._index.search(self._scaled(X), k, self.n_jobs)
        return np.array([self._consensus(rows) for rows in near]).reshape(len(near), -1)

    def _consensus(self, rows: Array) -> Float64:
        """The scores of one instance: mean wins over all other labels, or falling places."""
        net = self._wins[rows].sum(axis=0, dtype=np.float64)
        borda = net.sum(axis=1) / np.maximum(self._known[rows].sum(axis=0), 1)
        if self.consensus == "borda":
            return borda
        centre = mallows_centre(net, np.argsort(-borda, kind="stable"))
        places = np.empty(len(centre))
        places[centre] = np.arange(len(centre))
        return (len(centre) - 1) / 2.0 - places


def mallows_centre(net: Float64, order: Array) -> Array:
    """The order, best label first, that disagrees least with the duels; begun at `order`.

    `net[a, b]` is how many more orders put a before b than b before a. One label at a time moves
    to where the fewest are against it, until none gains anything.
    """
    order = np.asarray(order).copy()
    for _ in range(_MOST_ROUNDS):
        moved = False
        for label in order.tolist():
            rest = order[order != label]
            # Gain of standing before rest[p:], and behind rest[:p].
            gains = np.concatenate(([0.0], np.cumsum(net[rest, label])))
            gains += np.concatenate((np.cumsum(net[label, rest][::-1])[::-1], [0.0]))
            best, now = int(gains.argmax()), int(np.flatnonzero(order == label)[0])
            if gains[best] > gains[now]:
                order, moved = np.insert(rest, best, label), True
        if not moved:
            break
    return order


def _spread(X: sp.csr_array) -> Float64:
    """Standard deviations of the features; 1 where a feature never changes."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.where(spread > 1e-12 * np.maximum(np.abs(mean), 1e-300), spread, 1.0)
