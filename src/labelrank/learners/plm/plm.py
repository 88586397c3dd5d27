"""The preference learning machine: identity codes, preference graphs, linear or with a kernel."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import check_random_state

from labelrank._types import Array
from labelrank.declared import check_at_least, check_choice
from labelrank.kernels import plm as kernels
from labelrank.learners.base import IncrementalRanker
from labelrank.resources import track
from labelrank.rows import Rows, as_rows

GRAPHS = ("all", "per_label", "per_pair")
KERNELS = (None, "linear", "poly", "rbf")
_AT_ONCE = 256


class PreferenceLearningMachine(IncrementalRanker):
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
        How `predict` cuts the ranking: as many labels as an instance had on average, or at a score.
    random_state : int, RandomState or None
    verbose : int, default 0

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

    _calibrated = False

    def __init__(
        self,
        graph: str = "all",
        *,
        kernel: str | None = None,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
        epochs: int = 10,
        shuffle: bool = True,
        averaging: str | None = "averaged",
        threshold: Any = "cardinality",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.graph = graph
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs
        self.shuffle = shuffle
        self.averaging = averaging
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("graph", self.graph, GRAPHS)
        check_choice("kernel", self.kernel, KERNELS)
        check_choice("averaging", self.averaging, (None, "averaged"))
        check_at_least("epochs", self.epochs, 1)
        check_at_least("degree", self.degree, 1)
        if self.gamma is not None:
            check_at_least("gamma", self.gamma, 0)

    def _learn(self, X: Any, Y: sp.csr_array) -> None:
        self._start(X.shape[1])
        random = check_random_state(self.random_state)
        known = self._known(X)
        order = np.arange(X.shape[0], dtype=np.int64)
        for _ in track(range(self.epochs), "PreferenceLearningMachine", self.verbose):
            if self.shuffle:
                order = random.permutation(X.shape[0]).astype(np.int64)
            self._pass(X, as_rows(Y, np.float64), order, known)
        self._forget()

    def _learn_more(self, X: Any, Y: sp.csr_array) -> None:
        if not hasattr(self, "_U"):
            self._start(X.shape[1])
        known = self._known(X)
        self._pass(X, as_rows(Y, np.float64), np.arange(X.shape[0], dtype=np.int64), known)
        self._forget()

    def _start(self, n_features: int) -> None:
        rows = n_features if self.kernel is None else 0
        dtype = np.float32 if self.kernel is None else np.float64
        self._W: Array = np.zeros((rows, self.n_labels_), dtype)
        self._U: Array = np.zeros((rows, self.n_labels_))
        self._support: Any = None
        self.n_graphs_, self.n_violated_ = 0, 0

    def _known(self, X: Any) -> int:
        """Put the new instances behind the support; returns where they start."""
        if self.kernel is None:
            return 0
        first = len(self._W)
        stack = sp.vstack if sp.issparse(X) or sp.issparse(self._support) else np.vstack
        self._support = X if self._support is None else stack([self._support, X])
        if sp.issparse(self._support):
            self._support = sp.csr_array(self._support)
        more = np.zeros((X.shape[0], self.n_labels_))
        self._W, self._U = np.vstack([self._W, more]), np.vstack([self._U, more])
        return first

    def _pass(self, X: Any, Y: Rows, order: npt.NDArray[np.int64], known: int) -> None:
        graph = GRAPHS.index(self.graph)
        if self.kernel is None:
            self._count(
                kernels.learn_linear(
                    *as_rows(X)[:3], *Y[:3], order, graph, self.n_graphs_, self._W, self._U
                )
            )
            return
        active = (self._W != 0).any(axis=1) | (self._U != 0).any(axis=1)
        for first in range(0, len(order), _AT_ONCE):
            rows = order[first : first + _AT_ONCE]
            G = self._gram(X[rows])
            self._count(
                kernels.learn_dual(
                    G, rows + known, *Y[:3], rows, graph, self.n_graphs_, self._W, self._U, active
                )
            )

    def _count(self, found: tuple[int, int]) -> None:
        self.n_graphs_ += found[0]
        self.n_violated_ += found[1]

    def _gram(self, X: Any) -> Array:
        parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        used = {"poly": ("gamma", "degree", "coef0"), "rbf": ("gamma",)}.get(str(self.kernel), ())
        G = pairwise_kernels(
            X, self._support, metric=self.kernel, **{name: parameters[name] for name in used}
        )
        return np.ascontiguousarray(G.toarray() if sp.issparse(G) else G, np.float64)

    def _forget(self) -> None:
        """Keep the instances that ever erred."""
        if self.kernel is not None:
            kept = (self._W != 0).any(axis=1) | (self._U != 0).any(axis=1)
            self._support = self._support[np.flatnonzero(kept)]
            self._W, self._U = self._W[kept], self._U[kept]

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
        if self.kernel is None:
            return np.asarray(X @ self._weights())
        if not len(self._W):
            return np.zeros((X.shape[0], self.n_labels_))
        weights = self._weights()
        blocks = range(0, X.shape[0], _AT_ONCE)
        return np.vstack([self._gram(X[i : i + _AT_ONCE]) @ weights for i in blocks])
