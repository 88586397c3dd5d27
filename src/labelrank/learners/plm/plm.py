"""The preference learning machine (Aiolli & Sperduti 2005): one weight vector per label.

Its codes are the identity, so <W x, M_r> is <w_r, x>. The loss of a preference graph is that of its
worst arc; where s_a - s_b <= 0 on the worst arc (a, b), w_a += x and w_b -= x.
"""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state

from labelrank._types import Array, Float64, Int64
from labelrank.declared import anything, array, choice, cut, flag, number, seed, stored, value
from labelrank.kernels import plm as kernels
from labelrank.learners.base import FromArcs, IncrementalRanker
from labelrank.learners.orders.levels import by_levels
from labelrank.preferences import Arcs, Kind, Preferences
from labelrank.resources import blocks, track
from labelrank.rows import as_rows

GRAPHS = ("all", "per_label", "per_pair")


_AT_ONCE = 256


@stored(
    "PreferenceLearningMachine",
    weights=array("f4 f8", "rows", "K", attribute="_W"),
    late=array("f8", "rows", "K", attribute="_U"),
    support=anything(optional=True, attribute="_support"),
    n_graphs_=value(int, least=0),
    n_violated_=value(int, least=0),
)
@dataclass(eq=False, repr=False)
class PreferenceLearningMachine(FromArcs, IncrementalRanker):
    """PLM: a perceptron on the worst arc of each preference graph.

    Parameters
    ----------
    graph : {"all", "per_label", "per_pair"}
        Graphs of an instance: one with all arcs from relevant to irrelevant labels, one for each
        relevant label, or one for each pair. The loss of a graph is that of its worst arc.
    kernel : {None, "linear", "poly", "rbf"}
        None keeps weights for each feature; the others keep the instances that erred. "linear"
        gives the same scores as None.
    gamma, degree, coef0
        Of the kernel, as in scikit-learn.
    epochs : int, default 10
    shuffle : bool, default True
        Present the instances of each epoch in random order. `partial_fit` keeps the given order.
    averaging : {"averaged", None}
        Score by the mean of the weights after each graph (voted perceptron), or by the last ones.
    threshold : "cardinality" or float
    random_state, verbose

    Attributes
    ----------
    coef_ : ndarray (K, d), without a kernel
    n_support_ : int, with a kernel: the instances kept
    n_graphs_, n_violated_ : int
        Graphs met and violated in training.

    Examples
    --------
    >>> import numpy as np
    >>> from labelrank import PreferenceLearningMachine
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> PreferenceLearningMachine(kernel="rbf", random_state=0).fit(X, Y).rank(X)[:, 0].tolist()
    [0, 1, 2]
    """

    graph: str = choice(*GRAPHS)
    _: KW_ONLY
    kernel: str | None = choice(None, "linear", "poly", "rbf")
    gamma: float | None = number(None, least=0, or_none=True)
    degree: int = number(3, least=1)
    coef0: float = number(1.0)
    epochs: int = number(10, least=1, whole=True)
    shuffle: bool = flag(True)
    averaging: str | None = choice("averaged", None)
    threshold: Any = cut()
    random_state: Any = seed()
    verbose: int = 0

    preferences = Preferences.each(Kind.RELEVANT_IRRELEVANT, Kind.GRADED)
    _calibrated = False

    @property
    def _learns_silence(self) -> bool:  # type: ignore[override]
        return self.kernel is not None

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._set_up(X, Y)
        X, Y = by_levels(X, Y)
        random = check_random_state(self.random_state)
        order = np.arange(X.shape[0])
        epochs = track(range(self.epochs), type(self).__name__, self.verbose)
        orders = (random.permutation(X.shape[0]) if self.shuffle else order for _ in epochs)
        self._learn_in(orders, X, Y)

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        X, Y = by_levels(X, Y)
        self._learn_in([np.arange(X.shape[0])], X, Y)

    _reads_threshold = False

    def _learn_stated(self, X: sp.csr_array, arcs: Arcs) -> None:
        """Each arc is a graph."""
        rows, Y = arcs.as_examples(X)
        self._learn_more(rows, Y[:, :-1])

    def _set_up(self, X: Any, Y: sp.csr_array) -> None:
        rows = X.shape[1] if self.kernel is None else 0
        self._W: Array = np.zeros((rows, self.n_labels_), self._dtype())
        self._U: Float64 = np.zeros((rows, self.n_labels_))
        self._support: Any = None
        self.n_graphs_, self.n_violated_ = 0, 0

    def _dtype(self) -> type:
        return np.float32 if self.kernel is None else np.float64

    def _learn_in(self, orders: Iterable[Int64], X: Any, Y: sp.csr_array) -> None:
        """One pass over the instances in each of the orders."""
        labels, graph = as_rows(Y, np.float64), GRAPHS.index(self.graph)
        if self.kernel is None:
            rows = as_rows(X)
            for order in orders:
                n = self.n_graphs_
                self._count(*kernels.learn_linear(rows, labels, order, graph, n, self._W, self._U))
            return
        n_known = self._add_support(X)
        for order in orders:
            active = self._active()
            for part in blocks(len(order), _AT_ONCE):
                at, G = order[part], self._gram(X[order[part]])
                state = self.n_graphs_, self._W, self._U, active
                self._count(*kernels.learn_dual(G, at + n_known, labels, at, graph, *state))
        erred = np.flatnonzero(self._active())
        self._support = self._support[erred]
        self._W, self._U = self._W[erred], self._U[erred]

    def _count(self, n_met: int, n_violated: int) -> None:
        self.n_graphs_ += n_met
        self.n_violated_ += n_violated

    def _add_support(self, X: Any) -> int:
        """Put the new instances behind the support; returns where they start."""
        n_known = len(self._W)
        if self._support is None:
            self._support = X
        elif sp.issparse(X) or sp.issparse(self._support):
            self._support = sp.csr_array(sp.vstack([self._support, X]))
        else:
            self._support = np.vstack([self._support, X])
        more = np.zeros((X.shape[0], self.n_labels_))
        self._W, self._U = np.vstack([self._W, more]), np.vstack([self._U, more])
        return n_known

    def _active(self) -> Array:
        return (self._W != 0).any(axis=1) | (self._U != 0).any(axis=1)

    def _gram(self, X: Any) -> Float64:
        parameters: dict[str, Any] = {}
        if self.kernel in ("poly", "rbf"):
            parameters["gamma"] = self.gamma
        if self.kernel == "poly":
            parameters.update(degree=self.degree, coef0=self.coef0)
        G = pairwise_kernels(X, self._support, metric=self.kernel, **parameters)
        return np.ascontiguousarray(G.toarray() if sp.issparse(G) else G, np.float64)

    def _widen(self, n_before: int) -> None:
        more = ((0, 0), (0, self.n_labels_ - n_before))
        self._W, self._U = np.pad(self._W, more), np.pad(self._U, more)

    def _weights(self) -> Array:
        if self.averaging and self.n_graphs_:
            return (self._W - self._U / self.n_graphs_).astype(self._W.dtype)
        return self._W

    @property
    def n_support_(self) -> int:
        """Instances kept for the kernel."""
        return len(self._W)

    @property
    def coef_(self) -> Array:
        """Weights, K × d; there are none with a kernel."""
        if self.kernel is not None:
            raise AttributeError("coef_ is there without a kernel only")
        return self._weights().T

    def _scores(self, X: Any) -> Array:
        weights = self._weights()
        if self.kernel is None:
            return np.asarray(X @ weights)
        if not len(weights):
            return np.zeros((X.shape[0], self.n_labels_))
        return np.vstack([self._gram(X[part]) @ weights for part in blocks(X.shape[0], _AT_ONCE)])

    def after_loading(self) -> None:
        support, n_features = self._support, self.n_features_in_
        fits = self._W.dtype == self._dtype() and self.n_graphs_ < 2**62
        if self.kernel is None:
            fits &= len(self._W) == n_features
        elif len(self._W):
            values = support.data if sp.issparse(support) else support
            fits &= np.shape(support) == (len(self._W), n_features)
            fits &= isinstance(values, np.ndarray) and values.dtype.kind == "f"
            fits = fits and np.isfinite(values).all()
        if not fits:
            raise ValueError("the weights do not fit features, kernel or support")
